"""Evidence and ranks of single rules: counts are those of trying every grounding."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.census.strategies import fact_bases

from andre.census import take_census
from andre.evaluation import CrispSample, rank_by_rules, rescore
from andre.facts import FactBase, World
from andre.inference import materialise
from andre.learning import learn
from andre.logic import Atom, Constant, Evidence, Literal, Program, Rule, Variable, parse_atom, parse_program
from andre.samples import Language

VARIABLES = [Variable(name) for name in "XYZ"]
ARITIES = {"p": 2, "q": 2, "r": 2, "u": 1}


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    """A rule about p whose variables all stand in positive literals; often about p again."""

    def atom(name: str, terms: list[Variable]) -> Atom:
        term = st.sampled_from([*terms * 2, Constant("a")])
        return Atom(name, tuple(draw(term) for _ in range(ARITIES[name])))

    names = st.sampled_from(["p", "p", "q", "r", "u"])
    body = [Literal(atom(draw(names), VARIABLES)) for _ in range(draw(st.integers(1, 3)))]
    bound = list(dict.fromkeys(v for literal in body for v in literal.variables))
    if not bound:
        return Rule(Atom("p", (Constant("a"), Constant("b"))), tuple(body))
    body += [Literal(atom(draw(names), bound), negated=True) for _ in range(draw(st.integers(0, 1)))]
    if draw(st.booleans()):
        body.append(Literal(Atom("\\=", (draw(st.sampled_from(bound)), draw(st.sampled_from(bound))))))
    return Rule(atom("p", bound), tuple(body))


def by_force(rule: Rule, facts: FactBase) -> tuple[int, int]:
    """N_b and N_r by every grounding; one that meets the atom it derives in its body does not count."""
    true = {atom for name, arity in facts.relations for atom in facts.atoms(name, arity)}
    denied = {
        atom
        for key, relation in facts.relations.items()
        for atom, is_denied in zip(
            facts.atoms(*key),
            [False] * len(relation) if relation.negative is None else relation.negative,
            strict=True,
        )
        if is_denied
    }
    stated, true = true, true - denied
    constants = [Constant(value) for value in facts.constants]
    heads = set()
    for values in product(constants, repeat=len(rule.variables)):
        ground = rule.substitute(dict(zip(rule.variables, values, strict=True)))
        held = all(
            (lit.atom.args[0] != lit.atom.args[1])
            if lit.atom.is_builtin
            else lit.atom != ground.head
            and ((lit.atom in true) != lit.negated)
            and not (lit.negated and facts.truth(lit.atom) is None)
            for lit in ground.body
        )
        if held and (not (denied or facts.world == "open") or ground.head in stated):
            heads.add(ground.head)
    return len(heads), len(heads & true)


@settings(max_examples=80)
@given(fact_bases(), st.lists(rules(), min_size=1, max_size=3), st.sampled_from(["clingo", "duckdb"]))
def test_counts_are_those_of_every_grounding(facts: FactBase, given_: list[Rule], engine: str) -> None:
    for rule in rescore(Program(tuple(given_)), facts, engine=engine):
        counted = rule.on("train")
        assert counted is not None
        assert (counted.n_b, counted.n_r) == by_force(rule, facts)


@settings(max_examples=60)
@given(fact_bases(denied=True), st.sampled_from(["closed", "open"]), rules())
def test_where_some_atoms_are_denied_only_stated_ones_count(
    facts: FactBase, world: World, rule: Rule
) -> None:
    facts = replace(facts, world=world)
    (found,) = rescore(Program((rule,)), facts)
    counted = found.on("train")
    assert counted is not None
    assert (counted.n_b, counted.n_r) == by_force(rule, facts)


@settings(max_examples=60, deadline=None)
@given(
    fact_bases(chances=True) | fact_bases(chances=True, denied=True),
    st.sampled_from(["closed", "open"]),
    st.data(),
)
def test_a_census_is_read_as_the_facts_are(facts: FactBase, world: World, data: st.DataObject) -> None:
    """Unknown atoms, and those at one half, satisfy neither a literal nor its negation in both."""
    target, other = facts.relations["p", 2], facts.relations.get(("q", 2))
    facts = replace(facts, world=world).with_relation(replace(target, probability=None))
    if other is not None:  # of q some facts are denied, and some at one half
        denied, halves = (np.arange(len(other)) % 3 == place for place in (0, 1))
        chances = np.select([denied, halves], [1.0, 0.5], other.column("probability"))
        facts = facts.with_relation(replace(other, probability=chances, negative=denied))
    language = Language("p/2", variables=data.draw(st.sampled_from([2, 2, 3])), inequality=False)
    sample = take_census(facts, language).to_sample()
    crisp, space = CrispSample.of(sample), sample.space
    codes = np.zeros((1, space.m), dtype=np.int8)
    for place in data.draw(st.lists(st.integers(0, space.m - 1), min_size=1, max_size=3, unique=True)):
        codes[0, place] = data.draw(st.sampled_from([1, -1]))
    rule = space.rule(codes[0])
    safe = replace(rule, body=(*rule.body, *(Literal(Atom("seen", (v,))) for v in rule.variables)))
    counted = rescore(Program((safe,)), facts).rules[0].on("train")
    right, wrong = crisp.body_counts(codes)[0]
    assert counted is not None
    assert (counted.n_b, counted.n_r) == (right + wrong, right)


TRIPLES = (
    "parent(ann,bob). parent(bob,cy). parent(cy,dan). parent(dan,eve). parent(ann,fay). parent(fay,gil). "
    "grand(ann,cy). grand(bob,dan). grand(cy,eve). grand(ann,gil). parent(gil,hal). parent(eve,ida). "
    "grand(fay,hal). grand(dan,ida). child(bob,ann). child(cy,bob). child(dan,cy). "
    "child(eve,dan). child(fay,ann). child(gil,fay)."
)


@pytest.mark.parametrize("target", ["grand/2", "parent/2", "child/2"])
def test_learned_rules_have_the_evidence_of_rescored_ones(target: str) -> None:
    facts = FactBase.from_facts(rule.head for rule in parse_program(TRIPLES))
    theory = learn(facts, target, mode="complete", restarts=2, rounds=1)
    assert len(theory.program)
    bare = Program(tuple(rule.with_evidence() for rule in theory.program))
    for learned, counted in zip(theory.program, rescore(bare, facts), strict=True):
        assert learned.evidence == counted.evidence


def test_old_counts_of_other_splits_and_the_probability_of_a_rule_stay() -> None:
    facts = FactBase.from_facts(map(parse_atom, ["p(a)", "p(b)", "h(a)"]))
    (old,) = parse_program("0.2::h(X) :- p(X).")
    (new,) = rescore(Program((old.with_evidence(Evidence("train", 9, 9), Evidence("test", 4, 1)),)), facts)
    assert new == old
    assert new.on("train") == Evidence("train", 2, 1)
    assert new.on("test") == Evidence("test", 4, 1)


def test_background_rules_are_run_first() -> None:
    facts = FactBase.from_facts(map(parse_atom, ["p(a,b)", "p(b,c)", "h(a,c)"]))
    facts = facts.with_rules(parse_program("path(X,Y) :- p(X,Y). path(X,Y) :- p(X,Z), path(Z,Y)."))
    (rule,) = rescore(parse_program("h(X,Y) :- path(X,Y)."), facts)
    assert rule.on("train") == Evidence("train", 3, 1)
    assert (
        rescore(parse_program("h(X,Y) :- path(X,Y)."), materialise(facts)).rules[0].evidence == rule.evidence
    )


def test_uncertain_facts_count_from_one_half() -> None:
    atoms = list(map(parse_atom, ["p(a)", "p(b)", "p(c)", "h(a)", "h(b)"]))
    facts = FactBase.from_facts(atoms, probabilities=[0.9, 0.6, 0.4, 0.8, 0.3])
    (rule,) = rescore(parse_program("h(X) :- p(X)."), facts)
    assert rule.on("train") == Evidence("train", 2, 1)


def test_a_candidate_that_no_fact_mentions_outranks_nobody() -> None:
    atoms = list(map(parse_atom, ["p(a,b)", "p(c,d)", "h(a,b)", "h(c,d)"]))
    facts = FactBase.from_facts(atoms, marks=["train", "train", "train", "test"])
    sure, strange = parse_program("h(X,Y) :- p(X,Y). h(X,zoe) :- p(X,Y).")
    counts = Evidence("train", 20, 20)
    ranks = [
        rank_by_rules(Program(tuple(rule.with_evidence(counts) for rule in rules)), facts, ("h", 2))
        for rules in ([sure], [sure, strange])
    ]
    assert ranks[0] == ranks[1]
    assert ranks[0] is not None
    assert ranks[0].mrr["realistic"] == 1
