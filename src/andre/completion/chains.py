"""Chains (relational paths) found bottom-up: walks that join the two ends of sampled facts of a target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from andre.arrays import Ints, distinct_keys, ranges
from andre.completion.bodies import Body, row_entries
from andre.completion.graph import Graph
from andre.limits import check

if TYPE_CHECKING:
    from andre.completion.config import CompletionPlan

#: Walks from one constant: the steps of each as one number in base S, and the constant that it ends at.
_Reached: TypeAlias = tuple[Ints, Ints]
#: The most walks of three steps from a constant from which chains of five are searched: between hubs
#: nearly every chain exists.
_FAR = 20_000
#: After so many facts in a row without a new chain, the search ends.
_SATURATED = 25


def long_bodies(graph: Graph, step: int, plan: CompletionPlan) -> list[Body]:
    """The chains that connect most sampled facts of a direction, for each length of the plan."""
    pairs = graph.pairs(step, "train")
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if not plan.chains or not plan.lengths or not len(pairs):
        return []
    rng, most = np.random.default_rng((plan.config.seed, step)), plan.config.chain_facts
    sampled = pairs[rng.choice(len(pairs), min(len(pairs), most), replace=False)]
    chosen: list[Body] = []
    found = connecting_chains(graph, sampled, plan.lengths, plan.config.sizes.meetings)
    for length in plan.lengths:
        chosen += _most_common(graph, found.times[length], length, plan)
    return chosen


@dataclass(frozen=True)
class Connections:
    """How many of some sampled facts each chain connects."""

    times: dict[int, Counter[int]]  #: facts connected by each chain, by its length and its number in base S
    facts: Counter[int]  #: facts searched for chains of each length


def connecting_chains(graph: Graph, pairs: Ints, lengths: Sequence[int], meetings: int) -> Connections:
    """How many of some facts each chain connects; its steps are the digits of a number in base S.

    A bidirectional search: for each fact, walks of one to three steps from its start
    meet walks of one or two steps back from its end, none of which uses the fact itself.
    The search ends early if facts show no new chains. Chains of two steps are searched
    from the end with fewer facts, so that the facts of hubs are not listed.

    Parameters
    ----------
    pairs
        Starts and ends of facts: [N, 2].
    lengths
        Numbers of steps, from two to five.
    meetings
        Facts whose walks meet in more ways are skipped: between hubs nearly every
        chain exists.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom
    >>> rows = map(parse_atom, ["p(a, b)", "q(b, c)", "h(a, c)"])
    >>> graph = Graph.of(FactBase.from_facts(rows))
    >>> found = connecting_chains(graph, graph.pairs(2, "train"), (2,), 100)
    >>> [steps_of(code, 2, graph) for code in found.times[2]]
    [(0, 1)]
    """
    found: dict[int, Counter[int]] = {length: Counter() for length in lengths}
    facts = Counter[int]()
    longer = [length for length in lengths if length > 2]
    quiet, there, home = 0, (max(lengths) + 1) // 2, max(lengths) // 2
    for x, y in pairs.tolist():
        check()
        before = sum(map(len, found.values()))
        joined = {2: _by_two_steps(graph, x, y, meetings)} if 2 in found else {}
        if longer:
            out, back = _walks(graph, x, y, there, meetings), _walks(graph, y, x, home, meetings)
        for length in longer:
            meet = out[(length + 1) // 2 - 1], back[length // 2 - 1]
            joined[length] = _meeting(graph, *meet, length, meetings)
        for length, chains in joined.items():
            facts[length] += chains is not None
            found[length].update(chains or ())
        quiet = 0 if sum(map(len, found.values())) > before else quiet + 1
        if quiet == _SATURATED:
            break
    return Connections(found, facts)


def steps_of(code: int, length: int, graph: Graph) -> tuple[int, ...]:
    """The steps of a chain from its number in base S."""
    return tuple(code // graph.n_steps**place % graph.n_steps for place in reversed(range(length)))


def steps_to(graph: Graph, start: int, ends: Ints) -> tuple[Ints, Ints]:
    """The steps from a constant to some others: the position of each in `ends`, and the step.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom
    >>> graph = Graph.of(FactBase.from_facts(map(parse_atom, ["p(a, b)", "p(a, c)", "q(c, a)"])))
    >>> [found.tolist() for found in steps_to(graph, 0, np.array([2, 0]))]  # from a to c
    [[0, 0], [0, 3]]
    """
    n, row = graph.n, graph.ends.indices[slice(*graph.ends.indptr[start : start + 2])]
    if len(row) > graph.n_steps * len(ends):  # a hub: look up the facts in question
        keys = (np.arange(graph.n_steps)[:, None] * n + ends).astype(row.dtype)  # [S, E]
        at = np.minimum(np.searchsorted(row, keys), len(row) - 1)
        step, place = np.nonzero(row[at] == keys)
        return place, step
    step, end = np.divmod(row.astype(np.int64), n)
    order = np.argsort(end, kind="stable")
    place, at = ranges(*(np.searchsorted(end[order], ends, side) for side in ("left", "right")))
    return place, step[order[at]]


def _by_two_steps(graph: Graph, x: int, y: int, most: int) -> list[int] | None:
    """The distinct chains of two steps from x to y; None if there are too many walks."""
    count, turned = graph.n_steps, graph.degrees[x] > graph.degrees[y]
    few, many = (y, x) if turned else (x, y)
    _, ends = row_entries(graph.ends, np.array([few]))
    ends = ends[ends % graph.n != many]
    place, last = steps_to(graph, many, ends % graph.n)
    if len(place) > most:
        return None
    first = ends[place] // graph.n
    if turned:
        first, last = last, first
    chains = first * count + (last + len(graph.relations)) % count
    found: list[int] = distinct_keys(chains, count**2).tolist()
    return found


def _walks(graph: Graph, x: int, y: int, length: int, most: int) -> list[_Reached]:
    """Walks from x of one step, two steps, ..., over distinct constants other than y; none if too many."""
    n, steps, walked = graph.n, np.zeros(1, dtype=np.int64), [np.array([x])]
    found: list[_Reached] = []
    for bound in (most, most, _FAR)[:length]:
        if found and graph.degrees[walked[-1]].sum() > bound:
            steps, walked = steps[:0], [before[:0] for before in walked]
        walk, ends = row_entries(graph.ends, walked[-1])
        step, end = np.divmod(ends, n)
        kept = end != y
        for before in walked:
            kept &= before[walk] != end
        walk, step, end = walk[kept], step[kept], end[kept]
        steps, walked = steps[walk] * graph.n_steps + step, [*(before[walk] for before in walked), end]
        found.append((steps, end))
    return found


def _meeting(graph: Graph, outward: _Reached, inward: _Reached, length: int, most: int) -> list[int] | None:
    """The distinct chains of `length` steps: outward walks that meet reversed inward ones.

    None if they meet in too many ways.
    """
    order = np.argsort(inward[1], kind="stable")
    codes, ends = inward[0][order], inward[1][order]
    low, high = (np.searchsorted(ends, outward[1], side) for side in ("left", "right"))
    if int((high - low).sum()) > most:
        return None
    which, place = ranges(low, high)
    count, back = graph.n_steps, length // 2  # steps of `inward`
    reversed_ = np.zeros_like(codes)
    for _ in range(back):
        reversed_ = reversed_ * count + (codes % count + len(graph.relations)) % count
        codes = codes // count
    chains = outward[0][which] * count**back + reversed_[place]
    found: list[int] = distinct_keys(chains, count**length).tolist()
    return found


def _most_common(graph: Graph, times: Counter[int], length: int, plan: CompletionPlan) -> list[Body]:
    """The chains that connect most facts; of four steps and more, those with few walks."""
    chosen: list[Body] = []
    for code, found in times.most_common():
        if found < plan.config.support or len(chosen) == plan.chains:
            break
        steps = steps_of(code, length, graph)
        if length < 4 or _count_walks(graph, steps) <= plan.config.sizes.walks:
            chosen.append(Body("path", steps))
    return chosen


def _count_walks(graph: Graph, steps: Sequence[int]) -> float:
    """How many walks there are along a chain, constants repeating or not."""
    onward = np.ones(graph.n)
    for step in reversed(steps):
        onward = graph.steps[step] @ onward
    return float(onward.sum())
