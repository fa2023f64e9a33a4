"""What TensorBoard reads back is what was noted."""

import builtins
import sys

import numpy as np
import pytest

from andre.errors import AndreError
from andre.learning import Config, fit
from andre.model import LOSSES
from andre.samples import SYNTHETIC_TASKS

pytest.importorskip("tensorboard")

from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.util import tensor_util

from andre.report import TensorBoard

TASK = SYNTHETIC_TASKS["four"]


def read(folder):
    """Scalars and texts by tag: a list of (step, value)."""
    found = {}
    (path,) = folder.iterdir()
    for event in EventFileLoader(str(path)).Load():
        for value in event.summary.value:
            array = tensor_util.make_ndarray(value.tensor)
            plain = array.item() if array.ndim == 0 else array.ravel()[0].decode()
            found.setdefault(value.tag, []).append((event.step, plain))
    return found


def test_events_are_the_means_over_the_moving_runs(tmp_path):
    config = Config.preset(restarts=2, rounds=2, subrules=(2, 3), steps=45)
    with TensorBoard(tmp_path / "log") as board:
        result = fit(TASK.sample(100, seed=0), config, validation=TASK.sample(40, seed=1), callbacks=[board])
    found = read(tmp_path / "log")
    steps = [look.round * 45 + look.step for look in result.history]
    assert len(set(steps)) == len(steps)
    for tag, lines in (
        ("accuracy/train", [look.train for look in result.history]),
        ("accuracy/validation", [look.validation for look in result.history]),
        *(
            (f"loss/{loss.name}", [look.losses[place] for look in result.history])
            for place, loss in enumerate(LOSSES)
        ),
    ):
        assert [step for step, _ in found[tag]] == steps
        assert [value for _, value in found[tag]] == pytest.approx(
            [np.nanmean(line) for line in lines], abs=1e-5
        )
    assert found["program/text_summary"][-1][1].split() == str(result.program).split()


def test_without_tensorboard_a_sentence_says_how_to_get_it(tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if "tensorboard" in name:
            raise ModuleNotFoundError(name=name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.delitem(sys.modules, "torch.utils.tensorboard", raising=False)
    with pytest.raises(AndreError, match=r"pip install 'andre\[tensorboard\]'"):
        TensorBoard(tmp_path)
