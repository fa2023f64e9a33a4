"""What comparisons between constants mean."""

from __future__ import annotations

import operator

from andre.errors import LogicError
from andre.logic.atom import Atom, Constant

__all__ = ["comparison_holds"]

_ORDERS = {"<": operator.lt, "=<": operator.le, ">": operator.gt, ">=": operator.ge}


def comparison_holds(atom: Atom) -> bool:
    """Whether a comparison of two constants holds.

    Equality is Prolog's unification, so 1 and 1.0 are not equal; order is
    between numbers, and no order holds where a name stands.

    Examples
    --------
    >>> comparison_holds(Atom("<", (Constant(1), Constant(2.5))))
    True
    >>> comparison_holds(Atom("<", (Constant("a"), Constant("b"))))
    False
    """
    left, right = atom.args
    if not (isinstance(left, Constant) and isinstance(right, Constant)):
        raise LogicError(f"{atom} cannot be decided: both sides must be constants")
    if atom.predicate in ("=", "\\="):
        return (left == right) == (atom.predicate == "=")
    if left.number is None or right.number is None:
        return False
    return bool(_ORDERS[atom.predicate](left.number, right.number))
