"""Running programs over facts, and what single bodies cover."""

from andre.inference.engine import Engine
from andre.inference.explain import Explainer, Explanation, FactIndex, Firing, Search, explain
from andre.inference.joins import covered_heads
from andre.inference.model import Model
from andre.inference.run import infer, materialise

__all__ = [
    "Engine",
    "Explainer",
    "Explanation",
    "FactIndex",
    "Firing",
    "Model",
    "Search",
    "covered_heads",
    "explain",
    "infer",
    "materialise",
]
