"""Programs judged on truth tables against the engines, which know nothing of tables."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.arrays import Bools
from andre.errors import LogicError
from andre.evaluation import Labels, RuleBase
from andre.facts import TASKS, FactBase, World
from andre.inference import Table, TruthTables, contraction, infer
from andre.inference.contraction import multiplied
from andre.logic import Atom, Constant, Literal, Program, Rule, Variable, parse_atom, parse_rule

VALUES = [Constant("a"), Constant("b c"), Constant(1), Constant(2.5), Constant(-3)]
#: No fact has it.
STRANGER = Constant("stranger")
VARIABLES = [Variable(name) for name in "XYZW"]
ARITY = {"u": 1, "e": 2, "f": 2, "t": 3}
COMPARISONS = ("=", "\\=", "<", "=<", ">", ">=")


@st.composite
def fact_bases(draw: st.DrawFn) -> FactBase:
    value = st.sampled_from(VALUES[: draw(st.integers(2, len(VALUES)))])
    atoms = st.one_of(
        [
            st.tuples(*[value] * arity).map(lambda args, name=name: Atom(name, args))
            for name, arity in ARITY.items()
        ]
    )
    facts = draw(st.lists(atoms, min_size=1, max_size=14, unique=True))
    # What rests on one half is neither derived nor refuted.
    chances = [draw(st.sampled_from([1.0, 1.0, 0.8, 0.5, 0.2])) for _ in facts]
    denied = [atom for atom in draw(st.lists(atoms, max_size=6, unique=True)) if atom not in facts]
    world: World = draw(st.sampled_from(["closed", "open"]))
    return FactBase.from_facts(facts, probabilities=chances, negatives=denied, world=world)


@st.composite
def rules(draw: st.DrawFn, head: Atom) -> Rule:
    """A safe rule whose literals are often the target's, and often negated."""
    names = {**ARITY, head.predicate: head.arity}
    terms = st.sampled_from([*VARIABLES * 4, *VALUES, STRANGER])
    body = []
    for variable in head.variables:
        name = draw(st.sampled_from(sorted(names)))
        args = [draw(terms) for _ in range(names[name])]
        args[draw(st.integers(0, names[name] - 1))] = variable
        body.append(Literal(Atom(name, tuple(args))))
    seen = list(dict.fromkeys(v for literal in body for v in literal.variables))
    bound = st.sampled_from([*seen * 4, *VALUES, STRANGER])
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from([*sorted(names), head.predicate, head.predicate]))
        body.append(Literal(Atom(name, tuple(draw(bound) for _ in range(names[name]))), draw(st.booleans())))
    if draw(st.booleans()):
        compared = Atom(draw(st.sampled_from(COMPARISONS)), (draw(bound), draw(bound)))
        body.append(Literal(compared, draw(st.booleans())))
    return Rule(head, tuple(body))


@st.composite
def cases(draw: st.DrawFn) -> tuple[FactBase, Atom, list[Rule]]:
    arity = draw(st.integers(1, 3))
    head = Atom("h", tuple(VARIABLES[:arity]))
    return draw(fact_bases()), head, draw(st.lists(rules(head), min_size=1, max_size=4))


def by_engine(program: Program, facts: FactBase, least: float = np.nextafter(0.5, 1)) -> set[Atom] | None:
    """What is derived with so much at least, above one half by default; None where atoms stay undefined."""
    try:
        model = infer(program, facts, engine="clingo")
    except LogicError:
        return None
    return {atom for atom in model.derived.atoms(*_key(program)) if model.probability(atom) >= least}


def _key(program: Program) -> tuple[str, int]:
    head = next(iter(program)).head
    return head.predicate, head.arity


def written(model: Bools, facts: FactBase) -> set[Atom]:
    places = np.argwhere(model).tolist()
    return {Atom("h", tuple(Constant(facts.constants[code]) for code in place)) for place in places}


@settings(max_examples=150)
@given(cases())
def test_models_are_those_of_the_engine(case: tuple[FactBase, Atom, list[Rule]]) -> None:
    facts, head, found = case
    base = RuleBase(TruthTables.of(facts), ("h", head.arity))
    numbers = tuple(base.add(rule) for rule in found)
    programs = [numbers, numbers[:1], tuple(sorted(set(numbers[1:])))]
    models, total = base.models(programs)
    for chosen, model, whole in zip(programs, models, total, strict=True):
        if not chosen:
            assert whole
            assert not model.any()
            continue
        program = Program(tuple(base.rules[number] for number in chosen))
        wanted = by_engine(program, facts)
        assert bool(whole) == (wanted is not None)
        if wanted is not None:
            assert written(model, facts) == wanted
            possible = by_engine(program, facts, least=0.5)
            assert written(~base.false(chosen, model), facts) == possible


@settings(max_examples=60)
@given(cases())
def test_one_step_is_what_a_rule_derives_from_a_model(case: tuple[FactBase, Atom, list[Rule]]) -> None:
    facts, head, found = case
    base = RuleBase(TruthTables.of(facts), ("h", head.arity))
    numbers = tuple(dict.fromkeys(base.add(rule) for rule in found))
    rng = np.random.default_rng(len(facts))
    model = rng.random(base.shape) < 0.4
    steps = base.steps(numbers, model)
    # The model stands under another name, so that nothing is derived from what is derived.
    stated = [replace(atom, predicate="h_before") for atom in written(model, facts)]
    before = FactBase.from_facts(stated) if stated else None
    known = facts if before is None else facts.merge(before)
    for number, step in zip(numbers, steps, strict=True):
        rule = base.rules[number]
        body = tuple(
            replace(lit, atom=replace(lit.atom, predicate="h_before")) if lit.atom.predicate == "h" else lit
            for lit in rule.body
        )
        assert written(step, facts) == by_engine(Program((replace(rule, body=body),)), known)


def test_a_large_block_is_cut() -> None:
    tables, truth = TruthTables.of(TASKS["connectedness"].train(0)), TASKS["connectedness"].truth
    (models, total), (again, whole) = (
        base.models([tuple(map(base.add, truth.rules[:size])) for size in range(len(truth) + 1)])
        for base in (RuleBase(tables, ("connectedness", 2)), RuleBase(tables, ("connectedness", 2), block=1))
    )
    assert np.array_equal(models, again)
    assert total.tolist() == whole.tolist() == [True] * (len(truth) + 1)


@pytest.mark.parametrize("text", ["p(X,Z), q(Y,Z), r(X,Z)", "p(X,Z), q(Z,W), r(W,Y), p(Z,X)"])
def test_no_product_has_more_than_two_dimensions_where_two_do(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A third dimension would be a table of all triples of constants."""
    names = [f"c{number}" for number in range(6)]
    rng = np.random.default_rng(1)
    facts = FactBase.from_facts(
        Atom(name, (Constant(one), Constant(two)))
        for name in "pqr"
        for one, two in product(names, names)
        if rng.random() < 0.4
    )
    rule = parse_rule(f"h(X,Y) :- {text}.")
    body = TruthTables.of(facts).body(rule)
    widest = []

    def watched(how: str, *tables: Table) -> Table:
        widest.append(len(how.split("->")[1]))
        return multiplied(how, *tables)

    monkeypatch.setattr(contraction, "multiplied", watched)
    derived = body.derives()
    assert max(widest) <= 2
    assert written(derived, facts) == by_engine(Program((rule,)), facts)


def test_labels_are_counted_per_model() -> None:
    positive = np.array([[True, False], [False, True]])
    labels = Labels(positive, np.array([[False, True], [False, False]]))  # one atom is no example
    derived = np.array([[[True, True], [True, False]], [[False, False], [True, True]]])
    assert labels.totals.tolist() == [2, 1]
    assert labels.counts(derived).tolist() == [[1, 1], [1, 0]]


def test_a_relation_or_constant_without_facts_is_false() -> None:
    facts = FactBase.from_facts([parse_atom("u(a)"), parse_atom("u(b)")])
    base = RuleBase(TruthTables.of(facts), ("h", 1))
    texts = ["u(X), none(X)", "u(X), \\+ none(X)", "u(X), \\+ u(zoe)", "u(X), X \\= zoe", "u(X), \\+ h(zoe)"]
    numbers = [base.add(parse_rule(f"h(X) :- {text}.")) for text in texts]
    models, total = base.models([(number,) for number in numbers])
    assert models.sum(1).tolist() == [0, 2, 2, 2, 2]
    assert total.all()
