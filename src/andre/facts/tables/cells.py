"""Cells of text as people write them: what is missing, true or false, a number, or a date."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import numpy as np

from andre.arrays import Floats, Ints
from andre.logic import spell_date

#: Cells that say nothing, in lower case.
MISSING = frozenset({"", "?", "-", "--", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null"})
#: Cells that say nothing among numbers and dates, and are a name among names: no pain, no allergy.
NO_NUMBER = frozenset({"none"})
#: The words for true and for false, in lower case, pair by pair.
BOOLEANS = (
    *(("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("1", "0"), ("on", "off")),
    *(("ja", "nein"), ("wahr", "falsch"), ("oui", "non"), ("vrai", "faux"), ("si", "no"), ("sí", "no")),
    *(("sì", "no"), ("sim", "não"), ("ja", "nee"), ("ja", "nej"), ("tak", "nie")),
)
TRUE_WORDS = frozenset(true for true, _ in BOOLEANS)
_TRUTH = {word: value for pair in BOOLEANS for word, value in zip(pair, (1.0, 0.0), strict=True)}

_MONEY = r"[$€£¥₹]|USD|EUR|GBP|CHF"
#: A unit, such as cm, m² or months; a capital letter behind digits makes a name, as in 3B, but for 5K.
_WORD = r"(?:[a-zµ]|[KM]|[^\W\d_]{2,12})[²³.]?|°[CF]?"
_GROUPS = "'’ \u00a0\u202f"  # what may stand between groups of three digits, in any style
# Runs of digits and spaces are never given back, so that a cell takes time by its length, not by its square.
_CELL = re.compile(
    rf"(?P<sign>[+\-−]?)\s*+(?P<before>{_MONEY})?\s*+(?P<inner>[+\-−]?)"
    rf"(?P<digits>[0-9.,{_GROUPS}]*[0-9][.,]?)(?P<power>[eE][+-]?[0-9]++)?\s*+(?P<after>%|{_MONEY}|{_WORD})?\Z"
)
#: Accounts write what is negative in parentheses, the currency inside or before them.
_BRACKETED = re.compile(rf"(?P<before>{_MONEY})?\s*\((?P<inside>[^()]+)\)\Z")
_PLAIN = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?\Z")
_BOUND = re.compile(r"(?:[<>]=?|[≤≥])\s*+(?P<number>.+)\Z")
#: A range of numbers: closed, or open above or below. A dash behind a dash is the sign of a number.
_BAND = re.compile(r"(?P<low>[^-–—]+?)\s*+(?:-|–|—|\bto\b)\s*+(?P<high>.+)\Z")
_ABOVE = re.compile(
    r"(?:>=?|≥|over\b|from\b)\s*+(?P<sign>.+)\Z|(?P<word>.+?)\s*+(?:\+|and over|or more|or older)\Z"
)
_BELOW = re.compile(r"(?:<=?|≤|under\b|up to\b)\s*+(?P<sign>.+)\Z")
_MOST_BANDS, _LONGEST_BAND = 255, 60  # ranges of a column, and letters of one
_INFINITE = re.compile(r"[+-]?inf(?:inity)?\Z", re.IGNORECASE)
_CODE = re.compile(r"-?0[0-9]+\Z")
#: The digits of a number, by the sign before its decimals.
_DIGITS = {
    decimal: re.compile(
        rf"(?:[0-9]{{1,3}}(?P<by>[{other}{_GROUPS}])[0-9]{{3}}(?:(?P=by)[0-9]{{3}})*|[0-9]*)"
        rf"(?:[{decimal}][0-9]*)?\Z"
    )
    for decimal, other in (".,", ",.")
}


def is_missing(text: str) -> bool:
    """Whether a cell says nothing.

    Examples
    --------
    >>> is_missing(" N/A "), is_missing("?"), is_missing("0")
    (True, True, False)
    """
    return text.strip().lower() in MISSING


def is_no_number(text: str) -> bool:
    """Whether a cell among numbers or dates says that there is none; elsewhere it is a name.

    Examples
    --------
    >>> is_no_number("None"), is_missing("None")
    (True, False)
    """
    return text.strip().lower() in NO_NUMBER


def is_code(text: str) -> bool:
    """Whether a cell is digits after a leading zero, as postcodes have them: a name, and no number."""
    return _CODE.match(text) is not None


def plain_number(text: str) -> float | None:
    """The number that a cell stands for that is written as computers write numbers; None for any other."""
    return float(text) if _PLAIN.match(text) or _INFINITE.match(text) else None


@dataclass(frozen=True)
class NumberStyle:
    """How the numbers of a column are written.

    Examples
    --------
    >>> NumberStyle(",").read("1.234,5"), NumberStyle(".").read("1,234.5"), NumberStyle(".").read("high")
    (1234.5, 1234.5, nan)
    >>> [NumberStyle(".", unit).read(text) for unit, text in (("%", "12%"), ("$", "-$5"), ("h", "13:45"))]
    [12.0, -5.0, 13.75]
    >>> [NumberStyle(unit="h").read(text) for text in ("2h 15m", "1 h", "90 min")]
    [2.25, 1.0, 1.5]
    >>> NumberStyle(unit="cm").read("180 cm"), NumberStyle(unit="cm").read("6 ft")
    (180.0, nan)
    >>> NumberStyle(unit="$", brackets=True).read("($223.33)")
    -223.33
    >>> NumberStyle(bounds=True).read("< 0.6")
    0.6
    """

    decimal: str = "."  #: what stands before decimals: a point or a comma
    #: A currency or a unit such as cm that cells may have, the percent sign that all have, or h for hours and
    #: times such as 13:45 and 2h 15m.
    unit: str = ""
    brackets: bool = False  #: whether a number in parentheses is negative, as in accounts
    bounds: bool = False  #: whether cells such as <0.6 are beyond what was measured, and count as that bound
    bands: bool = False  #: whether cells are ranges such as 18-24 and 50+, and count as the end of each

    def read(self, text: str) -> float:
        """The number that a cell stands for; NaN where it is none."""
        if self.bands:
            return self._read_band(text)
        if self.bounds and (bound := _BOUND.match(text)) is not None:
            text = bound["number"]
        if self.unit == "h":
            return _read_hours(text)
        if (number := plain_number(text)) is not None and self.unit != "%" and self.decimal == ".":
            return number
        found = _Number.of(text)
        if found is None or (found.unit != self.unit and (found.unit or self.unit == "%")):
            return np.nan
        if found.bracketed and not self.brackets:
            return np.nan
        return found.value(self.decimal)

    def _read_band(self, text: str) -> float:
        """Where a range ends, so that `age > 24` holds from 25-34 on, and 50+ is above all before it."""
        if len(text) > _LONGEST_BAND:
            return np.nan
        within = replace(self, bands=False)
        if match := _BELOW.match(text):  # half a unit less, so that the next range is above
            return within.read(match["sign"]) - (0 if text[:2] in ("<=", "up") or text[0] == "≤" else 0.5)
        if match := _ABOVE.match(text):
            least = within.read(match["sign"] or match["word"])
            return least + (0.5 if text[0] == ">" and text[1:2] != "=" else 0)
        if match := _BAND.match(text):
            low, high = within.read(match["low"]), within.read(match["high"])
            return high if low <= high else np.nan
        return within.read(text)

    def __str__(self) -> str:
        parts = ["ranges, compared by their ends"] if self.bands else []
        parts += ["written as 1.234,5"] if self.decimal == "," else []
        parts += [f"in {_UNIT_NAMES.get(self.unit, self.unit)}"] if self.unit else []
        parts += ["with negative ones in parentheses"] if self.brackets else []
        parts += ["with < and > before the least or greatest that is measured"] if self.bounds else []
        return " and ".join(parts)


_UNIT_NAMES = {"%": "percent", "h": "hours"}
_CLOCK = re.compile(
    r"(?P<hour>\d{1,3}):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d(?:\.\d+)?))?\s*(?P<half>[AaPp][Mm])?\Z"
)
_SPAN = re.compile(r"(?:(?P<hour>\d{1,4})\s*h)?\s*(?:(?P<minute>\d{1,4})\s*m(?:in)?\.?)?\Z")


def _read_hours(text: str) -> float:
    """A time of day or a span of time, in hours; NaN where a cell is none."""
    match = _CLOCK.match(text)
    if match is None and text and (span := _SPAN.match(text)) is not None:
        return int(span["hour"] or 0) + int(span["minute"] or 0) / 60
    if match is None and (found := _Number.of(text)) is not None and found.unit == "h":
        return found.value(".")
    if match is None or (match["half"] and int(match["hour"]) > 12):
        return np.nan
    hour = int(match["hour"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"].lower() == "pm" else 0)
    return hour + int(match["minute"]) / 60 + float(match["second"] or 0) / 3600


@dataclass(frozen=True)
class _Number:
    """The parts of a cell that may be a number."""

    negative: bool
    digits: str
    power: str
    unit: str
    bracketed: bool = False

    @classmethod
    def of(cls, text: str) -> _Number | None:
        if bracketed := _BRACKETED.match(text):
            inside = cls.of((bracketed["before"] or "") + bracketed["inside"].strip())
            if inside is None or inside.negative:
                return None
            return replace(inside, negative=True, bracketed=True)
        match = _CELL.match(text)
        if match is None or (match["sign"] and match["inner"]) or (match["before"] and match["after"]):
            return None
        sign = match["sign"] or match["inner"]
        unit = match["before"] or match["after"] or ""
        return cls(sign not in ("", "+"), match["digits"].strip(), match["power"] or "", unit)

    def value(self, decimal: str) -> float:
        if not _DIGITS[decimal].match(self.digits):
            return np.nan
        digits = "".join(sign for sign in self.digits if sign.isdigit() or sign == decimal)
        size = float(digits.replace(",", ".") + self.power)
        return -size if self.negative else size


def read_numbers(texts: Sequence[str], counts: Ints) -> tuple[Floats, NumberStyle]:
    """The numbers of distinct cells in the style that reads most rows, NaN where one is none.

    A point stands before decimals unless commas there make more cells readable, or all points stand
    between thousands: before three digits each, as in €1.532, beside €646. Parentheses make a number
    negative where others stand without them, or hold a currency: (1) and (2) alone are names. A word
    behind the numbers is their unit where all have the same, as in 36 months: 4a beside 5 is a name.

    Examples
    --------
    >>> values, style = read_numbers(["1,5", "1.000", "n.b."], np.array([1, 1, 1]))
    >>> values.tolist(), str(style)
    ([1.5, 1000.0, nan], 'written as 1.234,5')
    """
    plain = NumberStyle()
    values = _read_all(plain.read, texts)
    if not np.isnan(values).any():
        return values, plain
    if (bands := _bands_of(texts)) is not None:
        return _read_all(bands.read, texts), bands
    found = [_Number.of(text) for text in texts]
    weights: dict[str, int] = {}
    for number, count in zip(found, counts.tolist(), strict=True):
        if number is not None:
            weights[number.unit] = weights.get(number.unit, 0) + count
    money = {unit: weight for unit, weight in weights.items() if re.fullmatch(_MONEY, unit)}
    unit = max(money, key=money.__getitem__) if money else ""
    if len(weights) == 1 and not any(number and is_code(number.digits) for number in found):
        (unit,) = weights
    if weights.get("%", 0) > weights.get("", 0) + sum(money.values()):
        unit = "%"
    best, style = values, plain
    numbers = [number for number in found if number is not None and number.unit in {"", "%", unit, *money}]
    brackets, decimals = _are_negative(numbers), ".,"
    if _point_thousands([number.digits for number in numbers]):
        decimals = ",."  # the first of two that read as many rows is taken
    for tried in (*(NumberStyle(decimal, unit, brackets) for decimal in decimals), NumberStyle(".", "h")):
        values = _read_all(tried.read, texts)
        if counts[~np.isnan(values)].sum() > counts[~np.isnan(best)].sum():
            best, style = values, tried
    return _with_bounds(texts, counts, best, style)


def _bands_of(texts: Sequence[str]) -> NumberStyle | None:
    """How ranges are written that follow one another without overlap, as age bands do; None for other cells.

    Examples
    --------
    >>> style = _bands_of(["18-24", "25-34", "35+", "<18"])
    >>> [style.read(text) for text in ("<18", "18-24", "25-34", "35+", "27")]
    [17.5, 24.0, 34.0, 35.0, 27.0]
    >>> _bands_of(["1-0", "2-2", "0-3"]), _bands_of(["a-b", "c-d"])
    (None, None)
    """
    if not 3 <= len(texts) <= _MOST_BANDS or max(map(len, texts)) > _LONGEST_BAND:
        return None
    closed = [match for text in texts if not _ABOVE.match(text) if (match := _BAND.match(text))]
    if len(closed) < 2:
        return None
    ends = [match[side] for match in closed for side in ("low", "high")]
    if any(is_code(end) for end in ends):
        return None
    numbers, style = read_numbers(ends, np.ones(len(ends), dtype=np.int64))
    if np.isnan(numbers).any() or style.bands:
        return None
    ranges = sorted(zip(numbers[::2].tolist(), numbers[1::2].tolist(), strict=True))
    follow = all(low < high <= following for (low, high), (following, _) in pairwise(ranges))
    bands = replace(style, bands=True)
    values = _read_all(bands.read, texts)
    first, last = ranges[0][0], ranges[-1][1]
    beyond = [value for text, value in zip(texts, values.tolist(), strict=True) if not _BAND.match(text)]
    beside = all(value <= first or value >= last for value in beyond)
    if not follow or not beside or len(np.unique(values)) < len(texts):
        return None
    return bands


def _with_bounds(
    texts: Sequence[str], counts: Ints, values: Floats, style: NumberStyle
) -> tuple[Floats, NumberStyle]:
    """Numbers with those that are only known to be below or above a bound, where most are known.

    Beside few numbers or none, as in <18, 18-24, >24, such cells are the names of groups.
    """
    bounded = replace(style, bounds=True)
    beyond = np.array([_BOUND.match(text) is not None for text in texts], dtype=np.bool_)
    if not beyond.any() or counts[~np.isnan(values)].sum() <= counts[beyond].sum():
        return values, style
    return _read_all(bounded.read, texts), bounded


_POINTED = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+\Z")


def _point_thousands(digits: Sequence[str]) -> bool:
    """Whether points stand between thousands: none is before another number of digits than three.

    Decimals would end in a 0 that is not written now and then, and whole numbers of up to three digits
    beside them would be as rare.
    """
    pointed = [one for one in digits if "." in one]
    whole = [one for one in digits if one.isdigit()]
    return (
        bool(pointed)
        and len(pointed) + len(whole) == len(digits)
        and all(_POINTED.match(one) for one in pointed)
        and all(len(one) <= 3 for one in whole)
        and (bool(whole) or any(one.count(".") > 1 for one in pointed))
    )


def _are_negative(found: Sequence[_Number]) -> bool:
    """Whether parentheses around some of these numbers are those of accounts."""
    inside = [number for number in found if number.bracketed]
    return bool(inside) and (len(inside) < len(found) or any(number.unit for number in inside))


def read_booleans(texts: Sequence[str]) -> Floats:
    """1 for a word that says true, 0 for one that says false, NaN for any other cell."""
    return np.array([_TRUTH.get(text.lower(), np.nan) for text in texts], dtype=np.float64)


def are_booleans(texts: Sequence[str]) -> bool:
    """Whether the cells are the two words of one pair, such as yes and no."""
    words = {text.lower() for text in texts}
    return any(words == set(pair) for pair in BOOLEANS)


_MONTHS = {
    "janfebmaraprmayjunjulaugsepoctnovdec"[3 * place : 3 * place + 3]: place + 1 for place in range(12)
}
_TIME = (
    r"(?:(?:T|,?\s+)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?P<part>\.\d+)?)?"
    r"\s*(?P<half>[AaPp][Mm])?\s*(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?)?\Z"
)
_YEAR = r"(?P<year>\d{4}|\d\d)"
_DATES = [
    re.compile(pattern + _TIME, re.ASCII)
    for pattern in (
        r"(?P<year>\d{4})(?P<by>[-/.])(?P<month>\d{1,2})(?P=by)(?P<day>\d{1,2})",
        r"(?P<year>\d{4})-(?P<month>\d{1,2})",
        rf"(?P<one>\d{{1,2}})(?P<by>[-/.])(?P<two>\d{{1,2}})(?P=by){_YEAR}",
        rf"(?P<day>\d{{1,2}})\.?[ -](?P<name>[A-Za-z]{{3,9}})\.?,?[ -]{_YEAR}",
        r"(?P<name>[A-Za-z]{3,9})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})",
    )
]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class DateStyle:
    """How the dates of a column are written.

    Examples
    --------
    >>> DateStyle(day_first=True).read("1.3.2021") == DateStyle().read("2021-03-01") == 1614556800
    True
    """

    day_first: bool = False  #: in 1/3/2021, whether the day or the month stands first

    def read(self, text: str) -> float:
        """Seconds since 1970, in UTC where no other zone is given; NaN where a cell is no date."""
        match = next((found for pattern in _DATES if (found := pattern.match(text))), None)
        if match is None:
            return np.nan
        parts = match.groupdict()
        if parts.get("one"):
            names = ("day", "month") if self.day_first else ("month", "day")
            parts |= zip(names, (parts["one"], parts["two"]), strict=True)
        elif parts.get("name"):
            parts["month"] = str(_MONTHS.get(parts["name"][:3].lower(), 0))
        year = int(parts["year"])
        if len(parts["year"]) == 2:
            year += 1900 if year >= 69 else 2000
        time = _time_of_day(parts)
        if time is None:
            return np.nan
        try:
            zone = _zone(parts["zone"])
            day = datetime(year, int(parts["month"]), int(parts.get("day", 1)), tzinfo=zone)
            return (day + time - _EPOCH).total_seconds()
        except (ValueError, OverflowError):  # no such day, or none that can be counted
            return np.nan

    def __str__(self) -> str:
        return "with the day first" if self.day_first else ""


def _zone(text: str | None) -> timezone:
    if text is None or text in ("Z", "UTC"):
        return UTC
    ahead = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-ahead if text[0] == "-" else ahead)


def _time_of_day(parts: dict[str, str | None]) -> timedelta | None:
    """The time since midnight, or None for a time that no clock shows."""
    hour, minute, second = (int(parts[name] or 0) for name in ("hour", "minute", "second"))
    half = (parts["half"] or "").lower()
    if hour > (12 if half else 23) or minute > 59 or second > 60:
        return None
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return timedelta(hours=hour, minutes=minute, seconds=second + float(parts["part"] or 0))


def read_dates(texts: Sequence[str], counts: Ints) -> tuple[Floats, DateStyle]:
    """The dates of distinct cells, in seconds since 1970, in the style that reads most rows.

    The month stands first in 1/3/2021, unless more cells can be read with the day first; between
    points, as in 1.3.2021, the day does.

    Examples
    --------
    >>> values, style = read_dates(["1/3/2021", "25/12/2020"], np.array([1, 1]))
    >>> style
    DateStyle(day_first=True)
    """
    styles = [DateStyle(day_first=False), DateStyle(day_first=True)]
    if _by_points(texts):
        styles.reverse()
    read = [_read_all(style.read, texts) for style in styles]
    rows = [int(counts[~np.isnan(values)].sum()) for values in read]
    place = int(np.argmax(rows))
    same = bool(np.array_equal(read[0], read[1], equal_nan=True))
    return read[place], replace(styles[place], day_first=False) if same else styles[place]


def _by_points(texts: Sequence[str]) -> bool:
    """Whether there are dates such as 1.3.2021, in which the day comes first."""
    return any(re.match(r"\d{1,2}\.\d", text) for text in texts)


def date_remark(texts: Sequence[str], style: DateStyle) -> str:
    """How dates of one style were read where that is not plain: with the day first, or by a guess.

    Examples
    --------
    >>> date_remark(["25/12/2020", "01/02/2021"], DateStyle(day_first=True))
    'with the day first'
    >>> date_remark(["01/02/2021", "03/04/2021"], DateStyle())
    "'01/02/2021' is read as 2021-01-02, the month first, and with the day first all could be read, too: ..."
    """
    other = replace(style, day_first=not style.day_first)
    chosen, turned = _read_all(style.read, texts), _read_all(other.read, texts)
    differ = np.flatnonzero(~np.isnan(chosen) & ~np.isnan(turned) & (chosen != turned))
    settled = (np.isnan(turned) & ~np.isnan(chosen)).any()  # some cells can be read in one way only
    if settled or not len(differ) or _by_points(texts):
        return str(style)
    place = int(differ[0])
    day = spell_date(chosen[place])
    first, second = ("day", "month") if style.day_first else ("month", "day")
    return (
        f"{texts[place]!r} is read as {day}, the {first} first, and with the {second} first all could be "
        f"read, too: write dates as {day} to be sure"
    )


def _read_all(read: Callable[[str], float], texts: Sequence[str]) -> Floats:
    return np.array([read(text) for text in texts], dtype=np.float64)


def level_of(number: float) -> str:
    """A number as the text of a level, whole ones without a dot.

    Examples
    --------
    >>> level_of(3.0), level_of(0.5)
    ('3', '0.5')
    """
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(float(number))


def canonical_level(text: str) -> str:
    """The text of a level; one number has one text, however it was written.

    Examples
    --------
    >>> canonical_level("3.0"), canonical_level("007"), canonical_level("dark red")
    ('3', '007', 'dark red')
    """
    number = None if is_code(text) else plain_number(text)
    return text if number is None else level_of(number)
