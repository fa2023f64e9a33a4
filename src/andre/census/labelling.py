"""Symbols: what is said of a constant or a pair, and equal sets of it numbered.

Labelling: from facts to the graph of labels and patterns that rows are read off.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from andre.arrays import Floats, Ints, csr_entries, csr_starts, number_keys, number_sets
from andre.census.graph import LEVELS, TRUE, UNKNOWN, Cells, FactGraph, WideFacts, levels_of
from andre.errors import DataError
from andre.facts import FactBase, Relation
from andre.logic import Constant, Variable
from andre.samples import Key, RuleSpace, evidence_mask

__all__ = ["Entries", "Symbols", "build_graph", "constant_column", "seen_constants"]


@dataclass(frozen=True, eq=False)
class Entries:
    """Owners and the numbers of their sets of symbols, and what each set holds."""

    owners: Ints  #: [O], those that have symbols
    numbers: Ints  #: [O], from 1; 0 is the empty set
    n_sets: int  #: the empty one among them
    group: Ints  #: of each symbol of each set, the set
    column: Ints
    value: Ints


class Symbols:
    """Collects what is said of owners: a symbol is a column and a value.

    A value is a level, or the position of a label's truth after the levels.

    Examples
    --------
    >>> symbols = Symbols(np.array([1.0]))
    >>> symbols.add("tall", np.array([0, 2]), np.array([63, 63]))
    >>> found = symbols.number(3)
    >>> found.owners.tolist(), found.numbers.tolist(), symbols.cells(found, absent=0).tolist()
    ([0, 2], [1, 1], [[0], [63]])
    """

    def __init__(self, truths: Floats) -> None:
        self.truths = truths
        self.width = LEVELS + len(truths)
        self.levels = np.concatenate([np.arange(LEVELS), levels_of(truths)])
        self.columns: dict[Hashable, int] = {}
        self._said: list[tuple[Ints, Ints]] = []  # owners, symbols

    def add(self, column: Hashable, owners: Ints, values: Ints) -> None:
        """Say a column's values of some owners."""
        number = self.columns.setdefault(column, len(self.columns))
        self._said.append((owners, number * self.width + values))

    def number(self, top: int) -> Entries:
        """Number the sets of symbols of all owners, which are below `top`; what was said is forgotten."""
        owners, symbols = (np.concatenate([said[i] for said in self._said] or [_NONE]) for i in (0, 1))
        self._said.clear()
        used, symbols = number_keys(symbols, max(1, len(self.columns) * self.width))
        base = max(1, len(used))
        if top * base >= 2**63:
            raise DataError("there are too many constants to number their pairs: leave some relations out")
        keys = owners * base + symbols
        del owners, symbols  # of ten million facts these take a gigabyte
        keys.sort()
        owners, symbols = np.divmod(keys, base)
        begins = np.flatnonzero(np.diff(owners, prepend=-1))
        starts = np.append(begins, len(owners))
        numbers, shown = number_sets(starts, symbols, base)
        groups, places = csr_entries(starts, shown[1:])
        column, value = np.divmod(used[symbols[places]], self.width)
        return Entries(owners[begins], numbers, len(shown), groups + 1, column, value)

    def cells(self, entries: Entries, absent: int) -> Cells:
        """What each set says in each column, [sets, columns]."""
        table = np.full((entries.n_sets, len(self.columns)), absent, dtype=np.uint8)
        table[entries.group, entries.column] = self.levels[entries.value]
        return table

    def truth(self, entries: Entries, column: Hashable) -> Floats:
        """The label that each set states in a column of the target, [sets]; NaN where it states none."""
        truth = np.full(entries.n_sets, np.nan)
        chosen = entries.column == self.columns.get(column, -1)
        truth[entries.group[chosen]] = self.truths[entries.value[chosen] - LEVELS]
        return truth


_NONE = np.zeros(0, dtype=np.int64)


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
    of_labels, of_pairs = Symbols(truths), Symbols(truths)
    wide: dict[Key, WideFacts] = {}
    constants = _constants_of(space)
    read = {target, *((atom.predicate, atom.arity) for atom in space.atoms)}
    for key, relation in facts.relations.items():
        if key in read:
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
            of_labels.add(("is", value), renumber[[code]], np.array([TRUE]))
    for place, domain in enumerate(domains):
        members = renumber[domain]
        of_labels.add(("domain", place), members, np.full(len(members), TRUE))
    held = {arg for atom in space.atoms for arg in atom.args if isinstance(arg, Constant)}
    places = {value: int(renumber[code]) for value in held if (code := facts.code(value.value)) is not None}
    return _finish(space, codes, of_labels, of_pairs, _Rest(facts.world == "open", wide, places))


@dataclass(frozen=True)
class _Rest:
    is_open: bool
    wide: dict[Key, WideFacts]
    constants: dict[Constant, int]


def _finish(space: RuleSpace, codes: Ints, of_labels: Symbols, of_pairs: Symbols, rest: _Rest) -> FactGraph:
    n, target = len(codes), (space.head.predicate, space.head.arity)
    absent = UNKNOWN if rest.is_open else 0
    labelled = of_labels.number(n)
    labels = np.zeros(n, dtype=np.int64)
    labels[labelled.owners] = labelled.numbers
    cells = of_labels.cells(labelled, absent)
    places = [of_labels.columns["domain", place] for place in range(target[1])]
    kind = "unary" if target[1] == 1 else "reflexive"
    pairs = of_pairs.number(n * n)
    firsts, others = np.divmod(pairs.owners, max(1, n))
    forwards = {key: column for (key, forward), column in _pair_columns(of_pairs) if forward}
    return FactGraph(
        space=space,
        n=n,
        labels=labels,
        label_cells=cells,
        label_columns=of_labels.columns,
        label_truth=of_labels.truth(labelled, (kind, target)),
        domains=cells[:, places] == TRUE,
        starts=csr_starts(firsts, n),
        others=others,
        patterns=pairs.numbers,
        pattern_cells=of_pairs.cells(pairs, absent),
        pattern_columns=forwards,
        pattern_truth=of_pairs.truth(pairs, (target, True)),
        absent=absent,
        codes=codes,
        wide=rest.wide,
        constant_codes=rest.constants,
    )


def _pair_columns(of_pairs: Symbols) -> Iterator[tuple[tuple[Key, bool], int]]:
    for name, column in of_pairs.columns.items():
        assert isinstance(name, tuple)
        yield (name[0], name[1]), column


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


def _add(kept: _Kept, of_labels: Symbols, of_pairs: Symbols, wide: dict[Key, WideFacts], n: int) -> None:
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


def _add_order(facts: FactBase, codes: Ints, of_pairs: Symbols) -> None:
    """State `<` between all numbers: as many facts as there are pairs of them."""
    numbers = [
        (v, place) for place, c in enumerate(codes.tolist()) if not isinstance(v := facts.constants[c], str)
    ]
    if len(numbers) > 3000:
        raise DataError(
            f"{len(numbers):,} numbers have {len(numbers) ** 2:,} ordered pairs, too many to compare: "
            "leave order out, or group the numbers first"
        )
    pairs = [(a, b) for (v, a), (w, b) in combinations(sorted(numbers), 2) if v < w]
    small, large = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    true = np.full(len(small), TRUE)
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
                    found.setdefault((atom.predicate, 2), []).append(
                        (constant_column(atom.predicate, place, arg), place, arg)
                    )
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
