"""What rules of gradient descent add to enumerated short bodies in a ranking, with intervals over queries."""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from andre.arrays import Floats
from andre.completion import Completion, as_rule, complete
from andre.evaluation import Interval, mean_reciprocal
from andre.facts import PYKEEN_SPLITS, pykeen_split
from andre.learning import ProposalConfig, beyond_short, propose
from andre.logic import Rule
from benchmarks import BENCHMARKS, Tick, parse_names, silent
from benchmarks.processes import run_all, run_apart, worker_pool
from benchmarks.ranking import KINDS, Pool, decimals, pool_config, with_interval
from benchmarks.report import Report, Table, seed_range

#: What the rules of a trial come from; `undescended` runs never move from their first weights.
Source: TypeAlias = Literal["descended", "undescended"]

#: How many of the heaviest short bodies are looked for among the proposed rules.
HEAVIEST = (50, 100, 500)
_COMPARED = (("mixed", "short"), ("gradient", "short"), ("gradient", "undescended"))
_NAMES: dict[str, str] = {str(pool): name for pool, name in KINDS.items()} | {
    "undescended": "runs that never move"
}


@dataclass(frozen=True)
class Proposed:
    """What runs propose for a base from its train facts."""

    rules: tuple[Rule, ...]
    seconds: float  #: of all processors together


@dataclass(frozen=True)
class Trial:
    """A base that is completed from one pool."""

    base: str
    seed: int
    pool: Pool
    rules: tuple[Rule, ...] = ()  #: that were proposed


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came out of a trial."""

    valid_mrr: float  #: of the scoring that was chosen
    reciprocals: Floats  #: mean of 1 / rank of each test fact, in an order that all trials of a base share
    bodies: int  #: of the pool, both sides of a relation counted apart
    seconds: float
    heaviest: tuple[Rule, ...]  #: the heaviest bodies as rules, the heaviest first


def propose_rules(base: str, seed: int, source: Source, workers: int) -> Proposed:
    """Rules of runs, and the seconds that they took on all processors; in a process of its own."""
    config = ProposalConfig(seed=seed)
    if source == "undescended":  # every look reads the same weights, so one is enough
        config = ProposalConfig(seed=seed, learning_rate=1e-9, steps=1)
    before = _processor_seconds()
    with worker_pool(workers) as executor:
        rules = propose(pykeen_split(base), config, executor)
    return Proposed(tuple(rules), _processor_seconds() - before)


def _processor_seconds() -> float:
    """User and system seconds of this process and of those that it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def attempt(trial: Trial) -> Outcome:
    """Complete a base from train facts, all choices by validation facts, and rank its test facts."""
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the page of ranks says what is odd about the bases
        done = complete(pykeen_split(trial.base), pool_config(trial.pool, trial.seed), trial.rules)
    seconds = time.process_time() - began
    return Outcome(
        valid_mrr=max(choice.mrr for choice in done.choices),
        reciprocals=mean_reciprocal(done.sides("test")),
        bodies=sum(len(features.bodies) for features in done.features.values()),
        seconds=seconds,
        heaviest=heaviest_rules(done, max(HEAVIEST)),
    )


def heaviest_rules(done: Completion, most: int) -> tuple[Rule, ...]:
    """The bodies with the largest learned weights, for or against, as rules; none where none is learned."""
    found: list[tuple[float, int, int]] = []
    for step, weights in done.scorer.weights.items():
        size = np.abs(weights[: len(done.features[step].bodies)])
        found.extend((float(size[place]), step, place) for place in np.argsort(-size)[:most].tolist())
    found.sort(key=lambda one: -one[0])
    return tuple(
        as_rule(done.features[step].bodies[place], done.graph, step, done.facts)
        for _, step, place in found[:most]
    )


def bench_proposals(
    datasets: str | None = None, seeds: int = 3, workers: int = 2, tick: Tick = silent
) -> Report:
    """Complete bases from enumerated bodies, from rules of runs, and from both.

    The first seed also has runs that never move from their first weights.
    """
    bases = parse_names(datasets, tuple(PYKEEN_SPLITS), "dataset")
    began = time.perf_counter()
    sources: list[Source] = ["descended", "undescended"]
    proposed: dict[tuple[str, int, Source], Proposed] = {}
    for base in bases:
        for seed in range(seeds):
            for source in sources if seed == 0 else sources[:1]:
                proposed[base, seed, source] = run_apart(propose_rules, base, seed, source, workers)
    trials: dict[tuple[str, int, str], Trial] = {}
    for (base, seed, source), found in proposed.items():
        if source == "undescended":
            trials[base, seed, source] = Trial(base, seed, "gradient", found.rules)
            continue
        trials[base, seed, "short"] = Trial(base, seed, "short")
        trials[base, seed, "gradient"] = Trial(base, seed, "gradient", found.rules)
        trials[base, seed, "mixed"] = Trial(base, seed, "mixed", tuple(beyond_short(found.rules)))
    outcomes = dict(zip(trials, run_all(attempt, list(trials.values()), workers, tick), strict=True))
    return Report(
        name="proposals",
        title=BENCHMARKS["proposals"].title,
        protocol=_PROTOCOL,
        settings={"seeds": seed_range(seeds), "bases": ", ".join(bases), "workers": workers},
        seconds=time.perf_counter() - began,
        tables=(_ranks(proposed, outcomes), _differences(bases, seeds, outcomes), _held(proposed, outcomes)),
        data={"trials": [_kept(*key, outcome) for key, outcome in outcomes.items()]},
    )


def _ranks(
    proposed: Mapping[tuple[str, int, Source], Proposed], outcomes: Mapping[tuple[str, int, str], Outcome]
) -> Table:
    rows = []
    for (base, seed, pool), outcome in outcomes.items():
        source: Source = "undescended" if pool == "undescended" else "descended"
        proposing = 0.0 if pool == "short" else proposed[base, seed, source].seconds
        rows.append(
            (
                base,
                _name(pool),
                str(seed),
                decimals(outcome.valid_mrr),
                with_interval(Interval.of(outcome.reciprocals)),
                f"{outcome.bodies:,}",
                f"{proposing:.0f}" if proposing else "–",
                f"{outcome.seconds:.0f}",
            )
        )
    columns = ("base", "pool", "seed", "valid MRR", "test MRR", "rules", "s proposing", "s completing")
    return Table("MRR by the source of rules", columns, tuple(rows))


def _differences(bases: Sequence[str], seeds: int, outcomes: Mapping[tuple[str, int, str], Outcome]) -> Table:
    rows = []
    for base in bases:
        for one, other in _COMPARED:
            each = {
                seed: outcomes[base, seed, one].reciprocals - outcomes[base, seed, other].reciprocals
                for seed in range(seeds)
                if (base, seed, other) in outcomes
            }
            whole = Interval.of(np.mean(list(each.values()), axis=0))
            verdict = "adds" if whole.low > 0 else "takes away" if whole.high < 0 else "within noise"
            own = (
                with_interval(Interval.of(each[seed]), signed=True) if seed in each else "–"
                for seed in range(seeds)
            )
            pools = f"{_name(one)} − {_name(other)}"
            rows.append((base, pools, *own, with_interval(whole, signed=True), verdict))
    columns = ("base", "difference", *(f"seed {seed}" for seed in range(seeds)), "all seeds", "says")
    return Table("Differences of test MRR, the same queries redrawn, 95% intervals", columns, tuple(rows))


def _held(
    proposed: Mapping[tuple[str, int, Source], Proposed], outcomes: Mapping[tuple[str, int, str], Outcome]
) -> Table:
    rows = []
    for base, seed, source in proposed:
        heaviest = outcomes[base, seed, "short"].heaviest
        known = set(proposed[base, seed, source].rules)
        shares = (
            f"{np.mean([rule in known for rule in heaviest[:top]]):.2f}" if heaviest else "–"
            for top in HEAVIEST
        )
        rows.append((base, "gradient only" if source == "descended" else _name(source), str(seed), *shares))
    columns = ("base", "runs", "seed", *(f"of the {top} heaviest" for top in HEAVIEST))
    return Table("The heaviest short bodies: which share of them the runs propose", columns, tuple(rows))


def _kept(base: str, seed: int, pool: str, outcome: Outcome) -> dict[str, Any]:
    mrr = float(outcome.reciprocals.mean())
    return {"base": base, "seed": seed, "pool": pool, "valid_mrr": outcome.valid_mrr, "mrr": mrr}


def _name(pool: str) -> str:
    return _NAMES[pool]


_PROTOCOL = (
    "Knowledge bases in PyKEEN's splits, completed as in the section on ranks: rules and weights "
    "from train facts, every choice by validation facts, both sides of every test fact asked for, realistic "
    "ranks. *Short bodies* are enumerated; *gradient only* has rules that runs of gradient descent propose "
    "and nothing enumerated; *mixed* has short bodies and those proposed rules that are "
    "longer. *Runs that never move* are read like the others, but their "
    "learning rate is all but 0: what they propose is chance, sifted by the same counts (seed 0). Intervals "
    "redraw test facts, 2,000 times; differences are taken fact by fact, so that all pools face the "
    "same facts, and under *all seeds* a fact counts with its mean over the seeds. The *heaviest* short "
    "bodies have the largest weights, for or against, that ranking learns for the pool of short bodies. "
    "Seconds are those of all processors together."
)
