"""Which form a column takes, and what the grid does to values."""

import numpy as np
import pytest
import torch

from andre.learning import Config
from andre.model import Inputs, Network
from andre.model.conjunction import Bags, Dense, Direct

MANY, FEW = 4000, 20


def uniform(rows: int) -> np.ndarray:
    return np.random.default_rng(0).random(rows)


def boolean(rows: int) -> np.ndarray:
    return (uniform(rows) > 0.5).astype(np.float64)


def unknown(column: np.ndarray) -> np.ndarray:
    column = column.copy()
    column[::7] = np.nan
    return column


CHOICES = {
    "Boolean": (boolean(MANY), 64, Dense, 2),
    "Boolean, few rows": (boolean(3), 64, Dense, 2),
    "Boolean with unknown": (unknown(boolean(MANY)), 64, Dense, 3),
    "constant": (np.ones(FEW), 64, Dense, 1),
    "unknown throughout": (np.full(FEW, np.nan), 64, Dense, 1),
    "three values": (np.rint(uniform(MANY) * 2) / 2, 64, Dense, 3),
    "eleven values": (np.rint(uniform(MANY) * 10) / 10, 64, Bags, 11),
    "eleven values with unknown": (unknown(np.rint(uniform(MANY) * 10) / 10), 64, Bags, 12),
    "eleven values, few rows": (np.rint(uniform(FEW) * 10) / 10, 64, Direct, FEW),
    "all different": (uniform(MANY), 64, Bags, 65),
    "all different, few rows": (uniform(FEW), 64, Direct, FEW),
    "all different, kept exact": (uniform(MANY), None, Direct, MANY),
    "eleven values, kept exact": (np.rint(uniform(MANY) * 10) / 10, None, Bags, 11),
    "more values than levels": (np.rint(uniform(MANY) * 200) / 200, 64, Bags, 65),
    "the same, kept exact": (np.rint(uniform(MANY) * 200) / 200, None, Bags, 201),
}


@pytest.mark.parametrize("case", CHOICES)
def test_the_right_form_is_chosen(case: str) -> None:
    column, levels, form, visited = CHOICES[case]
    (part,) = Inputs.encode(column[:, None], levels=levels).parts
    assert type(part) is form
    assert part.features.shape == (1, visited, 4)


def test_columns_choose_one_by_one() -> None:
    table = np.stack((uniform(MANY), boolean(MANY), np.rint(uniform(MANY) * 10) / 10), axis=1)
    inputs = Inputs.encode(table, levels=None)
    chosen = {type(part): part.columns.tolist() for part in inputs.parts}
    assert chosen == {Dense: [1], Bags: [2], Direct: [0]}


def test_small_batches_are_visited_directly() -> None:
    assert type(Inputs.encode(uniform(MANY)[:, None], batch=FEW).parts[0]) is Direct
    assert type(Inputs.encode(boolean(MANY)[:, None], batch=FEW).parts[0]) is Dense


def test_values_move_to_the_nearest_of_an_even_number_of_levels() -> None:
    column = uniform(MANY)
    (part,) = Inputs.encode(column[:, None], levels=64).parts
    values = part.features[0, :, 1]  # b+ of the levels, the last one unknown
    torch.testing.assert_close(values[:64], torch.linspace(0, 1, 64))
    assert 0.5 not in values[:64]
    seen = values[part.entries[:, 0]].numpy()
    assert np.abs(seen - column).max() <= 0.5 / 63 + 1e-6
    assert np.array_equal(seen > 0.5, column > 0.5)


def test_the_grid_is_close_to_the_exact_network() -> None:
    table = np.random.default_rng(1).random((MANY, 5))
    weights = torch.randn(2, 2, 5, 3, generator=torch.Generator().manual_seed(0))
    network = Network()
    exact, coarse = (network(weights, Inputs.encode(table, levels=levels)) for levels in (None, 256))
    assert (torch.sigmoid(exact) - torch.sigmoid(coarse)).abs().max() < 0.02


def test_presets_say_which() -> None:
    assert Config.preset("paper").network.levels is None
    assert Config.preset("default").network.levels % 2 == 0
