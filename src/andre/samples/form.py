"""Well-formed bodies, decided in one place.

A `Language` says what its rules may look like, `Language.form` turns that into
a `Form` over the columns of a rule space, and `Form.admits` decides, for whole
arrays of bodies; safety is read off `RuleSpace.safe`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools
from andre.limits import check
from andre.samples.space import Codes, RuleSpace


@dataclass(frozen=True)
class Form:
    """What makes a body of a rule space well-formed.

    Examples
    --------
    >>> space = RuleSpace.from_names(["p(X,Y)", "p(X,Z)", "q(Z,Y)"], "h(X,Y)")
    >>> codes = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [-1, 1, 1]], dtype=np.int8)
    >>> Form(space).admits(codes)  # in the second, Z occurs only once
    array([ True, False,  True,  True])
    >>> Form(space, negation=False).admits(codes)
    array([ True, False,  True, False])
    """

    space: RuleSpace
    safe: bool = True  #: whether every variable must occur in a positive literal that is no comparison
    singletons: bool = False  #: whether a variable that the head lacks may occur only once
    negation: bool = True  #: whether literals may be negated
    max_body: int | None = None  #: how many literals a body may have
    unnegated: tuple[int, ...] = ()  #: columns that must not be negated
    require: tuple[tuple[int, ...], ...] = ()  #: sets of columns; a body has at least one of each set

    @cached_property
    def _occurrences(self) -> NDArray[np.float32]:
        """How often each variable occurs in each atom, [m, variables]; as floats, whose products are fast."""
        variables = self.space.variables
        table = [[atom.args.count(v) for v in variables] for atom in self.space.atoms]
        return np.array(table, dtype=np.float32).reshape(self.space.m, len(variables))

    def admits(self, codes: Codes) -> Bools:
        """Which bodies are well-formed, [rules]."""
        good = np.ones(len(codes), dtype=np.bool_)
        if self.safe:
            good &= self.space.safe(codes)
        if not self.negation:
            good &= ~(codes < 0).any(axis=1)
        if self.unnegated:
            good &= ~(codes[:, list(self.unnegated)] < 0).any(axis=1)
        if self.max_body is not None:
            good &= np.count_nonzero(codes, axis=1) <= self.max_body
        if not self.singletons:
            times = (codes != 0).astype(np.float32) @ self._occurrences  # [rules, variables]
            good &= ~(times[:, len(self.space.head_variables) :] == 1).any(axis=1)
        for columns in self.require:
            good &= (codes[:, list(columns)] != 0).any(axis=1)
        return good

    def short_bodies(self, block: int = 1 << 24) -> Codes:
        """All well-formed bodies of one or two literals, [rules, m]; `block` entries are checked at a time.

        Examples
        --------
        >>> space = RuleSpace.from_names(["p(X,Y)", "p(Y,X)"], "h(X,Y)")
        >>> len(Form(space).short_bodies())  # either, both, or one without the other
        5
        """
        m = self.space.m
        n_literals = 2 * m if self.negation else m
        first, second = np.triu_indices(n_literals)  # a literal with itself is a body of one
        possible = (first == second) | (first % m != second % m)
        if self.safe and self.space.head_variables:
            possible &= first < m  # two negations bind nothing
        first, second = first[possible], second[possible]
        step = max(1, block // m)
        found = [np.zeros((0, m), dtype=np.int8)]
        for at in range(0, len(first), step):
            check()
            some = first[at : at + step], second[at : at + step]
            bodies = np.zeros((len(some[0]), m), dtype=np.int8)
            for literal in some:
                bodies[np.arange(len(bodies)), literal % m] = np.where(literal < m, 1, -1)
            found.append(bodies[self.admits(bodies)])
        return np.concatenate(found)
