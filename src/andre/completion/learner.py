"""Completing a knowledge base: rules for every direction, scored as validation facts rank best."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from andre.completion.assumed import asked, assume
from andre.completion.calibration import measure_reliability
from andre.completion.completion import Completion
from andre.completion.config import CompletionConfig, CompletionPlan
from andre.completion.directions import DirectionStore
from andre.completion.graph import Graph, validation_as_training, with_assumed, with_validation
from andre.completion.large_base import LargeBase
from andre.completion.learned import Learned
from andre.completion.pool import BodyPool, GivenRules
from andre.completion.scoring import rank_facts
from andre.completion.small_base import SmallBase
from andre.evaluation import Ranks
from andre.facts import FactBase, in_canonical_order
from andre.limits import Deadline, check, limited, stage, stop_reason, stopped_by, time_left
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
        Which rules may take part, and which scorers are tried.
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
        notes=(*learned.notes, *learner.notes_on_cuts(learned.missing)),
    )
    if split is facts or not config.give_back or not len(done.graph.valid):
        return done
    again = replace(learner, config=_settled(done), store=None).learn(validation_as_training(split))
    if again.missing:
        missing = (*learned.missing, "validation facts are not learned from")
        return replace(done, notes=(*learned.notes, *learner.notes_on_cuts(missing)))
    return _relearned(done, validation_as_training(split), again)


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
    known = validation_as_training(done.facts if facts is None else facts)
    with limited(Deadline.after(done.config.time_limit)):
        again = learner.learn(known)
    return replace(_relearned(done, known, again), notes=(*done.notes, *learner.notes_on_cuts(again.missing)))


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

    def learn(self, facts: FactBase) -> Learned:
        """Go through all stages once."""
        began = time.perf_counter()
        # Thousands of small products: handing each out to several threads takes longer than doing it.
        with threadpool_limits(1):
            graph = Graph.of(facts)
            plan = CompletionPlan.of(graph, self.config)
            best = self._try_assumed(self._score(graph, facts, plan), facts, plan)
        notes = (*_notes_on_facts(facts, graph), *best.notes)
        return replace(best, notes=notes, seconds=time.perf_counter() - began)

    def notes_on_cuts(self, missing: Sequence[str]) -> tuple[str, ...]:
        """A note on what the time limit or Ctrl-C has cut, if anything."""
        cause = stop_reason(stopped_by(), self.config.time_limit)
        return (f"{cause}: {', '.join(missing)}",) if missing else ()

    def _tell(self, stage: str, part: int, total: int) -> None:
        for callback in self.callbacks:
            callback.on_stage(stage, part, total)

    def _score(self, graph: Graph, facts: FactBase, plan: CompletionPlan) -> Learned:
        """The features of every direction that has training facts, and the scorer chosen for them."""
        given = GivenRules(graph, with_assumed(facts, graph), self.extra, plan.is_small)
        targets = [step for step in range(graph.n_steps) if len(graph.pairs(step, "train"))]
        if plan.is_small:
            return SmallBase(graph, self.config, self._tell).learn(targets, BodyPool(graph, plan, given))
        large = LargeBase(graph, plan, self.config, self._tell, self.executor, self.store, self.first)
        return large.learn(targets, given)

    def _try_assumed(self, stated: Learned, facts: FactBase, plan: CompletionPlan) -> Learned:
        """Learn again with assumed facts, and keep that unless it answers worse what was unanswered."""
        graph = stated.graph
        if True not in plan.chained:
            return stated
        is_settled = False not in plan.chained
        queries = asked(graph)
        about = sum(int(some.sum()) for some in queries.values())
        if not is_settled and about <= _ASKED * 2 * len(graph.valid):
            return stated
        block = self.config.sizes.block
        not_tried = replace(stated, missing=(*stated.missing, "no facts are assumed"))

        def mrr(one: Learned) -> float:
            ranks = rank_facts(one.graph, one.features, one.scorer, "valid", levels=False, block=block)
            return Ranks.concat(some.take(queries[step]) for step, some in ranks.items()).mrr

        with stage("assumed facts"):
            check()
            assumed = assume(graph, stated.features, stated.scorer, block)
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


def _relearned(done: Completion, facts: FactBase, again: Learned) -> Completion:
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
