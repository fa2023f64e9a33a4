"""Completing a knowledge base: pool, features, and the scoring that ranks validation facts best."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from andre.evaluation.ranks import Ranks
from andre.facts import FactBase
from andre.learning.completion.choose import choose_features
from andre.learning.completion.completion import Choice, Completion
from andre.learning.completion.config import CompletionConfig
from andre.learning.completion.constants import constant_bodies
from andre.learning.completion.given import GivenRules
from andre.learning.completion.graph import Graph
from andre.learning.completion.pool import enumerate_bodies, is_small
from andre.learning.completion.scorer import Scorer, learn_weights, rank_facts
from andre.learning.completion.tables import Features
from andre.logic import Rule

__all__ = ["complete", "with_validation"]


def complete(
    facts: FactBase, config: CompletionConfig | None = None, extra: Sequence[Rule] = ()
) -> Completion:
    """Learn what ranks the missing facts of a knowledge base first.

    Rules come from the training facts alone. How they are scored (aggregator,
    smoothing, penalty of weights) is chosen by the rank of validation facts
    among what is neither a training nor a validation fact. Test facts are
    never read.

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
    """
    config = config or CompletionConfig()
    # Thousands of small products: handing each out to several threads takes longer than doing it.
    with threadpool_limits(1):
        return _complete(facts, config, extra)


def _complete(facts: FactBase, config: CompletionConfig, extra: Sequence[Rule]) -> Completion:
    began = time.perf_counter()
    facts = with_validation(facts, config)
    graph = Graph.of(facts)
    _warn_thin(graph)
    if config.chains is None:
        config = config.model_copy(update={"chains": 0 if is_small(graph) else 40})
    pool = enumerate_bodies(graph, config)
    counts = pool.counts()
    known = facts.select("train")
    given = GivenRules(extra, graph, known)
    targets = [step for step in range(graph.n_steps) if len(graph.pairs(step, "train"))]
    constants = {step: constant_bodies(graph, step, config) for step in targets}
    features = {
        step: choose_features(pool, counts, step, config, known, constants=constants, extra=given)
        for step in targets
    }
    if pool.left_out:
        warnings.warn(
            f"{pool.left_out} chains of two relations cover too many pairs and stay out: "
            "raise the setting cells to take them in",
            stacklevel=3,
        )
    scorer, choices = _choose(graph, features, config)
    return Completion(facts, graph, features, scorer, tuple(choices), config, time.perf_counter() - began)


def _choose(
    graph: Graph, features: Mapping[int, Features], config: CompletionConfig
) -> tuple[Scorer, list[Choice]]:
    """Try every way of scoring on the validation facts, and keep the best."""
    tried: list[tuple[Scorer, Choice]] = []

    def consider(scorer: Scorer) -> None:
        ranks = rank_facts(graph, features, scorer, "valid", levels=False)
        mrr = Ranks.concat(ranks.values()).mrr
        tried.append((scorer, Choice(scorer.aggregator, scorer.smoothing, scorer.penalty, mrr)))

    for aggregator in config.aggregators:
        if aggregator == "weights":
            base = [pair for pair in tried if pair[1].aggregator == "maximum"]
            smoothing = max(base, key=_mrr)[0].smoothing if base else config.smoothing[-1]
            plain = Scorer("weights", smoothing, config.depth)
            learned = {
                step: learn_weights(graph, found, plain, config, config.penalties)
                for step, found in features.items()
            }
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
