"""Lists, coloured graphs and families, given or drawn, with the targets of ∂ILP's tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from andre.facts.base import FactBase
from andre.facts.relation import Value
from andre.facts.tasks.graphs import random_edges
from andre.facts.tasks.population import Population, populate
from andre.facts.tasks.task import facts_of_rows

Edges = Sequence[tuple[str, str]]

COLOURS = ("red", "green")


def members(lists: Sequence[Sequence[int]]) -> FactBase:
    """Lists of values: every node of a list is a list itself, with its first value and its tail.

    Examples
    --------
    >>> facts = members([[2, 1]])
    >>> sorted(map(str, facts.atoms("member", 2)))
    ['member(1, l1_1)', 'member(1, l1_2)', 'member(2, l1_1)']
    """
    value: list[tuple[Value, ...]] = []
    tail: list[tuple[Value, ...]] = []
    member: set[tuple[Value, ...]] = set()
    for number, values in enumerate(lists, start=1):
        nodes = [f"l{number}_{place}" for place in range(1, len(values) + 1)]
        value += zip(nodes, values, strict=True)
        tail += pairwise(nodes)
        member |= {(held, node) for place, node in enumerate(nodes) for held in values[place:]}
    held = sorted({values for row in lists for values in row})
    constants = [*held, *(node for node, _ in value)]
    return facts_of_rows(constants, {"member": sorted(member, key=str), "value": value, "tail": tail})


def drawn_members(rng: np.random.Generator) -> FactBase:
    """Twelve lists of two to seven of the values from 1 to 9, each value six times in all."""
    values = rng.permutation(np.tile(np.arange(1, 10), 6))
    ends = np.cumsum(np.tile(np.arange(2, 8), 2))
    return members([part.tolist() for part in np.split(values, ends[:-1])])


def lengths(sizes: Sequence[int]) -> FactBase:
    """Lists of these lengths with all their tails down to an empty one, and the numbers up to the longest.

    Examples
    --------
    >>> facts = lengths([1])
    >>> sorted(map(str, facts.atoms("length", 2)))
    ['length(l1_0, 0)', 'length(l1_1, 1)']
    """
    length = [(f"l{number}_{size}", size) for number, most in enumerate(sizes, 1) for size in range(most + 1)]
    tails = [(f"l{number}_{size}", f"l{number}_{size - 1}") for number, most in enumerate(sizes, 1)
             for size in range(1, most + 1)]  # fmt: skip
    largest = max(sizes)
    return facts_of_rows(
        [*range(largest + 1), *(name for name, _ in length)],
        {
            "length": length,
            "empty": [(name,) for name, size in length if not size],
            "tail": tails,
            "zero": [(0,)],
            "successor": [(number, number + 1) for number in range(largest)],
        },
    )


def drawn_lengths(rng: np.random.Generator) -> FactBase:
    """Fourteen lists of three to nine values, in any order."""
    return lengths(rng.permutation(np.tile(np.arange(3, 10), 2)).tolist())


def _of_nodes(
    edges: Edges, colours: Mapping[str, str], target: str, rows: Sequence[tuple[str, ...]]
) -> FactBase:
    """A graph with a target relation over its nodes, and the colours of nodes where it has some."""
    relations: dict[str, Sequence[tuple[Value, ...]]] = {target: rows, "edge": edges}
    nodes = sorted({node for edge in edges for node in edge})
    if not colours:
        return facts_of_rows(nodes, relations)
    relations["colour"] = [(node, colours[node]) for node in nodes]
    return facts_of_rows([*nodes, *COLOURS], relations | {colour: [(colour,)] for colour in COLOURS})


def adjacent_to_red(edges: Edges, colours: Mapping[str, str]) -> FactBase:
    """A coloured graph with the nodes that have an edge to a red one."""
    found = {(one,) for one, two in edges if colours[two] == "red"}
    return _of_nodes(edges, colours, "adjacent_to_red", sorted(found))


def miscoloured(edges: Edges, colours: Mapping[str, str]) -> FactBase:
    """A coloured graph with the nodes that have an edge to one of their own colour."""
    found = {(one,) for one, two in edges if colours[one] == colours[two]}
    return _of_nodes(edges, colours, "miscoloured", sorted(found))


def two_children(edges: Edges, colours: Mapping[str, str]) -> FactBase:
    """A graph with the nodes that have edges to two others or more."""
    found = {(one,) for one, two in edges for same, other in edges if one == same and two != other}
    return _of_nodes(edges, colours, "two_children", sorted(found))


def connected(edges: Edges, colours: Mapping[str, str]) -> FactBase:
    """A graph with all pairs of nodes that a directed path leads between."""
    return _of_nodes(edges, colours, "connectedness", sorted(_closure(edges)))


def cyclic(edges: Edges, colours: Mapping[str, str]) -> FactBase:
    """A graph with the nodes on a directed cycle."""
    found = {(one,) for one, two in _closure(edges) if one == two}
    return _of_nodes(edges, colours, "cyclic", sorted(found))


def _closure(edges: Edges) -> set[tuple[str, str]]:
    """All pairs of nodes that a directed path leads between."""
    found = set(edges)
    while more := {(one, end) for one, two in edges for start, end in found if start == two} - found:
        found |= more
    return found


def drawn_graph(
    relate: Callable[[list[tuple[str, str]], dict[str, str]], FactBase],
    coloured: bool,
    rng: np.random.Generator,
) -> FactBase:
    """A random graph of 44 nodes in several parts, with the target that the function adds."""
    edges = random_edges((16, 12, 8, 4, 2, 2), 0.4, rng)
    nodes = sorted({node for edge in edges for node in edge})
    draws = rng.integers(len(COLOURS), size=len(nodes))
    colours = {node: COLOURS[draw] for node, draw in zip(nodes, draws, strict=True)} if coloured else {}
    return relate(edges, colours)


def husbands(people: Population) -> FactBase:
    """Mothers, fathers and brothers, with the couples who have a child."""
    couples = {(one.father, one.mother) for one in people.people if one.mother and one.father}
    return facts_of_rows(
        people.names,
        {
            "husband": sorted(couples),
            "father": people.fathers,
            "mother": people.mothers,
            "brother": _brothers(people),
        },
    )


def uncles(people: Population) -> FactBase:
    """Mothers, fathers and brothers, with the brothers of parents."""
    brothers = _brothers(people)
    found = {
        (one, child)
        for one, parent in brothers
        for who, child in people.mothers + people.fathers
        if parent == who
    }
    return facts_of_rows(
        people.names,
        {
            "uncle": sorted(found),
            "brother": brothers,
            "mother": people.mothers,
            "father": people.fathers,
        },
    )


def _brothers(people: Population) -> list[tuple[str, str]]:
    return [(one.name, two.name) for one, two in people.siblings if one.is_male]


def drawn_families(relate: Callable[[Population], FactBase], rng: np.random.Generator) -> FactBase:
    """Two families of three generations, with the target that the function adds."""
    return relate(populate((((0, 8), (12, 2), (16, 0)), ((0, 4), (8, 0))), rng))
