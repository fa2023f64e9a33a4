"""Rules with their evidence, the counts of examples for which body and head hold; safety of rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from andre.errors import LogicError
from andre.logic.atom import Atom, Literal, Term, Variable
from andre.logic.spelling import format_count, spell_number
from andre.logic.variants import Encoding, encode

_MOST = 1e300  # above it, sums and ratios of counts are not finite


@dataclass(frozen=True, slots=True)
class Evidence:
    """The number of examples of one split for which a rule's body holds, and its head, too.

    Examples
    --------
    >>> Evidence("train", n_b=219, n_r=215).confidence
    0.9817...
    """

    split: str
    n_b: float  #: examples whose body holds
    n_r: float  #: examples whose body and head both hold

    def __post_init__(self) -> None:
        if not (0 <= self.n_b < _MOST and 0 <= self.n_r < _MOST):  # nor is NaN
            raise LogicError(f"N_b and N_r of {self.split} count examples: give numbers of 0 or more")

    @property
    def confidence(self) -> float:
        """N_r / N_b; 0 for a body that never holds."""
        return self.n_r / self.n_b if self.n_b else 0.0

    def __str__(self) -> str:
        counts = f"N_b={format_count(self.n_b)}, N_r={format_count(self.n_r)}"
        return f"{self.split}: {counts}, N_r/N_b={self.confidence:.4f}"


@dataclass(frozen=True, eq=False)
class Rule:
    """A head that holds whenever its whole body does.

    Rules are equal up to the names of variables and the order of literals,
    whatever their evidence. The probability of a rule counts: it bounds the
    probability of the head, however probable the body.

    Examples
    --------
    >>> head, b1, b9 = Atom("h"), Literal(Atom("b1")), Literal(Atom("b9"))
    >>> print(Rule(head, (~b9, b1)))
    h :- b1, \\+ b9.
    >>> Rule(head, (~b9, b1)) == Rule(head, (b1, ~b9))
    True
    """

    head: Atom
    body: tuple[Literal, ...] = ()
    evidence: tuple[Evidence, ...] = field(default=(), repr=False)
    probability: float = field(default=1.0, repr=False)

    def __post_init__(self) -> None:
        if self.head.is_builtin:
            raise LogicError(f"{self.head} cannot be the head of a rule: no rule can change a comparison")
        if not 0.0 <= self.probability <= 1.0:
            raise LogicError(f"the probability {self.probability:g} of {self.head} is outside [0, 1]")

    @cached_property
    def _encoding(self) -> tuple[Encoding, float]:
        return encode(self.head, self.body), self.probability

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The distinct variables, the head's first."""
        found = dict.fromkeys(self.head.variables)
        for literal in self.body:
            found.update(dict.fromkeys(literal.variables))
        return tuple(found)

    @property
    def auxiliary_variables(self) -> tuple[Variable, ...]:
        """The variables of the body that the head does not have."""
        return self.variables[len(self.head.variables) :]

    @property
    def is_recursive(self) -> bool:
        """Whether the head's predicate also occurs in the body."""
        return any(literal.atom.key == self.head.key for literal in self.body)

    def on(self, split: str) -> Evidence | None:
        """The evidence on one split, or None if it was not counted."""
        return next((item for item in self.evidence if item.split == split), None)

    def with_evidence(self, *evidence: Evidence) -> Rule:
        """The same rule with other evidence."""
        return replace(self, evidence=evidence)

    def substitute(self, bindings: Mapping[Variable, Term]) -> Rule:
        """The rule, without its evidence, with variables replaced by terms."""
        body = tuple(Literal(lit.atom.substitute(bindings), lit.negated) for lit in self.body)
        return Rule(self.head.substitute(bindings), body, probability=self.probability)

    def tidy(self) -> Rule:
        """The same rule with its variables named X1, X2, ... in the order in which they occur.

        Examples
        --------
        >>> X, Y, U = map(Variable, ("X", "Y", "U"))
        >>> rule = Rule(Atom("h", (X, Y)), (Literal(Atom("p", (X, U))), Literal(Atom("q", (U, Y)))))
        >>> print(rule.tidy())
        h(X1, X2) :- p(X1, X3), q(X3, X2).
        """
        names = {variable: Variable(f"X{n}") for n, variable in enumerate(self.variables, start=1)}
        return replace(self.substitute(names), evidence=self.evidence)

    def unified(self) -> Rule:
        """The same rule without equalities: equal terms are replaced by one of them.

        Examples
        --------
        >>> X, Y, U = map(Variable, ("X", "Y", "U"))
        >>> body = (Atom("p", (X, U)), Atom("=", (Y, U)), Atom("q", (Y, X)))
        >>> print(Rule(Atom("h", (X,)), tuple(map(Literal, body))))
        h(X) :- p(X, U), q(Y, X), Y = U.
        >>> print(Rule(Atom("h", (X,)), tuple(map(Literal, body))).unified())
        h(X) :- p(X, U), q(U, X).
        """
        rule, heads = self, set(self.head.variables)
        while True:
            equal = next((lit for lit in rule.body if _is_unifier(lit)), None)
            if equal is None:
                return replace(rule, evidence=self.evidence)
            one, two = equal.atom.args
            if not isinstance(one, Variable) or (one in heads and isinstance(two, Variable)):
                one, two = two, one
            rest = tuple(lit for lit in rule.body if lit != equal)
            rule = Rule(rule.head, rest, probability=rule.probability)
            if one != two and isinstance(one, Variable):
                rule = rule.substitute({one: two})
                rule = replace(rule, body=tuple(dict.fromkeys(rule.body)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rule):
            return NotImplemented
        return self._encoding == other._encoding

    def __hash__(self) -> int:
        return hash(self._encoding)

    def __str__(self) -> str:
        # Positive literals bind the variables that other literals test, so they come first.
        ordered = sorted(self.body, key=lambda lit: (lit.is_builtin, lit.negated))
        head = str(self.head) if self.probability == 1 else f"{spell_number(self.probability)}::{self.head}"
        return f"{head} :- {', '.join(map(str, ordered))}." if ordered else f"{head}."


def _is_unifier(literal: Literal) -> bool:
    """Whether a literal equates a variable with another term, be it by denying that they differ."""
    return literal.atom.predicate == ("\\=" if literal.negated else "=") and bool(literal.variables)


def unsafe_variables(rule: Rule) -> tuple[Variable, ...]:
    """The variables that no positive body literal binds; a comparison binds none."""
    bound = {variable for literal in rule.body if literal.binds for variable in literal.variables}
    return tuple(variable for variable in rule.variables if variable not in bound)


def check_safe(rule: Rule) -> None:
    """Refuse an unsafe rule: one with a variable that no positive body literal binds.

    Raises
    ------
    LogicError
        Naming the variable and the rule.

    Examples
    --------
    >>> from andre.logic.parse import parse_rule
    >>> check_safe(parse_rule("h(X, Y) :- p(X)"))
    Traceback (most recent call last):
    ...
    andre.errors.LogicError: Y is free in 'h(X, Y) :- p(X).': add a positive body literal that binds it
    """
    _refuse_free(rule, unsafe_variables(rule))


def check_runnable(rule: Rule) -> None:
    """Refuse a rule that has a variable which neither its head nor a positive body literal has.

    A variable that only the head has ranges over the constants of its arguments, so
    that a rule may have no body, or one that only denies.

    Raises
    ------
    LogicError
        Naming the variable and the rule.

    Examples
    --------
    >>> from andre.logic.parse import parse_rule
    >>> check_runnable(parse_rule("h(X, Y, X) :- p(X)"))
    >>> check_runnable(parse_rule("h(X) :- p(X), X < Y"))
    Traceback (most recent call last):
    ...
    andre.errors.LogicError: Y is free in 'h(X) :- p(X), X < Y.': add a positive body literal that binds it
    """
    _refuse_free(rule, tuple(v for v in unsafe_variables(rule) if v not in rule.head.variables))


def _refuse_free(rule: Rule, free: tuple[Variable, ...]) -> None:
    if free:
        names = ", ".join(map(str, free))
        verb, it = ("is", "it") if len(free) == 1 else ("are", "them")
        raise LogicError(f"{names} {verb} free in '{rule}': add a positive body literal that binds {it}")
