"""RDF: what becomes of IRIs, literals, blank nodes and types; rdflib is the oracle of N-Triples."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.errors import DataError
from andre.facts import FactBase, read_facts, write_facts
from andre.facts.formats.rdf import _facts, _parsed, _read_triples, _unescaped
from andre.facts.formats.text import sample

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
XSD = "http://www.w3.org/2001/XMLSchema#"


def shown(base: FactBase) -> set[str]:
    return {str(atom) for key in base.relations for atom in base.atoms(*key)}


def read(text: str, folder: Path, name: str = "x.nt") -> FactBase:
    (folder / name).write_text(text, encoding="utf-8")
    return read_facts(folder / name)


def test_a_graph_reads_as_people_would_write_it(tmp_path: Path) -> None:
    lines = [
        "# people",
        "<http://x.org/ann> <http://xmlns.com/foaf/0.1/knows> <http://x.org/bob> .  # they met",
        f"<http://x.org/ann> {TYPE} <http://xmlns.com/foaf/0.1/Person> .",
        f'<http://x.org/ann> <http://x.org/age> "42"^^<{XSD}integer> .',
        f'<http://x.org/ann> <http://x.org/height> "1.70"^^<{XSD}decimal> .',
        f'<http://x.org/ann> <http://x.org/glad> "1"^^<{XSD}boolean> .',
        f'<http://x.org/ann> <http://x.org/born> "2001-02-03"^^<{XSD}date> .',
        '<http://x.org/ann> <http://x.org/name> "ann"@en-GB .',
        '<http://x.org/ann> <http://x.org/nick> "caf\\u00e9\\n\\"x\\"" .',
        '<http://x.org/ann> <http://x.org/note> "" .',
        "_:b1 <http://xmlns.com/foaf/0.1/knows> <http://x.org/K%C3%B6ln> .",
        "",
    ]
    base = read("\n".join(lines), tmp_path)
    assert shown(base) == {
        "knows(ann, bob)", "person(ann)", "age(ann, 42)", "height(ann, 1.7)", "glad(ann, true)",
        "born(ann, '2001-02-03')", "name(ann, '\"ann\"')", "nick(ann, 'café\\n\"x\"')",
        "knows('_:b1', 'Köln')",
    }  # fmt: skip
    assert list(base.notes) == [
        "rdf:type is read as a unary relation",
        "1 triple is left out, whose literal is empty or can be no constant",
    ]


def test_two_iris_are_never_one_constant(tmp_path: Path) -> None:
    ends = ["http://a.org/Bob", "http://b.org/Bob", "http://xmlns.com/foaf/0.1/Bob", "http://a.org/x#Ann"]
    base = read("".join(f"<{iri}> <http://a.org/p> <http://a.org/o> .\n" for iri in ends), tmp_path)
    assert set(base.constants) == {"http://a.org/Bob", "http://b.org/Bob", "foaf:Bob", "Ann", "o"}
    base = read("<a:s> <http://a.org/p> <a:o> .\n<a:s> <http://b.org/P> <a:o> .\n", tmp_path)
    assert shown(base) == {"'http://a.org/p'(s, o)", "'http://b.org/P'(s, o)"}


def test_types_are_binary_where_classes_are_described(tmp_path: Path) -> None:
    text = f"<a:ann> {TYPE} <a:Person> .\n<a:Person> <a:subClassOf> <a:Agent> .\n"
    base = read(text, tmp_path)
    assert shown(base) == {"type(ann, 'Person')", "subClassOf('Person', 'Agent')"}
    assert "type/2" in " ".join(base.notes)
    base = read(f'<a:ann> {TYPE} <a:Person> .\n<a:Person> <a:label> "person" .\n', tmp_path)
    assert shown(base) == {"person(ann)", "label('Person', person)"}


def test_turtle_and_xml_are_read_by_rdflib(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("rdflib", reason="rdflib is not installed: pip install 'andre[rdf]'")
    turtle = """
    @prefix x: <http://x.org/> .
    @prefix y: <http://y.org/> .
    x:ann a x:Person ; x:knows x:bob, [ x:age 7 ] ; x:height 1.7 ; y:bob y:bob ;
        x:odd "x"^^<http://www.w3.org/2001/XMLSchema#date> .
    """
    wanted = {
        "person(ann)", "knows(ann, 'x:bob')", "knows(ann, '_:b0')", "age('_:b0', 7)", "height(ann, 1.7)",
        "bob(ann, 'y:bob')", "odd(ann, x)",
    }  # fmt: skip
    assert shown(read(turtle, tmp_path, "x.ttl")) == wanted
    (tmp_path / "y.TTL.gz").write_bytes(gzip.compress(turtle.encode()))
    assert shown(read_facts(tmp_path / "y.TTL.gz")) == wanted
    xml = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x.org/">'
        '<x:Person rdf:about="http://x.org/ann"><x:age>7</x:age></x:Person></rdf:RDF>'
    )
    assert shown(read(xml, tmp_path, "x.rdf")) == {"person(ann)", "age(ann, '7')"}
    assert not caplog.records  # rdflib would print a traceback for a date that is none
    for name in ("x.ttl", "x.rdf"):
        with pytest.raises(DataError, match="cannot be read as"):
            read("<a> <b", tmp_path, name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<a:b> <a:c> .\n", "line 1: '<a:b> <a:c> .' is no triple: write <subject> <predicate> <object> ."),
        ("\n<a:b> <a:c> <a:d>\n", "line 2: "),
        ('<a:b> <a:c> "\\x" .\n', r"line 1: \\x is no character"),
        ('<a:b> <a:c> "\\uD800" .\n', r"line 1: \\uD800 is no character"),
        ('"a" <a:c> <a:d> .\n', "line 1: "),
    ],
)
def test_what_is_no_triple_is_named_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        read(text, tmp_path)


def test_two_bytes_of_gzip_are_no_gzip(tmp_path: Path) -> None:
    file = tmp_path / "x.duckdb"
    start = b"\x1f\x8b\x42\x00\x00\x00\x00\x00DUCK"  # a checksum comes first in a DuckDB file
    file.write_bytes(start)
    assert sample(file) == start


def test_gzip_is_unpacked_whatever_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "x.pl.gz").write_bytes(gzip.compress(b"p(a)."))
    assert shown(read_facts(tmp_path / "x.pl.gz")) == {"p(a)"}
    (tmp_path / "y.nt.gz").write_bytes(gzip.compress(b"<a:b> <a:c> <a:d> .\n" * 100)[:-12])
    with pytest.raises(DataError, match="compressed by gzip, and damaged"):
        read_facts(tmp_path / "y.nt.gz")


def test_rdf_is_only_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="RDF is read, not written"):
        write_facts(FactBase.from_facts([]), tmp_path / "x.nt")


_ENDS = st.text("abAB.%20é/#:-_", max_size=5)
_IRIS = st.builds(
    lambda start, end: f"<{start}{end}>",
    st.sampled_from(["a:", "http://x.org/", "http://xmlns.com/foaf/0.1/"]),
    _ENDS,
)
_LITERALS = st.builds(
    lambda text, kind: f'"{text}"{kind}',
    st.sampled_from(
        ["", "a", "b", "1", "01", "-1.50", "1e3", "true", "\\u00e9", "\\\\", '\\"a\\"', "\\t", " a "]
    ),
    st.sampled_from(["", "@en", f"^^<{XSD}string>", f"^^<{XSD}double>", f"^^<{XSD}date>"]),
)
_TRIPLES = st.lists(
    st.tuples(
        _IRIS | st.sampled_from(["_:x", "_:y1"]), _IRIS | st.just(TYPE), _IRIS | _LITERALS | st.just("_:x")
    ),
    min_size=1,
    max_size=8,
)


@settings(deadline=None, max_examples=150)
@given(_TRIPLES)
def test_no_graph_loses_or_merges_anything(triples: list[tuple[str, str, str]]) -> None:
    """As many facts as triples, and as many constants as terms in the places of constants."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.nt")
        path.write_text("".join(f"{' '.join(triple)} .\n" for triple in triples), encoding="utf-8")
        graph = _read_triples(path)
        base = _facts(graph)
    terms = list(graph.terms)
    stated = {
        tuple(terms[number] for number in graph.triples[place : place + 3])
        for place in range(0, len(graph.triples), 3)
    }
    kept = {triple for triple in stated if triple[2].kind != "literal" or triple[2].text}
    assert len({name for name, arity in base.relations if arity == 2}) <= len({triple[1] for triple in kept})
    nodes = {term for triple in kept for term in (triple[0], triple[2]) if term.kind != "literal"}
    # Classes of unary relations are names of relations, not constants.
    classes = set() if ("type", 2) in base.relations else {t[2] for t in kept if f"<{t[1].text}>" == TYPE}
    others = {term for triple in kept if f"<{triple[1].text}>" != TYPE for term in (triple[0], triple[2])}
    plain = {term for term in nodes if term not in classes or term in others}
    texts = {term.text for term in others if term.kind == "literal" and not term.datatype}
    assert len(base.constants) >= len(plain) + len(texts)
    assert len(base) >= len({(t[0], t[1], t[2]) for t in kept if t[2].kind != "literal"})


@settings(deadline=None, max_examples=100)
@given(_TRIPLES)
def test_n_triples_are_read_as_rdflib_reads_them(triples: list[tuple[str, str, str]]) -> None:
    rdflib = pytest.importorskip("rdflib", reason="rdflib is not installed: pip install 'andre[rdf]'")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.nt")
        path.write_text("".join(f"{' '.join(triple)} .\n" for triple in triples), encoding="utf-8")
        own = _read_triples(path)
        with mock.patch.object(rdflib, "NORMALIZE_LITERALS", False):
            other = rdflib.Graph().parse(path, format="nt")
    terms = list(own.terms)
    found = set()
    for place in range(0, len(own.triples), 3):
        found.add(tuple((terms[n].kind, terms[n].text) for n in own.triples[place : place + 3]))
    wanted = {
        tuple(
            ("blank", "") if isinstance(node, rdflib.BNode)
            else ("iri" if isinstance(node, rdflib.URIRef) else "literal", str(node))
            for node in triple
        )
        for triple in other
    }  # fmt: skip

    def bare(kind: str, text: str) -> tuple[str, str]:
        return (kind, "" if kind == "blank" else text)

    assert {tuple(bare(*node) for node in triple) for triple in found} == wanted


def test_escapes() -> None:
    assert _unescaped("a\\tb\\u00e9\\U0001F600\\\\n") == "a\tbé😀\\n"


def test_blank_nodes_of_turtle_have_the_same_names_each_time(tmp_path: Path) -> None:
    pytest.importorskip("rdflib", reason="rdflib is not installed: pip install 'andre[rdf]'")
    path = tmp_path / "x.ttl"
    path.write_text("@prefix x: <http://x.org/> .\nx:a x:p [ x:q 1 ], [ x:q 2 ] .\n")
    assert _facts(_parsed(path, "turtle")) == _facts(_parsed(path, "turtle"))
