"""Growing a set of weighted rules: one at a time, all weights refitted, rules exchanged when it pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from andre.arrays import Bools, Floats
from andre.learning.ensemble.likelihood import RuleLoss, base_weights
from andre.learning.ensemble.rule_sets import Rows, RuleSet
from andre.learning.ensemble.search import Body, BodySearch, Found, Pull, SearchConfig
from andre.limits import check

#: Sizes grow by this factor from one refinement of all rules to the next.
_LADDER = 1.4
#: Nats that an exchange must gain.
_WORTH = 1e-3


class Growth:
    """Grows rule sets of 0, 1, 2, ... rules on one table.

    Parameters
    ----------
    pool
        Bodies that compete with those that are searched for.
    """

    def __init__(self, rows: Rows, config: SearchConfig, pool: Sequence[Body] = ()) -> None:
        self._search, self._labels, self._config = BodySearch(rows.bins, config), rows.labels, config
        self._pool = pool

    def sizes(self, most: int) -> Iterator[RuleSet]:
        """Rule sets of growing size, as long as another rule is worth its price."""
        start = base_weights(self._labels)
        state = _State((), np.zeros(0, dtype=np.intp), np.zeros((0, len(self._labels.classes)), bool), start)
        state = self._fitted(state)
        yield self._rule_set(state)
        refined = 0
        for size in range(1, most + 1):
            check()
            grown = self._added(state)
            if grown is None or self._objective(grown) >= self._objective(state):
                break
            state = grown
            if size <= 3 or size >= refined * _LADDER or size == most:
                state, refined = self._refined(state), size
            yield self._rule_set(state)

    def _rule_set(self, state: _State) -> RuleSet:
        return RuleSet(
            state.bodies, state.owners, state.weights, self._objective(state), self._config.penalty
        )

    def _loss(self, state: _State) -> RuleLoss:
        return RuleLoss(state.covers, state.owners, self._labels)

    def _fitted(self, state: _State) -> _State:
        return state.weighed(self._loss(state).fit(self._config.penalty, state.weights))

    def _objective(self, state: _State) -> float:
        price = self._config.price * sum(map(len, state.bodies))
        return self._loss(state).objective(state.weights, self._config.penalty) + price

    def _added(self, state: _State) -> _State | None:
        """The rule set with one more rule: the best found, by its gain when all weights follow."""
        scores = self._loss(state).scores(state.weights)
        pull = Pull(*self._labels.pull(scores))
        found = self._fresh(state, self._search.best(pull, known=self._pool))
        if not found:
            return None
        gains = self._gains(state, found)
        best = found[int(np.argmax(gains))]
        return self._fitted(state.plus(best, self._search.cover(best.body)))

    def _fresh(self, state: _State, found: Sequence[Found]) -> list[Found]:
        """Those whose rows are not just the rows that a rule for the same output covers, or leaves."""
        new = []
        for one in found:
            own = state.covers[state.owners == one.owner]
            shared = (own == self._search.cover(one.body)).sum(axis=1)
            if not ((shared == 0) | (shared == own.shape[1])).any():
                new.append(one)
        return new

    def _gains(self, state: _State, found: Sequence[Found]) -> Floats:
        """Nats gained by each of some bodies when all weights follow, to second order, less its price."""
        extra = RuleLoss(
            np.concatenate([state.covers, [self._search.cover(one.body) for one in found]]),
            np.append(state.owners, [one.owner for one in found]).astype(np.intp),
            self._labels,
        )
        weights = np.append(state.weights, np.zeros(len(found)))
        _, slope = extra(weights)
        slope = slope + 2 * extra.penalties(self._config.penalty) * weights
        table = extra.curvature(weights).table()
        table[np.diag_indices(len(table))] += 2 * extra.penalties(self._config.penalty)
        n = len(state.weights)
        solved = cho_solve(cho_factor(table[:n, :n]), table[:n, n:])
        spread = np.maximum(np.diag(table)[n:] - (table[:n, n:] * solved).sum(axis=0), 1e-9)
        rest = slope[n:] - slope[:n] @ solved
        price = self._config.price * np.array([len(one.body) for one in found])
        return np.asarray(rest**2 / (2 * spread) - price)

    def _refined(self, state: _State) -> _State:
        """Each rule in turn is taken out and looked for again, given the others."""
        now = self._objective(state)
        for place in range(len(state.bodies)):
            check()
            rest, old = self._without(state, place), state.bodies[place]
            scores = self._loss(rest).scores(rest.weights)
            pull = Pull(*self._labels.pull(scores))
            owner = int(state.owners[place])
            found = self._fresh(state, self._search.best(pull, known=[*self._pool, old]))
            if not found:
                continue
            gains = self._gains(rest, [*found, Found(owner, old, 0.0)])
            best = int(np.argmax(gains[:-1]))
            if gains[best] <= gains[-1] + _WORTH:
                continue
            tried = self._fitted(rest.plus(found[best], self._search.cover(found[best].body), place))
            value = self._objective(tried)
            if value < now - _WORTH:
                state, now = tried, value
        return state

    def _without(self, state: _State, place: int) -> _State:
        """The rule set without one rule, the other weights moved to where they would go, to second order."""
        loss = self._loss(state)
        table = loss.curvature(state.weights).table()
        table[np.diag_indices(len(table))] += 2 * loss.penalties(self._config.penalty)
        at = self._labels.n_outputs + place
        column = np.zeros(len(table))
        column[at] = 1
        column = cho_solve(cho_factor(table), column)
        moved = state.weights - column * state.weights[at] / column[at]
        return state.minus(place, np.delete(moved, at))


@dataclass(frozen=True, eq=False)
class _State:
    """A rule set on the rows it is grown on."""

    bodies: tuple[Body, ...]
    owners: NDArray[np.intp]  #: [rules]
    covers: Bools  #: [rules, rows]
    weights: Floats  #: [outputs + rules]

    def weighed(self, weights: Floats) -> _State:
        return _State(self.bodies, self.owners, self.covers, weights)

    def plus(self, found: Found, cover: Bools, place: int | None = None) -> _State:
        """With one more rule of weight 0, last or at some place."""
        place = len(self.bodies) if place is None else place
        n_outputs = len(self.weights) - len(self.bodies)
        return _State(
            (*self.bodies[:place], found.body, *self.bodies[place:]),
            np.insert(self.owners, place, found.owner),
            np.insert(self.covers, place, cover, axis=0),
            np.insert(self.weights, n_outputs + place, 0.0),
        )

    def minus(self, place: int, weights: Floats) -> _State:
        return _State(
            self.bodies[:place] + self.bodies[place + 1 :],
            np.delete(self.owners, place),
            np.delete(self.covers, place, axis=0),
            weights,
        )
