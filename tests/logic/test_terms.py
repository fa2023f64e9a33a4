"""Lists and compound terms are constants, and Prolog reads them as they are meant."""

from __future__ import annotations

import shutil
import subprocess
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.logic.strategies import ground_terms

from andre.logic import Constant, is_term, parse_atom
from andre.logic.terms import DEEPEST_TERM, spell_term

# Two texts to a line: whether Prolog reads them as one term.
COMPARE = """
:- initialization(main, main).
main :-
    set_stream(user_input, encoding(utf8)), set_prolog_flag(double_quotes, atom),
    repeat, read_term(Pair, []),
    (   Pair == end_of_file -> !
    ;   Pair = pair(A, B), ( A == B -> writeln(same) ; writeln(other) ), fail
    ).
"""
FEW = settings(max_examples=10, suppress_health_check=list(HealthCheck))
encodable = ground_terms.filter(lambda term: "d800" not in str(term) and "0000" not in str(term))


def compare(pairs: list[tuple[str, str]], folder: str) -> list[str]:
    program = f"{folder}/compare.pl"
    with open(program, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(COMPARE)
    lines = "".join(f"pair({one}, {other}).\n" for one, other in pairs)
    done = subprocess.run(
        ["swipl", "-f", "none", program], input=lines.encode(), capture_output=True, check=True, timeout=60
    )
    assert not done.stderr
    return done.stdout.decode().split()


@given(ground_terms)
def test_a_term_reads_back_whichever_way_it_is_written(term: Constant) -> None:
    assert is_term(str(term.value))
    assert parse_atom(f"t({term})").args == (term,)
    assert parse_atom(f"t({term.canonical})").args == (term,)


@pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")
@FEW
@given(terms=st.lists(encodable, min_size=1, max_size=30))
def test_prolog_reads_the_same_terms(tmp_path_factory: pytest.TempPathFactory, terms: list[Constant]) -> None:
    folder = str(tmp_path_factory.mktemp("terms"))
    assert set(compare([(str(term), term.canonical) for term in terms], folder)) == {"same"}
    pairs = list(pairwise(terms))
    assume(pairs)
    said = compare([(str(one), str(other)) for one, other in pairs], folder)
    assert said == ["same" if one == other else "other" for one, other in pairs]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[a,[b,c]]", "[a,[b,c]]"),
        ("f(x,[1])", "f(x,[1])"),
        ("'-'(jean,jacques)", "jean-jacques"),
        ("'-'('-'(a,b),c)", "a-b-c"),
        ("'-'(a,'-'(b,c))", "a-(b-c)"),
        ("'+'('*'(2,x),-1)", "(2*x)+(-1)"),
        ("f('-'(not,a))", "f('-'(not,a))"),
        ("'-'(a)", "'-'(a)"),
    ],
)
def test_operators_stand_between_their_arguments(text: str, shown: str) -> None:
    assert spell_term(text) == str(Constant(text)) == shown


@pytest.mark.parametrize(
    "name",
    [
        "Smith (John)",
        "Alien(film)",
        "a-b",
        "2021-10-11",
        "f(X)",
        "f( a)",
        "f()",
        "[a",
        "[a]b",
        "f(01)",
        "[,]",
    ],
)
def test_other_names_stay_names(name: str) -> None:
    assert not is_term(name)
    assert str(Constant(name)).startswith("'")
    assert parse_atom(f"t({Constant(name)})").args == (Constant(name),)


def test_what_nests_too_deep_is_a_name() -> None:
    text = "[" * (DEEPEST_TERM + 1) + "]" * (DEEPEST_TERM + 1)
    assert is_term(text)
    assert not is_term(f"[{text}]")
