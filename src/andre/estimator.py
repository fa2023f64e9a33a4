"""ANDRE as a scikit-learn classifier whose model is a logic program."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from andre.arrays import Bools, Floats
from andre.errors import ConfigError, DataError
from andre.learning import Callback, Config, Result, fit
from andre.limits import Deadline, limited
from andre.logic import Program
from andre.report import LiveProgress
from andre.samples import RuleSpace, Sample, Thresholds, check_weights, scaled_to_rows

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError(
        f"AndreClassifier needs scikit-learn 1.6 or newer ({error}): pip install 'andre[sklearn]'"
    ) from error


#: Settings that have a parameter of their own, and its name.
_OWN_PARAMETERS = {"seed": "random_state", "time_limit": "time_limit"}


class AndreClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose model is a logic program: rules that tell two classes apart.

    Columns are predicates. A column whose known values all lie in [0, 1] holds
    truth values; any other holds measurements and is cut at quantiles into
    predicates such as `'age > 42'`. A missing value (NaN) is unknown: it
    satisfies neither a literal nor its negation. The rules define the class
    that comes second in sorted order; where none fires, the first is
    predicted. For more than two classes, wrap this in
    `sklearn.multiclass.OneVsRestClassifier`.

    Parameters
    ----------
    preset
        `default` works best; `paper` follows the paper to the letter.
    settings
        Single settings changed by name, as in `Config.preset`: `{"steps": 300}`.
    head
        The atom that the rules define.
    numeric
        How measurements are read: `thresholds` cuts columns that have values
        outside [0, 1] into predicates, `all` cuts every column that is not
        Boolean, since small measurements may lie in [0, 1] too, and `error`
        refuses values outside [0, 1].
    n_thresholds
        Into how many predicates a column is cut, at most.
    weights
        What `sample_weight` means. `relative`, as elsewhere in scikit-learn: only how
        many times one weight is another counts, and all of them together stand for
        as many rows as have one. `counts`: 2 is two rows, and with it twice the evidence.
    time_limit
        Seconds after which the best program so far is taken.
    random_state
        Seed of the runs: the same number gives the same program.
    verbose
        Whether to show progress and the best program so far in a terminal.

    Attributes
    ----------
    program_ : Program
        The rules, each with its evidence.
    result_ : Result
        The program with scores, runs, their history and weights.
    classes_ : ndarray
        The two classes, the negative one first.
    thresholds_ : Thresholds
        Where each column is cut into predicates.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray
        Names of the columns, if the table has names and all are text.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> y = np.where((X[:, 0] > 0.5) & (X[:, 2] < 0.5), "yes", "no")
    >>> model = AndreClassifier(settings={"rounds": 1}, random_state=0).fit(X, y)
    >>> print(model.program_)
    h :- x0, \\+ x2.
    >>> model.predict([[0.9, 0.5, 0.1]]).item()
    'yes'
    """

    program_: Program
    result_: Result
    classes_: NDArray[Any]
    thresholds_: Thresholds
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __init__(  # noqa: PLR0913 - scikit-learn wants every parameter by name
        self,
        *,
        preset: str = "default",
        settings: Mapping[str, Any] | None = None,
        head: str = "h",
        numeric: Literal["thresholds", "all", "error"] = "thresholds",
        n_thresholds: int = 8,
        weights: Literal["relative", "counts"] = "relative",
        time_limit: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.preset = preset
        self.settings = settings
        self.head = head
        self.numeric = numeric
        self.n_thresholds = n_thresholds
        self.weights = weights
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the rules of the second class.

        Parameters
        ----------
        X
            One row per example, one column per predicate: an array or a DataFrame.
        y
            The class of every row; any two values.
        sample_weight
            A non-negative weight per row; a row of weight 0 is left out. What the others mean is
            said by the parameter `weights`.
        """
        config = self._config()
        table, labels = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        self.classes_, positive = _two_classes(labels)
        weights = check_weights(sample_weight, len(table))
        seen = weights > 0  # a row of weight 0 must not even place a cut
        table, positive, weights = table[seen], positive[seen], weights[seen]
        if self.weights == "relative":
            weights = scaled_to_rows(weights)
        if positive.all() or not positive.any():
            raise DataError(
                f"all rows are of the class {self.classes_[int(positive[0])]}, so there is only one class "
                "and nothing to tell apart: add rows of the other class"
            )
        with limited(Deadline.after(config.time_limit)):  # to find cut points counts, too
            self.thresholds_ = self._learn_thresholds(table, weights)
            space = RuleSpace.from_names(self.thresholds_.atoms, self.head)
            sample = Sample.from_arrays(self.thresholds_.valuate(table), positive, weights, space=space)
            with LiveProgress() if self.verbose else nullcontext(Callback()) as watcher:
                self.result_ = fit(sample, config, callbacks=[watcher])
        self.program_ = self.result_.program
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of every row: the second where a rule fires, else the first, [rows]."""
        valuations = self._valuations(X)
        classes: NDArray[Any] = self.classes_[self.result_.predict(valuations).astype(np.intp)]
        return classes

    def predict_proba(self, X: ArrayLike) -> Floats:
        """The probability of both classes on every row, [rows, 2].

        The probability of the second class is the share of it among the
        training rows that the most confident rule covers which fires here, or
        among those that no rule covers. It is above one half exactly where a
        rule fires, in agreement with `predict`.
        """
        valuations = self._valuations(X)
        proba = self.result_.predict_proba(valuations)
        # A rule that is wrong more often than right is still part of the program; preset `paper` allows it.
        fires = self.result_.predict(valuations)
        proba = np.where(fires, np.maximum(proba, np.nextafter(0.5, 1)), proba)
        return np.column_stack((1 - proba, proba))

    def _config(self) -> Config:
        settings = dict(self.settings or {})
        for name, parameter in _OWN_PARAMETERS.items():
            if name in settings:
                raise ConfigError(f"{name!r} is not one of the settings here: use the parameter {parameter}")
        if self.numeric not in ("thresholds", "all", "error"):
            raise ConfigError(f"numeric is {self.numeric!r}: choose 'thresholds', 'all' or 'error'")
        if self.weights not in ("relative", "counts"):
            raise ConfigError(f"weights is {self.weights!r}: choose 'relative' or 'counts'")
        if not isinstance(self.n_thresholds, int | np.integer) or self.n_thresholds < 1:
            raise ConfigError(f"n_thresholds is {self.n_thresholds!r}: give a whole number of 1 or more")
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31)
        return Config.preset(self.preset, **settings, seed=int(seed), time_limit=self.time_limit)

    def _learn_thresholds(self, table: Floats, weights: Floats) -> Thresholds:
        names = getattr(self, "feature_names_in_", None)
        columns = [f"x{place}" for place in range(table.shape[1])] if names is None else list(names)
        every = self.numeric == "all"
        thresholds = Thresholds.learn(table, weights, columns, int(self.n_thresholds), every=every)
        measured = [name for name, cuts in zip(columns, thresholds.cuts, strict=True) if cuts is not None]
        if measured and self.numeric == "error":
            raise DataError(
                f"the column {measured[0]!r} has values outside [0, 1]: scale them to probabilities, "
                "or let numeric='thresholds' cut the column into predicates"
            )
        if not thresholds.atoms:
            raise DataError("every column has one value only, so no rule can tell the rows apart")
        return thresholds

    def _valuations(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        table = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        return self.thresholds_.valuate(table)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        return tags


def _two_classes(labels: NDArray[Any]) -> tuple[NDArray[Any], Bools]:
    """The two classes in sorted order, and which rows are of the second, [rows]."""
    check_classification_targets(labels)
    kind = type_of_target(labels, input_name="y")
    if kind != "binary":
        raise DataError(
            f"Only binary classification is supported. The type of the target is {kind}. "
            "For more classes, wrap AndreClassifier in sklearn.multiclass.OneVsRestClassifier."
        )
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes == 1
