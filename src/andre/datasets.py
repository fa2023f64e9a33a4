"""Public knowledge bases by name: `andre.datasets.load("nations")`."""

from andre.facts.datasets import DATASETS, Dataset, fetch, find, load
from andre.facts.splits import hold_out, pykeen_split

__all__ = ["DATASETS", "Dataset", "fetch", "find", "hold_out", "load", "pykeen_split"]
