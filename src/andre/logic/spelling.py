"""Reading and writing names and numbers as Prolog spells them, and dates."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta

from andre.errors import LogicError

#: A quoted name, as a regular expression; the escapes \\x41\\ and \\101\\ end in a backslash.
QUOTED = r"'(?:[^'\\\n]|''|\\(?:x[0-9a-fA-F]+\\|[0-7]+\\|[^x0-7]))*+'"

#: Digits after a leading zero, as a regular expression: a code such as WordNet's 00260881, not a number.
CODE = r"-?0[0-9]+"

_CODE = re.compile(rf"{CODE}\Z")
_PLAIN_NAME = re.compile(r"[a-z][A-Za-z0-9_]*\Z")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<fraction>(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\Z")
_ESCAPE = re.compile(r"''|\\(?:x(?P<hex>[0-9a-fA-F]+)\\|(?P<octal>[0-7]+)\\|(?P<one>[\s\S]))")

_WRITTEN = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_READ = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
_READ |= {"s": " ", "\n": "", "\\": "\\", "'": "'", '"': '"', "`": "`"}

_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,6})?)?\Z", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_MOST_DIGITS = 4000  # Python itself refuses to read integers of more than 4,300


def is_plain_name(name: str) -> bool:
    """Whether Prolog reads the name as such without quotes."""
    return _PLAIN_NAME.match(name) is not None


def quote(name: str) -> str:
    """Write a name as a Prolog atom, in quotes only where Prolog needs them.

    Examples
    --------
    >>> print(quote("mother"), quote("Sepal Length"), quote("it's"))
    mother 'Sepal Length' 'it\\'s'
    """
    if is_plain_name(name):
        return name
    return "'" + "".join(map(_spell_letter, name)) + "'"


def _spell_letter(letter: str) -> str:
    if letter in _WRITTEN:
        return _WRITTEN[letter]
    # Control characters break lines in some readers; a lone surrogate fits no encoding.
    code = ord(letter)
    if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000 or code in (0x2028, 0x2029):
        return f"\\x{code:x}\\"
    return letter


def format_count(count: float, thousands: str = "") -> str:
    """A count or a sum of weights as text, with at most two decimals.

    Examples
    --------
    >>> format_count(33.03203641), format_count(1234567.0), format_count(1234567.5, ",")
    ('33.03', '1234567', '1,234,567.5')
    """
    return f"{count:,.2f}".rstrip("0").rstrip(".").replace(",", thousands)


def counted(number: int, thing: str) -> str:
    """A number of things as text, with the plural where it is due.

    Examples
    --------
    >>> counted(1, "rule"), counted(2000, "rule")
    ('1 rule', '2,000 rules')
    """
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def unquote(text: str) -> str:
    """The name that a text in single or double quotes stands for.

    Examples
    --------
    >>> unquote(r"'it\\'s'"), unquote("'it''s'"), unquote('"two words"')
    ("it's", "it's", 'two words')
    """
    inner = text[1:-1]
    return _ESCAPE.sub(_read_escape, inner) if "\\" in inner or "''" in inner else inner


def _read_escape(match: re.Match[str]) -> str:
    if match[0] == "''":
        return "'"
    if match["one"] is not None:
        if match["one"] not in _READ:
            raise LogicError(f"{match[0]} is no escape that Prolog knows: write \\\\ for a backslash")
        return _READ[match["one"]]
    code = int(match["hex"], 16) if match["hex"] else int(match["octal"], 8)
    if code > 0x10FFFF:
        raise LogicError(f"{match[0]} is no character: the last one is \\x10ffff\\")
    return chr(code)


def spell_number(value: float) -> str:
    """A number as Prolog writes it: whole numbers without a dot, others with one.

    Examples
    --------
    >>> print(spell_number(3), spell_number(3.0), spell_number(1e20))
    3 3.0 1.0e+20
    """
    text = repr(value)
    if "e" in text and "." not in text:  # Prolog wants a digit after a dot before the exponent
        mantissa, exponent = text.split("e")
        return f"{mantissa}.0e{exponent}"
    return text


def read_number(text: str) -> int | float | None:
    """The number that a text spells, or None if it is a name; digits after a leading zero are a name.

    Examples
    --------
    >>> read_number("-3"), read_number("1e20"), read_number("007"), read_number("nan")
    (-3, 1e+20, None, None)
    """
    match = _NUMBER.match(text)
    if match is None:
        return None
    if match["fraction"]:
        value = float(text)
        if math.isinf(value):
            raise LogicError(f"{text} is too large to compute with: quote it as a name")
        return value
    if len(text) > _MOST_DIGITS:
        raise LogicError(f"a number of {len(text)} digits is too long to compute with: quote it as a name")
    return int(text)


def number_or_none(text: str) -> int | float | None:
    """`read_number`, except that numbers too large to compute with are names."""
    try:
        return read_number(text)
    except LogicError:
        return None


def spell_date(seconds: float) -> str:
    """A moment, in seconds since 1970 (UTC), as an ISO date, with the time of day where it is not midnight.

    Examples
    --------
    >>> spell_date(1614556800), spell_date(1614600000.5)
    ('2021-03-01', '2021-03-01T12:00:00.500000')
    """
    moment = (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None)
    is_midnight = moment == datetime(moment.year, moment.month, moment.day)
    return moment.date().isoformat() if is_midnight else moment.isoformat()


def read_date(text: str) -> int | float | None:
    """The seconds since 1970 (UTC) of an ISO date, as `spell_date` writes it; None where it is none.

    Examples
    --------
    >>> read_date("2021-03-01"), read_date("2021-03-01T12:00:00.5"), read_date("2021-02-30")
    (1614556800, 1614600000.5, None)
    """
    if not _DATE.match(text):
        return None
    try:
        past = datetime.fromisoformat(text).replace(tzinfo=UTC) - _EPOCH
    except ValueError:
        return None
    whole = past.days * 86_400 + past.seconds
    return whole + past.microseconds / 1e6 if past.microseconds else whole


def is_code(text: str) -> bool:
    """Whether a text is digits after a leading zero: then digits beside it are codes too, all of them names.

    Examples
    --------
    >>> is_code("00260881"), is_code("12651611")
    (True, False)
    """
    return _CODE.match(text) is not None
