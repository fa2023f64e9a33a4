"""What each constant sees: the types of its neighbours, and which labels they use up.

The bags of head atoms of at most two arguments and at most one further variable.

The bag of a head atom (x, y) follows from what x and y see: the types of the
constants attached to both, to x only, to y only, and to neither. Atoms whose
arguments no fact and no third constant connects are never listed: they are
counted by what their arguments see, as all pairs less the connected ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from andre.arrays import (
    Ints,
    blocks_of,
    csr_entries,
    csr_starts,
    distinct_keys,
    number_keys,
    number_rows,
    number_sets,
)
from andre.census.bags import BagCollector, Weigher
from andre.census.draw import DrawnHeads
from andre.census.graph import FactGraph
from andre.census.joins import path_blocks
from andre.census.strata import Stratum
from andre.errors import DataError, MemoryLimitError

__all__ = ["Profiles", "collect_bags"]


@dataclass(frozen=True, eq=False)
class Profiles:
    """The types of the neighbours of every constant.

    A type is a neighbour's label and the pattern towards it. The profile of a
    constant is the set of its types. A label is scarce where two constants
    together may use up all that have it, so that no unattached one is left.
    """

    type_label: Ints  #: [T]
    type_pattern: Ints  #: [T], from the constant to its neighbour
    of_pair: Ints  #: [E], the type of each of the graph's pairs
    starts: Ints  #: [n + 1], into the two below
    types: Ints  #: the types of each constant, in order
    counts: Ints  #: how many neighbours of each type
    number: Ints  #: [n], of the profile
    scarce: Ints  #: labels
    used: Ints  #: [n, scarce], constants of each scarce label that are this one or its neighbours

    @classmethod
    def of(cls, graph: FactGraph) -> Profiles:
        """Look at every constant's neighbours."""
        shapes, of_pair = number_rows([graph.labels[graph.others], graph.patterns])
        n_types = max(1, len(shapes))
        seen, entry = number_keys(graph.firsts * n_types + of_pair, max(1, graph.n * n_types))
        owner, types = np.divmod(seen, n_types)
        starts = csr_starts(owner, graph.n)
        number, _ = number_sets(starts, types, n_types)
        label = graph.labels[graph.others]
        uses = graph.firsts * graph.n_labels + label
        keys, times = np.unique(
            np.concatenate([uses, np.arange(graph.n) * graph.n_labels + graph.labels]), return_counts=True
        )
        most = np.zeros(graph.n_labels, dtype=np.int64)
        np.maximum.at(most, keys % graph.n_labels, times)
        scarce = np.flatnonzero((2 * most >= graph.label_counts) & (graph.label_counts > 0))
        column = np.full(graph.n_labels, -1)
        column[scarce] = np.arange(len(scarce))
        used = np.zeros((graph.n, len(scarce)), dtype=np.int64)
        kept = column[keys % graph.n_labels] >= 0
        used[keys[kept] // graph.n_labels, column[keys[kept] % graph.n_labels]] = times[kept]
        return cls(
            type_label=label[shapes],
            type_pattern=graph.patterns[shapes],
            of_pair=of_pair,
            starts=starts,
            types=types,
            counts=np.bincount(entry, minlength=len(seen)).astype(np.int64),
            number=number,
            scarce=scarce,
            used=used,
        )

    @property
    def n_types(self) -> int:
        """How many types of neighbours there are."""
        return len(self.type_label)

    def count(self, constants: Ints, types: Ints) -> Ints:
        """How many neighbours of a type each constant has."""
        return self.counts[np.searchsorted(self._keys, constants * self.n_types + types)]

    @cached_property
    def _keys(self) -> Ints:
        owner = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return owner * self.n_types + self.types

    def apart(self, graph: FactGraph) -> tuple[Ints, Ints]:
        """Number constants that look alike to any constant they are not connected with.

        Two constants look alike when label and profile are equal, and so are
        the numbers of scarce constants they use, where these can matter.

        Returns
        -------
        tuple
            For each number one constant that has it, and the number of each constant.
        """
        matters = self.used * self.exhaustible(graph)
        rows = [graph.labels, self.number]
        if self.scarce.size:
            rows.append(number_rows(list(matters.T))[1])
        return number_rows(rows)

    def exhaustible(self, graph: FactGraph) -> NDArray[np.bool_]:
        """Whether a constant and some other one may use up a scarce label, [n, scarce]."""
        most = self.used.max(axis=0, initial=0)
        may: NDArray[np.bool_] = self.used + most >= graph.label_counts[self.scarce]
        return may


#: Two-step paths looked at together.
_BLOCK = 2_000_000
#: Entries of a table that marks what is used up.
_MARKS = 1 << 26


def collect_bags(
    graph: FactGraph,
    into: BagCollector,
    weigh: Weigher,
    variables: int,
    identity: bool,
    drawn: DrawnHeads | None = None,
) -> None:
    """Put the bags of all head atoms into a collector.

    Parameters
    ----------
    identity
        Whether all variables of a rule stand for different constants.
    drawn
        Head atoms that stand for the others; None: all.
    """
    arity = graph.space.head.arity
    census = _Exists(graph, Profiles.of(graph), into, weigh, inner=variables > arity, identity=identity)
    if drawn is not None:
        census.chosen(drawn)
    elif arity == 1:
        census.singles(graph.domain(0))
    else:
        if not identity:
            census.singles(np.intersect1d(graph.domain(0), graph.domain(1)))
        census.pairs()


@dataclass(frozen=True, eq=False)
class _Heads:
    """Head atoms of a block, and what stands between their arguments."""

    first: Ints  #: [H]
    second: Ints  #: [H]
    pattern: Ints  #: [H]
    starts: Ints  #: [H + 1], into `shared`
    shared: Ints  #: paths: the types of the constants attached to both, distinct within a head atom
    steps: tuple[Ints, Ints]  #: of each distinct path, the types of its constant as x and y see it
    removed: tuple[Ints, Ints]  #: [H + 1] and elements: types and labels that are used up


@dataclass(frozen=True, eq=False)
class _Exists:
    graph: FactGraph
    profiles: Profiles
    into: BagCollector
    weigh: Weigher
    inner: bool
    identity: bool

    def chosen(self, drawn: DrawnHeads) -> None:
        """Head atoms that were drawn, of whatever kind."""
        same = drawn.first == drawn.second
        self.singles(drawn.first[same], drawn.times[same])
        first, second, times = drawn.first[~same], drawn.second[~same], drawn.times[~same]
        degree = np.diff(self.graph.starts)
        for begin, end in blocks_of(degree[first] + 1, _BLOCK):
            part = slice(begin, end)
            self._put_heads(self._between(first[part], second[part]), times[part])

    def singles(self, constants: Ints, times: Ints | None = None) -> None:
        """Head atoms with one constant: p(x), or p(x, x); and how many each stands for."""
        graph, profiles = self.graph, self.profiles
        arity = graph.space.head.arity
        head = (0,) * arity
        gone = profiles.used[constants] >= graph.label_counts[profiles.scarce]  # [H, scarce]
        columns = [graph.labels[constants]]
        if self.inner:
            columns += [profiles.number[constants], *gone.T.astype(np.int64)]
        first, group = number_rows(columns) if len(constants) else (constants, constants)
        truth = graph.label_truth[graph.labels[constants]]
        weight = self.weigh.corrupted(constants, constants)
        bags = self._open(truth, weight, _ones(constants) if times is None else times, group, len(first))
        shown = constants[first]
        label = graph.labels[shown]
        if not self.inner or not self.identity:
            self.into.put_rows(bags, Stratum((*head, 0) if self.inner else head), [label], [])
        if self.inner:
            stratum = Stratum((*head, 1))
            which, place = csr_entries(profiles.starts, shown)
            kind = profiles.types[place]
            self.into.put_rows(
                bags[which], stratum, [label[which], profiles.type_label[kind]], [profiles.type_pattern[kind]]
            )
            which, free = self._free(gone[first])
            self.into.put_rows(bags[which], stratum, [label[which], free], [np.zeros_like(free)])

    def pairs(self) -> None:
        """Head atoms with two constants: the connected ones first, then those that are left."""
        graph = self.graph
        alike, number = self.profiles.apart(graph) if self.inner else number_rows([graph.labels])
        n_alike = len(alike)
        starts, ends = graph.domain(0), graph.domain(1)
        out = np.bincount(number[starts], minlength=n_alike).astype(np.int64)
        into = np.bincount(number[ends], minlength=n_alike).astype(np.int64)
        if int(out.sum()) * int(into.sum()) >= 2**62 // max(1, len(graph.patterns)):
            raise DataError(f"{len(starts):,} x {len(ends):,} head atoms are too many to count in 64 bits")
        connected: list[tuple[Ints, Ints, Ints]] = []
        for block in path_blocks(graph, starts, _BLOCK, inner=self.inner):
            heads = self._connected(block)
            self._put_heads(heads, _ones(heads.first))
            weight = self.weigh.corrupted(heads.first, heads.second)
            connected.append(_sums(number[heads.first] * n_alike + number[heads.second], weight))
        both = np.intersect1d(starts, ends)
        connected.append(_sums(number[both] * (n_alike + 1), self.weigh.corrupted(both, both)))
        self._put_apart(alike, number, connected)

    def _connected(self, block: Ints) -> _Heads:
        """The head atoms that begin with these constants and have a fact or a path of two between them."""
        graph, profiles = self.graph, self.profiles
        is_end = graph.domains[graph.labels, 1]
        which, step = csr_entries(graph.starts, block)
        direct = step[is_end[graph.others[step]]]
        keys = graph.firsts[direct] * graph.n + graph.others[direct]
        path = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        if self.inner:
            again, last = csr_entries(graph.starts, graph.others[step])
            first, second = block[which[again]], graph.others[last]
            kept = (first != second) & is_end[second]
            again, last = again[kept], last[kept]
            # As y sees the constant in the middle: its label, and the pattern turned round.
            path = first[kept] * graph.n + second[kept], profiles.of_pair[step[again]], self._turned[last]
        heads, number = number_keys(np.concatenate([keys, path[0]]), graph.n**2)
        pattern = np.zeros(len(heads), dtype=np.int64)
        pattern[number[: len(keys)]] = graph.patterns[direct]
        first, second = np.divmod(heads, graph.n)
        return self._described(first, second, pattern, (number[len(keys) :], path[1], path[2]))

    def _between(self, first: Ints, second: Ints) -> _Heads:
        """Any head atoms, with the facts and the paths of two between their arguments."""
        graph = self.graph
        path = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        if self.inner:
            which, step = csr_entries(graph.starts, first)
            keys = graph.others[step] * graph.n + second[which]
            last = np.searchsorted(graph.pair_keys, keys).clip(max=len(graph.patterns) - 1)
            met = graph.pair_keys[last] == keys
            path = which[met], self.profiles.of_pair[step[met]], self._turned[last[met]]
        return self._described(first, second, graph.pattern_of(first, second), path)

    def _described(self, first: Ints, second: Ints, pattern: Ints, path: tuple[Ints, Ints, Ints]) -> _Heads:
        """Head atoms by what connects them: the pattern, and of each path its head atom and both types."""
        owner, *types = path
        steps, kind = number_rows(types)
        shared = distinct_keys(owner * max(1, len(steps)) + kind)
        of_head = shared // max(1, len(steps))
        return _Heads(
            first=first,
            second=second,
            pattern=pattern,
            starts=csr_starts(of_head, len(first)),
            shared=shared % max(1, len(steps)),
            steps=(path[1][steps], path[2][steps]),
            removed=self._removed(first, second, pattern, path),
        )

    @cached_property
    def _turned(self) -> Ints:
        """The type of each pair's first constant, as its second sees it, [E]."""
        graph = self.graph
        back = np.searchsorted(graph.pair_keys, graph.others * graph.n + graph.firsts)
        return self.profiles.of_pair[back]

    def _removed(
        self, first: Ints, second: Ints, pattern: Ints, path: tuple[Ints, Ints, Ints]
    ) -> tuple[Ints, Ints]:
        """What is not left over: types of x (t), types of y (T + t), labels of neither (2 T + l)."""
        graph, profiles = self.graph, self.profiles
        if not self.inner:
            return np.zeros(len(first) + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
        n_types = profiles.n_types
        top = 2 * n_types + graph.n_labels
        direct = np.flatnonzero(pattern)
        place = np.searchsorted(graph.pair_keys, first[direct] * graph.n + second[direct])
        owner, one, two = path
        turned = self._turned
        found = []
        for side, constants, kinds, own in (
            (0, first, one, profiles.of_pair[place]),
            (1, second, two, turned[place]),
        ):
            # Neighbours of x that are attached to y too, or are y itself, are no neighbours of x only.
            keys, times = np.unique(
                np.concatenate([owner, direct]) * n_types + np.concatenate([kinds, own]), return_counts=True
            )
            head, kind = np.divmod(keys, n_types)
            gone = times == profiles.count(constants[head], kind)
            found.append(head[gone] * top + side * n_types + kind[gone])
        left = (
            graph.label_counts[profiles.scarce] - profiles.used[first] - profiles.used[second]
        )  # [H, scarce]
        column = np.full(graph.n_labels, -1)
        column[profiles.scarce] = np.arange(len(profiles.scarce))
        # Those attached to both are counted twice, and so are x and y where a fact is between them.
        for heads, label in (
            (owner, profiles.type_label[one]),
            (direct, graph.labels[first[direct]]),
            (direct, graph.labels[second[direct]]),
        ):
            kept = column[label] >= 0
            np.add.at(left, (heads[kept], column[label[kept]]), 1)
        head, scarce = np.nonzero(left <= 0)
        found.append(head * top + 2 * n_types + profiles.scarce[scarce])
        keys = np.sort(np.concatenate(found))
        return csr_starts(keys // top, len(first)), keys % top

    def _put_heads(self, heads: _Heads, times: Ints) -> None:
        graph, profiles = self.graph, self.profiles
        if not len(heads.first):
            return
        columns = [graph.labels[heads.first], graph.labels[heads.second], heads.pattern]
        if self.inner:
            columns += [
                profiles.number[heads.first],
                profiles.number[heads.second],
                number_sets(heads.starts, heads.shared, max(1, len(heads.steps[0])))[0],
                number_sets(*heads.removed, 2 * profiles.n_types + graph.n_labels)[0],
            ]
        shown, group = number_rows(columns)
        truth = graph.pattern_truth[heads.pattern]
        weight = self.weigh.corrupted(heads.first, heads.second)
        bags = self._open(truth, weight, times, group, len(shown))
        if not self.inner:
            self._put_ends(bags, heads.first[shown], heads.second[shown], heads.pattern[shown])
            return
        which, place = csr_entries(heads.starts, shown)
        one, two = (step[heads.shared[place]] for step in heads.steps)
        ends = heads.first[shown], heads.second[shown], heads.pattern[shown]
        self._put_third(
            bags,
            ends,
            which,
            profiles.type_label[one],
            (profiles.type_pattern[one], profiles.type_pattern[two]),
        )
        which, place = csr_entries(heads.removed[0], shown)
        self._put_rest(bags, ends, (csr_starts(which, len(shown)), heads.removed[1][place]))

    def _put_apart(self, alike: Ints, number: Ints, connected: list[tuple[Ints, Ints, Ints]]) -> None:
        """Head atoms that nothing connects: all pairs of constants that look alike, less the connected."""
        graph, profiles, n_alike = self.graph, self.profiles, len(alike)
        starts, ends = graph.domain(0), graph.domain(1)
        count = [np.bincount(number[one], minlength=n_alike).astype(np.int64) for one in (starts, ends)]
        rows, columns = np.flatnonzero(count[0]), np.flatnonzero(count[1])
        size = len(rows) * len(columns)
        if size * 64 > self.into.memory:
            raise MemoryLimitError(
                f"constants look so different that their {size:,} kinds of pairs take "
                f"{size * 64 / 2**20:,.0f} MB of the {self.into.memory / 2**20:,.0f} MB allowed: "
                "leave relations or constants out, or raise the memory limit"
            )
        one, two = np.repeat(rows, len(columns)), np.tile(columns, len(rows))
        keys = one * n_alike + two
        heads = count[0][one] * count[1][two]
        if self.weigh.out is None or self.weigh.into is None:
            weight = heads.copy()
        else:
            out, into = np.zeros(n_alike, dtype=np.int64), np.zeros(n_alike, dtype=np.int64)
            np.add.at(out, number[starts], self.weigh.out[starts])
            np.add.at(into, number[ends], self.weigh.into[ends])
            weight = out[one] * count[1][two] + count[0][one] * into[two]
        for pair, times, weights in connected:
            place = np.searchsorted(keys, pair)
            np.subtract.at(heads, place, times)
            np.subtract.at(weight, place, weights)
        left = np.flatnonzero(heads)
        one, two, heads, weight = one[left], two[left], heads[left], weight[left]
        negatives = np.zeros(len(left)) if self.weigh.stated_only else weight.astype(np.float64)
        bags = self.into.open(np.zeros(len(left)), negatives, heads)
        first, second = alike[one], alike[two]
        if not self.inner:
            self._put_ends(bags, first, second, np.zeros_like(first))
            return
        may = profiles.exhaustible(graph)
        gone = (profiles.used[first] + profiles.used[second] >= graph.label_counts[profiles.scarce]) & (
            may[first] & may[second]
        )
        which, scarce = np.nonzero(gone)
        removed = 2 * profiles.n_types + profiles.scarce[scarce]
        self._put_rest(bags, (first, second, np.zeros_like(first)), (csr_starts(which, len(first)), removed))

    def _put_rest(self, bags: Ints, ends: tuple[Ints, Ints, Ints], removed: tuple[Ints, Ints]) -> None:
        """Rows whose third constant is attached to one of x and y or to neither, or is x or y."""
        width = 2 * self.profiles.n_types + self.graph.n_labels
        step = max(1, _MARKS // width)
        for begin in range(0, len(bags), step):
            part = np.arange(begin, min(begin + step, len(bags)))
            gone = np.zeros((len(part), width), dtype=np.bool_)
            which, place = csr_entries(removed[0], part)
            gone[which, removed[1][place]] = True
            self._put_unshared(bags[part], (ends[0][part], ends[1][part], ends[2][part]), gone)
        if not self.identity:
            labels = [self.graph.labels[ends[0]], self.graph.labels[ends[1]]]
            for block in ((0, 1, 0), (0, 1, 1)):
                self.into.put_rows(bags, Stratum(block), labels, [ends[2]])

    def _put_unshared(self, bags: Ints, ends: tuple[Ints, Ints, Ints], gone: NDArray[np.bool_]) -> None:
        profiles = self.profiles
        for side in (0, 1):
            which, place = csr_entries(profiles.starts, ends[side])
            kind = profiles.types[place]
            kept = ~gone[which, side * profiles.n_types + kind]
            which, kind = which[kept], kind[kept]
            pattern, nothing = profiles.type_pattern[kind], np.zeros_like(kind)
            seen = (nothing, pattern) if side else (pattern, nothing)
            self._put_third(bags, ends, which, profiles.type_label[kind], seen)
        which, label = np.nonzero(~gone[:, 2 * profiles.n_types :] & (self.graph.label_counts > 0))
        self._put_third(bags, ends, which, label, (np.zeros_like(which), np.zeros_like(which)))

    def _put_third(
        self, bags: Ints, ends: tuple[Ints, Ints, Ints], which: Ints, label: Ints, seen: tuple[Ints, Ints]
    ) -> None:
        first, second, pattern = (end[which] for end in ends)
        labels = [self.graph.labels[first], self.graph.labels[second], label]
        self.into.put_rows(bags[which], Stratum((0, 1, 2)), labels, [pattern, *seen])

    def _put_ends(self, bags: Ints, first: Ints, second: Ints, pattern: Ints) -> None:
        labels = [self.graph.labels[first], self.graph.labels[second]]
        self.into.put_rows(bags, Stratum((0, 1)), labels, [pattern])

    def _free(self, gone: NDArray[np.bool_]) -> tuple[Ints, Ints]:
        """The labels of which an unattached constant is left: positions, and labels."""
        left = np.tile(self.graph.label_counts > 0, (len(gone), 1))
        left[:, self.profiles.scarce] &= ~gone
        which, label = np.nonzero(left)
        return which, label

    def _open(self, truth: NDArray[np.float64], weight: Ints, times: Ints, group: Ints, count: int) -> Ints:
        positives, negatives = (
            np.bincount(group, times * part, count).astype(np.float64)
            for part in (np.nan_to_num(truth), self.weigh.negatives(truth, weight))
        )
        return self.into.open(positives, negatives, np.bincount(group, times, count).astype(np.int64))


def _ones(items: Ints) -> Ints:
    return np.ones(len(items), dtype=np.int64)


def _sums(keys: Ints, weights: Ints) -> tuple[Ints, Ints, Ints]:
    """Distinct keys, how often each occurs, and the weights that go with it."""
    distinct, group, times = np.unique(keys, return_inverse=True, return_counts=True)
    added = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(added, group.ravel(), weights)
    return distinct, times, added
