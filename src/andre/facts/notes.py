"""What a reader noticed on the way: worth saying, no reason to stop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Notes"]


@dataclass(frozen=True)
class Notes:
    """Things a reader found and dealt with.

    Examples
    --------
    >>> print(*Notes(duplicates=2, unary=("person",)), sep="\\n")
    2 facts are stated more than once: each counts once
    person is read as unary: all its facts have two equal arguments
    """

    duplicates: int = 0  #: rows that repeat a fact
    overlaps: int = 0  #: facts that stand in more than one of train, valid, test
    unary: tuple[str, ...] = ()  #: relations read as unary
    directives: int = 0  #: Prolog directives passed over
    settings: tuple[str, ...] = ()  #: lines of a language bias passed over
    remarks: tuple[str, ...] = ()  #: what else is worth knowing, one sentence each

    def __iter__(self) -> Iterator[str]:
        if self.duplicates:
            yield f"{_facts(self.duplicates)} stated more than once: each counts once"
        if self.overlaps:
            yield (
                f"{_facts(self.overlaps)} in more than one of train, valid and test: "
                "they count for the last of these only"
            )
        if self.unary:
            names = ", ".join(self.unary)
            verb, whose = ("is", "its") if len(self.unary) == 1 else ("are", "their")
            yield f"{names} {verb} read as unary: all {whose} facts have two equal arguments"
        if self.directives:
            what = "directive is" if self.directives == 1 else "directives are"
            yield f"{self.directives} Prolog {what} passed over: only facts and rules are read"
        if self.settings:
            yield f"{', '.join(self.settings)} in bias.pl passed over: no such setting is known here"
        yield from self.remarks


def _facts(count: int) -> str:
    return f"{count} {'fact is' if count == 1 else 'facts are'}"
