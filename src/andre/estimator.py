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

    Columns may have numbers, text, categories, Booleans, dates and missing values: a
    missing value is unknown, and satisfies neither a literal nor its negation.
    Numbers and dates are compared with thresholds, as in `age > 42`, and categories
    with values, as in `color = red`. Each rule that fires adds its weight to the
    log-odds of a class; if none fires, the base rate holds.

    Parameters
    ----------
    rules
        `weighted`, or `crisp`: a plain program, which predicts its class if a rule fires.
    max_rules, max_literals
        The maximal number of rules, and of literals in each.
    size
        How many of these rules are kept. `fewest`: the smallest set within one standard error of the best
        in cross-validation, and the crisp program if it is as good. `best`: those that predict best; for up
        to a few thousand rows these are the rules of all folds together, each with the mean of its weights.
        None, the default, means the best if `max_rules` is above 15, else the fewest.
    objective
        What decisions maximise: `accuracy` or `balanced` accuracy; or, to minimise the expected cost, the
        cost of a mistake about each class. Probabilities do not depend on it.
    class_weight
        The weight of the rows of each class in learning: None, `balanced`, or a number for each class.
    columns
        The kinds of columns that should not be guessed, by name: `number`, `category`, `boolean`,
        `date`, `truth` (a truth value from 0 to 1) or `text` (left out).
    head
        The predicate that rules define; by default the name of `y` if it has one, as a Series does, else
        `h`. With more than two classes, or two that are not true and false, the class is its argument.
    preset
        The preset of gradient descent: `default` works best; `paper` follows the paper to the letter.
    settings
        Single settings of gradient descent by name, as in `Config.preset`: `{"steps": 300}`.
    weights
        What `sample_weight` means. With `relative`, as usual in scikit-learn, only ratios of weights count,
        and all weights together stand for as many rows as have one, since those of boosting add up to 1.
        With `counts`, a weight of 2 means two rows, and twice the evidence. scikit-learn's check that a
        weight of 2 has the effect of two equal rows (`check_sample_weight_equivalence_on_dense_data`)
        passes only with `counts`: more rows justify more rules, and relative weights do not say how many
        rows there are. With `counts` the equivalence holds for thresholds, runs, folds, weights of rules and
        decisions, for tables of up to 50,000 rows; of longer ones a part is drawn. The kind of a column is
        decided by its cells, whatever their weights.
    time_limit
        Seconds after which the best rules so far are returned.
    random_state
        Seed of the runs: the same number gives the same rules.
    verbose
        Whether to show progress and the best program so far in a terminal.

    Attributes
    ----------
    model_ : RuleClassifier
        The learned classifier.
    program_ : Program
        The rules, each with its evidence.
    rules_ : WeightedRules | CrispRules
        The rules with their weights.
    path_ : RulePath | None
        The best weighted rules of every size, with scores on training rows and in cross-validation.
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
            A non-negative weight per row; rows of weight 0 are left out. What other weights mean is
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
