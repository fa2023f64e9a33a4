"""Speed of what a large table asks of the choice of a program, as ratios."""

from __future__ import annotations

import numpy as np

from andre.evaluation import CrispSample
from andre.evaluation.bits import weighed_sums
from andre.samples import Sample

#: Rows, candidate atoms, bodies: about a census table of people with its columns cut into candidates.
_SIZE = (20_000, 120, 16)


def test_literals_beside_bodies(benchmark, ratios, best):
    rows, m, bodies = _SIZE
    rng = np.random.default_rng(0)
    table = rng.random((rows, m)) < rng.random(m)
    crisp = CrispSample.of(Sample.from_arrays(table, rng.random(rows) < 0.25))
    codes = np.zeros((bodies, m), dtype=np.int8)
    codes[np.arange(bodies), rng.integers(0, m, bodies)] = 1
    held = crisp.row_extents(codes)  # as bits
    truth = crisp.covers(codes)  # [bodies, rows]
    weighed = np.concatenate([crisp.labels * held_ for held_ in truth]).astype(np.float32)
    literals = crisp.literals.astype(np.float32)

    def by_bits():
        return crisp.label_counts(held)

    def by_floats():
        return (weighed @ literals).reshape(bodies, 2, 2 * m)

    def by_bytes():
        places = [np.flatnonzero(held_) for held_ in truth]
        return np.stack([weighed_sums(crisp.labels[:, here], crisp.literals[here]) for here in places])

    found = benchmark.pedantic(by_bits, rounds=3, warmup_rounds=1)
    for other in (by_floats, by_bytes):
        assert np.array_equal(found, other())
    floats, bytes_, bits = best(by_floats, by_bytes, by_bits, rounds=5)
    for name, time in (("a product of floats", floats), ("sums of bytes", bytes_)):
        what = f"time, literals counted by {name} / by bits ({rows:,} rows, m {m}, {bodies} bodies)"
        ratios.add(benchmark, what, (f"{time * 1e3:.1f} ms", f"{bits * 1e3:.1f} ms"), time / bits)
