"""Reading is the inverse of printing, and what cannot be read is said with its line."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.logic.strategies import atoms, programs, rules

from andre.errors import AndreError, LogicError
from andre.logic import (
    BUILTINS,
    Atom,
    Constant,
    Evidence,
    Program,
    Rule,
    Variable,
    parse_atom,
    parse_clauses,
    parse_program,
    parse_rule,
)


@given(programs)
def test_printing_and_reading_a_program_are_inverse(program: Program) -> None:
    again = parse_program(str(program))
    assert again == program
    assert len(again) == len(program)
    assert str(again) == str(program)


@given(rules)
def test_printing_and_reading_a_rule_are_inverse(rule: Rule) -> None:
    assert parse_rule(str(rule)) == rule
    assert parse_rule(str(rule).removesuffix(".")) == rule


@given(atoms)
def test_printing_and_reading_an_atom_are_inverse(atom: Atom) -> None:
    assert parse_atom(str(atom)) == atom


@given(st.text(alphabet="pqXY_ab01.,:-<=\\+()[]'\"%/*|;! \n\t", max_size=40))
@example("'a\\")
@example("h(X) <= ")
@example("1\t1\t1\th(X,Y) <= ")
def test_no_text_raises_anything_but_a_sentence(text: str) -> None:
    try:
        program = parse_program(text, source="odd.pl")
    except LogicError as error:
        message = str(error)
    else:
        message = "odd.pl, line "
        assert parse_program(str(program)) == program
    assert message.startswith("odd.pl, line ")


@given(st.one_of(st.text(), st.from_regex(r"[a-z]+\([a-zA-Z0-9_., '-]*\)"), st.just("p(1e999)")))
def test_column_names_are_never_refused(text: str) -> None:
    if text and text not in BUILTINS:
        assert str(parse_atom(str(Atom.from_column(text)))) == str(Atom.from_column(text))


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("h(X):-b(X,_),c(_,X).", "h(X) :- b(X, _1), c(_2, X)."),
        ("h(X) :- p(X), not q(X).", "h(X) :- p(X), \\+ q(X)."),
        ("h(X) :- p(X), not(q(X)).", "h(X) :- p(X), \\+ q(X)."),
        ("h(X) :- p(X), \\+ (q(X)).", "h(X) :- p(X), \\+ q(X)."),
        ("h(X) :- p(X), \\+X=a.", "h(X) :- p(X), \\+ X = a."),
        ("h :- true.", "h."),
        ("h :- 'true'.", "h :- 'true'."),
        ("nothing(notx) :- notx, not notx.", "nothing(notx) :- notx, \\+ notx."),
        ("h(X) :- p(X), X=<3, X>= -2, X<4.5, X>1.", "h(X) :- p(X), X =< 3, X >= -2, X < 4.5, X > 1."),
        ("p([a, 'B c', [1,2.50]], []).", "p([a,'B c',[1,2.5]], [])."),
        ("p(\"two words\", 'it''s', 'a\\x41\\b').", "p('two words', 'it\\'s', aAb)."),
        ("_hypernym(00260881, 10462588).", "'_hypernym'('00260881', 10462588)."),
        ("0.30::h(X) :- b(X).", "0.3::h(X) :- b(X)."),
        ("h(X) <= b(X).", "h(X) :- b(X)."),
        ("h(X,Y) <= b(X,A), c(A,Y)", "h(X, Y) :- b(X, A), c(A, Y)."),
        ("h(X1,X2) <= b(X1,X2)", "h(X1, X2) :- b(X1, X2)."),
        ("% c\n:- dynamic p/2.\n:- use_module(library('a.b')).\n/* p(b). */ p(a).", "p(a)."),
        ("\ufeffp(a).\r\nq(b).\r\n", "p(a).\nq(b)."),
        ("p().", "p."),
        ("p(1e20, -3).", "p(1.0e+20, -3)."),
        ("p(single_alk(1), f( x, [1 , g('B')])).", "p(single_alk(1), f(x,[1,g('B')]))."),
        ("father(jean-jacques, a - b - c).", "father(jean-jacques, a-b-c)."),
        ("p(a-(b-c), a- -1, (a), -1-a, 1-1).", "p(a-(b-c), a-(-1), a, (-1)-a, 1-1)."),
        ("p(a*b+c/d, m:n:o, x^2).", "p((a*b)+(c/d), m:(n:o), x^2)."),
        ("h(X) :- p(X), f(a) = X, X = a-b, a \\= X.", "h(X) :- p(X), f(a) = X, X = a-b, a \\= X."),
        ("p('a-b', 'f(x) y', '2021-10-11').", "p('a-b', 'f(x) y', '2021-10-11')."),
    ],
)
def test_syntax(text: str, printed: str) -> None:
    assert str(parse_program(text)) == printed


def test_anyburl_lines_carry_counts_and_bare_constants() -> None:
    text = (
        "20\t10\t0.5\tborn_in(X,Q42) <= /people/person(X,/m/0.1)\n"
        "\n"
        "7\t7\t1.0\tin(X,Y) <= in(X,A), in(A,Y)\r\n"
        "5\t1\t0.2\tgenre(X,Alien_(film)) <= "
    )
    first, second, third = parse_program(text)
    assert first.head == Atom("born_in", (Variable("X"), Constant("Q42")))
    assert first.body[0].atom.args[1] == Constant("/m/0.1")
    assert first.evidence == (Evidence("train", 20, 10),)
    assert str(second) == "in(X, Y) :- in(X, A), in(A, Y)."
    assert third.head.args[1] == Constant("Alien_(film)")
    assert third.body == ()


def test_clauses_know_their_lines() -> None:
    clauses = parse_clauses("p(a).\n\n0.5::q(a,\n b).\n% remark\nh(X) :- p(X).\n")
    assert [(clause.line, clause.rule.probability, not clause.rule.body) for clause in clauses] == [
        (1, 1.0, True),
        (3, 0.5, True),
        (6, 1.0, False),
    ]


def test_statistics_in_comments_become_evidence() -> None:
    text = (
        "% rules\n% train: N_b=219, N_r=215, N_r/N_b=0.98\n% 'my split': N_b=0.5, N_r=0\nh(X) :- p(X).\nq(a)."
    )
    rule, fact = parse_program(text)
    assert rule.evidence == (Evidence("train", 219, 215), Evidence("my split", 0.5, 0))
    assert fact.evidence == ()


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("p(a)", 1, "end it with a dot"),
        ("p(a).\nq(b)\n\n", 2, "end it with a dot"),
        ("p(a).\nq(b) r(c).\n", 2, "'r' cannot stand here"),
        ("p(a).\n\nq(X) :- p(X) ; r(X).", 3, "one clause for each alternative"),
        ("q(X) :- p(X), !.", 1, "leave the cut out"),
        ("q(X) :- p(X, f(X)).", 1, "'X' cannot stand here"),
        ("q(X) :- p([X]).", 1, "'X]'"),
        ("q(X) :- p(X), X <= 3.", 1, "less or equal is written =<"),
        ("q(X) :- p(X), X == 3.", 1, "equality is written ="),
        ("p(a).\n'q(a).\nr(b).", 2, "never closed"),
        ("p(a). /* never\nclosed", 1, "never closed"),
        ("p(a).\n:- initialization(main).", 2, "directive"),
        ("p(a).\n1.5::q(a).", 2, "outside [0, 1]"),
        ("X = Y :- p(X, Y).", 1, "cannot stand here"),
        ("p(a).\n'='(X, Y) :- p(X, Y).", 2, "head of a rule"),
        ("''(a).", 1, "is empty"),
        ("p(1e999).", 1, "too large"),
        ("p(" + "9" * 5000 + ").", 1, "too long"),
        ("p('\\q').", 1, "no escape"),
        ("p(Éa).", 1, "needs quotes"),
        ("p(a).q(b).", 1, "cannot stand here"),
        ("1\t1\t1\th(X,Y) <= b(X,Y)\n1\t1\t1\th(X,Y) <= b(X\n", 2, ""),
        ("h :- \\+ true.", 1, "never holds"),
        ("p(a).\n\\+ p(b).", 2, "a fact that is false is written 0.0::p(x)"),
    ],
)
def test_errors_say_where_and_what(text: str, line: int, says: str) -> None:
    with pytest.raises(AndreError) as caught:
        parse_program(text, source="rules.pl")
    assert str(caught.value).startswith(f"rules.pl, line {line}: ")
    assert says in str(caught.value)


def test_deep_and_long_texts_are_read_or_refused_without_recursion() -> None:
    with pytest.raises(LogicError, match="nests deeper"):
        parse_program("p(" + "[a," * 50_000 + "[]" + "]" * 50_000 + ").")
    with pytest.raises(LogicError):
        parse_program("p(" * 50_000)
    assert len(parse_program("h :- " + ", ".join(["b"] * 20_000) + ".").rules[0].body) == 20_000
    assert parse_atom("p([[1,[2]],a])").args == (Constant("[[1,[2]],a]"),)


def test_a_rule_is_one_clause() -> None:
    with pytest.raises(LogicError, match="2 clauses"):
        parse_rule("p(a). p(b).")
