"""One direction of a large base as a task by itself: facts in; rules, counts and weights out, and no pair.

A direction is a relation asked from one side, and its number is that of the step
which it follows. `learn_direction` is a function of values that can be pickled,
for any executor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from andre.arrays import Floats
from andre.completion.bodies import Body, Covered
from andre.completion.calibration import Frequencies
from andre.completion.config import CompletionConfig, CompletionPlan, SizeConfig
from andre.completion.counting import PartCounts, count_part, counted_parts
from andre.completion.features import Features, OnDemandFeatures
from andre.completion.graph import Graph
from andre.completion.proposals import propose_bodies
from andre.completion.rows import CachedEntries
from andre.completion.scoring import AGGREGATIONS, Scorer, rank_step
from andre.completion.weights import initial_weights, learn_weights
from andre.evaluation import Ranks, smoothed_confidence
from andre.limits import Deadline, check, limited, stage
from andre.logic import Rule

#: Rules from elsewhere, and the pairs that each covers.
GivenPairs: TypeAlias = Sequence[tuple[Body | Rule, Covered]]

#: The gradient at which the weights of a direction count as learned.
_TOLERANCE = 1e-2
#: Validation queries of a direction that chances are calibrated on, at the most.
_CALIBRATED = 100


@dataclass(frozen=True, eq=False)
class DirectionRules:
    """What was learned about one direction."""

    step: int
    bodies: tuple[Body | Rule, ...]  #: the most confident first
    n_b: Floats  #: [K], covered pairs whose start has an answer
    n_r: Floats  #: [K], those of them that are training facts
    fires: Floats = field(default_factory=lambda: np.zeros(0))  #: [K], starts from which any pair is covered
    per_start: float = 0.0  #: entries (a body that covers a pair) of a start that has an answer
    weights: tuple[Floats, ...] = ()  #: [K + 5] for each penalty; none where they were not learned
    tried: tuple[Ranks, ...] = ()  #: of validation facts by each of `candidate_scorers`; none without time
    frequencies: Mapping[float, Frequencies] = field(default_factory=dict)  #: of facts, by smoothing
    left_out: int = 0  #: chains with too many walks to look at
    is_drawn: bool = False  #: whether counts are of some drawn starts, and not of all
    cut: tuple[str, ...] = ()  #: stages that the time limit has cut short

    def features(
        self, graph: Graph, sizes: SizeConfig, pairs: Mapping[int, Covered] | None = None
    ) -> OnDemandFeatures:
        """The same as features, which evaluate rules for the starts that are asked from.

        Parameters
        ----------
        graph
            What rules are evaluated on.
        sizes
            How many answers are candidates anyway.
        pairs
            What given rules cover, by their places among the bodies.
        """
        answers = np.bincount(graph.pairs(self.step, "train")[:, 1], minlength=graph.n).astype(np.float64)
        return OnDemandFeatures(
            graph=graph,
            step=self.step,
            bodies=self.bodies,
            n_b=self.n_b,
            n_r=self.n_r,
            fires=self.fires if len(self.fires) else np.zeros(len(self.bodies)),
            answers=answers,
            per_start=self.per_start,
            most_answers=sizes.ranged,
            pairs=pairs or {},
        )


class DirectionStore(Protocol):
    """Where directions are kept as they are learned, so that a stopped run goes on; `andre.runs` has one."""

    def begin(self, graph: Graph, config: CompletionConfig) -> None:
        """Called first: only what was learned from the same facts by the same settings is known."""

    def known(self, step: int) -> DirectionRules | None:
        """A direction that was kept before."""

    def keep(self, rules: DirectionRules) -> None:
        """Called whenever a direction is done."""


def candidate_scorers(config: CompletionConfig) -> list[Scorer]:
    """Every scorer that validation facts choose from, still without weights."""
    found = []
    for aggregator in config.aggregators:
        if AGGREGATIONS[aggregator].learned:
            # Weights settle the rest: the middle one of the smoothings does.
            c = config.smoothing[len(config.smoothing) // 2]
            plain = Scorer(aggregator, c, config.depth, table=config.sizes.table)
            found += [replace(plain, penalty=penalty) for penalty in config.penalties]
        else:
            found += [Scorer(aggregator, c, config.depth) for c in config.smoothing]
    return found


def learn_direction(
    graph: Graph,
    direction: int,
    config: CompletionConfig,
    given: GivenPairs = (),
    seconds: float | None = None,
) -> DirectionRules:
    """Learn the rules of one direction, count and weigh them, and rank its validation facts by every scorer.

    Parameters
    ----------
    graph
        The training and validation facts.
    direction
        The step of the graph that is asked for.
    config
        Which rules may take part, and the scorers.
    given
        Rules from elsewhere, and what they cover.
    seconds
        After which the best result so far is returned.
    """
    # Thousands of small products: handing each out to several threads takes longer than doing it.
    with threadpool_limits(1), limited(Deadline.after(seconds)) as watch:
        found = _learned(graph, direction, CompletionPlan.of(graph, config), given)
    return replace(found, cut=tuple(watch.cut))


def _learned(graph: Graph, step: int, plan: CompletionPlan, given: GivenPairs) -> DirectionRules:
    """Propose, count, weigh, validate: what comes first is kept where time runs out."""
    found, cached = DirectionRules(step, (), np.zeros(0), np.zeros(0)), None
    with stage("rules"):
        check()
        bodies, left_out = proposed_bodies(graph, step, plan, given)
        found, cached = count_bodies(graph, step, bodies, given_pairs(bodies, given), plan.config.sizes)
        found = replace(found, left_out=left_out)
    features = found.features(graph, plan.config.sizes, given_pairs(found.bodies, given))
    found = weigh(graph, found, replace(features, cached=cached), plan.config)
    tried: list[Ranks] = []
    with stage("scoring"):
        check()
        tried = validate(graph, found, features, plan.config)
    return calibrate(graph, replace(found, tried=tuple(tried)), features, plan.config)


def proposed_bodies(
    graph: Graph, step: int, plan: CompletionPlan, given: GivenPairs
) -> tuple[tuple[Body | Rule, ...], int]:
    """The bodies that facts show, then those that are given; and how many had too many walks to look at."""
    proposed = propose_bodies(graph, step, plan)
    more = (rule for rule, _ in given if rule not in proposed.bodies)
    return (*proposed.bodies, *more), proposed.left_out


def weigh(
    graph: Graph, found: DirectionRules, features: OnDemandFeatures, config: CompletionConfig
) -> DirectionRules:
    """Learn the weights of the bodies for each penalty, if any scorer has them."""
    learned = next((scorer for scorer in candidate_scorers(config) if scorer.penalty is not None), None)
    if learned is None:
        return found
    with stage("weights"):
        check()
        weights = learn_weights(graph, features, learned, config, _TOLERANCE)
        found = replace(found, weights=tuple(weights))
    return found


def validate(
    graph: Graph,
    found: DirectionRules,
    features: OnDemandFeatures,
    config: CompletionConfig,
    part: slice = slice(None),
) -> list[Ranks]:
    """Rank the validation facts of a direction, or a part of them, by every scorer."""
    if not len(graph.pairs(found.step, "valid")):
        return []
    scorers = with_weights(candidate_scorers(config), found, config)
    return rank_step(
        graph, found.step, features, scorers, "valid", levels=False, block=config.sizes.block, part=part
    )


def calibrate(
    graph: Graph, found: DirectionRules, features: OnDemandFeatures, config: CompletionConfig
) -> DirectionRules:
    """Count how often candidates of a confidence are validation facts, if there are any."""
    if len(graph.pairs(found.step, "valid")):
        with stage("reliability"):
            check()
            found = replace(found, frequencies=_frequencies(graph, features, config.smoothing))
    return found


def with_weights(scorers: Sequence[Scorer], found: DirectionRules, config: CompletionConfig) -> list[Scorer]:
    """The scorers with the weights of one direction; where none were learned the best rule decides."""
    own = dict(zip(config.penalties, found.weights, strict=False))
    start = initial_weights(len(found.bodies))
    return [
        scorer
        if scorer.penalty is None
        else replace(scorer, weights={found.step: own.get(scorer.penalty, start)})
        for scorer in scorers
    ]


def given_pairs(bodies: Sequence[Body | Rule], given: GivenPairs) -> dict[int, Covered]:
    """What given rules cover, by their places among the bodies."""
    covered = {rule: pairs for rule, pairs in given if isinstance(rule, Rule)}
    return {place: covered[body] for place, body in enumerate(bodies) if isinstance(body, Rule)}


def count_bodies(
    graph: Graph,
    step: int,
    bodies: Sequence[Body | Rule],
    pairs: Mapping[int, Covered],
    sizes: SizeConfig,
) -> tuple[DirectionRules, CachedEntries | None]:
    """Count bodies over the starts that have an answer, and put the most confident first.

    Counts are exact up to the numbers of starts and entries in `sizes`. Beyond, all but bodies
    with constants are counted on a sample of starts, and scaled up. Bodies that cover nothing
    are left out. Exact counts come with the entries, unless these are too many to learn weights from.

    Parameters
    ----------
    pairs
        What given rules cover, by their places among the bodies.
    sizes
        How many starts are counted, and how many entries at a time.
    """
    counts, cached = [], None
    for part in counted_parts(graph, step, bodies, pairs, sizes):
        own, cached = count_part(graph, step, bodies, pairs, part, sizes)
        counts.append(own)
    rules, order = in_order_of_confidence(graph, step, bodies, counts)
    if cached is None or rules.is_drawn:
        return rules, None
    number = np.zeros(len(bodies), dtype=np.int32)
    number[order] = np.arange(len(order))
    return rules, replace(cached, entries=replace(cached.entries, body=number[cached.entries.body]))


def in_order_of_confidence(
    graph: Graph, step: int, bodies: Sequence[Body | Rule], counts: Sequence[PartCounts]
) -> tuple[DirectionRules, NDArray[np.intp]]:
    """The bodies that cover anything, the most confident first, and their places before.

    Counts of drawn starts are scaled up.
    """
    n_b, n_r, fires = (np.zeros(len(bodies)) for _ in range(3))
    for part in counts:
        scale = part.of / max(1, part.starts)
        for whole, own in ((n_b, part.n_b), (n_r, part.n_r), (fires, part.fires)):
            whole[part.places] = np.round(own * scale)
    order = np.argsort(-smoothed_confidence(n_b, n_r), kind="stable")
    order = order[n_b[order] > 0]
    rules = DirectionRules(
        step=step,
        bodies=tuple(bodies[place] for place in order.tolist()),
        n_b=n_b[order],
        n_r=n_r[order],
        fires=fires[order],
        per_start=float(n_b.sum() / max(1, int(graph.has_answer(step).sum()))),
        is_drawn=any(part.starts < part.of for part in counts),
    )
    return rules, order


def _frequencies(graph: Graph, features: Features, smoothings: Sequence[float]) -> dict[float, Frequencies]:
    """How often candidates of a confidence are validation facts, from some drawn queries, by smoothing."""
    starts = np.unique(graph.pairs(features.step, "valid")[:, 0])
    drawn = np.sort(np.random.default_rng(features.step).permutation(starts)[:_CALIBRATED])
    found = Frequencies.of_step(graph, features, smoothings, drawn)
    return {c: some.rounded() for c, some in zip(smoothings, found, strict=True)}
