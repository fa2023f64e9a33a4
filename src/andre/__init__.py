"""ANDRE learns first-order logic rules by gradient descent."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from andre.errors import AndreError
from andre.logic import Atom, Literal, Program, Rule, Variable

if TYPE_CHECKING:
    # Not in __all__: a star import must work without scikit-learn.
    from andre.estimator import AndreClassifier as AndreClassifier
    from andre.grounding import RuleSpace, Sample
    from andre.learning import Config, Result, fit, load_result, save_result
    from andre.nn import RuleLayer

__version__ = "0.1.0"

# Loaded on first use, so that `import andre` and the command line's help stay instant.
_LAZY = {
    "RuleSpace": "andre.grounding",
    "Sample": "andre.grounding",
    "Config": "andre.learning",
    "Result": "andre.learning",
    "fit": "andre.learning",
    "load_result": "andre.learning",
    "save_result": "andre.learning",
    "AndreClassifier": "andre.estimator",
    "RuleLayer": "andre.nn",
}

__all__ = [
    "AndreError",
    "Atom",
    "Config",
    "Literal",
    "Program",
    "Result",
    "Rule",
    "RuleLayer",
    "RuleSpace",
    "Sample",
    "Variable",
    "fit",
    "load_result",
    "save_result",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'andre' has no attribute {name!r}")
