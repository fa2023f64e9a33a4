"""Symbols: what is said of a constant or a pair, and equal sets of it numbered."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from andre.errors import DataError
from andre.grounding.cells import LEVELS, Cells, Floats, levels_of
from andre.grounding.sets import Ints, number_keys, number_sets, spread

__all__ = ["Entries", "Symbols"]


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
        groups, places = spread(starts, shown[1:])
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
