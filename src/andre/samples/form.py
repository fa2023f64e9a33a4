"""Which bodies are well-formed.

A `Language` describes which rules are allowed, `Language.form` turns that into
a `Form` over the columns of a rule space, and `Form.admits` decides, for whole
arrays of bodies. Safety is decided by `RuleSpace.safe`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools
from andre.limits import check
from andre.samples.space import Codes, RuleSpace

#: Entries of a table of bodies that are checked together.
_BLOCK = 1 << 24
#: Codes of bodies along links that are held: of a thousand atoms, those of two literals would take gigabytes.
_MOST_HELD = 1 << 29


@dataclass(frozen=True)
class Form:
    """The conditions on well-formed bodies of a rule space.

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
    safe: bool = True  #: whether every variable must occur in a positive literal that is not a comparison
    singletons: bool = False  #: whether a variable that neither head nor links have may occur only once
    negation: bool = True  #: whether literals may be negated
    max_body: int | None = None  #: how many literals a body may have as written, links included
    variables: int | None = None  #: how many variables a rule may have, those of links included
    unnegated: tuple[int, ...] = ()  #: columns that must not be negated, besides links
    require: tuple[tuple[int, ...], ...] = ()  #: sets of columns; a body has at least one of each set
    #: For each relation, which arguments must be bound before it is used (in) and which may not be (out).
    directions: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @cached_property
    def _occurrences(self) -> NDArray[np.float32]:
        """How often each variable occurs in each atom, [m, variables]; as floats, for fast products."""
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
        if self.unnegated or self.space.links:
            positive = [*self.unnegated, *self.space.link_columns.tolist()]
            good &= ~(codes[:, positive] < 0).any(axis=1)
        if self.max_body is not None:
            good &= self.space.written_sizes(codes) <= self.max_body
        if self.variables is not None:
            good &= self.space.n_variables(codes) <= self.variables
        if not self.singletons and not self.space.links:
            times = (codes != 0).astype(np.float32) @ self._occurrences  # [rules, variables]
            good &= ~(times[:, len(self.space.head_variables) :] == 1).any(axis=1)
        if self.require:
            has = self.space.atoms_of(codes)
            for columns in self.require:
                good &= has[:, list(columns)].any(axis=1)
        if self.directions:
            good[good] = self.can_be_run(codes[good])
        return good

    @cached_property
    def _modes(self) -> tuple[NDArray[np.float32], NDArray[np.float32], Bools]:
        """The variables of each atom, and its inputs, [m, variables]; and the variables bound by the head."""
        space, ways = self.space, dict(self.directions)
        place = {variable: number for number, variable in enumerate(space.variables)}
        has, needs = np.zeros((2, space.m, len(place)), dtype=np.float32)
        for column, atom in enumerate(space.atoms):
            has[column, [place[variable] for variable in atom.variables]] = 1
            own = ways.get(atom.predicate, ())
            inputs = {arg for arg, way in zip(atom.args, own, strict=False) if way == "in"}
            whole = atom.is_builtin and atom.predicate != "="
            needs[column, [place[v] for v in atom.variables if whole or v in inputs]] = 1
        own = ways.get(space.head.predicate, ())
        free = {arg for arg, way in zip(space.head.args, own, strict=False) if way == "out"}
        given = [v in space.head_variables and v not in free for v in space.variables]
        return has, needs, np.array(given, dtype=np.bool_)

    def can_be_run(self, codes: Codes) -> Bools:
        """Which bodies can be ordered so that all inputs of every literal are bound before it, [rules].

        At first, those variables of the head are bound that are no outputs; in the end, all must be.

        Examples
        --------
        >>> space = RuleSpace.from_names(["tail(X,Y)", "tail(Y,X)", "empty(Y)"], "h(X,Y)")
        >>> form = Form(space, directions=(("h", ("in", "out")), ("tail", ("in", "out"))))
        >>> form.can_be_run(np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1]], dtype=np.int8))
        array([ True, False,  True])
        """
        has, needs, given = self._modes
        atoms = self.space.atoms_of(codes) if self.space.links else codes != 0
        equal = [column for column in self.space.equalities if atoms[:, column].any()]
        binding = atoms & (codes >= 0)  # a negation binds nothing
        binding[:, equal] = False
        bound = np.tile(given, (len(codes), 1))  # [rules, variables]
        before = -1
        while (now := int(bound.sum())) != before:
            before = now
            lacks = (~bound).astype(np.float32) @ needs.T > 0  # [rules, m]
            bound |= (binding & ~lacks).astype(np.float32) @ has > 0
            for column in equal:  # binding one of two equal terms binds the other
                pair = self.space.equalities[column]
                either = bound[:, pair].any(axis=1) | (len(pair) == 1)
                bound[:, pair] |= (either & (codes[:, column] > 0))[:, None]
        every = np.where(codes < 0, (~bound).astype(np.float32) @ has.T > 0, lacks)
        heads = [v in self.space.head_variables for v in self.space.variables]
        whole = bound[:, heads].all(axis=1) if self.safe else np.ones(len(codes), dtype=np.bool_)
        return np.asarray(~(atoms & every).any(axis=1) & whole)

    def pairs(self) -> tuple[Bools, Bools]:
        """The well-formed pairs of literals, [2m, 2m], and single ones, [2m], in a space with links.

        The result equals that of `admits` for each of them.

        Examples
        --------
        >>> from andre.logic import Atom
        >>> car, short = Atom.parse("has_car(X1,X2)"), Atom.parse("short(X2)")
        >>> both, alone = Form(RuleSpace(Atom.parse("east(X1)"), (car, short), links=(car,))).pairs()
        >>> alone.tolist()
        [True, True, False, True]
        """
        space, m = self.space, self.space.m
        single = np.zeros((2 * m, m), dtype=np.int8)
        single[np.arange(2 * m), np.arange(2 * m) % m] = np.repeat((1, -1), m)
        free = replace(self, max_body=None, variables=None, require=(), safe=False, directions=())
        alone = free.admits(single)
        column = np.arange(2 * m) % m
        good = alone[:, None] & alone & (column[:, None] != column)
        good |= np.diag(alone)
        if self.max_body is not None or self.variables is not None or self.safe:
            sizes, variables = space.pair_sizes()
            if self.max_body is not None:
                equal = np.isin(np.arange(2 * space.m), list(space.equalities) if space.links else [])
                unwritten = equal[:, None].astype(np.intp) + equal
                unwritten[np.diag_indices(2 * space.m)] = equal
                good &= np.tile(sizes, (2, 2)) - unwritten <= self.max_body
            if self.variables is not None:
                equal = np.array([atom.predicate == "=" for atom in space.atoms] + [False] * m)
                joined = np.where(np.eye(2 * m, dtype=np.bool_), equal, equal[:, None].astype(int) + equal)
                good &= np.tile(variables, (2, 2)) - joined <= self.variables
        if self.safe:
            bound = space.bound(single)
            both: Bools = np.asarray(bound[:, None] | bound)  # [2m, 2m, head variables]
            for row, places in space.equalities.items():
                if max(places) < bound.shape[1]:
                    both[row, :, places] |= both[row, :, places].any(axis=0)
                    both[:, row] = both[row]
            good &= both.all(axis=2)
        atoms = space.atoms_of(single)
        for columns in self.require:
            has: Bools = np.asarray(atoms[:, list(columns)].any(axis=1))
            good &= has[:, None] | has
        if self.directions:
            # What two literals can do by themselves they can do beside one another.
            runs, given = replace(self, safe=False).can_be_run(single), self._modes[2]
            sure = runs[:, None] & runs & (not self.safe or bool(given[: len(space.head_variables)].all()))
            first, second = np.nonzero(np.triu(good & ~sure))
            for at in range(0, len(first), step := max(1, _BLOCK // m)):
                check()
                some = slice(at, at + step)
                bodies = np.maximum(np.abs(single[first[some]]), np.abs(single[second[some]]))
                bodies *= np.where(single[first[some]] + single[second[some]] < 0, -1, 1).astype(np.int8)
                runs = self.can_be_run(bodies)
                good[first[some], second[some]] = good[second[some], first[some]] = runs
        return good & ~np.eye(2 * m, dtype=np.bool_), np.diag(good)

    def short_bodies(self, block: int = _BLOCK) -> Codes:
        """All well-formed bodies of one or two literals, [rules, m], checked `block` entries at a time.

        Along links, where so many could not be held, those of one literal.

        Examples
        --------
        >>> space = RuleSpace.from_names(["p(X,Y)", "p(Y,X)"], "h(X,Y)")
        >>> len(Form(space).short_bodies())  # either, both, or one without the other
        5
        """
        m = self.space.m
        if self.space.links:
            both, alone = self.pairs()
            first, second = np.nonzero(np.triu(both | np.diag(alone)))
            if len(first) * m > _MOST_HELD:
                first = second = np.flatnonzero(alone)
            bodies = np.zeros((len(first), m), dtype=np.int8)
            for literal in (first, second):
                check()
                bodies[np.arange(len(bodies)), literal % m] = np.where(literal < m, 1, -1)
            return bodies
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
