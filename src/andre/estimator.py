"""ANDRE as a scikit-learn classifier whose model is a set of rules."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from andre.arrays import Floats
from andre.errors import ConfigError
from andre.facts import LabelledRows, Labels, RawTable, canonical_level
from andre.learning import (
    Callback,
    ClassifierConfig,
    CrispRules,
    RuleClassifier,
    RulePath,
    WeightedRules,
    learn_classifier,
)
from andre.logic import Program
from andre.report import LiveProgress
from andre.samples import Encoding, check_weights, scaled_to_rows

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import assert_all_finite, check_consistent_length, check_random_state, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError(
        f"AndreClassifier needs scikit-learn 1.6 or newer ({error}): pip install 'andre[sklearn]'"
    ) from error


#: Settings that have a parameter of their own, and its name.
_OWN_PARAMETERS = {"seed": "random_state", "time_limit": "time_limit", "max_rules": "max_rules"}


class AndreClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose model is a small set of rules with weights, for tables of any kind.

    Columns may hold numbers, text, categories, Booleans or dates, and gaps: a
    missing value is unknown, and satisfies neither a literal nor its negation.
    Numbers and dates are compared, as in `age > 42`, and categories have
    values, as in `color = red`. Each rule that fires adds its weight to the
    log-odds of a class; where none does, the base rate holds.

    Parameters
    ----------
    rules
        `weighted`, or `crisp`: the plain program, whose class is predicted where a rule fires.
    max_rules, max_literals
        How many rules there may be, and literals in each.
    size
        How many of these rules are taken. `fewest`: fewer where more are no better by one standard error
        on rows they were learned without; before all others the crisp program is, where it is as good.
        `best`: those that predict best, of a table of up to some thousands of rows the rules of all folds
        together, each with the mean of its weights. None, by default: the best where `max_rules` is above 15.
    objective
        What predictions maximise: `accuracy`, `balanced` accuracy, or the least cost, given as the cost of a
        mistake about each class. Probabilities are the same for all.
    class_weight
        What rows of each class weigh in learning: None for as they are, `balanced`, or a number by class.
    columns
        What columns are that are not to be guessed, by name: `number`, `category`, `boolean`,
        `date`, `truth` (a truth value from 0 to 1) or `text` (left out).
    head
        What rules define, by default the name of `y` where that has one, as a Series does, else `h`; with
        more than two classes, or two that are not true and false, the class is its argument.
    preset
        Of the runs of gradient descent: `default` works best; `paper` follows the paper to the letter.
    settings
        Single settings of these runs changed by name, as in `Config.preset`: `{"steps": 300}`.
    weights
        What `sample_weight` means. `relative`, as elsewhere in scikit-learn: only how
        many times one weight is another counts, and all of them together stand for
        as many rows as have one, since boosting gives weights that add up to 1. `counts`: 2 is two rows,
        and with it twice the evidence. So scikit-learn's check that a row of weight 2 does what the row does
        twice (`check_sample_weight_equivalence_on_dense_data`) passes with `counts` alone: twice the rows
        bear out more rules, and relative weights say nothing of how many rows there are. With `counts` it
        holds of cuts, runs, folds, weights of rules and decisions, for tables up to 50,000 rows, of longer
        ones some rows being drawn; what kind of column each is, is decided by its cells, whatever they weigh.
    time_limit
        Seconds after which the best rules so far are taken.
    random_state
        Seed of the runs: the same number gives the same rules.
    verbose
        Whether to show progress and the best program so far in a terminal.

    Attributes
    ----------
    model_ : RuleClassifier
        All that was learned.
    program_ : Program
        The rules, each with its evidence.
    rules_ : WeightedRules | CrispRules
        The rules with their weights.
    path_ : RulePath | None
        The best weighted rules of every size, with scores on training rows and on others.
    encoding_ : Encoding
        What each column became.
    classes_ : ndarray
        The classes, in order.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray
        Names of the columns, if the table has names and all are text.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [*range(20, 60)] * 3, "color": ["red", "blue", "red"] * 40})
    >>> buys = ["yes" if age > 39 and color == "red" else "no" for age, color in people.to_numpy()]
    >>> model = AndreClassifier(head="buys", random_state=0).fit(people, buys)
    >>> print(model.program_)
    buys :- age > 39.5, color = red.
    >>> model.predict(pd.DataFrame({"age": [50], "color": ["red"]})).item()
    'yes'
    """

    model_: RuleClassifier
    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _names: tuple[str, ...]  #: of the columns, as they are called in rules

    def __init__(  # noqa: PLR0913 - scikit-learn wants every parameter by name
        self,
        *,
        rules: Literal["weighted", "crisp"] = "weighted",
        max_rules: int = 15,
        max_literals: int | None = None,
        size: Literal["fewest", "best"] | None = None,
        objective: Literal["accuracy", "balanced"] | Mapping[Any, float] = "accuracy",
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        columns: Mapping[str, str] | None = None,
        head: str | None = None,
        preset: str = "default",
        settings: Mapping[str, Any] | None = None,
        weights: Literal["relative", "counts"] = "relative",
        time_limit: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.rules = rules
        self.max_rules = max_rules
        self.max_literals = max_literals
        self.size = size
        self.objective = objective
        self.class_weight = class_weight
        self.columns = columns
        self.head = head
        self.preset = preset
        self.settings = settings
        self.weights = weights
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

    @property
    def program_(self) -> Program:
        """The rules, each with its evidence."""
        return self.model_.program

    @property
    def rules_(self) -> WeightedRules | CrispRules:
        """The rules with their weights."""
        return self.model_.rules

    @property
    def path_(self) -> RulePath | None:
        """The best weighted rules of every size."""
        return self.model_.path

    @property
    def encoding_(self) -> Encoding:
        """What each column became."""
        return self.model_.encoding

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn rules that tell the classes apart.

        Parameters
        ----------
        X
            One row per example: a DataFrame of pandas or Polars with columns of any kind, or an array.
        y
            The class of every row, any values.
        sample_weight
            A non-negative weight per row; a row of weight 0 is left out. What the others mean is
            said by the parameter `weights`.
        """
        table = self._table(X, y)
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_consistent_length(X, labels)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        names = _names(self.classes_)
        config = self._config(names)
        weights = check_weights(sample_weight, len(codes))
        seen = np.flatnonzero(weights > 0)  # a row of weight 0 must not even place a cut
        weights = weights[seen]
        if self.weights == "relative":
            weights = scaled_to_rows(weights)
        head = self.head
        if head is None:
            name = str(getattr(y, "name", None) or "h")
            head = "h" if name in table.names else name
        classes = Labels(head, names, codes.ravel()[seen], seen)
        rows = LabelledRows(table if len(seen) == table.n_rows else table.take(seen), classes, weights)
        with LiveProgress() if self.verbose else nullcontext(Callback()) as watcher:
            self.model_ = learn_classifier(rows, config, callbacks=[watcher])
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of every row, [rows]."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.model_.rules.decide(self.predict_proba(X))])

    def predict_proba(self, X: Any) -> Floats:
        """The probability of every class on every row, [rows, classes]."""
        check_is_fitted(self)
        return self.model_.predict_proba(self._table(X))

    def _config(self, names: tuple[str, ...]) -> ClassifierConfig:
        settings = dict(self.settings or {})
        for name, parameter in _OWN_PARAMETERS.items():
            if name in settings:
                raise ConfigError(f"{name!r} is not one of the settings here: use the parameter {parameter}")
        if self.weights not in ("relative", "counts"):
            raise ConfigError(f"weights is {self.weights!r}: choose 'relative' or 'counts'")
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31)
        return ClassifierConfig.of(
            self.preset,
            settings,
            rules=self.rules,
            max_rules=self.max_rules,
            max_literals=self.max_literals,
            size=self.size,
            objective=self._by_name(self.objective, names, "objective"),
            class_weight=self._by_name(self.class_weight, names, "class_weight"),
            columns=dict(self.columns or {}),
            truth_values=False,  # measurements may lie in [0, 1] too
            seed=int(seed),
            time_limit=self.time_limit,
        )

    def _by_name(self, given: Any, names: tuple[str, ...], parameter: str) -> Any:
        """Numbers by class as numbers by the class's name; anything else as it is."""
        if not isinstance(given, Mapping):
            return given
        known = dict(zip(self.classes_.tolist(), names, strict=True))
        if strange := [one for one in given if one not in known]:
            raise ConfigError(
                f"{parameter} has a number for {strange[0]!r}, which is none of the classes {list(known)}"
            )
        return {known[one]: number for one, number in given.items()}

    def _table(self, X: Any, *y: Any) -> RawTable:
        """Rows as a table; of a DataFrame the columns stay as they are. With classes, those to learn from."""
        new = bool(y)
        if hasattr(X, "columns") and hasattr(X, "shape"):
            as_text = () if new else self.model_.encoding.schema.as_text
            table = RawTable.read(X, as_text=as_text)
            validate_data(self, X, *y, skip_check_array=True, reset=new)
        else:
            found = validate_data(self, X, *y, dtype=None, ensure_all_finite="allow-nan", reset=new)
            array = found[0] if new else found
            names = getattr(self, "feature_names_in_", None) if new else self._names
            table = RawTable.read(array, names=None if names is None else list(map(str, names)))
        if new:
            self._names = table.names
        return table

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _names(classes: NDArray[Any]) -> tuple[str, ...]:
    """The classes as text, each its own."""
    names = tuple(canonical_level(str(one)) for one in classes.tolist())
    return names if len(set(names)) == len(names) else tuple(map(repr, classes.tolist()))
