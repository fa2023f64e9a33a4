"""Bags from profiles: for heads of at most two arguments and rules with at most one variable more.

The bag of a head atom (x, y) follows from the neighbours of x and y: of which
types third constants are that are attached (by a fact) to both, to x only, to y
only, or to neither. Only head atoms whose arguments a fact or a third constant
connects are visited. All others are counted class by class, as the product of
two classes of constants with equal neighbours, less the connected pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from andre.arrays import Floats, Ints, blocks_of, csr_entries, number_rows
from andre.census.bags import BagCollector, Weigher
from andre.census.connections import Connections, Exhausted, PairHeads, Paths
from andre.census.draw import DrawnHeads
from andre.census.graph import FactGraph
from andre.census.profiles import Profiles, Sets
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
    profiles = Profiles.of(graph)
    found = _Bags(graph, profiles, Connections(graph, profiles, inner), into, weigh, inner, identity)
    if drawn is not None:
        found.put_drawn(drawn)
    elif graph.space.head.arity == 1:
        found.put_singles(graph.domain(0))
    else:
        if not identity:
            found.put_singles(graph.domain(0, 1))
        found.put_pairs()


@dataclass(frozen=True, eq=False)
class _Bags:
    """Puts the bags of head atoms into a collector, by what their arguments see."""

    graph: FactGraph
    profiles: Profiles
    connections: Connections
    into: BagCollector
    weigh: Weigher
    inner: bool  #: whether rules have one variable more than the head
    identity: bool  #: whether all variables of a rule stand for different constants

    def put_drawn(self, drawn: DrawnHeads) -> None:
        """Head atoms that were drawn, each standing for some."""
        same = drawn.first == drawn.second
        self.put_singles(drawn.first[same], drawn.times[same])
        first, second, times = drawn.first[~same], drawn.second[~same], drawn.times[~same]
        for begin, end in blocks_of(self.graph.degree[first] + 1, _BLOCK):
            check()
            part = slice(begin, end)
            ends = PairHeads(first[part], second[part], self.graph.pattern_of(first[part], second[part]))
            self._put_heads(ends, self.connections.between(ends), times[part])

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
            heads, paths = self.connections.from_starts(block)
            self._put_heads(heads, paths, np.ones_like(heads.first))
            weight = self.weigh.weight_unstated(heads.first, heads.second)
            connected.append(_sums(number[heads.first] * len(examples) + number[heads.second], weight))
        both = graph.domain(0, 1)
        connected.append(_sums(number[both] * (len(examples) + 1), self.weigh.weight_unstated(both, both)))
        self._put_unconnected(examples, number, connected)

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
            heads, between = self.connections.from_starts(block)
            begun._put_heads(heads, between, np.ones_like(heads.first))
        expected = begun.into.taken * (total / max(1, paths[some].sum()))
        if expected > _HOPELESS * self.into.memory:
            self.into.refuse("the bags of rows would take about", expected)

    def _put_heads(self, heads: PairHeads, paths: Paths, times: Ints) -> None:
        """Head atoms of two constants, with what connects them, each standing for `times`."""
        graph, profiles = self.graph, self.profiles
        if not len(heads.first):
            return
        columns = [graph.labels[heads.first], graph.labels[heads.second], heads.pattern]
        if self.inner:
            joint, kind = number_rows([paths.of_first, paths.of_second])  # types as x and y see them
            shared = Sets.of(paths.head, kind, len(heads.first), len(joint))
            exhausted = self.connections.exhausted(heads, paths)
            columns += [profiles.number[heads.first], profiles.number[heads.second]]
            columns += [shared.numbers(), *exhausted.numbers()]
        shown, group = number_rows(columns)
        truth = graph.pattern_truth[heads.pattern]
        weight = self.weigh.weight_unstated(heads.first, heads.second)
        bags, ends = self._open(truth, weight, times, group, len(shown)), heads.take(shown)
        if not self.inner:
            self._put_without_third(bags, ends, (0, 1))
            return
        which, entry = csr_entries(shared.starts, shown)
        path = joint[shared.items[entry]]
        one, two = paths.of_first[path], paths.of_second[path]
        patterns = profiles.neighbours.pattern[one], profiles.neighbours.pattern[two]
        self._put_third(bags, ends, which, profiles.neighbours.label[one], patterns)
        self._put_unshared(bags, ends, exhausted, shown)

    def _put_unconnected(
        self, examples: Ints, number: Ints, connected: Sequence[tuple[Ints, Ints, Ints]]
    ) -> None:
        """Head atoms that nothing connects: all pairs of two classes of constants, less the connected.

        Parameters
        ----------
        examples
            One constant of each class, C of them.
        number
            [n], the class of each constant.
        connected
            Pairs of classes, as first * C + second, the connected head atoms of each, and their weights.
        """
        graph, profiles = self.graph, self.profiles
        pairs, heads, weight = self._pairs_of_classes(number, len(examples))
        for pair, times, weights in connected:
            place = np.searchsorted(pairs, pair)
            np.subtract.at(heads, place, times)
            np.subtract.at(weight, place, weights)
        left = np.flatnonzero(heads)
        first, second = (examples[one] for one in np.divmod(pairs[left], len(examples)))
        negatives = np.zeros(len(left)) if self.weigh.stated_only else weight[left].astype(np.float64)
        bags = self.into.open(np.zeros(len(left)), negatives, heads[left])
        apart = PairHeads(first, second, np.zeros_like(first))
        if not self.inner:
            self._put_without_third(bags, apart, (0, 1))
            return
        used = profiles.used[first] + profiles.used[second]
        both = profiles.exhaustible[first] & profiles.exhaustible[second]
        labels = self.connections.exhausted_labels((used >= graph.label_counts[profiles.scarce]) & both)
        none = Sets.of(left[:0], left[:0], len(left), profiles.n_types)
        self._put_unshared(bags, apart, Exhausted(none, none, labels), np.arange(len(left)))

    def _pairs_of_classes(self, number: Ints, n_classes: int) -> tuple[Ints, Ints, Ints]:
        """All pairs of classes that head atoms have, ascending, with how many atoms and which weight."""
        starts, ends = self.graph.domain(0), self.graph.domain(1)
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
        heads = n_first[one] * n_second[two]
        weight = heads.copy()
        if self.weigh.out is not None and self.weigh.into is not None:
            out, into = np.zeros(n_classes, dtype=np.int64), np.zeros(n_classes, dtype=np.int64)
            np.add.at(out, number[starts], self.weigh.out[starts])
            np.add.at(into, number[ends], self.weigh.into[ends])
            weight = out[one] * n_second[two] + n_first[one] * into[two]
        return one * n_classes + two, heads, weight

    def _put_unshared(self, bags: Ints, ends: PairHeads, exhausted: Exhausted, rows: Ints) -> None:
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
            self._put_without_third(bags, ends, (0, 1, 0))
            self._put_without_third(bags, ends, (0, 1, 1))

    def _put_third(
        self, bags: Ints, ends: PairHeads, which: Ints, label: Ints, patterns: tuple[Ints, Ints]
    ) -> None:
        """Rows with a third constant, by its label and its patterns from x and from y."""
        heads = ends.take(which)
        labels = [self.graph.labels[heads.first], self.graph.labels[heads.second], label]
        self.into.put(bags[which], Classes(Stratum((0, 1, 2)), labels, [heads.pattern, *patterns]))

    def _put_without_third(self, bags: Ints, ends: PairHeads, block: tuple[int, ...]) -> None:
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
