"""Interrupted and taken up again is the same as never interrupted; damaged work is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from andre.api import fit
from andre.errors import CheckpointError
from andre.learning import Callback, Config, Result, State
from andre.runs import Checkpoint
from andre.samples import SYNTHETIC_TASKS, Sample

SAMPLE = SYNTHETIC_TASKS["R2"].sample(120, seed=1, noise=0.1)
# Short and undecided: several rounds, and runs that leave early.
SETTINGS = {"steps": 40, "rounds": 3, "restarts": 2, "subrules": (1, 2), "check_every": 5, "patience": 2}
CONFIG = Config.preset("default", seed=4, **SETTINGS)


class StopAt(Callback):
    """Asks to stop after so many calls of a hook."""

    def __init__(self, calls: int, hook: str = "on_step") -> None:
        self.left, self.hook = calls, hook

    def _count(self, hook: str) -> None:
        self.left -= hook == self.hook
        if hook == self.hook and self.left == 0:
            raise KeyboardInterrupt

    def on_step(self, state: State) -> None:
        self._count("on_step")

    def on_extract(self, state: State) -> None:
        self._count("on_extract")


def assert_same(one: Result, other: Result) -> None:
    assert str(one.program) == str(other.program)
    assert one.length == other.length
    assert one.scores == other.scores
    assert [(r.round, r.n_rules, str(r.program), r.length) for r in one.runs] == [
        (r.round, r.n_rules, str(r.program), r.length) for r in other.runs
    ]
    assert np.array_equal([r.loss for r in one.runs], [r.loss for r in other.runs], equal_nan=True)
    assert one.weights.tobytes() == other.weights.tobytes()
    assert [(look.round, look.step) for look in one.history] == [
        (look.round, look.step) for look in other.history
    ]
    for mine, theirs in zip(one.history, other.history, strict=True):
        assert np.array_equal(mine.losses, theirs.losses, equal_nan=True)
        assert np.array_equal(mine.train, theirs.train, equal_nan=True)


@pytest.fixture(scope="module")
def whole() -> Result:
    return fit(SAMPLE, CONFIG)


def test_the_example_has_several_rounds(whole: Result) -> None:
    """Or the tests below would test little."""
    assert len({run.round for run in whole.runs}) > 1


@pytest.mark.parametrize("step", [1, 7, 39, 40, 41, 63, 80])
def test_stopped_after_a_step_and_resumed(step: int, whole: Result, tmp_path: Path) -> None:
    first = fit(SAMPLE, CONFIG, callbacks=[StopAt(step)], checkpoint=tmp_path)
    assert first.stopped == "interrupted"
    second = fit(SAMPLE, CONFIG, checkpoint=tmp_path)
    assert second.stopped is None
    assert_same(second, whole)
    assert not list(tmp_path.iterdir()), "finished work leaves no checkpoint"


@pytest.mark.parametrize("look", range(1, 19, 3))
def test_stopped_at_a_look_and_resumed(look: int, whole: Result, tmp_path: Path) -> None:
    """Also at the looks that end a round, and at the very last one."""
    fit(SAMPLE, CONFIG, callbacks=[StopAt(look, "on_extract")], checkpoint=tmp_path)
    assert_same(fit(SAMPLE, CONFIG, checkpoint=tmp_path), whole)


def test_stopped_at_every_end_of_a_round_and_resumed(whole: Result, tmp_path: Path) -> None:
    class StopAtEnds(Callback):
        def on_extract(self, state: State) -> None:
            if state.runs is None:
                raise KeyboardInterrupt

    for _ in range(CONFIG.training.rounds):
        last = fit(SAMPLE, CONFIG, callbacks=[StopAtEnds()], checkpoint=tmp_path)
    assert_same(last, whole)


def test_stopped_again_and_again(whole: Result, tmp_path: Path) -> None:
    for _ in range(3):
        assert fit(SAMPLE, CONFIG, callbacks=[StopAt(9)], checkpoint=tmp_path).stopped == "interrupted"
    assert_same(fit(SAMPLE, CONFIG, checkpoint=tmp_path), whole)


def test_killed_without_a_word(whole: Result, tmp_path: Path) -> None:
    """What the last checkpoint holds is enough, wherever the process dies."""

    class DeadError(RuntimeError):
        pass

    class Die(Callback):
        left = 30

        def on_step(self, state: State) -> None:
            self.left -= 1
            if not self.left:
                raise DeadError

    keeper = Checkpoint(tmp_path, every=0.0)
    keeper.begin(SAMPLE, CONFIG)
    with pytest.raises(DeadError):
        fit(SAMPLE, CONFIG, callbacks=[keeper, Die()])
    assert len(list(tmp_path.iterdir())) == 2
    assert_same(fit(SAMPLE, CONFIG, checkpoint=tmp_path), whole)


def test_killed_after_the_last_look(whole: Result, tmp_path: Path) -> None:
    """Work that was done needs no further round."""
    keeper = Checkpoint(tmp_path, every=0.0)
    keeper.begin(SAMPLE, CONFIG)
    fit(SAMPLE, CONFIG, callbacks=[keeper])
    assert_same(fit(SAMPLE, CONFIG, checkpoint=tmp_path), whole)


def test_mini_batches_resume_too(tmp_path: Path) -> None:
    config = Config.preset("paper", steps=6, batch=32, restarts=1, subrules=(1, 2), seed=3)
    whole = fit(SAMPLE, config)
    fit(SAMPLE, config, callbacks=[StopAt(11)], checkpoint=tmp_path)
    assert_same(fit(SAMPLE, config, checkpoint=tmp_path), whole)


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    fit(SAMPLE, CONFIG, callbacks=[StopAt(7)], checkpoint=tmp_path)
    return tmp_path


def damage_json(folder: Path, change) -> None:
    path = folder / "checkpoint.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


DAMAGE = {
    "tensors cut short": lambda f: _tensors(f).write_bytes(_tensors(f).read_bytes()[:-9]),
    "a flipped bit": lambda f: _tensors(f).write_bytes(b"\x01" + _tensors(f).read_bytes()[1:]),
    "tensors gone": lambda f: _tensors(f).unlink(),
    "JSON cut short": lambda f: (f / "checkpoint.json").write_bytes(b'{"version": 1, "ten'),
    "JSON empty": lambda f: (f / "checkpoint.json").write_bytes(b""),
    "no JSON at all": lambda f: (f / "checkpoint.json").write_bytes(b"\xff\xfe\x00"),
    "a list": lambda f: damage_json(f, lambda index: [index]),
    "no digest": lambda f: damage_json(f, lambda index: {k: v for k, v in index.items() if k != "tensors"}),
    "no state": lambda f: damage_json(f, lambda index: {k: v for k, v in index.items() if k != "progress"}),
    "a wrong state": lambda f: damage_json(f, lambda index: {**index, "progress": {"finished": 5}}),
    "part of a state": lambda f: damage_json(f, lambda index: index["progress"].pop("best") and index),
    "another version": lambda f: damage_json(f, lambda index: {**index, "task": _other_version(index)}),
    "tensors are a folder": lambda f: damage_json(f, lambda index: {**index, "tensors": "."}),
}


def _other_version(index: dict[str, Any]) -> dict[str, Any]:
    return {**index["task"], "versions of andre": 99}


def _tensors(folder: Path) -> Path:
    return next(folder.glob("*.safetensors"))


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_checkpoint_is_refused_in_a_sentence(case: str, stopped: Path) -> None:
    DAMAGE[case](stopped)
    with pytest.raises(CheckpointError, match="delete") as error:
        fit(SAMPLE, CONFIG, checkpoint=stopped)
    assert str(stopped) in str(error.value)


def test_a_checkpoint_of_other_rows_or_settings_is_refused(stopped: Path) -> None:
    with pytest.raises(CheckpointError, match="other settings"):
        fit(SAMPLE, Config.preset("default", seed=5, **SETTINGS), checkpoint=stopped)
    with pytest.raises(CheckpointError, match="other rows"):
        fit(SYNTHETIC_TASKS["R2"].sample(121, seed=1), CONFIG, checkpoint=stopped)
    renamed = Sample.from_arrays([[0.0, 1.0], [1.0, 0.0]], [0, 1], space=["a", "b"])
    with pytest.raises(CheckpointError, match="other rows"):
        fit(renamed, CONFIG, checkpoint=stopped)


def test_a_time_limit_may_change_between_sittings(stopped: Path, whole: Result) -> None:
    config = Config.preset("default", seed=4, time_limit=600, **SETTINGS)
    assert_same(fit(SAMPLE, config, checkpoint=stopped), whole)


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("hello")
    with pytest.raises(CheckpointError, match="folder"):
        fit(SAMPLE, CONFIG, checkpoint=path)
    assert path.read_text() == "hello"
