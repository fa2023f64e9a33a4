"""The plan of a census: which strategy serves which groundings, and why. Every choice is made here.

| strategy | what it does | module |
|---|---|---|
| `count` | inclusion and exclusion over joins of pairs, wedges and triangles | `counting` |
| `list` | visits every grounding, in blocks | `listing` |
| `join` | head atom by head atom, joins two grouped inner variables | `inner` |
| `profiles` | in `exists`: bags from what the head's arguments see of their neighbours | `profiles` |
| `reach` | in `exists`: bags of what examples reach by links, for rules of many variables | `reach` |
| `disk` | in `rows`: as `count`, with all joins by DuckDB over Parquet, for facts beyond memory | `on_disk` |

`count`, `disk` and `list` serve one stratum, `join` and `profiles` all strata at once.
The other modules carry out what the plan says; all strategies give the same census.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from andre.arrays import Ints
from andre.census.graph import FactGraph
from andre.census.strata import Stratum, strata
from andre.errors import ConfigError, DataError, check_choice

#: What an example is: a grounding, or a head atom with the set of rows of its groundings.
Semantics: TypeAlias = Literal["rows", "exists"]
#: What is learned: a definition from the background, or rules that complete a knowledge base.
Mode: TypeAlias = Literal["define", "complete"]
#: How groundings are visited: by joins wherever they can be, one by one, or as is shorter.
Method: TypeAlias = Literal["auto", "count", "list"]
Strategy: TypeAlias = Literal["count", "list", "join", "profiles", "reach", "disk"]

#: Up to this many groundings a list may be shorter than the joins.
_LISTABLE = 10**8
#: More groundings than this would take days to list.
_MOST_LISTED = 10**11
#: An entry of a join costs some times what a grounding in a list does.
_JOIN_COST = 8
#: Loading DuckDB takes a second: up to this many paths NumPy joins triangles faster.
_NUMPY_PATHS = 20_000_000
#: Sums below this stay exact in 64 bits, whatever their signs.
_SAFE_INT64 = 2**60


@dataclass(frozen=True)
class Request:
    """What is asked of a census; see `take_census` for the meaning of each."""

    semantics: Semantics = "exists"
    mode: Mode = "define"
    identity: bool | None = None
    memory_limit: int = 4 << 30  #: bytes
    method: Method = "auto"

    def __post_init__(self) -> None:
        for name, known in (("semantics", Semantics), ("mode", Mode), ("method", Method)):
            check_choice(name, getattr(self, name), get_args(known))

    @property
    def distinct(self) -> bool:
        """Whether all variables stand for different constants (object identity)."""
        completes = self.semantics == "exists" and self.mode == "complete"
        return completes if self.identity is None else self.identity


@dataclass(frozen=True)
class Step:
    """Some strata, the strategy that serves them, and the reason in a sentence."""

    strategy: Strategy
    strata: tuple[Stratum, ...]
    why: str
    big_integers: bool = False  #: whether counts need Python's integers, as 64 bits are too few
    duckdb: bool = False  #: whether triangles are joined by DuckDB rather than NumPy

    def __str__(self) -> str:
        served = f" {self.strata[0]}" if len(self.strata) == 1 else f", all {len(self.strata)} strata"
        return f"{self.strategy}{served if self.strata else ''}: {self.why}"


@dataclass(frozen=True)
class Draw:
    """A stratified sample of head atoms that stands for all of them."""

    most: int  #: how many head atoms are drawn
    seed: int = 0
    block: int = 2_000_000  #: head atoms or paths looked at together
    #: Where fewer than one in `rare` pairs is unconnected, listing all pairs beats rejection sampling.
    rare: int = 8
    #: Head atoms that are a kind of their own, so that many of them are seen: [N, arity], codes of facts
    #: none of which is marked.
    also: Ints | None = field(default=None, compare=False)


@dataclass(frozen=True)
class CensusPlan:
    """How a census is taken: a step for every group of strata, in order.

    Examples
    --------
    >>> from andre.census.census import ground
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom
    >>> from andre.samples import Language
    >>> facts = FactBase.from_facts([parse_atom(f"next(c{i}, c{i + 1})") for i in range(99)])
    >>> graph = ground(facts, Language("next/2"), "exists", "define")
    >>> print(plan_census(graph, 3, Request(identity=True)))
    profiles X1, X2, X3: facts are unary or binary, and a rule has at most one variable beside the head's
    """

    request: Request
    variables: int  #: how many a rule may have
    steps: tuple[Step, ...]
    n_heads: int  #: how many head atoms there are
    draw: Draw | None = None  #: None: all head atoms are looked at

    def __str__(self) -> str:
        lines = list(map(str, self.steps))
        if self.draw is not None:
            lines.append(f"draw {self.draw.most:,} of {self.n_heads:,} head atoms, which stand for all")
        return "\n".join(lines)

    @property
    def self_support(self) -> bool:
        """Whether a grounding may use its head atom as evidence: in `rows`, as in the paper."""
        return self.request.semantics == "rows"

    @property
    def corrupting(self) -> bool:
        """Whether a head atom that is no fact weighs as many facts as it corrupts."""
        return self.request.semantics == "exists" and self.request.mode == "complete"

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON takes it."""
        draw = self.draw
        return {
            "semantics": self.request.semantics,
            "identity": self.request.distinct,
            "steps": [
                {"strategy": step.strategy, "strata": list(map(str, step.strata)), "why": step.why}
                for step in self.steps
            ],
            "draw": draw and {"most": draw.most, "of": self.n_heads, "seed": draw.seed},
        }


def plan_census(
    graph: FactGraph,
    variables: int,
    request: Request,
    draw: Draw | None = None,
    *,
    numpy_paths: int = _NUMPY_PATHS,
) -> CensusPlan:
    """Choose a strategy for every stratum of the groundings of a rule's variables.

    Parameters
    ----------
    draw
        The sample that stands for all head atoms, where there are more.
    numpy_paths
        Up to how many paths are joined to triangles by NumPy; DuckDB joins more.

    Raises
    ------
    DataError
        Where groundings would have to be listed and there are too many.
    ConfigError
        Where head atoms would have to be drawn and cannot be: only profiles give bags one by one.
    """
    distinct, arity = request.distinct, graph.space.head.arity
    chosen = tuple(s for s in strata(variables) if s.is_distinct or not distinct)
    heads = _n_heads(graph, distinct)
    if draw is not None and heads <= draw.most:
        draw = None
    joinable = not graph.wide and arity <= 2 and request.method != "list"
    follows = request.semantics == "exists" and joinable and variables <= arity + 1
    if draw is not None and not follows:
        raise ConfigError(
            "head atoms are drawn only where facts are unary or binary and a rule has at most one variable "
            f"more than its head: use fewer than {variables} variables, or the census of all head atoms"
        )
    if follows:
        why = "facts are unary or binary, and a rule has at most one variable beside the head's"
        steps: tuple[Step, ...] = (Step("profiles", chosen, why),)
    elif joinable and variables == arity + 2 and (why := _why_join(graph, request.method)):
        steps = (Step("join", chosen, why),)
    elif request.semantics == "exists":
        steps = tuple(_listed(graph, stratum, _why_list(graph, stratum, request)) for stratum in chosen)
    else:
        steps = tuple(_count_or_list(graph, stratum, request, numpy_paths) for stratum in chosen)
    return CensusPlan(request, variables, steps, heads, draw)


def _n_heads(graph: FactGraph, distinct: bool) -> int:
    """How many head atoms there are; with `distinct`, those with equal arguments are left out."""
    domains = [graph.domain(place) for place in range(graph.space.head.arity)]
    same = len(graph.domain(0, 1)) if distinct and len(domains) == 2 else 0
    return int(np.prod([len(domain) for domain in domains], dtype=object)) - same


def _why_join(graph: FactGraph, method: Method) -> str:
    """Why two inner variables are joined; empty where they are not."""
    if method == "count":
        return "joins were asked for"
    listed, joined = graph.n**2, len(graph.patterns) + graph.n
    if 4 * joined >= listed:
        return ""
    return f"for a head atom, {joined:,} connected pairs are joined instead of {listed:,} pairs listed"


def _why_list(graph: FactGraph, stratum: Stratum, request: Request) -> str:
    """Why a stratum is listed though its groundings may be many."""
    if request.method == "list":
        return "a list was asked for"
    if graph.wide:
        return "relations of three or more arguments have no pairs to join"
    if len(stratum.block) == graph.space.head.arity + 2:
        return "most pairs of constants have facts, so that joins would be no shorter"
    return "there are too many variables to join"


def _count_or_list(graph: FactGraph, stratum: Stratum, request: Request, numpy_paths: int) -> Step:
    """A step for a stratum in `rows`: what is shorter, unless one of both was asked for or is impossible."""
    if request.method == "list" or graph.wide or stratum.n_blocks > 3:
        return _listed(graph, stratum, _why_list(graph, stratum, request))
    size, entries = _n_listed(graph, stratum), _n_joined(graph, stratum)
    if request.method == "count":
        why = "joins were asked for"
    elif size > min(_LISTABLE, entries):
        why = f"{size:,} groundings to list against some {entries:,.0f} entries to join"
    else:
        why = f"{size:,} groundings are quicker to list than some {entries:,.0f} entries to join"
        return Step("list", (stratum,), why)
    paths = 0
    if stratum.n_blocks == 3:
        rises = np.bincount(graph.firsts[graph.upward()[1]], minlength=1)
        paths = int((rises * (rises - 1) // 2).sum())
    duckdb = paths > numpy_paths
    if duckdb:
        why += f"; {paths:,} paths are joined to triangles by DuckDB"
    return Step("count", (stratum,), why, graph.n**stratum.n_blocks >= _SAFE_INT64, duckdb)


def _listed(graph: FactGraph, stratum: Stratum, why: str) -> Step:
    """A step that lists a stratum, unless that would take days."""
    size = _n_listed(graph, stratum)
    if size > _MOST_LISTED:
        raise DataError(
            f"{size:.3g} groundings of {len(stratum.block)} variables are too many to list: "
            "use fewer variables, or relations of at most two arguments"
        )
    return Step("list", (stratum,), why)


def _n_listed(graph: FactGraph, stratum: Stratum) -> int:
    """How many groundings a list of a stratum goes through."""
    return int(np.prod([graph.label_counts[one].sum() for one in stratum.domains(graph)], dtype=object))


def _n_joined(graph: FactGraph, stratum: Stratum) -> float:
    """About how many entries the joins of a stratum go through, in groundings of a list."""
    paths = float((graph.degree.astype(np.float64) ** 2).sum()) if stratum.n_blocks > 2 else 0.0
    classes = int(np.prod([one.sum() for one in stratum.domains(graph)], dtype=object))
    if stratum.n_blocks > 1:
        kinds = min(graph.n_patterns * graph.n_labels**2, len(graph.patterns))
        classes += kinds * (graph.n_labels if stratum.n_blocks > 2 else 1)
    return len(graph.patterns) + _JOIN_COST * (paths + classes)
