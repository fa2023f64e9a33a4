"""From facts to rules: reasons for no rule, what was left out, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.clock import LateAfterCensus
from tests.learning.small_facts import QUICK, TARGETS, Watch, base, chain, quick, two_targets

from andre.api import learn
from andre.errors import AndreError, ConfigError, DataError
from andre.facts import TASKS, FactBase
from andre.learning import Plan, learnable
from andre.logic import parse_atom
from andre.samples import Language


def test_a_target_without_a_rule_has_a_reason() -> None:
    rng = np.random.default_rng(3)
    names = [f"c{number}" for number in range(30)]
    facts = base(
        *(f"p({name})" for name in names if rng.random() < 0.5),
        *(f"q({name})" for name in names if rng.random() < 0.5),
        *(f"there({name})" for name in names),
    )
    theory = quick(facts, "p/1", variables=1)
    (definition,) = theory
    assert not len(theory.program)
    assert "too little support to tell it from chance" in str(definition.reason)
    assert definition.length == pytest.approx(definition.empty_length)
    # It still is judged: all true atoms are missed.
    overall = theory.evaluate(facts).overall
    assert overall.recall == 0
    assert not len(theory.predict(facts))


@pytest.mark.parametrize("mode", ["define", "complete"])
def test_a_time_limit_stops_the_runs_and_still_gives_a_sound_answer(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (definition,) = learn(
        chain(), "path/2", mode=mode, time_limit=9, callbacks=[LateAfterCensus(monkeypatch)]
    )
    assert definition.result.stopped == "time"
    assert definition.length <= definition.empty_length + 1e-6
    assert (definition.reason is None) == (len(definition.program) > 0)


def test_what_was_left_out_is_told_with_its_reason() -> None:
    (definition,) = quick(chain(), "path/2")
    chosen = set(definition.program)
    assert 0 < len(definition.rejected) <= 20
    for item in definition.rejected:
        assert item.rule not in chosen
        assert item.reason
        assert item.rule.on("train") is not None


@pytest.mark.parametrize(
    ("facts", "target", "options", "says"),
    [
        (chain(), "road/2", {}, "there is no relation road/2: choose from edge/2, path/2"),
        (chain(), "path/3", {}, "there is no relation path/3"),
        (chain(), None, {}, "there is no target: name one of edge/2, path/2"),
        (chain(), [], {}, "there is no target"),
        (
            base("p(a)", "q(a)", "q(b)", marks=["test", "train", "train"]),
            "p/1", {}, "p/1 occurs only in test facts",
        ),
        (
            FactBase.from_facts([parse_atom("q(a)"), parse_atom("q(b)")], negatives=[parse_atom("p(a)")]),
            "p/1", {}, "all training facts of p/1 are denied",
        ),
        (
            base("p(a)", "p(b)", "q(a)", "q(b)", "q(c)", probabilities=[0.2, 0.3, 1, 1, 1]),
            "p/1", {"variables": 1}, "true than not: of all, one is true with probability 0.3 at the most",
        ),
        (base("p(a)", "p(b)", "q(a)", "q(b)"), "p/1", {"variables": 1}, "p/1 has no negative examples"),
        (
            base("p(a)", "p(b)", "q(a)", "q(c)", world="open"),
            "p/1", {"variables": 1}, "p/1 has no negative examples",
        ),
        (
            base("p(a, a)", "p(b, b)", "q(a)", "q(b)", "q(c)"),
            "p/2", {"mode": "complete"}, "set identity to false, or use mode define",
        ),
        (
            base("p(a)", "p(b)", "q(a)", "q(b)", "q(c)", probabilities=[0, 0, 1, 1, 1]),
            "p/1", {"variables": 1}, "all training facts of p/1 are denied",
        ),
        (chain(), "path/2", {"variables": 9, "mode": "complete"}, "there are 9 variables for 8 constants"),
        (chain(), "path/2", {"variables": 1}, "path/2 has 2 variables in its head"),
        (chain(), "path/2", {"relations": (), "inequality": True}, "leaves no candidate"),
        (chain(), "path/2", {"exclude": ("edge", "path")}, "leaves no candidate"),
        (chain(), "path/2", {"exclude": ("road",)}, "exclude names 'road'"),
        (chain(), "path/2", {"memory_limit": 10}, "raise the memory limit"),
        (chain(), "path/2", {"mode": "complete", "memory_limit": 10}, "raise the memory limit"),
        (chain(), "path/2", {"stepz": 3}, "there is no setting 'stepz'"),
        (chain(), "path/2", {"calibrat": True}, "is calibrate meant.* calibrate, .* variables"),
        (chain(), "path/2", {"short_bodies": "maybe"}, "short_bodies is 'maybe' and must be true or false"),
        (chain(), "path/2", {"calibrate": 1}, "calibrate is 1 and must be true or false"),
        (chain(), "path/2", {"table_cells": True}, "table_cells is True and must be a whole number"),
        (chain(), "path/2", {"types": "maybe"}, "types is 'maybe' and must be true or false"),
        (chain(), "path/2", {"refine": "maybe"}, "refine is 'maybe': it must be true or false"),
        (chain(), "path/2", {"identity": True}, "identity has no meaning for a definition"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(
    facts: FactBase, target: Any, options: dict[str, Any], says: str, tmp_path: Path
) -> None:
    with pytest.raises(AndreError, match=says) as caught:
        quick(facts, target, out=tmp_path / "run", **options)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()  # nothing is half-written


def test_a_wrong_name_is_refused_before_anything_is_learned() -> None:
    watch = Watch()
    with pytest.raises(DataError, match="there is no relation road/2"):
        quick(chain(), ["path/2", "road/2"], callbacks=[watch])
    assert watch.counted == []


def test_a_plan_and_options_do_not_mix() -> None:
    plan = Plan.of(chain(), "path/2", **QUICK)
    assert quick(chain(), None, plan).program == quick(chain(), "path/2").program
    with pytest.raises(ConfigError, match="variables belongs in it"):
        quick(chain(), "path/2", plan, variables=2)


def test_a_language_may_name_the_target(tmp_path: Path) -> None:
    language = Language("path/2", recursion=False)
    assert not any(rule.is_recursive for rule in quick(chain(), language=language).program)
    (tmp_path / "bias.toml").write_text("target = 'path/2'\nmax_body = 1\n")
    theory = quick(chain(), language=tmp_path / "bias.toml")
    assert all(len(rule.body) == 1 for rule in theory.program)


def test_too_many_constants_for_tables_are_joined() -> None:
    (tabled,), (joined,) = (quick(chain(), "path/2", table_cells=cells) for cells in (64, 63))
    assert any(rule.is_recursive for rule in joined.program)
    assert (str(joined.program), joined.confusion) == (str(tabled.program), tabled.confusion)
    assert joined.notes == ()


def test_uncertain_facts_of_too_many_constants_leave_recursion_out() -> None:
    atoms, chances = [], []
    for atom in (fact for name, arity in chain().relations for fact in chain().atoms(name, arity)):
        atoms.append(atom)
        chances.append(0.9 if atom.predicate == "edge" else 1.0)
    facts = FactBase.from_facts(atoms, probabilities=chances)
    (definition,) = quick(facts, "path/2", table_cells=63, calibrate=False)
    assert not any(rule.is_recursive for rule in definition.program)
    assert definition.notes == ("recursion was left out: over 8 constants uncertain facts are not revised",)


def test_which_relations_can_be_learned() -> None:
    facts = FactBase.from_facts(
        map(parse_atom, ["p(a,b)", "p(b,c)", "q(a,c)", "s(a)", "s(b)", "now"]),
        negatives=[parse_atom("z(a)"), parse_atom("z(b)")],
        marks=["train", "train", "train", "test", "valid", "train"],
    )
    good, bad = learnable(facts)
    assert good == ["p/2"]
    assert bad == [
        "q/2 has only 1 fact to learn from: two are the least",
        "s/1 occurs only in test or validation facts",
        "now/0 has no arguments",
        "all training facts of z/1 are denied",
    ]
    for name in ("s/1", "now/0", "z/1"):
        with pytest.raises(DataError):
            quick(facts, name)


def test_runs_never_negate_where_the_language_forbids_it() -> None:
    task = TASKS["relatedness"]
    for seed in range(2):
        few = {"restarts": 2, "rounds": 1, "steps": 60}
        theory = learn(task.train(seed), task.target, negation=False, short_bodies=False, seed=seed, **few)
        assert not (theory.definitions[0].result.proposed < 0).any()


def test_no_target_can_be_learned() -> None:
    with pytest.raises(DataError, match="none of 2 targets can be learned, path/2 because"):
        quick(two_targets(), TARGETS, semantics="rows", memory_limit=10)
