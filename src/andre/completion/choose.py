"""Which bodies a target gets: the significant, the confident, those with constants, those given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from andre.completion.bodies import Body, Covered, to_rule
from andre.completion.chains import long_bodies
from andre.completion.config import CompletionConfig
from andre.completion.features import Features, covered_pairs, distinct, features_of, members
from andre.completion.given import GivenRules
from andre.completion.graph import Graph
from andre.completion.pool import BodyCounts, BodyPool, is_small, significance
from andre.facts import FactBase
from andre.logic import Rule

__all__ = ["choose_features"]


#: So many times as often as chance a long chain must be right in a large base. Hubs join everything with
#: everything, and the chains through them say nothing, but cover most of all pairs.
_LIFT = 10


def choose_features(
    pool: BodyPool,
    counts: BodyCounts,
    step: int,
    config: CompletionConfig,
    facts: FactBase,
    *,
    constants: Mapping[int, Sequence[Body]],
    extra: GivenRules,
) -> Features:
    """Take the bodies that say most about a target.

    Parameters
    ----------
    pool, counts
        Short bodies, and how often each is right.
    step
        The target.
    config
        How many bodies of each kind.
    facts
        The training facts.
    constants
        Bodies with constants, by step.
    extra
        More rules, with what they cover.
    """
    graph = pool.graph
    ids = _chosen(pool, counts, step, config)
    bodies: list[Body | Rule] = [pool.bodies[at] for at in ids.tolist()]
    covered: list[Covered] = []
    for at in ids.tolist():
        row = slice(*pool.groundings.indptr[at : at + 2])
        covered.append((pool.pairs[pool.groundings.indices[row]], pool.groundings.data[row]))
    own: list[Body | Rule] = [
        *constants.get(step, ()),
        *(Body("from", body.steps) for body in constants.get(graph.inverse(step), ())),
    ]
    # In a large base few facts are covered by chains of three, and walks of four are few enough.
    lengths, chance = ((3,), 0.0) if is_small(graph) else ((3, 4), _LIFT * _rate(graph, step))
    chains = long_bodies(graph, step, config, lengths, chance)
    relation = graph.relations[step % len(graph.relations)]
    for body, least in (*((body, 0.0) for body in own), *((body, chance) for body in chains)):
        found = covered_pairs(body, graph, step, facts)
        if len(found[0]) and (not least or _confidence(found, graph, step) >= least):
            bodies.append(body)
            covered.append(found)
    if given := extra.about(step):
        known = {_rule(body, pool, step, relation, facts) for body in bodies}
        added = [(rule, found) for rule, found in given if len(found[0]) and rule not in known]
        bodies += [rule for rule, _ in added]
        covered += [found for _, found in added]
    # In a small base every pair is as good as covered; in a large one a target sees few of the pool's.
    keys = distinct([pool.pairs, *(pairs for pairs, _ in covered[len(ids) :])]) if is_small(graph) else None
    return features_of(bodies, graph, step, facts, covered, keys)


def _chosen(pool: BodyPool, counts: BodyCounts, step: int, config: CompletionConfig) -> NDArray[np.int64]:
    rate = _rate(pool.graph, step)
    n_b, n_r = counts.n_b[:, step], counts.n_r[:, step]
    gain = significance(n_b, n_r, rate)
    sure = n_r / (n_b + 5)
    usable = ~counts.own[:, step] & (n_b > 0) & ((n_r >= config.support) | (n_r <= rate * n_b))
    gain[~usable] = -1
    sure[~usable | (n_r < config.support)] = -1
    # One literal costs little and may rule out most candidates, so all of those stay.
    short = np.flatnonzero(usable[: pool.n_short])
    return np.unique(np.concatenate([short, _top(gain, config.bodies), _top(sure, config.confident)]))


def _rate(graph: Graph, step: int) -> float:
    """How often a pair is a fact whose start has an answer."""
    pairs = graph.pairs(step, "train")
    return len(pairs) / max(1, len(np.unique(pairs[:, 0])) * graph.n)


def _confidence(covered: Covered, graph: Graph, step: int) -> float:
    """How often the pairs are facts whose start has an answer."""
    pairs = graph.pairs(step, "train")
    is_start = np.zeros(graph.n, dtype=np.bool_)
    is_start[pairs[:, 0]] = True
    n_b = np.count_nonzero(is_start[covered[0] // graph.n])
    n_r = np.count_nonzero(members(pairs[:, 0] * graph.n + pairs[:, 1], covered[0]))
    return n_r / n_b if n_b else 0.0


def _top(values: NDArray[np.floating], most: int) -> NDArray[np.int64]:
    order = np.argsort(-values, kind="stable")[:most]
    return order[values[order] > 0]


def _rule(body: Body | Rule, pool: BodyPool, step: int, relation: str, facts: FactBase) -> Rule:
    if isinstance(body, Rule):
        return body
    seen = body if step < len(pool.graph.relations) else body.reversed(pool.graph)
    return to_rule(seen, relation, pool.graph, facts)
