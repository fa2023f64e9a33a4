"""Facts and tables of examples, and all reading and writing of them.

- `relation`, `base`, `order`: the facts of a predicate as columns of codes, fact bases, a canonical order
- `files`, `formats`, `frames`, `build`: facts from and to files, databases and DataFrames
- `databases`: which relations the tables of a database become, and how their cells are read
- `tables`: tables of any kind, the kinds of their columns, and labels
- `tasks`, `datasets`, `splits`: built-in tasks and noise, public datasets, held-out facts
- `calibration`: calibration of stated probabilities
- `types`, `query`, `bias`, `arithmetic`: argument types, queries, Popper's language bias, sums
"""

from andre.facts.arithmetic import PLUS, numbers_in, with_sums
from andre.facts.background import LIBRARY, Background
from andre.facts.base import FEATURES, FactBase, Notes, World
from andre.facts.bias import Bias
from andre.facts.calibration import Calibration
from andre.facts.datasets import as_facts, read_source
from andre.facts.files import is_database, read_facts, write_facts
from andre.facts.formats import FORMATS
from andre.facts.formats.databases.addresses import without_password
from andre.facts.formats.databases.selection import Selection
from andre.facts.formats.databases.tables import table_parts
from andre.facts.formats.table_files import open_table
from andre.facts.frames import to_frames
from andre.facts.order import in_canonical_order
from andre.facts.query import as_stated, near_names, read_query
from andre.facts.relation import MARKS, Key, Relation, Value, key_text
from andre.facts.splits import PYKEEN_SPLITS, hold_out, pykeen_split, training_facts
from andre.facts.tables.cells import canonical_level
from andre.facts.tables.examples import LabelledRows, TruthRows, read_examples
from andre.facts.tables.labels import Labels, column_atom, level_constant
from andre.facts.tables.raw import RawColumn, RawTable
from andre.facts.tables.rows import row_facts
from andre.facts.tables.schema import KINDS, ColumnSchema, Kind, Schema, TypedColumn, TypedTable
from andre.facts.tasks import CLASSICAL_TASKS, FEW_TASKS, TASKS
from andre.facts.tasks.noise import noisy, probabilistic
from andre.facts.tasks.task import Task
from andre.facts.types import ArgumentTypes, argument_domains, argument_types

__all__ = [
    "CLASSICAL_TASKS",
    "FEATURES",
    "FEW_TASKS",
    "FORMATS",
    "KINDS",
    "LIBRARY",
    "MARKS",
    "PLUS",
    "PYKEEN_SPLITS",
    "TASKS",
    "ArgumentTypes",
    "Background",
    "Bias",
    "Calibration",
    "ColumnSchema",
    "FactBase",
    "Key",
    "Kind",
    "LabelledRows",
    "Labels",
    "Notes",
    "RawColumn",
    "RawTable",
    "Relation",
    "Schema",
    "Selection",
    "Task",
    "TruthRows",
    "TypedColumn",
    "TypedTable",
    "Value",
    "World",
    "argument_domains",
    "argument_types",
    "as_facts",
    "as_stated",
    "canonical_level",
    "column_atom",
    "hold_out",
    "in_canonical_order",
    "is_database",
    "key_text",
    "level_constant",
    "near_names",
    "noisy",
    "numbers_in",
    "open_table",
    "probabilistic",
    "pykeen_split",
    "read_examples",
    "read_facts",
    "read_query",
    "read_source",
    "row_facts",
    "table_parts",
    "to_frames",
    "training_facts",
    "with_sums",
    "without_password",
    "write_facts",
]
