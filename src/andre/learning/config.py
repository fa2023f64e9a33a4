"""Settings of training and selection with their two presets, and what rules must look like and reach."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, Literal, Self, TypeAlias

import numpy as np
from pydantic import Field

from andre.arrays import Bools, Floats
from andre.errors import ConfigError
from andre.model import Count, LossConfig, NetworkConfig, NonNegative, Positive, Settings, Whole
from andre.samples import Codes, Form

#: What head atoms are that no example labels; see `Plan.unlabelled`.
Unlabelled: TypeAlias = Literal["auto", "false", "unknown"]

#: Weights that are not whole may add up to a little less than they should.
SLACK = 1 - 1e-9


@dataclass(frozen=True)
class Floor:
    """The least support and confidence that a rule must have to be chosen.

    Examples
    --------
    >>> floor = Floor(support=2, confidence=0.5)
    >>> floor.passes(np.array([[1.0, 0.0], [2.0, 0.0], [2.0, 2.0]]))  # positives and negatives
    array([False,  True, False])
    >>> print(floor)
    right more often than 0.5 and about 2 examples at least
    """

    support: float = 0.0  #: the least N_r; where facts are uncertain, a sum of probabilities
    confidence: float = 0.5  #: N_r / N_b is above this

    def __str__(self) -> str:
        least = f" and about {self.support:g} examples at least" if self.support else ""
        return f"right more often than {self.confidence:g}{least}"

    def passes(self, counts: Floats) -> Bools:
        """Which rules reach it, by the positives and negatives that each covers, [..., 2]."""
        sure = counts[..., 0] > self.confidence * counts.sum(axis=-1)
        return np.asarray(sure & self.supported(counts))

    def supported(self, counts: Floats) -> Bools:
        """Which rules have the least support, however often they are wrong, [..., 2]."""
        return np.asarray(counts[..., 0] >= self.support * SLACK)

    def most_wrong(self, positives: float) -> float:
        """How many negatives a rule may cover that covers so many positives at the most.

        Examples
        --------
        >>> Floor(confidence=0.8).most_wrong(20)
        5.0
        """
        return positives * (1 / self.confidence - 1) if self.confidence else math.inf

    def shortfall(self, counts: Floats) -> str | None:
        """Why a rule that covers so many positives and negatives, [2], does not reach it; None if it does.

        Examples
        --------
        >>> Floor(support=2).shortfall(np.array([1.0, 0.0]))
        'its support of 1 is below 2'
        >>> Floor().shortfall(np.array([1.0, 9.0]))
        'it is right about 1 of the 10 examples that it covers, no more often than 0.5'
        """
        if self.passes(counts):
            return None
        right, both = counts[0], counts.sum()
        if not self.supported(counts):
            return f"its support of {right:g} is below {self.support:g}"
        return (
            f"it is right about {right:g} of the {both:g} examples that it covers, "
            f"no more often than {self.confidence:g}"
        )


@dataclass(frozen=True, eq=False)
class Guide:
    """Limits on the bodies that `fit` looks for, and bodies to add to its own; all over one rule space.

    Examples
    --------
    >>> import numpy as np
    >>> from andre.samples import Sample
    >>> from andre.learning import fit
    >>> rows = np.random.default_rng(0).random((60, 3))
    >>> sample = Sample.from_arrays(rows, (rows[:, 0] > 0.5) | (rows[:, 2] < 0.5))
    >>> known = np.array([[1, 0, 0]], dtype=np.int8)
    >>> print(fit(sample, Config.preset(restarts=1, rounds=1, steps=45), guide=Guide(fixed=known)).program)
    h :- b1.
    h :- \\+ b3.
    """

    form: Form | None = None  #: what bodies must look like; by default what the settings say of safety
    extra: Codes | None = None  #: bodies that are pooled beside those of the runs, [rules, m]
    #: Bodies of known rules, [rules, m]: they stay as they are, in the network and in the program, and
    #: what is learned is added to them.
    fixed: Codes | None = None
    #: Whether bodies, [bodies, m], hold all that can be hoped for, so that no further round is trained.
    settles: Callable[[Codes], bool] | None = None


Share = Annotated[float, Field(ge=0, lt=1)]

#: The least support of a rule, and the positive examples of a target from which on it holds by default.
_LEAST, _MANY = 2.0, 100


class TrainingConfig(Settings):
    """Settings of gradient descent.

    Examples
    --------
    >>> TrainingConfig().subrules
    (1, 2, 3, 4)
    """

    restarts: Count = 4  #: N_r, runs for each number of subrules in a round
    #: Rounds of fresh runs, each doubling the runs so far; a round that does not shorten the
    #: description is the last.
    rounds: Count = 4
    subrules: Annotated[tuple[Count, ...], Field(min_length=1)] = (1, 2, 3, 4)  #: n, all tried at once
    steps: Count = 150  #: T, epochs of a run
    batch: Count | None = None  #: b, rows a step; None takes all rows
    #: Distinct rows that a round shows to its runs. Of more than five times as many, so many are drawn for
    #: each round, half of them of each class; what the runs propose is judged by all. None shows all.
    rows: Count | None = 2048
    learning_rate: Positive = 0.1  #: alpha
    learning_rate_decay: Share = 1e-4  #: alpha', the share of the rate lost after every epoch
    clip: Positive | None = 1.0  #: largest gradient norm of a run
    init: NonNegative = 0.1  #: standard deviation of the first weights
    check_every: Count = 15  #: steps between looks at the runs' programs
    patience: Count | None = 4  #: looks at which a run says the same before it counts as converged


class SelectionConfig(Settings):
    """Settings of the choice of a program among what the runs propose.

    Examples
    --------
    >>> SelectionConfig().refine
    True
    """

    #: eta', most entropy of a choice that is read as certain; each of them gives a program per run.
    certainties: Annotated[tuple[Annotated[float, Field(gt=0, le=math.log(3))], ...], Field(min_length=1)] = (
        0.4,
        0.8,
        math.log(3),
    )
    #: What the chosen program is best in; "soundness" takes all rules of all runs that reach the floor.
    criterion: Literal["description", "accuracy", "soundness"] = "description"
    #: Whether examples may be wrong. "auto" lets the description length tell, and a definition that agrees
    #: with all examples is still given, marked weak, where none describes them shortest. 0 says that they
    #: are clean: the shortest definition that agrees with all of them, whatever their number.
    noise: Literal["auto", 0] = "auto"
    strict: bool = False  #: withhold a definition that is weak: too few examples to tell it from chance
    accuracy: Annotated[float, Field(gt=0, le=1)] = (
        0.95  #: tau; "accuracy" takes the fewest subrules that reach it
    )
    combine: bool = True  #: pool the rules of all runs; else the program is one run's
    refine: bool = True  #: edit the program while its description gets shorter
    min_confidence: Share = 0.5  #: every rule is right more often than this
    #: Every rule is right about so many examples at the least; where facts are uncertain, their probabilities
    #: are added up. None asks for 2 where a target has 100 positive examples or more, as one of so many is
    #: chance, and for nothing in smaller targets and definitions, where all may stand on a single fact.
    min_support: NonNegative | None = None
    #: Every variable of a rule occurs in a positive literal, so that the program runs on facts. Switch it
    #: off where the rows are all there is and a rule may consist of negations.
    safe: bool = True
    #: In mode `complete` a rule may deny its own target. What is not known yet may be what the program
    #: derives, so that such a rule could undo itself; a definition is judged by its fixpoint, and always may.
    negated_target: bool = False
    #: A program chosen by accuracy keeps rules that cover nothing beyond the others, unless another is a part
    #: of them. A rule that reads the target covers what its base case does, and derives nothing without it.
    redundant: bool = False
    pool: Count = 400  #: most rules that are combined
    beam: Count = 8  #: programs that are kept while combining
    max_rules: Count = 16  #: most rules of a program

    def floor(self, positives: float = 0) -> Floor:
        """The least support and confidence of a rule.

        Parameters
        ----------
        positives
            The positive examples of the target. Left out for a definition: its base
            case may have the support of one fact, and all else follow from it.

        Examples
        --------
        >>> SelectionConfig().floor(5000)
        Floor(support=2.0, confidence=0.5)
        >>> SelectionConfig().floor(20).support, SelectionConfig(min_support=5).floor(20).support
        (0.0, 5.0)
        """
        default = _LEAST if positives >= _MANY else 0.0
        return Floor(default if self.min_support is None else self.min_support, self.min_confidence)


class Config(Settings):
    """All settings of a learner; `Config.preset` makes one.

    Examples
    --------
    >>> Config.preset("paper").loss.reduction
    'sum'
    >>> Config.preset("default", steps=100).training.steps
    100
    >>> Config.preset("default", stepz=100)
    Traceback (most recent call last):
    andre.errors.ConfigError: there is no setting 'stepz'...
    """

    network: NetworkConfig = NetworkConfig()
    loss: LossConfig = LossConfig()
    training: TrainingConfig = TrainingConfig()
    selection: SelectionConfig = SelectionConfig()
    seed: Whole = 0
    device: str = "cpu"  #: cpu, cuda, or auto: cuda where there is such a device and it pays
    time_limit: Positive | None = None  #: seconds

    @classmethod
    def preset(cls, name: str = "default", **settings: Any) -> Self:
        """A preset, with single settings changed by their names.

        Parameters
        ----------
        name
            `default` works best; `paper` follows the paper to the letter.
        settings
            Any field of this class or of its four parts.
        """
        if name not in _PRESETS:
            raise ConfigError(f"there is no preset {name!r}: choose one of {', '.join(_PRESETS)}")
        nested: dict[str, Any] = {part: dict(values) for part, values in _PRESETS[name].items()}
        owners = {name: part for part, kind in _PARTS.items() for name in kind.model_fields}
        own = cls.names() - owners.keys()
        for key, value in settings.items():
            if key in own:
                nested[key] = value
            elif key in owners:
                nested.setdefault(owners[key], {})[key] = value
            else:
                raise unknown_setting(key, cls.names())
        return cls.read(nested)

    @classmethod
    def names(cls) -> set[str]:
        """All settings that `preset` takes: fields of this class, and of its four parts."""
        parts = (kind.model_fields for kind in _PARTS.values())
        return (set(cls.model_fields) - _PARTS.keys()).union(*parts)


def unknown_setting(name: str, known: Collection[str]) -> ConfigError:
    """The error that says which settings there are, and which of them may be meant.

    Examples
    --------
    >>> print(unknown_setting("calibrat", {"steps", "calibrate"}))
    there is no setting 'calibrat': is calibrate meant? The settings are calibrate, steps
    """
    near = get_close_matches(name, known, 1)
    meant = f"is {near[0]} meant? The" if near else "the"
    return ConfigError(f"there is no setting {name!r}: {meant} settings are {', '.join(sorted(known))}")


_PARTS: dict[str, type[Settings]] = {
    "network": NetworkConfig,
    "loss": LossConfig,
    "training": TrainingConfig,
    "selection": SelectionConfig,
}

_PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "default": {},
    "paper": {
        "network": {"levels": None},
        "loss": {"reduction": "sum", "entropy": 0.1, "connected_growth": "quadratic"},
        "training": {
            "restarts": 3,
            "rounds": 1,
            "steps": 500,
            "batch": 128,
            "rows": None,
            "learning_rate": 0.01,
            "init": 1.0,
            "patience": None,
        },
        "selection": {
            "certainties": (0.4,),
            "criterion": "accuracy",
            "combine": False,
            "refine": False,
            "safe": False,
            "negated_target": True,
            "redundant": True,
            "strict": True,
            "min_confidence": 0.0,
            "min_support": 0.0,
        },
    },
}
