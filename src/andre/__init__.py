"""ANDRE learns first-order logic rules by gradient descent."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from andre.errors import AndreError
from andre.logic import Atom, Literal, Program, Rule, Variable, parse_program

if TYPE_CHECKING:
    from andre import datasets
    from andre.api import fit, learn
    from andre.census import sample_census, take_census
    from andre.completion import Completion, CompletionConfig, complete

    # Not in __all__: a star import must work without scikit-learn.
    from andre.estimator import AndreClassifier as AndreClassifier
    from andre.facts import FactBase, read_facts, write_facts
    from andre.inference import explain, infer
    from andre.learning import (
        Config,
        Plan,
        ProposalConfig,
        Result,
        Theory,
        propose,
    )
    from andre.nn import RuleLayer
    from andre.runs import load_result, load_theory, save_result, save_theory
    from andre.samples import Language, RuleSpace, Sample

__version__ = "0.1.0"

_MODULES = ("datasets",)

# Loaded on first use, so that `import andre` and the command line's help stay instant.
_LAZY = {
    "FactBase": "andre.facts",
    "read_facts": "andre.facts",
    "write_facts": "andre.facts",
    "explain": "andre.inference",
    "infer": "andre.inference",
    "Language": "andre.samples",
    "RuleSpace": "andre.samples",
    "Sample": "andre.samples",
    "sample_census": "andre.census",
    "take_census": "andre.census",
    "Completion": "andre.completion",
    "CompletionConfig": "andre.completion",
    "ProposalConfig": "andre.learning",
    "complete": "andre.completion",
    "propose": "andre.learning",
    "Config": "andre.learning",
    "Plan": "andre.learning",
    "Theory": "andre.learning",
    "learn": "andre.api",
    "Result": "andre.learning",
    "fit": "andre.api",
    "load_result": "andre.runs",
    "load_theory": "andre.runs",
    "save_result": "andre.runs",
    "save_theory": "andre.runs",
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
