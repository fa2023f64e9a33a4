"""Running programs over facts to their well-founded models."""

from andre.inference.engine import Engine
from andre.inference.model import Model
from andre.inference.run import infer, materialise

__all__ = ["Engine", "Model", "infer", "materialise"]
