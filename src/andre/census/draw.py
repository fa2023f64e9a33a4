"""Random draws: a share of counted examples, and a stratified sample of head atoms.

The bags of all head atoms of a large base do not fit into memory, and a learner
needs to see a few thousand. Few head atoms are facts, and few others have
arguments that something connects: a uniform sample would hold hardly any of
these, though most bodies differ in them alone. Hence five kinds, each sampled
on its own (a stratified sample): stated atoms; connected atoms that are not
stated, with and without weight as examples; unconnected atoms, with and
without weight. Atoms that are known to matter, such as what rules derive
wrongly, are a sixth.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from andre.arrays import Bools, Counts, Ints, among, blocks_of, csr_entries, distinct_keys
from andre.census.bags import Weigher
from andre.census.graph import FactGraph
from andre.census.plan import Draw
from andre.limits import check

#: NumPy's own hypergeometric draw takes no larger numbers.
_NUMPY_LIMIT = 10**9
#: From this standard deviation on the distribution is as good as normal: its skewness is below 1e-5.
_NORMAL = 1e5


def draw_cells(cells: Counts, share: float, rng: np.random.Generator) -> Counts:
    """Draw a share of all examples without replacement: how many come from each cell.

    The distribution is multivariate hypergeometric; cells are drawn one after another.

    Examples
    --------
    >>> cells = np.array([4, 0, 6])
    >>> drawn = draw_cells(cells, 0.5, np.random.default_rng(0))
    >>> int(drawn.sum()), bool((drawn <= cells).all())
    (5, True)
    """
    left = int(cells.sum())
    wanted = round(share * left)
    drawn = np.zeros_like(cells)
    for place, size in enumerate(map(int, cells)):
        drawn[place] = draw_marked(size, left - size, wanted, rng)
        wanted -= int(drawn[place])
        left -= size
    return drawn


def draw_marked(marked: int, others: int, wanted: int, rng: np.random.Generator) -> int:
    """How many marked items are among those drawn without replacement (hypergeometric, of any size).

    Examples
    --------
    >>> draw_marked(10**13, 0, 7, np.random.default_rng(0))
    7
    """
    total = marked + others
    low, high = max(0, wanted - others), min(marked, wanted)
    if low == high:
        return low
    if total < _NUMPY_LIMIT:
        return int(rng.hypergeometric(marked, others, wanted))
    mean = wanted * (marked / total)
    std = math.sqrt(mean * (others / total) * ((total - wanted) / (total - 1)))
    if std > _NORMAL:
        return min(high, max(low, round(rng.normal(mean, std))))
    # Weights relative to the mode, by the ratio of neighbours: no factorial is ever computed.
    begin, end = max(low, math.floor(mean - 12 * std) - 12), min(high, math.ceil(mean + 12 * std) + 12)
    values = np.arange(begin, end, dtype=np.float64)
    with np.errstate(divide="ignore"):
        steps = (
            np.log(marked - values)
            + np.log(wanted - values)
            - np.log(values + 1)
            - np.log(float(others - wanted + 1) + values)
        )
    heights = np.concatenate([[0.0], np.cumsum(steps)])
    chances = np.exp(heights - heights.max())
    place = np.searchsorted(np.cumsum(chances), rng.random() * chances.sum())
    return begin + int(min(place, len(chances) - 1))


@dataclass(frozen=True, eq=False)
class DrawnHeads:
    """Distinct head atoms, and how many each stands for; the numbers add up to all head atoms."""

    first: Ints  #: [H]
    second: Ints  #: [H], the same as `first` in p(x) and p(x, x)
    times: Ints  #: [H]

    def __len__(self) -> int:
        return len(self.times)


def draw_heads(graph: FactGraph, weigh: Weigher, draw: Draw, *, inner: bool, identity: bool) -> DrawnHeads:
    """A stratified sample of head atoms of at most two arguments.

    Half of them are stated and half are not, the latter shared evenly by their
    kinds; where there are too few of a kind, all are taken and the others get
    more. Within a kind every choice is equally likely, so that weights are right
    in expectation, and the number of atoms of each kind is right exactly.

    Those of `draw.also` that are connected and not stated are a kind of their own.

    Parameters
    ----------
    weigh
        Says which atoms that are not stated weigh as examples.
    inner
        Whether rules have a third variable, which may connect the head's two.
    identity
        Whether the arguments of a head atom are distinct.
    """
    rng = np.random.default_rng(draw.seed)
    kinds = _Kinds(graph, weigh, draw, inner)
    # Stated; connected, with and without weight; asked for.
    listed = [_Reservoir(draw.most, rng) for _ in range(4)]
    not_apart = kinds.n_loops()  # by whether they weigh
    for keys in kinds.connected(identity):
        check()
        kind = kinds.of(keys)
        for number, reservoir in enumerate(listed):
            reservoir.put(keys[kind == number])
        not_apart += kinds.n_pairs(keys)
    products = kinds.products()
    n_apart = [product.size - int(count) for product, count in zip(products, not_apart, strict=True)]
    n_stated, *n_others = [*(reservoir.count for reservoir in listed), *n_apart]
    quota, rest = _water_fill([n_stated, sum(n_others)], draw.most)
    quotas = [quota, *_water_fill(n_others, rest)]
    drawn = [reservoir.sample(quota) for reservoir, quota in zip(listed, quotas[:4], strict=True)]
    for product, size, quota in zip(products, n_apart, quotas[4:], strict=True):
        drawn.append(kinds.draw_apart(product, size, quota, rng))
    sizes = zip([n_stated, *n_others], drawn, strict=True)
    times = [_whole_shares(size, len(keys), rng) for size, keys in sizes]
    first, second = np.divmod(np.concatenate(drawn), graph.n)
    return DrawnHeads(first, second, np.concatenate(times))


def _water_fill(demands: Sequence[int], budget: int) -> list[int]:
    """Split a budget by water-filling: small demands are met, the rest is shared evenly."""
    shares = [0] * len(demands)
    for waiting, place in zip(range(len(demands), 0, -1), np.argsort(demands, kind="stable"), strict=True):
        shares[place] = min(demands[place], budget // waiting)
        budget -= shares[place]
    return shares


def _whole_shares(total: int, count: int, rng: np.random.Generator) -> Ints:
    """A total as `count` integers that differ by at most one, in random order."""
    if not count:
        return np.zeros(0, dtype=np.int64)
    least, more = divmod(total, count)
    return least + (rng.permutation(count) < more)


class _Reservoir:
    """Reservoir sampling: a uniform sample of at most `most` of the items put in, however many."""

    def __init__(self, most: int, rng: np.random.Generator) -> None:
        self.count = 0
        self._most, self._rng = most, rng
        self._items, self._priorities = np.zeros(0, dtype=np.int64), np.zeros(0)

    def put(self, items: Ints) -> None:
        """Give every item a random priority, and keep the items of the lowest."""
        self.count += len(items)
        self._priorities = np.concatenate([self._priorities, self._rng.random(len(items))])
        self._items = np.concatenate([self._items, items])
        if len(self._items) > self._most:
            kept = np.argpartition(self._priorities, self._most)[: self._most]
            self._priorities, self._items = self._priorities[kept], self._items[kept]

    def sample(self, count: int) -> Ints:
        """A uniform sample of `count` of the items, ascending."""
        return np.sort(self._items[np.argsort(self._priorities)[:count]])


@dataclass(frozen=True, eq=False)
class _PairProducts:
    """Pairs of constants, as a union of disjoint Cartesian products."""

    sides: tuple[tuple[Ints, Ints], ...]  #: first and second constants of each product
    n: int

    @property
    def size(self) -> int:
        """How many pairs there are."""
        return sum(len(rows) * len(columns) for rows, columns in self.sides)

    def keys(self, places: Ints) -> Ints:
        """The keys of the pairs with these indices."""
        keys = np.zeros_like(places)
        begin = 0
        for rows, columns in self.sides:
            end = begin + len(rows) * len(columns)
            here = (places >= begin) & (places < end)
            if here.any():
                row, column = np.divmod(places[here] - begin, len(columns))
                keys[here] = rows[row] * self.n + columns[column]
            begin = end
        return keys


@dataclass(frozen=True, eq=False)
class _Kinds:
    """The kinds of head atoms, which are given by keys: first constant * n + second."""

    graph: FactGraph
    weigh: Weigher
    draw: Draw
    inner: bool

    def connected(self, identity: bool) -> Iterator[Ints]:
        """Atoms of one constant, and atoms whose arguments a fact or a third constant connects, in blocks."""
        graph = self.graph
        unary = graph.space.head.arity == 1
        both = graph.domain(0) if unary else graph.domain(0, 1)
        if unary or not identity:
            yield both * (graph.n + 1)
        if unary:
            return
        for block in graph.path_blocks(graph.domain(0), self.draw.block, inner=self.inner):
            yield distinct_keys(graph.connected_keys(*graph.connections(block, inner=self.inner)))

    def of(self, keys: Ints) -> Ints:
        """0 for stated atoms, 3 for others that are asked for, else 1 if they weigh as examples, 2 if not."""
        graph = self.graph
        first, second = np.divmod(keys, graph.n)
        truth = np.where(
            first == second,
            graph.label_truth[graph.labels[first]],
            graph.pattern_truth[graph.pattern_of(first, second)],
        )
        unstated = np.where(among(keys, self._also), 3, 1 + self._weightless(first, second))
        return np.where(np.isnan(truth), unstated, 0)

    @cached_property
    def _also(self) -> Ints:
        """The keys of the atoms that are asked for, ascending."""
        codes, also = self.graph.codes, self.draw.also
        if also is None:
            return np.zeros(0, dtype=np.int64)
        also = also[np.isin(also, codes).all(axis=1)]
        places = np.searchsorted(codes, also)  # [N, arity]
        return distinct_keys(places[:, 0].astype(np.int64) * self.graph.n + places[:, -1])

    def n_loops(self) -> Ints:
        """How many pairs of a constant with itself there are: with weight, and without."""
        same = self.graph.domain(0, 1) if self.graph.space.head.arity == 2 else self._domains[1]
        return np.bincount(self._weightless(same, same), minlength=2)

    def n_pairs(self, keys: Ints) -> Ints:
        """How many of these atoms have two distinct constants: with weight, and without."""
        first, second = np.divmod(keys, self.graph.n)
        return np.bincount(self._weightless(first, second)[first != second], minlength=2)

    def products(self) -> tuple[_PairProducts, _PairProducts]:
        """All pairs, stated or not: those that weigh where they are not stated, and those that do not."""
        (one, two), (out, into) = self._domains, self._weighing
        heavy, light = one[out[one]], one[~out[one]]
        weighing = (heavy, two), (light, two[into[two]])
        return (
            _PairProducts(weighing, self.graph.n),
            _PairProducts(((light, two[~into[two]]),), self.graph.n),
        )

    def draw_apart(self, pairs: _PairProducts, n_apart: int, count: int, rng: np.random.Generator) -> Ints:
        """A uniform sample of `count` of the `n_apart` unconnected ones among these pairs."""
        if not count:
            return np.zeros(0, dtype=np.int64)
        rare, block = self.draw.rare, self.draw.block
        if n_apart * rare < pairs.size or pairs.size <= rare * count:
            reservoir = _Reservoir(count, rng)
            for begin in range(0, pairs.size, block):
                check()
                places = np.arange(begin, min(begin + block, pairs.size))
                reservoir.put(self._unconnected(pairs.keys(places)))
            return reservoir.sample(count)
        found = np.zeros(0, dtype=np.int64)
        while len(found) < count:  # rejection sampling
            check()
            keys = pairs.keys(rng.integers(pairs.size, size=2 * count))
            found = distinct_keys(np.concatenate([found, self._unconnected(keys)]))
        return np.sort(rng.permutation(found)[:count])

    @cached_property
    def _domains(self) -> tuple[Ints, Ints]:
        """First and second constants of pairs; a unary head has no pairs."""
        binary = self.graph.space.head.arity == 2
        return self.graph.domain(0), self.graph.domain(1) if binary else np.zeros(0, dtype=np.int64)

    @cached_property
    def _weighing(self) -> tuple[Bools, Bools]:
        """Which constants make an atom weigh by standing first in it, and by standing second, [n] each."""
        if self.weigh.out is None or self.weigh.into is None:
            every = np.full(self.graph.n, not self.weigh.stated_only)
            return every, every
        return self.weigh.out > 0, self.weigh.into > 0

    def _weightless(self, first: Ints, second: Ints) -> Ints:
        """1 for atoms that weigh nothing where they are not stated, else 0."""
        out, into = self._weighing
        return np.where(out[first] | into[second], 0, 1)

    def _unconnected(self, keys: Ints) -> Ints:
        """Those pairs of distinct constants that neither a fact nor a third constant connects."""
        graph = self.graph
        first, second = np.divmod(keys, graph.n)
        apart = (first != second) & (graph.pattern_of(first, second) == 0)
        if self.inner:
            fewer = graph.degree[first] < graph.degree[second]  # look among the fewer neighbours
            near, far = np.where(fewer, first, second), np.where(fewer, second, first)
            for begin, end in blocks_of(graph.degree[near], self.draw.block):
                check()
                which, step = csr_entries(graph.starts, near[begin:end])
                met = graph.pattern_of(graph.others[step], far[begin:end][which]) > 0
                apart[begin + which[met]] = False
        found: Ints = keys[apart]
        return found
