"""Rules as sentences: what names say, what users say instead, and that nothing is lost on the way."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andre.errors import LogicError
from andre.logic import (
    Atom,
    Literal,
    Phrases,
    Rule,
    Variable,
    parse_program,
    parse_rule,
    readable,
    to_english,
)

SAID = {
    "uncle(X1,X2) :- male(X1), parent(X3,X2), sibling(X3,X1).": (
        "X is an uncle of Y if X is male, some Z is a parent of Y and Z is a sibling of X."
    ),
    "citizen_of(X,Y) :- lives_in(X,Z), city_in(Z,Y), X \\= Y, X \\= Z, Y \\= Z.": (
        "X is a citizen of Y if X lives in some Z, Z is a city in Y, and X, Y and Z all differ."
    ),
    "eastbound(X1) :- has_car(X1,X2), short(X2), \\+ has_roof(X2).": (
        "X is eastbound if X has a car Y, Y is short and Y does not have a roof."
    ),
    "locatedIn(X,Y) :- neighborOf(X,Z), \\+ borders(Z,Y).": (
        "X is located in Y if X is a neighbor of some Z and Z does not border Y."
    ),
    "species(setosa) :- 'petal length (cm)' =< 2.5, color = red.": (
        "species is setosa if petal length (cm) is at most 2.5 and color is red."
    ),
    "old(X1) :- age(X1,X2), \\+ X2 < 60.": "X is old if X is an age of some Y and Y is at least 60.",
    "repaid(no) :- missing(income), \\+ missing(age), age > 42.": (
        "repaid is no if income is missing, age is not missing and age is more than 42."
    ),
    "rich :- income > 62500, \\+ debts > 1200000.5.": (
        "rich if income is more than 62,500 and debts is at most 1,200,000.5."
    ),
    "late(X) :- born(X,Y), Y >= 1998, Y < 1e20.": (
        "X is a late if X is born to some Y, Y is at least 1998 and Y is less than 1e+20."
    ),
    "h :- b1, \\+ b3.": "h if b1 and not b3.",
    "flies(X) :- bird(X), \\+ penguin(X).": "X flies if X is a bird and X is not a penguin.",
    "greater(X,Y) :- greater_than(X,Y), married_to(X,Y), \\+ knows(X,Y).": (
        "X is a greater of Y if X is greater than Y, X is married to Y and X does not know Y."
    ),
    "illegal(X1,X2,X1).": "illegal holds of X, Y and X, whatever X and Y may be.",
    "0.8::p(X) :- q(X).": "With probability 0.8, X is a p if X is a q.",
}


@pytest.mark.parametrize(("rule", "sentence"), SAID.items())
def test_names_say_what_relations_mean(rule, sentence):
    assert Phrases().sentence(parse_rule(rule)) == sentence


def test_a_property_is_said_of_its_owner():
    rule = parse_rule("liked(X1) :- color(X1, red), \\+ shape(X1, round).")
    known = Phrases(properties=frozenset([("color", 2), ("shape", 2)]))
    assert known.sentence(rule) == "X is liked if the color of X is red and the shape of X is not round."


def test_users_say_it_otherwise_by_name_or_arity():
    rules = parse_program("boss(X,Y) :- manages(X,Y). boss(X) :- manages(X,Y), \\+ retired(X).")
    phrases = Phrases({"boss/2": "{1} tells {2} what to do", "retired": "{1} is at home"})
    assert to_english(rules, phrases) == (
        "X tells Y what to do if X manages Y.\nX is a boss if X manages some Y and X is not at home.\n"
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("uncle = 3", "no text"),
        ("uncle = ''", "no text"),
        ('"uncle/2" = "{1} and {3}"', "up to {2}"),
        ('uncle = "{} and {1}"', "arguments are {1}, {2}"),
        ("uncle = ", "cannot be read as TOML"),
    ],
)
def test_a_file_of_phrases_that_is_wrong_is_refused_with_its_name(tmp_path, text, complaint):
    (tmp_path / "phrases.toml").write_text(text)
    with pytest.raises(LogicError, match=re.escape(complaint)) as refused:
        Phrases.read(tmp_path / "phrases.toml")
    assert "phrases.toml" in str(refused.value)
    with pytest.raises(LogicError, match="there is no file"):
        Phrases.read(tmp_path / "none.toml")


names = st.from_regex(r"[a-z][a-zA-Z0-9_]{0,11}", fullmatch=True)
terms = st.sampled_from([Variable(f"X{n}") for n in range(1, 5)])
atoms = st.builds(lambda name, args: Atom(name, tuple(args)), names, st.lists(terms, max_size=4))
rules = st.builds(
    lambda head, body: Rule(head, tuple(body)),
    atoms,
    st.lists(st.builds(Literal, atoms, st.booleans()), max_size=4),
)


@given(rules)
def test_every_rule_is_said_in_one_line_with_all_its_variables(rule):
    sentence = Phrases().sentence(rule)
    assert sentence.endswith(".")
    for variable in readable(rule).variables:
        assert re.search(rf"\b{variable}\b", sentence)
    assert readable(readable(rule)) == readable(rule) == rule
