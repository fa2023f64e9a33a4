"""What learning hands back: it predicts, explains, and survives being saved."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.clock import LateAfterCensus

from andre.api import learn
from andre.census import Census
from andre.errors import CheckpointError, DataError
from andre.facts import TASKS, FactBase
from andre.learning import Callback, Plan, Theory
from andre.logic import Atom, Constant, parse_atom
from andre.runs import load

QUICK: dict[str, Any] = {"restarts": 1, "rounds": 1, "steps": 20}
TASK = TASKS["lessThan"]


@pytest.fixture(scope="module")
def theory() -> Theory:
    return learn(TASK.train(), TASK.target, **QUICK)


def plain(theory: Theory) -> dict[str, Any]:
    """All that a theory says, as values that compare."""
    return {
        made.target: (
            [(str(rule), rule.evidence) for rule in made.program],
            made.counts, made.confusion, made.length, made.empty_length, made.reason, made.seconds, made.key,
            [(str(item.rule), item.rule.evidence, item.reason) for item in made.rejected],
            [(run.n_rules, run.program, run.length) for run in made.result.runs],
            made.result.weights.tolist(), made.result.proposed.tolist(), made.result.stopped,
        )
        for made in theory
    }  # fmt: skip


def test_a_definition_reads_no_target_fact_when_it_predicts(theory: Theory) -> None:
    test = TASK.test()
    wanted = set(test.atoms("lessThan", 2))
    for target in (wanted, {Atom("lessThan", (Constant(5), Constant(3)))}, set()):
        # Whatever is said of the target, true or not, the program says what it derives.
        others = {key: relation for key, relation in test.relations.items() if key[0] != "lessThan"}
        facts = replace(test, relations=others)
        if target:
            facts = facts.merge(FactBase.from_facts(target))
        assert set(theory.predict(facts)) == wanted


def test_every_prediction_is_explained(theory: Theory) -> None:
    facts = TASK.test()
    proof = str(theory.explain(parse_atom("lessThan(3, 6)"), facts))
    assert "successor(3, 4)" in proof
    assert "successor(5, 6)" in proof
    assert "lessThan(6, 3)" in str(theory.explain(parse_atom("lessThan(6, 3)"), facts))


def test_evaluation_counts_every_target() -> None:
    # A target that nothing can define, beside one that can be.
    rng = np.random.default_rng(0)
    chance = [Atom("lucky", (Constant(n),)) for n in range(41) if rng.random() < 0.5]
    facts = TASKS["predecessor"].train().merge(FactBase.from_facts(chance))
    theory = learn(facts, ["predecessor/2", "lucky/1"], variables=2, exclude=["lucky"], **QUICK)
    assert theory["lucky"].reason is not None
    judged = theory.evaluate(facts)
    assert set(judged.heads) == {("predecessor", 2), ("lucky", 1)}
    assert judged.heads["lucky", 1].recall == 0
    assert judged.heads["predecessor", 2].accuracy == 1


def test_marked_facts_are_judged_from_the_training_facts(theory: Theory) -> None:
    facts = TASK.train()
    relation = facts.relations["lessThan", 2]
    marks = (np.arange(len(relation)) % 5 == 0).astype(np.int8) * 2
    marked = facts.with_relation(replace(relation, mark=marks))
    assert theory.evaluate(marked, mark="test").overall.recall == 1


def test_a_saved_theory_is_the_same(theory: Theory, tmp_path: Path) -> None:
    theory.save(tmp_path / "run")
    loaded = load(tmp_path / "run")
    assert plain(loaded) == plain(theory)
    assert loaded.plan == theory.plan
    assert loaded.evaluate(TASK.test()).overall.accuracy == 1
    text = (tmp_path / "run" / "program.pl").read_text()
    assert all(str(rule) in text for rule in theory.program)
    assert len(list((tmp_path / "run").glob("targets/lessThan_2-*/program.pl"))) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"types": True, "relations": ("successor/2", "lessThan"), "require": ("successor",)},
        {"types": (("successor", ("n", "n")), ("lessThan", ("n", "n"))), "constants": ("successor/2:1",)},
        {"mode": "complete", "memory_limit": 1 << 28, "max_body": 2, "short_bodies": False},
        {"preset": "paper", "order": True},
    ],
    ids=",".join,
)
def test_every_plan_survives_saving(options: dict[str, Any], theory: Theory, tmp_path: Path) -> None:
    plan = Plan.of(TASK.train(), TASK.target, **options)
    Theory(theory.definitions, plan).save(tmp_path)
    assert load(tmp_path).plan == plan


def test_targets_of_any_name_have_their_own_folder(tmp_path: Path) -> None:
    names = ["big one", "big_one", "größe"]
    rows = [Atom(name, (Constant(n),)) for name in names for n in range(12) if n % (2 + len(name) % 3)]
    facts = FactBase.from_facts([*rows, *(Atom("n", (Constant(n),)) for n in range(12))])
    theory = learn(facts, [f"{name}/1" for name in names], variables=1, out=tmp_path, **QUICK)
    assert [made.target for made in theory] == [f"{name}/1" for name in names]
    assert len(list((tmp_path / "targets").iterdir())) == 3
    assert plain(load(tmp_path)) == plain(theory)


def test_what_cannot_be_read_is_refused_in_a_sentence(theory: Theory, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no saved run"):
        load(tmp_path)
    theory.save(tmp_path / "run")
    index = tmp_path / "run" / "run.json"
    whole = index.read_text()
    for damage in (
        "{",
        "{}",
        whole.replace('"format": 2', '"format": 99'),
        whole.replace("lessThan/2", "no/9"),
    ):
        index.write_text(damage)
        with pytest.raises(CheckpointError) as caught:
            load(tmp_path / "run")
        assert "\n" not in str(caught.value)
    index.write_text(whole)
    (target,) = (tmp_path / "run" / "targets").glob("lessThan_2-*")
    with pytest.raises(CheckpointError, match="holds one target of the run in"):
        load(target)
    kept = json.loads((target / "run.json").read_text())
    kept["content"]["definition"]["counts"] = 3
    (target / "run.json").write_text(json.dumps(kept))
    with pytest.raises(CheckpointError, match=r"damaged \(definition.counts: input should be"):
        load(tmp_path / "run")
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="is a file"):
        theory.save(tmp_path / "file")


def test_a_damaged_target_is_learned_again(tmp_path: Path) -> None:
    facts = TASKS["predecessor"].train()
    first = learn(facts, "predecessor/2", variables=2, out=tmp_path, **QUICK)
    path = next((tmp_path / "targets").rglob("run.json"))
    path.write_text(path.read_text()[:100])
    again = learn(facts, "predecessor/2", variables=2, out=tmp_path, **QUICK)
    assert again.program == first.program
    assert json.loads(path.read_text())["content"]["definition"]["target"] == "predecessor/2"


class Counted(Callback):
    """Counts the targets that are learned rather than taken from a folder."""

    targets = 0

    def on_census(self, census: Census) -> None:
        self.targets += 1


@pytest.mark.parametrize(
    ("first", "second", "learned"), [(9.0, None, 1), (9.0, 30.0, 1), (9.0, 9.0, 0), (None, 9.0, 0)]
)
def test_what_the_time_limit_cut_short_is_learned_again_with_more_time(
    first: float | None,
    second: float | None,
    learned: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    facts, counted = TASKS["predecessor"].train(), Counted()
    options = {**QUICK, "variables": 2, "out": tmp_path}
    late = LateAfterCensus(monkeypatch)
    cut = learn(facts, "predecessor/2", time_limit=first, callbacks=[late], **options)
    assert cut.definitions[0].result.stopped == (None if first is None else "time")
    assert bool(cut.definitions[0].notes) == (first is not None)
    again = learn(facts, "predecessor/2", time_limit=second, callbacks=[counted], **options)
    assert counted.targets == learned
    if learned:  # what was cut is not frozen
        assert again.definitions[0].result.stopped is None
        assert len(again.program) > len(cut.program) == 0


def test_a_name_that_was_not_learned(theory: Theory) -> None:
    with pytest.raises(DataError, match="more/2 was not learned: there is lessThan/2"):
        theory["more/2"]
