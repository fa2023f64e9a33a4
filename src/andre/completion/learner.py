"""Completing a knowledge base: rules for every direction, scored as validation facts rank best."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from andre.completion.assumed import asked, assume
from andre.completion.calibration import Frequencies, Reliability, measure_reliability
from andre.completion.completion import Choice, Completion
from andre.completion.config import CompletionConfig, CompletionPlan, SizeConfig
from andre.completion.directions import (
    DirectionRules,
    DirectionStore,
    held_pairs,
    ways_of_scoring,
    with_weights,
)
from andre.completion.features import Features
from andre.completion.graph import Graph, believed, taught, with_validation
from andre.completion.pool import BodyPool, GivenRules
from andre.completion.scoring import AGGREGATIONS, Scorer, rank_facts
from andre.completion.sharing import learn_directions
from andre.completion.weights import learn_weights, start_weights
from andre.errors import WorkersLostError
from andre.evaluation import Ranks
from andre.facts import FactBase, in_canonical_order
from andre.limits import Deadline, check, limited, stage, stopped_by, time_left, told
from andre.logic import Rule
from andre.workers import Workers

if TYPE_CHECKING:
    from andre.learning import Callback

#: The share of validation facts about what is unanswered from which on facts are assumed.
_ASKED = 0.05


def complete(
    facts: FactBase,
    config: CompletionConfig | None = None,
    extra: Sequence[Rule] = (),
    callbacks: Sequence[Callback] = (),
    *,
    executor: Workers | None = None,
    store: DirectionStore | None = None,
    first: Collection[str] = (),
) -> Completion:
    """Learn rules that rank the missing facts of a knowledge base first.

    Rules come from the training facts alone. How they are scored (aggregator,
    smoothing, penalty of weights) is chosen by the rank of validation facts
    among what is neither a training nor a validation fact. Test facts are
    never read. Validation facts that were split off here are given back once
    they have chosen (`relearn`); those that were marked so only choose.

    Parameters
    ----------
    facts
        A knowledge base of binary relations; facts marked valid choose, the
        others that are not marked test teach. Without any marked valid, some
        are split off by the seed.
    config
        Which rules may take part, and which ways of scoring are tried.
    extra
        More rules for the pool, from any source; those whose head is no binary
        relation of the base are passed over.
    callbacks
        Watchers; `andre.learning.Callback.on_stage` is called as work goes on.
    executor
        Whose processes learn the directions of a large base, each as a task by itself: any
        `concurrent.futures.Executor`, or a dask `Client`.
    store
        Keeps the directions of a large base as they are learned: a stopped run goes on.
    first
        Relations of a large base that are learned before others, should time run out.
    """
    config = config or CompletionConfig()
    with limited(Deadline.after(config.time_limit)):
        return _complete(facts, _Learner(config, extra, callbacks, executor, store, frozenset(first)))


def _complete(facts: FactBase, learner: _Learner) -> Completion:
    """Learn, and learn again with what was split off to choose."""
    config = learner.config
    facts = in_canonical_order(facts)
    split = with_validation(facts, config)
    learned = learner.learn(split)
    with limited(time_left()) as watch:
        reliability = learned.reliability or measure_reliability(
            learned.graph, learned.features, learned.scorer.smoothing
        )
    if watch.cut:
        cut = "chances rest on some of the validation facts only"
        learned = replace(learned, missing=(*learned.missing, cut))
    done = Completion(
        facts=split,
        graph=learned.graph,
        features=learned.features,
        scorer=learned.scorer,
        choices=learned.choices,
        reliability=reliability,
        config=config,
        seconds=learned.seconds,
        notes=(*learned.notes, *learner.late(learned.missing)),
    )
    if split is facts or not config.give_back or not len(done.graph.valid):
        return done
    again = replace(learner, config=_settled(done), store=None).learn(taught(split))
    if again.missing:
        missing = (*learned.missing, "validation facts are not learned from")
        return replace(done, notes=(*learned.notes, *learner.late(missing)))
    return _relearned(done, taught(split), again)


def relearn(
    done: Completion,
    facts: FactBase | None = None,
    extra: Sequence[Rule] = (),
    callbacks: Sequence[Callback] = (),
    *,
    executor: Workers | None = None,
) -> Completion:
    """Learn again from train and valid facts alike, scored in the way that was chosen.

    The calibration stays that of the first time, when validation facts were not
    yet known. `extra`, `callbacks` and `executor` are those of `complete`.

    Parameters
    ----------
    done
        The completion whose choices are kept.
    facts
        What to learn from; the facts of `done` by default.
    """
    learner = _Learner(_settled(done), extra, callbacks, executor)
    known = taught(done.facts if facts is None else facts)
    with limited(Deadline.after(done.config.time_limit)):
        again = learner.learn(known)
    return replace(_relearned(done, known, again), notes=(*done.notes, *learner.late(again.missing)))


@dataclass(frozen=True, eq=False)
class _Learned:
    """The rules of one graph, and the best way of scoring by them."""

    graph: Graph
    features: Mapping[int, Features]  #: by step
    scorer: Scorer
    choices: tuple[Choice, ...]  #: all ways of scoring that were tried
    notes: tuple[str, ...]
    missing: tuple[str, ...]  #: what the time limit has cut, a clause each
    reliability: Reliability | None = None  #: where it was measured while rules were learned
    seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class _Learner:
    """The stages of completion, with what all of them need.

    Known facts become a graph, the graph a pool of bodies, the pool the features
    of every direction, and validation facts choose how these are scored. Where
    many of them ask about constants of which nothing is known, the same is tried
    once more with assumed facts.
    """

    config: CompletionConfig
    extra: Sequence[Rule]
    callbacks: Sequence[Callback]
    executor: Workers | None = None
    store: DirectionStore | None = None
    first: frozenset[str] = frozenset()  #: relations that are learned before others

    def learn(self, facts: FactBase) -> _Learned:
        """Go through all stages once."""
        began = time.perf_counter()
        # Thousands of small products: handing each out to several threads takes longer than doing it.
        with threadpool_limits(1):
            graph = Graph.of(facts)
            plan = CompletionPlan.of(graph, self.config)
            best = self._try_assumed(self._score(graph, facts, plan), facts, plan)
        notes = (*_notes_on_facts(facts, graph), *best.notes)
        return replace(best, notes=notes, seconds=time.perf_counter() - began)

    def late(self, missing: Sequence[str]) -> tuple[str, ...]:
        """A note on what the time limit or Ctrl-C has cut, if anything."""
        cause = told(stopped_by(), self.config.time_limit)
        return (f"{cause}: {', '.join(missing)}",) if missing else ()

    def _tell(self, stage: str, part: int = 1, total: int = 1) -> None:
        for callback in self.callbacks:
            callback.on_stage(stage, part, total)

    def _score(self, graph: Graph, facts: FactBase, plan: CompletionPlan) -> _Learned:
        """The features of every direction that has training facts, and the scorer chosen for them."""
        given = GivenRules(graph, believed(facts, graph), self.extra, plan.is_small)
        targets = [step for step in range(graph.n_steps) if len(graph.pairs(step, "train"))]
        return (self._pool if plan.is_small else self._by_direction)(graph, targets, given, plan)

    def _pool(
        self, graph: Graph, targets: Sequence[int], given: GivenRules, plan: CompletionPlan
    ) -> _Learned:
        """A small base: bodies of all directions are counted at once, and the pairs that they cover held."""
        missing = list[str]()
        pool = BodyPool(graph, plan, given)
        features: dict[int, Features] = {}
        self._tell("short bodies")
        with limited(time_left()) as watch, stage("rules"):
            for part, step in enumerate(targets, 1):
                check()
                self._tell("rules", part, len(targets))
                features[step] = pool.features(step)
        if "short bodies" in watch.cut:
            missing.append("not all short bodies are listed")
        if len(features) < len(targets):
            missing.append(f"{len(targets) - len(features)} of {len(targets)} directions have no rules")
        tried = self._choose(graph, features, missing)
        scorer, _ = max(tried, key=lambda pair: pair[1].mrr)
        return _Learned(graph, features, scorer, tuple(choice for _, choice in tried), (), tuple(missing))

    def _by_direction(
        self, graph: Graph, targets: Sequence[int], given: GivenRules, plan: CompletionPlan
    ) -> _Learned:
        """A large base: every direction by itself.

        Those asked for come first, then those that validation facts are about, for should time
        run out they alone show how rules score; of these, those with most facts.
        """
        config, found, count = self.config, dict[int, DirectionRules](), len(graph.relations)
        facts, judged = (np.bincount(part[:, 0], minlength=count) for part in (graph.train, graph.valid))
        rank = [
            (name not in self.first, judged[place] == 0, -facts[place])
            for place, name in enumerate(graph.relations)
        ]
        order = sorted(targets, key=lambda step: rank[step % count])
        if self.store is not None:
            self.store.begin(graph, config)
            kept = (self.store.known(step) for step in order)
            found = {rules.step: rules for rules in kept if rules is not None}
        rules = {step: list(given.about(step, ())) for step in order}
        left = [step for step in order if step not in found]
        self._tell("rules", max(1, len(found)), len(order))
        try:
            for made in learn_directions(graph, left, config, rules, self.executor):
                found[made.step] = made
                self._tell("rules", len(found), len(order))
                if self.store is not None and not made.cut:
                    self.store.keep(made)
        except WorkersLostError as error:
            more = "" if self.store is None else "; what is done is kept, and the same call goes on"
            raise WorkersLostError(f"{error}{more}") from None
        features: dict[int, Features] = {
            step: found[step].features(graph, config.sizes, held_pairs(found[step].bodies, rules[step]))
            for step in targets
        }
        scorer, choices, missing = self._chosen(graph, [found[step] for step in targets])
        seen = [made.frequencies.get(scorer.smoothing) for made in found.values()]
        reliability = Reliability.by(Frequencies.concat([some for some in seen if some is not None]))
        notes = tuple(_notes_on_sizes(config, plan.config.sizes, [found[step] for step in targets]))
        return _Learned(graph, features, scorer, choices, notes, missing, reliability)

    def _chosen(
        self, graph: Graph, found: Sequence[DirectionRules]
    ) -> tuple[Scorer, tuple[Choice, ...], tuple[str, ...]]:
        """The scorer that ranks the validation facts of all directions best; what was tried; what is cut."""
        config, chained = self.config, len(graph.assumed) > 0
        scorers, choices = ways_of_scoring(config), list[Choice]()
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

    def _choose(
        self, graph: Graph, features: Mapping[int, Features], missing: list[str]
    ) -> list[tuple[Scorer, Choice]]:
        """Rank validation facts by every way of scoring, or by at least one where time is up."""
        config, skipped, total = self.config, 0, 0
        tried: list[tuple[Scorer, Choice]] = []
        for aggregator in config.aggregators:
            scorers = [Scorer(aggregator, c, config.depth) for c in config.smoothing]
            if AGGREGATIONS[aggregator].learned:
                # At the smoothing by which the maximum did best.
                base = [choice for _, choice in tried if choice.aggregator == "maximum"]
                c = max(base, key=lambda choice: choice.mrr).smoothing if base else config.smoothing[-1]
                plain = Scorer(aggregator, c, config.depth, table=config.sizes.table)
                scorers = self._weighted(graph, features, plain, [] if tried else missing)
            for scorer in scorers:
                total += 1
                mrr = None
                with stage("scoring"):
                    check()
                    self._tell(f"ranks of validation facts by {aggregator}")
                    mrr = Ranks.concat(self._validation_ranks(graph, features, scorer).values()).mrr
                skipped += mrr is None
                if mrr is None and tried:
                    continue
                chained = len(graph.assumed) > 0
                choice = Choice(aggregator, scorer.smoothing, scorer.penalty, chained, mrr or 0.0)
                tried.append((scorer, choice))
        if skipped:
            missing.append(f"{skipped} of {total} ways of scoring are not tried")
        return tried

    def _weighted(
        self, graph: Graph, features: Mapping[int, Features], plain: Scorer, missing: list[str]
    ) -> list[Scorer]:
        """Scorers by learned weights, one for each penalty; the best rule decides where time is up."""
        penalties, count = self.config.penalties, len(features)
        learned = {
            step: [start_weights(len(found.bodies))] * len(penalties) for step, found in features.items()
        }
        done = 0
        with stage("weights"):
            for step, found in features.items():
                check()
                self._tell("weights", done + 1, count)
                learned[step] = learn_weights(graph, found, plain, self.config)
                done += 1
        if done < count:
            missing.append(f"weights of {count - done} of {count} directions are not learned")
        return [
            replace(plain, penalty=penalty, weights={step: found[place] for step, found in learned.items()})
            for place, penalty in enumerate(penalties)
        ]

    def _validation_ranks(
        self, graph: Graph, features: Mapping[int, Features], scorer: Scorer
    ) -> dict[int, Ranks]:
        block = self.config.sizes.block
        return rank_facts(graph, features, scorer, "valid", levels=False, block=block)

    def _try_assumed(self, stated: _Learned, facts: FactBase, plan: CompletionPlan) -> _Learned:
        """Learn again with assumed facts, and keep that unless it answers worse what was unanswered."""
        graph = stated.graph
        if True not in plan.chained:
            return stated
        is_settled = False not in plan.chained
        queries = asked(graph)
        about = sum(int(some.sum()) for some in queries.values())
        if not is_settled and about <= _ASKED * 2 * len(graph.valid):
            return stated
        not_tried = replace(stated, missing=(*stated.missing, "no facts are assumed"))

        def mrr(one: _Learned) -> float:
            ranks = self._validation_ranks(one.graph, one.features, one.scorer)
            return Ranks.concat(some.take(queries[step]) for step, some in ranks.items()).mrr

        with stage("assumed facts"):
            check()
            assumed = assume(graph, stated.features, stated.scorer, self.config.sizes.block)
            if not len(assumed):
                return stated
            built = self._score(replace(graph, assumed=assumed), facts, plan)
            if built.missing:
                return not_tried
            is_kept = is_settled or mrr(built) >= mrr(stated)
            return replace(built if is_kept else stated, choices=(*stated.choices, *built.choices))
        return not_tried


def _settled(done: Completion) -> CompletionConfig:
    """The settings with every choice that validation facts made."""
    scorer, config = done.scorer, done.config
    chosen = {
        "aggregators": (scorer.aggregator,),
        "smoothing": (scorer.smoothing,),
        "penalties": config.penalties if scorer.penalty is None else (scorer.penalty,),
        "chained": (done.chained,),
    }
    return config.model_copy(update=chosen)


def _relearned(done: Completion, facts: FactBase, again: _Learned) -> Completion:
    """A completion with rules that were learned again; its choices and calibration stay."""
    return replace(
        done,
        facts=facts,
        graph=again.graph,
        features=again.features,
        scorer=again.scorer,
        seconds=done.seconds + again.seconds,
    )


def _notes_on_facts(facts: FactBase, graph: Graph) -> Iterator[str]:
    """What is odd about the facts, a sentence each."""
    if facts.notes.overlaps:
        yield (
            f"{facts.notes.overlaps} of the facts stand in more than one of train, valid and test: "
            "such a fact counts for the last of these only"
        )
    counts = np.bincount(graph.train[:, 0], minlength=len(graph.relations))
    thin = [name for name, count in zip(graph.relations, counts, strict=True) if count < 2]
    if thin:
        yield (
            f"{', '.join(thin[:5])}{' and others' if len(thin) > 5 else ''} "
            f"{'has' if len(thin) == 1 else 'have'} fewer than two training facts: "
            "nothing can be learned about that, and all candidates tie"
        )


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
