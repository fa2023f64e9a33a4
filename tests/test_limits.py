"""A time limit holds in every stage: after it no stage does more than one block of work.

The clock ticks once whenever it is looked at, and every block of work looks at it. So a limit
of n seconds is one of n blocks, and looks beyond it are what is done though time is up.
"""

from __future__ import annotations

import importlib
import math
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.clock import Clock, ticking
from tests.completion.bases import FAST, family
from tests.learning.small_facts import chain

from andre.census import take_census
from andre.completion import complete
from andre.errors import DataError, OutOfTimeError
from andre.evaluation import CrispSample, program_length
from andre.facts import TASKS, FactBase, Relation
from andre.learning import Config, fit, learn
from andre.learning.choose import fewest_errors
from andre.learning.short_bodies import best_short_bodies
from andre.limits import (
    Deadline,
    check,
    enforced,
    interrupting,
    limited,
    out_of_time,
    stage,
    time_left,
    unhurried,
)
from andre.samples import SYNTHETIC_TASKS, Form, Language, Sample

#: Looks at the clock that come after the limit at the most: one or two for each stage, of which none works.
#: Definitions have the most stages, as programs that agree with all examples are looked for too.
BEYOND = 80

QUICK: dict[str, Any] = {"restarts": 2, "rounds": 2, "steps": 12, "check_every": 4}


def shares(total: int) -> list[int]:
    """Limits that fall into every part of work of so many looks."""
    return sorted({1, 2, 3, 5, 8, 13, *np.geomspace(20, total, 10).astype(int).tolist()})


def looks(clock: Clock, work: Callable[[], object]) -> int:
    before = clock.time
    work()
    return int(clock.time - before)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return ticking(monkeypatch)


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_rows(clock: Clock, preset: str) -> None:
    sample = SYNTHETIC_TASKS["R3"].sample(120, 0)
    crisp = CrispSample.of(sample)
    total = looks(clock, lambda: fit(sample, Config.preset(preset, **QUICK, time_limit=1e9)))
    seen = set()
    for limit in shares(total):
        begun = clock.time
        result = fit(sample, Config.preset(preset, **QUICK, time_limit=limit))
        assert clock.time - begun <= limit + BEYOND
        assert result.stopped == ("time" if result.cut else None)
        seen.update(result.cut)
        if preset == "default":
            assert result.length == pytest.approx(program_length(crisp, result.codes))
            assert result.length <= result.empty_length + 1e-9
    wanted = {"training", "summing up the runs"}
    wanted |= (
        {"choosing among runs"} if preset == "paper" else {"combining rules", "refining", "pooling rules"}
    )
    assert wanted <= seen


TARGETS = {
    "a definition": (lambda: TASKS["relatedness"].train(0), "related/2", {}),
    "a definition of numbers": (lambda: TASKS["even"].train(0), "even/1", {"variables": 2}),
    "examples": (chain, "path/2", {"mode": "complete"}),
    "rows": (chain, "path/2", {"semantics": "rows"}),
    # It has no rule, and what is advised then is looked for by the clock.
    "listed groundings": (
        lambda: chain(4),
        "path/2",
        {"variables": 4, "mode": "complete", "advise": False},
    ),
}


@pytest.mark.parametrize("name", TARGETS)
def test_targets(clock: Clock, name: str) -> None:
    make, target, options = TARGETS[name]
    facts = make()
    (whole,) = learn(facts, target, **QUICK, **options)
    first = clock.time
    total = looks(clock, lambda: learn(facts, target, **QUICK, **options, time_limit=1e9))
    assert first == 0, "without a limit nobody looks at the clock"
    refused = 0
    for limit in shares(total):
        begun = clock.time
        made, refusal = whole, ""
        try:
            (made,) = learn(facts, target, **QUICK, **options, time_limit=limit)
        except DataError as error:
            refusal = str(error)
            refused += 1
        says = f"the time limit of {limit} s passed before the examples of {target} were counted"
        assert refusal == "" or says in refusal
        assert clock.time - begun <= limit + BEYOND
        assert made.length <= made.empty_length + 1e-6
        assert (made.reason is None) == (len(made.program) > 0)
        if made is not whole:
            # Of programs without a mistake a stage that was cut may have left another one.
            assert made.result.stopped == "time" or made.flawless or made.program == whole.program
            assert (made.result.stopped == "time") == any("the time limit of" in note for note in made.notes)
            assert all(stage in made.notes[-1] for stage in made.result.cut)
    assert 0 < refused < len(shares(total))


def test_a_limit_that_is_not_reached_changes_nothing(clock: Clock) -> None:
    facts = TASKS["grandparent"].train(0)
    one, two = (learn(facts, "grandparent/2", **QUICK, time_limit=limit) for limit in (None, 1e9))
    assert one.program == two.program
    assert not two["grandparent/2"].notes


def test_completion(clock: Clock) -> None:
    facts, config = family(), FAST.model_copy(update={"chained": (False,)})
    total = looks(clock, lambda: complete(facts, config.model_copy(update={"time_limit": 1e9})))
    said = ""
    for limit in shares(total):
        begun = clock.time
        done = complete(facts, config.model_copy(update={"time_limit": float(limit)}))
        assert clock.time - begun <= limit + BEYOND
        said += "".join(note for note in done.notes if note.startswith(f"the time limit of {limit:g} s"))
    for part in ("short bodies", "have no rules", "are not tried", "some of the validation facts only"):
        assert part in said
    weights = config.model_copy(update={"aggregators": ("weights",), "time_limit": float(total // 3)})
    assert "weights of" in complete(facts, weights).notes[-1]


@pytest.mark.parametrize("method", ["auto", "count", "list"])
@pytest.mark.parametrize(("semantics", "variables"), [("rows", 3), ("exists", 3), ("exists", 4)])
def test_census(clock: Clock, method: Any, semantics: Any, variables: int) -> None:
    """Every strategy looks at the clock, and stops at the look that finds it late."""
    facts, language = chain(5), Language("path/2", variables)
    with limited(Deadline.after(1e9)):
        total = looks(clock, lambda: take_census(facts, language, semantics=semantics, method=method))
    assert total > 2
    for limit in range(1, total, 1 + total // 7):
        begun = clock.time
        with limited(Deadline.after(limit)), pytest.raises(OutOfTimeError):
            take_census(facts, language, semantics=semantics, method=method)
        assert clock.time - begun <= limit + 2  # the first look is at the limit's beginning


def test_drawn_head_atoms_stand_for_all_where_time_allows_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def census(*given: Any, **options: Any) -> None:
        assert time_left().left <= 500  # half of the limit
        raise OutOfTimeError("late")

    monkeypatch.setattr("andre.learning.relational.target_learner.take_census", census)
    codes = np.random.default_rng(0).integers(0, 3000, (9000, 2))
    facts = FactBase.from_relations(range(3000), [Relation("p", codes[:6000]), Relation("q", codes[5000:])])
    options = {**QUICK, "mode": "complete", "steps": 1, "rounds": 1}
    (made,) = learn(facts, "p/2", **options, fallback_heads=50, time_limit=1000)
    assert "50 head atoms were drawn to stand for all" in made.notes[0]
    assert made.result.cut[0] == "counting all head atoms"
    assert made.result.stopped == "time"


def test_covering_and_short_bodies_give_what_they_have(clock: Clock) -> None:
    rng = np.random.default_rng(0)
    crisp = CrispSample.of(Sample.from_arrays(rng.random((80, 6)), rng.random(80) < 0.4))
    form = Form(crisp.space)
    none = np.zeros((0, 6), dtype=np.int8)
    config = Config.preset().selection.model_copy(update={"min_confidence": 0.2})
    for work in (lambda: fewest_errors(crisp, none, form), lambda: best_short_bodies(crisp, form, config)):
        with limited(Deadline.after(1e9)):
            whole = work()
            total = looks(clock, work)
        sizes = []
        for limit in shares(total)[:-1]:
            with limited(Deadline.after(limit)):
                begun = clock.time
                sizes.append(len(work()))
                assert clock.time - begun <= limit + 3
        assert 0 in sizes
        assert sizes == sorted(sizes)
        assert 0 < sizes[-1] <= len(whole)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=5))
def test_the_earliest_deadline_holds(moments: list[float]) -> None:
    def nest(left: list[float]) -> float:
        if not left:
            return time_left().moment
        with limited(Deadline(left[0])):
            return nest(left[1:])

    assert nest(moments) == min(moments)
    assert time_left().moment == math.inf


def test_stages_note_what_was_cut_and_nothing_holds_what_must_be_done() -> None:
    with limited(Deadline.after(None)) as outer:
        with limited(Deadline.after(0)) as inner:
            with stage("one"):
                check()
            with unhurried():
                check()
            assert out_of_time("two")
            assert not out_of_time("two") or inner.cut == ["one", "two"]
        assert not out_of_time("three")
    assert outer.cut == ["one", "two"]
    with pytest.raises(OutOfTimeError), limited(Deadline.after(0)):
        check()


def test_a_query_is_interrupted_at_the_deadline() -> None:
    ended = threading.Event()

    def query() -> None:
        with limited(Deadline.after(0.01)), interrupting(ended.set):
            assert ended.wait(30)
            raise RuntimeError("the query was interrupted")

    with pytest.raises(OutOfTimeError):
        query()
    with limited(Deadline.after(1000)), pytest.raises(ZeroDivisionError), interrupting(ended.clear):
        raise ZeroDivisionError
    assert ended.is_set()


def test_a_module_that_is_being_loaded_is_loaded_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_to_load.py").write_text(
        "import time\nuntil = time.monotonic() + 0.6\nwhile time.monotonic() < until: pass\nLOADED = True\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "slow_to_load", raising=False)
    loaded: list[str] = []
    with enforced(), limited(Deadline.after(0.01)) as watch, stage("working"):
        loaded += vars(importlib.import_module("slow_to_load"))
        while True:  # what comes after it is cut
            pass
    assert "LOADED" in loaded
    assert watch.cut == ["working"]
