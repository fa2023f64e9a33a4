"""Learning from end to end: recovery, seeds, batches, limits, interruptions, bad input."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from andre.errors import ConfigError, DataError
from andre.evaluation import CrispSample, program_length
from andre.learning import Callback, Config, Guide, State, fit
from andre.learning.descent.trainer import Trainer
from andre.model import Inputs, Network
from andre.samples import SYNTHETIC_TASKS, Sample, random_task

QUICK = {"restarts": 2, "rounds": 1, "steps": 60, "subrules": (1, 2)}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("name", "rows", "noise"), [("four", 100, 0.0), ("R1", 100, 0.0), ("R2", 300, 0.0), ("R5", 500, 0.1)]
)
def test_small_programs_are_recovered_from_any_seed(name: str, rows: int, noise: float, seed: int) -> None:
    task = SYNTHETIC_TASKS[name]
    result = fit(task.sample(rows, seed, noise), Config.preset("default", seed=seed))
    assert result.program == task.program
    assert result.stopped is None


@pytest.mark.parametrize("seed", range(1, 3))
def test_another_seed_on_the_same_rows_recovers_too(seed: int) -> None:
    task = SYNTHETIC_TASKS["R2"]
    assert fit(task.sample(300, 7), Config.preset("default", seed=seed)).program == task.program


def test_the_grandparents_are_recovered() -> None:
    task = SYNTHETIC_TASKS["grandparent"]
    assert fit(task.sample(1000, 0), Config.preset("default")).program == task.program


def test_boolean_rows_with_unknown_cells() -> None:
    task = random_task(8, 2, seed=1)
    rows, labels = task.draw(600, seed=0)
    rows = np.rint(rows)
    holes = np.random.default_rng(0).random(rows.shape) < 0.05
    config = Config.preset("default", rounds=1)
    result = fit(Sample.from_arrays(np.where(holes, np.nan, rows), labels), config)
    assert result.program == task.program


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_the_same_seed_gives_the_same_result(preset: str) -> None:
    sample = SYNTHETIC_TASKS["R2"].sample(80, 0, noise=0.1)
    settings = {**QUICK, "steps": 12}
    one, two, other = (fit(sample, Config.preset(preset, seed=s, **settings)) for s in (5, 5, 6))
    assert str(one.program) == str(two.program)
    assert one.length == two.length
    assert one.weights.tobytes() == two.weights.tobytes()
    assert [str(run.program) for run in one.runs] == [str(run.program) for run in two.runs]
    assert one.weights.tobytes() != other.weights.tobytes()


@pytest.mark.parametrize("seed", range(2))
def test_mini_batches_recover_and_repeat(seed: int) -> None:
    task = SYNTHETIC_TASKS["R1"]
    config = Config.preset("default", batch=50, steps=40, rounds=1, seed=seed)
    sample = task.sample(200, seed)
    one, two = fit(sample, config), fit(sample, config)
    assert one.program == task.program
    assert one.weights.tobytes() == two.weights.tobytes()
    assert one.history[-1].step <= 40 * 4  # four batches an epoch


def test_a_round_shows_some_of_very_many_rows_and_all_of_them_judge() -> None:
    task = SYNTHETIC_TASKS["R1"]
    sample = task.sample(200, 0)
    most = sample.n_rows // 12 * 2  # half of them of each class
    config = Config.preset("default", rows=most, rounds=2)
    trainer = Trainer(sample, config, Guide())
    shown = [trainer._examples(round_) for round_ in (0, 1, 0)]
    assert {each.every[0].inputs.n_rows for each in shown} == {most}
    tables = [each.every[0].inputs.parts[0].visited().features.numpy().tobytes() for each in shown]
    assert tables[0] == tables[2] != tables[1]
    for each in shown:  # as a mean, both classes weigh one half, as on all rows
        assert each._labels.sum(dim=1).tolist() == pytest.approx([0.5, 0.5])
        assert each._raw.sum(axis=1) == pytest.approx([sample.positives.sum(), sample.negatives.sum()])
    assert trainer.crisp.totals.sum() == sample.total
    assert fit(sample, config).program == task.program


def test_few_rows_are_all_shown() -> None:
    sample = SYNTHETIC_TASKS["R1"].sample(200, 0)
    trainer = Trainer(sample, Config.preset("default", rows=sample.n_rows // 4), Guide())
    assert trainer._examples(0).every[0].inputs.n_rows == sample.n_rows


def test_batches_are_drawn_by_weight() -> None:
    """A batch loss is, on average, the whole loss: a step draws rows as often as they weigh."""
    from andre.learning.descent.trainer import _Examples

    sample = Sample.from_arrays([[0.1], [0.4], [0.9]], [0, 1, 1], [6, 3, 1])
    for reduction, total in (("sum", 2.0), ("mean", 1.0)):
        config = Config.preset("default", batch=2, balance=False, reduction=reduction)
        rows = _Examples(sample, config, torch.device("cpu"))
        seen = np.zeros(3)
        for step in range(2000):
            (batch,) = rows.batches((0, 0, step))
            positives, negatives = batch.labels
            assert float((positives + negatives).sum()) == pytest.approx(total)
            values = batch.inputs.parts[0].features[0, :, 1].numpy()
            seen += [np.isclose(values, value).sum() for value in (0.1, 0.4, 0.9)]
        assert seen / seen.sum() == pytest.approx([0.6, 0.3, 0.1], abs=0.03)


def test_the_result_is_what_its_parts_say() -> None:
    task = SYNTHETIC_TASKS["R2"]
    sample, validation = task.sample(200, 0, noise=0.1), task.sample(100, 1)
    result = fit(sample, Config.preset("default", rounds=1), validation=validation)
    for split, rows in (("train", sample), ("validation", validation)):
        crisp = CrispSample.of(rows)
        assert result.score(split).accuracy == crisp.accuracy(result.program)
        assert [rule.on(split) for rule in result.program] == crisp.evidence(result.codes, split)
    assert result.length == pytest.approx(program_length(CrispSample.of(sample), result.codes))
    assert result.length < result.empty_length
    assert all(np.isfinite(look.validation).any() for look in result.history)
    logits = Network(result.config.network)(
        torch.as_tensor(result.weights)[None], Inputs.encode(sample.valuations)
    )
    assert torch.isfinite(logits).all()


def test_validation_rows_change_nothing() -> None:
    sample = SYNTHETIC_TASKS["R2"].sample(80, 0, noise=0.2)
    config = Config.preset("default", **QUICK)
    alone, watched = fit(sample, config), fit(sample, config, validation=SYNTHETIC_TASKS["R1"].sample(50, 1))
    assert str(alone.program) == str(watched.program)
    assert alone.weights.tobytes() == watched.weights.tobytes()


def test_prediction_is_the_program() -> None:
    task = SYNTHETIC_TASKS["four"]
    result = fit(task.sample(100, 0), Config.preset("default", rounds=1))
    rows, labels = task.draw(500, seed=9)
    assert np.array_equal(result.predict(rows), labels)
    proba = result.predict_proba(rows)
    assert np.array_equal(proba > 0.5, labels)
    assert ((proba > 0) & (proba < 1)).all()
    with pytest.raises(DataError, match="4 columns"):
        result.predict(rows[:, :3])


class Count(Callback):
    def __init__(self) -> None:
        self.steps, self.looks, self.moving = 0, 0, []

    def on_step(self, state: State) -> None:
        self.steps += 1
        self.moving.append(len(state.runs.moving))

    def on_extract(self, state: State) -> None:
        self.looks += 1
        assert state.best.length <= program_length(state.sample, np.zeros((0, 10), dtype=np.int8))


def test_callbacks_see_every_step_and_look() -> None:
    count = Count()
    config = Config.preset("default", restarts=1, rounds=1, steps=20, check_every=6, patience=None)
    result = fit(SYNTHETIC_TASKS["R1"].sample(60, 0), config, callbacks=[count])
    assert count.steps == 20
    assert count.looks == 4 + 1  # steps 6, 12, 18, 20, and the end of the round
    assert [look.step for look in result.history] == [6, 12, 18, 20]


def test_converged_runs_leave() -> None:
    count = Count()
    fit(
        SYNTHETIC_TASKS["R1"].sample(200, 0), Config.preset("default", steps=400, rounds=1), callbacks=[count]
    )
    assert count.moving[0] == 16
    assert count.moving[-1] < 16


def test_a_time_limit_is_honoured() -> None:
    config = Config.preset("default", time_limit=1.0, steps=10**6, patience=None)
    began = time.monotonic()
    result = fit(SYNTHETIC_TASKS["R2"].sample(300, 0), config)
    assert time.monotonic() - began < 30  # generous: a million steps would take hours
    assert result.stopped == "time"
    assert len(result.program) > 0


class Raise(Callback):
    """Stops at a step, in one way or another."""

    def __init__(self, step: int, how) -> None:
        self.step, self.how = step, how

    def on_step(self, state: State) -> None:
        if state.runs is not None and state.runs.step == self.step:
            self.how()


def keyboard() -> None:
    raise KeyboardInterrupt


def sigint() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("how", [keyboard, sigint])
def test_an_interrupt_stops_at_once_and_returns_the_best(how) -> None:
    task = SYNTHETIC_TASKS["R1"]
    before = signal.getsignal(signal.SIGINT)
    count = Count()
    result = fit(task.sample(200, 0), Config.preset("default"), callbacks=[Raise(45, how), count])
    assert result.stopped == "interrupted"
    assert count.steps == 45
    assert result.program == task.program
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_interrupt_is_not_held_back() -> None:
    def twice() -> None:
        sigint()
        sigint()

    class Hard(Callback):
        def on_step(self, state: State) -> None:
            twice()

    # A callback may turn it into a stop; what counts is that it arrives.
    result = fit(SYNTHETIC_TASKS["R1"].sample(60, 0), Config.preset("default", **QUICK), callbacks=[Hard()])
    assert result.stopped == "interrupted"


def test_ctrl_c_in_another_process() -> None:
    code = (
        "from andre.samples import SYNTHETIC_TASKS\n"
        "from andre.learning import Callback, Config, fit\n"
        "class Say(Callback):\n"
        "    def on_extract(self, state): print('look', flush=True)\n"
        "config = Config.preset('default', steps=10**6, patience=None)\n"
        "result = fit(SYNTHETIC_TASKS['R1'].sample(200, 0), config, callbacks=[Say()])\n"
        "print(result.stopped); print(result.program)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        for _ in range(4):
            assert process.stdout.readline() == "look\n"
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert said.replace("look\n", "") == "interrupted\nh :- b1, \\+ b9.\n"


def test_other_errors_of_a_callback_are_not_swallowed() -> None:
    def fail() -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fit(
            SYNTHETIC_TASKS["R1"].sample(60, 0), Config.preset("default", **QUICK), callbacks=[Raise(3, fail)]
        )


def test_rounds_go_on_only_while_the_description_falls() -> None:
    rng = np.random.default_rng(0)
    noise = Sample.from_arrays(rng.random((80, 4)), rng.random(80) > 0.5)
    config = Config.preset("default", steps=10, rounds=6)
    result = fit(noise, config)
    rounds = [run.round for run in result.runs]
    assert max(rounds) < 5
    for round_ in range(1, max(rounds) + 1):
        before = sum(1 for each in rounds if each < round_)
        assert rounds.count(round_) == before  # every further round doubles the runs


def test_constant_columns_do_no_harm() -> None:
    task = SYNTHETIC_TASKS["four"]
    rows, labels = task.draw(150, 0)
    wide = np.hstack((np.zeros((150, 1)), rows, np.ones((150, 1)), np.full((150, 1), 0.5)))
    names = ["zero", *task.space.names, "one", "half"]
    result = fit(Sample.from_arrays(wide, labels, space=names), Config.preset("default", rounds=1))
    assert result.program == task.program


def test_a_single_column_and_two_rows() -> None:
    result = fit(Sample.from_arrays([[1.0], [0.0]], [1, 0]), Config.preset("default", **QUICK))
    assert result.length <= result.empty_length


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_is_refused(label: int) -> None:
    with pytest.raises(DataError, match="only one class"):
        fit(Sample.from_arrays([[0.2], [0.9]], [label, label]))


def test_validation_rows_of_other_columns_are_refused() -> None:
    with pytest.raises(DataError, match="validation"):
        fit(SYNTHETIC_TASKS["R1"].sample(60, 0), validation=SYNTHETIC_TASKS["four"].sample(60, 0))


@pytest.mark.parametrize("device", ["gpu", "cuda:99", ""])
def test_devices_that_are_not_there_are_refused(device: str) -> None:
    if device.startswith("cuda") and torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    with pytest.raises(ConfigError, match="device"):
        fit(SYNTHETIC_TASKS["R1"].sample(60, 0), Config.preset("default", device=device))


@pytest.mark.parametrize("beta", [5.0, 20.0, 150.0])
@pytest.mark.parametrize("operators", ["attention", "product", "geometric"])
def test_every_operator_trains_without_losing_its_numbers(operators: str, beta: float) -> None:
    settings = {**QUICK, "steps": 30}
    config = Config.preset("default", operators=operators, beta=beta, refine=False, **settings)
    result = fit(SYNTHETIC_TASKS["R1"].sample(80, 0), config)
    assert np.isfinite(result.weights).all()
    assert all(np.isfinite(look.losses).all() for look in result.history)


def test_the_papers_preset_recovers_a_simple_rule() -> None:
    task = SYNTHETIC_TASKS["R1"]
    config = Config.preset("paper", steps=150, subrules=(1, 2), learning_rate=0.03)
    result = fit(task.sample(200, 0), config)
    assert result.program == task.program


def test_accuracy_is_what_decides_under_that_criterion_in_every_round() -> None:
    """The description length must not bring back a program of an earlier round."""
    sample = SYNTHETIC_TASKS["R3"].sample(150, 0, noise=0.2)
    config = Config.preset("paper", rounds=3, steps=8, restarts=1, subrules=(1, 2, 3), batch=None)
    crisp = CrispSample.of(sample)
    result = fit(sample, config)
    assert result.score().accuracy == max(crisp.accuracy(run.program) for run in result.runs)
