"""One knowledge base, completed from one pool of rules, in a process of its own."""

from __future__ import annotations

import resource
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Literal, TypeAlias, get_args

import numpy as np
import torch

from andre.evaluation.ranks import RankReport
from andre.facts import FactBase
from andre.facts.datasets import load
from andre.facts.splits import PYKEEN_SPLITS, pykeen_split
from andre.learning.completion import Completion, CompletionConfig, ProposalConfig, complete, propose
from andre.learning.completion.calibration import ReliabilityBin
from andre.learning.completion.learner import with_validation
from andre.logic import Rule

__all__ = ["BASES", "POOLS", "Outcome", "Pool", "Trial", "run_apart"]

Pool: TypeAlias = Literal["short", "gradient", "mixed"]

BASES = ("nations", "umls", "kinship", "wn18rr")
POOLS: tuple[Pool, ...] = get_args(Pool)


@dataclass(frozen=True)
class Trial:
    """What is done."""

    base: str
    pool: Pool
    seed: int = 0
    workers: int = 1  #: processes that runs share


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


def run_apart(trial: Trial) -> Outcome:
    """Run a trial in a fresh process, so that its peak memory is its own."""
    with ProcessPoolExecutor(1, get_context("spawn"), torch.set_num_threads, (1,)) as executor:
        return executor.submit(run, trial).result()


def run(trial: Trial) -> Outcome:
    """Run a trial here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the page says what is odd about the bases
        facts = _facts(trial)
        began = time.perf_counter()
        rules = _proposed(facts, trial)
        proposing = time.perf_counter() - began
        config = _config(trial)
        done = complete(facts, config, rules)
        seconds = time.perf_counter() - began
        found, reliability = done.evaluate("test"), done.reliability.bins
        whole = _taught(facts)
        with_valid = complete(whole, _fixed(config, done), _proposed(whole, trial)).evaluate("test")
    return Outcome(
        base=trial.base,
        pool=trial.pool,
        test=found,
        with_valid=with_valid,
        valid_mrr=max(choice.mrr for choice in done.choices),
        scorer=_scorer(done),
        rules=sum(len(features.bodies) for features in done.features.values()),
        proposed=len(rules),
        proposing=proposing,
        seconds=seconds,
        peak=_peak(),
        reliability=reliability,
    )


def _facts(trial: Trial) -> FactBase:
    if trial.base in PYKEEN_SPLITS:
        return pykeen_split(trial.base)
    return with_validation(load(trial.base), CompletionConfig(seed=trial.seed))


def _config(trial: Trial) -> CompletionConfig:
    if trial.pool == "gradient":
        return CompletionConfig(seed=trial.seed, short=False, constants=0, chains=0)
    return CompletionConfig(seed=trial.seed)


def _proposed(facts: FactBase, trial: Trial) -> list[Rule]:
    if trial.pool == "short":
        return []
    config = ProposalConfig(seed=trial.seed)
    if trial.workers > 1:
        pool = ProcessPoolExecutor(trial.workers, get_context("spawn"), torch.set_num_threads, (1,))
    with nullcontext() if trial.workers <= 1 else pool as executor:
        return propose(facts, config, executor)


def _taught(facts: FactBase) -> FactBase:
    """The same facts, those marked valid teaching too."""
    relations = {
        key: relation
        if relation.mark is None
        else replace(relation, mark=np.where(relation.marked("valid"), 0, relation.mark).astype(np.uint8))
        for key, relation in facts.relations.items()
    }
    return replace(facts, relations=relations)


def _fixed(config: CompletionConfig, done: Completion) -> CompletionConfig:
    """The same settings with nothing left to choose."""
    scorer = done.scorer
    chosen = {"aggregators": (scorer.aggregator,), "smoothing": (scorer.smoothing,), "valid_share": 0.0}
    penalties = config.penalties if scorer.penalty is None else (scorer.penalty,)
    return config.model_copy(update={**chosen, "penalties": penalties})


def _scorer(done: Completion) -> str:
    scorer = done.scorer
    penalty = "" if scorer.penalty is None else f", penalty {scorer.penalty:g}"
    return f"{scorer.aggregator}, c {scorer.smoothing:g}{penalty}"


def _peak() -> int:
    """The most memory that this process has had, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
