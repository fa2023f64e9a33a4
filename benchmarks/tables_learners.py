"""Learners whose models can be read, each behind one function: from columns and classes to probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats
from andre.estimator import AndreClassifier

#: The package that each peer is in, but for those of scikit-learn.
PEERS = {
    "FIGS-12": "imodels",
    "RuleFit-30": "imodels",
    "BoostedRules": "imodels",
    "EBM": "interpret",
    "RIPPER": "wittgenstein",
}
#: Weighted rules of ours, by the most rules they may have.
OURS = {"ours-15": 15, "ours-60": 60}


@dataclass(frozen=True, eq=False)
class Predicted:
    """What a model says of held-out rows, and its size."""

    probabilities: Floats  #: [rows, classes]
    decided: NDArray[np.intp]  #: [rows]
    rules: float | None = None
    literals: float | None = None
    program: str = ""

    @classmethod
    def of(cls, shares: Floats, rules: float | None = None, literals: float | None = None) -> Predicted:
        """Decisions for the most likely class."""
        return cls(shares, shares.argmax(axis=1), rules, literals)


def _weighted(seen: Any, labels: NDArray[np.intp], unseen: Any, seed: int, *, most: int) -> Predicted:
    model = AndreClassifier(max_rules=most, random_state=seed).fit(seen, labels)
    size = float(len(model.program_)), float(model.program_.n_literals)
    decided = np.searchsorted(model.classes_, model.predict(unseen))
    return Predicted(model.predict_proba(unseen), decided, *size, program=str(model.program_))


def _majority(seen: Any, labels: NDArray[np.intp], unseen: Any, seed: int) -> Predicted:
    shares = np.bincount(labels) / len(labels)
    return Predicted.of(np.tile(shares, (len(unseen), 1)), 0.0, 0.0)


def _one_hot(seen: Any, unseen: Any) -> tuple[Floats, Floats]:
    import pandas as pd

    both = pd.get_dummies(pd.concat([seen, unseen]), dtype=float).fillna(-1.0)
    return both.to_numpy()[: len(seen)], both.to_numpy()[len(seen) :]


def _tree(seen: Any, labels: NDArray[np.intp], unseen: Any, seed: int) -> Predicted:
    from sklearn.tree import DecisionTreeClassifier

    X, X_new = _one_hot(seen, unseen)
    model = DecisionTreeClassifier(max_depth=4, random_state=seed).fit(X, labels)
    leaves = model.get_n_leaves()
    return Predicted.of(model.predict_proba(X_new), float(leaves), float(leaves - 1))


def _boosted_rules(seen: Any, labels: NDArray[np.intp], unseen: Any, seed: int) -> Predicted:
    import imodels

    X, X_new = _one_hot(seen, unseen)
    model = imodels.BoostedRulesClassifier(random_state=seed).fit(X, labels)
    stumps = float(len(model.estimators_))
    return Predicted.of(np.asarray(model.predict_proba(X_new)), stumps, stumps)


def _figs(seen: Any, labels: NDArray[np.intp], unseen: Any, seed: int) -> Predicted:
    import imodels

    make = partial(imodels.FIGSClassifier, max_rules=12, random_state=seed)
    models, shares = _each_class(make, seen, labels, unseen)
    splits = float(sum(model.complexity_ for model in models))
    return Predicted.of(shares, splits, splits)


def _rulefit(seen: Any, labels: NDArray[np.intp], unseen: Any, seed: int) -> Predicted:
    """RuleFit; a linear term counts as a rule of one literal."""
    import imodels

    make = partial(imodels.RuleFitClassifier, max_rules=30, random_state=seed)
    models, shares = _each_class(make, seen, labels, unseen)
    rules = literals = 0
    for model in models:
        bodies = [str(rule).split(" and ") for rule in model.rules_]
        linear = int(np.count_nonzero(model.coef[: len(model.coef) - len(bodies)]))
        rules += len(bodies) + linear
        literals += sum(map(len, bodies)) + linear
    return Predicted.of(shares, float(rules), float(literals))


def _ebm(seen: Any, labels: NDArray[np.intp], unseen: Any, seed: int) -> Predicted:
    from interpret.glassbox import ExplainableBoostingClassifier

    model = ExplainableBoostingClassifier(random_state=seed, n_jobs=1).fit(seen, labels)
    return Predicted.of(np.asarray(model.predict_proba(unseen)))


def _ripper(seen: Any, labels: NDArray[np.intp], unseen: Any, seed: int) -> Predicted:
    import wittgenstein

    shares, rules = [], []
    for k in _asked(labels):
        model = wittgenstein.RIPPER(random_state=seed)
        model.fit(seen.assign(_label=(labels == k).astype(int)), class_feat="_label", pos_class=1)
        shares.append(np.asarray(model.predict_proba(unseen))[:, 1])
        rules += model.ruleset_.rules
    return Predicted.of(_together(shares), float(len(rules)), float(sum(len(rule.conds) for rule in rules)))


def _each_class(
    make: Callable[[], Any], seen: Any, labels: NDArray[np.intp], unseen: Any
) -> tuple[list[Any], Floats]:
    """Models of two classes for each class that is asked for, and the probabilities of all classes."""
    X, X_new = _one_hot(seen, unseen)
    models = [make().fit(X, (labels == k).astype(int)) for k in _asked(labels)]
    return models, _together([model.predict_proba(X_new)[:, 1] for model in models])


def _asked(labels: NDArray[np.intp]) -> Sequence[int]:
    """The classes that a learner of two classes is asked for: of two the second, of more each."""
    n = int(labels.max()) + 1
    return [1] if n == 2 else range(n)


def _together(shares: list[Floats]) -> Floats:
    """Probabilities of all classes from those of each against the others."""
    if len(shares) == 1:
        return np.stack((1 - shares[0], shares[0]), axis=1)
    table = np.stack(shares, axis=1) + 1e-9
    return np.asarray(table / table.sum(axis=1, keepdims=True))


#: From columns and classes to learn from, and columns to judge by, with a seed.
LEARNERS: dict[str, Callable[[Any, NDArray[np.intp], Any, int], Predicted]] = {
    "majority": _majority,
    **{name: partial(_weighted, most=most) for name, most in OURS.items()},
    "tree-4": _tree,
    "FIGS-12": _figs,
    "RuleFit-30": _rulefit,
    "BoostedRules": _boosted_rules,
    "EBM": _ebm,
    "RIPPER": _ripper,
}
