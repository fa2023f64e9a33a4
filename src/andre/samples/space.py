"""The rule space: a head and candidate atoms, over which bodies are rows of -1, 0 and 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools
from andre.errors import DataError, LogicError
from andre.logic import Atom, Literal, Program, Rule, Variable

#: Bodies as rows over m candidate atoms, [rules, m]: 1 for the atom, -1 for its negation, 0 for neither.
Codes = NDArray[np.int8]


def _mixed(numbers: NDArray[Any]) -> NDArray[np.uint64]:
    """Hashes of numbers, by the finalizer of SplitMix64."""
    found = np.asarray(numbers).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.asarray((found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True)
class RuleSpace:
    """A head and the candidate atoms from which bodies are built.

    Examples
    --------
    >>> space = RuleSpace.from_names(["mother(X1,X2)", "father(X2,X3)"], "grandparent(X1,X3)")
    >>> [str(v) for v in space.head_variables], [str(v) for v in space.auxiliary_variables]
    (['X1', 'X3'], ['X2'])
    >>> space.incidence
    array([[1, 0],
           [0, 1],
           [1, 1]], dtype=int8)
    >>> print(space.program([[1, 1]]))
    grandparent(X1, X3) :- mother(X1, X2), father(X2, X3).
    >>> from andre.logic import Constant
    >>> age = Atom(">", (Constant("age"), Constant(42)))
    >>> print(RuleSpace(Atom("rich"), (Atom("member"), age)).program([[0, 1], [-1, -1]]))
    rich :- age > 42.
    rich :- \\+ member, age =< 42.
    >>> car, short = Atom.from_column("has_car(X1,X2)"), Atom.from_column("short(X2)")
    >>> print(RuleSpace(Atom.from_column("east(X1)"), (car, short), links=(car,)).program([[0, 1]]))
    east(X1) :- has_car(X1, X2), short(X2).
    """

    head: Atom
    atoms: tuple[Atom, ...]  #: m candidate body atoms, one per column
    #: Candidates that bind variables of others: a body with such a variable implicitly has its link,
    #: whether the link is among its literals or not. Each has only variables of the head and of links
    #: before it, besides those that it binds.
    links: tuple[Atom, ...] = ()
    free_head: bool = False  #: whether variables of the head need not be bound by a literal

    def __post_init__(self) -> None:
        if not self.atoms:
            raise DataError("there is no candidate atom: give at least one column beside the label")
        twice = next((atom for atom, times in Counter(self.atoms).items() if times > 1), None)
        if twice:
            raise DataError(f"the candidate {twice} stands twice: give every column its own name")
        if self.head in self.atoms:
            raise DataError(f"the head {self.head} is among its own candidates: leave that column out")
        if strange := set(self.links) - set(self.atoms):
            raise DataError(f"the link {min(map(str, strange))} is no candidate: give it a column")

    @classmethod
    def from_names(cls, names: Iterable[str], head: str = "h") -> RuleSpace:
        """Build a space from column names, plain (`b1`) or atoms (`mother(X1,X2)`)."""
        return cls(Atom.from_column(head), tuple(map(Atom.from_column, names)))

    @property
    def m(self) -> int:
        """The number of candidate atoms."""
        return len(self.atoms)

    @property
    def names(self) -> tuple[str, ...]:
        """The candidates as text, in column order."""
        return tuple(map(str, self.atoms))

    @property
    def head_variables(self) -> tuple[Variable, ...]:
        """The variables of the head."""
        return self.head.variables

    @property
    def auxiliary_variables(self) -> tuple[Variable, ...]:
        """The variables of the candidates that the head does not have."""
        found = dict.fromkeys(v for atom in self.atoms for v in atom.variables)
        return tuple(v for v in found if v not in self.head_variables)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables, the head's first."""
        return self.head_variables + self.auxiliary_variables

    @cached_property
    def incidence(self) -> NDArray[np.int8]:
        """Whether a variable occurs in an atom, [variables, m], 0 or 1."""
        place = {variable: number for number, variable in enumerate(self.variables)}
        table = np.zeros((len(place), self.m), dtype=np.int8)
        for column, atom in enumerate(self.atoms):
            table[[place[variable] for variable in atom.variables], column] = 1
        return table

    @cached_property
    def recursive(self) -> Bools:
        """Which candidates have, or need a link that has, the relation of the head, [m]."""
        own = np.array([atom.key == self.head.key for atom in self.atoms], dtype=np.bool_)
        return np.asarray(own | (self._chains & own[self.link_columns]).any(axis=1))

    def safe(self, codes: Codes) -> Bools:
        """Which rules are safe, [rules]: each variable occurs in a positive literal other than a comparison.

        Examples
        --------
        >>> space = RuleSpace.from_names(["p(X,Y)", "q(Y)"], "h(X)")
        >>> space.safe(np.array([[1, 0], [1, -1], [-1, 1]], dtype=np.int8))
        array([ True,  True, False])
        """
        # Sums of int8 would overflow, and products of integers are slow.
        binds = self._bound(codes)
        needed = (codes != 0).astype(np.float32) @ self._stands > 0
        needed[:, : len(self.head_variables)] |= not self.free_head
        return np.asarray((binds | ~needed).all(axis=1))

    @cached_property
    def _stands(self) -> NDArray[np.float32]:
        """Which variables occur in each candidate, [m, variables], as floats for fast products."""
        return self.incidence.T.astype(np.float32)

    @cached_property
    def _stated(self) -> Bools:
        """Which candidates are not comparisons, [m]."""
        return np.array([not atom.is_builtin for atom in self.atoms], dtype=np.bool_)

    def _bound(self, codes: Codes) -> Bools:
        """Which variables a positive literal or a link of each body binds, [rules, variables]."""
        stands = self._stands
        with np.errstate(invalid="ignore"):  # BLAS may read memory beside small matrices
            binds = ((codes > 0) & self._stated).astype(np.float32) @ stands > 0
        if self.free_head:
            binds[:, : len(self.head_variables)] = True
        if not self.links:
            return np.asarray(binds)
        binds |= self.linked(codes).astype(np.float32) @ stands[self.link_columns] > 0
        joined = [(np.flatnonzero(codes[:, column] > 0), pair) for column, pair in self.equalities.items()]
        joined = [(rows, pair) for rows, pair in joined if len(rows)]
        before = -1
        while (now := int(binds.sum())) != before:
            before = now
            for rows, pair in joined:
                either = binds[rows][:, pair].any(axis=1) | (len(pair) == 1)  # a constant needs no binding
                for place in pair:
                    binds[rows, place] |= either
        return np.asarray(binds)

    @cached_property
    def equalities(self) -> Mapping[int, list[int]]:
        """By column of an equality, the numbers of its variables.

        Rules of a space with links are written without equalities (`Rule.unified`), so that
        binding one of two equal terms binds the other.
        """
        place = {variable: number for number, variable in enumerate(self.variables)}
        return {
            column: [place[variable] for variable in atom.variables]
            for column, atom in enumerate(self.atoms)
            if atom.predicate == "="
        }

    def bound(self, codes: Codes) -> Bools:
        """Which head variables a positive literal or a link of each body binds, [rules, head variables]."""
        return self._bound(codes)[:, : len(self.head_variables)]

    def pair_sizes(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The literals and variables of rules with two candidates and their links, counted, [m, m] each."""
        plain = np.ones(self.m, dtype=np.bool_)
        plain[self.link_columns] = False
        own = self._chains.astype(np.float32)  # [m, links]
        links = own.sum(axis=1)
        literals = plain + links
        sizes = literals[:, None] + literals - own @ own.T
        sizes[np.diag_indices(self.m)] = literals
        stands = self.incidence.T.astype(np.float32)
        stands = ((stands + own @ stands[self.link_columns]) > 0).astype(np.float32)  # [m, variables]
        stands[:, : len(self.head_variables)] = 1
        count = stands.sum(axis=1)
        variables = count[:, None] + count - stands @ stands.T
        return sizes.astype(np.intp), variables.astype(np.intp)

    @cached_property
    def _chains(self) -> Bools:
        """The links that each candidate needs, [m, links]; a link needs itself."""
        place = {atom: number for number, atom in enumerate(self.links)}
        binder: dict[Variable, int] = {}
        needs: dict[int, set[int]] = {}

        def of(atom: Atom) -> set[int]:
            found: set[int] = set()
            for variable in atom.variables:
                if variable in binder:
                    found |= needs[binder[variable]]
            return found

        for atom, number in place.items():
            needs[number] = {number} | of(atom)
            for variable in atom.variables:
                if variable not in self.head_variables:
                    binder.setdefault(variable, number)
        table = np.zeros((self.m, len(self.links)), dtype=np.bool_)
        for column, atom in enumerate(self.atoms):
            table[column, sorted(needs[place[atom]] if atom in place else of(atom))] = True
        return table

    @cached_property
    def link_columns(self) -> NDArray[np.intp]:
        """The column of every link, [links]."""
        columns = {atom: column for column, atom in enumerate(self.atoms)}
        return np.array([columns[atom] for atom in self.links], dtype=np.intp)

    def linked(self, codes: Codes) -> Bools:
        """The links that each body has, among its literals or by its variables, [rules, links]."""
        return np.asarray((codes != 0).astype(np.float32) @ self._chains.astype(np.float32) > 0)

    def atoms_of(self, codes: Codes) -> Bools:
        """The candidates that each rule has, negated or not, the links of its variables included, [rules, m].

        Examples
        --------
        >>> car, short = Atom.from_column("has_car(X1,X2)"), Atom.from_column("short(X2)")
        >>> space = RuleSpace(Atom.from_column("east(X1)"), (car, short), links=(car,))
        >>> space.atoms_of(np.array([[1, 0], [0, -1]], dtype=np.int8))
        array([[ True, False],
               [ True,  True]])
        """
        found = codes != 0
        found[:, self.link_columns] |= self.linked(codes)
        return np.asarray(found)

    def sizes(self, codes: Codes) -> NDArray[np.intp]:
        """How many literals each rule has, the links of its variables included, [rules].

        Examples
        --------
        >>> atoms = [Atom.from_column(text) for text in ("p(X,Y)", "q(Y,Z)", "r(Z)")]
        >>> space = RuleSpace(Atom.from_column("h(X)"), tuple(atoms), links=tuple(atoms[:2]))
        >>> space.sizes(np.array([[1, 0, 0], [0, 0, 1]], dtype=np.int8))
        array([1, 3])
        """
        return np.asarray(np.count_nonzero(self.atoms_of(codes) if self.links else codes, axis=1))

    def written_sizes(self, codes: Codes) -> NDArray[np.intp]:
        """How many literals each rule has without equalities, [rules]; see `Rule.unified`.

        Examples
        --------
        >>> from andre.logic import Constant
        >>> link = Atom.from_column("p(X,Y)")
        >>> red = Atom("=", (link.args[1], Constant("red")))
        >>> space = RuleSpace(Atom.from_column("h(X)"), (link, red), links=(link,))
        >>> both = np.array([[0, 1]], dtype=np.int8)
        >>> space.sizes(both), space.written_sizes(both)
        (array([2]), array([1]))
        """
        if not self.links:
            return self.sizes(codes)
        return np.asarray(self.sizes(codes) - (codes[:, list(self.equalities)] > 0).sum(axis=1))

    def fingerprints(self, codes: Codes) -> NDArray[np.uint64]:
        """A hash of each rule, [rules], that does not depend on the names of auxiliary variables.

        It is computed by two rounds of colour refinement of the variables: rules that these do not
        distinguish have the same hash, too.

        Examples
        --------
        >>> atoms = [Atom.parse(text) for text in ("p(X,Y)", "p(X,Z)", "r(Y)", "r(Z)")]
        >>> space = RuleSpace(Atom.parse("h(X)"), tuple(atoms), links=tuple(atoms[:2]))
        >>> one, other, third = space.fingerprints(np.array([[0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 1, 1]]))
        >>> bool(one == other), bool(one == third)
        (True, False)
        """
        signs = np.where(self.atoms_of(codes) & (codes == 0), 1, codes).astype(np.int64)  # [rules, m]
        names, places = self._names_and_places
        rows, columns = np.nonzero(signs)  # of the literals, which are few of all entries
        own = _mixed(names[columns] + signs[rows, columns].astype(np.uint64))
        found = np.zeros((len(codes), len(self.variables) + 1), dtype=np.uint64)
        found[:, : len(self.head_variables)] = _mixed(np.arange(1, 1 + len(self.head_variables)))
        hashes = own
        for _ in range(2):
            hashes = own.copy()
            for place, variables in enumerate(places):
                hashes += _mixed(found[rows, variables[columns]] + np.uint64(place + 1))
            hashes = _mixed(hashes)
            for place, variables in enumerate(places):
                np.add.at(found, (rows, variables[columns]), _mixed(hashes + np.uint64(place + 1)))
            found[:, -1] = 0  # of arguments that are no variables
        numbers = np.zeros(len(codes), dtype=np.uint64)
        np.add.at(numbers, rows, hashes)
        return numbers

    @cached_property
    def _names_and_places(self) -> tuple[NDArray[np.uint64], list[NDArray[np.intp]]]:
        """A number for each candidate without its variables, [m], and its variables by place, [m] each."""
        number = {variable: place for place, variable in enumerate(self.variables)}
        words = [
            (atom.predicate, *(None if isinstance(term, Variable) else term for term in atom.args))
            for atom in self.atoms
        ]
        known = {word: place for place, word in enumerate(dict.fromkeys(words))}
        names = _mixed(np.array([known[word] for word in words], dtype=np.uint64))
        widest = max((atom.arity for atom in self.atoms), default=0)
        table = np.full((widest, self.m), len(number), dtype=np.intp)
        for column, atom in enumerate(self.atoms):
            for place, term in enumerate(atom.args):
                if isinstance(term, Variable):
                    table[place, column] = number[term]
        return names, list(table)

    def n_variables(self, codes: Codes) -> NDArray[np.intp]:
        """How many variables each rule has, [rules]; equal ones count once."""
        found = self.atoms_of(codes).astype(np.float32) @ self.incidence.T.astype(np.float32) > 0
        found[:, : len(self.head_variables)] = True
        equal = np.array([atom.predicate == "=" for atom in self.atoms])
        return np.asarray(found.sum(axis=1) - ((codes > 0) & equal).sum(axis=1))

    def with_links(self, kept: Bools) -> Bools:
        """The kept candidates and the links that they need, [m]."""
        closed = kept.copy()
        closed[self.link_columns[self._chains[kept].any(axis=0)]] = True
        return closed

    def narrowed(self, kept: Bools) -> RuleSpace:
        """The same head with only the kept candidates, [m], which must include the links that they need."""
        atoms = tuple(compress(self.atoms, kept))
        return replace(self, atoms=atoms, links=tuple(link for link in self.links if link in set(atoms)))

    def rule(self, code: Sequence[int] | Codes) -> Rule:
        """The rule with the body that a code describes."""
        if len(code) != self.m:
            raise LogicError(f"a code of {len(code)} numbers does not fit {self.m} candidate atoms")
        signed = ((Literal(atom), sign) for atom, sign in zip(self.atoms, code, strict=True) if sign)
        body = tuple(~literal if sign < 0 else literal for literal, sign in signed)
        if self.links:
            needed = compress(self.links, self.linked(np.asarray(code, dtype=np.int8)[None])[0])
            body = tuple(dict.fromkeys((*map(Literal, needed), *body)))
        return Rule(self.head, body)

    def program(self, codes: Iterable[Sequence[int]] | Codes) -> Program:
        """The program of the rules that codes describe."""
        return Program(tuple(self.rule(code) for code in codes))

    def encode(self, program: Program) -> Codes:
        """The codes of a program's bodies, [rules, m]: the inverse of `program`."""
        signs = {Literal(atom): (column, 1) for column, atom in enumerate(self.atoms)}
        signs |= {~literal: (column, -1) for literal, (column, _) in signs.items()}
        codes = np.zeros((len(program), self.m), dtype=np.int8)
        for row, rule in enumerate(program):
            if rule.head != self.head:
                raise LogicError(f"the rule {rule} has another head than {self.head}")
            for literal in rule.body:
                plain = ~Literal(literal.atom) if literal.negated else literal
                if plain not in signs:
                    raise LogicError(f"{literal.atom} in {rule} is none of the {self.m} candidates")
                column, sign = signs[plain]
                if codes[row, column] == -sign:
                    raise LogicError(f"{rule} has both {literal.atom} and its negation, so it never holds")
                codes[row, column] = sign
        return self.without_implied(codes)

    def without_implied(self, codes: Codes) -> Codes:
        """The same bodies without the links that their other literals imply, [rules, m].

        Examples
        --------
        >>> car, short = Atom.from_column("has_car(X1,X2)"), Atom.from_column("short(X2)")
        >>> space = RuleSpace(Atom.from_column("east(X1)"), (car, short), links=(car,))
        >>> space.without_implied(np.array([[1, 1], [1, 0]], dtype=np.int8))
        array([[0, 1],
               [1, 0]], dtype=int8)
        """
        if not self.links:
            return codes
        others = self._chains.astype(np.float32)
        others[self.link_columns, np.arange(len(self.links))] = 0  # what needs a link beside itself
        implied = (codes != 0).astype(np.float32) @ others > 0  # [rules, links]
        plainer = codes.copy()
        plainer[:, self.link_columns] = np.where(
            implied & (codes[:, self.link_columns] > 0), 0, codes[:, self.link_columns]
        )
        return plainer
