"""The twenty tasks of ∂ILP (Evans and Grefenstette 2018), each learned from few facts.

Ten of them are also the paper's, on domains of other sizes; their names begin with dilp here. A graph
of five nodes or the numbers up to ten are all there is to learn from, and what is not stated is false. Where
the facts are not printed in the paper's appendix (twelve tasks, `grandparent` among them) they are ours, of
about the size that ∂ILP's have, and not its own. Every definition is judged
on a larger domain: longer rows of numbers, and lists, families and graphs that are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from andre.facts.base import FactBase
from andre.facts.tasks.families import FATHER, GRANDPARENT, RELATEDNESS, SON
from andre.facts.tasks.few_worlds import (
    COLOURS,
    adjacent_to_red,
    connected,
    cyclic,
    drawn_families,
    drawn_graph,
    drawn_lengths,
    drawn_members,
    husbands,
    lengths,
    members,
    miscoloured,
    two_children,
    uncles,
)
from andre.facts.tasks.graphs import DIRECTED_EDGE
from andre.facts.tasks.numbers import EVEN, LESS_THAN, ODD, PREDECESSOR, number_domains
from andre.facts.tasks.task import Domain, Task, facts_of_rows


def _stated(facts: FactBase) -> Domain:
    """A domain that is the same for every seed."""

    def give(rng: np.random.Generator) -> FactBase:
        del rng
        return facts

    return give


def _pairs(constants: str, **relations: str) -> FactBase:
    """Facts of two arguments, each written as two letters, with blanks between them."""
    return facts_of_rows(constants, {name: map(tuple, text.split()) for name, text in relations.items()})


def _few(task: Task, domains: tuple[Domain, Domain]) -> Task:
    """A task of the paper from few facts."""
    return Task(
        name=f"dilp_{task.name}",
        summary=f"{task.summary.rstrip('.')}; from few facts.",
        target=task.target,
        variables=task.variables,
        background=task.background,
        definition=task.definition,
        domains=domains,
    )


def _number_task(task: Task, holds: Callable[..., bool], arity: int, lasts: tuple[int, int]) -> Task:
    return _few(task, number_domains(task.target.split("/")[0], holds, arity, lasts))


def _graph_task(
    name: str,
    summary: str,
    definition: str,
    few: str,
    relate: Callable[[list[tuple[str, str]], dict[str, str]], FactBase],
    *,
    colours: str = "",
) -> Task:
    """A task on graphs; few gives the edges to learn from, colours the nodes of each colour."""
    edges: list[tuple[str, str]] = [(pair[0], pair[1]) for pair in few.split()]
    of_node = {node: name for name, nodes in zip(COLOURS, colours.split(), strict=False) for node in nodes}
    facts = relate(edges, of_node)
    keys = [f"{key[0]}/{key[1]}" for key in facts.relations]
    return Task(
        name=f"dilp_{name}",
        summary=summary,
        target=keys[0],
        variables=3,
        background=tuple(keys[1:]),
        definition=definition,
        domains=(_stated(facts), partial(drawn_graph, relate, bool(colours))),
    )


_PRINTED_FATHERS = {
    "father": [("louis", "philip"), ("henry", "elizabeth")],
    "husband": [("henry", "anne"), ("louis", "adele")],
    "mother": [("anne", "elizabeth"), ("adele", "philip")],
    "brother": [("john", "margaret"), ("henry", "louis"), ("philip", "margaret")],
    "aunt": [("howard", "anne"), ("anne", "henry")],
}


def _names(relations: Iterable[list[tuple[str, str]]]) -> list[str]:
    return sorted({name for rows in relations for row in rows for name in row})


_PATH = "path(X, Y) :- edge(X, Y). path(X, Y) :- edge(X, Z), path(Z, Y)."

#: The twenty, in the order of ∂ILP: numbers, lists, families, graphs.
FEW: tuple[Task, ...] = (
    _number_task(PREDECESSOR, lambda x, y: x == y + 1, 2, (9, 40)),
    # The last number of `odd` is odd: see the numbers of the paper's tasks.
    _number_task(ODD, lambda x: x % 2 == 1, 1, (9, 41)),
    _number_task(EVEN, lambda x: x % 2 == 0, 1, (10, 40)),
    _number_task(LESS_THAN, lambda x, y: x < y, 2, (9, 40)),
    Task(
        name="dilp_fizz",
        summary="Multiples of three, from zero by three successors at a time.",
        target="fizz/1",
        variables=4,
        background=("successor/2", "zero/1"),
        definition=(
            "fizz(X) :- zero(X). fizz(X) :- fizz(Y), successor(Y, Z), successor(Z, W), successor(W, X)."
        ),
        domains=number_domains("fizz", lambda x: x % 3 == 0, 1, (9, 41)),
    ),
    Task(
        name="dilp_buzz",
        summary="Multiples of five, where adding two and adding three are known.",
        target="buzz/1",
        variables=3,
        background=("successor/2", "zero/1", "plus_two/2", "plus_three/2"),
        definition="buzz(X) :- zero(X). buzz(X) :- buzz(Y), plus_two(Y, Z), plus_three(Z, X).",
        domains=number_domains("buzz", lambda x: x % 5 == 0, 1, (10, 41), plus_two=2, plus_three=3),
    ),
    Task(
        name="dilp_member",
        summary="What a list holds: its first value, or what its tail holds.",
        target="member/2",
        variables=3,
        background=("value/2", "tail/2"),
        definition="member(X, Y) :- value(Y, X). member(X, Y) :- tail(Y, Z), member(X, Z).",
        domains=(_stated(members([[4, 3, 2, 1], [2, 3, 2, 4]])), drawn_members),
    ),
    Task(
        name="dilp_length",
        summary="How long a list is: one more than its tail.",
        target="length/2",
        variables=4,
        background=("empty/1", "tail/2", "zero/1", "successor/2"),
        definition=(
            "length(X, Y) :- empty(X), zero(Y). length(X, Y) :- tail(X, Z), length(Z, W), successor(W, Y)."
        ),
        domains=(_stated(lengths([3, 4])), drawn_lengths),
    ),
    _few(
        SON,
        (
            _stated(
                _pairs(
                    "abcdefghi",
                    son="ba ca ed",
                    father="ab ac de df gh gi",
                    brother="bc cb ef",
                    sister="fe hi ih",
                )
            ),
            SON.domains[1],
        ),
    ),
    _few(
        GRANDPARENT,
        (
            _stated(
                _pairs(
                    "abcdefghi",
                    grandparent="ib ic ad ae af ag ch",
                    mother="ia cf cg fh",
                    father="ab ac bd be",
                )
            ),
            GRANDPARENT.domains[1],
        ),
    ),
    Task(
        name="dilp_husband",
        summary="Husbands, as fathers of the children that their wives are mothers of.",
        target="husband/2",
        variables=3,
        background=("father/2", "mother/2", "brother/2"),
        definition="husband(X, Y) :- father(X, Z), mother(Y, Z).",
        domains=(
            _stated(
                _pairs(
                    "abcdefghijklm",
                    husband="ab ef kl",
                    father="ac ad eg eh km",
                    mother="bc bd fg fh ij lm",
                    brother="cd gh hg",
                )
            ),
            partial(drawn_families, husbands),
        ),
    ),
    Task(
        name="dilp_uncle",
        summary="Uncles, as brothers of a mother or of a father.",
        target="uncle/2",
        variables=3,
        background=("brother/2", "mother/2", "father/2"),
        definition=(
            "uncle(X, Y) :- brother(X, Z), mother(Z, Y). uncle(X, Y) :- brother(X, Z), father(Z, Y)."
        ),
        domains=(
            _stated(
                _pairs("abdefghij", uncle="ad ae fi", brother="ab de fg gf", mother="bd be", father="gi hj")
            ),
            partial(drawn_families, uncles),
        ),
    ),
    _few(
        RELATEDNESS,
        (
            _stated(
                _pairs(
                    "abcdefgh",
                    related=" ".join(x + y for part in ("abcdef", "gh") for x in part for y in part),
                    parent="ab ac ce cf dc gh",
                )
            ),
            RELATEDNESS.domains[1],
        ),
    ),
    _few(
        FATHER,
        (
            _stated(facts_of_rows(_names(_PRINTED_FATHERS.values()), _PRINTED_FATHERS)),
            FATHER.domains[1],
        ),
    ),
    _few(
        DIRECTED_EDGE,
        (_stated(_pairs("abcd", d_edge="ab ba bd db cc", edge="ab bd cc")), DIRECTED_EDGE.domains[1]),
    ),
    _graph_task(
        "connectedness",
        "Two nodes with a path of edges from one to the other.",
        _PATH.replace("path", "connectedness"),
        "ab bc cd ba",
        connected,
    ),
    _graph_task(
        "adjacent_to_red",
        "Nodes with an edge to a red node.",
        "adjacent_to_red(X) :- edge(X, Y), colour(Y, Z), red(Z).",
        "ab ba cd ce de",
        adjacent_to_red,
        colours="acd be",
    ),
    _graph_task(
        "two_children",
        "Nodes with edges to two different nodes.",
        "two_children(X) :- edge(X, Y), edge(X, Z), Y \\= Z.",
        "ab ac bd cd ce de",
        two_children,
    ),
    _graph_task(
        "graph_colouring",
        "Nodes with an edge to a node of their own colour.",
        "miscoloured(X) :- edge(X, Y), colour(X, Z), colour(Y, Z).",
        "ab bc bd ce ef gh hi",
        miscoloured,
        colours="befi acdgh",
    ),
    _graph_task(
        "cyclic",
        "Nodes on a directed cycle: a path leads from each back to it, which takes an invented predicate.",
        f"cyclic(X) :- path(X, X). {_PATH}",
        "ab bc ca bd de ef fe eg hd",
        cyclic,
    ),
)
