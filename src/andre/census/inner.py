"""Two variables beside the head's: head atom by head atom, grouped before they are joined.

Seen from a head atom, every constant has a type: its label and its patterns
towards the head's constants, or which of them it is. Two inner variables meet
in a pattern, are equal, or have no fact between them. Meetings of the first
two kinds are counted from the graph's pairs and constants; the last is all
pairs of types less those. So a head atom costs the pairs of the graph, not the
square of its constants.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from andre.arrays import Ints, csr_entries, csr_starts, number_keys, number_rows
from andre.census.graph import FactGraph
from andre.census.listing import check_memory, head_keys
from andre.census.strata import Classes, Counted, Stratum
from andre.limits import check

#: Entries looked at together; more would leave the cache.
_BLOCK = 300_000
#: A dense table of meetings pays up to this many cells for each entry that is looked at.
_DENSE = 4


def join_inner(
    graph: FactGraph, *, heads: bool, identity: bool, memory: int, dense: int = _DENSE
) -> list[Classes]:
    """The counted classes of all groundings with two variables more than the head has.

    Parameters
    ----------
    heads
        Whether groundings of different head atoms are kept apart.
    identity
        Whether all variables stand for different constants.
    memory
        How many bytes the result may take.
    dense
        Up to how many cells a dense table may have for each entry that is looked at.
    """
    held: dict[Stratum, list[Counted]] = {}
    for block in _head_blocks(graph, identity):
        check()
        for stratum, table in block.classes(keep_heads=heads, dense=dense):
            if stratum.is_distinct or not identity:
                parts = held.setdefault(stratum, [])
                parts.append(table)
                if not heads and sum(map(len, parts)) > 2 * _BLOCK:
                    held[stratum] = [Counted.concat(parts, len(table.columns)).grouped()]
        arity = graph.space.head.arity
        check_memory([t for parts in held.values() for t in parts], memory, graph.n**arity, arity + 2)
    found = []
    for stratum, parts in held.items():
        table = Counted.concat(parts, len(parts[0].columns))
        # Each head atom is in one block, where its rows are distinct already.
        found.append(Classes.of(stratum, table if heads else table.grouped(), heads=heads))
    return found


def _head_blocks(graph: FactGraph, identity: bool) -> Iterator[_HeadBlock]:
    """All head atoms: those of two distinct constants first, then those of one."""
    size = max(1, _BLOCK // (len(graph.patterns) + graph.n))
    one = graph.domain(0)
    if graph.space.head.arity == 2:
        two = graph.domain(1)
        for begin in range(0, len(one) * len(two), size):
            row, column = np.divmod(np.arange(begin, min(begin + size, len(one) * len(two))), len(two))
            apart = one[row] != two[column]
            if apart.any():
                yield _HeadBlock.of(graph, [one[row][apart], two[column][apart]], (0, 1))
        one = graph.domain(0, 1)
        if identity:
            return
    for begin in range(0, len(one), size):
        yield _HeadBlock.of(graph, [one[begin : begin + size]], (0,) * graph.space.head.arity)


@dataclass(frozen=True, eq=False)
class _HeadBlock:
    """Head atoms of one shape, H of them, and the types of all constants as each sees them."""

    graph: FactGraph
    constants: list[Ints]  #: the distinct constants of the head atoms, each [H]
    arguments: tuple[int, ...]  #: which of the constants each argument of the head is
    types: Ints  #: [H, n]
    kind: Ints  #: [T], 0, or 1 + which of the head's constants a type is
    label: Ints  #: [T]
    patterns: list[Ints]  #: [T] for each constant of the head, from it to a constant of this type

    @classmethod
    def of(cls, graph: FactGraph, constants: list[Ints], arguments: tuple[int, ...]) -> _HeadBlock:
        """Give every constant its type as seen from each head atom."""
        count = len(constants[0])
        kind = np.zeros((count, graph.n), dtype=np.int64)
        views = []
        for number, codes in enumerate(constants):
            seen = np.zeros((count, graph.n), dtype=np.int64)
            which, place = csr_entries(graph.starts, codes)
            seen[which, graph.others[place]] = graph.patterns[place]
            kind[np.arange(count), codes] = number + 1
            views.append(seen.ravel())
        labels = np.tile(graph.labels, count)
        first, types = number_rows([kind.ravel(), labels, *views])
        shape = kind.ravel()[first], labels[first], [view[first] for view in views]
        return cls(graph, constants, arguments, types.reshape(count, graph.n), *shape)

    @property
    def _equal(self) -> int:
        """The number in place of a pattern where both inner variables are the same constant."""
        return self.graph.n_patterns

    def classes(self, *, keep_heads: bool, dense: int) -> Iterator[tuple[Stratum, Counted]]:
        """The block's classes by stratum: the key of the head atom if kept, labels, patterns."""
        graph = self.graph
        head = [graph.labels[codes] for codes in self.constants]
        if len(self.constants) == 2:
            head.append(graph.pattern_of(*self.constants))
        owner = shown = np.arange(len(self.constants[0]))
        if keep_heads:
            head.append(head_keys(graph, self.arguments, self.constants))
        else:
            shown, owner = number_rows(head)
        table = self._meetings(owner, dense)
        equal = (table.columns[3] == self._equal).astype(np.int64)
        kinds = [self.kind[table.columns[1]], self.kind[table.columns[2]], equal]
        places, group = number_rows(kinds)
        for number, place in enumerate(places):
            part = table.take(np.flatnonzero(group == number))
            one, two, same = (int(kind[place]) for kind in kinds)
            yield self._described(
                part, (one, two, bool(same)), [column[shown] for column in head], keep_heads
            )

    def _meetings(self, owner: Ints, dense: int) -> Counted:
        """How often constants of two types meet in each pattern: columns owner, type, type, pattern."""
        shown, local = self._types_by_head
        cells = self.types.shape[0] * shown.shape[1] ** 2 * (self.graph.n_patterns + 1)
        if cells <= dense * len(owner) * (len(self.graph.patterns) + self.graph.n):
            return self._meetings_dense(owner, shown, local)
        return self._meetings_sorted(owner)

    @cached_property
    def _types_by_head(self) -> tuple[Ints, Ints]:
        """Types numbered from 0 within each head atom: the type of a number, [H, t], and numbers, [H, n]."""
        heads, n_types = np.arange(len(self.types)), len(self.kind)
        present = np.zeros((len(heads), n_types), dtype=np.bool_)
        present[heads[:, None], self.types] = True
        number = np.cumsum(present, axis=1) - 1
        shown = np.zeros((len(heads), int(number[:, -1].max()) + 1), dtype=np.int64)
        head, kind = np.nonzero(present)
        shown[head, number[head, kind]] = kind
        return shown, number[heads[:, None], self.types]

    def _meetings_dense(self, owner: Ints, shown: Ints, local: Ints) -> Counted:
        """Meetings by a dense table [H, t, t, patterns], which needs no sorting."""
        graph, (count, width) = self.graph, shown.shape
        n_patterns = graph.n_patterns + 1  # the last is that of equal constants
        once = graph.firsts < graph.others  # the other half of the pairs is the same turned round
        small = local.astype(np.int32)
        keys = small[:, graph.firsts[once]] + np.arange(0, count * width, width, dtype=np.int32)[:, None]
        keys *= width
        keys += small[:, graph.others[once]]
        keys *= n_patterns
        keys += graph.patterns[once].astype(np.int32)
        size = count * width * width * n_patterns
        met = np.bincount(keys.ravel(), minlength=size).reshape(count, width, width, n_patterns)
        turned = np.append(graph.reversed_pattern, self._equal)
        met = met + met.transpose(0, 2, 1, 3)[..., turned]
        slot = np.arange(count)[:, None] * width + local
        times = np.bincount(slot.ravel(), minlength=count * width).reshape(count, width)
        same = np.arange(width)
        met[:, same, same, self._equal] = times
        met[..., 0] = times[:, :, None] * times[:, None, :] - met[..., 1:].sum(axis=-1)
        place = np.flatnonzero(met)
        head, one, two, pattern = np.unravel_index(place, met.shape)
        columns = [owner[head], shown[head, one], shown[head, two], np.asarray(pattern)]
        table = Counted(columns, met.ravel()[place].astype(np.int64))
        return table if len(np.unique(owner)) == count else table.grouped()

    def _meetings_sorted(self, owner: Ints) -> Counted:
        """Meetings by sorting those that occur."""
        graph, count = self.graph, len(owner)
        one, two = self.types[:, graph.firsts].ravel(), self.types[:, graph.others].ravel()
        met = Counted.once([np.repeat(owner, len(graph.patterns)), one, two, np.tile(graph.patterns, count)])
        types = self.types.ravel()
        same = Counted.once([np.repeat(owner, graph.n), types, types, np.full(len(types), self._equal)])
        listed = Counted.concat([met.grouped(), same.grouped()], 4).grouped()
        apart = Counted([*listed.columns[:3], np.zeros_like(listed.columns[3])], -listed.counts)
        n_types = len(self.kind)
        keys, entry = number_keys(np.repeat(np.arange(count), graph.n) * n_types + types, count * n_types)
        times = np.bincount(entry, minlength=len(keys)).astype(np.int64)
        head, kind = np.divmod(keys, n_types)
        again, other = csr_entries(csr_starts(head, count), head)
        columns = [owner[head[again]], kind[again], kind[other], np.zeros_like(again)]
        pairs = Counted(columns, times[again] * times[other]).grouped()
        whole = Counted.concat([listed, apart, pairs], 4).grouped()
        return whole.take(np.flatnonzero(whole.counts))

    def _described(
        self, part: Counted, kinds: tuple[int, int, bool], head: list[Ints], keep_heads: bool
    ) -> tuple[Stratum, Counted]:
        """Meetings of given kinds of inner constants, as classes of a stratum.

        Parameters
        ----------
        kinds
            Of both inner constants, and whether they are the same.
        head
            Labels, pattern and key of the head atoms, by owner.
        """
        owner, one, two, between = part.columns
        n_head = len(self.constants)
        first = kinds[0] - 1 if kinds[0] else n_head
        fresh = first if kinds[2] else max(first + 1, n_head)
        second = kinds[1] - 1 if kinds[1] else fresh
        stratum = Stratum((*self.arguments, first, second))
        labels = [column[owner] for column in head[:n_head]]
        inner = [types for types, block in ((one, first), (two, second)) if block >= n_head]
        inner = inner[: stratum.n_blocks - n_head]
        labels += [self.label[types] for types in inner]
        patterns = []
        for a, b in stratum.pairs:
            if b < n_head:
                patterns.append(head[2][owner])
            elif a < n_head:
                patterns.append(self.patterns[a][inner[b - n_head]])
            else:
                patterns.append(between)
        keys = [head[-1][owner]] if keep_heads else []
        return stratum, Counted([*keys, *labels, *patterns], part.counts)
