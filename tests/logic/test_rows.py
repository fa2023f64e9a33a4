"""Comparisons of columns: they read back as printed, and their Prolog says of rows what they say."""

import shutil
import subprocess
from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.logic.strategies import names, numbers

from andre.logic import (
    Atom,
    Constant,
    Literal,
    Program,
    Rule,
    by_row,
    parse_program,
    parse_rule,
    read_date,
    spell_date,
    to_prolog,
)

dates = st.datetimes().map(lambda moment: moment.isoformat()).map(lambda text: text.removesuffix("T00:00:00"))
sizes = st.one_of(numbers.map(Constant), dates.map(Constant))
columns = st.one_of(
    st.builds(
        lambda sign, name, value: Atom(sign, (Constant(name), value)),
        st.sampled_from([">", "=<", "<", ">="]),
        names,
        sizes,
    ),
    st.builds(
        lambda sign, name, value: Atom(sign, (Constant(name), Constant(value))),
        st.sampled_from(["=", "\\="]),
        names,
        st.one_of(names, numbers),
    ),
)


@given(st.lists(columns.map(Literal), min_size=1, max_size=4))
def test_comparisons_of_columns_read_back_as_printed_and_so_do_their_opposites(body):
    for literals in (body, [~literal for literal in body]):
        rule = Rule(Atom("h"), tuple(literals))
        assert not any(literal.negated for literal in literals)
        assert parse_rule(str(rule)) == rule
    assert [~~literal for literal in body] == body
    assert all(literal.atom.column is not None for literal in body)


@given(st.datetimes(min_value=datetime(1600, 1, 1)))
def test_dates_are_spelled_as_python_spells_them(moment):
    text = moment.isoformat().removesuffix("T00:00:00")
    seconds = read_date(text)
    assert abs(read_date(spell_date(seconds)) - seconds) < 1e-4
    if not moment.microsecond:
        assert spell_date(seconds) == text


def test_other_comparisons_are_no_columns():
    for text in ("h(X) :- p(X), X > 42.", "h(X) :- p(X), X = red.", "h :- a < b.", "h :- 3 < 4."):
        program = parse_program(text)
        assert by_row(program) is program
        assert all(literal.atom.column is None for literal in program.rules[0].body)
    mixed = parse_program("h :- age > 42, mother(ann, bob).")
    assert by_row(mixed) is mixed


def test_variables_have_names_of_their_own():
    rule = by_row(parse_program("h :- 'a b' > 1, aB > 2, row > 3, '2nd' > 4, '%' > 5, 'A-b' =< 6.")).rules[0]
    assert str(rule) == (
        "h(Row) :- 'a b'(Row, AB), aB(Row, AB2), row(Row, Row2), '2nd'(Row, V2nd), '%'(Row, V), "
        "'A-b'(Row, AB3), AB > 1, AB2 > 2, Row2 > 3, V2nd > 4, V > 5, AB3 =< 6."
    )


values = {
    "age": st.one_of(st.none(), st.integers(-3, 3), st.sampled_from([0.5, -1.5])),
    "hair color": st.one_of(st.none(), st.sampled_from(["red", "dark red", "it's"])),
    "member": st.one_of(st.none(), st.booleans()),
}
tests = st.one_of(
    st.builds(
        lambda sign, value: Literal(Atom(sign, (Constant("age"), Constant(value)))),
        st.sampled_from([">", "=<", "<", ">="]),
        st.sampled_from([-2, 0, 0.5, 2]),
    ),
    st.builds(
        lambda sign, value: Literal(Atom(sign, (Constant("hair color"), Constant(value)))),
        st.sampled_from(["=", "\\="]),
        st.sampled_from(["red", "dark red", "it's", "blue"]),
    ),
    st.booleans().map(lambda negated: Literal(Atom("member"), negated)),
    st.builds(
        lambda column, negated: Literal(Atom("missing", (Constant(column),)), negated),
        st.sampled_from(["age", "hair color", "member"]),
        st.booleans(),
    ),
)
bodies = st.lists(tests, min_size=1, max_size=3).filter(
    lambda body: any(literal.atom.column for literal in body)
)
SIGNS = {
    ">": lambda one, other: one > other,
    "=<": lambda one, other: one <= other,
    "<": lambda one, other: one < other,
    ">=": lambda one, other: one >= other,
    "=": lambda one, other: one == other,
    "\\=": lambda one, other: one != other,
}


def holds(literal: Literal, row: dict) -> bool:
    if literal.atom.gap is not None:
        return (row[literal.atom.gap] is None) is not literal.negated
    value = row[literal.atom.column or "member"]
    if value is None:
        return False
    if literal.atom.column is None:
        return value is not literal.negated
    return SIGNS[literal.atom.predicate](value, literal.atom.args[1].value)


def facts_of(rows: list[dict]) -> list[Atom]:
    found = []
    for number, row in enumerate(rows):
        found.append(Atom("row", (Constant(f"r{number}"),)))
        for column, value in row.items():
            if value is None:
                found.append(Atom("missing", (Constant(f"r{number}"), Constant(column))))
            else:
                text = str(value).lower() if isinstance(value, bool) else value
                found.append(Atom(column, (Constant(f"r{number}"), Constant(text))))
    return found


def rows_where(bodies_: list, rows: list[dict]) -> set[str]:
    """The names of the rows that some body covers."""
    return {
        f"r{number}"
        for number, row in enumerate(rows)
        if any(all(holds(literal, row) for literal in body) for body in bodies_)
    }


def prolog_text(bodies_: list, rows: list[dict]) -> str:
    """The rules and the facts of rows; each relation is known by a fact of `none`, which is no row."""
    program = Program(tuple(Rule(Atom("h"), tuple(body)) for body in bodies_))
    known = [Atom(name, (Constant("none"), Constant(-1000))) for name in [*values, "missing"]]
    return to_prolog(program) + "".join(f"{fact}.\n" for fact in sorted(map(str, facts_of(rows) + known)))


cases = {
    "bodies_": st.lists(bodies, min_size=1, max_size=2),
    "rows": st.lists(st.fixed_dictionaries(values), min_size=1, max_size=4),
}


def test_prolog_derives_the_rows_where_the_rules_hold() -> None:
    package = pytest.importorskip("problog")
    from problog.program import PrologString

    @settings(max_examples=25, deadline=None)
    @given(**cases)
    def check(bodies_: list, rows: list[dict]) -> None:
        model = PrologString(prolog_text(bodies_, rows) + "query(h(_)).\n")
        answers = package.get_evaluatable().create_from(model).evaluate()
        found = {str(term.args[0]) for term, chance in answers.items() if chance > 0}
        assert found - {"none", "_", "X1"} == rows_where(bodies_, rows)

    check()


@pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(**cases)
def test_swi_prolog_agrees(tmp_path, bodies_, rows):
    file = tmp_path / "rows.pl"
    file.write_text(":- style_check(-discontiguous).\n" + prolog_text(bodies_, rows))
    goal = "forall(distinct(R, h(R)), (print(R), nl)), halt"
    done = subprocess.run(["swipl", "-q", "-g", goal, file], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) - {"none"} == rows_where(bodies_, rows)
