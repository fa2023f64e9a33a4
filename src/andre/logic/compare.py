"""Comparison of rules and programs: theta-subsumption, differences, and merging without duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from andre.logic.atom import Atom, Literal, Term, Variable
from andre.logic.program import Program
from andre.logic.rule import Rule

_Bindings = dict[Variable, Term]
#: How many pairs of literals are compared at most to decide whether one rule subsumes another.
_MOST_COMPARED = 1_000_000


def subsumes(general: Rule, specific: Rule) -> bool:
    """Whether one rule theta-subsumes another: some substitution makes it a subset of the other.

    The general rule then derives everything that the specific one does. Literals are
    compared as written: `X < Y` is not found in `Y > X`.

    Examples
    --------
    >>> from andre.logic.parse import parse_rule
    >>> subsumes(parse_rule("h(X) :- p(X, Y)"), parse_rule("h(A) :- p(A, A), q(A)"))
    True
    >>> subsumes(parse_rule("h(A) :- p(A, A), q(A)"), parse_rule("h(X) :- p(X, Y)"))
    False
    """
    return subsumption(general, specific) is not None


def subsumption(general: Rule, specific: Rule) -> dict[Variable, Term] | None:
    """The substitution by which one rule theta-subsumes another, or None.

    The search is given up after a million comparisons of literals: whether a
    long rule subsumes another can take longer than anyone would wait.
    """
    bindings = _match(general.head, specific.head, {})
    if bindings is None:
        return None
    stack = [iter([(frozenset(general.body), bindings)])]
    targets, compared = frozenset(specific.body), 0
    while stack and compared < _MOST_COMPARED:
        step = next(stack[-1], None)
        if step is None:
            stack.pop()
            continue
        remaining, bindings = step
        if not remaining:
            return bindings
        compared += len(remaining) * len(targets)
        # The literal with the fewest images first: one without images ends the branch at once.
        literal, images = min(
            ((literal, list(_images(literal, targets, bindings))) for literal in remaining),
            key=lambda choice: len(choice[1]),
        )
        rest = remaining - {literal}
        stack.append(iter([(rest, image) for image in images]))
    return None


def _images(literal: Literal, targets: frozenset[Literal], bindings: _Bindings) -> Iterator[_Bindings]:
    """The extensions of the bindings that make the literal one of the targets."""
    for target in targets:
        if literal.negated == target.negated:
            extended = _match(literal.atom, target.atom, bindings)
            if extended is not None:
                yield extended


def _match(pattern: Atom, target: Atom, bindings: _Bindings) -> _Bindings | None:
    if pattern.key != target.key:
        return None
    extended = dict(bindings)
    for arg, term in zip(pattern.args, target.args, strict=True):
        # The target's variables stand for themselves, whatever their names.
        image = extended.setdefault(arg, term) if isinstance(arg, Variable) else arg
        if image != term:
            return None
    return extended


@dataclass(frozen=True)
class Difference:
    """What changed from an old program to a new one, rule by rule.

    A rule that is neither gained nor lost but reworked has a counterpart that
    it subsumes or that subsumes it.
    """

    gained: tuple[Rule, ...]
    lost: tuple[Rule, ...]
    reworked: tuple[tuple[Rule, Rule], ...]  #: as (old, new)
    rescored: tuple[tuple[Rule, Rule], ...]  #: as (old, new): the same rule with other evidence
    same: tuple[Rule, ...]

    @property
    def is_empty(self) -> bool:
        """Whether both programs have the same rules, whatever their evidence."""
        return not (self.gained or self.lost or self.reworked)


def difference(old: Program, new: Program) -> Difference:
    """The rules gained, lost, reworked and kept between two programs.

    Examples
    --------
    >>> from andre.logic.parse import parse_program
    >>> old = parse_program("h(X) :- p(X). h(X) :- q(X).")
    >>> new = parse_program("h(X) :- p(X), r(X). h(Y) :- q(Y). h(X) :- s(X).")
    >>> found = difference(old, new)
    >>> print(*found.gained, *(f"{one} {two}" for one, two in found.reworked), sep=" | ")
    h(X) :- s(X). | h(X) :- p(X). h(X) :- p(X), r(X).
    """
    # Of a rule that occurs twice the first occurrence counts, as in `merge_programs`.
    before, after = ({rule: rule for rule in dict.fromkeys(program)} for program in (old, new))
    lost = [rule for rule in before if rule not in after]
    gained = [rule for rule in after if rule not in before]
    reworked = []
    for rule in list(lost):
        match = next((other for other in gained if subsumes(rule, other) or subsumes(other, rule)), None)
        if match is not None:
            reworked.append((rule, match))
            lost.remove(rule)
            gained.remove(match)
    kept = [(rule, after[rule]) for rule in before if rule in after]
    rescored = [(one, two) for one, two in kept if one.evidence != two.evidence]
    same = [two for one, two in kept if one.evidence == two.evidence]
    return Difference(tuple(gained), tuple(lost), tuple(reworked), tuple(rescored), tuple(same))


def merge_programs(programs: Iterable[Program], *, subsumed: bool = False) -> Program:
    """The rules of several programs, each once; of equal rules the first stays, with its evidence.

    Parameters
    ----------
    subsumed
        Whether to keep rules that a more general rule subsumes.

    Examples
    --------
    >>> from andre.logic.parse import parse_program
    >>> print(merge_programs([parse_program("h(X) :- p(X)."), parse_program("h(Y) :- p(Y), q(Y).")]))
    h(X) :- p(X).
    """
    rules = list(dict.fromkeys(rule for program in programs for rule in program))
    if not subsumed:
        rules = [
            rule
            for place, rule in enumerate(rules)
            # Of rules that subsume each other the likeliest stays, then the first.
            if not any(
                subsumes(other, rule)
                and (other.probability > rule.probability or not subsumes(rule, other) or at < place)
                for at, other in enumerate(rules)
                if at != place and other.probability >= rule.probability
            )
        ]
    return Program(tuple(rules))
