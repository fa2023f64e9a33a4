"""The connected parts of a graph."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["components"]


def components(edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    """The nodes that edges join, whichever way they run, part by part.

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
