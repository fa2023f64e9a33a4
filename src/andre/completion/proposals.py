"""Bodies for one direction of a large base: proposed from its facts, estimated on drawn starts, and chosen.

Nothing is enumerated that no fact shows, and nothing is evaluated as a whole:
estimates on some starts say which bodies are worth an exact count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from andre.arrays import Bools, Floats, Ints, among, distinct_keys, ranges
from andre.completion.bodies import Body, Walks, csr_coordinates, row_entries
from andre.completion.chains import connecting_chains, long_bodies, steps_of, steps_to
from andre.completion.config import CompletionPlan
from andre.completion.constants import best_places, constant_bodies, significance
from andre.completion.graph import Graph
from andre.evaluation import smoothed_confidence
from andre.limits import check

#: Standard errors that an estimate may be off by.
_SURE = 2.0
#: How many times as many starts as are set are looked at where walks are few.
_MOST = 20
#: Of those that have the same answer as a fact's start, how many are compared with it.
_LOOKED_AT = 50
#: How many times as many bodies as are wanted are estimated a second time, on more starts.
_SECOND = 3


#: Constants that walks end at, and how many walks each.
_Visits: TypeAlias = tuple[Ints, Floats]


@dataclass(frozen=True, eq=False)
class Proposed:
    """The bodies of a direction, and how many were too large to look at."""

    bodies: tuple[Body, ...]
    left_out: int  #: chains with more walks from a start than are allowed


def propose_bodies(graph: Graph, step: int, plan: CompletionPlan) -> Proposed:
    """The bodies that say most about a direction: single literals, pairs of them, chains, constants.

    Parameters
    ----------
    graph
        The training facts.
    step
        The target.
    plan
        How many of which kind.
    """
    rng = np.random.default_rng((plan.config.seed, step))
    pairs = graph.pairs(step, "train")
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if not len(pairs):
        return Proposed((), 0)
    chosen: list[Body] = []
    left_out = 0
    if plan.config.short:
        sampled = pairs[rng.permutation(len(pairs))[: plan.config.facts]]
        singles = _single_literals(graph, step, pairs)
        longer = [*_pairs_of_literals(graph, step, sampled), *_candidate_chains(graph, step, sampled, plan)]
        chains, left_out = _choose(graph, step, list(dict.fromkeys(longer)), plan, rng)
        chosen += [*singles, *chains]
    here, there = (constant_bodies(graph, side, plan) for side in (step, graph.inverse(step)))
    chosen += [*here, *(Body("from", body.steps) for body in there)]
    return Proposed(tuple(chosen), left_out)


def _single_literals(graph: Graph, step: int, pairs: Ints) -> list[Body]:
    """Bodies of one literal that cover anything: they cost little, and one may rule out most candidates."""
    leads = graph.leads[distinct_keys(pairs[:, 0], graph.n)].indices
    return [Body("path", (one,)) for one in distinct_keys(leads, graph.n_steps).tolist() if one != step]


def _pairs_of_literals(graph: Graph, step: int, sampled: Ints) -> list[Body]:
    """Two literals about X and Y that hold together for two facts or more."""
    times: dict[tuple[int, int], int] = {}
    for x, y in sampled.tolist():
        between = steps_to(graph, x, np.array([y]))[1].tolist()
        for both in combinations(sorted(one for one in between if one != step), 2):
            times[both] = times.get(both, 0) + 1
    return [Body("both", both) for both, count in times.items() if count > 1]


def _candidate_chains(graph: Graph, step: int, sampled: Ints, plan: CompletionPlan) -> list[Body]:
    """Chains of two, chains by what is alike, and longer ones that connect most facts."""
    count, config = graph.n_steps, plan.config
    if count**2 <= config.sizes.listed:
        chains: list[tuple[int, ...]] = [(one, two) for one in range(count) for two in range(count)]
    else:
        times = connecting_chains(graph, sampled, (2,), config.sizes.meetings)[2]
        chains = [steps_of(code, 2, graph) for code, found in times.items() if found >= config.support]
    if plan.chains:
        # Who shares an s with X has Y, and what shares an s with an answer of X: neighbours by likeness.
        alike = shared_steps(graph, step, sampled, config.support)
        chains += [(one, graph.inverse(one), step) for one in alike]
        alike = shared_steps(graph, graph.inverse(step), sampled[:, ::-1], config.support)
        chains += [(step, one, graph.inverse(one)) for one in alike]
    return [*(Body("path", steps) for steps in chains), *long_bodies(graph, step, plan)]


def shared_steps(graph: Graph, step: int, sampled: Ints, least: int) -> list[int]:
    """Steps that lead from X and from another with the same answer to one constant, for so many facts.

    Of answers that many have, some of those are looked at.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom
    >>> rows = ["p(a, one)", "p(b, one)", "q(b, two)", "h(a, yes)", "h(b, yes)"]
    >>> graph = Graph.of(FactBase.from_facts(map(parse_atom, rows)))
    >>> [graph.relations[one] for one in shared_steps(graph, 2, graph.pairs(2, "train"), 2)]
    ['p']
    """
    asked, place = np.unique(sampled[:, 0], return_inverse=True)
    back = graph.steps[graph.inverse(step)]
    begin, end = (back.indptr[sampled[:, 1] + more].astype(np.int64) for more in (0, 1))
    count = np.minimum(end - begin, _LOOKED_AT)
    fact, nth = ranges(np.zeros_like(count), count)
    # Evenly spread: neighbours in the order of codes may be alike.
    others = back.indices[begin[fact] + nth * (end - begin)[fact] // count[fact]].astype(np.int64)
    apart = others != sampled[fact, 0]
    fact, others = fact[apart], others[apart]
    width = graph.n_steps * graph.n
    known_of, known = row_entries(graph.ends, asked)
    which, led = row_entries(graph.ends, others)
    both = among(place[fact[which]] * width + led, np.sort(known_of * width + known))
    both &= led % graph.n != sampled[fact[which], 1]  # all variables stand for distinct constants
    pairs = distinct_keys(fact[which[both]] * graph.n_steps + led[both] // graph.n)
    times = np.bincount(pairs % graph.n_steps, minlength=graph.n_steps)
    found: list[int] = np.flatnonzero(times >= least).tolist()
    return found


def _choose(
    graph: Graph, step: int, bodies: Sequence[Body], plan: CompletionPlan, rng: np.random.Generator
) -> tuple[list[Body], int]:
    """The most significant and the most confident bodies, by estimates first on few starts, then on more.

    Of bodies that cover the same pairs in as many ways one is kept, the shorter.
    """
    config, rate = plan.config, base_rate(graph, step)
    starts = rng.permutation(np.flatnonzero(graph.has_answer(step)))
    walks = count_walks(graph, bodies, starts[: config.probed])
    fits = walks <= config.sizes.walks_per_start
    left_out = int((~fits).sum())
    bodies = [bodies[place] for place in np.flatnonzero(fits).tolist()]
    # Where walks are few, a chain that is right of few starts is found on many only.
    probed = int(
        np.clip(config.sizes.probes / max(1.0, walks[fits].sum()), config.probed, _MOST * config.probed)
    )
    distinct: dict[int, Body] = {}
    for size, times in ((probed // 4, _SECOND), (probed, 1)):
        found = estimate(graph, step, bodies, np.sort(starts[:size]))
        useful = found.is_useful(
            rate, plan.lift, np.array([len(body.steps) < 3 for body in bodies], dtype=np.bool_)
        )
        gain = np.where(useful, significance(found.n_b, found.n_r, rate), -1)
        sure = np.where(useful & (found.n_r >= config.support), found.confidence, -1)
        places = np.unique(
            np.concatenate(
                [best_places(gain, times * config.bodies), best_places(sure, times * config.confident)]
            )
        )
        distinct = {}
        for place in sorted(places.tolist(), key=lambda place: len(bodies[place].steps)):
            distinct.setdefault(int(found.signature[place]), bodies[place])
        bodies = list(distinct.values())
    return bodies, left_out


def count_walks(graph: Graph, bodies: Sequence[Body], starts: Ints) -> Floats:
    """How many walks there are along each body from one of these starts, on the average: [K].

    Exact, without walking; walks that lead nowhere count, too. Hubs join
    everything with everything: chains through them are costly, and say little
    about any of the pairs that they cover. Bodies that are no chains have none.
    """
    counts = np.zeros(len(bodies))
    visits: dict[tuple[int, ...], _Visits] = {(): (np.unique(starts), np.ones(len(starts)))}
    for place, body in enumerate(bodies):
        for length, step in enumerate(body.steps if body.shape == "path" else ()):
            at, first = visits[body.steps[:length]], graph.steps[step].indptr
            counts[place] += at[1] @ (first[at[0] + 1] - first[at[0]])
            begun = body.steps[: length + 1]
            if length + 1 < len(body.steps) and begun not in visits:
                visits[begun] = _visits(graph, at, step)
    return counts / max(1, len(starts))


def _visits(graph: Graph, at: _Visits, step: int) -> _Visits:
    """Where walks that are at some constants are one step later."""
    which, end = row_entries(graph.steps[step], at[0])
    constants, place = np.unique(end, return_inverse=True)
    return constants, np.bincount(place, at[1][which], len(constants)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Estimates:
    """Counts of bodies on some drawn starts of a direction."""

    n_b: Floats  #: [K], covered pairs
    n_r: Floats  #: [K], those of them that are training facts
    signature: Ints  #: [K], equal for bodies that cover the same pairs in as many ways

    @property
    def confidence(self) -> Floats:
        """N_r / (N_b + 1): [K]."""
        return smoothed_confidence(self.n_b, self.n_r)

    def is_useful(self, rate: float, lift: float, against: Bools) -> Bools:
        """Which bodies may be right `lift` times as often as chance: [K].

        Chance is the share `rate` of facts among all pairs. What an estimate falls
        short of by less than its error may still be. Bodies that may speak
        `against` their head, [K], are useful if they are right less often, too.
        """
        n_b = np.maximum(self.n_b, 1)
        share = self.n_r / n_b
        error = np.sqrt((share * (1 - share) + 1 / n_b) / n_b)  # not zero where none of few pairs is right
        wanted = min(lift * rate, (1 + rate) / 2)  # where chance is high, half way to certainty
        lifted = (self.n_r > 0) & (share + _SURE * error >= wanted)
        return (self.n_b > 0) & (lifted | (against & (share + _SURE * error < rate)))


def estimate(graph: Graph, step: int, bodies: Sequence[Body], starts: Ints) -> Estimates:
    """Count bodies on some starts, which are ascending.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom
    >>> graph = Graph.of(FactBase.from_facts(map(parse_atom, ["p(a, b)", "p(a, c)", "h(a, c)"])))
    >>> found = estimate(graph, 1, [Body("path", (0,))], np.array([0]))
    >>> found.n_b.tolist(), found.n_r.tolist()
    ([2.0], [1.0])
    """
    n, true = graph.n, graph.keys(step, "train", starts)
    names = np.random.default_rng(0).integers(1 << 62, size=(2, n))  # Zobrist hashing: a sum names a set
    n_b, n_r = np.zeros(len(bodies)), np.zeros(len(bodies))
    signature = np.zeros(len(bodies), dtype=np.int64)
    walks = Walks(graph, starts)
    for place in sorted(range(len(bodies)), key=lambda place: bodies[place].steps):
        check()
        found = walks.along(bodies[place])
        row, end = csr_coordinates(found)
        start, ways = starts[row], found.data
        apart = start != end
        start, end, ways = start[apart], end[apart], ways[apart]
        n_b[place] = len(start)
        n_r[place] = np.count_nonzero(among(start * n + end, true))
        signature[place] = np.sum((names[0][start] ^ names[1][end]) * ways.astype(np.int64))
    return Estimates(n_b, n_r, signature)


def base_rate(graph: Graph, step: int) -> float:
    """The share of training facts among all pairs of a start that has an answer and any constant."""
    return len(graph.pairs(step, "train")) / max(1, int(graph.has_answer(step).sum()) * graph.n)
