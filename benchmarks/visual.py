"""The two visual examples of the paper's appendix G, with their figures."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from andre.evaluation import CrispSample
from andre.learning import Config, Result, fit, plot_accuracy, plot_losses, plot_probabilities
from andre.logic import Atom, Evidence, Literal, Program, Rule
from andre.samples import SYNTHETIC_TASKS, Sample
from benchmarks import BENCHMARKS, Tick, silent
from benchmarks.paper import FOUR_SECONDS, GRANDPARENT, Listed
from benchmarks.report import Figure, Report, Table, mark

_ROWS, _TRAIN = 1000, 800
_SPLITS = ("train", "validation")
#: Looks three times as often as usual, for smooth curves; a run converges after as many steps.
_LOOKS = {"check_every": 5, "patience": 12}


def learn_grandparent(seed: int = 0) -> tuple[Result, dict[str, CrispSample]]:
    """Learn grandparent from 800 random valuations, with 200 more to validate."""
    task = SYNTHETIC_TASKS["grandparent"]
    rows, labels = task.draw(_ROWS, seed)
    train = Sample.from_arrays(rows[:_TRAIN], labels[:_TRAIN], space=task.space)
    validation = Sample.from_arrays(rows[_TRAIN:], labels[_TRAIN:], space=task.space)
    config = Config.preset("default", seed=seed, subrules=(len(task.program),), **_LOOKS)
    result = fit(train, config, validation=validation)
    return result, {"train": CrispSample.of(train), "validation": CrispSample.of(validation)}


def learn_four(seed: int = 0) -> Result:
    """Learn the rule over four predicates from 100 rows.

    Examples
    --------
    >>> learn_four(seed=1).program == SYNTHETIC_TASKS["four"].program
    True
    """
    return fit(SYNTHETIC_TASKS["four"].sample(100, seed), Config.preset("default", seed=seed, **_LOOKS))


def bench_visual(seed: int = 0, tick: Tick = silent) -> Report:
    """Learn both examples; figures show losses, accuracy and probabilities."""
    began = time.perf_counter()
    grandparent, samples = learn_grandparent(seed)
    tick(1, 2)
    results = {"grandparent": grandparent, "four": learn_four(seed)}
    tick(2, 2)
    listing, lines = _listing(grandparent, samples)
    return Report(
        name="visual",
        title=BENCHMARKS["visual"].title,
        protocol=_PROTOCOL,
        settings={"preset": "default", "seed": seed},
        seconds=time.perf_counter() - began,
        tables=(_summary(results), listing),
        figures=tuple(figure for name, result in results.items() for figure in _figures(name, result)),
        data={
            "programs": {name: str(result.program).splitlines() for name, result in results.items()},
            "seconds": {name: result.seconds for name, result in results.items()},
            "rules": lines,
        },
    )


def _summary(results: dict[str, Result]) -> Table:
    paper = {"grandparent": ("yes", "–", "–"), "four": ("yes", "1.00", f"{FOUR_SECONDS:.2f}")}
    rows = tuple(
        (
            name,
            *paper[name],
            mark(result.program == SYNTHETIC_TASKS[name].program),
            f"{result.score('train').accuracy:.2f}",
            f"{result.seconds:.2f}",
            "`" + " ".join(str(result.program).split("\n")) + "`",
        )
        for name, result in results.items()
    )
    columns = ("example", "paper found", "paper train", "paper s", "recovered", "train", "s", "program")
    return Table("Both examples", columns, rows)


def _listing(result: Result, samples: dict[str, CrispSample]) -> tuple[Table, list[dict[str, Any]]]:
    """The rules of grandparent, the paper's counts beside ours."""
    listed = {_rule(item): item for item in GRANDPARENT}
    ours = {rule: rule for rule in result.program}
    rows, data = [], []
    for rule in dict.fromkeys((*listed, *ours)):
        paper, own = listed.get(rule), ours.get(rule)
        cells = [f"`{rule}`"]
        for split in _SPLITS:
            cells.append("–" if paper is None else _counts(*_of_paper(paper, split)))
            accuracy = samples[split].accuracy(Program((rule,)))
            evidence = None if own is None else own.on(split)
            cells.append("–" if evidence is None else _counts(accuracy, evidence))
            if evidence is not None:
                data.append(
                    {
                        "rule": str(rule),
                        "accuracy": accuracy,
                        "split": split,
                        "n_b": evidence.n_b,
                        "n_r": evidence.n_r,
                    }
                )
        rows.append(tuple(cells))
    columns = ("rule", "paper, train", "train", "paper, validation", "validation")
    return Table(
        "Rules of grandparent: accuracy of the rule alone; N_b, N_r, N_r/N_b", columns, tuple(rows)
    ), data


def _rule(item: Listed) -> Rule:
    return Rule(
        SYNTHETIC_TASKS["grandparent"].space.head, tuple(Literal(Atom.parse(atom)) for atom in item.body)
    )


def _of_paper(item: Listed, split: str) -> tuple[float, Evidence]:
    if split == "train":
        return item.train_accuracy, Evidence(split, *item.train)
    return item.validation_accuracy, Evidence(split, *item.validation)


def _counts(accuracy: float, evidence: Evidence) -> str:
    return f"{accuracy:.4f}; {evidence.n_b:g}, {evidence.n_r:g}, {evidence.confidence:.4f}"


def _figures(name: str, result: Result) -> list[Figure]:
    """Loss, accuracy and probabilities of one example."""
    drawn = (
        ("loss", "losses during training", plot_losses),
        ("accuracy", "accuracy during training", plot_accuracy),
        ("probabilities", "subpredicate probabilities per subrule", plot_probabilities),
    )
    return [
        Figure(f"{name}-{kind}.svg", f"{name}: {caption}", partial(plot, result))
        for kind, caption, plot in drawn
    ]


_PROTOCOL = (
    f"*grandparent*: {_ROWS:,} uniform valuations of six atoms labelled by the four target rules, "
    f"{_TRAIN} to train and {_ROWS - _TRAIN} to validate, four subrules. *four*: 100 uniform valuations "
    "of four predicates, the number of subrules not given. *s* is the time of the whole learning, with "
    "selection and refinement; the paper's is its training time on a GeForce RTX 5090. The paper's rows "
    "are other draws of the same distribution, so that its counts differ by chance; one of its four "
    "rules is not exact on its own rows."
)
