"""The pairs that bodies cover from given starts: found on demand, so that they need not all be stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Ints, among, csr_entries, distinct_keys, ranges
from andre.completion.bodies import ANY, Body, ClosedWalks, Covered, Walks, csr_coordinates, satisfying
from andre.completion.graph import Graph
from andre.limits import check
from andre.logic import Rule

#: Chains between looks at the clock.
_AT_ONCE = 50


@dataclass(frozen=True, eq=False)
class Entries:
    """Pairs of a start and another constant, one entry for each body that covers one."""

    key: Ints  #: [E], position of the start * n + the other constant
    body: NDArray[np.int32]  #: [E], position of the body
    ways: NDArray[np.float32]  #: [E], in how many ways it covers the pair

    @classmethod
    def concat(cls, parts: Sequence[Entries]) -> Entries:
        """All entries of several parts."""
        if not parts:
            return cls(
                np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32)
            )
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__annotations__))


@dataclass(frozen=True, eq=False)
class CachedEntries:
    """The entries of some starts, kept for when they are asked for again."""

    starts: Ints  #: [Q], ascending
    entries: Entries

    def of(self, starts: Ints, n: int) -> Entries | None:
        """The entries of some starts, ascending, or None where one of them is not kept."""
        if not among(starts, self.starts).all():
            return None
        place = np.full(len(self.starts), -1)
        place[np.searchsorted(self.starts, starts)] = np.arange(len(starts))
        row = place[self.entries.key // n]
        kept = np.flatnonzero(row >= 0)
        key = row[kept] * n + self.entries.key[kept] % n
        return Entries(key, self.entries.body[kept], self.entries.ways[kept])


class BodyCover:
    """Bodies of a direction, ready to be evaluated from any starts.

    Parameters
    ----------
    graph
        What they are evaluated on.
    bodies
        Of the direction, from the start to the answer.
    pairs
        What given rules cover, by their positions among the bodies: these are evaluated beforehand.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom
    >>> graph = Graph.of(FactBase.from_facts(map(parse_atom, ["p(a, b)", "p(b, c)"])))
    >>> cover = BodyCover(graph, [Body("path", (0,)), Body("path", (0, 0)), Body("to", (0, ANY, 2))])
    >>> found = cover.entries(np.array([0]))  # from a, where p leads to b, and p twice to c
    >>> list(zip(found.body.tolist(), found.key.tolist()))
    [(0, 1), (1, 2), (2, 2)]
    """

    def __init__(
        self, graph: Graph, bodies: Sequence[Body | Rule], pairs: Mapping[int, Covered] | None = None
    ) -> None:
        self._graph = graph
        plain = [(place, body) for place, body in enumerate(bodies) if isinstance(body, Body)]
        self._singles = np.full(graph.n_steps, -1, dtype=np.int32)  # place of the body of each step
        for place, body in plain:
            if body.shape == "path" and len(body.steps) == 1:
                self._singles[body.steps[0]] = place
        # In this order, chains that begin alike follow one another.
        self._chains = sorted(
            (
                (place, body)
                for place, body in plain
                if body.shape in {"path", "both"} and len(body.steps) > 1
            ),
            key=lambda pair: (pair[1].steps[:2], len(pair[1].steps), pair[1].steps),
        )
        self._to = _ConstantBodies.of(graph, [(place, body) for place, body in plain if body.shape == "to"])
        backward = sorted(
            ((body.steps[2], place, body) for place, body in plain if body.shape == "from"),
            key=lambda each: each[:2],
        )
        self._from = {
            c: [(place, body) for _, place, body in some]
            for c, some in groupby(backward, lambda each: each[0])
        }
        self._pairs = pairs or {}
        self._closed_walks: ClosedWalks = {}

    def entries(self, starts: Ints) -> Entries:
        """All pairs of distinct constants that any body covers from these starts."""
        return Entries.concat(list(self._parts(starts)))

    def _parts(self, starts: Ints) -> Iterator[Entries]:
        graph, n = self._graph, self._graph.n
        walks = Walks(graph, starts, self._closed_walks)
        followed = _Followed.of(graph, starts)
        yield from self._single_steps(followed)
        for number, (place, body) in enumerate(self._chains):
            if number % _AT_ONCE == 0:
                check()
            found = walks.along(body)
            if found.nnz:
                row, end = csr_coordinates(found)
                yield _entries(n, starts, row, end, place, found.data)
        yield self._to.entries(graph, starts, followed)
        for number, start in enumerate(starts.tolist()):
            for place, body in self._from.get(start, ()):
                end = satisfying(graph, body)
                yield _entries(n, starts, np.full(len(end), number), end, place)
        for place, (keys, ways) in self._pairs.items():
            first, last = (np.searchsorted(keys, bound * n) for bound in (starts, starts + 1))
            which, at = ranges(first, last)
            yield _entries(n, starts, which, keys[at] % n, place, ways[at])

    def _single_steps(self, followed: _Followed) -> Iterator[Entries]:
        """Bodies of one step all at once: there is one for nearly every step, and most cover few pairs."""
        place = self._singles[followed.step]  # [E]
        kept = np.flatnonzero(place >= 0)
        key = followed.row[kept] * self._graph.n + followed.end[kept]
        yield Entries(key, place[kept], followed.ways[kept])


@dataclass(frozen=True, eq=False)
class _ConstantBodies:
    """Bodies of shape `to`, found by their literal."""

    literals: Ints  #: [L], step * (n + 1) + constant, or n for any constant; ascending
    first: Ints  #: [L + 1], where the bodies of each literal begin
    place: Ints  #: [K], of the body
    answer: Ints  #: [K], the constant that stands in its head

    @classmethod
    def of(cls, graph: Graph, bodies: Sequence[tuple[int, Body]]) -> _ConstantBodies:
        steps = np.array([body.steps for _, body in bodies], dtype=np.int64).reshape(-1, 3)
        end = np.where(steps[:, 1] == ANY, graph.n, steps[:, 1])
        codes = steps[:, 0] * (graph.n + 1) + end
        order = np.argsort(codes, kind="stable")
        literals, first = np.unique(codes[order], return_index=True)
        place = np.array([place for place, _ in bodies], dtype=np.int64)
        return cls(literals, np.append(first, len(codes)), place[order], steps[order, 2])

    def entries(self, graph: Graph, starts: Ints, followed: _Followed) -> Entries:
        """The answers of the bodies that fire for each start."""
        if not len(self.literals):
            return Entries.concat([])
        width = graph.n + 1
        # Which steps lead on from each start.
        kinds = distinct_keys(followed.row * graph.n_steps + followed.step, len(starts) * graph.n_steps)
        rows = np.concatenate([followed.row, kinds // graph.n_steps])
        codes = np.concatenate(
            [followed.step * width + followed.end, kinds % graph.n_steps * width + graph.n]
        )
        known = among(codes, self.literals)
        rows, literal = rows[known], np.searchsorted(self.literals, codes[known])
        which, at = ranges(self.first[literal], self.first[literal + 1])
        row, answer = rows[which], self.answer[at]
        apart = starts[row] != answer
        key, place = (row * graph.n + answer)[apart], self.place[at][apart]
        return Entries(key, place.astype(np.int32), np.ones(len(key), dtype=np.float32))


@dataclass(frozen=True, eq=False)
class _Followed:
    """The facts about some starts, one entry for each: where every step leads from there."""

    row: Ints  #: [E], position of the start
    step: Ints  #: [E]
    end: Ints  #: [E], never the start itself
    ways: NDArray[np.float32]  #: [E], how often the fact is stated

    @classmethod
    def of(cls, graph: Graph, starts: Ints) -> _Followed:
        row, entry = csr_entries(graph.ends.indptr, starts)
        step, end = np.divmod(graph.ends.indices[entry].astype(np.int64), graph.n)
        return cls(row, step, end, graph.ends.data[entry])


def _entries(
    n: int, starts: Ints, row: Ints, end: Ints, place: int, ways: NDArray[np.float32] | None = None
) -> Entries:
    """The pairs that one body covers as entries, without pairs of a start with itself."""
    apart = starts[row] != end
    if not apart.all():
        row, end, ways = row[apart], end[apart], None if ways is None else ways[apart]
    ways = np.ones(len(row), dtype=np.float32) if ways is None else ways.astype(np.float32)
    return Entries(row * n + end, np.full(len(row), place, dtype=np.int32), ways)
