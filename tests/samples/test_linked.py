"""Spaces with links: what a code stands for, how long it is, and which codes are well-formed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.test_form import is_safe, keeps_to

from andre.errors import DataError
from andre.logic import Atom, Constant, Literal, Rule, Variable
from andre.samples import Codes, Form, Language, RuleSpace

SAMPLES = settings(max_examples=60, deadline=None)


@st.composite
def linked_spaces(draw: st.DrawFn) -> RuleSpace:
    """A head, links that bind further variables one after the other, and tests of all of them."""
    head = Atom("h", tuple(Variable(f"X{n}") for n in range(1, draw(st.integers(1, 2)) + 1)))
    known, links = list(head.variables), []
    for place in range(draw(st.integers(1, 4))):
        chosen = draw(st.lists(st.sampled_from(known), min_size=1, max_size=2, unique=True))
        new = [Variable(f"X{len(known) + n}") for n in range(1, draw(st.integers(1, 2)) + 1)]
        links.append(Atom(f"p{place % 3}", (*chosen, *new)))
        known += new
    term = st.sampled_from(known)
    pair = st.lists(term, min_size=2, max_size=2, unique=True).map(tuple)
    test = st.one_of(
        st.builds(lambda v: Atom("q", (v,)), term),
        st.builds(lambda vs: Atom("r", vs), pair),
        st.builds(lambda vs: Atom("=", vs), pair.map(lambda vs: tuple(sorted(vs, key=str)))),
        st.builds(lambda v: Atom("=", (v, Constant("a"))), term),
        st.builds(lambda v: Atom(">", (v, Constant(2.5))), term),
    )
    tests = draw(st.lists(test, max_size=6, unique=True))
    return RuleSpace(head, tuple(draw(st.permutations([*links, *tests]))), tuple(links))


@st.composite
def codes_of(draw: st.DrawFn, space: RuleSpace) -> Codes:
    """Bodies in which no link is negated."""
    seed = draw(st.integers(0, 2**32 - 1))
    codes = np.random.default_rng(seed).choice([-1, 0, 0, 1], (20, space.m)).astype(np.int8)
    codes[:, space.link_columns] = np.abs(codes[:, space.link_columns])
    return codes


def written(space: RuleSpace, code: Codes) -> set[Literal]:
    """The literals of a code and, for every variable, the link that binds it."""
    body = {Literal(atom, sign < 0) for atom, sign in zip(space.atoms, code, strict=True) if sign}
    while True:
        open_variables = {v for literal in body for v in literal.variables} - set(space.head_variables)
        binders = {next(link for link in space.links if v in link.variables) for v in open_variables}
        if (grown := body | set(map(Literal, binders))) == body:
            return body
        body = grown


def n_unequal(rule: Rule) -> int:
    """How many variables are left when each equality joins two terms."""
    group: dict[object, object] = {v: v for v in rule.variables} | {Constant("a"): Constant("a")}
    joined = 0
    for literal in rule.body:
        if literal.atom.predicate == "=" and not literal.negated:
            one, two = (group[arg] for arg in literal.atom.args)
            joined += one != two
            group = {term: two if own == one else own for term, own in group.items()}
    return len(rule.variables) - joined


def is_tree(rule: Rule) -> bool:
    """Whether no equality follows from the others."""
    equal = [lit for lit in rule.body if lit.atom.predicate == "=" and not lit.negated]
    return n_unequal(rule) == len(rule.variables) - len(equal)


@SAMPLES
@given(st.data())
def test_a_rule_has_the_links_of_its_variables_and_is_read_back(data: st.DataObject) -> None:
    space = data.draw(linked_spaces())
    codes = data.draw(codes_of(space))
    program = space.program(codes)
    for rule, code in zip(program, codes, strict=True):
        assert set(rule.body) == written(space, code)
        assert len(rule.body) == len(set(rule.body))
    assert space.sizes(codes).tolist() == [len(rule.body) for rule in program]
    back = space.encode(program)
    assert space.program(back).rules == program.rules
    assert np.array_equal(back, space.without_implied(codes))
    assert np.array_equal(back, space.without_implied(back))
    assert (np.count_nonzero(back, axis=1) <= np.count_nonzero(codes, axis=1)).all()


@SAMPLES
@given(st.data())
def test_variables_that_an_equality_makes_one_count_once(data: st.DataObject) -> None:
    space = data.draw(linked_spaces())
    codes = data.draw(codes_of(space))
    for code, found in zip(codes, space.n_variables(codes), strict=True):
        rule = space.rule(code)
        if is_tree(rule):
            assert found == n_unequal(rule) == len(rule.unified().variables)


@SAMPLES
@given(st.data())
def test_links_that_are_needed_stay_when_a_space_is_narrowed(data: st.DataObject) -> None:
    space = data.draw(linked_spaces())
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=space.m, max_size=space.m)))
    closed = space.with_links(kept)
    needed = {lit.atom for code in np.eye(space.m, dtype=np.int8)[kept] for lit in written(space, code)}
    assert {atom for atom, keep in zip(space.atoms, closed, strict=True) if keep} == needed
    if needed:
        narrow = space.narrowed(closed)
        assert narrow.program(np.eye(narrow.m, dtype=np.int8)) == space.program(
            np.eye(space.m, dtype=np.int8)[closed]
        )


@st.composite
def languages(draw: st.DrawFn) -> Language:
    return Language(
        "h",
        negation=draw(st.booleans()),
        singletons=True,
        variables=draw(st.integers(2, 6)),
        max_body=draw(st.sampled_from([None, 1, 2, 3, 4])),
        require=draw(st.sampled_from([(), ("p0",), ("q/1",), ("p1", "r")])),
    )


@SAMPLES
@given(st.data(), languages())
def test_a_form_looks_at_the_whole_rule(data: st.DataObject, language: Language) -> None:
    space = data.draw(linked_spaces())
    codes = data.draw(codes_of(space))
    rules = [space.rule(code) for code in codes]
    wanted = [
        keeps_to(language, rule) and is_safe(rule.unified()) and (n_unequal(rule) <= language.variables)
        for rule in rules
    ]
    trees = [is_tree(rule) for rule in rules]
    assert language.form(space).admits(codes)[trees].tolist() == np.array(wanted)[trees].tolist()


@SAMPLES
@given(st.data(), languages(), st.booleans())
def test_pairs_are_what_is_admitted_one_by_one(data: st.DataObject, language: Language, safe: bool) -> None:
    space = data.draw(linked_spaces())
    form = replace(language.form(space), safe=safe)
    both, alone = form.pairs()
    m = space.m
    single = np.concatenate([np.eye(m, dtype=np.int8), -np.eye(m, dtype=np.int8)])
    assert alone.tolist() == form.admits(single).tolist()
    for one in range(2 * m):
        pairs = single[one] + single
        possible = np.arange(2 * m) % m != one % m
        assert both[one].tolist() == (form.admits(pairs) & possible).tolist()
    short = {tuple(code) for code in form.short_bodies().tolist()}
    every = np.unique((single[:, None] + single).reshape(-1, m).clip(-1, 1), axis=0)
    assert short == {tuple(code) for code in every[form.admits(every) & every.any(axis=1)].tolist()}


def test_a_link_must_be_a_candidate() -> None:
    with pytest.raises(DataError, match="no candidate: give it a column"):
        RuleSpace(Atom.parse("h(X)"), (Atom.parse("q(X)"),), (Atom.parse("p(X,Y)"),))


@SAMPLES
@given(st.data())
def test_fingerprints_do_not_depend_on_names_and_tell_other_literals_apart(data: st.DataObject) -> None:
    space = data.draw(linked_spaces())
    codes = data.draw(codes_of(space))
    inner = [v for v in space.variables if v not in space.head_variables]
    names = dict(zip(inner, data.draw(st.permutations(inner)), strict=True))

    def renamed(atom: Atom) -> Atom:
        return replace(atom, args=tuple(names.get(arg, arg) for arg in atom.args))

    other = RuleSpace(space.head, tuple(map(renamed, space.atoms)), tuple(map(renamed, space.links)))
    found = space.fingerprints(codes)
    assert found.tolist() == other.fingerprints(codes).tolist()
    said = [
        sorted(
            (lit.negated, lit.atom.predicate, *(str(a) for a in lit.atom.args if not isinstance(a, Variable)))
            for lit in written(space, code)
        )
        for code in codes
    ]
    assert all(said[one] == said[two] for one in range(20) for two in range(20) if found[one] == found[two])


@given(st.data())
@SAMPLES
def test_where_pairs_of_literals_could_not_be_held_there_are_bodies_of_one(data: st.DataObject) -> None:
    form = Form(data.draw(linked_spaces()), safe=False)
    every = form.short_bodies()
    one = every[np.count_nonzero(every, axis=1) == 1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("andre.samples.form._MOST_HELD", 0)
        assert np.array_equal(form.short_bodies(), one)
