"""Tasks of inductive logic programming: Popper's folders, drawn ones, and ∂ILP's twenty from few facts."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from andre.errors import AndreError, DataError
from andre.evaluation import Confusion
from andre.facts import FEW_TASKS, read_facts
from andre.learning import learn
from andre.limits import clocked_by, cpu_seconds
from benchmarks import BENCHMARKS, Tick, parse_names, silent
from benchmarks.classical import Outcome as Recovery
from benchmarks.classical import Trial, attempt
from benchmarks.ilp_folders import DRAWN, GOALS, NOISY, Goal, Source, drawn, find_folders, mutagenesis, stated
from benchmarks.popper import POPPER, POPPER_NOTE
from benchmarks.processes import run_all, run_limited
from benchmarks.report import Report, Table, mark, seed_range, share

#: Seeds from which runs alone learn each of ∂ILP's tasks, too.
_ALONE = 2
#: Seconds of one core that a task may take, and seconds of the clock after which its process is ended.
LIMIT, _ENDED = 60, 900


@dataclass(frozen=True)
class Fold:
    """What to learn, and from which part of its examples."""

    task: str
    place: int = 0
    folds: int = 1


@dataclass(frozen=True)
class Outcome:
    """What came out of a fold; shares are None where there is nothing to judge, or nothing was learned."""

    task: str
    place: int
    training: float | None = (
        None  #: share of the examples that were learned from which the program decides rightly
    )
    held_out: float | None = None  #: the same of examples that were not learned from
    balanced: float | None = None  #: mean of the shares of positives and negatives among these
    rules: int = 0
    literals: int = 0
    seconds: float = 0.0  #: of reading and learning
    program: str = ""
    trouble: str | None = None  #: why there is no program, one sentence


def balanced_accuracy(counts: Confusion) -> float | None:
    """The mean of the shares of positives and of negatives that are decided rightly.

    Examples
    --------
    >>> balanced_accuracy(Confusion(9, 1, 1, 1)), balanced_accuracy(Confusion(9, 0, 1, 0))
    (0.7, None)
    """
    negatives = counts.true_negatives + counts.false_positives
    if counts.recall is None or not negatives:
        return None
    return (counts.recall + counts.true_negatives / negatives) / 2


def learn_folder(source: Source) -> Outcome:
    """Learn from a folder as anybody would, without one setting for it, and judge what came out.

    Only examples that are stated are judged, positive and negative: what a folder without negative
    examples leaves open is not counted.
    """
    began = cpu_seconds()
    try:
        with clocked_by(cpu_seconds):  # others may compute on the same machine
            facts = read_facts(source.train)
            theory = learn(facts, source.target, seed=0, time_limit=LIMIT)
    except AndreError as error:
        trouble = " ".join(str(error).replace(f"{source.train}/", "").split())
        return Outcome(source.task, source.place, seconds=cpu_seconds() - began, trouble=trouble)
    seconds = cpu_seconds() - began
    reasons = [made.reason for made in theory if made.reason is not None]
    found = Outcome(
        source.task,
        source.place,
        rules=len(theory.program),
        literals=theory.program.n_literals,
        seconds=seconds,
        program=str(theory.program),
        trouble=reasons[0] if reasons else None,
    )
    world = facts.world if source.whole else "open"
    seen = theory.evaluate(replace(facts, world=world)).overall
    if source.test is None:
        return replace(found, training=seen.accuracy)
    unseen = theory.evaluate(replace(read_facts(source.test), world=world)).overall
    return replace(
        found, training=seen.accuracy, held_out=unseen.accuracy, balanced=balanced_accuracy(unseen)
    )


def attempt_fold(fold: Fold) -> Outcome:
    """Learn one fold in a process of its own, which is ended when its time is up."""
    root = find_folders("mutagenesis" if fold.task == "mutagenesis" else "ilp")
    with TemporaryDirectory() as scratch:
        if fold.task in DRAWN:
            made = drawn(fold.task, Path(scratch))
        elif root is None:
            raise DataError(f"the folder of {fold.task} is not on this machine")
        elif fold.task == "mutagenesis":
            made = mutagenesis(root, Path(scratch), fold.place)
        else:
            made = stated(root / fold.task, Path(scratch), fold.place, fold.folds)
        found = run_limited(learn_folder, made, _ENDED)
    if found is None:
        trouble = f"still at it after {_ENDED} s, and was ended"
        return Outcome(fold.task, fold.place, seconds=float(_ENDED), trouble=trouble)
    return found


def bench_ilp(tasks: str | None = None, folds: int = 5, workers: int = 1, tick: Tick = silent) -> Report:
    """Learn every folder on this machine and every drawn task by one call; noisy ones in several folds."""
    root = find_folders()
    known = (
        *(sorted(path.parent.name for path in root.glob("*/exs.pl")) if root else ()),
        *(["mutagenesis"] if find_folders("mutagenesis") else ()),
        *DRAWN,
    )
    chosen = parse_names(tasks, known, "task")
    began = time.perf_counter()
    given = [
        Fold(task, place, n)
        for task in chosen
        for n in (10 if task == "mutagenesis" else folds if task in NOISY else 1,)
        for place in range(n)
    ]
    outcomes = run_all(attempt_fold, given, workers, tick)
    of_task = {task: [one for one in outcomes if one.task == task] for task in chosen}
    columns = (
        "task", "training", "held out", "balanced", "solved", "rules", "literals", "s",
        "Popper: training", "Popper: s",
    )  # fmt: skip
    programs = tuple(
        (task, "`" + " ".join(of_task[task][0].program.split("\n")) + "`", of_task[task][0].trouble or "–")
        for task in chosen
    )
    return Report(
        name="ilp",
        title=BENCHMARKS["ilp"].title,
        protocol=_PROTOCOL,
        settings={"tasks": len(chosen), "folds": folds, "workers": workers, "limit": f"{LIMIT} s"},
        seconds=time.perf_counter() - began,
        tables=(
            Table(
                "Accuracy in per cent, size and time", columns, tuple(map(_line, chosen, of_task.values()))
            ),
            Table("Programs, the first fold's of noisy tasks", ("task", "program", "trouble"), programs),
        ),
        notes=(*_notes(of_task, root), *_left_out([task for task in known if task not in chosen])),
        data={
            "folds": [asdict(outcome) for outcome in outcomes],
            "popper": {task: asdict(found) for task, found in POPPER.items()},
        },
    )


def _left_out(tasks: Sequence[str]) -> tuple[str, ...]:
    """A note on tasks that are on this machine and were not measured."""
    return (f"Not measured this time: {', '.join(tasks)}.",) if tasks else ()


def is_solved(outcomes: Sequence[Outcome]) -> bool:
    """Whether all training examples are decided rightly, or a noisy task is at its goal on held-out ones.

    Examples
    --------
    >>> is_solved([Outcome("zendo1", 0, training=1.0)]), is_solved([Outcome("zendo1", 0, training=0.99)])
    (True, False)
    >>> is_solved([Outcome("pte", 0, balanced=0.6), Outcome("pte", 1, balanced=0.7)])
    True
    """
    goal = GOALS.get(outcomes[0].task, Goal())
    shares = [getattr(one, goal.measure) for one in outcomes]
    return fmean(0.0 if value is None else value for value in shares) >= goal.least


def _line(task: str, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """One line of the table: means over folds."""
    other = POPPER.get(task)
    return (
        task,
        *(
            _per_cent([getattr(one, name) for one in outcomes])
            for name in ("training", "held_out", "balanced")
        ),
        mark(is_solved(outcomes)),
        f"{fmean(one.rules for one in outcomes):g}",
        f"{fmean(one.literals for one in outcomes):g}",
        f"{fmean(one.seconds for one in outcomes):.1f}",
        "–" if other is None or other.accuracy is None else f"{100 * other.accuracy:.1f}",
        "–" if other is None else other.time,
    )


def _per_cent(shares: Sequence[float | None]) -> str:
    """The mean in per cent; a dash where nothing was judged.

    Examples
    --------
    >>> _per_cent([1.0, 0.5]), _per_cent([None, None])
    ('75.0', '–')
    """
    judged = [value for value in shares if value is not None]
    return f"{100 * fmean(judged):.1f}" if judged else "–"


def _notes(of_task: Mapping[str, Sequence[Outcome]], root: Path | None) -> tuple[str, ...]:
    solved = [task for task, outcomes in of_task.items() if is_solved(outcomes)]
    slow = [task for task in solved if max(one.seconds for one in of_task[task]) > LIMIT]
    missing = (
        "Popper's folders are not on this machine, so that only drawn tasks were measured: put them into "
        "ilp in the folder that ANDRE_DATA names.",
    )
    return (
        f"Solved: {share(len(solved), len(of_task))}"
        + (f", but not within {LIMIT} s {', '.join(slow)}." if slow else f", all of these within {LIMIT} s."),
        POPPER_NOTE,
        *(missing if root is None else ()),
    )


_PROTOCOL = (
    "Every folder of Popper's examples and every drawn task is learned by the same call, "
    f"`andre.learn(facts, seed=0, time_limit={LIMIT})`, in a process of its own with one thread; nothing is "
    "set for single tasks, and the bias of a folder is read as it is. *Training* is the share of the stated "
    "examples that the program decides rightly when it is run over the background. Noisy tasks are learned "
    "in folds, and *held out* are the examples of the fold that was left out; where labels were turned over "
    "by hand (zendo2-10, dropk-20) held-out labels are those before. Drawn tasks are judged on others drawn "
    "apart, 1d_flip by its test file, and mutagenesis in the ten folds of its authors. *Balanced* is the "
    "mean of the shares of positives and of negatives that are right. *Solved* means all training "
    "examples; of noisy and drawn tasks, the goal: zendo2-10 and dropk-20 95% held out, amine 76%, pte "
    "64% balanced, mutagenesis and molecules 88%, trains and families 100%, krk 99%. *s* is the time of "
    "reading and learning, in seconds of one core, by which the limit is counted too. "
    "Where search alone finds a program that agrees with all examples, no runs of gradient descent are "
    "made; how many tasks runs alone would solve was not measured."
)


def bench_few(tasks: str | None = None, seeds: int = 2, workers: int = 1, tick: Tick = silent) -> Report:
    """Learn ∂ILP's tasks from their few facts, from every seed, and judge them on larger domains."""
    chosen = parse_names(tasks, tuple(FEW_TASKS), "task")
    began = time.perf_counter()
    trials = [Trial(task, seed, options={"time_limit": LIMIT}) for task in chosen for seed in range(seeds)]
    alone = [
        Trial(task, seed, short_bodies=False, options={"time_limit": LIMIT, "invent": 0})
        for task in chosen
        for seed in range(min(seeds, _ALONE))
    ]
    outcomes = run_all(attempt, [*trials, *alone], workers, tick)
    lines = tuple(_few_line(task, [one for one in outcomes if one.task == task]) for task in chosen)
    most = seeds - seeds // 20
    good = sum(int(line[1].split("/")[0]) >= most for line in lines)
    return Report(
        name="ilp-few",
        title=BENCHMARKS["ilp-few"].title,
        protocol=_FEW_PROTOCOL,
        settings={"seeds": seed_range(seeds), "tasks": len(chosen), "workers": workers},
        seconds=time.perf_counter() - began,
        tables=(
            Table(
                "Seeds recovered",
                (
                    "task",
                    "recovered",
                    "gradient only",
                    "accuracy",
                    "constants, to learn / held out",
                    "positives",
                    "s",
                    "program of seed 0",
                ),
                lines,
            ),
        ),
        notes=(f"Recovered from at least {share(most, seeds)} seeds: {share(good, len(lines))} tasks.",),
        data={"trials": [asdict(outcome) for outcome in outcomes]},
    )


def _few_line(task: str, every: Sequence[Recovery]) -> tuple[str, ...]:
    made = FEW_TASKS[task]
    outcomes, alone = ([one for one in every if one.short_bodies is short] for short in (True, False))
    facts = made.train()
    name, arity = made.target.split("/")
    return (
        task.removeprefix("dilp_"),
        share(sum(one.recovered for one in outcomes), len(outcomes)),
        share(sum(one.recovered for one in alone), len(alone)),
        f"{fmean(one.accuracy for one in outcomes):.4f}",
        f"{len(facts.constants)} / {len(made.test().constants)}",
        str(len(facts.relations[name, int(arity)])),
        f"{fmean(one.seconds for one in outcomes):.1f}",
        f"`{' '.join(outcomes[0].program.split(chr(10)))}`",
    )


_FEW_PROTOCOL = (
    "The twenty tasks of ∂ILP (Evans and Grefenstette 2018), each learned from few facts: a graph of four "
    "nodes, nine people, the numbers up to ten. Eight have the facts of the paper's appendix, the others "
    "facts of that size that are our own, not ∂ILP's. What is not stated is false. A task is *recovered* "
    "where the program, run alone to its fixpoint on a larger domain, derives exactly the target. The seed "
    "draws the first weights and the larger domain; the facts to learn from are the same for all. *Gradient "
    f"only*, of the first {_ALONE} seeds, has `short_bodies=false` and `invent=0`: bodies are those that "
    "runs of gradient descent propose, without short bodies, chains of goals or invented predicates beside "
    "them; choice and refinement are the same."
)
