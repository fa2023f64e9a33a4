"""How a classifier is learned from a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from andre.errors import ConfigError
from andre.learning.config import Config
from andre.learning.ensemble import WeighingConfig
from andre.model import Count, Positive, Settings, Whole

Weight = Annotated[float, Field(gt=0, allow_inf_nan=False)]

#: What differs from the presets where runs only propose bodies to a search that finds most of them itself.
_PROPOSING = {"restarts": 2, "rounds": 1, "steps": 60}


class ClassifierConfig(Settings):
    """All settings of a classifier.

    Examples
    --------
    >>> ClassifierConfig.of(max_rules=5).gradient.training.restarts
    2
    >>> ClassifierConfig.of(rules="best")
    Traceback (most recent call last):
    andre.errors.ConfigError: the setting rules is 'best': input should be 'weighted' or 'crisp'
    """

    rules: Literal["weighted", "crisp"] = "weighted"  #: rules with weights, or the plain program
    max_rules: Count = 15
    #: Of one rule. By default 3 where rules are searched for; those of gradient descent may have more.
    max_literals: Count | None = None
    #: The `fewest` rules within one standard error of the best, or the `best`, whatever their number; None:
    #: the best where more rules are allowed than by default.
    size: Literal["fewest", "best"] | None = None
    #: What decisions maximise: accuracy, balanced accuracy, or the least cost of mistakes by class.
    objective: Literal["accuracy", "balanced"] | dict[str, Weight] = "accuracy"
    #: What rows of each class weigh in learning; probabilities are then those of such a population.
    class_weight: Literal["balanced"] | dict[str, Weight] | None = None
    columns: dict[str, str] = Field(default_factory=dict)  #: kinds of columns that are not to be guessed
    ignore: tuple[str, ...] = ()  #: columns that no rule may use
    #: Whether numbers from 0 to 1 are truth values; None: where all columns are such, and no measurements.
    truth_values: bool | None = None
    #: Whether there are runs of gradient descent even where what they find would not be taken; so by default
    #: where anything is said of them.
    always_run: bool = False
    #: Of the runs that propose bodies; where rules have weights, `training.rows` are all that they are shown.
    gradient: Config = Config()
    seed: Whole = 0
    time_limit: Positive | None = None  #: seconds

    @classmethod
    def of(
        cls, preset: str = "default", settings: Mapping[str, Any] | None = None, /, **options: Any
    ) -> Self:
        """Settings by name.

        Parameters
        ----------
        preset, settings
            Of the runs of gradient descent, as for `Config.preset`.
        options
            Any field of this class but `gradient`.
        """
        proposing = options.get("rules", "weighted") == "weighted" and preset == "default"
        given = {**(_PROPOSING if proposing else {}), **(settings or {})}
        of_runs = {
            name: options[name] for name in sorted(options.keys() & Config.names() - set(cls.model_fields))
        }
        if of_runs:
            raise ConfigError(
                f"{', '.join(of_runs)}: for the runs of gradient descent, so give settings={of_runs!r}"
            )
        for name, words in (("objective", ("accuracy", "balanced")), ("class_weight", ("balanced",))):
            if isinstance(word := options.get(name), str) and word not in words:
                raise ConfigError(f"{name} is {word!r}: choose {' or '.join(words)}, or a number by class")
            if isinstance(word, Mapping) and (wrong := [key for key, one in word.items() if not one > 0]):
                raise ConfigError(f"{name} is {word[wrong[0]]!r} for {wrong[0]!r}: give a number above 0")
        if isinstance(options.get("ignore"), str):
            options["ignore"] = (options["ignore"],)
        options.setdefault("always_run", preset != "default" or bool({*(settings or {})} - {"device"}))
        made = cls.read(options)
        given |= {"seed": made.seed}
        if made.rules == "crisp":
            given = {"max_rules": made.max_rules, **given}
        return made.model_copy(update={"gradient": Config.preset(preset, **given)})

    @property
    def weighing(self) -> WeighingConfig:
        """How weighted rules are learned."""
        default = WeighingConfig()
        return WeighingConfig(
            max_rules=self.max_rules,
            max_literals=self.max_literals or default.max_literals,
            size=self.size,
            objective=self.objective,
            seed=self.seed,
        )
