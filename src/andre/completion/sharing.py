"""Directions shared out among workers: one is a task, and a large one several, by blocks of starts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from threadpoolctl import threadpool_limits

from andre.completion.bodies import Body
from andre.completion.config import CompletionConfig, CompletionPlan
from andre.completion.counting import CountedPart, PartCounts, count_part, counted_parts, joined_counts
from andre.completion.directions import (
    DirectionRules,
    GivenPairs,
    calibrate,
    given_pairs,
    in_order_of_confidence,
    learn_direction,
    proposed_bodies,
    validate,
    weigh,
)
from andre.completion.graph import Graph
from andre.evaluation import Ranks
from andre.limits import check, limited, out_of_time, stage, time_left
from andre.logic import Rule
from andre.workers import Task, Workers, run_tasks

#: What to add to the name of a task, the function that does it, and its arguments after those of every task.
_Call: TypeAlias = tuple[str, Callable[..., Any], tuple[Any, ...]]
#: The calls of a direction: those of each list can be made at once, and the next wait for their results.
_Calls: TypeAlias = Generator[list[_Call], list[Any], DirectionRules]


def learn_directions(
    graph: Graph,
    directions: Sequence[int],
    config: CompletionConfig,
    given: Mapping[int, GivenPairs],
    executor: Workers | None = None,
) -> Iterator[DirectionRules]:
    """Learn some directions, each as soon as there is a process for it, and hand them over as they are done.

    A direction with more than `config.sizes.shared` starts becomes several tasks:
    its bodies are proposed, counted in blocks of so many starts, weighed, and its
    validation facts ranked in blocks. The result is the same as of one task.

    Parameters
    ----------
    given
        Rules from elsewhere by direction.
    executor
        Whose processes do the work; none does it here.
    """
    if executor is None:
        for step in directions:
            if out_of_time("rules"):
                yield _without_rules(step)
            else:
                yield learn_direction(graph, step, config, given.get(step, ()), _seconds())
        return
    tasks = _Tasks(graph, config, given)
    for step in directions:
        tasks.begin(step)
    # A copy has none of the tables that were made of the graph here, and no test facts.
    shared = replace(graph, test=graph.test[:0])
    for name, result in run_tasks(executor, shared, tasks):
        made = tasks.take(name, result)
        if made is not None:
            yield made


class _Tasks(Iterator[Task]):
    """The tasks of some directions; there are more of them as those before are done.

    An iterator that has none now may have some later, which `run_tasks` allows for.
    """

    def __init__(self, graph: Graph, config: CompletionConfig, given: Mapping[int, GivenPairs]) -> None:
        self._graph, self._config, self._given = graph, config, given
        self._sizes = CompletionPlan.of(graph, config).config.sizes
        self._ready: deque[Task] = deque()
        self._begun: dict[str, _Begun] = {}  # by the names of tasks that are not done

    def __next__(self) -> Task:
        if not self._ready:
            raise StopIteration
        return self._ready.popleft()

    def begin(self, step: int) -> None:
        """Make the first task of a direction."""
        is_large = int(self._graph.has_answer(step).sum()) > self._sizes.shared
        begun = _Begun(self._in_blocks(step) if is_large else self._at_once(step))
        self._ready.extend(self._made(step, begun, next(begun.calls)))

    def take(self, name: str, result: Any) -> DirectionRules | None:
        """Take the result of a task, and return its direction if that is complete."""
        begun = self._begun.pop(name)
        begun.results[name] = result
        if len(begun.results) < len(begun.names):
            return None
        step, results = begun.step, [begun.results[one] for one in begun.names]
        try:
            calls = begun.calls.send(results)
        except StopIteration as stopped:
            return stopped.value  # type: ignore[no-any-return]
        # Before tasks of directions that have not begun, so that one direction after another ends.
        self._ready.extendleft(reversed(self._made(step, _Begun(begun.calls), calls)))
        return None

    def _made(self, step: int, begun: _Begun, calls: Sequence[_Call]) -> list[Task]:
        given, made = tuple(self._given.get(step, ())), list[Task]()
        for what, function, args in calls:
            name = f"rank {_question(self._graph, step)}{what}"
            self._begun[name] = begun
            begun.names.append(name)
            made.append(Task(name, function, (step, self._config, given, *args)))
        begun.step = step
        return made

    def _at_once(self, step: int) -> _Calls:
        """A direction as one task."""
        (made,) = yield [("", learn_direction, ())]
        return made  # type: ignore[no-any-return]

    def _in_blocks(self, step: int) -> _Calls:
        """A direction as several tasks: each list of calls waits for the results of the one before."""
        size = self._sizes.shared
        (proposed,) = yield [(": rules", _propose, ())]
        if proposed is None:
            return _without_rules(step)
        bodies, left_out = proposed
        pairs = given_pairs(bodies, self._given.get(step, ()))
        blocks = [
            replace(part, starts=part.starts[first : first + size])
            for part in counted_parts(self._graph, step, bodies, pairs, self._sizes)
            for first in range(0, len(part.starts), size)
        ]
        counts = yield [
            (f": block {n} of {len(blocks)}", _count, (bodies, block)) for n, block in enumerate(blocks, 1)
        ]
        if any(one is None for one in counts):
            return _without_rules(step)
        rules: DirectionRules
        rules, _ = in_order_of_confidence(self._graph, step, bodies, joined_counts(counts))
        (made,) = yield [(": weights", _weigh, (replace(rules, left_out=left_out),))]
        rules = made
        facts = len(self._graph.pairs(step, "valid"))
        parts = [slice(first, first + size) for first in range(0, facts, size)]
        if not parts:
            return rules
        ranks = yield [
            (f": ranks {n} of {len(parts)}", _rank, (rules, part)) for n, part in enumerate(parts, 1)
        ]
        if any(one is None for one in ranks):
            return replace(rules, cut=(*rules.cut, "scoring"))
        return replace(rules, tried=tuple(Ranks.concat(some) for some in zip(*ranks, strict=True)))


@dataclass(eq=False)
class _Begun:
    """Tasks of a direction that the next ones wait for."""

    calls: _Calls
    step: int = -1
    names: list[str] = field(default_factory=list)
    results: dict[str, Any] = field(default_factory=dict)


def _propose(graph: Graph, step: int, config: CompletionConfig, given: GivenPairs) -> tuple[Any, int] | None:
    """The bodies of a direction; none where time is up."""
    with _by_one_thread(), stage("rules"):
        check()
        return proposed_bodies(graph, step, CompletionPlan.of(graph, config), given)
    return None


def _count(
    graph: Graph,
    step: int,
    config: CompletionConfig,
    given: GivenPairs,
    bodies: Sequence[Body | Rule],
    block: CountedPart,
) -> PartCounts | None:
    """The counts of bodies on a block of starts; none where time is up."""
    sizes = CompletionPlan.of(graph, config).config.sizes
    with _by_one_thread(), stage("rules"):
        check()
        counts, _ = count_part(graph, step, bodies, given_pairs(bodies, given), block, sizes)
        return counts
    return None


def _weigh(
    graph: Graph, step: int, config: CompletionConfig, given: GivenPairs, rules: DirectionRules
) -> DirectionRules:
    """Weights and calibration of counted rules, as far as there is time."""
    config = CompletionPlan.of(graph, config).config
    with _by_one_thread(), limited(time_left()) as watch:
        features = rules.features(graph, config.sizes, given_pairs(rules.bodies, given))
        rules = calibrate(graph, weigh(graph, rules, features, config), features, config)
    return replace(rules, cut=tuple(watch.cut))


def _rank(
    graph: Graph, step: int, config: CompletionConfig, given: GivenPairs, rules: DirectionRules, part: slice
) -> list[Ranks] | None:
    """The ranks of some validation facts by every scorer; None if time is up."""
    with _by_one_thread(), stage("scoring"):
        check()
        config = CompletionPlan.of(graph, config).config
        features = rules.features(graph, config.sizes, given_pairs(rules.bodies, given))
        return validate(graph, rules, features, config, part)
    return None


def _by_one_thread() -> threadpool_limits:
    """Thousands of small products: handing each out to several threads takes longer than doing it."""
    return threadpool_limits(1)


def _without_rules(step: int) -> DirectionRules:
    return DirectionRules(step, (), np.zeros(0), np.zeros(0), cut=("rules",))


def _question(graph: Graph, step: int) -> str:
    """A direction as a question."""
    relation = graph.relations[step % len(graph.relations)]
    return f"{relation}(x, ?)" if step < len(graph.relations) else f"{relation}(?, x)"


def _seconds() -> float | None:
    left = time_left().left
    return None if left == float("inf") else left
