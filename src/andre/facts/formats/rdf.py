"""RDF graphs: N-Triples are read here, Turtle and RDF/XML by rdflib.

An IRI becomes the name at its end, as `Berlin`, as long as no other IRI ends so; then both are written with
their prefix or whole. Literals are values. A triple is a fact of its predicate, and `rdf:type`
makes unary facts, as person(ann), unless the graph describes the classes themselves.
"""

from __future__ import annotations

import logging
import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

import numpy as np

from andre.arrays import Bools, Ints, distinct_keys
from andre.errors import AndreError, DataError
from andre.facts.base import FactBase
from andre.facts.build import Builder, as_names, group_rows
from andre.facts.formats.format import Format
from andre.facts.formats.text import blocks, fail_at, plain_suffix
from andre.facts.relation import Dictionary, Value, check_name
from andre.limits import check
from andre.logic import BUILTINS

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_TYPE = f"{_RDF}type"

#: Prefixes that a file need not declare to be known.
_PREFIXES = {
    "rdf": _RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": _XSD,
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "schema": "http://schema.org/",
    "dbo": "http://dbpedia.org/ontology/",
    "dbp": "http://dbpedia.org/property/",
    "dbr": "http://dbpedia.org/resource/",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
}
_INTEGERS = {
    f"{_XSD}{name}"
    for name in (
        *("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger"),
        *("negativeInteger", "nonPositiveInteger"),
        *(f"unsigned{size}" for size in ("Int", "Long", "Short", "Byte")),
    )
}
_NUMBERS = {f"{_XSD}{name}" for name in ("decimal", "double", "float")}

_PLAIN = r'[^\x00-\x20<>"{}|^`\\]*'
_IRI = rf"<{_PLAIN}(?:(?:\\u[0-9A-Fa-f]{{4}}|\\U[0-9A-Fa-f]{{8}}){_PLAIN})*>"
_BLANK = r"_:[^\s<>\"]*[^\s<>\".]"
_TEXT = r'"[^"\\\n\r]*(?:\\.[^"\\\n\r]*)*"'
_TRIPLE = re.compile(
    rf"[ \t]*({_IRI}|{_BLANK})[ \t]*({_IRI})[ \t]*"
    rf"({_IRI}|{_BLANK}|{_TEXT}(?:\^\^{_IRI}|@[A-Za-z]+(?:-[A-Za-z0-9]+)*)?)[ \t]*\.[ \t]*(?:#.*)?"
)
_NOTHING = re.compile(r"[ \t]*(?:#.*)?")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}

#: What rdflib calls the syntax of a file, by its suffix.
_SYNTAXES = {".ttl": "turtle", ".rdf": "xml", ".owl": "xml"}


class Term(NamedTuple):
    """A node of a graph: an IRI, a blank node, or a literal with its datatype."""

    kind: Literal["iri", "blank", "literal"]
    text: str
    datatype: str = ""


@dataclass
class _Graph:
    """The triples of a file over numbered terms."""

    terms: Dictionary[Term] = field(default_factory=Dictionary)
    triples: array[int] = field(default_factory=lambda: array("q"))  #: three numbers for each
    prefixes: dict[str, str] = field(default_factory=lambda: dict(_PREFIXES))


def read_rdf(path: Path) -> FactBase:
    """Read a graph: N-Triples, or Turtle and RDF/XML if rdflib is installed; compressed by gzip or not."""
    syntax = _SYNTAXES.get(plain_suffix(path))
    return _facts(_read_triples(path) if syntax is None else _parsed(path, syntax))


def _read_triples(path: Path) -> _Graph:
    graph = _Graph()
    known = _Tokens(graph.terms)
    for block in blocks(path):
        check()
        for line, text in enumerate(block.text.split("\n"), start=block.first_line):
            found = _TRIPLE.fullmatch(text)
            if found is not None:
                try:
                    one, relation, two = found.groups()
                    graph.triples.extend((known[one], known[relation], known[two]))
                except DataError as error:
                    raise fail_at(path, line, str(error)) from None
            elif _NOTHING.fullmatch(text) is None:
                hint = "write <subject> <predicate> <object> . , or name Turtle by the ending .ttl"
                raise fail_at(path, line, f"{text.strip()[:60]!r} is no triple: {hint}")
    return graph


class _Tokens(dict[str, int]):
    """A dictionary of the numbers of terms by their spelling in N-Triples."""

    def __init__(self, terms: Dictionary[Term]) -> None:
        super().__init__()
        self.terms = terms

    def __missing__(self, token: str) -> int:
        number = self[token] = self.terms[_term(token)]
        return number


def _term(token: str) -> Term:
    if token.startswith("<"):
        return Term("iri", _unescaped(token[1:-1]))
    if token.startswith("_:"):
        return Term("blank", token)
    end = token.rindex('"')
    text, rest = token[1:end], token[end + 1 :]
    return Term("literal", _unescaped(text), _unescaped(rest[3:-1]) if rest.startswith("^^") else "")


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    if digits := found[1] or found[2]:
        code = int(digits, 16)
        if code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise DataError(f"{found[0]} is no character: write its code as Unicode has it")
        return chr(code)
    if found[3] not in _ESCAPED:
        raise DataError(f"{found[0]} is no character: a backslash stands before one of t b n r f \" ' \\ u U")
    return _ESCAPED[found[3]]


def _parsed(path: Path, syntax: str) -> _Graph:
    """A graph read by rdflib."""
    try:
        import rdflib  # noqa: PLC0415  (an extra)
    except ImportError:
        raise DataError(
            f"{path} needs rdflib: pip install 'andre[rdf]', or write the graph as N-Triples"
        ) from None
    graph = _Graph()
    blank = Dictionary[Any]()  # rdflib gives blank nodes another name each time

    def number(node: Any) -> int:
        if isinstance(node, rdflib.URIRef):
            return graph.terms[Term("iri", str(node))]
        if isinstance(node, rdflib.BNode):
            return graph.terms[Term("blank", f"_:b{blank[node]}")]
        return graph.terms[Term("literal", str(node), str(getattr(node, "datatype", None) or ""))]

    class Recorder(rdflib.Graph):
        """A store for rdflib that keeps triples in the order of the file."""

        def add(self, triple: tuple[Any, Any, Any]) -> Recorder:
            check()
            graph.triples.extend(map(number, triple))
            return self

    source = Recorder(bind_namespaces="none")
    log = logging.getLogger("rdflib")
    before = log.level
    log.setLevel(logging.ERROR)  # a date that is none is text, and no reason for a traceback
    try:
        text = "".join(block.text for block in blocks(path))
        source.parse(data=text, format=syntax, publicID=path.absolute().as_uri())
    except AndreError:
        raise
    except RecursionError:
        raise DataError(f"{path} is nested too deep to be read") from None
    except Exception as error:  # of many kinds: each parser has its own
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"{path} cannot be read as {syntax}: {reason}") from None
    finally:
        log.setLevel(before)
    graph.prefixes |= {str(name): str(iri) for name, iri in source.namespaces() if name}
    return graph


def _facts(graph: _Graph) -> FactBase:
    """The facts of a graph."""
    builder, terms = Builder(), list(graph.terms)
    triples = np.frombuffer(graph.triples, dtype=np.int64).reshape(-1, 3)
    names = _short_names(terms, distinct_keys(triples[:, 1]).tolist(), graph.prefixes, lower=True)
    typed = _typed(terms, triples)
    classes = distinct_keys(triples[typed, 2])
    of_classes = _short_names(terms, classes.tolist(), graph.prefixes, lower=True)
    places = np.concatenate([triples[~typed][:, [0, 2]].ravel(), triples[typed, 0]])
    values = _values(terms, distinct_keys(places).tolist(), graph.prefixes)
    codes = np.full(len(terms), -1, dtype=np.int32)
    for number, value in values.items():
        codes[number] = builder.code(value)
    for column, named, kept, ends in (
        (1, names, ~typed, [0, 2]),
        (2, of_classes, typed, [0]),
    ):
        found = triples[kept]
        for number, rows in zip(named, _grouped(found[:, column], list(named)), strict=True):
            arguments = codes[found[rows][:, ends]]
            builder.add(named[number], arguments[(arguments >= 0).all(axis=1)])
    _remark(builder, terms, triples, typed, codes)
    return builder.finish(as_names)


def _grouped(numbers: Ints, wanted: list[int]) -> list[Ints]:
    """The indices of the rows with each of these numbers."""
    return group_rows(np.searchsorted(wanted, numbers), len(wanted))


def _typed(terms: Sequence[Term], triples: Ints) -> Bools:
    """Which triples become unary facts of a class: none if the graph also describes its classes."""
    type_of = [number for number, term in enumerate(terms) if term == Term("iri", _TYPE)]
    typed: Bools = np.isin(triples[:, 1], type_of)
    is_iri = np.fromiter((term.kind == "iri" for term in terms), np.bool_, len(terms))
    classes = distinct_keys(triples[typed, 2])
    rest = triples[~typed]
    linked = is_iri[rest[:, 2]]  # labels and comments of a class make it no thing
    things = np.concatenate([triples[typed, 0], rest[linked, 0], rest[linked, 2]])
    if not is_iri[classes].all() or np.isin(classes, things).any():
        return np.zeros(len(triples), dtype=np.bool_)
    return typed


def _values(terms: Sequence[Term], numbers: Iterable[int], prefixes: Mapping[str, str]) -> dict[int, Value]:
    """The constant of each term; None for a literal that is empty or cannot be a constant."""
    wanted = list(numbers)
    found: dict[int, Value] = dict(
        _short_names(terms, [n for n in wanted if terms[n].kind == "iri"], prefixes)
    )
    found |= {number: terms[number].text for number in wanted if terms[number].kind == "blank"}
    taken = set(found.values())
    for number in wanted:
        if terms[number].kind == "literal" and (value := _literal(terms[number])) is not None:
            # A label is mostly spelled like the thing that has it, and is another.
            quoted = isinstance(value, str) and (value in taken or value.startswith('"'))
            found[number] = f'"{value}"' if quoted else value
    return found


def _literal(term: Term) -> Value | None:
    text = term.text.strip()
    if term.datatype in _INTEGERS and re.fullmatch(r"[+-]?[0-9]{1,4000}", text):
        return int(text)
    if term.datatype in _NUMBERS and re.fullmatch(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?", text):
        with suppress(ValueError, ArithmeticError):  # what is not what it says is text all the same
            number = float(text) + 0.0
            exact = not term.datatype.endswith("decimal") or Decimal(repr(number)) == Decimal(text)
            if exact and math.isfinite(number):
                return number
    if term.datatype == f"{_XSD}boolean":
        return {"1": "true", "0": "false"}.get(text, text) or None
    try:
        return check_name(term.text) or None
    except DataError:
        return None


def _short_names(
    terms: Sequence[Term], numbers: Sequence[int], prefixes: Mapping[str, str], *, lower: bool = False
) -> dict[int, str]:
    """A unique name for each IRI: its end, else that with the prefix, else the whole IRI.

    Examples
    --------
    >>> iris = ["http://a.org/x#Ann", "http://a.org/Bob", "http://b.org/Bob", "http://xmlns.com/foaf/0.1/Bob"]
    >>> list(_short_names([Term("iri", iri) for iri in iris], range(4), _PREFIXES).values())
    ['Ann', 'http://a.org/Bob', 'http://b.org/Bob', 'foaf:Bob']
    """
    starts = sorted(prefixes.items(), key=lambda item: (-len(item[1]), item[0]))
    names: dict[int, str] = {}
    rest, taken = list(numbers), set[str]()
    for way in (_end, lambda iri: _prefixed(iri, starts), str):
        tried = {number: way(terms[number].text) for number in rest}
        if lower:  # Prolog takes a capital letter for that of a variable
            tried = {number: name[:1].lower() + name[1:] for number, name in tried.items()}
        counts = Counter(tried.values())
        good = {
            number: name
            for number, name in tried.items()
            if name and name not in BUILTINS and counts[name] == 1 and name not in taken
        }
        names |= good
        taken |= set(counts)
        rest = [number for number in rest if number not in good]
    return {number: names.get(number, f"<{terms[number].text}>") for number in numbers}


def _end(iri: str) -> str:
    """The end of an IRI, after the last of # / and : ."""
    try:
        return check_name(unquote(re.split(r"[#/:]", iri)[-1], errors="strict"))
    except (DataError, UnicodeDecodeError):
        return ""


def _prefixed(iri: str, starts: Sequence[tuple[str, str]]) -> str:
    """An IRI with its prefix; "" if it has none."""
    return next(
        (f"{name}:{iri[len(start) :]}" for name, start in starts if start and iri.startswith(start)), ""
    )


def _remark(builder: Builder, terms: Sequence[Term], triples: Ints, typed: Bools, codes: Any) -> None:
    """A remark on types and on empty literals."""
    if typed.any():
        classes = len(distinct_keys(triples[typed, 2]))
        what = "a unary relation" if classes == 1 else f"{classes:,} unary relations, one for each class"
        builder.remarks.append(f"rdf:type is read as {what}")
    elif any(term == Term("iri", _TYPE) for term in terms):
        builder.remarks.append("rdf:type is read as type/2, since classes are described as things are")
    lost = int((codes[triples[~typed][:, 2]] < 0).sum())
    if lost:
        what = "triple is" if lost == 1 else "triples are"
        builder.remarks.append(f"{lost:,} {what} left out, whose literal is empty or can be no constant")


RDF = Format(
    name="rdf",
    title="RDF",
    read=read_rdf,
    suffixes=(".nt", *_SYNTAXES),
)
