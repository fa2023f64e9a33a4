"""Runs of every kind come back as they were saved; what is damaged or foreign is refused in a sentence."""

from __future__ import annotations

import contextlib
import copy
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.completion.bases import FAST, family

import andre
from andre.api import fit, learn
from andre.completion import Completion, PackedRules, complete
from andre.errors import AndreWarning, CheckpointError
from andre.facts import TASKS, FactBase
from andre.learning import Callback, Config, Result, Theory
from andre.learning import fit as fit_sample
from andre.logic import parse_atom, parse_rule, read_program
from andre.runs import Checkpoint, Run, is_run, load, program_of, save
from andre.samples import SYNTHETIC_TASKS

QUICK: dict[str, Any] = {"restarts": 1, "rounds": 1, "steps": 20}
KINDS = {"result": Result, "theory": Theory, "completion": Completion}


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    given = [parse_rule("parent(X, Y) :- child(Y, X), \\+ likes(X, Y).")]
    return {
        "result": fit(SYNTHETIC_TASKS["four"].sample(60, seed=0), Config.preset(**QUICK)),
        "theory": learn(TASKS["predecessor"].train(), "predecessor/2", variables=2, **QUICK),
        "completion": complete(family(), FAST, given),
    }


@pytest.fixture(scope="module")
def folders(runs: dict[str, Run], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Saved runs, which tests must leave as they are."""
    found = {kind: tmp_path_factory.mktemp("runs") / kind for kind in runs}
    for kind, path in found.items():
        runs[kind].save(path)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_run_comes_back(
    kind: str, runs: dict[str, Run], folders: dict[str, Path], tmp_path: Path
) -> None:
    again = andre.load(folders[kind])
    assert isinstance(again, KINDS[kind])
    assert is_run(folders[kind])
    assert program_of(again) == program_of(runs[kind])
    assert [rule.evidence for rule in program_of(again)] == [rule.evidence for rule in program_of(runs[kind])]
    assert len(program_of(again)) > 0
    assert read_program(folders[kind]) == program_of(again), "program.pl says the same"
    # What was loaded is saved just as it was: nothing was lost on the way.
    save(again, tmp_path)
    assert content(tmp_path) == content(folders[kind])


def content(folder: Path) -> dict[str, Any]:
    """All that a run holds, by file; the digest in names stands for the tensors."""
    return {
        str(path.relative_to(folder)): path.read_text() if path.suffix == ".json" else None
        for path in sorted(folder.rglob("*"))
    }


def test_arrays_come_back_bit_for_bit(runs: dict[str, Run], folders: dict[str, Path]) -> None:
    one, other = runs["result"], load(folders["result"])
    assert isinstance(one, Result)
    assert isinstance(other, Result)
    for name in ("weights", "proposed"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert (mine.dtype, mine.shape, mine.tobytes()) == (theirs.dtype, theirs.shape, theirs.tobytes())
    for mine, theirs in zip(one.history, other.history, strict=True):
        np.testing.assert_array_equal(mine.losses, theirs.losses)


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_a_run_is_replaced_by_one_of_any_kind(
    first: str, second: str, runs: dict[str, Run], tmp_path: Path
) -> None:
    runs[first].save(tmp_path)
    runs[second].save(tmp_path)
    assert program_of(load(tmp_path)) == program_of(runs[second])
    assert len(list(tmp_path.glob("*.safetensors"))) == 1, "old tensors are deleted"


@pytest.mark.parametrize("kind", KINDS)
def test_a_crash_leaves_the_old_run_or_the_new_one(
    kind: str, runs: dict[str, Run], folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from andre.runs import folder

    path = tmp_path / "run"
    shutil.copytree(folders["result"], path)
    real, left = folder.write_whole, [0]

    def write_or_die(path: Path, data: bytes | str) -> None:
        if not left[0]:
            raise OSError("no space left")
        left[0] -= 1
        real(path, data)

    monkeypatch.setattr(folder, "write_whole", write_or_die)
    expected = [program_of(runs["result"]), program_of(runs[kind])]
    for writes in range(10):
        left[0] = writes
        try:
            runs[kind].save(path)
        except OSError:
            assert program_of(load(path)) in expected
        else:
            break
    assert writes > 2
    assert program_of(load(path)) == expected[1]


WRONG = [None, True, -1, 2.5, "", "no", [], [[]], {}, {"no": 1}, "gone"]


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_a_changed_index_is_read_or_refused_in_a_sentence(
    kind: str, folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "run"
    shutil.copytree(folders[kind], path)
    index = data.draw(st.sampled_from(sorted(path.rglob("run.json"))))
    whole = json.loads(index.read_text())
    # Deep parts are many, so that the place is drawn level by level.
    part, keys = whole, []
    while isinstance(part, dict | list) and part and (not keys or data.draw(st.integers(0, 4))):
        keys.append(data.draw(st.sampled_from(sorted(part) if isinstance(part, dict) else range(len(part)))))
        part = part[keys[-1]]
    changed = copy.deepcopy(whole)
    inner = changed
    for key in keys[:-1]:
        inner = inner[key]
    wrong = data.draw(st.sampled_from(WRONG))
    if wrong == "gone":
        del inner[keys[-1]]
    else:
        inner[keys[-1]] = wrong
    index.write_text(json.dumps(changed))
    with contextlib.suppress(CheckpointError):
        assert isinstance(load(path), Run)
        return
    with pytest.raises(CheckpointError, match=rf"{re.escape(str(path))}.*\Z"):  # a sentence on one line
        load(path)


def test_types_and_names_are_checked(folders: dict[str, Path], tmp_path: Path) -> None:
    """What a changed value makes of a run must not show later, far from here."""
    for name, value, reason in (
        ("length", "long", "length: input should be a valid number"),
        ("stopped", 3, "stopped: input should be a valid string"),
        ("lenght", 1.0, "lenght: unexpected keyword argument"),
        ("weights", {"array": "value.weights", "dtype": "float32", "shape": [1]}, "another type or shape"),
        ("weights", [1.0, 2.0], "weights: input should be an instance of ndarray"),
        ("scores", [{"split": "train"}], "scores.0.accuracy: field required"),
        ("config", {"seed": -1}, "config.seed: input should be greater"),
    ):
        path = tmp_path / str(value)
        shutil.copytree(folders["result"], path)
        index = json.loads((path / "run.json").read_text())
        index["content"][name] = value
        (path / "run.json").write_text(json.dumps(index))
        with pytest.raises(CheckpointError, match=rf"the run in .* is damaged \(.*{reason}.*\)"):
            load(path)


@pytest.mark.parametrize("kind", KINDS)
def test_changed_tensors_are_refused(kind: str, folders: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "run"
    shutil.copytree(folders[kind], path)
    (tensors,) = path.glob("*.safetensors")
    whole = tensors.read_bytes()
    for damage in (whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1]), b"", b"\x00" * 8):
        tensors.write_bytes(damage)
        with pytest.raises(CheckpointError, match="has changed"):
            load(path)
    tensors.unlink()
    with pytest.raises(CheckpointError, match="damaged"):
        load(path)


def test_rules_that_read_what_the_graph_has_not_are_refused(
    runs: dict[str, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = PackedRules.of
    done = next(run for run in runs.values() if isinstance(run, Completion))
    monkeypatch.setattr(
        PackedRules, "of", lambda features: replace(pack(features), codes=pack(features).codes + 40)
    )
    save(done, tmp_path / "run")
    with pytest.raises(CheckpointError, match="its rules read what its graph has not"):
        load(tmp_path / "run")


def test_what_is_no_run_is_said_to_be_none(folders: dict[str, Path], tmp_path: Path) -> None:
    for path, says in (
        (tmp_path, r"there is no saved run in .*: it has no run\.json"),
        (tmp_path / "nowhere", "there is no folder .*nowhere"),
        (Path(__file__), "is a file and no saved run"),
    ):
        assert not is_run(path)
        with pytest.raises(CheckpointError, match=says):
            load(path)
    foreign = tmp_path / "run.json"
    for text in ("", "[]", '{"scripts": {}}', "[" * 100_000, "\x00"):
        foreign.write_text(text)
        with pytest.raises(CheckpointError, match=r"the run in .* is damaged"):
            load(tmp_path)
    index = json.loads((folders["result"] / "run.json").read_text())
    foreign.write_text(json.dumps({**index, "format": 7, "andre": "2.0"}))
    with pytest.raises(
        CheckpointError,
        match=r"has format 7, which this version cannot .* andre 2\.0, or learn",
    ):
        load(tmp_path)


def test_a_run_of_an_earlier_layout_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{"format": 3}')
    with pytest.raises(CheckpointError, match=r"there is no saved run in"):
        load(tmp_path)
    (tmp_path / "program.pl").write_text("h :- a.\n")
    with pytest.raises(CheckpointError, match=r"earlier versions saved a run: learn .* give .*program\.pl"):
        load(tmp_path)


def test_an_open_world_stays_open(tmp_path: Path) -> None:
    from dataclasses import replace

    done = complete(replace(family(), world="open"), FAST)
    done.save(tmp_path)
    again = load(tmp_path)
    assert isinstance(again, Completion)
    assert again.facts.world == "open"


def test_a_theory_that_is_begun_anew_and_killed_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts, names = TASKS["grandparent"].train(), ["grandparent/2", "mother/2", "father/2"]
    old = learn(facts, names, out=tmp_path, seed=0, mode="complete", **QUICK)
    assert len(load(tmp_path).definitions) == 3

    class Killed(BaseException):
        pass

    class Kill(Callback):
        def on_target(self, *_: object) -> None:
            raise Killed

    with pytest.raises(Killed):
        learn(facts, names, out=tmp_path, seed=1, mode="complete", callbacks=[Kill()], **QUICK)
    kept = load(tmp_path)
    assert kept.plan == old.plan
    assert [made.seconds for made in kept] == [made.seconds for made in old]
    new = learn(facts, names, out=tmp_path, seed=1, mode="complete", **QUICK)
    assert load(tmp_path).plan == new.plan
    assert len(list((tmp_path / "targets").iterdir())) == 3, "what was replaced is deleted"


def test_no_program_stands_beside_the_index_of_another(
    runs: dict[str, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from andre.runs import folder

    real = folder.write_whole
    for name in ("run.json", "program.pl"):
        runs["result"].save(tmp_path)

        def die(path: Path, data: bytes | str, last: str = name) -> None:
            if path.name == last:
                raise OSError("no space left")
            real(path, data)

        monkeypatch.setattr(folder, "write_whole", die)
        with pytest.raises(OSError, match="no space left"):
            runs["completion"].save(tmp_path)
        monkeypatch.undo()
        assert not (tmp_path / "program.pl").exists()


SAVE = """
import sys
from andre.runs import load, save
run = load(sys.argv[1])
for _ in range(15):
    save(run, sys.argv[2])
"""


def test_processes_that_save_to_one_folder_leave_a_whole_run(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    kinds = ("result", "completion", "theory")
    racers = [subprocess.Popen([sys.executable, "-c", SAVE, folders[kind], out]) for kind in kinds]
    assert [racer.wait(timeout=120) for racer in racers] == [0, 0, 0]
    assert program_of(load(out)) in [program_of(load(folders[kind])) for kind in kinds]
    assert read_program(out) == program_of(load(out))


def test_what_is_learned_is_not_lost_where_it_cannot_be_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from andre.runs import folder

    def full(path: Path, data: bytes | str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder, "write_whole", full)
    with pytest.warns(AndreWarning, match=r"cannot be written to \(No space left on device\)"):
        theory = learn(TASKS["predecessor"].train(), "predecessor/2", variables=2, out=tmp_path, **QUICK)
    assert len(theory.program) == 1
    with pytest.raises(OSError, match="No space left"):
        theory.save(tmp_path)
    keeper = Checkpoint(tmp_path / "checkpoint", every=0)
    with pytest.warns(AndreWarning, match="No space left on device"):
        result = fit_sample(
            SYNTHETIC_TASKS["four"].sample(60, seed=0), Config.preset(**QUICK), checkpoint=keeper
        )
    assert len(result.program)


def test_a_relation_with_a_long_name_is_saved(tmp_path: Path) -> None:
    long = "p" * 300
    atoms = [f"{name}(c{n})" for name in (long, "q") for n in range(9)] + [f"r(c{n})" for n in range(18)]
    facts = FactBase.from_facts(map(parse_atom, atoms))
    theory = learn(facts, f"{long}/1", variables=1, out=tmp_path, **QUICK)
    assert program_of(load(tmp_path)) == theory.program
