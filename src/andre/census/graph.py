"""Facts as a labelled graph, from which every row of a census can be read off.

A constant has a label: its unary and reflexive facts, its atoms with a given
constant, and the places of the head it may stand in. A pair of distinct
constants has a pattern: the facts between them, in both directions. Rows whose
constants have equal labels and whose pairs have equal patterns are equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from andre.arrays import (
    Bools,
    Floats,
    Ints,
    blocks_of,
    csr_entries,
    csr_starts,
    number_keys,
    number_rows,
    number_sets,
)
from andre.errors import DataError
from andre.facts import FactBase, Key, Relation
from andre.inference import number_ranks
from andre.limits import check
from andre.logic import Atom, Constant, Variable
from andre.samples import LARGE, RuleSpace, Valuations

#: Truth values as a row keeps them: the number of a level, HALF or UNKNOWN.
Cells: TypeAlias = NDArray[np.uint8]
#: How many evenly spaced levels probabilities are rounded to, as the network does.
LEVELS = 64
#: The cell of an atom that is certain.
TRUE = LEVELS - 1
#: The cell of an atom at exactly one half, between two levels: neither it nor its negation holds.
HALF = LEVELS
#: Cells from 0 to HALF.
_STATED = HALF + 1
#: The cell of an atom that is neither true nor false.
UNKNOWN = 255
#: The truth value of each cell: one look-up is far faster than arithmetic on millions of cells.
_VALUES: Floats = np.append(np.arange(UNKNOWN) / (LEVELS - 1), np.nan)
_VALUES[HALF] = 0.5
_HALF_PRECISION = _VALUES.astype(np.float16)
#: The order of more numbers than this is too large a table.
_MOST_NUMBERS = 3000


def levels_of(probability: Floats) -> Ints:
    """The nearest level of each probability on its side of one half; HALF for one half itself.

    Examples
    --------
    >>> levels_of(np.array([0.0, 0.49, 0.5, 0.51, 1.0])).tolist()
    [0, 31, 64, 32, 63]
    """
    nearest = np.ceil(probability * (LEVELS - 1) - 0.5).clip(0).astype(np.int64)
    return np.where(probability == 0.5, HALF, nearest)


def value_of(cells: Cells) -> Valuations:
    """The truth values that cells stand for; NaN is unknown.

    In a large table without fractions each takes two bytes.

    Examples
    --------
    >>> value_of(np.array([0, TRUE, UNKNOWN], dtype=np.uint8))
    array([ 0.,  1., nan])
    """
    certain = cells == TRUE
    stated = np.count_nonzero(certain)
    if cells.size >= LARGE and stated + np.count_nonzero(cells == UNKNOWN) == np.count_nonzero(cells):
        return _HALF_PRECISION[cells]
    is_crisp = stated == np.count_nonzero(cells)  # then it takes half the time
    values: Floats = certain.astype(np.float64) if is_crisp else _VALUES[cells]
    return values


@dataclass(frozen=True, eq=False)
class WideFacts:
    """The facts of a relation of three or more arguments, sorted for look-up."""

    keys: Ints  #: one for each fact: its constants as digits to the base n, ascending
    levels: Ints
    truths: Floats  #: stated truth of the target's facts; NaN for other relations

    def find(self, keys: Ints) -> tuple[Ints, Bools]:
        """The index of each key, and whether it is there."""
        place = np.searchsorted(self.keys, keys).clip(max=max(len(self.keys) - 1, 0))
        return place, (self.keys[place] == keys) if len(self.keys) else np.zeros(len(keys), dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class FactGraph:
    """Constants with labels, and pairs of distinct constants with patterns, as CSR rows of neighbours."""

    space: RuleSpace
    n: int  #: number of constants
    labels: Ints  #: [n]
    label_cells: Cells  #: [L, columns]
    #: Columns ("unary", key), ("reflexive", key), `constant_column`, ("is", constant), ("domain", place).
    label_columns: Mapping[Hashable, int]
    label_truth: Floats  #: [L], stated truth of target(x) or target(x, x); NaN where it is not stated
    domains: Bools  #: [L, head places], which places of the head a constant may stand in
    starts: Ints  #: [n + 1], where the neighbours of each constant begin
    others: Ints  #: [E], neighbours, ascending for each constant
    patterns: Ints  #: [E], from 1; pattern 0 is a pair without facts
    pattern_cells: Cells  #: [P, columns], two columns for each relation: forwards and backwards
    pattern_columns: Mapping[Key, int]  #: the column of a relation forwards; backwards is the next
    pattern_truth: Floats  #: [P], stated truth of target(first, second); NaN where it is not stated
    absent: int  #: the cell of an atom that is neither stated nor denied
    codes: Ints  #: [n], the constants' codes among the facts
    wide: Mapping[Key, WideFacts]  #: relations of three or more arguments
    constant_codes: Mapping[Constant, int]  #: the numbers of constants that candidates hold

    @property
    def n_labels(self) -> int:
        """How many labels there are, L."""
        return len(self.label_cells)

    @property
    def n_patterns(self) -> int:
        """How many patterns there are, P, the empty one among them."""
        return len(self.pattern_cells)

    @cached_property
    def place_of(self) -> dict[Variable, int]:
        """The position of each variable in a grounding, the head's first."""
        return {variable: place for place, variable in enumerate(self.space.variables)}

    @cached_property
    def label_counts(self) -> Ints:
        """How many constants have each label, [L]."""
        return np.bincount(self.labels, minlength=self.n_labels).astype(np.int64)

    @cached_property
    def degree(self) -> Ints:
        """How many neighbours each constant has, [n]."""
        return np.diff(self.starts)

    @cached_property
    def firsts(self) -> Ints:
        """The first constant of each pair, [E]; `others` is the second."""
        return np.repeat(np.arange(self.n), self.degree)

    @cached_property
    def pair_keys(self) -> Ints:
        """One ascending key for each pair, [E]."""
        return self.firsts * self.n + self.others

    @cached_property
    def reversed_pattern(self) -> Ints:
        """For each pattern, the pattern of the same facts seen from the second constant, [P]."""
        place = np.zeros(self.n_patterns, dtype=np.int64)
        place[self.patterns] = np.arange(len(self.patterns))
        back = self.pattern_of(self.others[place[1:]], self.firsts[place[1:]])
        return np.concatenate([[0], back]).astype(np.int64)

    def pairs_of(self, first: Ints, second: Ints) -> tuple[Ints, Bools]:
        """The indices of any pairs of distinct constants, and whether they have facts."""
        keys = first * self.n + second
        if not len(self.patterns):
            return np.zeros_like(keys), np.zeros(len(keys), dtype=np.bool_)
        place = np.searchsorted(self.pair_keys, keys).clip(max=len(self.patterns) - 1)
        return place, self.pair_keys[place] == keys

    def pattern_of(self, first: Ints, second: Ints) -> Ints:
        """The patterns of any pairs of distinct constants."""
        place, there = self.pairs_of(first, second)
        return np.where(there, self.patterns[place], 0) if len(self.patterns) else place

    def upward(self) -> tuple[Ints, Ints]:
        """Constants ranked by degree, [n], and the pairs that go up in rank: hubs begin few of these."""
        rank = np.empty(self.n, dtype=np.int64)
        rank[np.argsort(self.degree, kind="stable")] = np.arange(self.n)
        return rank, np.flatnonzero(rank[self.firsts] < rank[self.others])

    def path_blocks(self, starts: Ints, limit: int, *, inner: bool) -> Iterator[Ints]:
        """Cut constants into runs that begin at most `limit` paths: of one step, and if `inner` of two."""
        paths = self.path_counts(starts, inner=inner)
        yield from (starts[begin:end] for begin, end in blocks_of(paths, limit))

    def path_counts(self, starts: Ints, *, inner: bool) -> Ints:
        """How many paths begin with each of these constants: of one step, and if `inner` of two."""
        paths = self.degree
        if inner:
            paths = paths + np.bincount(self.firsts, paths[self.others], self.n).astype(np.int64)
        return paths[starts]

    def connections(self, block: Ints, *, inner: bool) -> tuple[Ints, tuple[Ints, Ints]]:
        """How facts lead from these constants to constants that may stand second in the head.

        Returns
        -------
        tuple
            The pairs that do so in one step, and, if `inner`, the first and the
            second pairs of the paths that do so in two.
        """
        is_end = self.domains[self.labels, 1]
        _, step = csr_entries(self.starts, block)
        direct = step[is_end[self.others[step]]]
        if not inner:
            return direct, (direct[:0], direct[:0])
        again, last = csr_entries(self.starts, self.others[step])
        step = step[again]
        kept = (self.firsts[step] != self.others[last]) & is_end[self.others[last]]
        return direct, (step[kept], last[kept])

    def connected_keys(self, direct: Ints, path: tuple[Ints, Ints]) -> Ints:
        """The key of the head atom, first * n + second, at the ends of each of these `connections`."""
        step, last = path
        return np.concatenate([self.pair_keys[direct], self.firsts[step] * self.n + self.others[last]])

    def domain(self, *places: int) -> Ints:
        """The constants that may stand in each of these places of the head."""
        allowed = np.logical_and.reduce([self.domains[:, place] for place in places])
        return np.flatnonzero(allowed[self.labels])


@dataclass(frozen=True, eq=False)
class NeighbourTypes:
    """The types of every constant's neighbours, as CSR rows; a type is a label and the pattern towards it."""

    label: Ints  #: [T]
    pattern: Ints  #: [T], from the constant to its neighbour
    of_pair: Ints  #: [E], the type of each pair's second constant, as the first sees it
    starts: Ints  #: [n + 1], where the types of each constant begin
    types: Ints  #: the types of each constant, ascending
    counts: Ints  #: how many neighbours of each of these types it has

    @classmethod
    def of(cls, graph: FactGraph) -> NeighbourTypes:
        """Factorize and count the neighbours of all constants."""
        label = graph.labels[graph.others]
        first, of_pair = number_rows([label, graph.patterns])
        width = max(1, len(first))
        seen, entry = number_keys(graph.firsts * width + of_pair, max(1, graph.n * width))
        owner, types = np.divmod(seen, width)
        counts = np.bincount(entry, minlength=len(seen)).astype(np.int64)
        starts = csr_starts(owner, graph.n)
        return cls(label[first], graph.patterns[first], of_pair, starts, types, counts)

    def at(self, constants: Ints) -> tuple[Ints, Ints]:
        """All types at some constants: which of `constants` it is at, and the type."""
        which, entry = csr_entries(self.starts, constants)
        return which, self.types[entry]


def seen_constants(facts: FactBase) -> Ints:
    """The codes of the constants that occur in facts."""
    seen = np.zeros(len(facts.constants), dtype=np.bool_)
    for relation in facts.relations.values():
        seen[relation.codes.ravel()] = True
    return np.flatnonzero(seen)


def constant_column(name: str, place: int, value: Constant) -> Hashable:
    """The label column for p(_, value), where `place` is 1, or p(value, _), where it is 0."""
    return "with", name, place, value


def build_graph(facts: FactBase, space: RuleSpace, codes: Ints, domains: list[Ints]) -> FactGraph:
    """Label constants and pairs by the facts that candidate atoms can read.

    Parameters
    ----------
    codes
        The constants that variables range over.
    domains
        For each argument of the head, the constants it ranges over.
    """
    target, n = space.head.key, len(codes)
    renumber = np.full(len(facts.constants), -1, dtype=np.int64)
    renumber[codes] = np.arange(n)
    truths = np.unique(_truth(facts.relations[target]))
    of_labels, of_pairs = _SparseTable(truths), _SparseTable(truths)
    wide: dict[Key, WideFacts] = {}
    held = _constants(space.atoms)
    known = {c: int(renumber[code]) for c in held if (code := facts.code(c.value)) is not None}
    read = {target, *(atom.key for atom in space.atoms)}
    for key, relation in facts.relations.items():
        if key in read:
            check()
            evidence = _Evidence.of(facts, relation, target, renumber, truths)
            if key[1] > 2:
                wide[key] = evidence.wide(n)
            else:
                evidence.add_to(of_labels, of_pairs, n)
            for place, value in _constants_in(space, key):
                hit = evidence.codes[:, place] == known.get(value, -1)
                column = constant_column(key[0], place, value)
                of_labels.add(column, evidence.codes[hit, 1 - place], evidence.values[hit])
    if any(atom.predicate == "<" for atom in space.atoms):
        _add_order(facts, codes, of_pairs)
    for value in _constants(compress(space.atoms, space.recursive)):
        if known.get(value, -1) >= 0:  # a candidate with this constant may be the head atom itself
            of_labels.add(("is", value), np.array([known[value]]), np.array([TRUE]))
    for place, domain in enumerate(domains):
        of_labels.add(("domain", place), renumber[domain], np.full(len(domain), TRUE))
    absent = UNKNOWN if facts.world == "open" else 0
    label_rows, pair_rows = of_labels.factorize(n), of_pairs.factorize(n * n)
    labels = np.zeros(n, dtype=np.int64)
    labels[label_rows.owners] = label_rows.numbers
    label_cells = label_rows.cells(absent)
    firsts, others = np.divmod(pair_rows.owners, max(1, n))
    return FactGraph(
        space=space,
        n=n,
        labels=labels,
        label_cells=label_cells,
        label_columns=label_rows.columns,
        label_truth=label_rows.truth(("unary" if target[1] == 1 else "reflexive", target)),
        domains=label_cells[:, [label_rows.columns["domain", place] for place in range(target[1])]] == TRUE,
        starts=csr_starts(firsts, n),
        others=others,
        patterns=pair_rows.numbers,
        pattern_cells=pair_rows.cells(absent),
        pattern_columns={
            key: pair_rows.columns[key, True] for key in read if (key, True) in pair_rows.columns
        },
        pattern_truth=pair_rows.truth((target, True)),
        absent=absent,
        codes=codes,
        wide=wide,
        constant_codes=known,
    )


@dataclass(frozen=True, eq=False)
class _DistinctRows:
    """The rows of a sparse table with equal ones merged."""

    owners: Ints  #: [O], those that have values
    numbers: Ints  #: [O], the distinct row of each, from 1; row 0 is empty
    n_rows: int  #: distinct rows, the empty one among them
    row: Ints  #: of each value of each distinct row, the row ...
    column: Ints  #: ... the column ...
    value: Ints  #: ... and the value
    columns: dict[Hashable, int]
    truths: Floats

    def cells(self, absent: int) -> Cells:
        """The distinct rows as a dense table, [rows, columns]."""
        levels = np.concatenate([np.arange(_STATED), levels_of(self.truths)])
        table = np.full((self.n_rows, len(self.columns)), absent, dtype=np.uint8)
        table[self.row, self.column] = levels[self.value]
        return table

    def truth(self, column: Hashable) -> Floats:
        """The truth stated by each distinct row in a column of the target, [rows]; NaN where none is."""
        truth = np.full(self.n_rows, np.nan)
        chosen = self.column == self.columns.get(column, -1)
        truth[self.row[chosen]] = self.truths[self.value[chosen] - _STATED]
        return truth


class _SparseTable:
    """Collects values by owner (a constant or a pair) and column, and merges owners with equal rows.

    A value is a level or HALF; in a column of the target it is _STATED + the index of
    its truth among `truths`, so that probabilities that share a level stay apart.

    Examples
    --------
    >>> table = _SparseTable(np.array([1.0]))
    >>> table.add("tall", np.array([0, 2]), np.array([63, 63]))
    >>> found = table.factorize(3)
    >>> found.owners.tolist(), found.numbers.tolist(), found.cells(absent=0).tolist()
    ([0, 2], [1, 1], [[0], [63]])
    """

    def __init__(self, truths: Floats) -> None:
        self.truths = truths
        self.width = _STATED + len(truths)
        self.columns: dict[Hashable, int] = {}
        self._parts: list[tuple[Ints, Ints]] = []  # owners, and column and value as one number

    def add(self, column: Hashable, owners: Ints, values: Ints) -> None:
        """Set the values of one column for the given owners."""
        number = self.columns.setdefault(column, len(self.columns))
        self._parts.append((owners, number * self.width + values))

    def factorize(self, top: int) -> _DistinctRows:
        """Number the distinct rows of all owners, which are below `top`; the table is emptied."""
        nothing = np.zeros(0, dtype=np.int64)
        owners, entries = (np.concatenate([part[i] for part in self._parts] or [nothing]) for i in (0, 1))
        self._parts.clear()
        used, entries = number_keys(entries, max(1, len(self.columns) * self.width))
        base = max(1, len(used))
        if top * base >= 2**63:
            raise DataError("there are too many constants to number their pairs: leave some relations out")
        keys = owners * base + entries
        del owners, entries  # of ten million facts these take a gigabyte
        keys.sort()
        owners, entries = np.divmod(keys, base)
        begins = np.flatnonzero(np.diff(owners, prepend=-1))
        starts = np.append(begins, len(owners))
        numbers, shown = number_sets(starts, entries, base)
        row, places = csr_entries(starts, shown[1:])
        column, value = np.divmod(used[entries[places]], self.width)
        return _DistinctRows(
            owners[begins], numbers, len(shown), row + 1, column, value, self.columns, self.truths
        )


@dataclass(frozen=True, eq=False)
class _Evidence:
    """The facts of a relation that a row may read, over the graph's constants."""

    key: Key
    codes: Ints  #: [facts, arity]
    values: Ints  #: as a sparse table takes them
    levels: Ints
    truths: Floats  #: of the target's facts; NaN for other relations

    @classmethod
    def of(
        cls, facts: FactBase, relation: Relation, target: Key, renumber: Ints, truths: Floats
    ) -> _Evidence:
        mask, truth = np.ones(len(relation), dtype=np.bool_), _truth(relation)
        levels = levels_of(truth)
        if relation.key != target and facts.world == "closed":
            mask &= levels > 0  # what is false says no more than what is absent
        values = _STATED + np.searchsorted(truths, truth) if relation.key == target else levels
        stated = truth if relation.key == target else np.full(len(truth), np.nan)
        return cls(relation.key, renumber[relation.codes[mask]], values[mask], levels[mask], stated[mask])

    def add_to(self, of_labels: _SparseTable, of_pairs: _SparseTable, n: int) -> None:
        """Unary and reflexive facts go to the labels, the others to the pairs, in both directions."""
        first, second = self.codes[:, 0], self.codes[:, -1]
        apart = first != second
        kind = "unary" if self.key[1] == 1 else "reflexive"
        of_labels.add((kind, self.key), first[~apart], self.values[~apart])
        if self.key[1] == 2:
            of_pairs.add((self.key, True), first[apart] * n + second[apart], self.values[apart])
            of_pairs.add((self.key, False), second[apart] * n + first[apart], self.values[apart])

    def wide(self, n: int) -> WideFacts:
        """The same facts sorted for look-up."""
        name, arity = self.key
        if n**arity >= 2**63:
            raise DataError(f"{name}/{arity} has too many constants to look up: leave it out")
        keys = self.codes @ n ** np.arange(arity)[::-1]
        order = np.argsort(keys)
        return WideFacts(keys[order], self.levels[order], self.truths[order])


def _truth(relation: Relation) -> Floats:
    """The stated truth of each fact: its probability, or 0 where it is denied."""
    return np.where(relation.column("negative"), 0.0, relation.column("probability"))


def _constants(atoms: Iterable[Atom]) -> dict[Constant, None]:
    """The constants of atoms, in order."""
    return {arg: None for atom in atoms for arg in atom.args if isinstance(arg, Constant)}


def _constants_in(space: RuleSpace, key: Key) -> Iterable[tuple[int, Constant]]:
    """Places and values of the constants in binary candidates of a relation that have one variable."""
    return {
        (place, arg): None
        for atom in space.atoms
        if atom.key == key and key[1] == 2
        for place, arg in enumerate(atom.args)
        if isinstance(arg, Constant) and isinstance(atom.args[1 - place], Variable)
    }


def _add_order(facts: FactBase, codes: Ints, of_pairs: _SparseTable) -> None:
    """Add `<` between all numbers: as many facts as there are pairs of them."""
    ranks = number_ranks(facts.constants[code] for code in codes.tolist())
    numbers = np.flatnonzero(ranks >= 0)
    if len(numbers) > _MOST_NUMBERS:
        raise DataError(
            f"{len(numbers):,} numbers have {len(numbers) ** 2:,} ordered pairs, too many to compare: "
            "leave order out, or group the numbers first"
        )
    below = ranks[numbers][:, None] < ranks[numbers]
    small, large = (numbers[places] for places in np.nonzero(below))
    true = np.full(len(small), TRUE)
    of_pairs.add((("<", 2), True), small * len(codes) + large, true)
    of_pairs.add((("<", 2), False), large * len(codes) + small, true)
