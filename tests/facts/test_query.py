"""Questions in the spelling of the facts."""

import pytest

from andre.errors import DataError, LogicError
from andre.facts import read_facts, read_query
from andre.logic import Constant

TRIPLES = (
    ("Angela Merkel", "born in", "Hamburg, DE"),
    ("Bob O'Neil", "LivesIn", "Zürich"),
    ("http://x.org/a#1", "http://x.org/p", '"quoted"'),
    ("0012", "succ", "13"),
    ("13", "succ", "14"),
    ("who?", "asks", "Paris (city)"),
    ("x", "age", "12"),
)


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    path = tmp_path_factory.mktemp("odd") / "odd.tsv"
    path.write_text("".join("\t".join(triple) + "\n" for triple in TRIPLES), encoding="utf-8")
    return read_facts(path)


@pytest.mark.parametrize(
    ("text", "relation", "end", "place"),
    [
        ("'born in'('Angela Merkel', ?)", "born in", "Angela Merkel", 0),
        ("born in(Angela Merkel, ?)", "born in", "Angela Merkel", 0),
        ("born in(?, Hamburg, DE)", "born in", "Hamburg, DE", 1),
        ("LivesIn(Bob O'Neil, ?)", "LivesIn", "Bob O'Neil", 0),
        ("'LivesIn'('Bob O\\'Neil', ?)", "LivesIn", "Bob O'Neil", 0),
        ("LivesIn(?, Zürich)", "LivesIn", "Zürich", 1),
        ("LivesIn(X, 'Zürich')", "LivesIn", "Zürich", 1),
        ("http://x.org/p(http://x.org/a#1, ?)", "http://x.org/p", "http://x.org/a#1", 0),
        ('http://x.org/p(?, "quoted")', "http://x.org/p", '"quoted"', 1),
        ("succ(0012, ?)", "succ", "0012", 0),
        ("succ(X, 13)", "succ", "13", 1),
        ("asks('who?', ?)", "asks", "who?", 0),
        ("asks(who?,?).", "asks", "who?", 0),
        ("asks(?, Paris (city))", "asks", "Paris (city)", 1),
        ("age(?, 12)", "age", 12, 1),
        ("age(x, Y)", "age", "x", 0),
    ],
)
def test_a_question_finds_what_the_file_says(facts, text, relation, end, place):
    query = read_query(text, facts)
    assert query.predicate == relation
    assert query.args[place] == Constant(end)
    assert len(query.variables) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("LivesIn(Zurich, ?)", "no fact mentions 'Zurich': did you mean 'Zürich'"),
        ("succ(99, ?)", "no fact mentions '99': check its spelling"),
        ("livesin(x, ?)", "there is no such relation: did you mean LivesIn"),
        ("q(x, ?)", "there is no such relation: choose from born in, LivesIn"),
        ("age(X)", "only relations of two arguments are ranked: did you mean age"),
        ("age(x, 12)", r"must leave one place open, as in age\(x, \?\)"),
        ("age(X, Y)", "must leave one place open"),
        ("age(?, ?)", "leaves both places open"),
    ],
)
def test_what_cannot_be_asked(facts, text, says):
    with pytest.raises(DataError, match=says):
        read_query(text, facts)


@pytest.mark.parametrize("text", ["", "?", "age(x", "age(, ?)", "age(?)"])
def test_what_is_no_question(facts, text):
    with pytest.raises(LogicError, match=r"is no question: name a relation and one end, as in isa\(x, \?\)"):
        read_query(text, facts)
