"""Where no rule is found: the nearest rule of the pool is named, and what would have helped is tried."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from andre.facts import Bias, FactBase
from andre.learning import Floor, RulePool, learn
from andre.learning.choose.rejection import Weighing
from andre.logic import Atom
from andre.samples import RuleSpace

QUICK = {"restarts": 1, "rounds": 1, "steps": 30, "invent": 0, "widen": False}


def facts_of(lines):
    return FactBase.from_facts(map(Atom.parse, lines))


def trains(n=20, seed=1):
    """Trains that go east where a car is short and closed."""
    draw, lines = Random(seed), []
    for train in range(n):
        east = False
        lines.append(f"train(t{train})")
        for car in range(draw.randint(2, 4)):
            size, roof = draw.choice(["short", "long"]), draw.choice(["closed", "open"])
            lines += [
                f"has_car(t{train}, c{train}_{car})",
                f"{size}(c{train}_{car})",
                f"{roof}(c{train}_{car})",
            ]
            east |= (size, roof) == ("short", "closed")
        if east:
            lines.append(f"eastbound(t{train})")
    return facts_of(lines)


def people(n=40, seed=2):
    draw, lines = Random(seed), []
    for person in range(n):
        age, color = draw.randint(1, 90), draw.choice(["red", "blue", "green"])
        lines += [f"person(p{person})", f"age(p{person}, {age})", f"color(p{person}, {color})"]
        lines += [f"liked(p{person})"] * (color == "red") + [f"senior(p{person})"] * (age > 50)
    return facts_of(lines)


def guests(n=60, seed=3):
    """Guests who are adults and not married."""
    draw, lines = Random(seed), []
    for guest in range(n):
        adult, married = draw.random() < 0.5, draw.random() < 0.75
        lines += [f"person(p{guest})"] + [f"adult(p{guest})"] * adult + [f"married(p{guest})"] * married
        lines += [f"invited(p{guest})"] * (adult and not married)
    return facts_of(lines)


def friends(n=60, seed=4):
    """Friends, most of whom are stated both ways, and nothing else."""
    draw, lines = Random(seed), []
    for _ in range(n):
        one, two = draw.sample(range(25), 2)
        lines += [f"friend(p{one}, p{two})"] + [f"friend(p{two}, p{one})"] * (draw.random() < 0.95)
    return facts_of([*lines, "person(p0)", "person(p1)"])


@pytest.mark.parametrize(
    ("facts", "target", "given", "option"),
    [
        (trains(), "eastbound/1", {"variables": 1}, "--variables 2"),
        (trains(), "eastbound/1", {"variables": 2, "max_body": 1}, "--set max_body=4"),
        (people(), "liked/1", {"variables": 1}, "--set constants=color/2:2"),
        (guests(), "invited/1", {"variables": 1, "negation": False}, "--set negation=true"),
        (friends(), "friend/2", {"variables": 2, "mode": "define"}, "--mode complete"),
    ],
    ids=["variables", "longer bodies", "constants", "negation", "complete"],
)
def test_what_would_have_helped_is_told_and_helps(facts, target, given, option):
    made = learn(facts, target, **QUICK, **given)[target]
    assert not len(made.program)
    assert made.reason
    assert made.advice is not None
    assert made.advice.option == option
    settings = eval(f"dict({made.advice.setting})")  # as a user would paste it
    again = learn(facts, target, **QUICK, **given | settings)[target]
    assert len(again.program)
    assert again.confusion.precision > 0.75


@pytest.mark.parametrize(
    ("limits", "option"),
    [({"max_vars": 1}, "--variables 2"), ({"max_vars": 2, "max_body": 1}, "--set max_body=4")],
)
def test_the_limits_of_a_bias_are_named_where_they_are_too_low(limits, option):
    facts = trains()
    body = tuple(key for key in facts.relations if key != ("eastbound", 1))
    biased = replace(facts, bias=Bias(head=(("eastbound", 1),), body=body, **limits))
    advice = learn(biased, "eastbound/1", **QUICK)["eastbound"].advice
    assert advice is not None
    assert advice.option == option


def test_nothing_is_advised_where_nothing_helps_or_none_is_asked_for():
    draw = Random(0)
    lines = [f"p(a{n})" for n in range(40)] + [f"h(a{n})" for n in range(40) if draw.random() < 0.5]
    made = learn(facts_of(lines), "h/1", variables=1, **QUICK)["h"]
    assert made.reason
    assert made.advice is None
    assert learn(trains(), "eastbound/1", variables=1, advise=False, **QUICK)["eastbound"].advice is None


def test_the_reason_names_the_rule_with_the_fewest_mistakes():
    """Of twenty trains eight go east: a rule that covers all of them and nothing else is the nearest."""
    space = RuleSpace.from_names(["train(X1)", "has_car(X1,X2)", "short(X2)", "closed(X2)"], "eastbound(X1)")
    bodies = np.array([[1, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 1], [0, 1, 0, 1]], dtype=np.int8)
    counts = np.array([[8.0, 12], [8, 6], [8, 0], [5, 2]])
    totals = np.array([8.0, 12])
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        pool = RulePool(space, bodies[order], counts[order])
        shown = Weighing(pool, totals, Floor()).why_nothing(None)
        assert "'eastbound(X1) :- has_car(X1, X2), short(X2), closed(X2).'" in shown
        assert "right about 8 of the 8 examples" in shown
        kept = Weighing(pool.leading(totals, 2), totals, Floor()).why_nothing(None)
        assert "right about 8 of the 8 examples" in kept


def test_a_reason_is_about_the_nearest_rule_of_the_pool():
    theory = learn(trains(), "eastbound/1", variables=2, strict=True, max_body=2, advise=False, **QUICK)
    made = theory["eastbound"]
    if len(made.program):
        pytest.skip("a rule was found")
    best = made.pool.nearest(np.array([made.counts.positive, made.counts.negative], dtype=float))[0]
    right, wrong = made.pool.counts[best]
    assert f"right about {right:g} of the {right + wrong:g} examples" in made.reason
