"""Tasks on random graphs of several components, some with directed cycles and some without."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from andre.facts.base import FactBase
from andre.facts.tasks.task import Task, facts_of_rows


def components(edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    """The weakly connected components of a graph, each as the list of its nodes.

    Examples
    --------
    >>> components([("a", "b"), ("c", "b"), ("d", "d")])
    [['c', 'a', 'b'], ['d']]
    """
    part_of: dict[str, list[str]] = {}
    for edge in edges:
        one, two = (part_of.setdefault(node, [node]) for node in edge)
        if one is not two:
            one += two
            part_of.update(dict.fromkeys(two, one))
    return list({id(part): part for part in part_of.values()}.values())


def random_edges(sizes: tuple[int, ...], more: float, rng: np.random.Generator) -> list[tuple[str, str]]:
    """The edges of a random graph with a component of each size.

    A component is a tree with further edges, `more` for each of its nodes. In
    every second one edges run either way, so that there are directed cycles; in
    the others they run from earlier to later nodes. One of a single node is a loop.

    Examples
    --------
    >>> random_edges((2, 1), 0, np.random.default_rng(0))
    [('n2', 'n2'), ('n3', 'n1')]
    """
    names = [f"n{number}" for number in 1 + rng.permutation(sum(sizes))]
    edges: set[tuple[str, str]] = set()
    for part, size in enumerate(sizes):
        nodes, names = names[:size], names[size:]
        pairs = [(int(rng.integers(place)), place) for place in range(1, size)]
        free = [(one, two) for two in range(size) for one in range(two) if (one, two) not in pairs]
        extra = min(round(more * size), len(free))
        pairs += [free[place] for place in rng.permutation(len(free))[:extra]]
        if part % 2 == 0:
            pairs = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs]
            pairs += _cycle(size)
        edges.update((nodes[one], nodes[two]) for one, two in pairs or [(0, 0)])
    return sorted(edges, key=lambda edge: [int(node[1:]) for node in edge])


def _cycle(size: int) -> list[tuple[int, int]]:
    """A directed cycle through the first three nodes of a component of more than three."""
    return [(0, 1), (1, 2), (2, 0)] if size > 3 else []


def _nodes(edges: list[tuple[str, str]]) -> list[str]:
    return sorted({node for edge in edges for node in edge}, key=lambda node: int(node[1:]))


def _directed_edge(sizes: tuple[int, ...], more: float, rng: np.random.Generator) -> FactBase:
    edges = random_edges(sizes, more, rng)
    either = {*edges, *((two, one) for one, two in edges)}
    return facts_of_rows(_nodes(edges), {"d_edge": sorted(either), "edge": edges})


def _connectedness(sizes: tuple[int, ...], more: float, rng: np.random.Generator) -> FactBase:
    edges = random_edges(sizes, more, rng)
    connected = [(one, two) for part in components(edges) for one in part for two in part]
    return facts_of_rows(_nodes(edges), {"connectedness": connected, "edge": edges})


DIRECTED_EDGE = Task(
    name="directed_edge",
    summary="Two nodes that an edge joins, whichever way it runs (the paper's d-edge).",
    target="d_edge/2",
    variables=2,
    background=("edge/2",),
    definition="d_edge(X, Y) :- edge(X, Y). d_edge(X, Y) :- edge(Y, X).",
    domains=(
        partial(_directed_edge, (10, 8, 6, 4, 2, 2, 1, 1), 0.8),
        partial(_directed_edge, (28, 22, 18, 14, 10, 6, 2, 2, 2, 1, 1), 0.8),
    ),
)

CONNECTEDNESS = Task(
    name="connectedness",
    summary="Two nodes that a path of edges joins, whichever way they run; so a node with itself, too.",
    target="connectedness/2",
    variables=3,
    background=("edge/2",),
    definition=(
        "connectedness(X, Y) :- edge(X, Y). connectedness(X, Y) :- edge(Y, X). "
        "connectedness(X, Y) :- connectedness(X, Z), connectedness(Z, Y)."
    ),
    domains=(
        # Only parts of two nodes tell that an edge counts both ways: a longer path comes back by itself.
        partial(_connectedness, (13, 8, 6, 4, *[2] * 14, 1, 1), 0.25),
        partial(_connectedness, (32, 24, 18, 14, 10, 6, *[2] * 40, 1, 1), 0.25),
    ),
)
