"""Beam search for the body that a likelihood gains most by, over histograms of binned columns.

One pass over the rows of a column gives the sums of slope and curvature in
each of its bins, and cumulative sums of these give them for every literal of
the column. So a number may have hundreds of cuts at the price of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from andre.arrays import Bools, Floats
from andre.limits import check
from andre.samples import BinnedTable, Codes, quantile_gaps

#: The literals of a body in ascending order: the number of an atom, or m more for its negation.
Body: TypeAlias = tuple[int, ...]

_Key: TypeAlias = tuple[int, Body]  #: an output, and a body for it

#: Bodies whose literals are exchanged one by one at the end of a search, and how often at the most.
_POLISHED, _ROUNDS = 3, 4
#: Bodies that are kept of one exchange: the first few by gain, of which a shorter one may be best.
_FEW = 4
#: Cuts of a column that longer bodies are searched for with, before their literals are exchanged for any.
_COARSE = 32
#: Rows of all bodies of a pool together, as many as are held.
_POOLED = 10_000_000
#: Rows of all bodies together whose covers are kept from one search to the next.
_KEPT = 4_000_000
#: Curvature below which rows say nothing.
_TINY = 1e-9


@dataclass(frozen=True)
class Found:
    """A body that a search came to, and for which output."""

    owner: int
    body: Body
    score: float  #: nats that the likelihood gains to second order, less the price of the literals


@dataclass(frozen=True)
class SearchConfig:
    """What bodies are looked for.

    Examples
    --------
    >>> SearchConfig(max_literals=2).beam
    12
    """

    max_literals: int = 3  #: in one body
    beam: int | None = 12  #: bodies kept of each length and output; None keeps all, for small tables
    price: float = 1.0  #: nats that a literal costs
    penalty: float = 1.0  #: on the squares of weights, as in the likelihood


@dataclass(frozen=True, eq=False)
class Pull:
    """Slope and curvature of the log-likelihood by the scores, at the present model."""

    slope: Floats  #: [rows, outputs]
    bend: Floats  #: [rows, outputs]

    @cached_property
    def total(self) -> Floats:
        """The curvature of all rows, [outputs]."""
        return np.asarray(self.bend.sum(axis=0))


class BodySearch:
    """Looks for bodies over one table, for any slopes.

    Parameters
    ----------
    pool
        Bodies that compete with those that are searched for; of very many the first.

    Examples
    --------
    >>> from andre.samples import BinnedColumn
    >>> bins = np.array([0, 1, 2, 3], dtype=np.int16)
    >>> search = BodySearch(BinnedTable((BinnedColumn("age", True, 3, bins),)), SearchConfig(price=0.1))
    >>> pull = Pull(np.array([[-1.0], [1.0], [1.0], [-1.0]]), np.full((4, 1), 0.25))
    >>> search.best(pull)[0].body  # age > the first cut, age =< the third
    (0, 5)
    """

    def __init__(self, table: BinnedTable, config: SearchConfig, pool: Sequence[Body] = ()) -> None:
        self.table, self.config = table, config
        self._covers: dict[Body, Bools] = {}  # searches come by the same bodies again and again
        most = max(1, _POOLED // max(1, table.n_rows))
        self._pool = list(pool)[:most]
        covers = [self.cover(body) for body in self._pool]
        self._pool_covers = np.array(covers, dtype=np.float32).reshape(len(covers), table.n_rows)
        column = table.column_of
        ordered = np.array([table.columns[place].ordered for place in column], dtype=np.bool_)
        self._complete = [bool((one.bins >= 0).all()) for one in table.columns]
        self._fine = self._coarse = _Histograms(table, np.arange(table.m))
        if len(shown := _coarse_atoms(table)) < table.m:
            self._coarse = _Histograms(table, shown)
        # What is asked of single literals, thousands of times in a search, as plain numbers.
        self._column_of, self._is_ordered = column.tolist(), ordered.tolist()

    def best(self, pull: Pull, *, known: Iterable[Body] = (), count: int = 8) -> list[Found]:
        """The bodies with the highest scores, best first.

        Parameters
        ----------
        known
            Bodies that compete with those that are searched for.
        count
            How many to return.
        """
        found: dict[_Key, float] = {}
        tried: set[_Key] = set()  # bodies whose extensions by any atom are known
        outputs = range(pull.slope.shape[1])
        width = None if self.config.beam is None else 2 * self.config.beam  # prices reorder what gains order
        beam: list[_Key] = [(owner, ()) for owner in outputs]
        for longer in range(self.config.max_literals):
            check()
            if not beam:
                break
            over = self._coarse if longer else self._fine
            extended = self._extended(beam, pull, over, width)
            if over is self._fine:
                tried.update(beam)
            ranked = _top(extended)
            beam = [key for owner in outputs for key in _of(ranked, owner)[: self.config.beam]]
            found.update({key: extended[key] for key in beam})
        own = [(owner, body) for body in known if body for owner in outputs]
        found.update(self.scores(own, pull))
        for owner in outputs:
            found.update(self._pooled(owner, pull))
        self._polish(found, pull, tried)
        return [Found(owner, self._plain(body), found[owner, body]) for owner, body in _top(found)[:count]]

    def near(self, body: Body, owner: int, pull: Pull, *, count: int = 8) -> list[Found]:
        """The best of all that one literal more, less or another makes of a body, and of single literals.

        Parameters
        ----------
        owner
            The output that the body is for; bodies of one literal are looked for by all of them.
        """
        shorter = [(owner, body[:place] + body[place + 1 :]) for place in range(len(body))]
        alone = [(other, ()) for other in range(pull.slope.shape[1])]
        longer = [(owner, body)] if len(body) < self.config.max_literals else []
        found = self._extended(list(dict.fromkeys([*alone, *shorter, *longer])), pull, self._fine, count)
        found.update(self.scores([(owner, body), *(key for key in shorter if key[1])], pull))
        return [Found(own, self._plain(one), found[own, one]) for own, one in _top(found)[:count]]

    def _plain(self, body: Body) -> Body:
        """The atom in place of its negation alone, where all is known: its weight has the other sign."""
        atom = body[0] % self.table.m
        return (atom,) if len(body) == 1 and self._complete[self.table.column_of[atom]] else body

    def scores(self, keys: Sequence[_Key], pull: Pull) -> dict[_Key, float]:
        """The score of each body for its output."""
        found = {}
        for owner, body in keys:
            held = self.cover(body)
            slope, bend = (part[held, owner].sum() for part in (pull.slope, pull.bend))
            gain = self._gain(np.array([slope]), np.array([bend]), pull.total[owner])
            found[owner, body] = float(gain[0]) - self.config.price * len(body)
        return found

    def _pooled(self, owner: int, pull: Pull) -> dict[_Key, float]:
        """The bodies of the pool, and their scores for an output."""
        slope, bend = (
            np.asarray(self._pool_covers @ part[:, owner].astype(np.float32), dtype=np.float64)
            for part in (pull.slope, pull.bend)
        )
        price = self.config.price * np.array([len(body) for body in self._pool])
        gains = self._gain(slope, bend, pull.total[owner]) - price
        return {(owner, body): gain for body, gain in zip(self._pool, gains.tolist(), strict=True)}

    def cover(self, body: Body) -> Bools:
        """The rows on which a body holds, [rows]; not to be written to, since it is kept."""
        if (known := self._covers.get(body)) is not None:
            return known
        if len(body) > 1:
            held = self.cover(body[:-1]) & self.cover(body[-1:])
        else:
            m = self.table.m
            held = self.table.cover((literal % m, 1 if literal < m else -1) for literal in body)
        if (len(self._covers) + 1) * len(held) > _KEPT:
            self._covers.clear()
        self._covers[body] = held
        return held

    def _gain(self, slope: Floats, bend: Floats, total: Floats) -> Floats:
        """Nats gained by a weight of its own for such rows, when the base follows."""
        spread = 1 - bend / np.maximum(total, _TINY)
        spread *= bend
        np.maximum(spread, 0, out=spread)
        spread += self.config.penalty
        gain = slope**2
        gain /= spread
        gain /= 2
        return np.asarray(gain)

    def _gains(self, keys: Sequence[_Key], pull: Pull, over: _Histograms) -> tuple[Floats, Floats]:
        """Nats gained by bodies with one literal more, and the curvature there, [literals, bodies] each."""
        owners = np.array([owner for owner, _ in keys])
        held = np.array([self.cover(body) for _, body in keys]).T  # [rows, bodies]
        values = np.empty((len(held), 2, len(keys)), dtype=np.float32)
        np.multiply(held, pull.slope[:, owners], out=values[:, 0], casting="same_kind")
        np.multiply(held, pull.bend[:, owners], out=values[:, 1], casting="same_kind")
        sums = over.sums(values.reshape(len(held), -1))  # [literals, 2 * bodies]
        slope, bend, total = sums[:, : len(keys)], sums[:, len(keys) :], pull.total[owners]
        gains = self._gain(slope, bend, total)
        gains[bend < _TINY * total] = 0
        return gains, bend

    def _extended(
        self, keys: Sequence[_Key], pull: Pull, over: _Histograms, count: int | None = None
    ) -> dict[_Key, float]:
        """Bodies with one literal more, and their scores: for each body the best of each column and sign.

        Of very many the `count` of each output that gain most, all where it is None.
        """
        gains, bend = self._gains(keys, pull, over)
        places = np.flatnonzero(gains > 0 if self.config.beam is None else over.best_of_columns(gains))
        places = places[np.argsort(-gains.flat[places], kind="stable")]
        found: dict[_Key, float] = {}
        for owner in dict.fromkeys(owner for owner, _ in keys):
            own = np.array([owner == other for other, _ in keys])
            found.update(self._distinct(keys, gains, bend, places[own[places % len(keys)]], over, count))
        return found

    def _distinct(
        self,
        keys: Sequence[_Key],
        gains: Floats,
        bend: Floats,
        places: NDArray[np.intp],
        over: _Histograms,
        count: int | None,
    ) -> dict[_Key, float]:
        """The first few extensions of one output, by their places in the flat table, that cover others."""
        if count is not None:
            places = places[: 4 * count]
        (rows, which), gained = np.divmod(places, len(keys)), gains.flat[places]
        same = np.stack((gained, bend.flat[places]), axis=1).round(6)  # bodies that cover the same rows
        found: dict[_Key, float] = {}
        seen: set[tuple[float, ...]] = set()
        for gain, literal, old, cover in zip(
            gained.tolist(),
            over.literals[rows].tolist(),
            which.tolist(),
            map(tuple, same.tolist()),
            strict=True,
        ):
            if len(found) == count:
                break
            owner, short = keys[old]
            if short and cover in seen:
                continue
            body = self._with(short, literal)
            if body is None or (owner, body) in found:
                continue
            seen.add(cover)
            found[owner, body] = gain - self.config.price * len(body)
        return found

    def _with(self, body: Body, literal: int) -> Body | None:
        """A body with one more literal and without those that it implies; None where nothing is added."""
        if not body:
            return (literal,)
        m = len(self._column_of)
        atom = literal % m
        column = self._column_of[atom]
        kept = []
        for other in body:
            if other == literal or other % m == atom:
                return None
            if self._column_of[other % m] == column:
                same_sign = (other < m) == (literal < m)
                if self._is_ordered[atom]:
                    if same_sign:
                        stronger = atom > other if literal < m else atom < other - m
                        if not stronger:
                            return None
                        continue
                elif literal < m:  # one level says all about the others
                    if same_sign:
                        return None
                    continue
                elif other < m:
                    return None
            kept.append(other)
        return tuple(sorted((*kept, literal)))

    def _polish(self, found: dict[_Key, float], pull: Pull, tried: set[_Key]) -> None:
        """Add bodies that the best ones become by exchanging or dropping one literal at a time.

        Bodies that were `tried` have been extended before, so that nothing better is to be had from them.
        """
        for _ in range(_ROUNDS):
            check()
            shorter = [
                (owner, body[:place] + body[place + 1 :])
                for owner, body in _top(found)[:_POLISHED]
                for place in range(len(body))
            ]
            fresh = [key for key in dict.fromkeys(shorter) if key not in tried]
            if not fresh:
                break
            tried.update(fresh)
            found.update(self._extended(fresh, pull, self._fine, _FEW))
            found.update(self.scores([key for key in fresh if key[1]], pull))


class _Histograms:
    """Sums over the rows of many literals at once, from sums over those of each bin of each column.

    Parameters
    ----------
    atoms
        Of all of the table those that are asked for, in ascending order.
    """

    def __init__(self, table: BinnedTable, atoms: NDArray[np.intp]) -> None:
        self.literals = np.append(atoms, table.m + atoms)
        table = table.of_atoms(atoms)
        widths = np.array([column.n_atoms + 1 for column in table.columns])
        begins = np.cumsum(widths) - widths  # of the bins of each column
        bins = np.stack([column.bins for column in table.columns], axis=1)  # [rows, columns]
        known = bins >= 0
        places = (bins + begins)[known].astype(np.int32)
        starts = np.append(0, np.cumsum(known.sum(axis=1))).astype(np.int32)
        shape = (table.n_rows, int(widths.sum()))
        self._bins = csr_matrix((np.ones(len(places), dtype=np.float32), places, starts), shape).T
        column = table.column_of
        within = np.arange(table.m) - table.starts[column]
        self._place = begins[column] + within + 1  # of each atom's bin in cumulative sums that begin with 0
        self._first, self._last = begins[column], (begins + widths)[column]
        ordered = np.array([table.columns[place].ordered for place in column], dtype=np.bool_)
        self._levels = np.flatnonzero(~ordered)  # atoms that say what a column is, not what it is above
        sides = np.append(column, len(table.columns) + column)
        self._sides = np.flatnonzero(np.diff(sides, prepend=-1))
        self._side_sizes = np.diff(self._sides, append=len(sides))

    def sums(self, values: NDArray[np.float32]) -> NDArray[Any]:
        """Sums of values over the rows of each literal, from [rows, v] to [literals, v]."""
        m = len(self._place)
        bins = self._bins @ values  # [bins, v]
        below = np.zeros((len(bins) + 1, bins.shape[1]))  # [bins + 1, v]
        np.cumsum(bins, axis=0, dtype=np.float64, out=below[1:])
        upto, first, last = (below.take(each, axis=0) for each in (self._place, self._first, self._last))
        sums = np.empty((2 * m, bins.shape[1]), dtype=np.float32)
        np.subtract(last, upto, out=sums[:m], casting="same_kind")
        np.subtract(upto, first, out=sums[m:], casting="same_kind")
        levels = self._levels
        if len(levels):
            sums[levels] = upto[levels] - below[self._place[levels] - 1]
            sums[m + levels] = last[levels] - first[levels] - sums[levels]
        return sums

    def best_of_columns(self, gains: Floats) -> Bools:
        """Which gains, [literals, bodies], are above 0 and the best of their column and sign.

        These go on: neighbouring cuts would fill a beam.
        """
        tops = np.maximum.reduceat(gains, self._sides, axis=0)
        return np.asarray((gains > 0) & (gains == np.repeat(tops, self._side_sizes, axis=0)))


def _coarse_atoms(table: BinnedTable) -> NDArray[np.intp]:
    """The atoms of the table, but of many cuts of a column only some, at quantiles of its rows."""
    found = []
    for start, column in zip(table.starts.tolist(), table.columns, strict=False):
        atoms = np.arange(column.n_atoms)
        if column.ordered and column.n_atoms > _COARSE:
            rows = np.bincount(column.bins[column.bins >= 0], minlength=len(atoms) + 1)
            atoms = quantile_gaps(rows.astype(np.float64), _COARSE)
        found.append(start + atoms)
    return np.concatenate(found)


def _top(scores: dict[_Key, float]) -> list[_Key]:
    """All keys, those with the highest scores first."""
    return sorted(scores, key=lambda key: -scores[key])


def _of(keys: Iterable[_Key], owner: int) -> list[_Key]:
    """The keys of one output."""
    return [key for key in keys if key[0] == owner]


def codes_of(bodies: Sequence[Body], m: int) -> Codes:
    """Bodies as numbers, [bodies, m].

    Examples
    --------
    >>> codes_of([(0, 3)], m=2)
    array([[ 1, -1]], dtype=int8)
    """
    codes = np.zeros((len(bodies), m), dtype=np.int8)
    for row, body in enumerate(bodies):
        for literal in body:
            codes[row, literal % m] = 1 if literal < m else -1
    return codes


def bodies_of(codes: Codes) -> list[Body]:
    """The inverse of `codes_of`.

    Examples
    --------
    >>> bodies_of(np.array([[1, -1]], dtype=np.int8))
    [(0, 3)]
    """
    return [tuple(np.flatnonzero(np.append(code > 0, code < 0)).tolist()) for code in codes]
