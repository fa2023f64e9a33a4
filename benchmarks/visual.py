"""The two visual examples of the paper's appendix G, by both presets, with their figures."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import fmean
from typing import Any

from andre.evaluation import CrispSample
from andre.learning import Config, Result, fit, plot_accuracy, plot_losses, plot_probabilities
from andre.logic import Atom, Evidence, Literal, Program, Rule
from andre.samples import SYNTHETIC_TASKS, Sample
from benchmarks import BENCHMARKS, Tick, silent
from benchmarks.paper import FOUR_SECONDS, GRANDPARENT, Listed
from benchmarks.processes import run_all
from benchmarks.report import Figure, Report, Table, mark, seed_range, share

_ROWS, _TRAIN, _FOUR = 1000, 800, 100
_SPLITS = ("train", "validation")
_EXAMPLES = ("grandparent", "four")
#: Looks three times as often as usual, for smooth curves; a run converges after as many steps.
_LOOKS: dict[str, dict[str, Any]] = {
    "paper": {"check_every": 5},
    "default": {"check_every": 5, "patience": 12},
}


@dataclass(frozen=True)
class Trial:
    """An example, how it is learned, and the seed that draws its rows and first weights."""

    example: str
    preset: str
    seed: int
    steps: int | None = None  #: epochs of a run, if not those of the preset


def samples_of(example: str, seed: int) -> dict[str, Sample]:
    """The rows of an example to train on, and those of grandparent to validate.

    Examples
    --------
    >>> {split: sample.n_rows for split, sample in samples_of("grandparent", 0).items()}
    {'train': 800, 'validation': 200}
    """
    task = SYNTHETIC_TASKS[example]
    if example == "four":
        return {"train": task.sample(_FOUR, seed)}
    rows, labels = task.draw(_ROWS, seed)
    parts = slice(_TRAIN), slice(_TRAIN, None)
    return {
        split: Sample.from_arrays(rows[part], labels[part], space=task.space)
        for split, part in zip(_SPLITS, parts, strict=True)
    }


def attempt(trial: Trial) -> Result:
    """Learn an example once.

    Examples
    --------
    >>> attempt(Trial("four", "default", 1)).program == SYNTHETIC_TASKS["four"].program
    True
    """
    samples = samples_of(trial.example, trial.seed)
    given: dict[str, Any] = dict(_LOOKS[trial.preset])
    if trial.example == "grandparent":
        given["subrules"] = (len(GRANDPARENT),)
    if trial.steps is not None:
        given["steps"] = trial.steps
    config = Config.preset(trial.preset, seed=trial.seed, **given)
    return fit(samples["train"], config, validation=samples.get("validation"))


def bench_visual(seeds: int = 1, workers: int = 1, tick: Tick = silent) -> Report:
    """Learn both examples by both presets; figures show losses, accuracy and probabilities of seed 0."""
    trials = [
        Trial(example, preset, seed) for example in _EXAMPLES for preset in _LOOKS for seed in range(seeds)
    ]
    return report_on(trials, workers, tick)


def report_on(trials: Sequence[Trial], workers: int = 1, tick: Tick = silent) -> Report:
    """Carry out trials, of every example and preset as many, and report on them."""
    began = time.perf_counter()
    results = run_all(attempt, trials, workers, tick)
    by_kind: dict[tuple[str, str], list[Result]] = {}
    for trial, result in zip(trials, results, strict=True):
        by_kind.setdefault((trial.example, trial.preset), []).append(result)
    first = {kind: found[0] for kind, found in by_kind.items()}
    listing, lines = _listing({preset: first["grandparent", preset] for preset in _LOOKS})
    return Report(
        name="visual",
        title=BENCHMARKS["visual"].title,
        protocol=_PROTOCOL,
        settings={"seeds": seed_range(len(trials) // len(by_kind)), "workers": workers},
        seconds=time.perf_counter() - began,
        tables=(_summary(by_kind), _programs(first), listing),
        figures=tuple(figure for kind, result in first.items() for figure in _figures(*kind, result)),
        data={
            "trials": [
                {
                    **asdict(trial),
                    "recovered": _is_target(trial.example, result),
                    "train": result.score("train").accuracy,
                    "seconds": result.seconds,
                    "program": str(result.program).splitlines(),
                }
                for trial, result in zip(trials, results, strict=True)
            ],
            "rules": lines,
        },
    )


def _is_target(example: str, result: Result) -> bool:
    return result.program == SYNTHETIC_TASKS[example].program


def _summary(by_kind: dict[tuple[str, str], list[Result]]) -> Table:
    paper = {"grandparent": ("yes", "–", "–"), "four": ("yes", "1.00", f"{FOUR_SECONDS:.2f}")}
    rows = []
    for example in _EXAMPLES:
        cells = [example, *paper[example]]
        for preset in _LOOKS:
            results = by_kind[example, preset]
            cells += [
                share(sum(_is_target(example, result) for result in results), len(results)),
                f"{fmean(result.score('train').accuracy for result in results):.3f}",
                f"{fmean(result.seconds for result in results):.2f}",
            ]
        rows.append(tuple(cells))
    ours = (f"{what}, {name}" for name in _NAMES.values() for what in ("recovered", "train", "s"))
    return Table("Both examples", ("example", "paper found", "paper train", "paper s", *ours), tuple(rows))


def _programs(first: dict[tuple[str, str], Result]) -> Table:
    rows = tuple(
        (
            example,
            _NAMES[preset],
            mark(_is_target(example, result)),
            "`" + " ".join(str(result.program).split("\n")) + "`",
        )
        for (example, preset), result in first.items()
    )
    return Table("Programs of seed 0", ("example", "settings", "recovered", "program"), rows)


def _listing(results: dict[str, Result]) -> tuple[Table, list[dict[str, Any]]]:
    """The rules of grandparent, the paper's counts beside those of the programs of seed 0."""
    samples = {split: CrispSample.of(sample) for split, sample in samples_of("grandparent", 0).items()}
    listed = {_rule(item): item for item in GRANDPARENT}
    found = {preset: {rule: rule for rule in result.program} for preset, result in results.items()}
    rows, data = [], []
    for rule in dict.fromkeys((*listed, *(rule for own in found.values() for rule in own))):
        cells = [f"`{rule}`"]
        for split in _SPLITS:
            paper = listed.get(rule)
            cells.append("–" if paper is None else _counts(*_of_paper(paper, split)))
            accuracy = samples[split].accuracy(Program((rule,)))
            for preset, own in found.items():
                evidence = own[rule].on(split) if rule in own else None
                cells.append("–" if evidence is None else _counts(accuracy, evidence))
                if evidence is not None:
                    data.append(
                        {
                            "preset": preset,
                            "rule": str(rule),
                            "accuracy": accuracy,
                            "split": split,
                            "n_b": evidence.n_b,
                            "n_r": evidence.n_r,
                        }
                    )
        rows.append(tuple(cells))
    columns = (f"{split}, {name}" for split in _SPLITS for name in ("paper", *_NAMES.values()))
    title = "Rules of grandparent, seed 0: accuracy of the rule alone; N_b, N_r, N_r/N_b"
    return Table(title, ("rule", *columns), tuple(rows)), data


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


def _figures(example: str, preset: str, result: Result) -> list[Figure]:
    """Loss, accuracy and probabilities of one example by one preset."""
    drawn = (
        ("loss", "losses during training", plot_losses),
        ("accuracy", "accuracy during training", plot_accuracy),
        ("probabilities", "subpredicate probabilities per subrule", plot_probabilities),
    )
    file = example if preset == "default" else f"{example}-{preset}"
    return [
        Figure(f"{file}-{kind}.svg", f"{example}, {_NAMES[preset]}: {caption}", partial(plot, result))
        for kind, caption, plot in drawn
    ]


#: What the presets are called in the tables.
_NAMES = {"paper": "preset paper", "default": "default"}
_PROTOCOL = (
    f"*grandparent*: {_ROWS:,} uniform valuations of six atoms labelled by the four target rules, "
    f"{_TRAIN} to train and {_ROWS - _TRAIN} to validate, four subrules. *four*: {_FOUR} uniform valuations "
    "of four predicates, the number of subrules not given. The seed draws rows and first weights; "
    "*recovered* counts the seeds whose program is the target. *s* is the mean time of the whole learning on "
    "one thread; the paper's is its training time on a GeForce RTX 5090. The paper's rows are other draws of "
    "the same distribution, so that its counts differ by chance; one of its four rules is not exact on its "
    "own rows."
)
