"""Facts: what is known, how it is read and written, and what types its arguments have."""

from andre.facts.base import FactBase, World
from andre.facts.bias import Bias
from andre.facts.notes import Notes
from andre.facts.relation import MARKS, Relation
from andre.facts.values import Value

__all__ = ["MARKS", "Bias", "FactBase", "Notes", "Relation", "Value", "World"]
