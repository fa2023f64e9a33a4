"""How many pairs bodies cover, and how many of these are facts: exact counts on all or sampled starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from andre.arrays import Floats, Ints, among
from andre.completion.bodies import Body, Covered
from andre.completion.config import SizeConfig
from andre.completion.graph import Graph
from andre.completion.proposals import count_walks
from andre.completion.rows import BodyCover, CachedEntries, Entries
from andre.limits import check
from andre.logic import Rule

#: The fewest starts that bodies are counted on, and those that the number of pairs is estimated from.
_FEWEST, _PROBED = 2_000, 50
#: More walks than this from one start are many.
_MANY_WALKS = 200


@dataclass(frozen=True, eq=False)
class CountedPart:
    """Bodies that are counted on the same starts."""

    places: Ints  #: of the bodies
    starts: Ints
    of: int  #: starts that these were sampled from


def counted_parts(
    graph: Graph,
    step: int,
    bodies: Sequence[Body | Rule],
    pairs: Mapping[int, Covered],
    sizes: SizeConfig,
) -> list[CountedPart]:
    """Which bodies are counted on which starts: all that have an answer or, but for constants, a sample.

    The size of the sample depends on how many pairs bodies cover from a few starts, and for
    bodies with many walks on the number of these: fewer starts suffice to see how often such
    a body is right, and through hubs most of its walks end at the same constants.
    """
    starts = np.flatnonzero(graph.has_answer(step))
    drawn, most = np.random.default_rng(step).permutation(starts), min(sizes.starts, len(starts))
    counted_on = np.full(len(bodies), most)
    plain = np.array([place for place, body in enumerate(bodies) if isinstance(body, Body)], dtype=np.int64)
    if most > _FEWEST:
        probed = np.sort(drawn[:_PROBED])
        per_start = len(BodyCover(graph, bodies, pairs).entries(probed).key) / len(probed)
        counted_on[:] = min(most, max(_FEWEST, int(sizes.counted / max(1.0, per_start))))
        # A few starts have most walks: those that lead to a hub.
        more = drawn[: _FEWEST // 4]
        walks = count_walks(graph, [body for body in bodies if isinstance(body, Body)], more)
        many = walks > _MANY_WALKS
        few = max(_FEWEST // 4, int(sizes.walked / max(1.0, walks[many].sum())))
        counted_on[plain[many]] = np.minimum(counted_on[plain[many]], few)
    constant = [isinstance(body, Body) and body.shape in {"to", "from"} for body in bodies]
    counted_on[np.array(constant, dtype=np.bool_)] = len(starts)
    return [
        CountedPart(np.flatnonzero(counted_on == size), np.sort(drawn[:size]), len(starts))
        for size in np.unique([*counted_on.tolist(), len(starts)]).tolist()
    ]


@dataclass(frozen=True, eq=False)
class PartCounts:
    """What was counted of the bodies of one part."""

    places: Ints
    n_b: Floats
    n_r: Floats
    fires: Floats  #: starts from which any pair is covered
    starts: int  #: that were counted
    of: int  #: that they were sampled from


def count_part(
    graph: Graph,
    step: int,
    bodies: Sequence[Body | Rule],
    pairs: Mapping[int, Covered],
    part: CountedPart,
    sizes: SizeConfig,
) -> tuple[PartCounts, CachedEntries | None]:
    """Count the bodies of a part on its starts; the entries come with the counts if they are few."""
    places = part.places.tolist()
    given = {new: pairs[old] for new, old in enumerate(places) if old in pairs}
    counts, cached = _count(graph, step, [bodies[place] for place in places], given, part.starts, sizes)
    return PartCounts(part.places, *counts, len(part.starts), part.of), cached


def joined_counts(counts: Sequence[PartCounts]) -> list[PartCounts]:
    """Counts of the same bodies on other starts added up.

    Examples
    --------
    >>> one = PartCounts(np.array([0]), np.array([3.0]), np.array([1.0]), np.array([1.0]), 2, 5)
    >>> (both,) = joined_counts([one, one])
    >>> both.n_b.tolist(), both.starts, both.of
    ([6.0], 4, 5)
    """
    found: dict[bytes, PartCounts] = {}
    for one in counts:
        key = one.places.tobytes()
        if key in found:
            before = found[key]
            sums = (before.n_b + one.n_b, before.n_r + one.n_r, before.fires + one.fires)
            found[key] = PartCounts(one.places, *sums, before.starts + one.starts, one.of)
        else:
            found[key] = one
    return list(found.values())


def _count(
    graph: Graph,
    step: int,
    bodies: Sequence[Body | Rule],
    pairs: Mapping[int, Covered],
    starts: Ints,
    sizes: SizeConfig,
) -> tuple[tuple[Floats, Floats, Floats], CachedEntries | None]:
    """Pairs that bodies cover from some starts, facts among these, starts that fire; the entries if few."""
    n, true, cover = graph.n, graph.keys(step, "train"), BodyCover(graph, bodies, pairs)
    n_b, n_r, fires = (np.zeros(len(bodies)) for _ in range(3))
    kept: list[Entries] | None = []
    first, size = 0, 16
    while first < len(starts):
        check()
        some = starts[first : first + size]
        found = cover.entries(some)
        n_b += np.bincount(found.body, minlength=len(bodies))
        row = found.key // n
        facts = slice(*np.searchsorted(true, (some[0] * n, (some[-1] + 1) * n)))  # about these starts
        right = among(found.key + (some - np.arange(len(some)))[row] * n, true[facts])
        n_r += np.bincount(found.body[right], minlength=len(bodies))
        seen = np.zeros((len(some), len(bodies)), dtype=np.bool_)
        seen[row, found.body] = True
        fires += seen.sum(axis=0)
        if kept is not None:
            kept.append(replace(found, key=found.key + first * n))
            kept = None if n_b.sum() > sizes.cells else kept
        first += len(some)
        # The block grows or shrinks with the entries of the one before.
        size = int(max(1, min(4 * size, sizes.block * len(some) / max(1, len(found.key)))))
    return (n_b, n_r, fires), None if kept is None else CachedEntries(starts, Entries.concat(kept))
