"""Settings: the paper's table, presets, and sentences for what is out of range."""

import math
from collections import Counter

import pytest

from andre.errors import ConfigError
from andre.learning import Config

#: The paper's table of parameters: symbol, field, value.
TABLE = [
    ("alpha", "training.learning_rate", 0.01),
    ("alpha'", "training.learning_rate_decay", 0.0001),
    ("gamma", "network.center", 0.5),
    ("eta", "loss.surplus", 0.1),
    ("c_1", "loss.connected_height", 1.0),
    ("c_2", "loss.connected_width", 12.5),
    ("beta", "network.beta", 20),
    ("lambda", "network.steepness", 10),
    ("N_r", "training.restarts", 3),
    ("T", "training.steps", 500),
    ("b", "training.batch", 128),
    ("lambda_S", "loss.similarity", 0.2),
    ("lambda_E", "loss.entropy", 0.1),
    ("lambda_R", "loss.range_restricted", 1.0),
    ("lambda_C", "loss.connected", 5.0),
    ("lambda_D", "loss.digitization", 0.001),
    ("tau", "selection.accuracy", 0.95),
    ("eta'", "selection.certainties", (0.4,)),
]


@pytest.mark.parametrize(("symbol", "field", "value"), TABLE)
def test_the_papers_table(symbol: str, field: str, value: object) -> None:
    part, name = field.split(".")
    assert getattr(getattr(Config.preset("paper"), part), name) == value, symbol


def test_what_else_the_paper_says() -> None:
    paper = Config.preset("paper")
    assert paper.network.operators == "attention"
    assert paper.network.levels is None  # no grid
    assert paper.loss.reduction == "sum"
    assert paper.loss.balance  # section 4: label balancing and gradient clipping in all phases
    assert paper.training.clip == 1.0  # by how much is not said
    assert paper.loss.epsilon == 1e-6
    assert paper.loss.connected_growth == "quadratic"
    assert paper.training.patience is None
    assert paper.training.rounds == 1
    assert paper.selection.criterion == "accuracy"
    assert not paper.selection.combine
    assert not paper.selection.refine
    assert paper.selection.negated_target  # its rule for Alzheimers
    assert paper.selection.redundant  # its rules for relatedness and directed edge


def test_no_name_means_two_settings() -> None:
    """Or `preset` could not take them by name alone."""
    names = Counter(
        name
        for part in ("network", "loss", "training", "selection")
        for name in type(getattr(Config(), part)).model_fields
    )
    names.update(name for name in Config.model_fields if name in ("seed", "device", "time_limit"))
    assert [name for name, times in names.items() if times > 1] == []


def test_presets_take_settings_of_every_part() -> None:
    config = Config.preset("paper", beta=5, entropy=0.2, steps=7, refine=True, seed=3, time_limit=1.5)
    assert (config.network.beta, config.loss.entropy, config.training.steps) == (5, 0.2, 7)
    assert (config.selection.refine, config.seed, config.time_limit) == (True, 3, 1.5)
    assert config.training.restarts == 3  # the rest is the preset's


OUT_OF_RANGE = [
    ("beta", 0),
    ("beta", -1),
    ("beta", math.inf),
    ("beta", math.nan),
    ("steepness", 0),
    ("center", 0),
    ("center", 1),
    ("center", math.nan),
    ("operators", "minimum"),
    ("levels", 1),
    ("levels", 63),  # odd: 0.5 would be a level
    ("entropy", -0.1),
    ("entropy", math.nan),
    ("connected_width", 0),
    ("connected_growth", "cubic"),
    ("reduction", "median"),
    ("epsilon", 0),
    ("restarts", 0),
    ("rounds", 0),
    ("subrules", ()),
    ("subrules", (0,)),
    ("subrules", 3),
    ("steps", 0),
    ("steps", 1.5),
    ("steps", "many"),
    ("batch", 0),
    ("learning_rate", 0),
    ("learning_rate_decay", 1),
    ("learning_rate_decay", -0.1),
    ("clip", 0),
    ("init", -1),
    ("check_every", 0),
    ("patience", 0),
    ("certainties", ()),
    ("certainties", (0.0,)),
    ("certainties", (1.2,)),
    ("accuracy", 1.1),
    ("min_confidence", 1),
    ("min_support", -1),
    ("min_support", math.inf),
    ("min_support", "some"),
    ("pool", 0),
    ("beam", 0),
    ("max_rules", 0),
    ("seed", -1),
    ("time_limit", 0),
    ("time_limit", math.nan),
]


@pytest.mark.parametrize(("name", "value"), OUT_OF_RANGE)
def test_a_value_out_of_range_is_named(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=rf"the setting (\w+\.)?{name}") as error:
        Config.preset("default", **{name: value})
    assert "\n" not in str(error.value)


def test_names_that_do_not_exist() -> None:
    with pytest.raises(ConfigError, match=r"no setting 'stepz'.*device.*seed.*steps.*time_limit"):
        Config.preset("default", stepz=3)
    with pytest.raises(ConfigError, match="no preset 'papyrus'"):
        Config.preset("papyrus")
    with pytest.raises(ConfigError, match=r"training\.stepz"):
        Config.read({"training": {"stepz": 3}})


def test_reading_is_the_inverse_of_writing() -> None:
    config = Config.preset("paper", seed=9, subrules=(2, 5))
    assert Config.read(config.model_dump(mode="json")) == config
