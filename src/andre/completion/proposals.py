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
from scipy.sparse import csr_matrix, diags

from andre.arrays import Bools, Floats, Ints, among
from andre.completion.bodies import ANY, Body, Walks, csr_coordinates, row_entries
from andre.completion.chains import connecting_chains, long_bodies, steps_of
from andre.completion.config import CompletionPlan
from andre.completion.graph import Graph
from andre.evaluation import smoothed_confidence
from andre.limits import check

#: Standard errors that an estimate may be off by.
_SURE = 2.0
#: How many times as many starts as are set are looked at where walks are few.
_MOST = 20
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
    starts = np.unique(pairs[:, 0])
    _, ends = row_entries(graph.ends, starts)
    return [Body("path", (one,)) for one in np.unique(ends // graph.n).tolist() if one != step]


def _pairs_of_literals(graph: Graph, step: int, sampled: Ints) -> list[Body]:
    """Two literals about X and Y that hold together for two facts or more."""
    times: dict[tuple[int, int], int] = {}
    for x, y in sampled.tolist():
        _, ends = row_entries(graph.ends, np.array([x]))
        between = (ends[ends % graph.n == y] // graph.n).tolist()
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
        for side, ends in ((0, sampled[:, 0]), (1, sampled[:, 1])):
            _, led = row_entries(graph.ends, np.unique(ends))
            for one in np.unique(led // graph.n).tolist():
                alike = (one, graph.inverse(one))
                chains.append((step, *alike) if side else (*alike, step))
    return [*(Body("path", steps) for steps in chains), *long_bodies(graph, step, plan)]


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
    n, true = graph.n, graph.keys(step, "train")
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


def significance(n_b: NDArray[np.floating], n_r: NDArray[np.floating], rate: float | Floats) -> Floats:
    """The log-likelihood ratio of a body's own rate against a base rate, in nats.

    Large for bodies that speak for the head, and for those that speak against it.

    Examples
    --------
    >>> one = np.array([10.0], dtype=np.float32)
    >>> [round(float(significance(one, right * one, 0.5)[0]), 2) for right in (0.5, 1, 0)]
    [0.0, 6.93, 6.93]
    """
    b, r = n_b.astype(np.float64), n_r.astype(np.float64)
    share = np.clip(r / np.maximum(b, 1), 1e-9, 1 - 1e-9)
    rate = np.clip(rate, 1e-9, 1 - 1e-9)
    return np.asarray(r * np.log(share / rate) + (b - r) * np.log((1 - share) / (1 - rate)))


def base_rate(graph: Graph, step: int) -> float:
    """The share of training facts among all pairs of a start that has an answer and any constant."""
    pairs = graph.pairs(step, "train")
    return len(pairs) / max(1, len(np.unique(pairs[:, 0])) * graph.n)


def best_places(values: NDArray[np.floating], most: int) -> NDArray[np.intp]:
    """Places of the highest positive values."""
    order = np.argsort(-values, kind="stable")[:most]
    return order[values[order] > 0]


def constant_bodies(graph: Graph, step: int, plan: CompletionPlan) -> list[Body]:
    """The most significant bodies of shape `to` for one step as a target: h(X, c) where b(X, e).

    One product of sparse matrices counts all of them: of the starts that lead
    to c, how many lead to e by step b. In large bases, as many again say that
    step b leads anywhere.

    Examples
    --------
    >>> from andre.completion import CompletionConfig
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom
    >>> rows = [f"q({x}, yes)" for x in "abcd"] + [f"p({x}, one)" for x in "abcd"] + ["p(z, two)", "q(z, no)"]
    >>> graph = Graph.of(FactBase.from_facts(map(parse_atom, rows)))
    >>> constant_bodies(graph, 0, CompletionPlan.of(graph, CompletionConfig(constants=1)))[0].shape
    'to'
    """
    if not plan.constants:
        return []
    target, n = without_hubs(graph, step, plan.config.sizes.products), graph.n
    if not target.nnz:
        return []
    found = []
    for literals, of_any in ((graph.ends, False), (graph.leads, True)):
        if of_any and not plan.any_constant:
            continue
        right = (target.T @ literals).tocoo()  # [n, S * n or S], c by (b, e) or b
        keep = right.data >= max(plan.config.support, 3)
        # The head atom itself, and its inverse seen from the other side, are no evidence.
        keep &= right.col != (step if of_any else step * n + right.row)
        c, column, n_r = right.row[keep], right.col[keep], right.data[keep]
        has_answer = csr_matrix((np.diff(target.indptr) > 0).astype(np.float32))
        n_b = (has_answer @ literals).toarray().ravel()[column]
        rate = np.asarray(target.sum(axis=0)).ravel()[c] / has_answer.nnz  # of c among all starts
        gain = significance(n_b, n_r, rate.astype(np.float64))
        gain[n_r <= rate * n_b] = -1  # against its head, a constant says what others say better
        for at in best_places(gain, plan.any_constant if of_any else plan.constants).tolist():
            literal = (int(column[at]), ANY) if of_any else divmod(int(column[at]), n)
            found.append(Body("to", (*literal, int(c[at]))))
    return found


def without_hubs(graph: Graph, step: int, most: int) -> csr_matrix:
    """The adjacency matrix of a step, [n, n], without the starts that take most products to count.

    A start adds one at the most to any count, but a hub with many answers and as
    many other facts is looked at in more ways than all others together.
    """
    target = graph.steps[step]
    answers = np.diff(target.indptr).astype(np.int64)
    products = answers * graph.degrees  # [n]
    if products.sum() <= most:
        return target
    order = np.argsort(products, kind="stable")
    kept = np.zeros(graph.n, dtype=np.bool_)
    kept[order[np.cumsum(products[order]) <= most]] = True
    return csr_matrix(diags(kept.astype(np.float32)) @ target)
