"""ANDRE learns first-order logic rules by gradient descent."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from andre.errors import AndreError
from andre.logic import Atom, Literal, Program, Rule, Variable, parse_program

if TYPE_CHECKING:
    from andre import datasets

    # Not in __all__: a star import must work without scikit-learn.
    from andre.estimator import AndreClassifier as AndreClassifier
    from andre.facts import FactBase, read_facts, write_facts
    from andre.grounding import Language, RuleSpace, Sample, sample_census, take_census
    from andre.inference import explain, infer
    from andre.learning import (
        Config,
        Plan,
        Result,
        Theory,
        fit,
        learn,
        load_result,
        load_theory,
        save_result,
        save_theory,
    )
    from andre.learning.completion import Completion, CompletionConfig, ProposalConfig, complete, propose
    from andre.nn import RuleLayer

__version__ = "0.1.0"

_MODULES = ("datasets",)

# Loaded on first use, so that `import andre` and the command line's help stay instant.
_LAZY = {
    "FactBase": "andre.facts",
    "read_facts": "andre.facts",
    "write_facts": "andre.facts",
    "explain": "andre.inference",
    "infer": "andre.inference",
    "Language": "andre.grounding",
    "RuleSpace": "andre.grounding",
    "Sample": "andre.grounding",
    "sample_census": "andre.grounding",
    "take_census": "andre.grounding",
    "Completion": "andre.learning.completion",
    "CompletionConfig": "andre.learning.completion",
    "ProposalConfig": "andre.learning.completion",
    "complete": "andre.learning.completion",
    "propose": "andre.learning.completion",
    "Config": "andre.learning",
    "Plan": "andre.learning",
    "Theory": "andre.learning",
    "learn": "andre.learning",
    "Result": "andre.learning",
    "fit": "andre.learning",
    "load_result": "andre.learning",
    "load_theory": "andre.learning",
    "save_result": "andre.learning",
    "save_theory": "andre.learning",
    "AndreClassifier": "andre.estimator",
    "RuleLayer": "andre.nn",
}

__all__ = [
    "AndreError",
    "Atom",
    "Completion",
    "CompletionConfig",
    "Config",
    "FactBase",
    "Language",
    "Literal",
    "Plan",
    "Program",
    "ProposalConfig",
    "Result",
    "Rule",
    "RuleLayer",
    "RuleSpace",
    "Sample",
    "Theory",
    "Variable",
    "complete",
    "datasets",
    "explain",
    "fit",
    "infer",
    "learn",
    "load_result",
    "load_theory",
    "parse_program",
    "propose",
    "read_facts",
    "sample_census",
    "save_result",
    "save_theory",
    "take_census",
    "write_facts",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"andre.{name}")
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'andre' has no attribute {name!r}")
