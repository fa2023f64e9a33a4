"""Every writer that has a reader gives back what it was given."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.logic.strategies import names, programs, variables

from andre.errors import LogicError
from andre.logic import (
    BUILTINS,
    PROGRAM_FORMATS,
    Atom,
    Constant,
    Evidence,
    Literal,
    Program,
    Rule,
    Variable,
    by_row,
    format_program,
    parse_program,
    read_program,
    write_program,
)


def certain(program: Program) -> Program:
    return Program(tuple(Rule(rule.head, rule.body, rule.evidence) for rule in program))


def distinct(program: Program) -> Program:
    """Each rule once: a table keeps the splits of a rule in rows that follow one another."""
    return Program(tuple({str(rule): rule for rule in program}.values()))


def is_bare(name: str) -> bool:
    return name.isprintable() and not set(name) & set(" (),%") and name not in BUILTINS


horn_terms = st.one_of(variables, names.map(Constant), st.integers().map(Constant))
horn_atoms = st.builds(Atom, names.filter(is_bare), st.lists(horn_terms, min_size=1, max_size=2).map(tuple))
trained = st.integers(0, 10**9).map(lambda n: (Evidence("train", n, n // 3),))
horn_rules = st.builds(
    Rule, horn_atoms, st.lists(st.builds(Literal, horn_atoms), max_size=3).map(tuple), trained
)
horn_programs = st.lists(horn_rules, min_size=1, max_size=4).map(lambda rules: Program(tuple(rules)))


def mixes_codes(program: Program) -> bool:
    """Whether there are numbers beside names such as 007, which AnyBURL cannot tell apart."""
    atoms = [atom for rule in program for atom in (rule.head, *(literal.atom for literal in rule.body))]
    values = [arg.value for atom in atoms for arg in atom.args if isinstance(arg, Constant)]
    codes = any(isinstance(value, str) and re.fullmatch("-?0[0-9]+", value) for value in values)
    return codes and any(isinstance(value, int) for value in values)


#: What each format can hold.
HOLDS = {
    "prolog": programs.map(certain),
    "problog": programs,
    "anyburl": horn_programs.filter(lambda program: not mixes_codes(program)),
    "json": programs,
    "csv": programs.map(distinct),
}


def test_every_format_has_its_programs() -> None:
    assert set(HOLDS) == set(PROGRAM_FORMATS)


@pytest.mark.parametrize("format", PROGRAM_FORMATS)
def test_round_trips_lose_nothing(format: str) -> None:
    @given(HOLDS[format])
    def check(program: Program) -> None:
        again = PROGRAM_FORMATS[format].read(format_program(program, format), "again")
        written = by_row(program) if format in ("prolog", "problog") else program
        assert len(again) == len(program)
        for one, other in zip(again, written, strict=True):
            assert one == other
            assert one.evidence == other.evidence

    check()


@pytest.mark.parametrize("format", PROGRAM_FORMATS)
def test_files_are_written_whole_or_not_at_all(format: str, tmp_path: Path) -> None:
    program = parse_program("219\t215\t0.98\th(X,Y) <= b(X,A), c(A,Y)")
    path = tmp_path / f"rules{PROGRAM_FORMATS[format].endings[0]}"
    path.write_text("before")
    broken = Program((*program.rules, parse_program("p(a).").rules[0].with_evidence(_Broken())))
    with pytest.raises(_BrokenError):
        write_program(broken, path)
    assert [(item.name, item.read_text()) for item in tmp_path.iterdir()] == [(path.name, "before")]
    write_program(program, path)
    again = read_program(path)
    assert again == program
    assert again.rules[0].evidence == program.rules[0].evidence
    assert [item.name for item in tmp_path.iterdir()] == [path.name]


class _BrokenError(Exception):
    pass


class _Broken(Evidence):
    def __init__(self) -> None:
        pass

    def __getattribute__(self, name: str) -> object:
        if name in ("split", "n_b", "n_r"):
            raise _BrokenError
        return super().__getattribute__(name)


@given(programs)
def test_the_frame_has_a_row_for_each_rule_and_split(program: Program) -> None:
    frame = program.to_frame()
    assert list(frame.columns) == ["rule", "support", "N_b", "N_r", "confidence", "split"]
    assert len(frame) == sum(max(1, len(rule.evidence)) for rule in program)
    counted = frame.dropna(subset=["split"])
    expected = [(str(r), e.n_r, e.n_b, e.n_r, e.confidence, e.split) for r in program for e in r.evidence]
    assert [tuple(row) for row in counted.itertuples(index=False)] == expected


@pytest.mark.parametrize(
    ("format", "text", "says"),
    [
        ("prolog", "0.3::h(X) :- b(X).", "probability"),
        ("anyburl", "h(X) :- b(X), \\+ c(X).", "neither negation"),
        ("anyburl", "h(X) :- b(X), X < 3.", "nor comparison"),
        ("anyburl", "h :- b.", "arguments"),
        ("anyburl", "'a b'(X) :- b(X).", "no blanks"),
        ("anyburl", "h(X, 3) :- b(X, '007').", "number 3"),
        ("anyburl", "h(X) :- " + ", ".join(f"b(X, Y{n})" for n in range(30)) + ".", "variables"),
        ("anyburl", "0.3::h(X) :- b(X).", "probability"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(format: str, text: str, says: str) -> None:
    with pytest.raises(LogicError, match=says):
        format_program(parse_program(text), format)


def test_anyburl_leaves_object_identity_to_anyburl() -> None:
    text = format_program(parse_program("h(X1, X2) :- b(X1, X3), b(X3, X2), X1 \\= X2."), "anyburl")
    assert text == "0\t0\t0.0\th(X,Y) <= b(X,A), b(A,Y)\n"


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        (
            "rules.pl",
            "h(X) :- b(X).\np(caf\xe9).".encode("latin-1"),
            "line 2: this is not UTF-8",
        ),
        ("rules.json", b"{", "line 1: this is not JSON"),
        ("rules.json", b"[" * 200_000, "nests too deep|not JSON"),
        ("rules.json", b"{}", "no program"),
        ("rules.json", b'{"format": "andre program", "version": 9}', "version 9"),
        ("rules.json", b'{"format": "andre program", "version": 1, "rules": [{}]}', "lacks a part"),
        ("rules.csv", b"a,b\n1,2\n", "no column"),
        ("rules.csv", b"rule,N_b,N_\r,split\nh.,1,2,train\n", "rules.csv, line 1: "),
        ("rules.csv", b"rule,N_b,N_r,split\nh(X,1,2,train\n", "line 2"),
        ("rules.csv", b"rule,N_b,N_r,split\nh.,many,2,train\n", "N_b and N_r are counts"),
    ],
)
def test_damaged_files_are_refused_by_name(name: str, data: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(LogicError, match=says) as caught:
        read_program(path)
    assert str(caught.value).startswith(str(path))


def test_unknown_formats_and_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LogicError, match="names no format"):
        write_program(Program(), tmp_path / "rules.xyz")
    with pytest.raises(LogicError, match="choose prolog, problog"):
        format_program(Program(), "datalog")
    assert list(tmp_path.iterdir()) == []


def test_json_carries_the_prolog_of_each_rule_for_people() -> None:
    document = json.loads(format_program(parse_program("h(X) :- b(X)."), "json"))
    assert document["rules"][0]["rule"] == "h(X) :- b(X)."


@pytest.fixture(scope="module")
def problog() -> Callable[[str], dict[str, float]]:
    """The real ProbLog: what it computes for `query` clauses."""
    package = pytest.importorskip("problog")
    from problog.program import PrologString

    def run(text: str) -> dict[str, float]:
        found = package.get_evaluatable().create_from(PrologString(text)).evaluate()
        return {str(atom).replace(" ", ""): value for atom, value in found.items()}

    return run


FAMILY = """
parent(ann, 'Bob B'). parent('Bob B', cy). parent(cy, 'it\\'s'). male(cy). age(ann, 70). age(cy, -3).
age('Bob B', 1.5e1).
"""
RULES = """
% train: N_b=4, N_r=3, N_r/N_b=0.7500
anc(X, Y) :- parent(X, Y).
% train: N_b=8, N_r=4, N_r/N_b=0.5000
anc(X, Y) :- parent(X, Z), anc(Z, Y), X \\= Y.
old(X) :- age(X, N), N >= 15, \\+ male(X).
"""


@pytest.mark.filterwarnings("ignore")
def test_real_problog_runs_the_exported_prolog(problog: Callable[[str], dict[str, float]]) -> None:
    program = parse_program(RULES)
    from andre.facts import FactBase
    from andre.inference import infer

    facts = FactBase.from_facts(rule.head for rule in parse_program(FAMILY))
    expected = {str(atom).replace(" ", ""): 1.0 for atom in infer(program, facts)}
    text = format_program(program, "prolog") + FAMILY + "query(anc(_, _)). query(old(_))."
    assert problog(text) == expected
    assert len(expected) == 8


@pytest.mark.filterwarnings("ignore")
def test_real_problog_reads_confidence_as_probability(problog: Callable[[str], dict[str, float]]) -> None:
    text = format_program(parse_program(RULES), "problog") + FAMILY + "query(anc(ann, _))."
    found = problog(text)
    assert found["anc(ann,'BobB')"] == pytest.approx(0.75)
    assert found["anc(ann,cy)"] == pytest.approx(0.75 * 0.5)


def test_variables_are_renamed_for_anyburl() -> None:
    rule = Rule(Atom("h", (Variable("Foo"), Constant("X"))), (Literal(Atom("b", (Variable("Foo"),))),))
    assert format_program(Program((rule,)), "anyburl") == "0\t0\t0.0\th(X,'X') <= b(X)\n"
