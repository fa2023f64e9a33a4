"""Running programs over facts to their well-founded models."""

from andre.inference.engine import Engine
from andre.inference.explain import Explainer, Explanation, explain
from andre.inference.model import Model
from andre.inference.run import infer, materialise

__all__ = ["Engine", "Explainer", "Explanation", "Model", "explain", "infer", "materialise"]
