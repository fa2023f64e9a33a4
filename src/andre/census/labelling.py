"""Building the graph of a census: constants and pairs that have the same facts get one label, one pattern."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import compress

import numpy as np

from andre.arrays import Floats, Ints, csr_entries, csr_starts, number_keys, number_sets
from andre.census.cells import STATED, TRUE, UNKNOWN, Cells, levels_of
from andre.census.graph import FactGraph, WideFacts
from andre.errors import DataError
from andre.facts import FactBase, Key, Relation
from andre.inference import number_ranks
from andre.limits import check
from andre.logic import Atom, Constant, Variable
from andre.samples import RuleSpace

#: The order of more numbers than this is too large a table.
_MOST_NUMBERS = 3000


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
    named = _constants(space.atoms)
    known = {c: int(renumber[code]) for c in named if (code := facts.code(c.value)) is not None}
    read = {target, *(atom.key for atom in space.atoms)}
    wide: dict[Key, WideFacts] = {}
    for key in [key for key in facts.relations if key in read]:
        check()
        evidence = _Evidence.of(facts, facts.relations[key], target, renumber, truths)
        if key[1] > 2:
            wide[key] = evidence.wide(n)
        else:
            evidence.add_to(of_labels, of_pairs, n)
        _add_atoms_with_constants(space, evidence, known, of_labels)
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
        levels = np.concatenate([np.arange(STATED), levels_of(self.truths)])
        table = np.full((self.n_rows, len(self.columns)), absent, dtype=np.uint8)
        table[self.row, self.column] = levels[self.value]
        return table

    def truth(self, column: Hashable) -> Floats:
        """The truth stated by each distinct row in a column of the target, [rows]; NaN where none is."""
        truth = np.full(self.n_rows, np.nan)
        chosen = self.column == self.columns.get(column, -1)
        truth[self.row[chosen]] = self.truths[self.value[chosen] - STATED]
        return truth


class _SparseTable:
    """Collects values by owner (a constant or a pair) and column, and merges owners with equal rows.

    A value is a level or HALF; in a column of the target it is STATED + the index of
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
        self.width = STATED + len(truths)
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
        values = STATED + np.searchsorted(truths, truth) if relation.key == target else levels
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


def _add_atoms_with_constants(
    space: RuleSpace, evidence: _Evidence, known: Mapping[Constant, int], of_labels: _SparseTable
) -> None:
    """Add the facts of a relation that candidates of one variable and one constant read, such as p(X, c)."""
    columns = {
        (place, arg): None
        for atom in space.atoms
        if atom.key == evidence.key and atom.arity == 2
        for place, arg in enumerate(atom.args)
        if isinstance(arg, Constant) and isinstance(atom.args[1 - place], Variable)
    }
    for place, value in columns:
        hit = evidence.codes[:, place] == known.get(value, -1)
        column = constant_column(evidence.key[0], place, value)
        of_labels.add(column, evidence.codes[hit, 1 - place], evidence.values[hit])


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
