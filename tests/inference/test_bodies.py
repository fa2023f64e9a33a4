"""Every method of evaluating a body against every assignment of constants to variables."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.inference import oracle

from andre.errors import LogicError
from andre.facts import FactBase, Relation, World
from andre.inference import BodyEvaluator, covered_heads
from andre.inference.bodies import Limits
from andre.logic import Atom, Constant, Literal, Rule, Variable, parse_atom, parse_rule

CONSTANTS = [Constant("a"), Constant("b c"), Constant(2), Constant(2.0)]
#: No fact has them.
STRANGERS = [Constant("zoe"), Constant(3)]
X, Y, Z, W = VARIABLES = list(map(Variable, "XYZW"))
ARITY = {"p": 2, "q": 2, "h": 2, "u": 1, "t": 3, "s": 0}
SIGNS = ["=", "\\=", "<", "=<", ">", ">="]


@st.composite
def fact_bases(draw: st.DrawFn) -> FactBase:
    constants = st.sampled_from(CONSTANTS)
    names = st.sampled_from(["p", "q", "h", "h", "h", "u", "t", "s"])
    atoms = names.flatmap(lambda n: st.tuples(*[constants] * ARITY[n]).map(lambda args: Atom(n, args)))
    stated = draw(st.lists(atoms, min_size=8, max_size=20, unique=True))
    denied = [atom for atom in draw(st.lists(atoms, max_size=9, unique=True)) if atom not in stated]
    chances = [draw(st.sampled_from([1.0, 1.0, 0.7, 0.5, 0.2, 0.0])) for _ in stated]
    world: World = draw(st.sampled_from(["closed", "open"]))
    return FactBase.from_facts(stated, negatives=denied, probabilities=chances, world=world)


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    """A safe rule about h, with repeated variables, constants, negation and comparisons."""

    def atom(terms: list[Variable], name: str | None = None) -> Atom:
        name = name or draw(st.sampled_from(["p", "q", "h", "h", "h", "u", "t", "s"]))
        term = st.sampled_from([*terms * 6, *CONSTANTS, *STRANGERS])
        return Atom(name, tuple(draw(term) for _ in range(ARITY[name])))

    body = [Literal(atom(VARIABLES)) for _ in range(draw(st.sampled_from([2, 1, 3, 2, 0])))]
    bound = list(dict.fromkeys(v for literal in body for v in literal.variables))
    body += [Literal(atom(bound), negated=True) for _ in range(draw(st.sampled_from([0, 0, 1, 2])))]
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        term = st.sampled_from([*bound, *bound, CONSTANTS[2], *STRANGERS])
        compared = Atom(draw(st.sampled_from(SIGNS)), (draw(term), draw(term)))
        body.append(Literal(compared, negated=draw(st.booleans())))
    return Rule(atom(bound, "h"), tuple(draw(st.permutations(body))))


def by_force(rule: Rule, facts: FactBase, *, likely: bool, own_denial: bool) -> Counter[Atom]:
    """In how many ways each head is derived."""
    chance, spoken_of = {}, set()
    for key, relation in facts.relations.items():
        for row, atom in enumerate(facts.atoms(*key)):
            spoken_of.add(atom)
            if relation.negative is None or not relation.negative[row]:
                chance[atom] = 1.0 if relation.probability is None else float(relation.probability[row])
    true = {atom for atom, value in chance.items() if value > (0.5 if likely else 0)}
    not_false = {atom for atom, value in chance.items() if (value >= 0.5 if likely else value > 0)}

    def holds(literal: Literal, head: Atom) -> bool:
        atom = literal.atom
        if literal.is_builtin:
            return oracle.compare(atom) != literal.negated
        if literal.negated:
            known = facts.world == "closed" or atom in spoken_of
            return known and atom not in not_false and (own_denial or atom != head)
        return atom in true and atom != head

    found: Counter[Atom] = Counter()
    constants = [Constant(value) for value in facts.constants]
    for values in product(constants, repeat=len(rule.variables)):
        ground = rule.substitute(dict(zip(rule.variables, values, strict=True)))
        if all(holds(literal, ground.head) for literal in ground.body):
            found[ground.head] += 1
    return found


def written(heads: np.ndarray, rule: Rule, facts: FactBase) -> list[Atom]:
    """The atoms behind rows of codes; only a constant of the head itself can be unknown to the facts."""
    return [
        Atom(
            rule.head.predicate,
            tuple(
                Constant(facts.constants[code]) if code < len(facts.constants) else arg
                for code, arg in zip(row, rule.head.args, strict=True)
            ),
        )
        for row in heads.tolist()
    ]


@pytest.mark.parametrize("method", ["tables", "joins"])
@settings(max_examples=200, deadline=None)
@given(fact_bases(), rules(), st.booleans(), st.booleans(), st.sampled_from([1, 3, 1000]))
def test_any_rule_is_evaluated_as_every_grounding_says(
    method: str, facts: FactBase, rule: Rule, likely: bool, own_denial: bool, block: int
) -> None:
    bodies = BodyEvaluator(facts, likely=likely, own_denial=own_denial, limits=Limits(block=block))
    found = bodies.cover(rule, (method,))
    wanted = by_force(rule, facts, likely=likely, own_denial=own_denial)
    heads = written(found.heads, rule, facts)
    assert found.choice.method == method
    assert len(heads) == len(wanted)
    assert set(heads) == set(wanted)
    assert found.heads.tolist() == sorted(found.heads.tolist())
    if method == "tables":
        assert dict(zip(heads, found.groundings, strict=True)) == wanted


@st.composite
def product_rules(draw: st.DrawFn) -> Rule:
    """A rule whose body consists of binary relations between two or three distinct constants."""
    variables = VARIABLES[: draw(st.integers(2, 3))]
    pair = st.permutations(variables).map(lambda order: tuple(order[:2]))
    linked = [(X, Y)] if len(variables) == 2 else [(X, Z), (Z, Y)]
    ends = [*linked, *draw(st.lists(pair, max_size=2))]
    names = st.sampled_from(["p", "q", "h"])
    atoms = [Atom(draw(names), tuple(draw(st.permutations(two)))) for two in ends]
    signs = [False] * len(linked) + [draw(st.booleans()) for _ in ends[len(linked) :]]
    body = [Literal(atom, negated) for atom, negated in zip(atoms, signs, strict=True)]
    body = [literal for literal in body if literal.atom != Atom("h", (X, Y))] or [Literal(Atom("p", (X, Y)))]
    bound = {v for literal in body if not literal.negated for v in literal.variables}
    body += [Literal(Atom("q", two)) for two in linked if not bound >= set(two)]
    apart = [Literal(Atom("\\=", two)) for two in combinations(variables, 2)]
    return Rule(Atom("h", (X, Y)), tuple(dict.fromkeys((*body, *apart))))


@settings(max_examples=200, deadline=None)
@given(fact_bases(), product_rules(), st.booleans())
def test_products_of_matrices_count_what_every_grounding_says(
    facts: FactBase, rule: Rule, likely: bool
) -> None:
    bodies = BodyEvaluator(facts, likely=likely)
    wanted = by_force(rule, facts, likely=likely, own_denial=True)
    assert bodies.is_product(rule)
    for among in [("products", "joins"), ("tables",), ("joins",)]:
        found = bodies.cover(rule, among)
        heads = written(found.heads, rule, facts)
        assert set(heads) == set(wanted)
        if found.groundings is not None:
            assert dict(zip(heads, found.groundings.tolist(), strict=True)) == wanted


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("h(X, Y) :- p(X, Y), X \\= Y.", None),
        ("h(X, Y) :- p(Y, X), \\+ q(X, Y), Y \\= X.", None),
        ("h(X, Y) :- p(X, Z), q(Y, Z), X \\= Y, X \\= Z, Y \\= Z.", None),
        ("h(X, Y) :- p(X, Z), q(Y, Z), X \\= Y, X \\= Z.", "two variables may be the same constant"),
        (
            "h(X, Y) :- p(X, Y), q(X, Z), X \\= Y, X \\= Z, Y \\= Z.",
            "a third variable links to one end",
        ),
        ("h(X, Y) :- p(X, Y), h(X, Y), X \\= Y.", "the head stands in the body"),
        ("h(X, Y) :- p(X, Y), u(X), X \\= Y.", "an atom is not about two variables"),
        ("h(X, a) :- p(X, a), q(X, Y).", "an atom is not about two variables"),
        ("h(X, Y) :- p(X, Y), X \\= Y, X < Y.", "a comparison is not the \\= of two variables"),
        ("h(X, Y) :- p(X, Z), p(Z, W), p(W, Y).", "more than three variables"),
    ],
)
def test_the_choice_says_why(text: str, reason: str | None) -> None:
    ring = np.array([[i, (i + 1) % 5000] for i in range(5000)])
    facts = FactBase.from_relations(range(5000), [Relation("p", ring), Relation("q", ring)])
    choice = BodyEvaluator(facts).choose(parse_rule(text))
    assert choice.method == ("products" if reason is None else "joins")
    assert choice.reason.startswith("no tables: ")
    assert f"multiplications; no products: {reason};" in choice.reason or reason is None


def test_hubs_are_left_to_joins_and_few_constants_to_tables() -> None:
    star = np.array([[i, 0] for i in range(1, 60)] + [[0, i] for i in range(1, 60)])
    facts = FactBase.from_relations(range(60), [Relation("p", star)])
    rule = parse_rule("h(X, Y) :- p(X, Z), p(Z, Y), X \\= Y, X \\= Z, Y \\= Z.")
    bodies = BodyEvaluator(facts, limits=Limits(multiplications=1000, walks=1000))
    assert bodies.choose(rule).reason == (
        "no tables: more than 1,000 multiplications; no products: 3.54e+03 walks; joins take any body"
    )
    assert bodies.cover(rule).groundings is None
    assert BodyEvaluator(facts).choose(rule).method == "tables"
    assert np.array_equal(bodies.cover(rule).heads, covered_heads(rule, facts))


@pytest.mark.parametrize("method", ["tables", "products", "joins"])
@pytest.mark.parametrize(
    ("chance", "held"), [(0.7, (True, False)), (0.5, (False, False)), (0.2, (False, True))]
)
def test_at_one_half_neither_an_atom_nor_its_negation_is_likely(method, chance, held) -> None:
    atoms = [parse_atom("p(a, b)"), parse_atom("q(a, b)")]
    bodies = BodyEvaluator(FactBase.from_facts(atoms, probabilities=[1.0, chance]), likely=True)
    for literal, holds in zip(("q(X, Y)", "\\+ q(X, Y)"), held, strict=True):
        rule = parse_rule(f"h(X, Y) :- p(X, Y), {literal}, X \\= Y.")
        assert bodies.cover(rule, (method,)).heads.tolist() == [[0, 1]] * holds


def test_a_head_is_no_evidence_for_itself() -> None:
    facts = FactBase.from_facts([parse_atom("h(a, b)"), parse_atom("h(b, b)")])
    assert not len(covered_heads(parse_rule("h(X, Y) :- h(X, Y)."), facts))
    assert not len(covered_heads(parse_rule("h(X, Y) :- h(X, Z), h(Z, Y)."), facts))


def test_keys_of_many_columns_do_not_overflow() -> None:
    """Joined on five columns over 40,000 constants, which 64 bits do not hold."""
    rows = np.random.default_rng(0).integers(40_000, size=(200, 5))
    others = rows[:100].copy()
    others[50:, 4] = (others[50:, 4] + 1) % 40_000  # these differ in the last column only
    facts = FactBase.from_relations(range(40_000), [Relation("p", rows), Relation("q", others)])
    rule = parse_rule("h(A) :- p(A, B, C, D, E), q(A, B, C, D, E), \\+ r(A, B, C, D, E).")
    assert covered_heads(rule, facts).tolist() == [[code] for code in np.unique(rows[:50, 0]).tolist()]
    wide = parse_rule("h(A, B, C, D, E) :- p(A, B, C, D, E), q(A, F, G, H, I).")
    wanted = sorted(row for row in rows.tolist() if row[0] in others[:, 0])
    assert covered_heads(wide, facts).tolist() == wanted


def test_a_rule_with_a_variable_that_ranges_over_nothing_is_refused() -> None:
    facts = FactBase.from_facts([parse_atom("p(1, 2)")])
    with pytest.raises(LogicError, match="Y is free"):
        covered_heads(parse_rule("h(X) :- p(X, Z), Z < Y."), facts)
