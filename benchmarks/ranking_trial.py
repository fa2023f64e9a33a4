"""One knowledge base, completed from one pool of rules, in a process of its own."""

from __future__ import annotations

import resource
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Literal, TypeAlias, TypeVar, get_args

import torch

from andre.completion import (
    Completion,
    CompletionConfig,
    ReliabilityBin,
    complete,
    relearn,
    taught,
    with_validation,
)
from andre.evaluation import RankReport
from andre.facts import PYKEEN_SPLITS, FactBase, pykeen_split
from andre.facts.datasets import load
from andre.learning import ProposalConfig, propose
from andre.logic import Rule

__all__ = [
    "BASES",
    "POOLS",
    "Outcome",
    "Pool",
    "Proposals",
    "Trial",
    "pool_config",
    "propose_rules",
    "run",
    "run_apart",
    "scored_by",
]


Pool: TypeAlias = Literal["short", "gradient", "mixed"]

BASES = ("nations", "umls", "kinship", "wn18rr")
POOLS: tuple[Pool, ...] = get_args(Pool)

Made = TypeVar("Made")


@dataclass(frozen=True)
class Proposals:
    """What runs of gradient descent propose for a base."""

    train: tuple[Rule, ...]  #: from train facts
    with_valid: tuple[Rule, ...]  #: from train and valid facts
    seconds: float  #: that those from train facts took
    peak: int  #: bytes


@dataclass(frozen=True)
class Trial:
    """What is done."""

    base: str
    pool: Pool
    seed: int = 0
    proposed: Proposals | None = None  #: what runs proposed, where the pool has such rules


@dataclass(frozen=True)
class Outcome:
    """What came out."""

    base: str
    pool: Pool
    test: RankReport  #: learned from train facts
    with_valid: RankReport  #: learned from train and valid facts, choices fixed
    valid_mrr: float  #: of the scoring that was chosen
    scorer: str  #: aggregator, smoothing and penalty
    rules: int  #: bodies of the pool, both sides of a target counted apart
    proposed: int  #: rules that runs proposed
    proposing: float  #: seconds
    seconds: float  #: proposing and completing
    peak: int  #: bytes
    reliability: tuple[ReliabilityBin, ...]


def run_apart(work: Callable[..., Made], *given: object) -> Made:
    """Do some work in a fresh process, so that its peak memory is its own."""
    with ProcessPoolExecutor(1, get_context("spawn"), torch.set_num_threads, (1,)) as executor:
        return executor.submit(work, *given).result()


def propose_rules(base: str, seed: int, workers: int) -> Proposals:
    """Let runs propose from train facts, then from train and valid facts."""
    facts = _facts(base, seed)
    config = ProposalConfig(seed=seed)
    began = time.perf_counter()
    train = _proposed(facts, config, workers)
    seconds = time.perf_counter() - began
    with_valid = _proposed(taught(facts), config, workers)
    return Proposals(tuple(train), tuple(with_valid), seconds, _peak())


def run(trial: Trial) -> Outcome:
    """Complete a base from train facts, then from train and valid facts with the choices made."""
    given = trial.proposed or Proposals((), (), 0.0, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the page says what is odd about the bases
        facts = _facts(trial.base, trial.seed)
        began = time.perf_counter()
        done = complete(facts, pool_config(trial.pool, trial.seed), given.train)
        seconds = time.perf_counter() - began
        found, reliability = done.evaluate("test"), done.reliability.bins
        peak = max(_peak(), given.peak)
        with_valid = relearn(done, extra=given.with_valid).evaluate("test")
    return Outcome(
        base=trial.base,
        pool=trial.pool,
        test=found,
        with_valid=with_valid,
        valid_mrr=max(choice.mrr for choice in done.choices),
        scorer=scored_by(done),
        rules=sum(len(features.bodies) for features in done.features.values()),
        proposed=len(given.train),
        proposing=given.seconds,
        seconds=given.seconds + seconds,
        peak=peak,
        reliability=reliability,
    )


def _facts(base: str, seed: int) -> FactBase:
    if base in PYKEEN_SPLITS:
        return pykeen_split(base)
    return with_validation(load(base), CompletionConfig(seed=seed))


def pool_config(pool: Pool, seed: int) -> CompletionConfig:
    """What is enumerated for a pool: in that of gradient descent alone, nothing."""
    if pool == "gradient":
        return CompletionConfig(seed=seed, short=False, constants=0, chains=0)
    return CompletionConfig(seed=seed)


def _proposed(facts: FactBase, config: ProposalConfig, workers: int) -> list[Rule]:
    if workers <= 1:
        return propose(facts, config)
    with ProcessPoolExecutor(workers, get_context("spawn"), torch.set_num_threads, (1,)) as executor:
        return propose(facts, config, executor)


def scored_by(done: Completion) -> str:
    """The way of scoring that was chosen, in words."""
    scorer = done.scorer
    penalty = "" if scorer.penalty is None else f", penalty {scorer.penalty:g}"
    chained = ", chained" if done.chained else ""
    return f"{scorer.aggregator}, c {scorer.smoothing:g}{penalty}{chained}"


def _peak() -> int:
    """The most memory that this process or one that it started has had, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(each).ru_maxrss for each in who) * unit
