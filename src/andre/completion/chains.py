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
#: Walks of three steps from one constant, beyond which chains of five are not looked for: between hubs
#: nearly every one would be found.
_FAR = 20_000
#: Facts without a chain that was not seen before, after which no more are looked at.
_SATURATED = 25


def long_bodies(graph: Graph, step: int, plan: CompletionPlan) -> list[Body]:
    """The chains that connect most of some sampled facts of a target, for each length of the plan."""
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
    """The chains that connect some facts."""

    times: dict[int, Counter[int]]  #: how many facts each connects, by its length and its number in base S
    facts: Counter[int]  #: how many facts were looked at for chains of each length


def connecting_chains(graph: Graph, pairs: Ints, lengths: Sequence[int], meetings: int) -> Connections:
    """How many of some facts each chain connects, by its length and its steps as one number in base S.

    A bidirectional search: for each fact, walks of one to three steps from its
    start meet walks of one or two steps back from its end. The fact itself is no
    part of a walk. The search ends early where new facts show no new chain. Chains of
    two are found from the end with fewer facts, so that those of a hub are not listed.

    Parameters
    ----------
    pairs
        Starts and ends of facts: [N, 2].
    lengths
        Numbers of steps, from two to five.
    meetings
        Facts whose walks meet in more ways are passed over: between hubs nearly
        every chain would be found.

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
    """The steps that lead from a constant straight to some others: the place of each in `ends`, and the step.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom
    >>> graph = Graph.of(FactBase.from_facts(map(parse_atom, ["p(a, b)", "p(a, c)", "q(c, a)"])))
    >>> [found.tolist() for found in steps_to(graph, 0, np.array([2, 0]))]  # from a to c
    [[0, 0], [0, 3]]
    """
    n, row = graph.n, graph.ends.indices[slice(*graph.ends.indptr[start : start + 2])]
    if len(row) > graph.n_steps * len(ends):  # of a hub: the facts that are asked about are looked up
        keys = (np.arange(graph.n_steps)[:, None] * n + ends).astype(row.dtype)  # [S, E]
        at = np.minimum(np.searchsorted(row, keys), len(row) - 1)
        step, place = np.nonzero(row[at] == keys)
        return place, step
    step, end = np.divmod(row.astype(np.int64), n)
    order = np.argsort(end, kind="stable")
    place, at = ranges(*(np.searchsorted(end[order], ends, side) for side in ("left", "right")))
    return place, step[order[at]]


def _by_two_steps(graph: Graph, x: int, y: int, most: int) -> list[int] | None:
    """The chains of two steps from x to y, each once; None where there are too many ways."""
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
    """Walks from x of one step, of two and so on, over distinct constants other than y; none of too many."""
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


def _meeting(graph: Graph, there: _Reached, home: _Reached, length: int, most: int) -> list[int] | None:
    """The chains of so many steps by walks that meet, those of `home` turned round, each once.

    None where they meet in too many ways.
    """
    order = np.argsort(home[1], kind="stable")
    codes, ends = home[0][order], home[1][order]
    low, high = (np.searchsorted(ends, there[1], side) for side in ("left", "right"))
    if int((high - low).sum()) > most:
        return None
    which, place = ranges(low, high)
    count, back = graph.n_steps, length // 2  # steps of `home`
    turned = np.zeros_like(codes)
    for _ in range(back):
        turned = turned * count + (codes % count + len(graph.relations)) % count
        codes = codes // count
    chains = there[0][which] * count**back + turned[place]
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
    """How many walks there are along a chain, whether or not a constant occurs twice."""
    onward = np.ones(graph.n)
    for step in reversed(steps):
        onward = graph.steps[step] @ onward
    return float(onward.sum())
