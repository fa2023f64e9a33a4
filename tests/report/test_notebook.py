"""What a notebook shows: small tables, every name escaped; figures as axes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andre.facts import FactBase
from andre.learning import Config, fit
from andre.logic import Atom, Constant, Literal, Program, Rule, parse_program
from andre.samples import SYNTHETIC_TASKS


@pytest.fixture(scope="module")
def result():
    return fit(
        SYNTHETIC_TASKS["four"].sample(100, seed=0), Config.preset(restarts=2, rounds=1, subrules=(2,))
    )


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))
def test_a_name_is_never_markup(name):
    atom = Atom(name, (Constant(name),))
    for thing in (Program((Rule(atom, (Literal(atom),)),)), FactBase.from_facts([atom])):
        shown = thing._repr_html_()
        assert shown.count("<td") == shown.count("</td>")
        assert shown.count("<code>") == 1
        assert shown.count("<") == shown.count(">")


def test_a_program_shows_its_rules_and_counts(result):
    shown = result.program._repr_html_()
    for rule in result.program:
        assert f"<code>{rule}</code>".replace("'", "&#x27;") in shown
        assert f">{rule.evidence[0].n_b:g}<" in shown
    assert "No rule" in Program()._repr_html_()
    assert (
        "10 more rules"
        in Program(tuple(parse_program(f"h :- b{n}.").rules[0] for n in range(60)))._repr_html_()
    )


def test_a_result_says_how_it_fared(result):
    shown = result._repr_html_()
    assert f"{len(result.runs)} runs" in shown
    assert "Accuracy: train 1.0000 on 100 rows." in shown


def test_facts_show_their_relations_largest_first():
    facts = FactBase.from_facts([Atom.parse(text) for text in ("p(a)", "q(a,b)", "q(b,a)")])
    shown = facts._repr_html_()
    assert shown.index("q/2") < shown.index("p/1")
    assert "FactBase(3 facts, 2 relations, 2 constants)" in shown


def test_a_result_draws_itself(result):
    pytest.importorskip("matplotlib")
    from matplotlib.axes import Axes

    for draw in (result.plot_losses, result.plot_accuracy, result.plot_probabilities):
        assert isinstance(draw(), Axes)
    own = result.plot_losses(runs="mean")
    assert result.plot_accuracy(ax=own) is own
