"""What changed between two programs, and what two of them come to together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from andre.logic.program import Program
from andre.logic.rule import Rule
from andre.logic.subsumption import subsumes

__all__ = ["Difference", "difference", "merge_programs"]


@dataclass(frozen=True)
class Difference:
    """The rules that one program has and another has not.

    A rule is reworked where the other program has it with literals more or
    fewer; it is then neither gained nor lost.
    """

    gained: tuple[Rule, ...]
    lost: tuple[Rule, ...]
    reworked: tuple[tuple[Rule, Rule], ...]  #: old and new
    rescored: tuple[tuple[Rule, Rule], ...]  #: the same rule with other evidence, old and new
    same: tuple[Rule, ...]

    @property
    def is_empty(self) -> bool:
        """Whether both programs say the same, whatever their evidence."""
        return not (self.gained or self.lost or self.reworked)


def difference(old: Program, new: Program) -> Difference:
    """Compare two programs rule by rule, up to the names of variables.

    Examples
    --------
    >>> from andre.logic import parse_program
    >>> old = parse_program("h(X) :- p(X). h(X) :- q(X).")
    >>> new = parse_program("h(X) :- p(X), r(X). h(Y) :- q(Y). h(X) :- s(X).")
    >>> found = difference(old, new)
    >>> print(*found.gained, *(f"{one} {two}" for one, two in found.reworked), sep=" | ")
    h(X) :- s(X). | h(X) :- p(X). h(X) :- p(X), r(X).
    """
    # Of a rule that a program has twice the first counts, as in `merge_programs`.
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
    """All rules of several programs, each once; of equal ones the first is kept with its evidence.

    Parameters
    ----------
    subsumed
        Whether to keep rules that a more general one makes needless.

    Examples
    --------
    >>> from andre.logic import parse_program
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
