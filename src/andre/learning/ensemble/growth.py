"""Growing a set of weighted rules: one at a time, all weights refitted, rules exchanged when it pays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats
from andre.learning.ensemble.likelihood import RuleLoss, base_weights
from andre.learning.ensemble.rule_sets import Rows, RuleSet
from andre.learning.ensemble.search import Body, BodySearch, Found, Pull, SearchConfig
from andre.limits import check, stage, unhurried
from andre.newton import Cholesky

#: Sizes grow by this factor from one refinement of all rules to the next.
_LADDER = 1.5
#: Up to this size all rules are refined after each that is added.
_SMALL = 3
#: Nats that an exchange must gain.
_WORTH = 1e-3


class Growing:
    """Rule sets of growing size on some rows, grown as far as they are asked for and there is time."""

    def __init__(self, rows: Rows, config: SearchConfig, most: int, pool: Sequence[Body] = ()) -> None:
        with unhurried():
            growth = Growth(rows, config, pool)
            self._more = growth.sizes(most)
            self._sets = [next(self._more)]

    def upto(self, size: int) -> list[RuleSet]:
        """The sets of 0, 1, ... rules, of so many at the most."""
        with stage("growing weighted rules"):
            while len(self._sets) <= size and (grown := next(self._more, None)) is not None:
                self._sets.append(grown)
        return self._sets[: size + 1]


class Growth:
    """Grows rule sets of 0, 1, 2, ... rules on one table.

    Parameters
    ----------
    pool
        Bodies that compete with those that are searched for.
    """

    def __init__(self, rows: Rows, config: SearchConfig, pool: Sequence[Body] = ()) -> None:
        self._search, self._labels, self._config = BodySearch(rows.bins, config, pool), rows.labels, config

    def sizes(self, most: int) -> Iterator[RuleSet]:
        """Rule sets of growing size, as long as another rule is worth its price."""
        state = self._fitted(
            (),
            RuleLoss(
                np.zeros((0, len(self._labels.classes)), dtype=np.bool_),
                np.zeros(0, dtype=np.intp),
                self._labels,
            ),
            base_weights(self._labels),
        )
        yield self._rule_set(state)
        refined = 0
        for size in range(1, most + 1):
            check()
            grown = self._added(state)
            if grown is None or grown.objective >= state.objective:
                break
            state = grown
            if size <= _SMALL or size >= refined * _LADDER or size == most:
                state, refined = self._refined(state), size
            yield self._rule_set(state)

    def looked_for_again(self, rules: RuleSet) -> RuleSet:
        """The rule set after each rule was taken out in turn and looked for again, given the others."""
        start = np.append(base_weights(self._labels), np.zeros(len(rules.bodies)))
        covers = np.array([self._search.cover(body) for body in rules.bodies])
        state = self._fitted(rules.bodies, RuleLoss(covers, rules.owners, self._labels), start)
        return self._rule_set(self._refined(state, everywhere=True))

    def _rule_set(self, state: _State) -> RuleSet:
        return RuleSet(state.bodies, state.loss.owners, state.weights, state.objective, self._config.penalty)

    def _fitted(self, bodies: tuple[Body, ...], loss: RuleLoss, start: Floats) -> _State:
        """Rules with their weights, and all that depends on both."""
        weights = loss.fit(self._config.penalty, start)
        price = self._config.price * sum(map(len, bodies))
        return _State(bodies, loss, weights, loss.objective(weights, self._config.penalty) + price)

    def _added(self, state: _State) -> _State | None:
        """The rule set with one more rule: the best found, by its gain when all weights follow."""
        found = self._found(state, state.loss, state.weights, self._search.best)
        if not found:
            return None
        gains = self._gains(state.loss, state.weights, self._curvature(state), found)
        return self._with(state.bodies, state.loss, state.weights, found[int(np.argmax(gains))])

    def _with(self, bodies: tuple[Body, ...], loss: RuleLoss, weights: Floats, new: Found) -> _State:
        """A rule set with one more rule, all weights refitted."""
        more = self._extended(loss, [new])
        return self._fitted((*bodies, new.body), more, np.append(weights, 0.0))

    def _extended(self, loss: RuleLoss, found: Sequence[Found]) -> RuleLoss:
        """The likelihood with some rules more."""
        covers = np.array([self._search.cover(one.body) for one in found])
        owners = np.array([one.owner for one in found], dtype=np.intp)
        return RuleLoss(np.concatenate((loss.covers, covers)), np.append(loss.owners, owners), self._labels)

    def _found(
        self, state: _State, loss: RuleLoss, weights: Floats, search: Callable[[Pull], list[Found]]
    ) -> list[Found]:
        """Bodies that raise a likelihood, but for those that cover, or leave, just what a rule covers."""
        pull = Pull(*self._labels.pull(loss.scores(weights)))
        new, n = [], len(self._labels.classes)
        for one in search(pull):
            cover = self._search.cover(one.body)
            count, own = int(cover.sum()), state.loss.owners == one.owner
            alike = np.flatnonzero(own & ((state.counts == count) | (state.counts == n - count)))
            shared = (state.loss.covers[alike] == cover).sum(axis=1)
            if not ((shared == 0) | (shared == n)).any():
                new.append(one)
        return new

    def _curvature(self, state: _State) -> Floats:
        """Second derivatives of the penalised loss, [weights, weights]."""
        table = state.loss.curvature(state.weights).values
        table[np.diag_indices(len(table))] += 2 * state.loss.penalties(self._config.penalty)
        return table

    def _gains(self, loss: RuleLoss, weights: Floats, curvature: Floats, found: Sequence[Found]) -> Floats:
        """Nats gained by each of some bodies when all weights follow, to second order, less its price."""
        n, penalty = len(weights), self._config.penalty
        more, weights = self._extended(loss, found), np.append(weights, np.zeros(len(found)))
        slope = more(weights)[1] + 2 * more.penalties(penalty) * weights
        columns = more.curvature_columns(weights, np.arange(n, len(weights)))  # [weights, found]
        solved = Cholesky(curvature).solve(columns[:n])
        spread = np.diag(columns[n:]) + penalty - (columns[:n] * solved).sum(axis=0)
        rest = slope[n:] - slope[:n] @ solved
        price = self._config.price * np.array([len(one.body) for one in found])
        return np.asarray(rest**2 / (2 * np.maximum(spread, penalty)) - price)

    def _refined(self, state: _State, *, everywhere: bool = False) -> _State:
        """Each rule in turn is taken out and looked for again, given the others: near it, or everywhere.

        Where only near it, the last one is new, and is looked for again only if another was exchanged.
        """
        table, before, at = self._curvature(state), state.objective, self._labels.n_outputs
        for left in range(len(state.bodies), 0, -1):  # the first rule is taken out, and one put in at the end
            check()
            if not everywhere and left == 1 and state.objective == before:
                return state.turned(at)[0]
            old, rest, weights = self._without_first(state, table)
            search = (
                partial(self._search.best, known=(old.body,))
                if everywhere
                else partial(self._search.near, old.body, old.owner)
            )
            found = self._found(state, rest, weights, search)
            best = old
            if found:
                less = np.delete(np.delete(table, at, axis=0), at, axis=1)
                gains = self._gains(rest, weights, less, [*found, old])
                if gains[:-1].max() > gains[-1] + _WORTH:
                    best = found[int(np.argmax(gains[:-1]))]
            if best is not old:
                tried = self._with(state.bodies[1:], rest, weights, best)
                if tried.objective < state.objective - _WORTH:
                    state = tried
                    table = self._curvature(state)
                    continue
            state, order = state.turned(at)
            table = table[np.ix_(order, order)]
        return state

    def _without_first(self, state: _State, table: Floats) -> tuple[Found, RuleLoss, Floats]:
        """The first rule, the likelihood of the others, and where their weights go, to second order."""
        at, loss = self._labels.n_outputs, state.loss
        column = np.zeros(len(table))
        column[at] = 1
        column = Cholesky(table).solve(column)
        moved = np.delete(state.weights - column * state.weights[at] / column[at], at)
        old = Found(int(loss.owners[0]), state.bodies[0], 0.0)
        return old, RuleLoss(loss.covers[1:], loss.owners[1:], self._labels), moved


@dataclass(frozen=True, eq=False)
class _State:
    """A rule set on the rows it is grown on."""

    bodies: tuple[Body, ...]
    loss: RuleLoss
    weights: Floats  #: [outputs + rules]
    objective: float

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """The number of rows that each rule covers, [rules]."""
        return np.asarray(self.loss.covers.sum(axis=1))

    def turned(self, n_outputs: int) -> tuple[_State, NDArray[np.intp]]:
        """The same with the first rule last, and the new order of weights."""
        n = len(self.bodies)
        rules = np.append(np.arange(1, n), 0)
        order = np.append(np.arange(n_outputs), n_outputs + rules)
        loss = RuleLoss(self.loss.covers[rules], self.loss.owners[rules], self.loss.labels)
        bodies = (*self.bodies[1:], self.bodies[0])
        return _State(bodies, loss, self.weights[order], self.objective), order
