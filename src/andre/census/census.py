"""The census: facts become weighted distinct rows, or weighted distinct bags of rows.

The census of some head atoms, which stand for all: for bases whose bags would not fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np

from andre.arrays import Counts, Floats, Ints, number_keys
from andre.census.bags import BagCollector, Weigher, informative, merge_cells
from andre.census.counting import class_bound, count_classes
from andre.census.draw import draw_cells, draw_heads, n_heads
from andre.census.exists import collect_bags
from andre.census.graph import UNKNOWN, Cells, FactGraph, value_of
from andre.census.inner import is_shorter, join_inner
from andre.census.labelling import build_graph, seen_constants
from andre.census.listing import list_classes
from andre.census.strata import Classes, Stratum, strata
from andre.errors import ConfigError, DataError
from andre.facts import FactBase
from andre.samples import Language, Membership, RuleSpace, Sample, key_text

__all__ = [
    "Census",
    "Method",
    "Mode",
    "Semantics",
    "bags_follow",
    "census_of",
    "ground",
    "head_domains",
    "n_groundings",
    "sample_census",
    "take_census",
]


#: What an example is: a grounding, or a head atom with the set of its rows.
Semantics: TypeAlias = Literal["rows", "exists"]
#: What is learned: a definition from the background, or rules that complete a knowledge base.
Mode: TypeAlias = Literal["define", "complete"]
#: How groundings are counted: by joins where they can be, one by one, or as is shorter.
Method: TypeAlias = Literal["auto", "count", "list"]

#: Up to this many groundings a list may be shorter than the joins.
_LISTABLE = 10**8


@dataclass(frozen=True, eq=False)
class Census:
    """Distinct rows with their weights; in `exists`, distinct bags of rows with theirs.

    Examples
    --------
    >>> from andre.logic import Atom, Constant
    >>> names = [Constant(name) for name in ("ann", "bob", "cy", "dan")]
    >>> facts = FactBase.from_facts([Atom("p", pair) for pair in zip(names, names[1:])])
    >>> census = take_census(facts, Language.preset("paper", "p/2"), semantics="rows")
    >>> census.groundings, census.dropped, census.distinct, census.positive, census.negative
    (36, 2, 12, 10, 24)
    """

    space: RuleSpace  #: the candidates that are somewhere true
    semantics: Semantics
    cells: Cells  #: [U, m], the levels of the valuations: an eighth of their size
    positives: Floats | Ints  #: [U] in rows, [B] in exists; integers unless labels are probabilities
    negatives: Floats | Ints  #: the same
    groundings: int
    dropped: int | float  #: positives of rows whose atoms are all false, or that identity rules out
    heads: Ints | None = None  #: [B], in exists how many head atoms have each bag
    starts: Ints | None = None  #: [B + 1], in exists where the rows of each bag begin
    rows: Ints | None = None  #: places in `cells`, in order within a bag
    corrupting: bool = False  #: whether negatives weigh the facts they corrupt, not the atoms they are
    sampled: int | None = None  #: how many head atoms were looked at, where these stand for others

    @cached_property
    def valuations(self) -> Floats:
        """The distinct rows as truth values, [U, m]; NaN is unknown."""
        return value_of(self.cells)

    @property
    def distinct(self) -> int:
        """How many distinct rows there are, U."""
        return len(self.cells)

    @property
    def n_examples(self) -> int | float:
        """How many examples there are: groundings less the dropped ones, or head atoms."""
        return self.groundings - self.dropped if self.heads is None else int(self.heads.sum())

    @property
    def positive(self) -> int | float:
        """The weight of all positive examples."""
        return self.positives.sum().item() if self.positives.dtype != object else int(self.positives.sum())

    @property
    def negative(self) -> int | float:
        """The weight of all negative examples."""
        return self.negatives.sum().item() if self.negatives.dtype != object else int(self.negatives.sum())

    def to_sample(self) -> Sample:
        """The examples as a learner takes them."""
        positives, negatives = (np.asarray(w, dtype=np.float64) for w in (self.positives, self.negatives))
        members = heads = None
        if self.starts is not None and self.rows is not None:
            members = Membership(self.starts, np.asarray(self.rows, dtype=np.int64))
        if self.corrupting and self.heads is not None:
            heads = self.heads.astype(np.float64)
        return Sample(self.space, self.valuations, positives, negatives, members, heads)

    def require_both_classes(self) -> Census:
        """Refuse a census from which nothing can be told apart.

        Raises
        ------
        DataError
            Where there is no positive or no negative example.
        """
        for weight, kind in ((self.positive, "positive"), (self.negative, "negative")):
            if not weight > 0:
                raise DataError(
                    f"{key_text((self.space.head.predicate, self.space.head.arity))} has no {kind} examples "
                    f"in {self.semantics}: add facts of both kinds, or use the other semantics"
                )
        return self

    def split(self, share: float, seed: int) -> tuple[Census, Census]:
        """Divide the examples at random: a share of them, and the rest.

        Every choice of examples is equally likely. In exists, head atoms are
        divided, and the weight of a bag goes with the number of its atoms.
        """
        if not 0 < share < 1:
            raise ConfigError(f"the share {share:g} divides nothing: give a number between 0 and 1")
        rng = np.random.default_rng(seed)
        if self.heads is None:
            cells = np.concatenate([self.positives, self.negatives])
            if cells.dtype == np.float64:
                raise ConfigError("rows with probabilities as labels cannot be counted out: split the facts")
            drawn = draw_cells(cells, share, rng)
            one, two = np.split(drawn, 2), np.split(cells - drawn, 2)
        else:
            drawn = draw_cells(self.heads, share, rng)
            part = np.asarray(drawn, dtype=np.float64) / self.heads
            one = [part * self.positives, part * self.negatives]
            two = [self.positives - one[0], self.negatives - one[1]]
        taken = self._part(one[0], one[1], None if self.heads is None else drawn)
        return taken, self._part(two[0], two[1], None if self.heads is None else self.heads - drawn)

    def _part(self, positives: Floats | Ints, negatives: Floats | Ints, heads: Ints | None) -> Census:
        part = replace(self, positives=positives, negatives=negatives, heads=heads, dropped=0)
        return replace(part, groundings=int(positives.sum() + negatives.sum())) if heads is None else part


def take_census(
    facts: FactBase,
    language: Language,
    *,
    semantics: Semantics = "exists",
    mode: Mode = "define",
    identity: bool | None = None,
    memory_limit: int = 4 << 30,
    method: Method = "auto",
) -> Census:
    """Count what rows the groundings of a language have, without listing groundings where that can be.

    Parameters
    ----------
    semantics
        `rows`: every grounding is an example, as in the paper. `exists`: every
        head atom is, with the set of its rows; a cell is unknown where the atom
        is the head atom itself.
    mode
        Over which head atoms `exists` ranges: in `define` over the constants of
        the arguments' types, all that is not stated being false; in `complete`
        over all constants, an atom that is not stated weighing as many facts
        as it corrupts. Where negative examples are stated, only these count.
    identity
        Whether all variables stand for different constants; by default in
        `exists` with mode `complete`.
    memory_limit
        How many bytes tables may take.
    method
        `list` visits every grounding; `count` does not where facts are unary
        and binary and a rule has at most two variables more than its head;
        `auto` takes what is shorter. The result is the same.

    Raises
    ------
    DataError, ConfigError
        Where target, language and facts do not fit, or tables outgrow the limit.
    """
    for given, known in ((semantics, Semantics), (mode, Mode), (method, Method)):
        if given not in get_args(known):
            raise ConfigError(f"{given!r} is unknown: choose from {', '.join(get_args(known))}")
    if identity is None:
        identity = semantics == "exists" and mode == "complete"
    graph = ground(facts, language, semantics, mode)
    chosen = [stratum for stratum in strata(language.variables) if stratum.is_distinct or not identity]
    if semantics == "rows":
        return _count_rows(graph, chosen, Weigher.of(facts, graph), (memory_limit, method))
    into = BagCollector(graph, memory=memory_limit)
    weigh = Weigher.of(facts, graph, corrupting=mode == "complete")
    if method == "list" or not bags_follow(graph, language.variables):
        groundings = _list_bags(graph, chosen, into, weigh, method)
    else:
        groundings = n_groundings(graph, language.variables, identity)
        collect_bags(graph, into, weigh, language.variables, identity)
    return census_of(into, groundings, weigh, identity)


def ground(facts: FactBase, language: Language, semantics: Semantics, mode: Mode) -> FactGraph:
    """The facts as a graph, and what head atoms range over in it."""
    space = language.space(facts)
    constants = np.arange(len(facts.constants)) if language.held_out else seen_constants(facts)
    if language.variables > len(constants):
        raise DataError(
            f"there are {language.variables} variables for {len(constants)} constants: use fewer variables"
        )
    domains = head_domains(facts, language, semantics, mode, constants)
    return build_graph(facts, space, constants, domains)


def head_domains(
    facts: FactBase,
    language: Language,
    semantics: Semantics = "exists",
    mode: Mode = "define",
    constants: Ints | None = None,
) -> list[Ints]:
    """For each place of the head, the codes of the constants it ranges over.

    Parameters
    ----------
    constants
        Those that count in `complete`; by default all that are seen in training.
    """
    key = language.key(facts)
    target = facts.relations[key]
    if semantics == "rows":
        return [np.unique(column).astype(np.int64) for column in target.codes[target.marked("train")].T]
    if mode == "complete":
        return [seen_constants(facts) if constants is None else constants] * key[1]
    types = language.types_of(facts)
    found: dict[str, list[Ints]] = {}
    for other, relation in facts.relations.items():
        kept = ~relation.marked("test")
        for kind, column in zip(types[other], relation.codes[kept].T, strict=True):
            found.setdefault(kind, []).append(np.unique(column))
    return [np.unique(np.concatenate(found[kind])).astype(np.int64) for kind in types[key]]


def _count_rows(graph: FactGraph, chosen: list[Stratum], weigh: Weigher, how: tuple[int, Method]) -> Census:
    cells: list[Cells] = []
    counts, truths = [], []
    for classes in _classes(graph, chosen, *how):
        cells.append(classes.cells(graph, self_support=True))
        counts.append(classes.counts)
        truths.append(classes.truth(graph))
    rows, truth = np.concatenate(cells), np.concatenate(truths)
    count: Counts = np.concatenate(counts)
    columns = informative(rows, graph)
    first, group = merge_cells(rows[:, columns])
    for_, against = np.nan_to_num(truth), weigh.negatives(truth, np.ones(len(truth)))
    if np.isin(truth[~np.isnan(truth)], (0.0, 1.0)).all():  # keep to integers, which are exact
        for_, against = for_.astype(np.int64), against.astype(np.int64)
    positives, negatives = (np.zeros(len(first), dtype=(count[:1] * for_[:1]).dtype) for _ in range(2))
    np.add.at(positives, group, count * for_)
    np.add.at(negatives, group, count * against)
    stated = np.array([not atom.is_builtin for atom in graph.space.atoms])[columns]
    distinct = rows[first][:, columns]
    blank = ~((distinct > 0) & (distinct != UNKNOWN))[:, stated].any(axis=1)
    dropped = positives[blank].sum()
    positives[blank] = 0
    kept = np.flatnonzero((positives != 0) | (negatives != 0))
    return Census(
        _narrowed(graph.space, columns),
        "rows",
        distinct[kept],
        positives[kept],
        negatives[kept],
        groundings=int(count.sum()),
        dropped=int(dropped) if positives.dtype != np.float64 else float(dropped),
    )


def _classes(graph: FactGraph, chosen: list[Stratum], memory: int, method: Method) -> Iterator[Classes]:
    """Count where facts are unary or binary and joins are shorter than the list of groundings."""
    if _joins_inner(graph, chosen, method):
        identity = len(chosen) == 1
        found = join_inner(graph, heads=False, identity=identity, memory=memory)
        yield from (one.classes for one in found)
        return
    for stratum in chosen:
        countable = stratum.n_blocks <= 3 and not graph.wide
        if countable and (method == "count" or (method == "auto" and _is_long(graph, stratum))):
            yield count_classes(graph, stratum, memory)
        else:
            yield list_classes(graph, stratum, heads=False, memory=memory).classes


def _joins_inner(graph: FactGraph, chosen: list[Stratum], method: Method) -> bool:
    """Whether two variables beside the head are to be joined rather than listed."""
    arity, variables = graph.space.head.arity, len(chosen[0].block)
    if graph.wide or arity > 2 or variables != arity + 2 or method == "list":
        return False
    return method == "count" or is_shorter(graph)


def _is_long(graph: FactGraph, stratum: Stratum) -> bool:
    """Whether there are more groundings to list than entries to count."""
    size = int(np.prod([allowed[graph.labels].sum() for allowed in stratum.domains(graph)], dtype=object))
    paths = float((np.diff(graph.starts).astype(np.float64) ** 2).sum()) if stratum.n_blocks > 2 else 0.0
    # An entry of a join costs some times what a grounding in a list does.
    return size > min(_LISTABLE, len(graph.patterns) + 8 * (paths + class_bound(graph, stratum)))


def bags_follow(graph: FactGraph, variables: int) -> bool:
    """Whether bags follow from what the arguments of a head atom see."""
    arity = graph.space.head.arity
    return not graph.wide and arity <= 2 and variables <= arity + 1


def n_groundings(graph: FactGraph, variables: int, identity: bool) -> int:
    """How many groundings there are, of one variable more than the head has at most."""
    arity, count = graph.space.head.arity, n_heads(graph, identity)
    return count if variables == arity else count * (graph.n - (arity if identity else 0))


def census_of(into: BagCollector, groundings: int, weigh: Weigher, identity: bool) -> Census:
    """What was collected as a census in `exists`."""
    graph, bags = into.graph, into.finish()
    loops = identity and graph.space.head.arity == 2
    same = np.nan_to_num(graph.label_truth[graph.labels]).sum() if loops else 0
    return Census(
        _narrowed(graph.space, bags.columns),
        "exists",
        bags.cells,
        bags.positives,
        bags.negatives,
        groundings=groundings,
        dropped=float(same) if same % 1 else int(same),
        heads=bags.heads,
        starts=bags.starts,
        rows=bags.rows,
        corrupting=weigh.out is not None,
    )


def _list_bags(
    graph: FactGraph, chosen: list[Stratum], into: BagCollector, weigh: Weigher, method: Method
) -> int:
    """Put the bags of all head atoms into a collector by visiting each of them."""
    memory = into.memory
    if _joins_inner(graph, chosen, method):
        found = join_inner(graph, heads=True, identity=len(chosen) == 1, memory=memory)
    else:
        found = [list_classes(graph, stratum, heads=True, memory=memory) for stratum in chosen]
    heads = np.concatenate([one.heads for one in found if one.heads is not None])
    keys, number = number_keys(heads, graph.n**graph.space.head.arity)
    truth = np.full(len(keys), np.nan)
    truth[number] = np.concatenate([one.classes.truth(graph) for one in found])
    weight = weigh.corrupted(keys // graph.n, keys % graph.n)
    into.open(np.nan_to_num(truth), weigh.negatives(truth, weight), np.ones(len(keys), dtype=np.int64))
    begin = 0
    for one in found:
        into.put(number[begin : begin + len(one.classes)], one.classes)
        begin += len(one.classes)
    return int(sum(one.classes.counts.sum() for one in found))


def _narrowed(space: RuleSpace, columns: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> RuleSpace:
    atoms = tuple(atom for atom, kept in zip(space.atoms, columns, strict=True) if kept)
    if not any(not atom.is_builtin for atom in atoms):
        raise DataError(
            f"no candidate for the body of {space.head} is true anywhere: "
            "allow more variables, relations or recursion"
        )
    return RuleSpace(space.head, atoms)


#: Half of so many are not stated, and these are of four kinds.
_LEAST = 8


def sample_census(
    facts: FactBase,
    language: Language,
    most: int,
    *,
    seed: int = 0,
    mode: Mode = "define",
    identity: bool | None = None,
    memory_limit: int = 4 << 30,
) -> Census:
    """Take the census in `exists` of at most so many head atoms, so that time and memory follow their number.

    Half of them are stated, and the others are evenly of those that something
    connects and those that nothing does. The bags are exact. Weights stand for
    all head atoms: their number is right, what they weigh is in expectation.
    Where there are no more than `most`, this is `take_census`.

    Parameters
    ----------
    language
        Facts are to be unary and binary, and a rule may have one variable more than its head.
    most
        How many head atoms are looked at, 8 or more.
    seed
        Of the draw.
    mode, identity, memory_limit
        As in `take_census`.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> facts = FactBase.from_facts([parse_atom(f"next(c{i}, c{i + 1})") for i in range(99)])
    >>> census = sample_census(facts, Language("next/2"), 200, mode="complete")
    >>> census.sampled, census.n_examples, census.positive
    (200, 9900, 99.0)
    """
    if mode not in get_args(Mode):
        raise ConfigError(f"{mode!r} is unknown: choose from {', '.join(get_args(Mode))}")
    if most < _LEAST:
        raise ConfigError(f"{most} head atoms cannot stand for all kinds of them: draw {_LEAST} or more")
    if identity is None:
        identity = mode == "complete"
    graph, variables = ground(facts, language, "exists", mode), language.variables
    if n_heads(graph, identity) <= most:
        return take_census(facts, language, mode=mode, identity=identity, memory_limit=memory_limit)
    if not bags_follow(graph, variables):
        raise ConfigError(
            "head atoms are drawn only where facts are unary or binary and a rule has at most one variable "
            f"more than its head: use fewer than {variables} variables, or the census of all head atoms"
        )
    into = BagCollector(graph, memory=memory_limit)
    weigh = Weigher.of(facts, graph, corrupting=mode == "complete")
    drawn = draw_heads(graph, weigh, most, seed, inner=variables > graph.space.head.arity, identity=identity)
    collect_bags(graph, into, weigh, variables, identity, drawn)
    whole = census_of(into, n_groundings(graph, variables, identity), weigh, identity)
    return replace(whole, sampled=len(drawn))
