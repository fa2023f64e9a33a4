"""The library's own errors; each message is one sentence for the user."""

from __future__ import annotations

from collections.abc import Iterable


class AndreError(ValueError):
    """A mistake that the user can correct: the message says what is wrong, where, and what to do.

    The command line prints it as one line and exits with status 2.
    """


class LogicError(AndreError):
    """A term, rule or program that cannot be read or that has no meaning."""


class DataError(AndreError):
    """Facts, tables or labels that cannot be learned from as they are."""


class MemoryLimitError(DataError):
    """Work that needs more memory than the limit allows."""


class OutOfTimeError(AndreError):
    """The time limit passed before there was any result.

    Raised by `andre.limits.check` during work, and caught by stages that have a best result so far.
    """


class WorkersLostError(AndreError):
    """Worker processes have died, or the connection to a cluster is lost."""


class StoppedError(Exception):
    """Ctrl-C has ended a command that has no result yet."""


class ConfigError(AndreError):
    """A setting that is out of range or does not exist."""


class CheckpointError(AndreError):
    """A saved model or checkpoint that is damaged or does not match."""


class AndreWarning(UserWarning):
    """A problem that does not stop the work; the command line prints it as one line."""


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
    """A user's text as an error message quotes it, cut to its first characters.

    Examples
    --------
    >>> shorten("a long text", 6)
    'a long...'
    """
    return text if len(text) <= most else text[:most] + "..."


def type_of(value: object) -> str:
    """The type of a value with its article, for an error message.

    Examples
    --------
    >>> type_of(3), type_of([])
    ('an int', 'a list')
    """
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
