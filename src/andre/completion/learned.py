"""What is learned in one pass over the facts: rules for every direction, and the scorer chosen for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from andre.completion.calibration import Reliability
from andre.completion.completion import Choice
from andre.completion.features import Features
from andre.completion.graph import Graph
from andre.completion.scoring import Scorer

#: Called with the name of a stage, and how many of how many parts of it are done.
Progress: TypeAlias = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Learned:
    """The rules of one graph, and the scorer that ranks its validation facts best."""

    graph: Graph
    features: Mapping[int, Features]  #: by step
    scorer: Scorer
    choices: tuple[Choice, ...]  #: all scorers that were tried
    notes: tuple[str, ...]
    missing: tuple[str, ...]  #: what the time limit has cut, a clause each
    reliability: Reliability | None = None  #: where it was measured while rules were learned
    seconds: float = 0.0
