"""Facts as a labelled graph: what a row can see of each constant and of each pair."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from andre.errors import DataError
from andre.facts import FactBase, Relation
from andre.grounding.place import Key, evidence_mask
from andre.grounding.sets import Ints, number_keys, number_sets, run_starts, spread
from andre.grounding.space import RuleSpace
from andre.logic import Constant, Variable

__all__ = ["LEVELS", "UNKNOWN", "FactGraph", "Floats", "WideFacts", "build_graph", "levels_of", "value_of"]

Cells: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float64]

#: Probabilities are put on this many even levels, as the network does; a cell is the number of its level.
LEVELS = 64
#: The cell that is neither true nor false.
UNKNOWN = 255
_TRUE = LEVELS - 1


def levels_of(probability: Floats) -> Ints:
    """The nearest level of each probability; halves go down, so that > 0.5 means the same before and after.

    Examples
    --------
    >>> levels_of(np.array([0.0, 0.5, 0.51, 1.0])).tolist()
    [0, 31, 32, 63]
    """
    return np.ceil(probability * (LEVELS - 1) - 0.5).clip(0).astype(np.int64)


def value_of(cells: Cells) -> Floats:
    """The truth values that cells stand for; NaN is unknown."""
    return np.where(cells == UNKNOWN, np.nan, cells / (LEVELS - 1))


@dataclass(frozen=True, eq=False)
class WideFacts:
    """The facts of a relation of three or more arguments, to be looked up."""

    keys: Ints  #: sorted, one for each fact
    levels: Ints
    truths: Floats  #: of the target; NaN elsewhere

    def find(self, keys: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """The place of each key, and whether it is there."""
        place = np.searchsorted(self.keys, keys).clip(max=max(len(self.keys) - 1, 0))
        return place, (self.keys[place] == keys) if len(self.keys) else np.zeros(len(keys), dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class FactGraph:
    """Constants with labels, and pairs of distinct constants with patterns.

    A label is the set of a constant's unary and reflexive facts, of its atoms
    with a given constant, and of the head's places it may stand in. A pattern
    is the set of facts between two constants, in both directions. The cells
    of a row are read off labels and patterns, so rows with equal ones are equal.
    """

    space: RuleSpace
    n: int  #: constants
    labels: Ints  #: [n]
    label_cells: Cells  #: [L, columns]
    label_columns: Mapping[Hashable, int]  #: ("unary", key), ("reflexive", key), atom or ("is", constant)
    label_truth: Floats  #: [L], of target(x) or target(x, x); NaN where it is not stated
    domains: NDArray[np.bool_]  #: [L, head places], where a constant may stand
    starts: Ints  #: [n + 1], the first of each constant's neighbours
    others: Ints  #: [E], the neighbours, in order
    patterns: Ints  #: [E], from 1; 0 is no fact
    pattern_cells: Cells  #: [P, 2 relations], forwards and backwards
    pattern_columns: Mapping[Key, int]  #: of the relation forwards; backwards is the next
    pattern_truth: Floats  #: [P], of target(first, second); NaN where it is not stated
    absent: int  #: the cell of an atom that is neither stated nor denied
    codes: Ints  #: [n], of the constants among the facts
    wide: Mapping[Key, WideFacts] = field(default_factory=dict)
    constant_codes: Mapping[Constant, int] = field(default_factory=dict)  #: of the candidates' constants

    @property
    def target(self) -> Key:
        """Name and arity of the head."""
        return self.space.head.predicate, self.space.head.arity

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.label_cells)

    @property
    def n_patterns(self) -> int:
        """How many patterns there are, the empty one among them."""
        return len(self.pattern_cells)

    @cached_property
    def label_counts(self) -> Ints:
        """How many constants have each label, [L]."""
        return np.bincount(self.labels, minlength=self.n_labels).astype(np.int64)

    @cached_property
    def firsts(self) -> Ints:
        """The constant at which each pair begins, [E]."""
        return np.repeat(np.arange(self.n), np.diff(self.starts))

    @cached_property
    def pair_keys(self) -> Ints:
        """One sorted number for each pair, [E]."""
        return self.firsts * self.n + self.others

    @cached_property
    def reversed_pattern(self) -> Ints:
        """The same pattern seen from the other side, [P]."""
        place = np.zeros(self.n_patterns, dtype=np.int64)
        place[self.patterns] = np.arange(len(self.patterns))
        back = self.pattern_of(self.others[place[1:]], self.firsts[place[1:]])
        return np.concatenate([[0], back]).astype(np.int64)

    def pattern_of(self, first: Ints, second: Ints) -> Ints:
        """The patterns of any pairs of distinct constants."""
        if not len(self.patterns):
            return np.zeros(len(first), dtype=np.int64)
        keys = first * self.n + second
        place = np.searchsorted(self.pair_keys, keys).clip(max=len(self.patterns) - 1)
        return np.where(self.pair_keys[place] == keys, self.patterns[place], 0)

    def domain(self, place: int) -> Ints:
        """The constants that may stand in a place of the head."""
        return np.flatnonzero(self.domains[self.labels, place])


class _Symbols:
    """What is said of constants and of pairs: a symbol is a column and a value."""

    def __init__(self, truths: Floats) -> None:
        self.truths = truths
        self.width = LEVELS + len(truths)
        self.levels = np.concatenate([np.arange(LEVELS), levels_of(truths)])
        self.columns: dict[Hashable, int] = {}
        self.entries: list[tuple[Ints, Ints]] = []  # owners, symbols

    def add(self, column: Hashable, owners: Ints, values: Ints) -> None:
        number = self.columns.setdefault(column, len(self.columns))
        self.entries.append((owners, number * self.width + values))

    def number(self, top: int) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Owners that have symbols, their sets' numbers, and of each set its entries (set, column, value)."""
        owners = np.concatenate([owner for owner, _ in self.entries] or [np.zeros(0, np.int64)])
        symbols = np.concatenate([symbol for _, symbol in self.entries] or [np.zeros(0, np.int64)])
        self.entries.clear()
        used, symbols = number_keys(symbols, max(1, len(self.columns) * self.width))
        if top * max(1, len(used)) >= 2**63:
            raise DataError("there are too many constants to number their pairs: leave some relations out")
        keys = owners * max(1, len(used)) + symbols
        keys.sort()
        owners, symbols = np.divmod(keys, max(1, len(used)))
        begins = np.flatnonzero(np.diff(owners, prepend=-1))
        starts = np.append(begins, len(owners))
        numbers, shown = number_sets(starts, symbols, max(1, len(used)))
        groups, places = spread(starts, shown[1:])
        column, value = np.divmod(used[symbols[places]], self.width)
        return owners[begins], numbers, groups + 1, column, value

    def cells(self, sets: int, absent: int, entries: tuple[Ints, Ints, Ints]) -> Cells:
        table = np.full((sets, len(self.columns)), absent, dtype=np.uint8)
        group, column, value = entries
        table[group, column] = self.levels[value]
        return table

    def truth(self, sets: int, column: Hashable, entries: tuple[Ints, Ints, Ints]) -> Floats:
        group, place, value = entries
        truth = np.full(sets, np.nan)
        chosen = place == self.columns.get(column, -1)
        truth[group[chosen]] = self.truths[value[chosen] - LEVELS]
        return truth


def build_graph(facts: FactBase, space: RuleSpace, codes: Ints, domains: list[Ints]) -> FactGraph:
    """Label constants and pairs by what the candidate atoms can say of them.

    Parameters
    ----------
    codes
        The constants that variables range over.
    domains
        For each place of the head, those it ranges over.
    """
    target = space.head.predicate, space.head.arity
    n = len(codes)
    renumber = np.full(len(facts.constants), -1, dtype=np.int64)
    renumber[codes] = np.arange(n)
    truths = np.unique(_truth(facts.relations[target]))
    of_labels, of_pairs = _Symbols(truths), _Symbols(truths)
    wide: dict[Key, WideFacts] = {}
    constants = _constants_of(space)
    for key, relation in facts.relations.items():
        if key == target or key in {(a.predicate, a.arity) for a in space.atoms}:
            kept = _Kept.of(facts, relation, target, renumber, truths)
            _add(kept, of_labels, of_pairs, wide, n)
            for atom, place, value in constants.get(key, ()):
                code = facts.code(value.value)
                hit = kept.codes[:, place] == (-1 if code is None else renumber[code])
                of_labels.add(atom, kept.codes[hit, 1 - place], kept.values[hit])
    if any(atom.predicate == "<" for atom in space.atoms):
        _add_order(facts, codes, of_pairs)
    for value in _target_constants(space):
        code = facts.code(value.value)
        if code is not None and renumber[code] >= 0:
            of_labels.add(("is", value), renumber[[code]], np.array([_TRUE]))
    for place, domain in enumerate(domains):
        members = renumber[domain]
        of_labels.add(("domain", place), members, np.full(len(members), _TRUE))
    return _finish(space, (codes, n), of_labels, of_pairs, (facts.world == "open", wide, len(domains)))


def _finish(
    space: RuleSpace,
    constants: tuple[Ints, int],
    of_labels: _Symbols,
    of_pairs: _Symbols,
    rest: tuple[bool, dict[Key, WideFacts], int],
) -> FactGraph:
    codes, n = constants
    is_open, wide, places = rest
    target = space.head.predicate, space.head.arity
    absent = UNKNOWN if is_open else 0
    owners, numbers, *found = of_labels.number(n)
    entries = found[0], found[1], found[2]
    n_labels = int(numbers.max(initial=0)) + 1
    labels = np.zeros(n, dtype=np.int64)
    labels[owners] = numbers
    cells = of_labels.cells(n_labels, absent, entries)
    domains = np.zeros((n_labels, places), dtype=np.bool_)
    for place in range(places):
        domains[:, place] = cells[:, of_labels.columns["domain", place]] == _TRUE
    kind = "unary" if target[1] == 1 else "reflexive"
    label_truth = of_labels.truth(n_labels, (kind, target), entries)
    pairs, patterns, *found = of_pairs.number(n * n)
    entries = found[0], found[1], found[2]
    n_patterns = int(patterns.max(initial=0)) + 1
    firsts, others = np.divmod(pairs, max(1, n))
    columns = {key[0]: column for key, column in of_pairs.columns.items() if isinstance(key, tuple) and key[1]}
    return FactGraph(
        space=space,
        n=n,
        labels=labels,
        label_cells=cells,
        label_columns=of_labels.columns,
        label_truth=label_truth,
        domains=domains,
        starts=run_starts(firsts, n),
        others=others,
        patterns=patterns,
        pattern_cells=of_pairs.cells(n_patterns, absent, entries),
        pattern_columns=columns,
        pattern_truth=of_pairs.truth(n_patterns, (target, True), entries),
        absent=absent,
        codes=codes,
        wide=wide,
    )


def seen_constants(facts: FactBase) -> Ints:
    """The codes of the constants that some fact outside the test facts has."""
    seen = np.zeros(len(facts.constants), dtype=np.bool_)
    for relation in facts.relations.values():
        codes = relation.codes if relation.mark is None else relation.codes[~relation.marked("test")]
        seen[codes.ravel()] = True
    return np.flatnonzero(seen)


def _truth(relation: Relation) -> Floats:
    """How true each fact is: its probability, or 0 where it is denied."""
    truth = np.ones(len(relation)) if relation.probability is None else relation.probability
    return truth if relation.negative is None else np.where(relation.negative, 0.0, truth)


@dataclass(frozen=True, eq=False)
class _Kept:
    """The facts of a relation that a row may read, over the graph's constants."""

    key: Key
    codes: Ints
    values: Ints  #: levels; of the target, positions among its truths, from LEVELS
    levels: Ints
    truths: Floats

    @classmethod
    def of(cls, facts: FactBase, relation: Relation, target: Key, renumber: Ints, truths: Floats) -> _Kept:
        mask = evidence_mask(relation, target)
        truth = _truth(relation)
        levels = levels_of(truth)
        if relation.key != target and facts.world == "closed":
            mask &= levels > 0  # what is false says no more than what is absent
        values = LEVELS + np.searchsorted(truths, truth) if relation.key == target else levels
        stated = truth if relation.key == target else np.full(len(truth), np.nan)
        return cls(relation.key, renumber[relation.codes[mask]], values[mask], levels[mask], stated[mask])


def _add(
    kept: _Kept, of_labels: _Symbols, of_pairs: _Symbols, wide: dict[Key, WideFacts], n: int
) -> None:
    arity = kept.key[1]
    if arity == 1:
        of_labels.add(("unary", kept.key), kept.codes[:, 0], kept.values)
    elif arity == 2:
        first, second = kept.codes.T
        apart = first != second
        of_labels.add(("reflexive", kept.key), first[~apart], kept.values[~apart])
        of_pairs.add((kept.key, True), first[apart] * n + second[apart], kept.values[apart])
        of_pairs.add((kept.key, False), second[apart] * n + first[apart], kept.values[apart])
    else:
        if n**arity >= 2**63:
            raise DataError(f"{kept.key[0]}/{arity} has too many constants to look up: leave it out")
        keys = kept.codes @ n ** np.arange(arity)[::-1]
        order = np.argsort(keys)
        wide[kept.key] = WideFacts(keys[order], kept.levels[order], kept.truths[order])


def _add_order(facts: FactBase, codes: Ints, of_pairs: _Symbols) -> None:
    """State `<` between all numbers: as many facts as there are pairs of them."""
    numbers = [(v, place) for place, c in enumerate(codes.tolist()) if not isinstance(v := facts.constants[c], str)]
    if len(numbers) > 3000:
        raise DataError(
            f"{len(numbers):,} numbers have {len(numbers) ** 2:,} ordered pairs, too many to compare: "
            "leave order out, or group the numbers first"
        )
    pairs = [(a, b) for (v, a), (w, b) in combinations(sorted(numbers), 2) if v < w]
    small, large = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    true = np.full(len(small), _TRUE)
    of_pairs.add((("<", 2), True), small * len(codes) + large, true)
    of_pairs.add((("<", 2), False), large * len(codes) + small, true)


def _constants_of(space: RuleSpace) -> dict[Key, list[tuple[Hashable, int, Constant]]]:
    """The binary candidates that have one constant: atom, its place, its value."""
    found: dict[Key, list[tuple[Hashable, int, Constant]]] = {}
    for atom in space.atoms:
        if atom.arity == 2 and not atom.is_builtin:
            for place, arg in enumerate(atom.args):
                if isinstance(arg, Constant) and isinstance(atom.args[1 - place], Variable):
                    # Equal for all variables: X1 and X2 in p(X, c) ask the same of a constant.
                    found.setdefault((atom.predicate, 2), []).append((constant_column(atom.predicate, place, arg), place, arg))
    return {key: list(dict.fromkeys(entries)) for key, entries in found.items()}


def constant_column(name: str, place: int, value: Constant) -> Hashable:
    """The column of a label that says whether a constant stands in p(_, value) or p(value, _)."""
    return "with", name, place, value


def _target_constants(space: RuleSpace) -> Iterator[Constant]:
    """Constants in candidates of the target: such an atom may be the head atom itself."""
    found = {
        arg: None
        for atom in space.atoms
        if (atom.predicate, atom.arity) == (space.head.predicate, space.head.arity)
        for arg in atom.args
        if isinstance(arg, Constant)
    }
    yield from found
