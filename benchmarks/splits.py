"""Filtered ranks on the splits that others publish on, under every tie policy, with intervals."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

from andre.completion import CompletionConfig, complete, relearn
from andre.evaluation import POLICIES, Interval, Policy, RankReport, Ranks, mean_reciprocal
from andre.facts import FactBase, pykeen_split
from andre.facts.datasets import load, load_split
from benchmarks import BENCHMARKS, Tick, parse_names, silent
from benchmarks.processes import run_apart
from benchmarks.ranking import decimals, scored_by, with_interval
from benchmarks.report import Report, Table

Source: TypeAlias = Literal["pykeen", "folder", "joined"]

#: What reads the facts of a split.
_READERS = {"pykeen": pykeen_split, "folder": load_split, "joined": load}


@dataclass(frozen=True)
class Split:
    """A way to divide the facts of a base that figures are published on."""

    base: str
    whose: str  #: who made it, and who measures on it
    sizes: tuple[int, int, int]  #: train, valid and test facts
    source: Source | None = None  #: where its facts are read; None where they are not to be had

    @property
    def counts(self) -> str:
        """The sizes in words.

        Examples
        --------
        >>> Split("umls", "anyone", (5_868, 0, 661)).counts
        '5,868 / – / 661'
        """
        return " / ".join(f"{size:,}" if size else "–" for size in self.sizes)


@dataclass(frozen=True)
class Published:
    """A figure that others give for a split."""

    split: str
    learner: str
    mrr: float
    source: str
    ties: str = "not stated"


_JOINED = "ConvE's train and valid in one"

#: The splits in use. All those of one base have the same facts, divided otherwise.
SPLITS: dict[str, Split] = {
    "umls": Split("umls", "ConvE; PyKEEN", (5_216, 652, 661), "pykeen"),
    "umls-joined": Split(
        "umls", "DFORL's .nl file: ConvE's train and valid in one", (5_868, 0, 661), "joined"
    ),
    "umls-rnnlogic": Split("umls", "RNNLogic; RulE", (1_959, 1_306, 3_264)),
    "umls-neurallp": Split("umls", "NeuralLP; DRUM, RED-GNN, AdaProp", (5_327, 569, 633)),
    "kinship": Split("kinship", "ConvE; PyKEEN", (8_544, 1_068, 1_074), "pykeen"),
    "kinship-joined": Split("kinship", f"DFORL's .nl file: {_JOINED}", (9_612, 0, 1_074), "joined"),
    "kinship-rnnlogic": Split("kinship", "RNNLogic; RulE", (3_206, 2_137, 5_343)),
    "kinship-neurallp": Split("kinship", "NeuralLP; DRUM", (8_487, 1_099, 1_100)),
    "family": Split("family", "NeuralLP; DRUM, RulE, RED-GNN, AdaProp", (23_483, 2_038, 2_835), "folder"),
    "wn18rr": Split("wn18rr", "ConvE, the official one; everybody", (86_835, 3_034, 3_134), "folder"),
    "wn18rr-joined": Split("wn18rr", f"DFORL's .nl file: {_JOINED}", (89_869, 0, 3_134), "joined"),
}

_MEAN = "mean of 1/rank over all orders of a tie"
_RULE = "Tang and others, RulE, ACL Findings 2024 (arXiv 2210.14905)"
_RED = "README of github.com/LARS-research/RED-GNN"
_ADAPROP = "Zhang and others, AdaProp, KDD 2023"
_SAFRAN = "Ott and others, SAFRAN, AKBC 2021"

PUBLISHED: tuple[Published, ...] = (
    Published("family", "RulE", 0.984, _RULE, _MEAN),
    Published("family", "AdaProp", 0.988, _ADAPROP),
    Published("family", "RED-GNN", 0.992, _RED, "mean rank of a tie"),
    Published("wn18rr", "AnyBURL", 0.4975, _SAFRAN),
    Published("wn18rr", "SAFRAN", 0.502, _SAFRAN),
    Published("wn18rr", "RNNLogic", 0.516, f"as in {_RULE}", _MEAN),
    Published("wn18rr", "RulE", 0.519, _RULE, _MEAN),
    Published("wn18rr", "RED-GNN", 0.533, _RED, "mean rank of a tie"),
    Published("wn18rr", "NBFNet", 0.551, "Zhu and others, NBFNet, NeurIPS 2021"),
    Published("umls-rnnlogic", "RulE", 0.867, _RULE, _MEAN),
    Published("umls-neurallp", "RED-GNN", 0.964, _RED, "mean rank of a tie"),
    Published("kinship-rnnlogic", "RulE", 0.736, _RULE, _MEAN),
)


@dataclass(frozen=True)
class Measured:
    """The ranks of the test facts of a split, by what was learned from."""

    split: str
    taught: str  #: what was learned from
    report: RankReport
    intervals: dict[Policy, Interval]
    scorer: str


def read_split(name: str) -> FactBase:
    """The facts of a split with their marks; where its file joins train and valid, all of those are train."""
    split = SPLITS[name]
    assert split.source is not None
    return _READERS[split.source](split.base)


def measure_split(name: str, seed: int) -> list[Measured]:
    """Complete a base from the train facts of a split, and from train and valid facts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the page says what is odd about the bases
        done = complete(read_split(name), CompletionConfig(seed=seed))
        scorer = scored_by(done)
        if SPLITS[name].source == "joined":  # a tenth was split off, has chosen and is given back by now
            return [_measured(name, "train with valid", done.sides("test"), scorer)]
        train = _measured(name, "train", done.sides("test"), scorer)
        return [train, _measured(name, "train with valid", relearn(done).sides("test"), scorer)]


def _measured(name: str, taught: str, sides: tuple[Ranks, Ranks], scorer: str) -> Measured:
    intervals = {policy: Interval.of(mean_reciprocal(sides, policy)) for policy in POLICIES}
    return Measured(name, taught, RankReport.from_ranks(Ranks.concat(sides)), intervals, scorer)


def bench_splits(datasets: str | None = None, seed: int = 0, tick: Tick = silent) -> Report:
    """Rank the test facts of every split that is to be had."""
    here = [name for name, split in SPLITS.items() if split.source is not None]
    chosen = parse_names(datasets, here, "split")
    began, found = time.perf_counter(), list[Measured]()
    for done, name in enumerate(chosen, 1):
        found += run_apart(measure_split, name, seed)
        tick(done, len(chosen))
    return split_report(found, seed, time.perf_counter() - began)


def split_report(found: Sequence[Measured], seed: int, seconds: float) -> Report:
    """The page of some measured splits."""
    return Report(
        name="splits",
        title=BENCHMARKS["splits"].title,
        protocol=_PROTOCOL,
        settings={"seed": seed, "splits": ", ".join(dict.fromkeys(each.split for each in found))},
        seconds=seconds,
        tables=(_ours(found), _others(found), _in_use(found)),
        notes=_notes(found),
        data={"measured": [asdict(each) for each in found]},
    )


def _ours(found: Sequence[Measured]) -> Table:
    rows = tuple(
        (
            each.split,
            each.taught,
            *(with_interval(each.intervals[policy]) for policy in POLICIES),
            "/".join(f"{100 * each.report.hits['realistic'][k]:.1f}" for k in (1, 3, 10)),
            each.scorer,
        )
        for each in found
    )
    columns = ("split", "learned from", *POLICIES, "Hits@1/3/10, realistic", "scored by")
    return Table("Ours: MRR with 95% intervals, under every tie policy", columns, rows)


def _by_train(found: Sequence[Measured]) -> dict[str, Measured]:
    """What compares with others, who learn from train facts alone."""
    return {each.split: each for each in found if each.taught == "train"}


def _others(found: Sequence[Measured]) -> Table:
    ours, rows = _by_train(found), []
    for other in PUBLISHED:
        own = ours.get(other.split)
        mine = "not measured" if own is None else with_interval(own.intervals["realistic"])
        verdict = "–" if own is None else _verdict(own.intervals["realistic"], other.mrr)
        rows.append(
            (other.split, other.learner, decimals(other.mrr), other.ties, mine, verdict, other.source)
        )
    columns = ("split", "learner", "its MRR", "its ties", "ours, realistic", "ours is", "source")
    return Table("Others on the same split, learned from train facts", columns, tuple(rows))


def _verdict(ours: Interval, other: float) -> str:
    """Whether a published figure is told from ours.

    Examples
    --------
    >>> [_verdict(Interval(0.5, 0.4, 0.6), other) for other in (0.3, 0.45, 0.7)]
    ['higher', 'within the noise', 'lower']
    """
    if ours.contains(other):
        return "within the noise"
    return "higher" if ours.mean > other else "lower"


def _in_use(found: Sequence[Measured]) -> Table:
    measured = {each.split for each in found}
    rows = tuple(
        (name, split.base, split.whose, split.counts, "yes" if name in measured else "no")
        for name, split in SPLITS.items()
    )
    columns = ("split", "base", "made by; measured on by", "train / valid / test", "measured here")
    return Table("The splits in use", columns, rows)


_WORDS = {
    "higher": "that is above",
    "within the noise": "the difference is within the noise to",
    "lower": "that is below",
}


def _notes(found: Sequence[Measured]) -> tuple[str, ...]:
    ours, notes = _by_train(found), []
    for name, own in ours.items():
        mine, peers = own.intervals["realistic"], dict[str, list[str]]()
        for other in PUBLISHED:
            if other.split == name:
                verdict = _verdict(mine, other.mrr)
                peers.setdefault(verdict, []).append(f"{other.learner} ({decimals(other.mrr)})")
        said = [
            f"{words} {', '.join(peers[verdict])}" for verdict, words in _WORDS.items() if verdict in peers
        ]
        known = "; ".join(said) or "no figure of others is known for this split"
        notes.append(f"{name}: ours is {with_interval(mine)}; {known}.")
    absent = [name for name, split in SPLITS.items() if split.source is None]
    notes.append(
        f"{', '.join(absent)}: their files are not among the data of this project, so nothing is measured on "
        "them. RNNLogic's have 30% of all facts to learn from and ConvE's 80%: figures of one say nothing "
        "about the other, and none of RulE's or RNNLogic's for UMLS and Kinship compares with ours."
    )
    return tuple(notes)


_PROTOCOL = (
    "Figures compare where train, valid and test facts are the same, and ties are ranked alike; this page "
    "has every split in use apart, and every policy. Ours are what `andre rank` does unless told "
    "otherwise: all bodies of one and two literals, bodies with constants, sampled chains, no gradient. "
    "Train facts teach, valid facts choose the way of scoring, both sides of every test fact are asked "
    "for, and all other known facts are filtered. *Train with valid* learns from both once they have "
    "chosen; where a file has them in one, a tenth (3,000 facts at most) is split off to choose and then "
    "given back. *Realistic* is 1 over the mean rank of a tie, *optimistic* and *pessimistic* take its "
    "best and its worst place, *dense* gives a tie one place and counts distinct scores. An interval is "
    "where 95% of 2,000 bootstrap means lie: test facts are drawn with replacement, and both sides of a "
    "fact go together, as they are not independent. It is about the choice of test facts alone, not about "
    "another split or seed, and the others' figures have one as wide that nobody states: *within the "
    "noise* is said where theirs lies in ours."
)
