"""The library's own errors: every one is a sentence for the person who gets it."""

from __future__ import annotations

from collections.abc import Iterable


class AndreError(ValueError):
    """Something the user can mend: the message says what, where and what to do.

    The command line prints it as one line and exits with status 2.
    """


class LogicError(AndreError):
    """A term, rule or program that cannot be read or that has no meaning."""


class DataError(AndreError):
    """Facts, tables or labels that cannot be learned from as they are."""


class MemoryLimitError(DataError):
    """Facts whose census outgrows the memory that it may take."""


class OutOfTimeError(AndreError):
    """The time limit passed before there was anything to hand back.

    Raised by `andre.limits.check` in the midst of work, and caught by whatever has a best so far.
    """


class WorkersLostError(AndreError):
    """Processes that worked on tasks have died, or a cluster cannot be reached any more."""


class StoppedError(Exception):
    """Ctrl-C has ended a command that has nothing to hand back."""


class ConfigError(AndreError):
    """A setting out of its range, or one that does not exist."""


class CheckpointError(AndreError):
    """A saved model or checkpoint that is damaged or does not fit."""


class AndreWarning(UserWarning):
    """Something that went wrong beside the work, which goes on; the command line prints it as one line."""


def check_choice(name: str, given: object, choices: Iterable[str]) -> None:
    """Refuse a setting that is none of some words.

    Examples
    --------
    >>> check_choice("mode", "defin", ("define", "complete"))
    Traceback (most recent call last):
    ...
    andre.errors.ConfigError: mode is 'defin': choose define or complete
    """
    known = list(choices)
    if given not in known:
        raise ConfigError(f"{name} is {given!r}: choose {', '.join(known[:-1])} or {known[-1]}")


def shorten(text: str, most: int) -> str:
    """A text of the user's as an error quotes it: no more than its first characters.

    Examples
    --------
    >>> shorten("a long text", 6)
    'a long...'
    """
    return text if len(text) <= most else text[:most] + "..."


def type_of(value: object) -> str:
    """What a value is, with its article, for a sentence about it.

    Examples
    --------
    >>> type_of(3), type_of([])
    ('an int', 'a list')
    """
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
