"""Programs run over facts to their fixpoint, single rules evaluated on facts, and explanations.

`infer` runs a whole program by an engine; `BodyEvaluator` says which head
atoms one rule derives in one step; `explain` shows why an atom holds.
`andre.inference.truth_tables`, for many programs at once, needs torch and is
imported by its own path.
"""

from andre.inference.bodies import BodyEvaluator, Covered, covered_heads
from andre.inference.engine import Engine, alternating_fixpoint
from andre.inference.explain import Explainer, Explanation, FactIndex, Firing, Search, explain
from andre.inference.joins import is_among
from andre.inference.model import Model
from andre.inference.run import infer, materialise

__all__ = [
    "BodyEvaluator",
    "Covered",
    "Engine",
    "Explainer",
    "Explanation",
    "FactIndex",
    "Firing",
    "Model",
    "Search",
    "alternating_fixpoint",
    "covered_heads",
    "explain",
    "infer",
    "is_among",
    "materialise",
]
