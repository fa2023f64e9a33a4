"""Drawing examples at random from counts, however large.

A sample of head atoms: drawn kind by kind, so that each stands for many of its kind.

A large base has more head atoms than bags of theirs fit into memory, and a
learner needs to see a few thousand. Facts are few among head atoms, and atoms
whose arguments something connects are few among those that are no facts: a
plain sample would hold hardly any of these, though all that a body can tell
apart is there. Hence kinds: what is stated; what is not but is connected; what
nothing connects; and of the last two, what weighs as an example and what does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Ints, blocks_of, csr_entries, distinct_keys
from andre.census.bags import Weigher
from andre.census.graph import FactGraph
from andre.census.joins import path_blocks

__all__ = ["DrawnHeads", "draw_cells", "draw_heads", "draw_marked", "n_heads"]


#: NumPy's own draw takes no larger numbers.
_NUMPY_LIMIT = 10**9
#: From this spread on the law is as good as normal: its skewness is below one in this number.
_NORMAL = 1e5


def draw_cells(cells: NDArray[Any], share: float, rng: np.random.Generator) -> NDArray[Any]:
    """Draw a share of all examples without putting any back: how many come from each cell.

    The law is multivariate hypergeometric; cells are drawn one after another.

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
    """How many marked ones are among those drawn without putting any back (hypergeometric).

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
    spread = math.sqrt(mean * (others / total) * ((total - wanted) / (total - 1)))
    if spread > _NORMAL:
        return min(high, max(low, round(rng.normal(mean, spread))))
    # Weights relative to the mode, by the ratio of neighbours: no factorial is ever computed.
    begin, end = max(low, math.floor(mean - 12 * spread) - 12), min(high, math.ceil(mean + 12 * spread) + 12)
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


#: Head atoms looked at together.
_BLOCK = 2_000_000
#: Where fewer than one pair in so many will do, listing all pairs beats drawing until some do.
_RARE = 8


@dataclass(frozen=True, eq=False)
class DrawnHeads:
    """Distinct head atoms, and how many each stands for: all of them together for all there are."""

    first: Ints  #: [H]
    second: Ints  #: [H], the same as `first` in p(x) and p(x, x)
    times: Ints  #: [H]

    def __len__(self) -> int:
        return len(self.times)


def n_heads(graph: FactGraph, identity: bool) -> int:
    """How many head atoms there are."""
    domains = [graph.domain(place) for place in range(graph.space.head.arity)]
    same = len(np.intersect1d(domains[0], domains[1])) if identity and len(domains) == 2 else 0
    return int(np.prod([len(domain) for domain in domains], dtype=object)) - same


def draw_heads(
    graph: FactGraph, weigh: Weigher, most: int, seed: int, *, inner: bool, identity: bool
) -> DrawnHeads:
    """Draw head atoms of at most two arguments.

    Half of them are stated and half are not, evenly by kind; where there are
    fewer of a kind, all are taken and the others get more. Within a kind every
    choice is equally likely, so that weights are right in expectation, and the
    number of atoms of each kind exactly.

    Parameters
    ----------
    weigh
        Says which atoms that are not stated weigh as examples.
    most
        How many are drawn.
    inner
        Whether rules have a third variable, which connects the other two.
    identity
        Whether the arguments of a head atom are distinct.
    """
    rng = np.random.default_rng(seed)
    look = _Look(graph, weigh, inner)
    near = [_Urn(most, rng) for _ in range(3)]
    seen = look.loops()  # of all pairs those that are not apart, by whether they weigh
    for keys in look.listed(identity):
        kinds = look.kinds(keys)
        for number, urn in enumerate(near):
            urn.put(keys[kinds == number])
        seen += look.pairs(keys)
    fields = look.fields()
    apart = [field.area - int(count) for field, count in zip(fields, seen, strict=True)]
    stated, *others = [*(urn.count for urn in near), *apart]
    quota, rest = _even([stated, sum(others)], most)
    quotas = [quota, *_even(others, rest)]
    drawn = [urn.draw(quota) for urn, quota in zip(near, quotas[:3], strict=True)]
    for field, size, quota in zip(fields, apart, quotas[3:], strict=True):
        drawn.append(look.draw_apart(field, size, quota, rng))
    times = [_whole_shares(size, len(keys), rng) for size, keys in zip([stated, *others], drawn, strict=True)]
    first, second = np.divmod(np.concatenate(drawn), graph.n)
    return DrawnHeads(first, second, np.concatenate(times))


def _even(sizes: Sequence[int], room: int) -> list[int]:
    """Share a room evenly; what is smaller than its share leaves the rest to the others."""
    shares = [0] * len(sizes)
    for waiting, place in zip(range(len(sizes), 0, -1), np.argsort(sizes, kind="stable"), strict=True):
        shares[place] = min(sizes[place], room // waiting)
        room -= shares[place]
    return shares


def _whole_shares(total: int, count: int, rng: np.random.Generator) -> Ints:
    """A total as so many whole numbers, which differ by one at most."""
    if not count:
        return np.zeros(0, dtype=np.int64)
    least, more = divmod(total, count)
    return least + (rng.permutation(count) < more)


class _Urn:
    """Items are put in without end; a uniform sample of them is kept."""

    def __init__(self, most: int, rng: np.random.Generator) -> None:
        self.count = 0
        self._most, self._rng = most, rng
        self._items, self._lots = np.zeros(0, dtype=np.int64), np.zeros(0)

    def put(self, items: Ints) -> None:
        """Give every item a lot, and keep those of the lowest lots."""
        self.count += len(items)
        self._lots = np.concatenate([self._lots, self._rng.random(len(items))])
        self._items = np.concatenate([self._items, items])
        if len(self._lots) > self._most:
            kept = np.argpartition(self._lots, self._most)[: self._most]
            self._lots, self._items = self._lots[kept], self._items[kept]

    def draw(self, count: int) -> Ints:
        """So many of the items, in order."""
        return np.sort(self._items[np.argsort(self._lots)[:count]])


@dataclass(frozen=True, eq=False)
class _Field:
    """Pairs of constants, as rectangles of first and second ones."""

    sides: tuple[tuple[Ints, Ints], ...]
    n: int

    @property
    def area(self) -> int:
        """How many pairs there are, those of a constant with itself among them."""
        return sum(len(rows) * len(columns) for rows, columns in self.sides)

    def keys(self, places: Ints) -> Ints:
        """The pairs that stand in these places."""
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
class _Look:
    graph: FactGraph
    weigh: Weigher
    inner: bool

    def listed(self, identity: bool) -> Iterator[Ints]:
        """Keys of atoms with one constant, and of those whose arguments something connects, in blocks."""
        graph = self.graph
        unary = graph.space.head.arity == 1
        both = graph.domain(0) if unary else np.intersect1d(graph.domain(0), graph.domain(1))
        if unary or not identity:
            yield both * (graph.n + 1)
        if unary:
            return
        for block in path_blocks(graph, graph.domain(0), _BLOCK, inner=self.inner):
            which, step = csr_entries(graph.starts, block)
            found = [block[which] * graph.n + graph.others[step]]
            if self.inner:
                again, last = csr_entries(graph.starts, graph.others[step])
                found.append(block[which[again]] * graph.n + graph.others[last])
            first, second = np.divmod(distinct_keys(np.concatenate(found)), graph.n)
            kept = (first != second) & graph.domains[graph.labels[second], 1]
            yield first[kept] * graph.n + second[kept]

    def kinds(self, keys: Ints) -> Ints:
        """0 for what is stated, 1 for what is not but weighs, 2 for what weighs nothing."""
        graph = self.graph
        first, second = np.divmod(keys, graph.n)
        truth = np.where(
            first == second,
            graph.label_truth[graph.labels[first]],
            graph.pattern_truth[graph.pattern_of(first, second)],
        )
        return np.where(np.isnan(truth), 1 + self._weightless(first, second), 0)

    def loops(self) -> Ints:
        """How many pairs of a constant with itself there are, those that weigh first."""
        same = np.intersect1d(*self._sides)
        return np.bincount(self._weightless(same, same), minlength=2)

    def pairs(self, keys: Ints) -> Ints:
        """How many of these are pairs of distinct constants, those that weigh first."""
        first, second = np.divmod(keys, self.graph.n)
        return np.bincount(self._weightless(first, second)[first != second], minlength=2)

    def fields(self) -> tuple[_Field, _Field]:
        """All pairs that weigh, were they not stated, and all that do not."""
        (one, two), (out, into) = self._sides, self._heavy
        heavy, light = one[out[one]], one[~out[one]]
        weighing = (heavy, two), (light, two[into[two]])
        return _Field(weighing, self.graph.n), _Field(((light, two[~into[two]]),), self.graph.n)

    def draw_apart(self, field: _Field, size: int, count: int, rng: np.random.Generator) -> Ints:
        """Some of the pairs that nothing connects, of which the field has `size`."""
        if not count:
            return np.zeros(0, dtype=np.int64)
        if size * _RARE < field.area or field.area <= _RARE * count:
            urn = _Urn(count, rng)
            for begin in range(0, field.area, _BLOCK):
                places = np.arange(begin, min(begin + _BLOCK, field.area))
                urn.put(self._unconnected(field.keys(places)))
            return urn.draw(count)
        found = np.zeros(0, dtype=np.int64)
        while len(found) < count:
            keys = field.keys(rng.integers(field.area, size=2 * count))
            found = distinct_keys(np.concatenate([found, self._unconnected(keys)]))
        return np.sort(rng.permutation(found)[:count])

    @cached_property
    def _sides(self) -> tuple[Ints, Ints]:
        """What stands first in a pair, and what second."""
        binary = self.graph.space.head.arity == 2
        return self.graph.domain(0), self.graph.domain(1) if binary else np.zeros(0, dtype=np.int64)

    @cached_property
    def _heavy(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which constants make an atom weigh where they stand first, and which where second, [n] each."""
        if self.weigh.out is None or self.weigh.into is None:
            every = np.full(self.graph.n, not self.weigh.stated_only)
            return every, every
        return self.weigh.out > 0, self.weigh.into > 0

    def _weightless(self, first: Ints, second: Ints) -> Ints:
        """1 for atoms that weigh nothing where they are not stated, else 0."""
        out, into = self._heavy
        return np.where(out[first] | into[second], 0, 1)

    def _unconnected(self, keys: Ints) -> Ints:
        """Those pairs of distinct constants that neither a fact nor a third constant connects."""
        graph = self.graph
        first, second = np.divmod(keys, graph.n)
        apart = (first != second) & (graph.pattern_of(first, second) == 0)
        if self.inner:
            degree = np.diff(graph.starts)
            fewer = degree[first] < degree[second]  # a third constant is sought among the fewer neighbours
            near, far = np.where(fewer, first, second), np.where(fewer, second, first)
            for begin, end in blocks_of(degree[near], _BLOCK):
                which, step = csr_entries(graph.starts, near[begin:end])
                met = graph.pattern_of(graph.others[step], far[begin:end][which]) > 0
                apart[begin + which[met]] = False
        found: Ints = keys[apart]
        return found
