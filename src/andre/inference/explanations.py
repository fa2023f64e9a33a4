"""Explanations: the rules and facts by which an atom holds, or the rule that comes closest to deriving it.

An explanation needs only a few groundings of a rule for one atom, as soon as they
are found, and the literal at which other groundings fail. So rules are searched
literal by literal, depth first (`groundings`), unlike in `bodies`, which finds all heads at once.
No explanation is circular (`proofs`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from andre.errors import ConfigError, LogicError
from andre.facts import FactBase, argument_domains
from andre.inference.groundings import (
    MOST_STEPS,
    Bindings,
    FactIndex,
    Partial,
    Search,
    bind,
    binding_lines,
)
from andre.inference.model import Model
from andre.inference.proofs import Body, proof_ranks
from andre.inference.run import as_program, infer, materialise
from andre.logic import Atom, Constant, Literal, Program, Rule, Variable, parse_atom, unsafe_variables

#: The largest number of levels of premises that are explained.
_DEEPEST = 100
#: The largest number of partial groundings that are searched to exclude circular proofs.
_STEPS = 20_000


@dataclass(frozen=True)
class Premise:
    """A ground literal of a rule that fires."""

    literal: Literal
    probability: float
    why: str  #: stated, derived, not known, denied, less than certain, or compared
    explanation: Explanation | None = None  #: of a derived atom, to a limited depth

    def lines(self) -> Iterator[str]:
        """The premise as lines of text."""
        yield f"{self.literal}  ({self.why}{_chance(self.probability)})"
        if self.explanation is not None:
            for line in islice(self.explanation.lines(), 1, None):
                yield f"  {line}"


@dataclass(frozen=True)
class Firing:
    """A rule that derives the atom, with the bindings of its variables."""

    rule: Rule
    bindings: tuple[tuple[Variable, Constant], ...]
    premises: tuple[Premise, ...]
    probability: float

    def lines(self) -> Iterator[str]:
        """The firing as lines of text."""
        yield f"by {self.rule}"
        yield from binding_lines(self.bindings)
        for premise in self.premises:
            for line in premise.lines():
                yield f"    {line}"


@dataclass(frozen=True)
class Explanation:
    """Why an atom holds: it is stated, or derived by these rules; if it does not, the closest rule.

    In an open world an atom that is not denied is unknown, not false.

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
    remark: str = ""  #: a further hint, such as a constant that occurs in no fact
    is_unknown: bool = False  #: whether neither the atom nor its negation holds

    def lines(self) -> Iterator[str]:
        """The explanation as lines of text."""
        derived = bool(self.firings) or (self.probability > 0 and not self.is_stated)
        how = [name for name, holds in (("stated", self.is_stated), ("derived", derived)) if holds]
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

    def __repr__(self) -> str:
        return f"Explanation({next(self.lines())})"

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


def explain(
    program: Program | str, facts: FactBase, atom: Atom | str, *, limit: int = 3, depth: int = 3
) -> Explanation:
    """Explain why a ground atom holds, or which rule comes closest to deriving it.

    For more than one atom make an `Explainer` once.

    Parameters
    ----------
    program, facts, atom
        As for `infer`; program and atom may be Prolog text.
    limit
        How many groundings of each rule to show.
    depth
        How many levels of derived premises to explain, too, by one rule each.

    Raises
    ------
    LogicError
        Where the atom has a variable or is a comparison.
    ConfigError
        Where more than a hundred levels are asked for.
    """
    asked = parse_atom(atom) if isinstance(atom, str) else atom
    return Explainer(as_program(program), facts).explain(asked, limit=limit, depth=depth)


@dataclass(frozen=True)
class _Above:
    """The atoms that an explanation is for, directly or not, which it must not use."""

    atoms: frozenset[Atom]  #: the chain of atoms that are being explained
    ranks: Mapping[Atom, int] | None = None  #: of proofs without the first of them, if these are known

    def is_circle(self, atom: Atom, derived: Body) -> bool:
        """Whether derived premises of an atom depend on the atom itself, or on one above it."""
        if self.ranks is None:
            return not derived.isdisjoint(self.atoms)
        highest = self.ranks.get(atom, len(self.ranks))  # any proof without the first atom will do for it
        return any(self.ranks.get(premise, highest) >= highest for premise in derived)


def _truth(literal: Literal, model: Model) -> float:
    """The probability of a ground literal that holds."""
    if literal.is_builtin:
        return 1.0
    return model.negation(literal.atom) if literal.negated else model.probability(literal.atom)


class Explainer:
    """Explains the atoms of one program over one set of facts.

    Parameters
    ----------
    model
        The model of the program, if it has been computed already.
    max_steps
        After how many partial groundings the search for those of a rule stops.
    """

    def __init__(
        self, program: Program, facts: FactBase, model: Model | None = None, *, max_steps: int = MOST_STEPS
    ) -> None:
        self._facts = facts
        self._model = infer(program, facts) if model is None else model
        search = Search(FactIndex(self._model.facts), self._model, max_steps)
        self._rules = [(rule, search) for rule in program]
        self._ranges = _free_ranges(program, facts, background=False)
        if len(facts.rules):  # these were run first, over the facts alone
            given = replace(facts, constants=self._model.stated.constants, rules=Program())
            before = replace(self._model, stated=given, derived=self._model.stated)
            search = Search(FactIndex(before.facts), before, max_steps)
            self._rules = [*((rule, search) for rule in facts.rules), *self._rules]
            self._ranges = _free_ranges(facts.rules, facts, background=True) | self._ranges
        self._bodies: dict[Atom, list[Body]] = {}

    def explain(self, atom: Atom, *, limit: int = 3, depth: int = 3) -> Explanation:
        """Explain why a ground atom holds, or which rule comes closest to deriving it."""
        if atom.variables or atom.is_builtin:
            raise LogicError(f"{atom} cannot be explained: give an atom of a relation without variables")
        if depth > _DEEPEST:
            raise ConfigError(f"{depth} levels of premises are too many to read: explain {_DEEPEST} or fewer")
        return self._explain(atom, limit, depth, _Above(frozenset()))

    def _explain(self, atom: Atom, limit: int, depth: int, above: _Above) -> Explanation:
        above = replace(above, atoms=above.atoms | {atom})
        partials: list[Partial] = []
        firings: list[Firing] = []
        for rule, search, found in self._groundings(atom, partials):
            firings += islice(self._fire(atom, rule, found, search.model, depth, above), limit)
        firings.sort(key=lambda firing: -firing.probability)
        probability = self._model.probability(atom)
        if probability > 0:
            is_stated = atom in self._facts
            lost = "" if firings or is_stated else "by more groundings than are looked at here"
            return Explanation(atom, probability, is_stated, tuple(firings), remark=lost)
        nearest = partials[0] if partials else None
        return Explanation(
            atom,
            0.0,
            is_stated=False,
            nearest=nearest,
            remark=self._remark(atom),
            is_unknown=self._model.truth(atom) is None,
        )

    def _groundings(
        self, atom: Atom, partials: list[Partial]
    ) -> Iterator[tuple[Rule, Search, Iterator[Bindings]]]:
        """The rules that may derive an atom, each with its groundings for the atom."""
        for rule, search in self._rules:
            bindings = bind(rule.head, atom.args) if rule.head.key == atom.key else None
            if bindings is not None and all(bindings[v] in some for v, some in self._ranges[rule].items()):
                yield rule, search, search.groundings(rule, bindings, partials)

    def _supporting(self, atom: Atom) -> list[Body] | None:
        """The derived atoms in each grounding that gives an atom its probability; None after a long search.

        The list is empty for an atom that is stated, or derived in no way that was found.
        """
        if atom in self._facts:
            return []
        if atom not in self._bodies:
            if sum({id(search): search.steps for _, search in self._rules}.values()) > _STEPS:
                return None
            self._bodies[atom] = list(self._found_bodies(atom))
        return self._bodies[atom]

    def _found_bodies(self, atom: Atom) -> Iterator[Body]:
        """The derived atoms of supporting groundings, up to the first grounding that needs none."""
        chance = self._model.probability(atom)
        for rule, search, found in self._groundings(atom, []):
            for bindings in found:
                body = rule.substitute(bindings).body
                if min([rule.probability, *(_truth(literal, search.model) for literal in body)]) >= chance:
                    derived = frozenset(one.atom for one in body if one.binds) - self._stated(body)
                    yield derived
                    if not derived:
                        return

    def _stated(self, body: tuple[Literal, ...]) -> Body:
        return frozenset(one.atom for one in body if one.binds and one.atom in self._facts)

    def _fire(
        self, atom: Atom, rule: Rule, found: Iterator[Bindings], model: Model, depth: int, above: _Above
    ) -> Iterator[Firing]:
        for bindings in found:
            body = rule.substitute(bindings).body
            derived = frozenset(one.atom for one in body if one.binds) - self._stated(body)
            within = above
            if len(above.atoms) == 1:
                within = replace(above, ranks=proof_ranks(derived, atom, self._supporting))
            if within.is_circle(atom, derived):  # such a grounding explains nothing
                continue
            premises = tuple(self._premise(literal, model, depth, within) for literal in body)
            value = min([rule.probability, *(premise.probability for premise in premises)])
            if value > 0:
                yield Firing(rule, tuple(bindings.items()), premises, value)

    def _premise(self, literal: Literal, model: Model, depth: int, above: _Above) -> Premise:
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
        # Below the top level, one firing is enough.
        return Premise(literal, probability, "derived", inner and replace(inner, firings=inner.firings[:1]))

    def _remark(self, atom: Atom) -> str:
        if all(rule.head.key != atom.key for rule, _ in self._rules):
            return f"no rule defines {atom.predicate}/{atom.arity}, and no fact states the atom"
        unknown = [str(c) for c in atom.args if isinstance(c, Constant) and self._facts.code(c.value) is None]
        return f"no fact mentions {', '.join(unknown)}" if unknown else ""


def _free_ranges(
    program: Program, facts: FactBase, *, background: bool
) -> dict[Rule, dict[Variable, frozenset[Constant]]]:
    """For each rule, the constants that the variables which occur only in its head range over.

    Parameters
    ----------
    background
        Whether the rules are those of the facts, which do not see what they derive.
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


def _chance(probability: float) -> str:
    return "" if probability == 1 else f", probability {probability:.4g}"
