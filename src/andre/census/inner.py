"""Two variables beside the head: head atom by head atom, grouped before they are joined.

For a head atom every constant is of a type: its label and its patterns towards
the head's constants, or that it is one of them. The two inner variables meet
in a fact, are equal, or have nothing between them. The first two cases are
listed; the last is all pairs of types less what was listed. A head atom costs
the pairs of the graph, not the square of its constants.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from andre.arrays import Ints, csr_entries, csr_starts, number_keys, number_rows
from andre.census.graph import FactGraph
from andre.census.joins import Table, total
from andre.census.listing import Listed, check_memory
from andre.census.strata import Classes, Stratum

__all__ = ["is_shorter", "join_inner"]


#: Entries looked at together; more would leave the cache.
_BLOCK = 300_000
#: A table of all meetings that are possible pays up to this many places for each one looked at.
_TABLE = 4


def is_shorter(graph: FactGraph) -> bool:
    """Whether the pairs of the graph are fewer than the pairs of its constants, by enough to pay."""
    return 4 * (len(graph.patterns) + graph.n) < graph.n**2


def join_inner(graph: FactGraph, *, heads: bool, identity: bool, memory: int) -> list[Listed]:
    """Describe and count all groundings of two variables more than the head has.

    Parameters
    ----------
    heads
        Whether groundings of different head atoms are kept apart.
    identity
        Whether all variables stand for different constants.
    """
    held: dict[tuple[int, ...], list[Table]] = {}
    for block, prefix in _head_blocks(graph, identity):
        for stratum, table in _Block.of(graph, block, prefix).classes(keep_heads=heads):
            if stratum.is_distinct or not identity:
                parts = held.setdefault(stratum.block, [])
                parts.append(table)
                if not heads and sum(map(len, parts)) > 2 * _BLOCK:
                    held[stratum.block] = [total(Table.concat(parts))]
        check_memory(
            [t for parts in held.values() for t in parts], memory, graph.n ** len(prefix), len(prefix) + 2
        )
    found = []
    for shape, parts in held.items():
        # Each head atom is in one block, where its rows are distinct already.
        stratum, table = Stratum(shape), Table.concat(parts) if heads else total(Table.concat(parts))
        blocks, first = stratum.n_blocks, int(heads)
        described = Classes(
            stratum,
            np.stack(table.columns[first : first + blocks], axis=1),
            np.stack(table.columns[first + blocks :], axis=1)
            if stratum.pairs
            else np.zeros((len(table), 0), dtype=np.int64),
            table.counts,
        )
        found.append(Listed(described, table.columns[0] if heads else None))
    return found


def _head_blocks(graph: FactGraph, identity: bool) -> Iterator[tuple[list[Ints], tuple[int, ...]]]:
    """Head atoms in blocks: their distinct constants, and which argument is which of them."""
    size = max(1, _BLOCK // (len(graph.patterns) + graph.n))
    one = graph.domain(0)
    if graph.space.head.arity == 2:
        two = graph.domain(1)
        for begin in range(0, len(one) * len(two), size):
            row, column = np.divmod(np.arange(begin, min(begin + size, len(one) * len(two))), len(two))
            apart = one[row] != two[column]
            if apart.any():
                yield [one[row][apart], two[column][apart]], (0, 1)
        one = np.intersect1d(one, two)
        if identity:
            return
    prefix = (0,) * graph.space.head.arity
    yield from (([one[begin : begin + size]], prefix) for begin in range(0, len(one), size))


@dataclass(frozen=True, eq=False)
class _Block:
    graph: FactGraph
    constants: list[Ints]  #: of the head atoms, each [H]
    prefix: tuple[int, ...]
    types: Ints  #: [H, n]
    kind: Ints  #: [T], 0, or 1 + the head's constant that this is
    label: Ints  #: [T]
    patterns: list[Ints]  #: [T] for each constant of the head, towards this

    @classmethod
    def of(cls, graph: FactGraph, constants: list[Ints], prefix: tuple[int, ...]) -> _Block:
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
        return cls(graph, constants, prefix, types.reshape(count, graph.n), *shape)

    def classes(self, *, keep_heads: bool) -> Iterator[tuple[Stratum, Table]]:
        """The block's classes, by stratum: the head's number if kept, labels, patterns."""
        graph = self.graph
        head = [graph.labels[codes] for codes in self.constants]
        if len(self.constants) == 2:
            head.append(graph.pattern_of(*self.constants))
        owner, shown = np.arange(len(self.constants[0])), np.arange(len(self.constants[0]))
        if not keep_heads:
            shown, owner = number_rows(head)
        table = self._meetings(owner)
        kinds = [self.kind[table.columns[1]], self.kind[table.columns[2]], table.columns[3] == self._equal]
        places, group = number_rows([np.asarray(kind, dtype=np.int64) for kind in kinds])
        for number, place in enumerate(places):
            part = table.take(np.flatnonzero(group == number))
            blocks = [int(kind[place]) for kind in kinds]
            yield self._described(part, blocks, [column[shown] for column in head], keep_heads)

    @property
    def _equal(self) -> int:
        """What stands for a pattern where both inner variables are the same constant."""
        return self.graph.n_patterns

    def _meetings(self, owner: Ints) -> Table:
        """How often two types meet in each pattern: owner, type, type, pattern."""
        shown, local = self._by_head
        places = self.types.shape[0] * shown.shape[1] ** 2 * (self.graph.n_patterns + 1)
        if places <= _TABLE * len(owner) * (len(self.graph.patterns) + self.graph.n):
            return self._tabled(owner, shown, local)
        return self._sorted(owner)

    @cached_property
    def _by_head(self) -> tuple[Ints, Ints]:
        """Types numbered head by head: what a number stands for, [H, t], and those of constants, [H, n]."""
        heads, n_types = np.arange(len(self.types)), len(self.kind)
        present = np.zeros((len(heads), n_types), dtype=np.bool_)
        present[heads[:, None], self.types] = True
        number = np.cumsum(present, axis=1) - 1
        shown = np.zeros((len(heads), int(number[:, -1].max()) + 1), dtype=np.int64)
        head, kind = np.nonzero(present)
        shown[head, number[head, kind]] = kind
        return shown, number[heads[:, None], self.types]

    def _tabled(self, owner: Ints, shown: Ints, local: Ints) -> Table:
        """The meetings by a table of all that are possible, which needs no sorting."""
        graph, (count, width) = self.graph, shown.shape
        n_patterns = graph.n_patterns + 1  # that of equal constants is the last
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
        rest, pattern = np.divmod(place, n_patterns)
        rest, two = np.divmod(rest, width)
        head, one = np.divmod(rest, width)
        columns = [owner[head], shown[head, one], shown[head, two], pattern]
        table = Table(columns, met.ravel()[place].astype(np.int64))
        return table if len(np.unique(owner)) == count else total(table)

    def _sorted(self, owner: Ints) -> Table:
        """The meetings by sorting those that there are."""
        graph, count = self.graph, len(owner)
        one, two = self.types[:, graph.firsts].ravel(), self.types[:, graph.others].ravel()
        met = Table(
            [np.repeat(owner, len(graph.patterns)), one, two, np.tile(graph.patterns, count)],
            np.ones(len(one), dtype=np.int64),
        )
        all_types = self.types.ravel()
        same = Table(
            [np.repeat(owner, graph.n), all_types, all_types, np.full(len(all_types), self._equal)],
            np.ones(len(all_types), dtype=np.int64),
        )
        listed = total(Table.concat([total(met), total(same)]))
        apart = Table([*listed.columns[:3], np.zeros_like(listed.columns[3])], -listed.counts)
        n_types = len(self.kind)
        keys, entry = number_keys(np.repeat(np.arange(count), graph.n) * n_types + all_types, count * n_types)
        times = np.bincount(entry, minlength=len(keys)).astype(np.int64)
        head, kind = np.divmod(keys, n_types)
        again, other = csr_entries(csr_starts(head, count), head)
        pairs = Table(
            [owner[head[again]], kind[again], kind[other], np.zeros_like(again)], times[again] * times[other]
        )
        whole = total(Table.concat([listed, apart, total(pairs)]))
        return whole.take(np.flatnonzero(whole.counts))

    def _described(
        self, part: Table, blocks: list[int], head: list[Ints], keep_heads: bool
    ) -> tuple[Stratum, Table]:
        owner, one, two, between = part.columns
        n_head = len(self.constants)
        first = blocks[0] - 1 if blocks[0] else n_head
        fresh = first if blocks[2] else max(first + 1, n_head)
        second = blocks[1] - 1 if blocks[1] else fresh
        stratum = Stratum((*self.prefix, first, second))
        # Block by block the label, and pair by pair the pattern, of constants in the order of blocks.
        labels = [column[owner] for column in head[:n_head]]
        inner = [kinds for kinds, block in ((one, first), (two, second)) if block >= n_head]
        inner = inner[: stratum.n_blocks - n_head]
        labels += [self.label[kinds] for kinds in inner]
        patterns = []
        for a, b in stratum.pairs:
            if b < n_head:
                patterns.append(head[2][owner])
            elif a < n_head:
                patterns.append(self.patterns[a][inner[b - n_head]])
            else:
                patterns.append(between)
        number = [self._numbers()[owner]] if keep_heads else []
        return stratum, Table([*number, *labels, *patterns], part.counts)

    def _numbers(self) -> Ints:
        """The number of each head atom: its arguments as digits to the base n."""
        number = np.zeros(len(self.constants[0]), dtype=np.int64)
        for argument in self.prefix:
            number = number * self.graph.n + self.constants[argument]
        return number
