"""Programs: sets of rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from andre.logic.rule import Rule
from andre.logic.spelling import counted

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class Program:
    """Rules that together define their heads.

    Programs are equal as sets of rules, which are equal up to the names of
    variables and the order of literals.

    Examples
    --------
    >>> from andre.logic.atom import Atom, Literal
    >>> h, b1, b2 = Atom("h"), Literal(Atom("b1")), Literal(Atom("b2"))
    >>> program = Program((Rule(h, (b1,)), Rule(h, (~b2,))))
    >>> print(program)
    h :- b1.
    h :- \\+ b2.
    >>> program == Program(tuple(reversed(program.rules)))
    True
    """

    rules: tuple[Rule, ...] = ()

    @property
    def n_literals(self) -> int:
        """The number of literals in all bodies together."""
        return sum(len(rule.body) for rule in self.rules)

    def to_frame(self) -> DataFrame:
        """One row per rule and split: rule, support, N_b, N_r, confidence, split; needs pandas."""
        from andre.logic.writers.table import to_frame  # noqa: PLC0415  (it imports this module)

        return to_frame(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from andre.logic.writers.table import program_html  # noqa: PLC0415  (it imports this module)

        return program_html(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        return frozenset(self.rules) == frozenset(other.rules)

    def __hash__(self) -> int:
        return hash(frozenset(self.rules))

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def to_prolog(self) -> str:
        """The rules as Prolog, each with its evidence above it as a comment.

        Examples
        --------
        >>> from andre.logic import parse_program
        >>> print(parse_program("h :- b1.").to_prolog(), end="")
        h :- b1.
        """
        from andre.logic.writers.prolog import to_prolog  # noqa: PLC0415  (it imports this module)

        return to_prolog(self)

    def __repr__(self) -> str:
        more = " ..." if len(self.rules) > 1 else ""
        first = f": {self.rules[0]}{more}" if self.rules else ""
        return f"Program({counted(len(self.rules), 'rule')}{first})"

    def __str__(self) -> str:
        return "\n".join(map(str, self.rules))
