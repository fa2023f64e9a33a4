"""Validation facts: split off where none are marked, and given back once they have chosen.

Completing a knowledge base: pool, features, and the scoring that ranks validation facts best.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import TypeAlias

import numpy as np
from threadpoolctl import threadpool_limits

from andre.completion.assumed import asked, assume, believed
from andre.completion.calibration import measure_reliability
from andre.completion.choose import choose_features
from andre.completion.completion import Choice, Completion
from andre.completion.config import CompletionConfig
from andre.completion.features import Features
from andre.completion.given import GivenRules
from andre.completion.graph import Graph
from andre.completion.pool import constant_bodies, enumerate_bodies, is_small
from andre.completion.scoring import Scorer, learn_weights, rank_facts
from andre.evaluation import Ranks
from andre.facts import FactBase
from andre.logic import Rule

__all__ = ["complete", "relearn", "taught", "with_validation"]


def with_validation(facts: FactBase, config: CompletionConfig) -> FactBase:
    """The same facts; where none is marked valid, a share of each relation's training facts is.

    Examples
    --------
    >>> from andre.facts import Relation
    >>> edge = Relation("edge", np.array([[i, i + 1] for i in range(20)]))
    >>> base = FactBase.from_relations(map(str, range(21)), [edge])
    >>> with_validation(base, CompletionConfig()).relations["edge", 2].count("valid")
    2
    """
    if any(relation.count("valid") for (_, arity), relation in facts.relations.items() if arity == 2):
        return facts
    rng = np.random.default_rng(config.seed)
    total = sum(relation.count("train") for (_, arity), relation in facts.relations.items() if arity == 2)
    share = min(config.valid_share, config.valid_most / max(1, total))
    for (_, arity), relation in list(facts.relations.items()):
        if arity != 2:
            continue
        train = np.flatnonzero(relation.marked("train"))
        chosen = rng.choice(train, round(len(train) * share), replace=False)
        mark = np.zeros(len(relation), dtype=np.uint8) if relation.mark is None else relation.mark.copy()
        mark[chosen] = 1
        facts = replace(facts, relations={**facts.relations, relation.key: replace(relation, mark=mark)})
    return facts


def taught(facts: FactBase) -> FactBase:
    """The same facts, those marked valid being training facts too.

    Examples
    --------
    >>> from andre.facts import Relation
    >>> edge = Relation("edge", np.array([[0, 1], [1, 2]]), mark=np.array([0, 1], dtype=np.uint8))
    >>> taught(FactBase.from_relations("abc", [edge])).relations["edge", 2].count("train")
    2
    """
    relations = {
        key: relation
        if relation.mark is None
        else replace(relation, mark=np.where(relation.marked("valid"), 0, relation.mark).astype(np.uint8))
        for key, relation in facts.relations.items()
    }
    return replace(facts, relations=relations)


_ASKED = 0.05  # share of validation facts about what is unanswered, from which assuming is tried

#: Hears what is being done, as a phrase.
Tell: TypeAlias = Callable[[str], None]


@dataclass(frozen=True)
class _Way:
    """How it is learned, and who hears about it."""

    config: CompletionConfig
    extra: Sequence[Rule]
    tell: Tell | None

    def say(self, what: str) -> None:
        if self.tell is not None:
            self.tell(what)


def complete(
    facts: FactBase,
    config: CompletionConfig | None = None,
    extra: Sequence[Rule] = (),
    tell: Tell | None = None,
) -> Completion:
    """Learn what ranks the missing facts of a knowledge base first.

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
        What may be in the pool, and what is tried.
    extra
        More rules for the pool, from any source; those whose head is no binary
        relation of the base are passed over.
    tell
        Is called with what is being done, a phrase, now and then.
    """
    config = config or CompletionConfig()
    split = with_validation(facts, config)
    done = _learn(split, _Way(config, extra, tell))
    own = split is not facts and len(done.graph.valid)
    return relearn(done, extra=extra, tell=tell) if own and config.give_back else done


def relearn(
    done: Completion, facts: FactBase | None = None, extra: Sequence[Rule] = (), tell: Tell | None = None
) -> Completion:
    """Learn again from train and valid facts alike, scored in the way that was chosen.

    The chances that are calibrated stay those of the first time, when
    validation facts were not yet known.

    Parameters
    ----------
    done
        What chose.
    facts
        What to learn from; the facts of `done` by default.
    extra
        More rules for the pool, as for `complete`.
    tell
        As for `complete`.
    """
    scorer = done.scorer
    chosen = {"aggregators": (scorer.aggregator,), "smoothing": (scorer.smoothing,)}
    penalties = done.config.penalties if scorer.penalty is None else (scorer.penalty,)
    chained = (done.chained,)
    config = done.config.model_copy(update={**chosen, "penalties": penalties, "chained": chained})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # said the first time
        again = _learn(taught(done.facts if facts is None else facts), _Way(config, extra, tell))
    return replace(
        again,
        choices=done.choices,
        config=done.config,
        reliability=done.reliability,
        seconds=done.seconds + again.seconds,
    )


def _learn(facts: FactBase, way: _Way) -> Completion:
    # Thousands of small products: handing each out to several threads takes longer than doing it.
    with threadpool_limits(1):
        began = time.perf_counter()
        graph = Graph.of(facts)
        _warn_thin(graph)
        done = _chain(_learn_from(graph, facts, way), way)
        return replace(done, seconds=time.perf_counter() - began)


def _learn_from(graph: Graph, facts: FactBase, way: _Way) -> Completion:
    features = _features(graph, believed(facts, graph), way)
    scorer, choices = _choose(graph, features, way)
    return Completion(
        facts=facts,
        graph=graph,
        features=features,
        scorer=scorer,
        choices=tuple(choices),
        reliability=measure_reliability(graph, features, scorer.smoothing),
        config=way.config,
        seconds=0.0,
    )


def _chain(done: Completion, way: _Way) -> Completion:
    """Learn again with assumed facts, and keep that unless it answers worse what was unanswered."""
    graph = done.graph
    options = way.config.chained or ((False, True) if is_small(graph) else (False,))
    if True not in options:
        return done
    is_settled = False not in options
    queries = asked(graph)
    about = sum(int(some.sum()) for some in queries.values())
    if not is_settled and about <= _ASKED * 2 * len(graph.valid):
        return done
    assumed = assume(graph, done.features, done.scorer)
    if not len(assumed):
        return done
    chained = _learn_from(replace(graph, assumed=assumed), done.facts, way)

    def mrr(one: Completion) -> float:
        return Ranks.concat(ranks.take(queries[step]) for step, ranks in one.ranks("valid").items()).mrr

    is_kept = is_settled or mrr(chained) >= mrr(done)
    return replace(chained if is_kept else done, choices=(*done.choices, *chained.choices))


def _features(graph: Graph, known: FactBase, way: _Way) -> dict[int, Features]:
    """The bodies of every target, by step."""
    config = way.config
    if config.chains is None:
        config = config.model_copy(update={"chains": _chains(graph, config)})
    way.say("short bodies")
    pool = enumerate_bodies(graph, config)
    counts = pool.counts()
    given = GivenRules(way.extra, graph, known)
    targets = [step for step in range(graph.n_steps) if len(graph.pairs(step, "train"))]
    constants = {step: constant_bodies(graph, step, config) for step in targets}
    features = {}
    for place, step in enumerate(targets, 1):
        way.say(f"rules, {place} of {len(targets)}")
        features[step] = choose_features(pool, counts, step, config, known, constants=constants, extra=given)
    if pool.left_out:
        warnings.warn(
            f"{pool.left_out} chains of two relations cover too many pairs and stay out: "
            "raise the setting cells to take them in",
            stacklevel=4,
        )
    return features


def _chains(graph: Graph, config: CompletionConfig) -> int:
    """How many chains of three a target gets: in a small base those that short bodies leave room for."""
    if not is_small(graph):
        return 40
    count = graph.n_steps
    short = count + comb(count, 2) + count**2  # one step, two side by side, two in a row
    return max(0, config.bodies - short)


def _choose(graph: Graph, features: Mapping[int, Features], way: _Way) -> tuple[Scorer, list[Choice]]:
    """Try every way of scoring on the validation facts, and keep the best."""
    config = way.config
    tried: list[tuple[Scorer, Choice]] = []

    def consider(scorer: Scorer) -> None:
        way.say(f"ranks of validation facts by {scorer.aggregator}")
        ranks = rank_facts(graph, features, scorer, "valid", levels=False)
        mrr = Ranks.concat(ranks.values()).mrr
        chained = len(graph.assumed) > 0
        tried.append((scorer, Choice(scorer.aggregator, scorer.smoothing, scorer.penalty, chained, mrr)))

    for aggregator in config.aggregators:
        if aggregator == "weights":
            base = [pair for pair in tried if pair[1].aggregator == "maximum"]
            smoothing = max(base, key=_mrr)[0].smoothing if base else config.smoothing[-1]
            plain = Scorer("weights", smoothing, config.depth)
            learned = {}
            for place, (step, found) in enumerate(features.items(), 1):
                way.say(f"weights, {place} of {len(features)}")
                learned[step] = learn_weights(graph, found, plain, config, config.penalties)
            for place, penalty in enumerate(config.penalties):
                weights = {step: found[place] for step, found in learned.items()}
                consider(replace(plain, penalty=penalty, weights=weights))
        else:
            for smoothing in config.smoothing:
                consider(Scorer(aggregator, smoothing, config.depth))
    best = max(tried, key=_mrr)
    return best[0], [choice for _, choice in tried]


def _mrr(pair: tuple[Scorer, Choice]) -> float:
    return pair[1].mrr


def _warn_thin(graph: Graph) -> None:
    counts = np.bincount(graph.train[:, 0], minlength=len(graph.relations))
    thin = [name for name, count in zip(graph.relations, counts, strict=True) if count < 2]
    if thin:
        warnings.warn(
            f"{', '.join(thin[:5])}{' and others' if len(thin) > 5 else ''} "
            f"{'has' if len(thin) == 1 else 'have'} fewer than two training facts: "
            "nothing can be learned about that, and all candidates tie",
            stacklevel=4,
        )
