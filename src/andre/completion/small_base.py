"""Learning a small base at once: one pool of bodies, and every pair that they cover in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from andre.completion.completion import Choice
from andre.completion.config import CompletionConfig
from andre.completion.features import Features
from andre.completion.graph import Graph
from andre.completion.learned import Learned, Progress
from andre.completion.pool import BodyPool
from andre.completion.scoring import AGGREGATIONS, Scorer, rank_facts
from andre.completion.weights import initial_weights, learn_weights
from andre.evaluation import Ranks
from andre.limits import check, limited, stage, time_left


@dataclass(frozen=True, eq=False)
class SmallBase:
    """The learner of a base whose covered pairs all fit into memory."""

    graph: Graph
    config: CompletionConfig
    progress: Progress

    def learn(self, targets: Sequence[int], pool: BodyPool) -> Learned:
        """The features of every target, and the scorer that ranks validation facts best."""
        missing = list[str]()
        features: dict[int, Features] = {}
        self.progress("short bodies", 1, 1)
        with limited(time_left()) as watch, stage("rules"):
            for part, step in enumerate(targets, 1):
                check()
                self.progress("rules", part, len(targets))
                features[step] = pool.features(step)
        if "short bodies" in watch.cut:
            missing.append("not all short bodies are listed")
        if len(features) < len(targets):
            missing.append(f"{len(targets) - len(features)} of {len(targets)} directions have no rules")
        tried = self._try_scorers(features, missing)
        scorer, _ = max(tried, key=lambda pair: pair[1].mrr)
        return Learned(self.graph, features, scorer, tuple(choice for _, choice in tried), (), tuple(missing))

    def _try_scorers(
        self, features: Mapping[int, Features], missing: list[str]
    ) -> list[tuple[Scorer, Choice]]:
        """Rank validation facts by every scorer, or by at least one where time is up."""
        config, skipped, total = self.config, 0, 0
        tried: list[tuple[Scorer, Choice]] = []
        for aggregator in config.aggregators:
            scorers = [Scorer(aggregator, c, config.depth) for c in config.smoothing]
            if AGGREGATIONS[aggregator].learned:
                # At the smoothing by which the maximum did best.
                base = [choice for _, choice in tried if choice.aggregator == "maximum"]
                c = max(base, key=lambda choice: choice.mrr).smoothing if base else config.smoothing[-1]
                plain = Scorer(aggregator, c, config.depth, table=config.sizes.table)
                scorers = self._weighted(features, plain, [] if tried else missing)
            for scorer in scorers:
                total += 1
                mrr = None
                with stage("scoring"):
                    check()
                    self.progress(f"ranks of validation facts by {aggregator}", 1, 1)
                    mrr = Ranks.concat(self._validation_ranks(features, scorer).values()).mrr
                skipped += mrr is None
                if mrr is None and tried:
                    continue
                chained = len(self.graph.assumed) > 0
                choice = Choice(aggregator, scorer.smoothing, scorer.penalty, chained, mrr or 0.0)
                tried.append((scorer, choice))
        if skipped:
            missing.append(f"{skipped} of {total} ways of scoring are not tried")
        return tried

    def _weighted(self, features: Mapping[int, Features], plain: Scorer, missing: list[str]) -> list[Scorer]:
        """Scorers by learned weights, one for each penalty; the best rule decides where time is up."""
        penalties, count = self.config.penalties, len(features)
        learned = {
            step: [initial_weights(len(found.bodies))] * len(penalties) for step, found in features.items()
        }
        done = 0
        with stage("weights"):
            for step, found in features.items():
                check()
                self.progress("weights", done + 1, count)
                learned[step] = learn_weights(self.graph, found, plain, self.config)
                done += 1
        if done < count:
            missing.append(f"weights of {count - done} of {count} directions are not learned")
        return [
            replace(plain, penalty=penalty, weights={step: found[place] for step, found in learned.items()})
            for place, penalty in enumerate(penalties)
        ]

    def _validation_ranks(self, features: Mapping[int, Features], scorer: Scorer) -> dict[int, Ranks]:
        block = self.config.sizes.block
        return rank_facts(self.graph, features, scorer, "valid", levels=False, block=block)
