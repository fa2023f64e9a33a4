"""What is marked valid or test teaches nothing, in any room: all is as if it were not there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.census.strategies import fact_bases
from tests.completion.bases import FAST, family

from andre.census import Census, Draw, head_domains, sample_census, take_census
from andre.completion import Completion, complete
from andre.errors import AndreError
from andre.evaluation import entailment, rank_by_rules, rescore
from andre.facts import FactBase, Key, Relation, training_facts
from andre.learning import ProposalConfig, background_of, labels_of, learn, learnable, propose
from andre.logic import Program, parse_atom, parse_program
from andre.report import derive
from andre.runs import RunFolder
from andre.samples import Language

QUICK: dict[str, Any] = {"restarts": 1, "rounds": 1, "steps": 8, "subrules": (2,)}
MODES = ("define", "complete")
#: Rules that put what a marked fact says into relations that candidates read, unless they are kept from it.
BACKGROUND = parse_program(
    "either(X, Y) :- q(X, Y). either(X, Y) :- r(Y, X). twice(X, Y) :- q(X, Z), r(Z, Y)."
)


def removed(facts: FactBase, *, constants: bool = False) -> FactBase:
    """The same base read from a source without the marked facts, written out fact by fact.

    With `constants`, those that are only in marked facts are known by name still.
    """
    rows: dict[Key, list[tuple[int, list[int]]]] = {}
    for key, relation in facts.relations.items():
        marks = relation.column("mark").tolist()
        rows[key] = [(at, codes) for at, codes in enumerate(relation.codes.tolist()) if not marks[at]]
    used = sorted({code for found in rows.values() for _, codes in found for code in codes})
    if constants:
        used = list(range(len(facts.constants)))
    number = {code: place for place, code in enumerate(used)}
    relations = {}
    for key, found in rows.items():
        if found:
            places = [at for at, _ in found]
            relation = facts.relations[key]
            relations[key] = Relation(
                key[0],
                np.array([[number[code] for code in codes] for _, codes in found]).reshape(-1, key[1]),
                relation.column("probability")[places],
                negative=relation.column("negative")[places],
            )
    return replace(facts, constants=tuple(facts.constants[code] for code in used), relations=relations)


def comparable(census: Census) -> tuple[object, ...]:
    members = census.members
    rows = None if members is None else (members.starts.tolist(), members.rows.tolist())
    heads = None if census.heads is None else census.heads.tolist()
    weights = census.positives.tolist(), census.negatives.tolist()
    return census.space, census.cells.tolist(), weights, heads, rows, census.groundings, census.dropped


def outcome(work: Callable[[], object]) -> object:
    """What work gives, or the sentence with which it is refused."""
    try:
        return work()
    except AndreError as error:
        return type(error)


bases = fact_bases(marks=True, max_facts=24)


@settings(max_examples=30)
@given(bases, st.sampled_from(MODES), st.sampled_from(("rows", "exists")), st.booleans(), st.data())
def test_a_census_is_that_of_the_training_facts(
    facts: FactBase, mode: str, semantics: str, held_out: bool, data: st.DataObject
) -> None:
    language = Language(
        "p/2",
        data.draw(st.integers(2, 4)),
        held_out=held_out,
        types=data.draw(st.booleans()),
        constants=data.draw(st.sampled_from([(), ("p/2:1",)])),
    )
    without = removed(facts, constants=held_out)
    how: Any = {"mode": mode, "semantics": semantics}
    assert outcome(lambda: comparable(take_census(facts, language, **how))) == outcome(
        lambda: comparable(take_census(without, language, **how))
    )


@settings(max_examples=12)
@given(bases, st.sampled_from(MODES))
def test_so_is_one_of_drawn_head_atoms(facts: FactBase, mode: Any) -> None:
    one, two = (
        outcome(lambda base=base: comparable(sample_census(base, Language("p/2"), Draw(8), mode=mode)))  # type: ignore[misc]
        for base in (facts, removed(facts))
    )
    assert one == two


@settings(max_examples=6)
@given(bases, st.sampled_from(MODES), st.sampled_from(("rows", "exists")), st.booleans())
def test_what_is_learned_is_what_training_facts_say(
    facts: FactBase, mode: str, semantics: str, known: bool
) -> None:
    options = {**QUICK, "mode": mode, "semantics": semantics}
    if known:  # a known rule of another relation is run into the background
        options["known"] = parse_program("third(X, Y) :- q(Y, X), u(X).")

    def learned(base: FactBase) -> object:
        (definition,) = learn(base.with_rules(BACKGROUND), "p/2", **options)
        pool = definition.pool
        return (
            [(str(rule), rule.evidence) for rule in definition.program],
            definition.counts,
            definition.confusion,
            definition.length,
            definition.reason,
            definition.rejected,
            (pool.space, pool.bodies.tolist(), pool.counts.tolist()),
        )

    assume({("q", 2), ("u", 1)} <= facts.select("train").relations.keys())
    assert outcome(lambda: learned(facts)) == outcome(lambda: learned(removed(facts)))


def fixture() -> FactBase:
    """q is the inverse of p in training facts; what is marked says otherwise, of other constants too."""
    rows = [(f"p(a{i}, b{i})", "train") for i in range(6)] + [(f"q(b{i}, a{i})", "train") for i in range(6)]
    rows += [(f"r(a{i}, a{i + 1})", "train") for i in range(5)]
    for mark in ("valid", "test"):
        rows += [(f"q(b{i}, a{(i + 1) % 6})", mark) for i in range(3 if mark == "valid" else 6)]
        rows += [(f"p(new{mark}{i}, b{i})", mark) for i in range(2)]
        rows += [(f"hidden{mark}(a{i}, b{(i + 2) % 6})", mark) for i in range(6)]
    atoms = dict.fromkeys(parse_atom(text) for text, _ in rows)
    marks = {parse_atom(text): mark for text, mark in reversed(rows)}
    return FactBase.from_facts(atoms, marks=[marks[atom] for atom in atoms])


RULES = parse_program("p(X, Y) :- q(Y, X). p(X, Y) :- r(X, Z), p(Z, Y). q(X, Y) :- p(Y, X).")


def space(base: FactBase) -> object:
    return Language("p/2", types=True, constants=("q/2:2",)).space(base)


def evidence(program: Program) -> list[object]:
    return [rule.evidence for rule in program]


def names(base: FactBase) -> dict[Key, set[str]]:
    return {key: set(map(str, base.atoms(*key))) for key in base.relations}


def theory_reads(base: FactBase, mode: str) -> object:
    theory = learn(removed(fixture()), "p/2", mode=mode, **QUICK)
    return names(theory.evidence(base)), sorted(map(str, theory.predict(base)))


#: A line for each room and each of its functions that read facts: what it makes of them.
READERS: Mapping[str, Callable[[FactBase], object]] = {
    "samples: training facts": lambda base: names(training_facts(base)),
    "samples: candidates": space,
    "census: all": lambda base: comparable(take_census(base, Language("p/2"))),
    "census: drawn": lambda base: comparable(sample_census(base, Language("p/2"), Draw(9), mode="complete")),
    "census: domains": lambda base: [
        {base.constants[code] for code in domain.tolist()} for domain in head_domains(base, Language("p/2"))
    ],
    "evaluation: rescore": lambda base: evidence(rescore(RULES, base)),
    "evaluation: rescore with background": lambda base: evidence(
        rescore(parse_program("p(X, Y) :- either(Y, X)."), base.with_rules(BACKGROUND))
    ),
    "learning: what can be learned": lambda base: learnable(base)[0],
    "learning: proposed": lambda base: propose(base, ProposalConfig(steps=4, restarts=1, subrules=(2,))),
    "learning: background of a definition": lambda base: names(background_of(base, ("p", 2))),
    "learning: labels of a definition": lambda base: labels_of(base, Language("p/2")).totals.tolist(),
    "learning: what a definition reads": lambda base: theory_reads(base, "define"),
    "learning: what a completing program reads": lambda base: theory_reads(base, "complete"),
    "report: what is derived": lambda base: sorted(
        map(str, derive(learn(removed(fixture()), "p/2", mode="define", **QUICK), base))
    ),
}


@pytest.mark.parametrize("room", READERS)
def test_no_room_reads_what_is_marked(room: str) -> None:
    facts = fixture()
    assert facts.select("valid").relations
    assert facts.select("test").relations
    assert READERS[room](facts) == READERS[room](removed(facts))


def test_evaluation_without_marks_reads_training_facts_of_other_relations() -> None:
    program = parse_program("r(X, Y) :- q(Z, X), p(Y, Z).")  # r has no marked fact itself
    facts = fixture()
    assert entailment(program, facts).heads == entailment(program, removed(facts)).heads


def test_ranks_of_test_facts_do_not_depend_on_validation_facts_as_evidence() -> None:
    facts = fixture()
    counted = rescore(Program((parse_program("p(X, Y) :- q(Y, X).").rules[0],)), facts)
    q = facts.relations["q", 2]
    fewer = replace(facts, relations={**facts.relations, q.key: q.take(q.marked("train"))})
    one, two = (rank_by_rules(counted, base, ("p", 2)) for base in (facts, fewer))
    assert one is not None
    assert two is not None
    assert one.mrr == two.mrr


def learned(done: Completion) -> object:
    """What rules were learned, and their evidence on training facts; no validation metric."""
    rules = [(str(rule), rule.on("train")) for rule in done.rules]
    return rules, {step: (some.bodies, some.keys.tolist()) for step, some in done.features.items()}


@pytest.mark.parametrize("aggregator", ["maximum", "weights"])
def test_completion_learns_rules_and_weights_from_training_facts_alone(aggregator: str) -> None:
    facts = family()
    config = FAST.model_copy(update={"aggregators": (aggregator,), "chained": (False,)})
    extra = parse_program("parent(X, Y) :- child(Y, X), likes(X, Z).").rules
    whole = complete(facts, config, extra)
    # Test facts may be absent, and of validation facts one is enough where there is one way of scoring.
    marks = {key: relation.column("mark") for key, relation in facts.relations.items()}
    first = next(np.flatnonzero(mark == 1)[0] for key, mark in marks.items() if key == ("parent", 2))
    relations = {}
    for key, relation in facts.relations.items():
        keep = marks[key] == 0
        if key == ("parent", 2):
            keep[first] = True
        relations[key] = relation.take(keep)
    fewer = complete(replace(facts, relations=relations), config, extra)
    assert learned(fewer) == learned(whole)
    for step, weights in whole.scorer.weights.items():
        assert np.array_equal(weights, fewer.scorer.weights[step])


def test_a_run_is_taken_up_where_only_marked_facts_differ(tmp_path: Any) -> None:
    facts = fixture()
    first = learn(facts, "p/2", out=RunFolder(tmp_path), **QUICK)
    again = learn(removed(facts), "p/2", out=RunFolder(tmp_path), **QUICK)
    assert again["p/2"].seconds == first["p/2"].seconds


def test_counts_beside_learned_rules_are_those_of_training_facts() -> None:
    facts = fixture()
    theory = learn(facts, "p/2", mode="complete", **QUICK)
    assert len(theory.program)
    assert evidence(rescore(theory.program, facts)) == evidence(theory.program)
