"""Classifiers from tables of any kind: columns become atoms, runs propose bodies, rules get weights.

- `config`: all settings
- `crisp`: rules without weights
- `classifier`: what is learned, which predicts raw rows
- `explanation`: why a row is taken for its class
- `learner`: how it is learned
"""

from andre.learning.tables.classifier import Judged, RuleClassifier, WeightedRule
from andre.learning.tables.config import ClassifierConfig
from andre.learning.tables.crisp import CrispRules
from andre.learning.tables.explanation import RowExplanation
from andre.learning.tables.learner import guess_notes, learn_classifier, learn_encoding

__all__ = [
    "ClassifierConfig",
    "CrispRules",
    "Judged",
    "RowExplanation",
    "RuleClassifier",
    "WeightedRule",
    "guess_notes",
    "learn_classifier",
    "learn_encoding",
]
