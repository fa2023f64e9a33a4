"""A completed knowledge base: its rules, and candidates ranked by them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from andre.evaluation.ranks import RankReport, Ranks
from andre.facts import FactBase
from andre.learning.completion.config import Aggregator, CompletionConfig
from andre.learning.completion.graph import Graph
from andre.learning.completion.scorer import Scorer, rank_facts
from andre.learning.completion.tables import Features

__all__ = ["Choice", "Completion"]


@dataclass(frozen=True)
class Choice:
    """One way of scoring that was tried, and how it ranked validation facts."""

    aggregator: Aggregator
    smoothing: float
    penalty: float | None
    mrr: float


@dataclass(frozen=True, eq=False)
class Completion:
    """What `complete` hands back."""

    facts: FactBase
    graph: Graph
    features: Mapping[int, Features]  #: by step
    scorer: Scorer
    choices: tuple[Choice, ...]
    config: CompletionConfig
    seconds: float

    def evaluate(self, mark: str = "test") -> RankReport:
        """Filtered ranks of the facts of one mark, both sides."""
        return RankReport.from_ranks(Ranks.concat(self.ranks(mark).values()))

    def ranks(self, mark: str = "test") -> dict[int, Ranks]:
        """The same by step."""
        known = ("train", "valid", "test") if mark == "test" else ("train", "valid")
        return rank_facts(self.graph, self.features, self.scorer, mark, known)
