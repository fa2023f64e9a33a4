"""The language bias that a Popper folder brings along."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Bias"]


@dataclass(frozen=True)
class Bias:
    """What `bias.pl` says about the programs to look for.

    None, or nothing, stands for what the file leaves open.

    Examples
    --------
    >>> Bias(head=(("grandparent", 2),), body=(("parent", 2),), max_vars=3).max_vars
    3
    """

    head: tuple[tuple[str, int], ...] = ()  #: head_pred(Name, Arity)
    body: tuple[tuple[str, int], ...] = ()  #: body_pred(Name, Arity)
    max_vars: int | None = None
    max_body: int | None = None
    max_clauses: int | None = None
    types: tuple[tuple[str, tuple[str, ...]], ...] = ()  #: type(Name, (T1, ..., Tn))
    directions: tuple[tuple[str, tuple[str, ...]], ...] = ()  #: direction(Name, (in, out, ...))
    enable_recursion: bool = False
    enable_pi: bool = False
    allow_singletons: bool = False
