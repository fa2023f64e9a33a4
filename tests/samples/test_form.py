"""Well-formed bodies against the language and the rules that they are written for."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.errors import LogicError
from andre.logic import Rule, check_safe
from andre.samples import Form, Language, RuleSpace

#: One letter is a variable; X and Y are the head's.
ATOMS = (
    "p(X,Y)", "p(Y,X)", "p(X,Z)", "p(Z,Y)", "p(Z,Z)", "q(X)", "q(Z)", "q(W)", "r(X,Z,W)", "p(X,a)", "p(a,W)",
    "X \\= Y", "Z \\= W", "X < Z",
)  # fmt: skip


@st.composite
def languages(draw: st.DrawFn) -> tuple[Language, RuleSpace]:
    atoms = draw(st.lists(st.sampled_from(ATOMS), min_size=1, max_size=7, unique=True))
    language = Language(
        "h/2",
        negation=draw(st.booleans()),
        singletons=draw(st.booleans()),
        max_body=draw(st.sampled_from([None, 1, 2, 3])),
        require=draw(st.sampled_from([(), ("p",), ("q/1",), ("p(X,Z)",), ("p", "q")])),
    )
    return language, RuleSpace.from_names(atoms, draw(st.sampled_from(["h(X,Y)", "h(X)"])))


def keeps_to(language: Language, rule: Rule) -> bool:
    """Whether a rule keeps to a language's bounds on whole bodies, literal by literal."""
    written = [lit for lit in rule.body if lit.atom.predicate != "=" or lit.negated]  # others join two terms
    if len(written) > (language.max_body or len(written)):
        return False
    if not language.negation and any(literal.negated for literal in rule.body):
        return False
    names = {
        name
        for literal in rule.body
        for atom in [literal.atom]
        for name in (str(atom).replace(" ", ""), atom.predicate, f"{atom.predicate}/{atom.arity}")
    }
    if not set(language.require) <= names:
        return False
    times = Counter(arg for literal in rule.body for arg in literal.atom.args)
    return language.singletons or all(times[variable] > 1 for variable in rule.auxiliary_variables)


def is_safe(rule: Rule) -> bool:
    try:
        check_safe(rule)
    except LogicError:
        return False
    return True


@settings(max_examples=150)
@given(languages(), st.integers(0, 2**32 - 1))
def test_a_form_admits_what_the_language_does_and_is_safe(
    drawn: tuple[Language, RuleSpace], seed: int
) -> None:
    language, space = drawn
    codes = np.random.default_rng(seed).integers(-1, 2, (40, space.m)).astype(np.int8)
    codes[np.random.default_rng(seed + 1).random(codes.shape) < 0.4] = 0  # short bodies, too
    rules = [space.rule(code) for code in codes]
    wanted = [keeps_to(language, rule) and is_safe(rule) for rule in rules]
    assert language.form(space).admits(codes).tolist() == wanted


@settings(max_examples=60)
@given(languages())
def test_short_bodies_are_all_there_are(drawn: tuple[Language, RuleSpace]) -> None:
    language, space = drawn
    found = language.form(space).short_bodies()
    every = [code for code in product((-1, 0, 1), repeat=space.m) if 1 <= np.count_nonzero(code) <= 2]
    wanted = {code for code in every if keeps_to(language, rule := space.rule(code)) and is_safe(rule)}
    assert len(found) == len({tuple(code) for code in found.tolist()})
    assert {tuple(code) for code in found.tolist()} == wanted


def test_short_bodies_where_safety_does_not_matter() -> None:
    space = RuleSpace.from_names(["p", "q"])
    assert len(Form(space, safe=False).short_bodies()) == 8  # of nine readings all but the empty one
    assert len(Form(space).short_bodies()) == 8  # no variable, so nothing to bind


def test_blocks_make_no_difference() -> None:
    form = Form(RuleSpace.from_names(ATOMS, "h(X,Y)"))
    assert np.array_equal(form.short_bodies(block=50), form.short_bodies())


WAYS = {"p": ("in", "out"), "q": ("in",), "r": ("in", "out", "out")}


@settings(max_examples=100)
@given(
    st.lists(st.sampled_from([a for a in ATOMS if "<" not in a]), min_size=1, max_size=5, unique=True),
    st.sampled_from([("in", "in"), ("in", "out"), ("out", "out")]),
    st.data(),
)
def test_a_body_can_be_run_where_some_order_of_it_binds_all_inputs(
    names: list[str], head: tuple[str, str], data: st.DataObject
) -> None:
    space = RuleSpace.from_names(names, "h(X,Y)")
    form = Form(space, directions=(("h", head), *WAYS.items()))
    signs = data.draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=space.m, max_size=space.m))
    codes = np.array([signs], dtype=np.int8)
    rule = space.rule(codes[0])
    expected = False
    for order in permutations(rule.body):
        bound = {arg for arg, way in zip(rule.head.args, head, strict=True) if way == "in"}
        good = True
        for literal in order:
            atom = literal.atom
            ways = WAYS.get(atom.predicate, ("in",) * atom.arity)
            needs = {arg for arg, way in zip(atom.args, ways, strict=True) if way == "in" or literal.negated}
            good &= needs & set(atom.variables) <= bound
            bound |= set() if literal.negated else set(atom.variables)
        expected |= good and set(rule.head.variables) <= bound
    assert form.can_be_run(codes).tolist() == [expected]
