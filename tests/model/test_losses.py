"""The six losses by hand, exactly as the paper prints them, and the schedule of its appendix D."""

import math

import pytest
import torch

from andre.learning import Config
from andre.model import LOSSES, LossConfig, Objective, losses, row_weights
from andre.samples import RuleSpace, Sample

PAPER = Config.preset("paper").loss
ONE, TWO = torch.ones(1, 1), torch.ones(1, 2)


def weights_of(probabilities: list) -> torch.Tensor:
    """Weights whose softmax these are, [1, n, m, 3]."""
    return torch.tensor([probabilities], dtype=torch.float64).log()


def logit(p: float) -> float:
    return math.log(p / (1 - p))


def test_cross_entropy_is_a_sum_over_examples() -> None:
    # Two examples, predicted 0.8 for a true one and 0.25 for a false one:
    # -ln 0.8 - ln 0.75 = 0.22314 + 0.28768 = 0.51083.
    logits = torch.tensor([[logit(0.8)], [logit(0.25)]])
    found = losses.cross_entropy(logits, torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0]))
    assert found.item() == pytest.approx(0.51083, abs=1e-5)


def test_cross_entropy_weighs_rows() -> None:
    # The row at 0.8 stands for three true examples and one false one, that at 0.25 for two false ones:
    # 3 * 0.22314 + 1 * 1.60944 + 2 * 0.28768 = 2.85423.
    logits = torch.tensor([[logit(0.8)], [logit(0.25)]])
    found = losses.cross_entropy(logits, torch.tensor([3.0, 0.0]), torch.tensor([1.0, 2.0]))
    assert found.item() == pytest.approx(2.85423, abs=1e-5)


def test_label_balancing_and_means() -> None:
    # Rows 0 and 1; weights 1 positive, 3 negative. Balanced, each class weighs half of 4: factors 2 and 2/3.
    sample = Sample.from_arrays([[0], [1], [1], [1]], [1, 0, 0, 0])
    plain = row_weights(sample, LossConfig(balance=False, reduction="sum"))
    assert [t.tolist() for t in plain] == [[1, 0], [0, 3]]
    balanced = row_weights(sample, LossConfig(balance=True, reduction="sum"))
    assert [t.tolist() for t in balanced] == [[2, 0], [0, 2]]
    mean = row_weights(sample, LossConfig(balance=True, reduction="mean"))
    assert [t.tolist() for t in mean] == [[0.5, 0], [0, 0.5]]
    mean = row_weights(sample, LossConfig(balance=False, reduction="mean"))
    assert [t.tolist() for t in mean] == [[0.25, 0], [0, 0.75]]


def test_row_weights_scale_the_loss() -> None:
    rows, labels = [[0.0], [1.0], [0.5]], [1, 0, 1]
    config = LossConfig(balance=False, reduction="sum")
    weighed = row_weights(Sample.from_arrays(rows, labels, [2, 1, 1]), config)
    repeated = row_weights(Sample.from_arrays([*rows, rows[0]], [*labels, 1]), config)
    assert all(torch.equal(one, other) for one, other in zip(weighed, repeated, strict=True))


def test_the_papers_cross_entropy_is_a_sum_and_balanced_where_asked() -> None:
    sample = Sample.from_arrays([[0], [1], [1], [1]], [1, 0, 0, 0])
    plain = PAPER.model_copy(update={"balance": False})
    assert [t.tolist() for t in row_weights(sample, plain)] == [[1, 0], [0, 3]]
    assert [t.tolist() for t in row_weights(sample, PAPER)] == [[2, 0], [0, 2]]


def test_entropy_is_a_sum_over_subrules_and_atoms() -> None:
    # H(.5, .25, .25) = .5 ln 2 + .5 ln 4 = 1.03972; H(1, 0, 0) = 0; H(1/3, 1/3, 1/3) = ln 3 = 1.09861, twice.
    p = torch.tensor([[[[0.5, 0.25, 0.25], [1, 0, 0]], [[1 / 3] * 3, [1 / 3] * 3]]])
    assert losses.entropy(p, TWO).item() == pytest.approx(1.03972 + 2 * 1.09861, abs=2e-5)


def test_similarity_has_the_printed_scale() -> None:
    # Subrules (1,0,0), (1,1,0), (0,0,2): cosines 1/sqrt(2), 0, 0; scale 2 / (3 * 4) = 1/6: 0.117851.
    weights = torch.tensor([[[[1.0, 0, 0]], [[1.0, 1, 0]], [[0, 0, 2.0]]]])  # [1, 3, 1, 3]
    assert losses.similarity(weights, torch.ones(1, 3)).item() == pytest.approx(0.117851, abs=1e-6)


def test_similarity_of_opposites_and_of_one_subrule() -> None:
    weights = torch.tensor([[[[1.0, 2, 3]], [[-1.0, -2, -3]]]])
    assert losses.similarity(weights, TWO).item() == pytest.approx(-1 / 3)  # 2 / (2 * 3) * (-1)
    assert losses.similarity(weights[:, :1], ONE).item() == 0


def test_usage_is_the_expected_number_of_occurrences() -> None:
    # p3 = .2 and .7; X in both atoms, Y in the second: M_X = .8 + .3, M_Y = .3.
    p = torch.tensor([[[[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]]])
    incidence = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
    torch.testing.assert_close(losses.variable_usage(p, incidence), torch.tensor([[[1.1, 0.3]]]))


def test_range_restricted_by_pieces() -> None:
    # Subrule 1: (0.5 - 1)^2 = 0.25 and M = 1: 0. Subrule 2: eta (3 - 1) = 0.2 and (0 - 1)^2 = 1.
    usage = torch.tensor([[[0.5, 1.0], [3.0, 0.0]]])
    assert losses.range_restricted(usage, TWO, PAPER.surplus).item() == pytest.approx(1.45)
    assert losses.range_restricted(usage, TWO, 0.0).item() == pytest.approx(1.25)


def test_connected_by_pieces() -> None:
    # c1 exp(-c2 (M-1)^2) with c1 = 1, c2 = 12.5: M = 1 gives 1, M = 1.2 gives e^-0.5 = 0.60653, M = 0
    # gives e^-12.5 = 0.0000037; from M = 2 on (M-2)^2: 0 at 2, 1.5^2 = 2.25 at 3.5.
    usage = torch.tensor([[[1.0, 1.2, 0.0], [2.0, 3.5, 2.0]]])
    wanted = 1 + 0.60653 + 0.0000037 + 0 + 2.25 + 0
    assert losses.connected(usage, TWO, PAPER).item() == pytest.approx(wanted, abs=1e-5)
    # The height: c1 = 3 triples the bell only. Linear growth: 1.5 in place of 1.5^2.
    high = PAPER.model_copy(update={"connected_height": 3.0})
    assert losses.connected(usage, TWO, high).item() == pytest.approx(3 * 1.60653 + 2.25, abs=2e-5)
    linear = PAPER.model_copy(update={"connected_growth": "linear"})
    assert losses.connected(usage, TWO, linear).item() == pytest.approx(1.60653 + 1.5, abs=1e-5)


def test_digitization_is_averaged_over_variables_and_subrules() -> None:
    # (1 - sin(2 pi M + pi/2)) / 2: M = .25 gives .5, M = .5 gives 1, whole M gives 0.
    # Subrule 1: (.5 + 0) / 2 = .25; subrule 2: (1 + 1) / 2 = 1; their average .625.
    usage = torch.tensor([[[0.25, 1.0], [0.5, 2.5]]])
    assert losses.digitization(usage, TWO).item() == pytest.approx(0.625, abs=1e-6)
    assert losses.digitization(torch.zeros(1, 2, 0), TWO).tolist() == [0]


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.5, 1.0])
def test_the_schedule(rho: float) -> None:
    config = LossConfig(
        entropy=0.1,
        similarity=0.2,
        similarity_end=0.05,
        range_restricted=1.0,
        connected=5.0,
        digitization=0.001,
    )
    found = losses.schedule(rho, config)
    assert found["entropy"] == pytest.approx(rho * 0.1)
    assert found["similarity"] == pytest.approx(0.2 - rho**2 * 0.15)
    assert found["range_restricted"] == pytest.approx(rho**2)
    assert found["connected"] == pytest.approx(rho**2 * 5)
    assert found["digitization"] == pytest.approx(rho**2 * 0.001)


def test_the_objective_of_a_structured_rule() -> None:
    """Two subrules, two head variables (X, Z), one auxiliary (Y), half way through training."""
    space = RuleSpace.from_names(["p(X,Y)", "q(Y,Z)"], "h(X,Z)")
    weights = weights_of(
        [[[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]], [[0.25, 0.5, 0.25], [0.7, 0.2, 0.1]]],
    )
    mask = torch.ones(1, 2, dtype=torch.float64)
    logits = torch.tensor([[logit(0.8)]], dtype=torch.float64)
    labels = torch.ones(1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    objective = Objective.of(space, PAPER)
    objective = Objective(PAPER, objective.incidence.double(), objective.n_head)
    terms = objective(logits, labels, weights, mask, progress=0.5)
    # Usage in subrule 1: X .75, Z .5, Y 1.25; in subrule 2: X .75, Z .9, Y 1.65.
    # Range: (.25^2 + .5^2 + .25^2 + .1^2) * rho^2 lambda_R / (|K_h| n) = .385 * .25 * 1 / 4.
    assert terms["range_restricted"].item() == pytest.approx(0.385 * 0.25 / 4, abs=1e-9)
    # Connected: (e^(-12.5 * .25^2) + e^(-12.5 * .65^2)) * .25 * 5 / (|K_a| n = 2).
    bell = math.exp(-12.5 * 0.0625) + math.exp(-12.5 * 0.4225)
    assert terms["connected"].item() == pytest.approx(bell * 0.25 * 5 / 2, abs=1e-9)
    # Digitization: 1 - cos(2 pi M) halved, all six averaged, * .25 * .001.
    whole = [(1 - math.cos(2 * math.pi * M)) / 2 for M in (0.75, 0.5, 1.25, 0.75, 0.9, 1.65)]
    assert terms["digitization"].item() == pytest.approx(sum(whole) / 6 * 0.25 * 0.001, abs=1e-12)
    entropy = -sum(
        p * math.log(p + 1e-6) for p in (0.5, 0.25, 0.25, 0.25, 0.25, 0.5, 0.25, 0.5, 0.25, 0.7, 0.2, 0.1)
    )
    assert terms["entropy"].item() == pytest.approx(0.5 * 0.1 * entropy, abs=1e-9)
    one, other = (w.flatten() for w in weights[0])
    cosine = torch.dot(one, other) / (one.norm() * other.norm())
    assert terms["similarity"].item() == pytest.approx((0.2 - 0.25 * 0.2) * cosine.item() * 2 / 6, abs=1e-9)
    assert terms["cross_entropy"].item() == pytest.approx(-math.log(0.8), abs=1e-9)
    parts = (t.item() for t in terms.values())
    assert terms.total.item() == pytest.approx(sum(parts), abs=1e-12)


@pytest.mark.parametrize("preset", ["paper", "default"])
def test_without_variables_the_structural_losses_are_zero(preset: str) -> None:
    objective = Objective.of(RuleSpace.from_names(["b1", "b2"]), Config.preset(preset).loss)
    weights = torch.randn(2, 3, 2, 3, generator=torch.Generator().manual_seed(0))
    mask = torch.ones(2, 3)
    terms = objective(torch.zeros(1, 2), (torch.ones(1), torch.ones(1)), weights, mask, progress=1.0)
    for name in ("range_restricted", "connected", "digitization"):
        assert terms[name].tolist() == [0, 0]
    assert torch.isfinite(terms.total).all()


def test_without_auxiliary_or_head_variables_only_that_loss_is_zero() -> None:
    weights = torch.randn(1, 2, 1, 3, generator=torch.Generator().manual_seed(0))
    labels = torch.ones(1), torch.zeros(1)
    for head, zero, other in (
        ("h(X)", "connected", "range_restricted"),
        ("h", "range_restricted", "connected"),
    ):
        objective = Objective.of(RuleSpace.from_names(["p(X)"], head), PAPER)
        terms = objective(torch.zeros(1, 1), labels, weights, TWO, progress=1.0)
        assert terms[zero].item() == 0
        assert terms[other].item() > 0


def test_every_loss_has_its_weight_in_the_settings_and_none_weighs_without() -> None:
    weighed = [loss.name for loss in LOSSES if loss.weight is not None]
    assert [loss.name for loss in LOSSES if loss.weight is None] == ["cross_entropy"]
    assert list(losses.schedule(0.5, PAPER)) == weighed
    assert set(weighed) <= set(LossConfig.model_fields)
    objective = Objective.of(
        RuleSpace.from_names(["p(X,Y)", "q(Y,Z)"], "h(X,Z)"),
        PAPER.model_copy(update=dict.fromkeys([*weighed, "similarity_end"], 0.0)),
    )
    weights = torch.randn(2, 2, 2, 3, generator=torch.Generator().manual_seed(0))
    logits, labels = torch.tensor([[0.3, -1.0]]), (torch.ones(1), torch.zeros(1))
    terms = objective(logits, labels, weights, torch.ones(2, 2), progress=0.5)
    assert list(terms) == [loss.name for loss in LOSSES]
    assert terms.stacked.shape == (len(LOSSES), 2)
    torch.testing.assert_close(terms.total, losses.cross_entropy(logits, *labels))


def test_means_divide_the_entropy_by_choices() -> None:
    space = RuleSpace.from_names(["b1", "b2", "b3"])
    weights = torch.randn(2, 2, 3, 3, generator=torch.Generator().manual_seed(0))
    labels = torch.ones(1), torch.zeros(1)
    mask = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    found = {}
    for reduction in ("sum", "mean"):
        objective = Objective.of(space, LossConfig(reduction=reduction))
        found[reduction] = objective(torch.zeros(1, 2), labels, weights, mask, progress=1.0)["entropy"]
    torch.testing.assert_close(found["mean"], found["sum"] / torch.tensor([3.0, 6.0]))
