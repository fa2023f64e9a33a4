"""The census of reach against every grounding of the rules that its bodies stand for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.inference.oracle import compare

from andre.census import Census, Growth, reach_census
from andre.errors import DataError
from andre.evaluation import CrispSample
from andre.facts import FactBase, argument_types
from andre.logic import Atom, Constant, Literal, Rule, Variable
from andre.samples import Codes, Language, RuleSpace

#: Two types: things, some of which are numbers, and colours.
THINGS = tuple(map(Constant, ("a", "b", "c", "d", 1, 2.5, 4)))
COLOURS = tuple(map(Constant, ("red", "blue", "green")))
RELATIONS = {
    "p": (THINGS,),
    "p2": (THINGS, THINGS),
    "next": (THINGS, THINGS),
    "big": (THINGS,),
    "colour": (THINGS, COLOURS),
    "mix": (COLOURS, THINGS, THINGS),
    "warm": (COLOURS,),
}
#: Quarters add up exactly in floating point.
CHANCES = (1.0, 1.0, 1.0, 0.75, 0.5, 0.25)
#: So wide that nothing is left out of facts as few as these.
WIDE = Growth(rows=10**7, views=10_000, beam=10_000, multiple=2)
slow = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))


@dataclass(frozen=True)
class Case:
    """Facts, what rules may have, what is stated, and the head atoms that are examples, with chances."""

    facts: FactBase
    language: Language
    stated: dict[Atom, float]
    labels: dict[Atom, float]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    target = draw(st.sampled_from(("p", "p2")))
    others = [name for name in RELATIONS if name not in ("p", "p2")]
    names = draw(st.lists(st.sampled_from(others), min_size=1, max_size=3, unique=True))
    held: list[Atom] = []
    for name in (target, *names):
        rows = st.tuples(*(st.sampled_from(domain) for domain in RELATIONS[name]))
        some = draw(st.lists(rows, min_size=name == target, max_size=5, unique=True))
        held += [Atom(name, args) for args in some]
    examples = [atom for atom in held if atom.predicate == target]
    rows = st.tuples(*(st.sampled_from(domain) for domain in RELATIONS[target]))
    wrong = st.lists(rows, max_size=4, unique=True)
    denied = [atom for atom in (Atom(target, args) for args in draw(wrong)) if atom not in examples]
    chances = draw(st.lists(st.sampled_from(CHANCES), min_size=len(held), max_size=len(held)))
    chances[0] = 1.0
    world = draw(st.sampled_from(("closed", "closed", "open")))
    facts = FactBase.from_facts(held, negatives=denied, probabilities=chances, world=world)
    value = dict(zip(held, chances, strict=True)) | dict.fromkeys(denied, 0.0)
    ways = {
        "next": draw(st.sampled_from([None, ("in", "out"), ("out", "in"), ("in", "in")])),
        "mix": draw(st.sampled_from([None, ("in", "out", "out"), ("out", "in", "out")])),
    }
    language = Language(
        f"{target}/{len(RELATIONS[target])}",
        variables=draw(st.integers(len(RELATIONS[target]), 4)),
        directions=tuple((name, way) for name, way in ways.items() if way),
        recursion=draw(st.booleans()),
        negation=draw(st.booleans()),
        repeated=draw(st.booleans()),
    )
    silent = () if denied or world == "open" else others_of(facts, language)
    labels = {atom: value.get(atom, 0.0) for atom in (*examples, *denied, *silent)}
    return Case(facts, language, value, labels)


def others_of(facts: FactBase, language: Language) -> list[Atom]:
    """All head atoms over constants of the types of the target's arguments."""
    types, key = argument_types(facts).of, language.key(facts)
    members: dict[str, set[Constant]] = {}
    for other, relation in facts.relations.items():
        for row in relation.codes.tolist():
            for kind, code in zip(types[other], row, strict=True):
                members.setdefault(kind, set()).add(Constant(facts.constants[code]))
    return [Atom(key[0], args) for args in product(*(members[kind] for kind in types[key]))]


def census_of(case: Case, growth: Growth) -> Census:
    try:
        return reach_census(case.facts, case.language, growth=growth)
    except DataError:  # nothing tells the examples apart
        assume(False)
        raise


@st.composite
def bodies(draw: st.DrawFn, space: RuleSpace) -> Codes:
    """Some bodies of up to three literals, where links are not denied."""
    literal = st.tuples(st.integers(0, space.m - 1), st.sampled_from((1, 1, -1)))
    codes = np.zeros((12, space.m), dtype=np.int8)
    for code in codes:
        for column, sign in draw(st.lists(literal, min_size=1, max_size=3)):
            code[column] = 1 if space.atoms[column] in space.links else sign
    return codes


def is_covered(rule: Rule, head: Atom, case: Case) -> bool:
    """Whether a body has a grounding for a head that does not speak of the head atom itself."""
    silence = 0.0 if case.facts.world == "closed" else 0.5
    constants = [Constant(value) for value in case.facts.constants]

    def holds(literal: Literal, bound: dict[Variable, Constant]) -> bool:
        atom = literal.atom.substitute(bound)
        if atom.is_builtin:
            return compare(atom) != literal.negated
        chance = 0.5 if atom == head else case.stated.get(atom, silence)
        return chance < 0.5 if literal.negated else chance > 0.5

    def has_grounding(bound: dict[Variable, Constant]) -> bool:
        if not all(holds(literal, bound) for literal in rule.body if set(literal.variables) <= bound.keys()):
            return False
        free = next((variable for variable in rule.variables if variable not in bound), None)
        return free is None or any(has_grounding({**bound, free: value}) for value in constants)

    return has_grounding(dict(zip(rule.head.args, head.args, strict=True)))


def brute_counts(case: Case, rule: Rule) -> tuple[float, float]:
    """The weight of the positives and of the negatives that a rule covers."""
    chances = [chance for head, chance in case.labels.items() if is_covered(rule, head, case)]
    return sum(chances), sum(1 - chance for chance in chances)


@slow
@given(st.data())
def test_a_body_covers_what_the_rule_that_it_stands_for_covers(data: st.DataObject) -> None:
    case = data.draw(cases())
    census = census_of(case, replace(WIDE, copies=1))
    codes = data.draw(bodies(census.space))
    codes = codes[census.space.linked(codes).sum(axis=1) <= WIDE.multiple]  # else no view may have them all
    counts = CrispSample.of(census.to_sample()).body_counts(codes)
    for code, found in zip(codes, counts.tolist(), strict=True):
        rule = census.space.rule(code)
        assert tuple(found) == brute_counts(case, rule), str(rule)


@slow
@given(st.data())
def test_whatever_limits_there_are_a_body_covers_no_more_than_its_rule(data: st.DataObject) -> None:
    case = data.draw(cases())
    multiple, copies = data.draw(st.integers(0, 3)), data.draw(st.integers(1, 3))
    growth = Growth(multiple=multiple, copies=copies, views=data.draw(st.integers(1, 6)))
    census = census_of(case, growth)
    codes = data.draw(bodies(census.space))
    counts = CrispSample.of(census.to_sample()).body_counts(codes)
    for code, found in zip(codes, counts, strict=True):
        rule = census.space.rule(code)
        assert (found <= brute_counts(case, rule)).all(), str(rule)


@slow
@given(cases())
def test_every_example_is_weighed_once(case: Case) -> None:
    census = census_of(case, Growth(multiple=1))
    chances = list(case.labels.values())
    assert census.positives.sum() == sum(chances)
    assert census.negatives.sum() == sum(1 - chance for chance in chances)


def shuffled(case: Case, order: list[Atom]) -> Case:
    """The same facts, stated in another order."""
    denied = [atom for atom in order if case.stated[atom] == 0]
    held = [atom for atom in order if case.stated[atom] > 0]
    chances = [case.stated[atom] for atom in held]
    facts = FactBase.from_facts(held, negatives=denied, probabilities=chances, world=case.facts.world)
    return replace(case, facts=facts)


def literals_of(census: Census) -> Counter[tuple[float, ...]]:
    """How often a literal alone covers so many positives and negatives."""
    m = census.space.m
    single = np.concatenate([np.eye(m, dtype=np.int8), -np.eye(m, dtype=np.int8)])
    counts = CrispSample.of(census.to_sample()).body_counts(single[census.space.linked(single).any(axis=1)])
    return Counter(map(tuple, counts.tolist()))


@slow
@given(st.data())
def test_the_order_of_facts_does_not_matter(data: st.DataObject) -> None:
    case = data.draw(cases())
    atoms = list(case.stated)
    names = list(dict.fromkeys(atom.predicate for atom in atoms))
    order = data.draw(st.permutations(atoms))
    # Of candidates that never differ the first is kept, so that the order of relations matters for names.
    one, two = (
        census_of(shuffled(case, sorted(some, key=lambda atom: names.index(atom.predicate))), WIDE)
        for some in (atoms, order)
    )
    assert {one.space.rule(code) for code in np.eye(one.space.m, dtype=np.int8)} == {
        two.space.rule(code) for code in np.eye(two.space.m, dtype=np.int8)
    }
    assert literals_of(one) == literals_of(two)
    assert sorted(zip(one.positives, one.negatives, strict=True)) == sorted(
        zip(two.positives, two.negatives, strict=True)
    )


def test_cuts_around_one_that_is_moved_are_close_and_reach_to_the_next_quantiles() -> None:
    values = [f"size(p{n}, {n})" for n in range(2_000)]
    true = [f"h(p{n})" for n in range(2_000) if n % 3 == 1]
    facts = FactBase.from_facts(values + true, negatives=[f"h(p{n})" for n in range(2_000) if n % 3 != 1])
    size = Variable("X2")
    census = reach_census(facts, Language("h/1", variables=2), cuts={size: (1_000.5,)})
    cuts = sorted(float(atom.args[1].value) for atom in census.space.atoms if atom.predicate == ">")
    near = [cut for cut in cuts if abs(cut - 1_000.5) < 300]
    assert {997.5, 998.5, 999.5, 1_000.5, 1_001.5, 1_002.5} <= set(near)
    assert near[0] < 760
    assert near[-1] > 1_240
    assert len(near) <= 85
