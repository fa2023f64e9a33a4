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
from numpy.typing import NDArray

from andre.arrays import Bools, Floats, Ints, among, distinct_keys, ranges
from andre.completion.bodies import Body, Walks, csr_coordinates, row_entries
from andre.completion.chains import Connections, connecting_chains, long_bodies, steps_of, steps_to
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
#: Walks from a start, on the average, and pairs that a body covers from it, above which a chain must be
#: likely to say more than chance before it is walked along, and sure to before it is kept.
_COSTLY = 1_000


#: Constants that walks end at, and how many walks each.
_Visits: TypeAlias = tuple[Ints, Floats]


@dataclass(frozen=True, eq=False)
class Proposed:
    """The bodies of a direction, and how many were too large to look at."""

    bodies: tuple[Body, ...]
    left_out: int  #: chains with more walks from a start than there is room for


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
        found, connected = _candidate_chains(graph, step, sampled, plan)
        longer = dict.fromkeys([*_pairs_of_literals(graph, step, sampled), *found])
        chains, left_out = _choose(graph, step, list(longer), connected, plan, rng)
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


def _candidate_chains(
    graph: Graph, step: int, sampled: Ints, plan: CompletionPlan
) -> tuple[list[Body], Connections | None]:
    """Chains of two, chains by what is alike, and longer ones that connect most facts.

    With them come the facts that chains of two connect, if chains were found by these.
    """
    count, config, connected = graph.n_steps, plan.config, None
    if count**2 <= config.sizes.listed:
        chains: list[tuple[int, ...]] = [(one, two) for one in range(count) for two in range(count)]
    else:
        connected = connecting_chains(graph, sampled, (2,), config.sizes.meetings)
        times = connected.times[2]
        chains = [steps_of(code, 2, graph) for code, found in times.items() if found >= config.support]
    if plan.chains:
        # Who shares an s with X has Y, and what shares an s with an answer of X: neighbours by likeness.
        alike = shared_steps(graph, step, sampled, config.support)
        chains += [(one, graph.inverse(one), step) for one in alike]
        alike = shared_steps(graph, graph.inverse(step), sampled[:, ::-1], config.support)
        chains += [(step, one, graph.inverse(one)) for one in alike]
    return [*(Body("path", steps) for steps in chains), *long_bodies(graph, step, plan)], connected


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
    graph: Graph,
    step: int,
    bodies: Sequence[Body],
    connected: Connections | None,
    plan: CompletionPlan,
    rng: np.random.Generator,
) -> tuple[list[Body], int]:
    """The most significant and the most confident bodies, by estimates first on few starts, then on more.

    Of bodies that cover the same pairs in as many ways one is kept, the shorter. All
    together cover about so many pairs from a start as there is room for.
    """
    config, rate = plan.config, base_rate(graph, step)
    starts = rng.permutation(np.flatnonzero(graph.has_answer(step)))
    walks = count_walks(graph, bodies, starts[: config.probed])
    fits = walks <= config.sizes.walks_per_start
    left_out = int((~fits).sum())
    if connected is not None:
        probes = starts[: config.probed]
        fits &= _may_be_useful(graph, step, bodies, walks, connected, probes, lift=plan.lift)
    bodies = [bodies[place] for place in np.flatnonzero(fits).tolist()]
    # Where walks are few, a chain that is right of few starts is found on many only.
    probed = int(
        np.clip(config.sizes.probes / max(1.0, walks[fits].sum()), config.probed, _MOST * config.probed)
    )
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
        distinct: dict[int, int] = {}
        for place in sorted(places.tolist(), key=lambda place: len(bodies[place].steps)):
            distinct.setdefault(int(found.signature[place]), place)
        chosen = np.array(list(distinct.values()), dtype=np.int64)
        bodies, found, gain = [bodies[place] for place in chosen.tolist()], found.take(chosen), gain[chosen]
    pairs = found.n_b / max(1, min(size, len(starts)))  # from a start
    # What covers many pairs costs much to count and to rank by: it must be shown to say anything.
    shown = np.flatnonzero((pairs <= _COSTLY) | found.differs(rate))
    by_gain = shown[np.argsort(-(gain / np.maximum(pairs, 1e-9))[shown], kind="stable")]
    kept = np.sort(by_gain[np.cumsum(pairs[by_gain]) <= config.sizes.covered])
    return [bodies[place] for place in kept.tolist()], left_out + len(shown) - len(kept)


def _may_be_useful(
    graph: Graph,
    step: int,
    bodies: Sequence[Body],
    walks: Floats,
    connected: Connections,
    starts: Ints,
    *,
    lift: float,
) -> Bools:
    """Which bodies may be right more often than chance, or speak against it: [K].

    Chains of two with many walks are judged by the facts that they connect, without
    walking; all others may be.

    Parameters
    ----------
    walks
        From a start, on the average, along each body: [K].
    connected
        Of some facts, how many each chain connects.
    starts
        Some starts that have an answer.
    """
    costly = np.array(
        [
            place
            for place in np.flatnonzero(walks > _COSTLY).tolist()
            if bodies[place].shape == "path" and len(bodies[place].steps) == 2
        ],
        dtype=np.int64,
    )
    chains = [bodies[place].steps for place in costly.tolist()]
    n_r = np.array([connected.times[2][one * graph.n_steps + two] for one, two in chains], dtype=np.float64)
    # For each start so many facts were looked at.
    per_start = len(graph.pairs(step, "train")) / max(1, int(graph.has_answer(step).sum()))
    rate, scale = base_rate(graph, step), connected.facts[2] / per_start
    least, most = (
        Estimates(np.maximum(scale * ends, n_r), n_r, np.zeros_like(costly))
        for ends in (least_ends(graph, chains, starts), walks[costly])
    )
    may_be = np.ones(len(bodies), dtype=np.bool_)
    may_be[costly] = least.is_useful(rate, lift, against=False) | most.is_useful(rate, lift, against=True)
    return may_be


def least_ends(graph: Graph, chains: Sequence[Sequence[int]], starts: Ints) -> Floats:
    """To how many constants chains of two lead from one of these starts at the least, on the average: [K].

    From each start they are no fewer than those that the second step leads to from one
    constant in between, but for the start itself. Of walks through a hub these are nearly all.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom
    >>> rows = ["p(a, b)", "p(a, c)", "q(b, d)", "q(b, e)", "q(c, d)", "q(c, f)"]
    >>> graph = Graph.of(FactBase.from_facts(map(parse_atom, rows)))
    >>> least_ends(graph, [(0, 1)], np.array([0])).tolist()  # two of d, e and f, one of which might be a
    [1.0]
    """
    found = np.zeros(len(chains))
    # Where first steps lead, and where the ends of each start begin.
    led: dict[int, tuple[Ints, NDArray[np.intp]]] = {}
    for place, (one, two) in enumerate(chains):
        if one not in led:
            start, between = row_entries(graph.steps[one], starts)
            led[one] = between, np.flatnonzero(np.diff(start, prepend=-1))
        between, first = led[one]
        if len(first):
            begins = graph.steps[two].indptr
            ends = np.maximum.reduceat(begins[between + 1] - begins[between], first)
            found[place] = np.maximum(ends - 1, 0).sum()  # one of them may be the start itself
    return found / max(1, len(starts))


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

    def take(self, places: Ints) -> Estimates:
        """Those of some bodies."""
        return Estimates(self.n_b[places], self.n_r[places], self.signature[places])

    def is_useful(self, rate: float, lift: float, against: Bools | bool) -> Bools:
        """Which bodies may be right `lift` times as often as chance: [K].

        Chance is the share `rate` of facts among all pairs. What an estimate falls
        short of by less than its error may still be. Bodies that may speak
        `against` their head, [K], are useful if they are right less often, too.
        """
        wanted = min(lift * rate, (1 + rate) / 2)  # where chance is high, half way to certainty
        lifted = (self.n_r > 0) & (self._share + _SURE * self._error >= wanted)
        return (self.n_b > 0) & (lifted | (against & (self._share + _SURE * self._error < rate)))

    def differs(self, rate: float) -> Bools:
        """Which bodies are surely right more often than chance, or less often: [K]."""
        return np.abs(self._share - rate) > _SURE * self._error

    @property
    def _share(self) -> Floats:
        return self.n_r / np.maximum(self.n_b, 1)

    @property
    def _error(self) -> Floats:
        n_b = np.maximum(self.n_b, 1)  # not zero where none of few pairs is right
        return np.sqrt((self._share * (1 - self._share) + 1 / n_b) / n_b)


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
