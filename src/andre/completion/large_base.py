"""Learning a large base direction by direction, each a task by itself for a process or a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from andre.completion.calibration import Frequencies, Reliability
from andre.completion.completion import Choice
from andre.completion.config import CompletionConfig, CompletionPlan, SizeConfig
from andre.completion.directions import (
    DirectionRules,
    DirectionStore,
    GivenPairs,
    candidate_scorers,
    given_pairs,
    with_weights,
)
from andre.completion.features import Features
from andre.completion.graph import Graph
from andre.completion.learned import Learned, Progress
from andre.completion.pool import GivenRules
from andre.completion.scoring import Scorer
from andre.completion.sharing import learn_directions
from andre.errors import WorkersLostError
from andre.evaluation import Ranks
from andre.workers import Workers


@dataclass(frozen=True, eq=False)
class LargeBase:
    """The learner of a base of which pairs are counted on some starts at a time."""

    graph: Graph
    plan: CompletionPlan
    config: CompletionConfig
    progress: Progress
    executor: Workers | None = None
    store: DirectionStore | None = None
    first: frozenset[str] = frozenset()  #: relations that are learned before others

    def learn(self, targets: Sequence[int], given: GivenRules) -> Learned:
        """The rules of every target, and the scorer that ranks the validation facts of all of them best."""
        order = self._in_order(targets)
        rules = {step: list(given.about(step, ())) for step in order}
        learned = self._learn_all(order, rules)
        found = [learned[step] for step in targets]
        features: dict[int, Features] = {
            made.step: made.features(
                self.graph, self.config.sizes, given_pairs(made.bodies, rules[made.step])
            )
            for made in found
        }
        scorer, choices, missing = self._choose_scorer(found)
        seen = [made.frequencies.get(scorer.smoothing) for made in found]
        reliability = Reliability.by(Frequencies.concat([some for some in seen if some is not None]))
        notes = tuple(_notes_on_sizes(self.config, self.plan.config.sizes, found))
        return Learned(self.graph, features, scorer, choices, notes, missing, reliability)

    def _in_order(self, targets: Sequence[int]) -> list[int]:
        """The targets in the order to learn them in, should time run out.

        Those asked for come first, then those that validation facts are about, which alone show how
        rules score; of these, those with most facts.
        """
        graph, count = self.graph, len(self.graph.relations)
        facts, judged = (np.bincount(part[:, 0], minlength=count) for part in (graph.train, graph.valid))
        rank = [
            (name not in self.first, judged[place] == 0, -facts[place])
            for place, name in enumerate(graph.relations)
        ]
        return sorted(targets, key=lambda step: rank[step % count])

    def _learn_all(self, order: Sequence[int], rules: Mapping[int, GivenPairs]) -> dict[int, DirectionRules]:
        """The rules of all these directions, those that the store has and those that are learned now."""
        found = dict[int, DirectionRules]()
        if self.store is not None:
            self.store.begin(self.graph, self.config)
            kept = (self.store.known(step) for step in order)
            found = {made.step: made for made in kept if made is not None}
        left = [step for step in order if step not in found]
        self.progress("rules", max(1, len(found)), len(order))
        try:
            for made in learn_directions(self.graph, left, self.config, rules, self.executor):
                found[made.step] = made
                self.progress("rules", len(found), len(order))
                if self.store is not None and not made.cut:
                    self.store.keep(made)
        except WorkersLostError as error:
            more = "" if self.store is None else "; what is done is kept, and the same call goes on"
            raise WorkersLostError(f"{error}{more}") from None
        return found

    def _choose_scorer(
        self, found: Sequence[DirectionRules]
    ) -> tuple[Scorer, tuple[Choice, ...], tuple[str, ...]]:
        """The scorer that ranks the validation facts of all directions best; what was tried; what is cut."""
        config, chained = self.config, len(self.graph.assumed) > 0
        scorers, choices = candidate_scorers(config), list[Choice]()
        for place, scorer in enumerate(scorers):
            mrr = Ranks.concat([made.tried[place] for made in found if made.tried]).mrr
            choices.append(Choice(scorer.aggregator, scorer.smoothing, scorer.penalty, chained, mrr))
        best = max(range(len(scorers)), key=lambda place: choices[place].mrr)
        scorer = scorers[best]
        if scorer.penalty is not None:
            weights = {
                made.step: with_weights([scorer], made, config)[0].weights[made.step] for made in found
            }
            scorer = replace(scorer, weights=weights)
        cut = [
            (words, sum(name in made.cut for made in found))
            for name, words in (
                ("rules", "have no rules"),
                ("weights", "have rules whose weights are not learned"),
                ("scoring", "have no part in the choice of a way of scoring"),
            )
        ]
        missing = tuple(f"{count} of {len(found)} directions {words}" for words, count in cut if count)
        return scorer, tuple(choices), missing


def _notes_on_sizes(
    config: CompletionConfig, sizes: SizeConfig, found: Sequence[DirectionRules]
) -> Iterator[str]:
    """What hubs, many starts and the memory limit have kept small, a sentence each."""
    if drawn := sum(made.is_drawn for made in found):
        yield (
            f"rules of {drawn} of {len(found)} directions are counted on some drawn starts: "
            "raise the settings sizes.starts, sizes.counted and sizes.walked to count them on all"
        )
    if left_out := sum(made.left_out for made in found):
        yield (
            f"{left_out} chains through hubs have more than {sizes.walks_per_start:,} walks from a start, or "
            f"say little for the {sizes.covered:,} pairs that rules may cover together, and stay out: "
            "raise the settings sizes.walks_per_start and sizes.covered to take them in"
        )
    if sizes.cells < config.sizes.cells:
        yield (
            f"weights are learned from {sizes.cells:,} entries of a direction, drawn, and not from "
            f"{config.sizes.cells:,}: the memory limit has no room for more"
        )
