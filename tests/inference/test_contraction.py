"""Products of two tables with axes summed out, against numpy's `einsum`."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from andre.inference.contraction import multiplied


@st.composite
def products(draw: st.DrawFn) -> tuple[str, list[np.ndarray]]:
    first, second = (draw(st.lists(st.sampled_from("abcd"), max_size=3, unique=True)) for _ in range(2))
    every = sorted({*first, *second})
    wanted = draw(st.permutations(draw(st.lists(st.sampled_from(every), unique=True)) if every else []))
    sizes = {axis: draw(st.integers(0, 3)) for axis in every}
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    tables = [rng.integers(0, 5, [sizes[axis] for axis in axes]) for axes in (first, second)]
    return f"{''.join(first)},{''.join(second)}->{''.join(wanted)}", tables


@given(products())
def test_products_are_those_of_einsum(case: tuple[str, list[np.ndarray]]) -> None:
    how, tables = case
    found, wanted = multiplied(how, *tables), np.einsum(how, *tables)
    assert found.shape == wanted.shape
    assert (found == wanted).all()
