"""Bags from profiles: for heads of at most two arguments and rules with at most one variable more.

The bag of a head atom (x, y) follows from the neighbours of x and y: of which
types third constants are that are attached (by a fact) to both, to x only, to y
only, or to neither. Only head atoms whose arguments a fact or a third constant
connects are visited. All others are counted class by class, as the product of
two classes of constants with equal neighbours, less the connected pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from andre.arrays import (
    Bools,
    Floats,
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
from andre.census.graph import FactGraph, NeighbourTypes
from andre.census.strata import Classes, Stratum
from andre.errors import DataError, MemoryLimitError
from andre.limits import check
from andre.samples import sums_of

#: Paths of two steps looked at together.
_BLOCK = 2_000_000
#: Paths from which on the bags of some are looked at first, and how many memories all may seem to take.
_LARGE, _HOPELESS = 20_000_000, 4
#: Cells of the tables that mark what is exhausted.
_MARKS = 1 << 26


def collect_bags(
    into: BagCollector, weigh: Weigher, drawn: DrawnHeads | None = None, *, inner: bool, identity: bool
) -> None:
    """Put the bags of all head atoms into a collector.

    Parameters
    ----------
    drawn
        Head atoms that stand for the others; None: all.
    inner
        Whether rules have one variable more than the head.
    identity
        Whether all variables of a rule stand for different constants.
    """
    graph = into.graph
    found = _ProfileBags(graph, _Profiles.of(graph), into, weigh, inner, identity)
    if drawn is not None:
        found.put_drawn(drawn)
    elif graph.space.head.arity == 1:
        found.put_singles(graph.domain(0))
    else:
        if not identity:
            found.put_singles(graph.domain(0, 1))
        found.put_pairs()


@dataclass(frozen=True, eq=False)
class _Profiles:
    """What every constant sees of its neighbours.

    A type is a neighbour's label and the pattern towards it; the profile of a
    constant is the set of types it sees. A label is scarce where two constants
    and their neighbours may be all constants that have it, so that none is left
    that is attached to neither.
    """

    neighbours: NeighbourTypes
    number: Ints  #: [n], equal for equal profiles
    scarce: Ints  #: [S], labels
    used: Ints  #: [n, S], how many of each scarce label are the constant or its neighbours
    #: [n, S], whether the constant and some other may be and see all constants of a scarce label.
    exhaustible: Bools

    @classmethod
    def of(cls, graph: FactGraph) -> _Profiles:
        """The profiles of all constants of a graph."""
        neighbours = NeighbourTypes.of(graph)
        own = np.arange(graph.n) * graph.n_labels + graph.labels
        near = graph.firsts * graph.n_labels + graph.labels[graph.others]
        keys, times = np.unique(np.concatenate([near, own]), return_counts=True)
        constant, label_used = np.divmod(keys, graph.n_labels)
        most = np.zeros(graph.n_labels, dtype=np.int64)
        np.maximum.at(most, label_used, times)
        scarce = np.flatnonzero((2 * most >= graph.label_counts) & (graph.label_counts > 0))
        kept = np.isin(label_used, scarce)
        used = np.zeros((graph.n, len(scarce)), dtype=np.int64)
        used[constant[kept], np.searchsorted(scarce, label_used[kept])] = times[kept]
        return cls(
            neighbours=neighbours,
            number=_Sets(neighbours.starts, neighbours.types, max(1, len(neighbours.label))).numbers(),
            scarce=scarce,
            used=used,
            exhaustible=used + used.max(axis=0, initial=0) >= graph.label_counts[scarce],
        )

    @property
    def n_types(self) -> int:
        """How many types of neighbours there are, T."""
        return len(self.neighbours.label)

    def count(self, constants: Ints, types: Ints) -> Ints:
        """How many neighbours of a type each constant has."""
        return self.neighbours.counts[np.searchsorted(self._keys, constants * self.n_types + types)]

    @cached_property
    def _keys(self) -> Ints:
        """One ascending key for each constant and type."""
        owner = np.repeat(np.arange(len(self.number)), np.diff(self.neighbours.starts))
        return owner * self.n_types + self.neighbours.types

    def classes(self, graph: FactGraph) -> tuple[Ints, Ints]:
        """Classes of constants that are alike to any constant they are not connected with.

        Constants of a class have equal labels and profiles, and use equally many
        of the scarce labels that they may help to exhaust.

        Returns
        -------
        tuple
            One constant of each class, and the class of each constant, [n].
        """
        rows = [graph.labels, self.number]
        if self.scarce.size:
            rows.append(number_rows(list((self.used * self.exhaustible).T))[1])
        return number_rows(rows)


@dataclass(frozen=True, eq=False)
class _Sets:
    """A set of integers below `top` for each of some head atoms, as CSR rows."""

    starts: Ints
    items: Ints
    top: int

    @classmethod
    def of(cls, owners: Ints, items: Ints, count: int, top: int) -> _Sets:
        """From one owner per item, the sets of the owners 0 to count - 1."""
        keys = distinct_keys(owners * max(1, top) + items)
        return cls(csr_starts(keys // max(1, top), count), keys % max(1, top), max(1, top))

    def numbers(self) -> Ints:
        """One number for each set, equal for equal sets."""
        return number_sets(self.starts, self.items, self.top)[0]

    def table(self, rows: Ints) -> Bools:
        """Which items some of the sets have, [rows, top]."""
        table = np.zeros((len(rows), self.top), dtype=np.bool_)
        which, entry = csr_entries(self.starts, rows)
        table[which, self.items[entry]] = True
        return table


@dataclass(frozen=True, eq=False)
class _Ends:
    """Head atoms of two distinct constants x and y, H of them."""

    first: Ints  #: [H], x
    second: Ints  #: [H], y
    pattern: Ints  #: [H], from x to y

    def take(self, rows: Ints) -> _Ends:
        """Only these head atoms."""
        return _Ends(self.first[rows], self.second[rows], self.pattern[rows])


@dataclass(frozen=True, eq=False)
class _Paths:
    """Third constants that are attached to both arguments of a head atom, one entry for each."""

    head: Ints  #: which head atom
    of_first: Ints  #: the type of the third constant as x sees it
    of_second: Ints  #: its type as y sees it


@dataclass(frozen=True, eq=False)
class _Exhausted:
    """What third constants that are attached to at most one of x and y cannot be, for each head atom."""

    of_first: _Sets  #: types of x's neighbours all of which are y or attached to y too
    of_second: _Sets  #: types of y's neighbours all of which are x or attached to x too
    labels: _Sets  #: labels of which every constant is x or y or attached to one of them

    def numbers(self) -> list[Ints]:
        """Three numbers for each head atom, equal where the sets are."""
        return [self.of_first.numbers(), self.of_second.numbers(), self.labels.numbers()]


@dataclass(frozen=True, eq=False)
class _ProfileBags:
    """Puts the bags of head atoms into a collector, by what their arguments see."""

    graph: FactGraph
    profiles: _Profiles
    into: BagCollector
    weigh: Weigher
    inner: bool  #: whether rules have one variable more than the head
    identity: bool

    def put_drawn(self, drawn: DrawnHeads) -> None:
        """Head atoms that were drawn, each standing for some."""
        same = drawn.first == drawn.second
        self.put_singles(drawn.first[same], drawn.times[same])
        first, second, times = drawn.first[~same], drawn.second[~same], drawn.times[~same]
        for begin, end in blocks_of(self.graph.degree[first] + 1, _BLOCK):
            check()
            part = slice(begin, end)
            ends = _Ends(first[part], second[part], self.graph.pattern_of(first[part], second[part]))
            self._put_heads(ends, self._paths_between(ends), times[part])

    def put_singles(self, constants: Ints, times: Ints | None = None) -> None:
        """Head atoms of one constant, p(x) or p(x, x), each standing for `times`."""
        graph, profiles = self.graph, self.profiles
        head = (0,) * graph.space.head.arity
        gone = profiles.used[constants] >= graph.label_counts[profiles.scarce]  # [H, S]
        columns = [graph.labels[constants]]
        if self.inner:
            columns += [profiles.number[constants], *gone.T.astype(np.int64)]
        shown, group = number_rows(columns) if len(constants) else (constants, constants)
        truth = graph.label_truth[graph.labels[constants]]
        weight = self.weigh.weight_unstated(constants, constants)
        bags = self._open(
            truth, weight, np.ones_like(constants) if times is None else times, group, len(shown)
        )
        example = constants[shown]
        label = graph.labels[example]
        if not self.inner or not self.identity:
            self.into.put(bags, Classes(Stratum((*head, 0) if self.inner else head), [label], []))
        if self.inner:
            stratum = Stratum((*head, 1))
            which, kind = profiles.neighbours.at(example)
            labels = [label[which], profiles.neighbours.label[kind]]
            self.into.put(bags[which], Classes(stratum, labels, [profiles.neighbours.pattern[kind]]))
            # Whether of each label a constant is left that is not attached, [H, L].
            left = np.tile(graph.label_counts > 0, (len(shown), 1))
            left[:, profiles.scarce] &= ~gone[shown]
            which, free = np.nonzero(left)
            self.into.put(bags[which], Classes(stratum, [label[which], free], [np.zeros_like(free)]))

    def put_pairs(self) -> None:
        """All head atoms of two constants: the connected ones first, then those that are left."""
        graph = self.graph
        examples, number = self.profiles.classes(graph) if self.inner else number_rows([graph.labels])
        starts, ends = graph.domain(0), graph.domain(1)
        if len(starts) * len(ends) >= 2**62 // max(1, len(graph.patterns)):
            raise DataError(f"{len(starts):,} x {len(ends):,} head atoms are too many to count in 64 bits")
        self._refuse_far_too_many(starts)
        connected: list[tuple[Ints, Ints, Ints]] = []  # pairs of classes, atoms, weights
        for block in graph.path_blocks(starts, _BLOCK, inner=self.inner):
            check()
            heads, paths = self._connected(block)
            self._put_heads(heads, paths, np.ones_like(heads.first))
            weight = self.weigh.weight_unstated(heads.first, heads.second)
            connected.append(_sums(number[heads.first] * len(examples) + number[heads.second], weight))
        both = graph.domain(0, 1)
        connected.append(_sums(number[both] * (len(examples) + 1), self.weigh.weight_unstated(both, both)))
        self._put_apart(examples, number, connected)

    def _refuse_far_too_many(self, starts: Ints) -> None:
        """Raise an error where the bags that some constants begin show that all outgrow the memory by far.

        To fill the memory first would take most of the time.
        """
        paths = self.graph.path_counts(starts, inner=self.inner)
        total = int(paths.sum())
        if total <= _LARGE:
            return
        some = np.random.default_rng(0).permutation(len(starts))
        some = some[: max(1, np.searchsorted(np.cumsum(paths[some]), _BLOCK // 10))]
        begun = replace(self, into=BagCollector(self.graph, self.into.memory))
        for block in self.graph.path_blocks(np.sort(starts[some]), _BLOCK // 10, inner=self.inner):
            check()
            heads, between = begun._connected(block)
            begun._put_heads(heads, between, np.ones_like(heads.first))
        expected = begun.into.taken * (total / max(1, paths[some].sum()))
        if expected > _HOPELESS * self.into.memory:
            self.into.refuse("the bags of rows would take about", expected)

    def _connected(self, block: Ints) -> tuple[_Ends, _Paths]:
        """The head atoms that begin with these constants and that a fact or a third constant connects."""
        graph = self.graph
        direct, path = graph.connections(block, inner=self.inner)
        heads, number = number_keys(graph.connected_keys(direct, path), graph.n**2)
        pattern = np.zeros(len(heads), dtype=np.int64)
        pattern[number[: len(direct)]] = graph.patterns[direct]
        first, second = np.divmod(heads, graph.n)
        return _Ends(first, second, pattern), self._paths(number[len(direct) :], *path)

    def _paths_between(self, heads: _Ends) -> _Paths:
        """The third constants attached to both arguments of any head atoms."""
        graph = self.graph
        which, step = csr_entries(graph.starts, heads.first if self.inner else heads.first[:0])
        last, met = graph.pairs_of(graph.others[step], heads.second[which])
        return self._paths(which[met], step[met], last[met])

    def _paths(self, head: Ints, step: Ints, last: Ints) -> _Paths:
        """Paths of two steps, given as pairs: from x to the third constant, and from it to y."""
        return _Paths(head, self.profiles.neighbours.of_pair[step], self._turned[last])

    @cached_property
    def _turned(self) -> Ints:
        """The type of each pair's first constant as the second sees it, [E]."""
        graph = self.graph
        return self.profiles.neighbours.of_pair[
            np.searchsorted(graph.pair_keys, graph.others * graph.n + graph.firsts)
        ]

    def _exhausted(self, heads: _Ends, paths: _Paths) -> _Exhausted:
        """Compare what x and y see with what they share."""
        graph, profiles, count = self.graph, self.profiles, len(heads.first)
        direct = np.flatnonzero(heads.pattern)
        pair, _ = graph.pairs_of(heads.first[direct], heads.second[direct])
        sides = []
        for constants, shared, own in (
            (heads.first, paths.of_first, profiles.neighbours.of_pair[pair]),
            (heads.second, paths.of_second, self._turned[pair]),
        ):
            # Neighbours of x that are attached to y too, or are y itself, are no neighbours of x only.
            owners, types = np.concatenate([paths.head, direct]), np.concatenate([shared, own])
            keys, times = np.unique(owners * max(1, profiles.n_types) + types, return_counts=True)
            head, kind = np.divmod(keys, max(1, profiles.n_types))
            gone = times == profiles.count(constants[head], kind)
            sides.append(_Sets.of(head[gone], kind[gone], count, profiles.n_types))
        used = profiles.used[heads.first] + profiles.used[heads.second]  # [H, S]
        column = np.full(graph.n_labels, -1)
        column[profiles.scarce] = np.arange(len(profiles.scarce))
        # Those attached to both were counted twice, and so were x and y where a fact is between them.
        for head, label in (
            (paths.head, profiles.neighbours.label[paths.of_first]),
            (direct, graph.labels[heads.first[direct]]),
            (direct, graph.labels[heads.second[direct]]),
        ):
            kept = column[label] >= 0
            np.subtract.at(used, (head[kept], column[label[kept]]), 1)
        labels = self._labels_exhausted(used >= graph.label_counts[profiles.scarce])
        return _Exhausted(sides[0], sides[1], labels)

    def _labels_exhausted(self, gone: Bools) -> _Sets:
        """The labels of which nothing is left, from the scarce ones of each head atom, [H, S]."""
        head, scarce = np.nonzero(gone)
        return _Sets.of(head, self.profiles.scarce[scarce], len(gone), self.graph.n_labels)

    def _put_heads(self, heads: _Ends, paths: _Paths, times: Ints) -> None:
        """Head atoms of two constants, with what connects them, each standing for `times`."""
        graph, profiles = self.graph, self.profiles
        if not len(heads.first):
            return
        columns = [graph.labels[heads.first], graph.labels[heads.second], heads.pattern]
        if self.inner:
            joint, kind = number_rows([paths.of_first, paths.of_second])  # types as x and y see them
            shared = _Sets.of(paths.head, kind, len(heads.first), len(joint))
            exhausted = self._exhausted(heads, paths)
            columns += [profiles.number[heads.first], profiles.number[heads.second]]
            columns += [shared.numbers(), *exhausted.numbers()]
        shown, group = number_rows(columns)
        truth = graph.pattern_truth[heads.pattern]
        weight = self.weigh.weight_unstated(heads.first, heads.second)
        bags, ends = self._open(truth, weight, times, group, len(shown)), heads.take(shown)
        if not self.inner:
            self._put_ends(bags, ends, (0, 1))
            return
        which, entry = csr_entries(shared.starts, shown)
        path = joint[shared.items[entry]]
        one, two = paths.of_first[path], paths.of_second[path]
        patterns = profiles.neighbours.pattern[one], profiles.neighbours.pattern[two]
        self._put_third(bags, ends, which, profiles.neighbours.label[one], patterns)
        self._put_unshared(bags, ends, exhausted, shown)

    def _put_apart(self, examples: Ints, number: Ints, connected: list[tuple[Ints, Ints, Ints]]) -> None:
        """Head atoms that nothing connects: all pairs of two classes of constants, less the connected."""
        graph, profiles, n_classes = self.graph, self.profiles, len(examples)
        starts, ends = graph.domain(0), graph.domain(1)
        n_first, n_second = (np.bincount(number[one], minlength=n_classes) for one in (starts, ends))
        rows, columns = np.flatnonzero(n_first), np.flatnonzero(n_second)
        size = len(rows) * len(columns)
        if size * 64 > self.into.memory:
            raise MemoryLimitError(
                f"constants look so different that their {size:,} kinds of pairs take "
                f"{size * 64 / 2**20:,.0f} MB of the {self.into.memory / 2**20:,.0f} MB allowed: "
                "leave relations or constants out, or raise the memory limit"
            )
        one, two = np.repeat(rows, len(columns)), np.tile(columns, len(rows))
        keys = one * n_classes + two
        heads = n_first[one] * n_second[two]
        weight = heads.copy()
        if self.weigh.out is not None and self.weigh.into is not None:
            out, into = np.zeros(n_classes, dtype=np.int64), np.zeros(n_classes, dtype=np.int64)
            np.add.at(out, number[starts], self.weigh.out[starts])
            np.add.at(into, number[ends], self.weigh.into[ends])
            weight = out[one] * n_second[two] + n_first[one] * into[two]
        for pair, times, weights in connected:
            place = np.searchsorted(keys, pair)
            np.subtract.at(heads, place, times)
            np.subtract.at(weight, place, weights)
        left = np.flatnonzero(heads)
        first, second = examples[one[left]], examples[two[left]]
        negatives = np.zeros(len(left)) if self.weigh.stated_only else weight[left].astype(np.float64)
        bags = self.into.open(np.zeros(len(left)), negatives, heads[left])
        apart = _Ends(first, second, np.zeros_like(first))
        if not self.inner:
            self._put_ends(bags, apart, (0, 1))
            return
        used = profiles.used[first] + profiles.used[second]
        both = profiles.exhaustible[first] & profiles.exhaustible[second]
        labels = self._labels_exhausted((used >= graph.label_counts[profiles.scarce]) & both)
        none = _Sets.of(left[:0], left[:0], len(left), profiles.n_types)
        self._put_unshared(bags, apart, _Exhausted(none, none, labels), np.arange(len(left)))

    def _put_unshared(self, bags: Ints, ends: _Ends, exhausted: _Exhausted, rows: Ints) -> None:
        """Rows whose third constant is attached to one of x and y or to neither, or is x or y.

        Parameters
        ----------
        rows
            For each bag, which of the head atoms of `exhausted` it is of.
        """
        profiles = self.profiles
        step = max(1, _MARKS // (2 * profiles.n_types + self.graph.n_labels))
        for begin in range(0, len(bags), step):
            check()
            part = np.arange(begin, min(begin + step, len(bags)))
            heads, bag = ends.take(part), bags[part]
            sides = (heads.first, exhausted.of_first), (heads.second, exhausted.of_second)
            for side, (own, gone) in enumerate(sides):
                which, kind = profiles.neighbours.at(own)
                kept = ~gone.table(rows[part])[which, kind]
                which, kind = which[kept], kind[kept]
                pattern, nothing = profiles.neighbours.pattern[kind], np.zeros_like(kind)
                patterns = (nothing, pattern) if side else (pattern, nothing)
                self._put_third(bag, heads, which, profiles.neighbours.label[kind], patterns)
            free = ~exhausted.labels.table(rows[part]) & (self.graph.label_counts > 0)
            which, label = np.nonzero(free)
            self._put_third(bag, heads, which, label, (np.zeros_like(which), np.zeros_like(which)))
        if not self.identity:
            self._put_ends(bags, ends, (0, 1, 0))
            self._put_ends(bags, ends, (0, 1, 1))

    def _put_third(
        self, bags: Ints, ends: _Ends, which: Ints, label: Ints, patterns: tuple[Ints, Ints]
    ) -> None:
        """Rows with a third constant, by its label and its patterns from x and from y."""
        heads = ends.take(which)
        labels = [self.graph.labels[heads.first], self.graph.labels[heads.second], label]
        self.into.put(bags[which], Classes(Stratum((0, 1, 2)), labels, [heads.pattern, *patterns]))

    def _put_ends(self, bags: Ints, ends: _Ends, block: tuple[int, ...]) -> None:
        """Rows without a third constant."""
        labels = [self.graph.labels[ends.first], self.graph.labels[ends.second]]
        self.into.put(bags, Classes(Stratum(block), labels, [ends.pattern]))

    def _open(self, truth: Floats, weight: Ints, times: Ints, group: Ints, count: int) -> Ints:
        """Begin a bag for each group of head atoms, weighed by truth, `weight` and `times`."""
        weights = np.nan_to_num(truth), self.weigh.negatives(truth, weight)
        positives, negatives = (sums_of(group, times * part, count) for part in weights)
        return self.into.open(positives, negatives, np.bincount(group, times, count).astype(np.int64))


def _sums(keys: Ints, weights: Ints) -> tuple[Ints, Ints, Ints]:
    """Distinct keys, how often each occurs, and the sum of its weights."""
    distinct, group, times = np.unique(keys, return_inverse=True, return_counts=True)
    added = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(added, group.ravel(), weights)
    return distinct, times, added
