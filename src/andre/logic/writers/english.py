"""Rules as sentences, for people who know the field and not Prolog.

How a relation is said follows from its name, which says well enough what most relations mean
(`uncle/2`: X is an uncle of Y; `lives_in/2`: X lives in Y; `has_wings/1`: X has wings). Where it does
not, the user says it: `Phrases` hold sentences with {1}, {2}, ... for the arguments.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, count
from pathlib import Path

from andre.errors import LogicError
from andre.logic.atom import ORDERS, Atom, Constant, Literal, Term, Variable
from andre.logic.program import Program
from andre.logic.rule import Rule


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PREPOSITIONS = _words(
    "about above after against along around as at before behind below beside between by during for from "
    "in inside into near of off on onto outside over per since than through to toward towards under until "
    "upon via with within without"
)
#: Nouns, besides those in -ss, -us and -is, that look like verbs.
_NOUNS_IN_S = frozenset(["species", "series", "news", "means", "lens", "gas", "bias", "canvas", "atlas"])
#: Verbs that are often written without their ending.
_BARE_VERBS = _words(
    "act advise affect attack belong border buy cause cite come consist contain create depend differ "
    "drive eat employ exist fly follow go hate include inhibit interact kill know lead lie like live look "
    "love marry meet move need occur own participate play point prefer produce reach read report run see "
    "sell send serve speak stand study support talk teach travel treat trust use visit want work write"
)
#: Adjectives, besides those that are recognised by their ending.
_ADJECTIVES = _words(
    "active adjacent alive bad better big black blue born bought built close closed cold dark dead "
    "different dry eastbound empty equal even false fast female full good green happy healthy heavy held "
    "high hot illegal inactive known large left legal less light long low made male more new next odd old "
    "open poor prime red rich right round sad safe same sent short sick similar single slow small smart "
    "sold square strong taught toxic true upright warm weak westbound wet white worse written yellow "
    "young zero"
)
_ADJECTIVE = re.compile(r".+(?:able|ible|ful|less|ous|ish|ive|ical|ic|ed)\Z")
_HAVE = frozenset(["has", "have", "had"])
_NO_ARTICLE = frozenset(["part"])
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^A-Za-z_\-\s]+")
#: Stands before a noun that the second argument names.
_NAMING = "{~}"
_PLACE = re.compile(r"\{(\d*)\}")
_COMPARED = {"<": "is less than", ">": "is more than", "=<": "is at most", ">=": "is at least", "=": "is"}
_NOT_COMPARED = {"<": "is at least", ">": "is at most", "=<": "is more than", ">=": "is less than"}
_NAMED = re.compile(r"(?:X|V|_)\d+\Z")
_LETTERS = "XYZUVWABCDEFGHKLMNPQRST"


def readable(rule: Rule) -> Rule:
    """The rule as people read it: letters in place of numbered variables, and no negated comparison.

    Examples
    --------
    >>> from andre.logic.parse import parse_rule
    >>> print(readable(parse_rule("h(X1, X2) :- p(X1, X3), q(X3, X2).")))
    h(X, Y) :- p(X, Z), q(Z, Y).
    >>> print(readable(parse_rule("old(X1) :- age(X1, X2), \\\\+ X2 < 60.")))
    old(X) :- age(X, Y), Y >= 60.
    """
    body = tuple(
        Literal(literal.atom.complement) if literal.negated and literal.atom.predicate in ORDERS else literal
        for literal in rule.body
    )
    rule = replace(rule, body=body)
    if not any(_NAMED.match(str(variable)) for variable in rule.variables):
        return rule
    names = chain(_LETTERS, (f"V{number}" for number in count(1)))
    renamed = rule.substitute(dict(zip(rule.variables, map(Variable, names), strict=False)))
    return renamed.with_evidence(*rule.evidence)


@dataclass(frozen=True)
class Phrases:
    """How relations are said in sentences, where their names do not say it well.

    Examples
    --------
    >>> from andre.logic.parse import parse_rule
    >>> rule = parse_rule("boss(X1, X2) :- manages(X1, X2), \\\\+ retired(X1).")
    >>> Phrases().sentence(rule)
    'X is a boss of Y if X manages Y and X is not retired.'
    >>> Phrases({"boss": "{1} tells {2} what to do"}).sentence(rule)
    'X tells Y what to do if X manages Y and X is not retired.'
    """

    #: Sentences by the name of a relation, or as p/2, with {1}, {2}, ... for its arguments.
    given: Mapping[str, str] = field(default_factory=dict)
    #: Relations, as name and arity, whose second argument is a property of the first, such as its color.
    properties: frozenset[tuple[str, int]] = frozenset()

    def __post_init__(self) -> None:
        for name, phrase in self.given.items():
            if not isinstance(phrase, str) or not phrase.strip():
                raise LogicError(
                    f'the phrase for {name} is no text: write it as in "{{1}} is an uncle of {{2}}"'
                )
            places = _PLACE.findall(phrase)
            arity = name.rpartition("/")[2]
            most = int(arity) if "/" in name and arity.isdigit() else None
            for place in places:
                if not place or int(place) < 1 or (most is not None and int(place) > most):
                    raise LogicError(
                        f"the phrase for {name} has {{{place}}}: arguments are {{1}}, {{2}} and so on"
                        + (f", up to {{{most}}}" if most else "")
                    )

    @classmethod
    def read(cls, path: Path | str) -> Phrases:
        """Read phrases from a TOML file with a line for each relation, as uncle = "{1} is an uncle of {2}".

        Raises
        ------
        LogicError
            Where the file is no TOML, or a phrase is none.
        """
        path = Path(path)
        try:
            found = tomllib.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            raise LogicError(f"there is no file {path}: check the path") from None
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise LogicError(f"{path} cannot be read as TOML: {error}") from None
        try:
            return cls(found)
        except LogicError as error:
            raise LogicError(f"{path}: {error}") from None

    def sentence(self, rule: Rule) -> str:
        """A rule in words, with letters for numbered variables.

        Examples
        --------
        >>> from andre.logic.parse import parse_rule
        >>> Phrases().sentence(parse_rule("ancestor(X1,X2) :- parent(X1,X3), ancestor(X3,X2), X1 \\\\= X2."))
        'X is an ancestor of Y if X is a parent of some Z, Z is an ancestor of Y, and X and Y differ.'
        """
        rule = readable(rule)
        ordered = sorted(rule.body, key=lambda lit: (lit.is_builtin, lit.negated))
        said = _Speaker(self, set(rule.head.variables), is_row=not rule.variables and bool(rule.body))
        head = said.literal(Literal(rule.head))
        if rule.probability < 1:
            head = f"with probability {rule.probability:g}, {head}"
        unequal, others = _inequalities(ordered)
        parts = [*map(said.literal, others), *unequal]
        if not parts:
            free = _listed([str(variable) for variable in rule.head.variables])
            return f"{_capital(head)}{f', whatever {free} may be' if free else ''}."
        return f"{_capital(head)} if {_listed(parts)}."

    def templates(self, name: str, arity: int) -> tuple[str, str]:
        """The phrases that affirm and deny a relation, with {1}, {2}, ... for its arguments."""
        phrase = self.given.get(f"{name}/{arity}", self.given.get(name))
        if phrase is not None:
            return phrase, _denied(phrase)
        words = _WORD.findall(name) or [name]
        words = [word if len(word) > 1 and word.isupper() else word.lower() for word in words]
        if arity == 1:
            return _unary(words)
        if arity == 2:
            return _binary(words, is_property=(name, arity) in self.properties)
        text = " ".join(words)
        if not arity:
            return name, f"not {name}"
        places = _listed([f"{{{place}}}" for place in range(1, arity + 1)])
        return f"{text} holds of {places}", f"{text} does not hold of {places}"


def to_english(program: Program, phrases: Phrases | None = None) -> str:
    """A program as sentences, one a line."""
    phrases = phrases or Phrases()
    return "".join(f"{phrases.sentence(rule)}\n" for rule in program)


@dataclass
class _Speaker:
    """Puts the literals of one rule into words; a variable is introduced by `some`."""

    phrases: Phrases
    known: set[Variable]
    is_row: bool  #: whether the rule is about the columns of a row

    def literal(self, literal: Literal) -> str:
        atom, negated = literal.atom, literal.negated
        if atom.is_builtin:
            return self._comparison(atom, negated)
        if self.is_row and atom.gap is not None:
            return f"{_spoken(atom.gap)} is {'not ' * negated}missing"
        if self.is_row and atom.arity == 1:  # a class of a table
            return f"{_spoken(atom.predicate)} is {'not ' * negated}{self._term(atom.args[0], negated)}"
        told = self.phrases.templates(atom.predicate, atom.arity)[negated]

        if _NAMING in told:  # X has a car Y, X has color red
            named = atom.args[1]
            noun = told.partition(_NAMING)[2].removesuffix(" {2}")
            article = f"any {noun}" if negated else _article(noun)
            told = told.replace(f"{_NAMING}{noun}", article if isinstance(named, Variable) else noun)
            if isinstance(named, Variable) and named not in self.known and atom.args[0] != named:
                self.known.add(named)

        def fill(place: re.Match[str]) -> str:
            number = int(place[1])
            return self._term(atom.args[number - 1], negated) if number <= atom.arity else place[0]

        return _PLACE.sub(fill, told)

    def _comparison(self, atom: Atom, negated: bool) -> str:
        left, right = (self._term(term, negated) for term in atom.args)
        left = _spoken(left) if atom.column is not None else left
        sign = atom.predicate
        if sign == "\\=" or (sign == "=" and negated):
            is_equal = sign == "\\=" and negated
            return f"{left} is {'' if is_equal else 'not '}{right}"
        bound = atom.args[1]
        if sign != "=" and isinstance(bound, Constant) and not isinstance(bound.value, str):
            right = _number(bound.value)
        return f"{left} {(_NOT_COMPARED if negated else _COMPARED)[sign]} {right}"

    def _term(self, term: Term, negated: bool) -> str:
        if isinstance(term, Constant):
            return str(term.value)
        if term in self.known:
            return str(term)
        self.known.add(term)
        return f"{'any' if negated else 'some'} {term}"


def _spoken(column: str) -> str:
    """The name of a column, in words where underscores join them."""
    return column.replace("_", " ") if re.fullmatch(r"[^\W_](\w*[^\W_])?", column) else column


def _number(value: float) -> str:
    """A number with commas between thousands from 10,000 on, since smaller ones may be years.

    Examples
    --------
    >>> _number(62500), _number(1234567.25), _number(2015)
    ('62,500', '1,234,567.25', '2015')
    """
    whole, point, rest = str(value).partition(".")
    return (
        f"{int(whole):,}{point}{rest}" if abs(value) >= 10_000 and whole.lstrip("-").isdigit() else str(value)
    )


def _inequalities(body: Sequence[Literal]) -> tuple[list[str], list[Literal]]:
    """Inequalities of variables in words, in a single phrase if all variables differ; and other literals."""
    pairs = [
        lit for lit in body if lit.atom.predicate == "\\=" and len(lit.variables) == 2 and not lit.negated
    ]
    rest = [lit for lit in body if lit not in pairs]
    found = list(dict.fromkeys(variable for lit in pairs for variable in lit.variables))
    if len(found) > 2 and {frozenset(lit.variables) for lit in pairs} == set(
        map(frozenset, combinations(found, 2))
    ):
        return [f"{_listed(list(map(str, found)))} all differ"], rest
    return [f"{' and '.join(map(str, lit.variables))} differ" for lit in pairs], rest


def _unary(words: Sequence[str]) -> tuple[str, str]:
    text, first, rest = " ".join(words), words[0], " ".join(words[1:])
    had = _article(rest) if first in _HAVE and not words[-1].endswith("s") else rest
    led = _led(first, had) if rest else None
    if led is not None:
        yes, no = led
    elif _is_verb(first):
        yes, no = text, f"does not {_bare(first)} {rest}".strip()
    else:
        said = text if _is_adjective(words[-1]) or _is_plain(words) else _article(text)
        yes, no = f"is {said}", f"is not {said}"
    return _both("{1}", yes, no)


def _binary(words: Sequence[str], *, is_property: bool) -> tuple[str, str]:
    text, first, last, rest = " ".join(words), words[0], words[-1], " ".join(words[1:])
    ends = last in _PREPOSITIONS
    plain = last == "than" or _is_plain(words)
    led = _led(first, f"{_NAMING}{rest}" if first in _HAVE and not ends else rest) if rest else None
    if led is not None:
        yes, no = led
    elif _is_verb(first) and (ends or not rest or not is_property):
        yes, no = text, f"does not {_bare(first)} {rest}".strip()
    elif first in _BARE_VERBS and (ends or not rest):
        yes, no = f"{_inflected(first)} {rest}".strip(), f"does not {text}"
    elif ends:
        said = text if plain or not rest else _article(text)
        yes, no = f"is {said}", f"is not {said}"
    elif is_property:
        return f"the {text} of {{1}} is {{2}}", f"the {text} of {{1}} is not {{2}}"
    else:
        noun = f"{text if plain and rest else _article(text)} of"
        said = "a" if text == "isa" else f"{text} to" if plain and not rest else noun
        yes, no = f"is {said}", f"is not {said}"
    return _both("{1}", yes, no, "{2}")


def _led(first: str, rest: str) -> tuple[str, str] | None:
    """A phrase that begins with an auxiliary verb, affirmed and denied."""
    if first in ("is", "are", "was", "were", "can", "may", "must", "will", "should"):
        return f"{first} {rest}", f"{'cannot' if first == 'can' else f'{first} not'} {rest}"
    if first in _HAVE:
        return f"has {rest}", f"does not have {rest}"
    return None


def _both(subject: str, affirmed: str, denied: str, last: str = "") -> tuple[str, str]:
    yes, no = (f"{subject} {verb} {last}".strip() for verb in (affirmed, denied))
    return yes, no


def _denied(phrase: str) -> str:
    """A phrase that the user gave, denied."""
    for verb in (" is ", " are ", " was ", " were ", " can ", " will "):
        if phrase.count(verb) == 1:
            return phrase.replace(verb, f"{verb}not ")
    return f"it is not so that {phrase}"


def _is_verb(word: str) -> bool:
    return (
        word.endswith("s")
        and len(word) > 2
        and not word.endswith(("ss", "us", "is"))
        and word not in _NOUNS_IN_S
    )


def _is_adjective(word: str) -> bool:
    return word in _ADJECTIVES or _ADJECTIVE.match(word) is not None


def _is_plain(words: Sequence[str]) -> bool:
    """Whether words are an adjective or preposition phrase, which takes no article."""
    first, follows = words[0], words[1] if len(words) > 1 else "to"
    if first in _NO_ARTICLE or first in _PREPOSITIONS:
        return True
    return _is_adjective(first) and follows in _PREPOSITIONS


def _bare(verb: str) -> str:
    """A verb without the ending of the third person."""
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith(("sses", "shes", "ches", "xes", "zes", "oes")) else verb[:-1]


def _inflected(verb: str) -> str:
    """A verb with the ending of the third person."""
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y\Z", verb) else f"{verb}s"


def _article(text: str) -> str:
    """A noun with its article."""
    vowel = re.match(r"[aeio]|u(?!ni|s[eu])|hour|hono|heir", text, re.IGNORECASE)
    return f"an {text}" if vowel and not re.match(r"one\b|eu", text) else f"a {text}"


def _listed(parts: Sequence[str]) -> str:
    """An enumeration; if a part contains `and` itself, there is a comma before the last part."""
    if len(parts) < 3:
        return " and ".join(parts)
    comma = "," if any(" and " in part for part in parts) else ""
    return f"{', '.join(parts[:-1])}{comma} and {parts[-1]}"


def _capital(text: str) -> str:
    """A sentence with a capital letter, unless it begins with a name."""
    return text[:1].upper() + text[1:] if text.startswith(("the ", "with ", "it ")) else text
