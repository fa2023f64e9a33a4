"""Bodies for one direction of a large base: proposed from its facts, estimated on drawn starts, and chosen.

Only bodies that hold for some fact are enumerated, and none is evaluated on all starts: estimates on a sample
say which bodies are worth an exact count.
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

#: How many standard errors an estimate may be off by.
_STANDARD_ERRORS = 2.0
#: Where walks are few, up to so many times as many starts are sampled as the settings say.
_MOST_PROBES = 20
#: How many of the constants with the same answer as a start are compared with it.
_COMPARED = 50
#: So many times as many bodies as are wanted are estimated a second time, on more starts.
_SHORTLIST = 3
#: Above so many walks from a start on average, a chain is walked along only if it may be right more often
#: than chance; above so many pairs covered from a start, it is kept only if it surely is.
_COSTLY = 1_000


#: The constants that walks end at, and how many walks end at each.
_Visits: TypeAlias = tuple[Ints, Floats]


@dataclass(frozen=True, eq=False)
class Proposed:
    """The bodies of a direction, and how many chains were left out for their size."""

    bodies: tuple[Body, ...]
    left_out: int  #: chains with more walks from a start than there is room for


def propose_bodies(graph: Graph, step: int, plan: CompletionPlan) -> Proposed:
    """The bodies that say most about a direction: one literal, two side by side, chains, with constants.

    Parameters
    ----------
    graph
        The training facts.
    step
        The direction.
    plan
        How many bodies of which kind.
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
        chains, left_out = _select(graph, step, list(longer), connected, plan, rng)
        chosen += [*singles, *chains]
    here, there = (constant_bodies(graph, side, plan) for side in (step, graph.inverse(step)))
    chosen += [*here, *(Body("from", body.steps) for body in there)]
    return Proposed(tuple(chosen), left_out)


def _single_literals(graph: Graph, step: int, pairs: Ints) -> list[Body]:
    """All bodies of one literal that cover anything: few, and one may rule out most candidates."""
    leads = graph.leads[distinct_keys(pairs[:, 0], graph.n)].indices
    return [Body("path", (one,)) for one in distinct_keys(leads, graph.n_steps).tolist() if one != step]


def _pairs_of_literals(graph: Graph, step: int, sampled: Ints) -> list[Body]:
    """Bodies of two literals about X and Y that hold together for at least two facts."""
    times: dict[tuple[int, int], int] = {}
    for x, y in sampled.tolist():
        between = steps_to(graph, x, np.array([y]))[1].tolist()
        for both in combinations(sorted(one for one in between if one != step), 2):
            times[both] = times.get(both, 0) + 1
    return [Body("both", both) for both, count in times.items() if count > 1]


def _candidate_chains(
    graph: Graph, step: int, sampled: Ints, plan: CompletionPlan
) -> tuple[list[Body], Connections | None]:
    """Chains of two steps, chains over similar constants, and the longer ones that connect most facts.

    With them comes how many facts each chain of two steps connects, if they were found by that.
    """
    count, config, connected = graph.n_steps, plan.config, None
    if count**2 <= config.sizes.listed:
        chains: list[tuple[int, ...]] = [(one, two) for one in range(count) for two in range(count)]
    else:
        connected = connecting_chains(graph, sampled, (2,), config.sizes.meetings)
        times = connected.times[2]
        chains = [steps_of(code, 2, graph) for code, found in times.items() if found >= config.support]
    if plan.chains:
        # Similar constants: Y answers one that shares an s with X, or shares an s with an answer of X.
        alike = shared_steps(graph, step, sampled, config.support)
        chains += [(one, graph.inverse(one), step) for one in alike]
        alike = shared_steps(graph, graph.inverse(step), sampled[:, ::-1], config.support)
        chains += [(step, one, graph.inverse(one)) for one in alike]
    return [*(Body("path", steps) for steps in chains), *long_bodies(graph, step, plan)], connected


def shared_steps(graph: Graph, step: int, sampled: Ints, least: int) -> list[int]:
    """Steps along which X shares a constant with another start of the same answer, for so many facts.

    Where many starts have one answer, some of them are compared.

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
    count = np.minimum(end - begin, _COMPARED)
    fact, nth = ranges(np.zeros_like(count), count)
    # Evenly spread: neighbours in the order of codes may be alike.
    others = back.indices[begin[fact] + nth * (end - begin)[fact] // count[fact]].astype(np.int64)
    apart = others != sampled[fact, 0]
    fact, others = fact[apart], others[apart]
    width = graph.n_steps * graph.n
    known_of, known = row_entries(graph.ends, asked)
    which, ends = row_entries(graph.ends, others)
    both = among(place[fact[which]] * width + ends, np.sort(known_of * width + known))
    both &= ends % graph.n != sampled[fact[which], 1]  # all variables stand for distinct constants
    pairs = distinct_keys(fact[which[both]] * graph.n_steps + ends[both] // graph.n)
    times = np.bincount(pairs % graph.n_steps, minlength=graph.n_steps)
    found: list[int] = np.flatnonzero(times >= least).tolist()
    return found


def _select(
    graph: Graph,
    step: int,
    bodies: Sequence[Body],
    connected: Connections | None,
    plan: CompletionPlan,
    rng: np.random.Generator,
) -> tuple[list[Body], int]:
    """The most significant and the most confident bodies, by estimates on few starts first, then on more.

    Of bodies that cover the same pairs with the same groundings the shortest is kept. Together they cover
    at most about `sizes.covered` pairs from a start. With them comes how many were left out for their size.
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
    # Where walks are few, it takes many starts to find a chain that is right for few.
    probed = int(
        np.clip(
            config.sizes.probes / max(1.0, walks[fits].sum()), config.probed, _MOST_PROBES * config.probed
        )
    )
    for size, times in ((probed // 4, _SHORTLIST), (probed, 1)):
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
    # Bodies that cover many pairs are costly to count and to rank by: they must be significant.
    significant = np.flatnonzero((pairs <= _COSTLY) | found.differs(rate))
    by_gain = significant[np.argsort(-(gain / np.maximum(pairs, 1e-9))[significant], kind="stable")]
    kept = np.sort(by_gain[np.cumsum(pairs[by_gain]) <= config.sizes.covered])
    return [bodies[place] for place in kept.tolist()], left_out + len(significant) - len(kept)


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
    """Which bodies may be right more often than chance, or less often: [K].

    Chains of two steps with many walks are judged by the facts that they connect, without
    walking along them; any other body may be.

    Parameters
    ----------
    walks
        The mean number of walks from a start along each body: [K].
    connected
        How many of the sampled facts each chain connects.
    starts
        A sample of starts that have an answer.
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
    # How many facts were sampled for each start.
    per_start = len(graph.pairs(step, "train")) / max(1, int(graph.has_answer(step).sum()))
    rate, scale = base_rate(graph, step), connected.facts[2] / per_start
    least, most = (
        Estimates(np.maximum(scale * ends, n_r), n_r, np.zeros_like(costly))
        for ends in (least_reached(graph, chains, starts), walks[costly])
    )
    may_be = np.ones(len(bodies), dtype=np.bool_)
    may_be[costly] = least.is_useful(rate, lift, against=False) | most.is_useful(rate, lift, against=True)
    return may_be


def least_reached(graph: Graph, chains: Sequence[Sequence[int]], starts: Ints) -> Floats:
    """A lower bound of the mean number of constants that chains of two steps reach from a start: [K].

    A chain reaches at least what its second step reaches from any one constant in between, less the start
    itself. For chains through a hub, that is nearly all.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom
    >>> rows = ["p(a, b)", "p(a, c)", "q(b, d)", "q(b, e)", "q(c, d)", "q(c, f)"]
    >>> graph = Graph.of(FactBase.from_facts(map(parse_atom, rows)))
    >>> least_reached(graph, [(0, 1)], np.array([0])).tolist()  # two of d, e and f, one of which might be a
    [1.0]
    """
    found = np.zeros(len(chains))
    # By first step: the constants in between, and where those of each start begin.
    between_of: dict[int, tuple[Ints, NDArray[np.intp]]] = {}
    for place, (one, two) in enumerate(chains):
        if one not in between_of:
            start, between = row_entries(graph.steps[one], starts)
            between_of[one] = between, np.flatnonzero(np.diff(start, prepend=-1))
        between, first = between_of[one]
        if len(first):
            begins = graph.steps[two].indptr
            ends = np.maximum.reduceat(begins[between + 1] - begins[between], first)
            found[place] = np.maximum(ends - 1, 0).sum()  # one of them may be the start itself
    return found / max(1, len(starts))


def count_walks(graph: Graph, bodies: Sequence[Body], starts: Ints) -> Floats:
    """The mean number of walks along each chain from one of these starts, counted without walking: [K].

    Constants may repeat within a walk. Bodies of other shapes count 0. Chains through hubs have most
    walks: they are costly, and say little about any of the many pairs that they cover.
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
    """The constants that walks reach one step later, and how many walks reach each."""
    which, end = row_entries(graph.steps[step], at[0])
    constants, place = np.unique(end, return_inverse=True)
    return constants, np.bincount(place, at[1][which], len(constants)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Estimates:
    """Counts of bodies on a sample of the starts of a direction."""

    n_b: Floats  #: [K], covered pairs
    n_r: Floats  #: [K], those of them that are training facts
    signature: Ints  #: [K], a hash of the covered pairs with their numbers of groundings

    @property
    def confidence(self) -> Floats:
        """N_r / (N_b + 1): [K]."""
        return smoothed_confidence(self.n_b, self.n_r)

    def take(self, places: Ints) -> Estimates:
        """The estimates of some of the bodies."""
        return Estimates(self.n_b[places], self.n_r[places], self.signature[places])

    def is_useful(self, rate: float, lift: float, against: Bools | bool) -> Bools:
        """Which bodies may be right `lift` times as often as chance, within the error of the estimate: [K].

        Chance is `rate`, the share of facts among all pairs. Bodies marked in `against`, [K], are
        useful as evidence against their head, too: if they are right less often than chance.
        """
        wanted = min(lift * rate, (1 + rate) / 2)  # halfway to certainty where chance is high
        lifted = (self.n_r > 0) & (self._share + _STANDARD_ERRORS * self._error >= wanted)
        return (self.n_b > 0) & (lifted | (against & (self._share + _STANDARD_ERRORS * self._error < rate)))

    def differs(self, rate: float) -> Bools:
        """Which bodies are significantly more or less often right than chance: [K]."""
        return np.abs(self._share - rate) > _STANDARD_ERRORS * self._error

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
