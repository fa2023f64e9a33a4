"""Facts: what is known, how it is read and written, and what types its arguments have."""

from andre.facts.base import FEATURES, FactBase, World
from andre.facts.bias import Bias
from andre.facts.formats import FORMATS
from andre.facts.frames import to_frames
from andre.facts.noise import noisy, probabilistic
from andre.facts.notes import Notes
from andre.facts.query import as_stated, read_query
from andre.facts.read import read_facts
from andre.facts.relation import MARKS, Relation
from andre.facts.sources import read_source
from andre.facts.tasks import TASKS, Task
from andre.facts.types import ArgumentTypes, argument_types
from andre.facts.values import Value
from andre.facts.write import write_facts

__all__ = [
    "FEATURES",
    "FORMATS",
    "MARKS",
    "TASKS",
    "ArgumentTypes",
    "Bias",
    "FactBase",
    "Notes",
    "Relation",
    "Task",
    "Value",
    "World",
    "argument_types",
    "as_stated",
    "noisy",
    "probabilistic",
    "read_facts",
    "read_query",
    "read_source",
    "to_frames",
    "write_facts",
]
