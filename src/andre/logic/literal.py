"""Literals: an atom, or its negation."""

from __future__ import annotations

from dataclasses import dataclass

from andre.logic.atom import Atom, Variable

__all__ = ["Literal"]


@dataclass(frozen=True, slots=True)
class Literal:
    """An atom, or its negation.

    Examples
    --------
    >>> b = Literal(Atom("b1"))
    >>> print(b, ~b)
    b1 \\+ b1
    """

    atom: Atom
    negated: bool = False

    @property
    def is_builtin(self) -> bool:
        """Whether the atom is a comparison."""
        return self.atom.is_builtin

    @property
    def binds(self) -> bool:
        """Whether the literal gives its variables values: positive, and stated by facts."""
        return not (self.negated or self.is_builtin)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The distinct variables of the atom."""
        return self.atom.variables

    def __invert__(self) -> Literal:
        return Literal(self.atom, not self.negated)

    def __str__(self) -> str:
        return f"\\+ {self.atom}" if self.negated else str(self.atom)
