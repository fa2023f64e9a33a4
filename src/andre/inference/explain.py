"""Explanations: the rules and facts by which an atom holds, or the rule that comes nearest to deriving it.

An explanation needs a few groundings of a rule for one atom, as soon as they
are found, and the literal at which the others fail. So rules are searched here
literal by literal, depth first; all heads of a rule at once are for `bodies`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.errors import LogicError
from andre.facts import FactBase, Key, argument_domains
from andre.inference.model import Model
from andre.inference.run import infer, materialise
from andre.logic import (
    Atom,
    Constant,
    Literal,
    Program,
    Rule,
    Term,
    Variable,
    comparison_holds,
    unsafe_variables,
)

#: What the variables of a rule stand for.
Bindings = dict[Variable, Constant]


class FactIndex:
    """Finds facts by some of their arguments."""

    def __init__(self, facts: FactBase) -> None:
        self.facts = facts
        self._orders: dict[tuple[Key, int], tuple[NDArray[np.intp], NDArray[np.int32]]] = {}

    def matches(self, atom: Atom) -> Iterator[Bindings]:
        """What the variables of an atom stand for in the facts that match it."""
        relation = self.facts.relations.get(atom.key)
        if relation is None:
            return
        rows, false = None, relation.impossible
        for place, arg in enumerate(atom.args):
            if isinstance(arg, Constant):
                found = self._rows(atom.key, place, arg)
                rows = found if rows is None or len(found) < len(rows) else rows
        for row in range(len(relation)) if rows is None else rows.tolist():
            if not false[row]:
                codes = relation.codes[row].tolist()
                bindings = _bind(atom, [Constant(self.facts.constants[code]) for code in codes])
                if bindings is not None:
                    yield bindings

    def _rows(self, key: Key, place: int, constant: Constant) -> NDArray[np.intp]:
        """The rows with this constant in this place, by an order made once."""
        if (key, place) not in self._orders:
            column = self.facts.relations[key].codes[:, place]
            order = np.argsort(column, kind="stable")
            self._orders[key, place] = order, column[order]
        order, ordered = self._orders[key, place]
        code = self.facts.code(constant.value)
        if code is None:
            return order[:0]
        return order[np.searchsorted(ordered, code, "left") : np.searchsorted(ordered, code, "right")]


def _bind(atom: Atom, values: Iterable[Term]) -> Bindings | None:
    """What the variables of an atom stand for where its arguments are these constants, or None."""
    bindings: Bindings = {}
    for arg, value in zip(atom.args, values, strict=True):
        assert isinstance(value, Constant)
        if (bindings.setdefault(arg, value) if isinstance(arg, Variable) else arg) != value:
            return None
    return bindings


@dataclass(frozen=True)
class Partial:
    """A grounding that fails: the first literals of a rule hold, and the next one does not."""

    rule: Rule
    bindings: Mapping[Variable, Constant]
    held: tuple[Literal, ...]  #: literals that hold, with the bindings put in
    failing: Literal  #: the literal that does not, with the bindings put in
    remaining: int  #: literals that are left, the failing one included
    is_unknown: bool = False  #: whether the failing literal negates what an open world leaves unknown

    def lines(self) -> Iterator[str]:
        """The grounding for a person to read."""
        yield f"nearest is {self.rule}"
        yield from _where(self.bindings.items())
        for literal in self.held:
            yield f"    {literal}  holds"
        if self.failing.is_builtin:
            why = "it is not so"
        elif self.is_unknown:
            why = "the world is open, and no fact denies the atom"
        elif self.failing.negated:
            why = "it does hold"
        else:
            why = "no fact states it and no rule derives it"
        yield f"    {self.failing}  fails: {why}"


class Search:
    """Finds the groundings of a rule, depth first: its atoms as written, then negations and comparisons.

    Parameters
    ----------
    index, model
        The facts, and how probable each is.
    max_steps
        After how many partial groundings to give up: a rule may have more than
        anyone can look at.
    """

    def __init__(self, index: FactIndex, model: Model, max_steps: int = 100_000) -> None:
        self.index, self.model, self.max_steps = index, model, max_steps

    def groundings(self, rule: Rule, bindings: Bindings, partials: list[Partial]) -> Iterator[Bindings]:
        """What the variables stand for where the whole body holds, one grounding at a time.

        Parameters
        ----------
        bindings
            What some of the variables stand for.
        partials
            The list that the partial grounding which gets furthest is put into.
        """
        literals = sorted(rule.body, key=lambda literal: (literal.is_builtin, literal.negated))
        stack: list[Iterator[Bindings]] = [iter([bindings])]
        steps = 0
        while stack and steps < self.max_steps:
            current = next(stack[-1], None)
            if current is None:
                stack.pop()
                continue
            steps += 1
            depth = len(stack) - 1
            if depth == len(literals):
                yield current
                continue
            extended = self._extend(literals[depth], current)
            first = next(extended, None)
            if first is None:
                self._note(rule, literals, depth, current, partials)
            else:
                stack.append(chain([first], extended))

    def _extend(self, literal: Literal, bindings: Bindings) -> Iterator[Bindings]:
        atom = literal.atom.substitute(bindings)
        if literal.is_builtin:
            if comparison_holds(atom) != literal.negated:
                yield bindings
        elif literal.negated:
            if self.model.negation(atom) > 0:
                yield bindings
        else:
            for found in self.index.matches(atom):
                yield {**bindings, **found}

    def _note(
        self, rule: Rule, literals: list[Literal], depth: int, bindings: Bindings, partials: list[Partial]
    ) -> None:
        remaining = len(literals) - depth
        if partials and (partials[0].remaining, -len(partials[0].held)) <= (remaining, -depth):
            return
        ground = [Literal(item.atom.substitute(bindings), item.negated) for item in literals[: depth + 1]]
        failing = ground[-1]
        unknown = failing.negated and not failing.is_builtin and self.model.probability(failing.atom) < 1
        partials[:] = [Partial(rule, dict(bindings), tuple(ground[:-1]), failing, remaining, unknown)]


@dataclass(frozen=True)
class Premise:
    """A literal that a rule uses, with its constants put in."""

    literal: Literal
    probability: float
    why: str  #: stated, derived, not known, denied, less than certain, or compared
    explanation: Explanation | None = None  #: of a derived atom, some levels deep

    def lines(self) -> Iterator[str]:
        """The premise for a person to read."""
        yield f"{self.literal}  ({self.why}{_chance(self.probability)})"
        if self.explanation is not None:
            for line in islice(self.explanation.lines(), 1, None):
                yield f"  {line}"


@dataclass(frozen=True)
class Firing:
    """A rule that derives the atom, with what its variables stand for."""

    rule: Rule
    bindings: tuple[tuple[Variable, Constant], ...]
    premises: tuple[Premise, ...]
    probability: float

    def lines(self) -> Iterator[str]:
        """The firing for a person to read."""
        yield f"by {self.rule}"
        yield from _where(self.bindings)
        for premise in self.premises:
            for line in premise.lines():
                yield f"    {line}"


@dataclass(frozen=True)
class Explanation:
    """Why an atom holds: stated, or derived by these rules; or the rule that comes nearest.

    In an open world an atom that is not denied is not said to be false, but unknown.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_program
    >>> facts = FactBase.from_facts([parse_atom("p(a, b)"), parse_atom("q(b)")])
    >>> rules = parse_program("h(X) :- p(X, Y), q(Y).")
    >>> print(explain(rules, facts, parse_atom("h(a)")))
    h(a) is derived
      by h(X) :- p(X, Y), q(Y).
        where X = a, Y = b
          p(a, b)  (stated)
          q(b)  (stated)
    >>> print(explain(rules, facts, parse_atom("h(b)")))
    h(b) does not hold
      nearest is h(X) :- p(X, Y), q(Y).
        where X = b
          p(b, Y)  fails: no fact states it and no rule derives it
    """

    atom: Atom
    probability: float
    is_stated: bool
    firings: tuple[Firing, ...] = ()
    nearest: Partial | None = None
    remark: str = ""  #: what else there is to say
    is_unknown: bool = False  #: whether neither the atom nor its negation holds

    def lines(self) -> Iterator[str]:
        """The explanation for a person to read, line by line."""
        how = [name for name, holds in (("stated", self.is_stated), ("derived", bool(self.firings))) if holds]
        otherwise = "is unknown" if self.is_unknown else "does not hold"
        yield f"{self.atom} " + (f"is {' and '.join(how)}{_chance(self.probability)}" if how else otherwise)
        for firing in self.firings:
            for line in firing.lines():
                yield f"  {line}"
        if self.nearest is not None:
            for line in self.nearest.lines():
                yield f"  {line}"
        if self.remark:
            yield f"  {self.remark}"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def as_dict(self) -> dict[str, Any]:
        """The explanation as plain values, for JSON."""
        return {
            "atom": str(self.atom),
            "holds": self.probability > 0.5,
            "probability": self.probability,
            "stated": self.is_stated,
            "unknown": self.is_unknown,
            "firings": [
                {
                    "rule": str(firing.rule),
                    "bindings": {variable.name: constant.value for variable, constant in firing.bindings},
                    "probability": firing.probability,
                    "premises": [
                        {
                            "literal": str(premise.literal),
                            "probability": premise.probability,
                            "why": premise.why,
                            "explanation": premise.explanation and premise.explanation.as_dict(),
                        }
                        for premise in firing.premises
                    ],
                }
                for firing in self.firings
            ],
            "nearest": self.nearest
            and {
                "rule": str(self.nearest.rule),
                "bindings": {variable.name: c.value for variable, c in self.nearest.bindings.items()},
                "held": list(map(str, self.nearest.held)),
                "failing": str(self.nearest.failing),
            },
            "remark": self.remark,
        }


def explain(program: Program, facts: FactBase, atom: Atom, *, limit: int = 3, depth: int = 3) -> Explanation:
    """Say why a ground atom holds, or which rule comes nearest to deriving it.

    For more than one atom make an `Explainer` once.

    Parameters
    ----------
    limit
        How many groundings of each rule to show.
    depth
        How many levels of derived premises to explain in turn, by one rule each.

    Raises
    ------
    LogicError
        Where the atom has a variable or is a comparison.
    """
    return Explainer(program, facts).explain(atom, limit=limit, depth=depth)


class Explainer:
    """Explains the atoms of one program over one set of facts.

    Parameters
    ----------
    model
        What holds, where it is known already.
    """

    def __init__(self, program: Program, facts: FactBase, model: Model | None = None) -> None:
        self._facts = facts
        self._model = infer(program, facts) if model is None else model
        search = Search(FactIndex(self._model.facts), self._model)
        self._rules = [(rule, search) for rule in program]
        self._ranges = _free_ranges(program, facts, background=False)
        if len(facts.rules):  # they were run first, over the facts alone
            given = replace(facts, constants=self._model.stated.constants, rules=Program())
            before = replace(self._model, stated=given, derived=self._model.stated)
            search = Search(FactIndex(before.facts), before)
            self._rules = [*((rule, search) for rule in facts.rules), *self._rules]
            self._ranges = _free_ranges(facts.rules, facts, background=True) | self._ranges

    def explain(self, atom: Atom, *, limit: int = 3, depth: int = 3) -> Explanation:
        """Say why a ground atom holds, or which rule comes nearest to deriving it."""
        if atom.variables or atom.is_builtin:
            raise LogicError(f"{atom} cannot be explained: give an atom of a relation without variables")
        return self._explain(atom, limit, depth, frozenset())

    def _explain(self, atom: Atom, limit: int, depth: int, above: frozenset[Atom]) -> Explanation:
        above |= {atom}
        partials: list[Partial] = []
        firings: list[Firing] = []
        for rule, search in self._rules:
            bindings = _bind(rule.head, atom.args) if rule.head.key == atom.key else None
            if bindings is not None and all(bindings[v] in some for v, some in self._ranges[rule].items()):
                found = search.groundings(rule, bindings, partials)
                firings += islice(self._fire(rule, found, search.model, depth, above), limit)
        firings.sort(key=lambda firing: -firing.probability)
        probability = self._model.probability(atom)
        if probability > 0:
            return Explanation(atom, probability, atom in self._facts, tuple(firings))
        nearest = partials[0] if partials else None
        return Explanation(
            atom,
            0.0,
            is_stated=False,
            nearest=nearest,
            remark=self._remark(atom),
            is_unknown=self._model.truth(atom) is None,
        )

    def _fire(
        self, rule: Rule, found: Iterator[Bindings], model: Model, depth: int, above: frozenset[Atom]
    ) -> Iterator[Firing]:
        for bindings in found:
            body = rule.substitute(bindings).body
            # What needs the atom itself explains nothing.
            if any(literal.binds and literal.atom in above for literal in body):
                continue
            premises = tuple(self._premise(literal, model, depth, above) for literal in body)
            value = min([rule.probability, *(premise.probability for premise in premises)])
            if value > 0:
                yield Firing(rule, tuple(bindings.items()), premises, value)

    def _premise(self, literal: Literal, model: Model, depth: int, above: frozenset[Atom]) -> Premise:
        if literal.is_builtin:
            return Premise(literal, 1.0, "compared")
        probability = model.probability(literal.atom)
        if literal.negated:
            absent = "not known" if model.stated.world == "closed" else "denied"
            why = absent if probability == 0 else "less than certain"
            return Premise(literal, model.negation(literal.atom), why)
        if literal.atom in self._facts:
            return Premise(literal, probability, "stated")
        inner = self._explain(literal.atom, 1, depth - 1, above) if depth > 1 else None
        # One firing is enough below the top.
        return Premise(literal, probability, "derived", inner and replace(inner, firings=inner.firings[:1]))

    def _remark(self, atom: Atom) -> str:
        if all(rule.head.key != atom.key for rule, _ in self._rules):
            return f"no rule defines {atom.predicate}/{atom.arity}, and no fact states the atom"
        unknown = [str(c) for c in atom.args if isinstance(c, Constant) and self._facts.code(c.value) is None]
        return f"no fact mentions {', '.join(unknown)}" if unknown else ""


def _free_ranges(
    program: Program, facts: FactBase, *, background: bool
) -> dict[Rule, dict[Variable, frozenset[Constant]]]:
    """For each rule, what the variables may stand for that its head alone has.

    Parameters
    ----------
    background
        Whether the rules came with the facts, so that they do not see what these rules derive.
    """
    free = {rule: unsafe_variables(rule) for rule in program}
    if not any(free.values()):
        return {rule: {} for rule in program}
    known = replace(facts, rules=Program()) if background else materialise(facts)
    found: dict[Rule, dict[Variable, frozenset[Constant]]] = {}
    for rule, variables in free.items():
        found[rule] = {}
        for arg, codes in zip(rule.head.args, argument_domains(known, rule.head.key), strict=True):
            if isinstance(arg, Variable) and arg in variables:
                some = frozenset(Constant(known.constants[code]) for code in codes)
                found[rule][arg] = some & found[rule].get(arg, some)
    return found


def _where(bindings: Iterable[tuple[Variable, Constant]]) -> Iterator[str]:
    """The line that says what variables stand for, if there are any."""
    if values := ", ".join(f"{variable} = {constant}" for variable, constant in bindings):
        yield f"  where {values}"


def _chance(probability: float) -> str:
    return "" if probability == 1 else f", probability {probability:.4g}"
