"""Facts from graphs of networkx: edges and what is known of nodes."""

from __future__ import annotations

import numbers
from typing import Any

from andre.errors import DataError
from andre.facts.base import FactBase
from andre.facts.build import Builder, Place, as_names
from andre.facts.formats.columns import add_table

#: Attributes of edges that name their relation, the first that an edge has.
_RELATION = ("relation", "type", "label", "predicate")


def is_graph(source: object) -> bool:
    """Whether this is a graph of networkx, or has the same methods."""
    return all(hasattr(source, name) for name in ("edges", "nodes", "is_directed", "is_multigraph"))


def from_graph(graph: Any) -> FactBase:
    """The facts of a graph.

    An edge is `edge(one, other)`, or of the relation that its attribute `relation`, `type`, `label` or
    `predicate` names, or its key in a multigraph; undirected ones hold both ways. An attribute of nodes is
    `attribute(node, value)`, or `attribute(node)` where it is true.

    Examples
    --------
    >>> import networkx
    >>> graph = networkx.DiGraph([("ann", "bob")])
    >>> graph.add_edge("bob", "cy", relation="likes", since=1999)
    >>> graph.add_node("ann", age=9, member=True)
    >>> facts = from_graph(graph)
    >>> sorted(str(atom) for key in facts.relations for atom in facts.atoms(*key))
    ['age(ann, 9)', 'edge(ann, bob)', 'likes(bob, cy)', 'member(ann)']
    >>> print(*facts.notes)
    what edges say beside their relation is left out: since
    """
    found: dict[tuple[str, int], list[tuple[Any, ...]]] = {}
    beside: dict[str, None] = {}
    odd: dict[str, None] = {}
    for node, told in graph.nodes(data=True):
        for name, value in told.items():
            if isinstance(value, bool):
                row: tuple[Any, ...] | None = (node,) if value else None
            else:
                row = (node, value) if isinstance(value, str | numbers.Real) and value != "" else None
                if row is None and value is not None and value != "":
                    odd[str(name)] = None
            if row is not None:
                found.setdefault((str(name), len(row)), []).append(row)
    keyed = {"keys": True} if graph.is_multigraph() else {}
    for one, other, *key, told in graph.edges(data=True, **keyed):
        by = next((name for name in _RELATION if isinstance(told.get(name), str)), None)
        named = told[by] if by is not None else next((one for one in key if isinstance(one, str)), "edge")
        beside |= {str(name): None for name in told if name != by}
        rows = found.setdefault((named, 2), [])
        rows += [(one, other)] if graph.is_directed() or one == other else [(one, other), (other, one)]
    if not found:
        raise DataError("the graph has no edges, and nothing is said of its nodes: add some")
    builder = Builder()
    for (name, _), rows in found.items():
        cells = zip(*rows, strict=True)
        columns = {f"arg{place}": list(map(_constant, own)) for place, own in enumerate(cells, 1)}
        add_table(builder, name, columns, Place(f"the graph, {name}", range(len(rows)), "fact"))
    if beside:
        builder.remarks.append(f"what edges say beside their relation is left out: {', '.join(beside)}")
    if odd:
        builder.remarks.append(f"values of nodes that are no text or number are left out: {', '.join(odd)}")
    return builder.finish(as_names)


def _constant(cell: Any) -> Any:
    return cell if isinstance(cell, str | numbers.Real) else str(cell)
