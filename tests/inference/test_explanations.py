"""Explanations are proofs: what they show holds, and nothing rests on itself."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.inference import oracle
from tests.inference.strategies import base, crisp_programs, denied_facts, worlds

from andre.errors import ConfigError, LogicError
from andre.facts import FactBase, World
from andre.inference import Explainer, Explanation, explain, infer
from andre.logic import Atom, Constant, Literal, Program, comparison_holds, parse_atom, parse_program

PATHS = "path(X, Y) :- edge(X, Y). path(X, Y) :- path(X, Z), path(Z, Y)."


def graph(*edges: str) -> FactBase:
    return FactBase.from_facts([parse_atom(f"edge({a}, {b})") for a, b in edges])


def holds(literal: Literal, true: dict[Atom, float], known: FactBase) -> bool:
    if literal.is_builtin:
        return comparison_holds(literal.atom) != literal.negated
    if literal.negated and literal.atom not in true:
        return known.truth(literal.atom) is False
    return (literal.atom in true) != literal.negated


def check(explanation: Explanation, true: dict[Atom, float], known: FactBase) -> None:
    assert explanation.is_stated or explanation.firings
    for firing in explanation.firings:
        image = firing.rule.substitute(dict(firing.bindings))
        assert image.head == explanation.atom
        assert [premise.literal for premise in firing.premises] == list(image.body)
        for premise in firing.premises:
            atom = premise.literal.atom
            assert atom != explanation.atom or premise.literal.negated
            assert holds(premise.literal, true, known)
            if premise.why == "derived":
                assert atom not in known
            if premise.why in ("denied", "not known"):
                assert premise.literal.negated
                assert (premise.why == "denied") is (known.world == "open")
            if premise.explanation is not None:
                check(premise.explanation, true, known)


@settings(max_examples=60, deadline=None)
@given(crisp_programs, denied_facts, worlds)
def test_every_derived_atom_has_a_proof_and_every_other_a_failing_literal(
    program: Program, facts: dict[Atom, float], world: World
) -> None:
    true, upper = oracle.well_founded(program, facts, world)
    if true != upper:
        return
    known = base(facts, world)
    explainer = Explainer(program, known)
    for atom in true:
        check(explainer.explain(atom), true, known)
    heads = {rule.head for rule in program if not rule.head.variables} - true.keys()
    for atom in heads:
        explanation = explainer.explain(atom)
        assert explanation.firings == ()
        assert explanation.is_unknown is (known.truth(atom) is None)
        nearest = explanation.nearest
        assert nearest is not None
        assert all(holds(literal, true, known) for literal in nearest.held)
        failing = nearest.failing
        if failing.binds:
            assert not any(_matches(failing.atom, other) for other in true)
        elif not failing.is_builtin:
            assert not holds(failing, true, known)
            assert nearest.is_unknown is (failing.atom not in true)


def _matches(pattern: Atom, atom: Atom) -> bool:
    if (pattern.predicate, pattern.arity) != (atom.predicate, atom.arity):
        return False
    bindings = dict(zip(pattern.args, atom.args, strict=True))
    return pattern.substitute({v: bindings[v] for v in pattern.variables}) == atom


def test_the_nearest_rule_is_the_one_that_gets_furthest() -> None:
    facts = FactBase.from_facts(map(parse_atom, ["p(a, b)", "p(a, c)", "q(c, d)", "r(e)"]))
    rules = parse_program(
        "h(X) :- r(X). h(X) :- p(X, Y), q(Y, Z), r(Z). h(X) :- p(X, Y), q(Y, Z), s(Z), t(Z)."
    )
    text = str(explain(rules, facts, parse_atom("h(a)")))
    assert text.splitlines() == [
        "h(a) does not hold",
        "  nearest is h(X) :- p(X, Y), q(Y, Z), r(Z).",
        "    where X = a, Y = c, Z = d",
        "      p(a, c)  holds",
        "      q(c, d)  holds",
        "      r(d)  fails: no fact states it and no rule derives it",
    ]


def test_a_negation_and_a_comparison_can_be_what_fails() -> None:
    facts = FactBase.from_facts(map(parse_atom, ["p(a)", "q(a)", "n(3)"]))
    assert "\\+ q(a)  fails: it does hold" in str(
        explain(parse_program("h(X) :- p(X), \\+ q(X)."), facts, parse_atom("h(a)"))
    )
    assert "3 < 2  fails: it is not so" in str(
        explain(parse_program("h(X) :- n(X), X < 2."), facts, parse_atom("h(3)"))
    )


def test_what_an_open_world_leaves_unknown_is_said() -> None:
    facts = FactBase.from_facts(
        map(parse_atom, ["p(a)", "p(b)"]), negatives=[parse_atom("q(b)"), parse_atom("h(c)")], world="open"
    )
    program = parse_program("h(X) :- p(X), \\+ q(X).")
    assert str(explain(program, facts, parse_atom("h(a)"))).splitlines() == [
        "h(a) is unknown",
        "  nearest is h(X) :- p(X), \\+ q(X).",
        "    where X = a",
        "      p(a)  holds",
        "      \\+ q(a)  fails: the world is open, and no fact denies the atom",
    ]
    derived = explain(program, facts, parse_atom("h(b)"))
    assert "\\+ q(b)  (denied)" in str(derived)
    assert str(explain(program, facts, parse_atom("h(c)"))).startswith("h(c) does not hold")
    assert explain(program, facts, parse_atom("h(a)")).as_dict()["unknown"] is True


def test_background_rules_are_explained_by_what_they_were_run_on() -> None:
    """The program's own q comes later, and what the background derives is no doubt to the background."""
    facts = FactBase.from_facts(
        map(parse_atom, ["p(a)", "r(a)"]), negatives=[parse_atom("q(a)")], world="open"
    ).with_rules(parse_program("h(X) :- p(X), \\+ q(X). 0.3::w(X) :- r(X). h(X) :- p(X), \\+ w(X)."))
    program = parse_program("q(X) :- r(X). k(X) :- p(X), \\+ w(X).")
    explainer = Explainer(program, facts)
    by_background = explainer.explain(parse_atom("h(a)"))
    assert [str(firing.rule) for firing in by_background.firings] == ["h(X) :- p(X), \\+ q(X)."]
    assert by_background.probability == 1
    (firing,) = explainer.explain(parse_atom("k(a)")).firings
    assert firing.probability == 0.7


def test_background_rules_are_explained_too() -> None:
    facts = FactBase.from_facts([parse_atom("father(a, b)")]).with_rules(
        parse_program("parent(X, Y) :- father(X, Y).")
    )
    explanation = explain(parse_program("child(Y, X) :- parent(X, Y)."), facts, parse_atom("child(b, a)"))
    (premise,) = explanation.firings[0].premises
    assert premise.why == "derived"
    assert premise.explanation is not None
    assert str(premise.explanation.firings[0].rule) == "parent(X, Y) :- father(X, Y)."


def test_a_circle_does_not_prove_itself() -> None:
    facts = graph("ab", "ba")
    explanation = explain(parse_program(PATHS), facts, parse_atom("path(a, a)"))
    for firing in explanation.firings:
        assert all(premise.literal.atom != explanation.atom for premise in firing.premises)


def test_probabilities_are_shown() -> None:
    facts = FactBase.from_facts(map(parse_atom, ["p(a)", "q(a)"]), probabilities=[0.9, 0.3])
    program = parse_program("h(X) :- p(X), \\+ q(X).")
    explanation = explain(program, facts, parse_atom("h(a)"))
    assert explanation.probability == 0.7
    assert infer(program, facts).probability(parse_atom("h(a)")) == 0.7
    assert str(explanation).startswith("h(a) is derived, probability 0.7")


@pytest.mark.parametrize(
    ("atom", "says"),
    [("other(a)", "no rule defines other/1"), ("path(a, nowhere)", "no fact mentions nowhere")],
)
def test_what_is_not_known_is_said(atom: str, says: str) -> None:
    assert says in str(explain(parse_program(PATHS), graph("ab"), parse_atom(atom)))


@pytest.mark.parametrize("atom", ["path(X, a)", "'='(a, a)"])
def test_only_ground_atoms_of_relations_can_be_explained(atom: str) -> None:
    with pytest.raises(LogicError, match="without variables"):
        explain(parse_program(PATHS), graph("ab"), parse_atom(atom))


def test_the_explanation_of_one_atom_of_many_stays_small() -> None:
    cities = [f"c{n}" for n in range(60)]
    facts = FactBase.from_facts([parse_atom(f"edge({a}, {b})") for a in cities for b in cities if a != b])
    explanation = explain(parse_program(PATHS), facts, parse_atom("path(c0, c1)"), limit=2)
    assert len(explanation.firings) == 3
    assert explanation.as_dict()["holds"] is True


def test_an_atom_with_very_many_partial_groundings_is_explained() -> None:
    facts = FactBase.from_facts(
        [*(Atom("p", (Constant("a"), Constant(n))) for n in range(300)), Atom("q", (Constant(299),))]
    )
    program = parse_program("h(X) :- p(X, Y), q(Y).")
    for steps, shown in (
        (100, "by h(X) :- p(X, Y), q(Y).\n    where X = a, Y = 299"),
        (2, "by more groundings"),
    ):
        explainer = Explainer(program, facts, max_steps=steps)  # too few for all facts of p
        assert str(explainer.explain(parse_atom("h(a)"))).startswith(f"h(a) is derived\n  {shown}")


def test_what_only_the_atom_itself_proves_is_no_reason() -> None:
    rules = parse_program("h(X) :- b(X). h(X) :- c(X). b(X) :- h(X). b(X) :- d(X). d(X) :- b(X).")
    facts = FactBase.from_facts([parse_atom("c(a)")])
    for depth in (1, 2, 5):
        why = explain(rules, facts, parse_atom("h(a)"), depth=depth)
        assert [str(firing.rule) for firing in why.firings] == ["h(X) :- c(X)."]
    assert "c(a)" in str(explain(rules, facts, parse_atom("d(a)"), depth=5))


names = st.sampled_from("bcdefgh")


@given(st.lists(st.tuples(names, st.sets(names, min_size=1, max_size=2)), min_size=1, max_size=12), names)
def test_explanations_are_whole_proofs_however_rules_go_round(
    rules: list[tuple[str, set[str]]], stated: str
) -> None:
    text = (f"{head}(X) :- {', '.join(f'{name}(X)' for name in sorted(body))}." for head, body in rules)
    program, facts = parse_program(" ".join(text)), FactBase.from_facts([parse_atom(f"{stated}(a)")])
    explainer = Explainer(program, facts)
    for atom in infer(program, facts):
        check_proof(explainer.explain(atom, depth=20), frozenset())


def check_proof(explanation: Explanation, above: frozenset[Atom]) -> None:
    assert explanation.is_stated or explanation.firings
    above |= {explanation.atom}
    for premise in (premise for firing in explanation.firings for premise in firing.premises):
        assert premise.literal.atom not in above
        if premise.why != "stated":
            assert premise.explanation is not None
            check_proof(premise.explanation, above)


def test_a_proof_may_be_long_but_not_endless() -> None:
    facts = graph(*((chr(97 + n), chr(98 + n)) for n in range(25)))
    explainer = Explainer(parse_program(PATHS), facts)
    assert str(explainer.explain(parse_atom("path(a, z)"), depth=100)).count("(stated)") >= 25
    with pytest.raises(
        ConfigError, match="400 levels of premises are too many to read: explain 100 or fewer"
    ):
        explainer.explain(parse_atom("path(a, z)"), depth=400)
