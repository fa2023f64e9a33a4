"""The report of a completed knowledge base, and what its rules say of facts, against plain counts."""

from dataclasses import replace

import numpy as np
import pytest

from andre.completion import complete
from andre.facts import FactBase, read_facts
from andre.inference import covered_heads
from andre.logic import parse_atom
from andre.report import derive, explain_atom, gather_completion
from andre.report.html import render
from andre.runs import load, program_of


@pytest.fixture(scope="module")
def completion(runs):
    return load(runs.rank)


def test_an_atom_is_as_probable_as_the_surest_rule_that_covers_it(completion, runs):
    facts = read_facts(runs.likes)
    known, rules = facts.select("train"), program_of(completion)
    wanted = {}
    for rule, chance in zip(rules, completion.chances(rules), strict=True):
        for codes in covered_heads(rule, known).tolist():
            args = ", ".join(str(known.constants[code]) for code in codes)
            atom = parse_atom(f"{rule.head.predicate}({args})")
            if atom not in known:
                wanted[atom] = max(wanted.get(atom, 0.0), chance)
    wanted = {atom: chance for atom, chance in wanted.items() if chance > 5e-7}
    model = derive(completion, facts)
    assert {atom: model.probability(atom) for atom in model} == pytest.approx(wanted, abs=1e-6)
    assert wanted


def test_what_has_no_chance_is_not_derived(completion, runs):
    hopeless = replace(completion.reliability, chances=np.zeros_like(completion.reliability.chances))
    assert not len(derive(replace(completion, reliability=hopeless), read_facts(runs.likes)).derived)


def test_an_atom_is_as_probable_as_its_rank_says_where_half_of_the_answers_are_missing():
    rows = [f"seated(f{i}, c{i % 4})" for i in range(8)]
    rows += [f"employed(p{i}, f{i % 8})" for i in range(60)]
    rows += [f"works(p{i}, c{i % 4})" for i in range(30)]  # of the others nothing is known
    facts = FactBase.from_facts(map(parse_atom, rows))
    done = complete(facts)
    model = derive(done, facts)
    for place in range(30, 60, 5):
        atom = parse_atom(f"works(p{place}, c{place % 4})")
        asked = (f"works(p{place}, Y)", f"works(X, c{place % 4})")
        found = [answer for text in asked for answer in done.rank(parse_atom(text), 60)]
        wanted = max(answer.chance for answer in found if answer.atom == atom)
        assert model.probability(atom) == pytest.approx(wanted, abs=1e-6)
        assert explain_atom(done, facts, atom).probability == pytest.approx(wanted, abs=1e-6)


def test_rules_are_not_applied_to_what_they_derive():
    rows = [f"p(x{i}, y{i})" for i in range(9)] + [f"q(y{i}, x{i})" for i in range(9)]
    rows += [f"r(x{i}, y{i})" for i in range(9)]
    done = complete(FactBase.from_facts(map(parse_atom, rows)))
    facts = FactBase.from_facts([parse_atom("p(a, b)")])
    assert {str(atom) for atom in derive(done, facts)} == {"q(b, a)", "r(a, b)"}
    why = explain_atom(done, facts, parse_atom("q(b, a)"))
    assert {str(premise.literal) for firing in why.firings for premise in firing.premises} >= {"p(a, b)"}
    assert not any("r(a, b)" in str(premise) for firing in why.firings for premise in firing.premises)


def test_predictions_are_new_and_test_facts_come_first(completion):
    data = gather_completion(completion)
    train = completion.facts.select("train")
    for target in data.targets:
        for row in target.rules:
            new = {str(atom) for atom in map(_parsed, covered(row.rule, completion)) if atom not in train}
            assert {prediction.text for prediction in row.predictions} == new
            assert row.left_out == 0
            splits = [prediction.split == "" for prediction in row.predictions]
            assert splits == sorted(splits)
            for prediction in row.predictions:
                assert len(prediction.terms) == len(row.rule.variables)
                assert prediction.text == str(row.rule.head.substitute(_bound(row.rule, prediction)))
    assert data.scoring.ranking.columns[0] == "MRR"
    assert data.scoring.choices
    assert sum(count for _, _, count in data.scoring.reliability) > 0
    assert "How candidates are scored" in render(data)


def covered(rule, completion):
    facts = completion.facts
    for codes in covered_heads(rule, facts.select("train")).tolist():
        yield f"{rule.head.predicate}({', '.join(str(facts.constants[code]) for code in codes)})"


def _parsed(text):
    return parse_atom(text)


def _bound(rule, prediction):
    from andre.logic import Constant

    return {variable: Constant(term) for variable, term in zip(rule.variables, prediction.terms, strict=True)}
