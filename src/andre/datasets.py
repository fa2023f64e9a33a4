"""Public knowledge bases by name: `andre.datasets.load("nations")`."""

from andre.facts.datasets import DATASETS, SPLITS, Dataset, fetch, find, load, load_split
from andre.facts.splits import hold_out, pykeen_split

__all__ = [
    "DATASETS",
    "SPLITS",
    "Dataset",
    "fetch",
    "find",
    "hold_out",
    "load",
    "load_split",
    "pykeen_split",
]
