"""All forms of the conjunction agree with a loop that is written as the paper prints it."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from andre.model import Inputs, Network, NetworkConfig, Operator, conjunctions
from andre.model.conjunction import Bags, Dense, Direct, features
from andre.model.operators import prob_sum

FAMILIES = ("attention", "product", "geometric")
EPS = 1e-6  # the products' regularisation


def conjunction(b: Tensor, family: str, beta: float) -> Tensor:
    """An and over the last dimension, by torch's own softmax and logarithm."""
    if family == "attention":
        return (torch.softmax(-beta * b, dim=-1) * b).sum(-1)
    log = b.clamp_min(EPS).log()
    return (log.sum(-1) if family == "product" else log.mean(-1)).exp()


def disjunction(b: Tensor, family: str, beta: float) -> Tensor:
    if family == "attention":
        return (torch.softmax(beta * b, dim=-1) * b).sum(-1)
    return 1 - conjunction(1 - b, family, beta)


def soft_valuation(p: Tensor, b: Tensor) -> Tensor:
    """B of one atom: unknown satisfies neither the atom nor its negation."""
    if torch.isnan(b):
        return prob_sum(torch.zeros_like(p[0]), torch.zeros_like(p[0]), p[2])
    return prob_sum(p[0] * b, p[1] * (1 - b), p[2])


def reference(weights: Tensor, valuations: Tensor, config: NetworkConfig) -> tuple[Tensor, Tensor]:
    """Conjunctions [U, K * n] and logits [U, K], one row, run, subrule and atom after another."""
    K, n, m, _ = weights.shape
    p = torch.softmax(weights, dim=-1)
    and_, logits = [], []
    for row, k in itertools.product(range(len(valuations)), range(K)):
        C = []
        for i in range(n):
            B = torch.stack([soft_valuation(p[k, i, j], valuations[row, j]) for j in range(m)])
            C.append(conjunction(B, config.operators, config.beta))
        and_ += C
        h = torch.sigmoid(config.steepness * (torch.stack(C) - config.center))
        D = disjunction(h, config.operators, config.beta)
        logits.append(config.steepness * (D - config.center))
    return torch.stack(and_).view(-1, K * n), torch.stack(logits).view(-1, K)


def dense(table: Tensor) -> Dense | Bags | Direct:
    return _levels(table, bags=False)


def bags(table: Tensor) -> Dense | Bags | Direct:
    return _levels(table, bags=True)


def direct(table: Tensor) -> Dense | Bags | Direct:
    return Direct(torch.arange(table.shape[1]), features(table.T))


def _levels(table: Tensor, bags: bool) -> Dense | Bags:
    """Put every column on its own distinct values, NaN last."""
    c = table.shape[1]
    columns = [np.unique(table[:, j].numpy(), return_inverse=True) for j in range(c)]
    most = max(len(values) for values, _ in columns)
    grid = torch.full((c, most), float("nan"), dtype=table.dtype)
    for j, (values, _) in enumerate(columns):
        grid[j, : len(values)] = torch.as_tensor(values)
    level = torch.as_tensor(np.stack([level for _, level in columns], axis=1))
    if bags:
        return Bags.build(torch.arange(c), features(grid), level)
    counts = torch.nn.functional.one_hot(level, most).flatten(1).to(table.dtype)
    return Dense(torch.arange(c), features(grid), counts)


FORMS = {"dense": dense, "bags": bags, "direct": direct}


def mixed(table: Tensor, forms: list[str]) -> Inputs:
    """Inputs of which every column takes the form named for it."""
    parts = []
    for form in sorted(set(forms)):
        columns = torch.tensor([j for j, name in enumerate(forms) if name == form])
        part = FORMS[form](table[:, columns])
        parts.append(
            type(part)(columns, *(getattr(part, f) for f in part.__dataclass_fields__ if f != "columns"))
        )
    return Inputs(len(table), table.shape[1], tuple(parts))


@st.composite
def problems(draw) -> tuple[Tensor, Tensor, list[str], NetworkConfig]:
    U, m = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    K, n = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    cells = st.one_of(st.sampled_from([0.0, 1.0, 0.5, float("nan")]), st.floats(0, 1))
    table = torch.tensor([[draw(cells) for _ in range(m)] for _ in range(U)], dtype=torch.float64)
    generator = torch.Generator().manual_seed(draw(st.integers(0, 999)))
    scale = draw(st.sampled_from([0.1, 2.0, 20.0]))  # from flat to sharp
    weights = torch.randn(K, n, m, 3, generator=generator, dtype=torch.float64) * scale
    forms = [draw(st.sampled_from(sorted(FORMS))) for _ in range(m)]
    config = NetworkConfig(
        operators=draw(st.sampled_from(FAMILIES)),
        beta=draw(st.sampled_from([0.5, 20.0, 80.0, 120.0, 1000.0])),
    )
    return table, weights, forms, config


def gradient(value: Tensor, weights: Tensor) -> Tensor:
    """Of a sum in which every output weighs differently."""
    weighed = value * torch.linspace(-1, 2, value.numel(), dtype=value.dtype).view_as(value)
    return torch.autograd.grad(weighed.sum(), weights)[0]


@settings(max_examples=80)
@given(problems())
def test_every_mixture_of_forms_is_the_reference(problem) -> None:
    table, weights, forms, config = problem
    weights.requires_grad_()
    network, inputs = Network(config), mixed(table, forms)
    conjunctions_, logits = reference(weights, table, config)
    found = inputs.conjunction(torch.softmax(weights, dim=-1), network.conjunction)
    torch.testing.assert_close(found, conjunctions_, rtol=1e-8, atol=1e-9)
    torch.testing.assert_close(network(weights, inputs), logits, rtol=1e-8, atol=1e-8)
    # Where a value is cut off by the regularisation the slope jumps, and either side is right.
    p = torch.softmax(weights.detach(), dim=-1)
    if config.operators == "attention" or bool((p > 1e-4).all()):
        wanted = gradient(conjunctions_, weights)
        torch.testing.assert_close(gradient(found, weights), wanted, rtol=1e-6, atol=1e-8)


@settings(max_examples=30)
@given(problems())
def test_blocks_make_no_difference(problem) -> None:
    table, weights, _, config = problem
    weights.requires_grad_()
    network = Network(config)
    whole = network(weights, Inputs.direct(table))
    blocked = network(weights, Inputs.direct(table, block=8))
    gradients = gradient(blocked, weights)
    torch.testing.assert_close(blocked, whole)
    torch.testing.assert_close(gradients, gradient(whole, weights))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("beta", [20.0, 200.0])
def test_gradients_flow_back_to_the_inputs(family: str, beta: float) -> None:
    config = NetworkConfig(operators=family, beta=beta)
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(2, 2, 3, 3, generator=generator, dtype=torch.float64)
    table = torch.rand(4, 3, generator=generator, dtype=torch.float64)
    table[1, 2] = float("nan")
    known = table.clone().requires_grad_()
    value = Network(config)(weights, Inputs.direct(known))
    found = gradient(value, known)
    plain = table.clone().requires_grad_()
    wanted = gradient(reference(weights, plain, config)[1], plain)
    assert found[1, 2] == 0  # an unknown value has no say
    torch.testing.assert_close(found, torch.nan_to_num(wanted))
    assert torch.autograd.gradcheck(
        lambda x: Network(config)(weights, Inputs.direct(x)), table[2:].clone().requires_grad_()
    )


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("beta", [20.0, 80.0, 300.0])
def test_the_closed_form_holds_in_float32(scale: float, beta: float) -> None:
    """From flat to sharp weights, where a form that subtracts would cancel."""
    rng = np.random.default_rng(0)
    table = rng.integers(0, 2, (40, 60)).astype(np.float64)
    weights = torch.randn(2, 3, 60, 3, generator=torch.Generator().manual_seed(0)) * scale
    op = conjunctions(beta)["attention"]
    inputs = Inputs.encode(table)
    assert [type(part) for part in inputs.parts] == [Dense]
    found = inputs.conjunction(torch.softmax(weights, dim=-1), op)
    exact = Inputs.direct(torch.as_tensor(table)).conjunction(torch.softmax(weights.double(), dim=-1), op)
    torch.testing.assert_close(found.double(), exact, rtol=0, atol=2e-5)


def test_rows_may_be_taken_out_of_every_form() -> None:
    generator = torch.Generator().manual_seed(2)
    table = torch.randint(0, 3, (9, 3), generator=generator).double() / 2
    inputs = mixed(table, ["dense", "bags", "direct"])
    weights = torch.randn(1, 2, 3, 3, generator=generator, dtype=torch.float64)
    index = torch.tensor([4, 4, 0, 8])
    network = Network()
    torch.testing.assert_close(
        network(weights, inputs.rows(index)), network(weights, Inputs.direct(table[index]))
    )


def test_nothing_of_rows_times_subrules_times_atoms_is_ever_made() -> None:
    """Also not beyond the sharpest beta: every block of values stays within the bound."""
    largest = 0

    class Watched:
        """An operator that notes the largest tensor it is shown."""

        def __init__(self, op: Operator) -> None:
            self._op = op

        def __getattr__(self, name: str):
            found = getattr(self._op, name)
            if not callable(found):
                return found

            def watch(b, *args):
                nonlocal largest
                if isinstance(b, Tensor):
                    largest = max(largest, b.numel())
                return found(b, *args)

            return watch

    rows, m, R = 600, 20, 12
    weights = torch.randn(4, 3, m, 3, generator=torch.Generator().manual_seed(0)).requires_grad_()
    graded = np.random.default_rng(0).random((rows, m))
    boolean = np.rint(graded)
    for inputs in (
        replace(Inputs.encode(boolean), block=1 << 12),
        Inputs.direct(torch.as_tensor(graded, dtype=torch.float32), block=1 << 12),
    ):
        for beta in (20.0, 200.0):
            value = inputs.conjunction(
                torch.softmax(weights, dim=-1), Watched(conjunctions(beta)["attention"])
            )
            torch.autograd.grad(value.sum(), weights)
    assert 0 < largest < rows * m * R / 10
