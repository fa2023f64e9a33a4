"""The paper's printed rules: counted as by listing every grounding, and judged by what was printed."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.errors import LogicError
from andre.facts import FactBase
from andre.logic import Atom, Constant, parse_rule
from benchmarks.listings import Recounted, recount
from benchmarks.paper import DATASETS, KNOWLEDGE, LISTINGS, Printed, Published

_NAMES = ("a", "b", "c", "d")
_PAIRS = st.sets(st.tuples(st.sampled_from(_NAMES), st.sampled_from(_NAMES)), min_size=2, max_size=8)
_BODIES = (
    "p(X2, X1)",
    "q(X1, X2), \\+ p(X2, X1)",
    "q(X1, X3), p(X3, X2)",
    "\\+ q(X3, X1), p(X2, X3)",
    "\\+ p(X2, X1), \\+ q(X1, X2)",
)


@settings(max_examples=40)
@given(p=_PAIRS, q=_PAIRS, body=st.sampled_from(_BODIES), variables=st.sampled_from([3, 4]))
def test_counts_are_those_of_all_groundings(p, q, body, variables):
    tables = {"p": p, "q": q}
    facts = FactBase.from_facts(
        Atom(name, tuple(map(Constant, pair))) for name, pairs in tables.items() for pair in pairs
    )
    names = facts.constants
    if len(names) < variables:
        return
    rule = parse_rule(f"p(X1, X2) :- {body}.")
    n_b = n_r = rows = 0
    columns = [sorted({pair[place] for pair in p}) for place in (0, 1)]
    for values in product(*columns, *[names] * (variables - 2)):
        at = {f"X{place + 1}": value for place, value in enumerate(values)}
        is_fact = (values[0], values[1]) in p
        if is_fact and not _some_atom_holds(values, p, q):
            continue  # no body tells such a row: the paper leaves it out
        rows += 1
        holds = all(
            (tuple(at[str(v)] for v in literal.atom.args) in tables[literal.atom.predicate])
            != literal.negated
            for literal in rule.body
        )
        n_b, n_r = n_b + holds, n_r + (holds and is_fact)
    found = recount(Published("small", "p/2", 0.9, variables, None, None), [Printed(body)], facts)
    assert (found.rules[0].n_b, found.rules[0].n_r, found.rows) == (n_b, n_r, rows)


def _some_atom_holds(values, p, q):
    for one, two in product(range(len(values)), repeat=2):
        pair = values[one], values[two]
        if one != two and (pair in q or (pair in p and (one, two) != (0, 1))):
            return True
    return False


def test_a_printed_rule_must_be_of_the_language():
    facts = FactBase.from_facts(
        [Atom("p", (Constant("a"), Constant("b"))), Atom("p", (Constant("b"), Constant("c")))]
    )
    paper = Published("small", "p/2", 0.9, 3, None, None)
    with pytest.raises(LogicError, match="none of"):
        recount(paper, [Printed("missing(X1, X3)")], facts)


def test_what_is_equal():
    printed = Printed("p(X2, X1)", (0.9, 0.8), (90, 81), (10, 9))
    same = Recounted("p(X1, X2) :- p(X2, X1).", printed, 0.9, (100, 900), 100, 90, 10)
    assert (same.paper, same.same_counts, same.remark) == ((100, 90), True, "")
    assert same.accuracy == pytest.approx((90 + 890) / 1000)
    assert same.same_accuracy is False  # 0.9 of 0.9 and 0.1 of 0.8 are 0.89
    assert same.consistent is False
    other = Recounted("p(X1, X2) :- p(X2, X1).", printed, 0.9, (100, 900), 90, 90, 7)
    assert other.same_counts is False
    assert "no multiple of 7" in other.remark
    bare = Recounted("p(X1, X2) :- p(X2, X1).", Printed("p(X2, X1)"), 0.9, (100, 900), 0, 0, 1)
    assert (bare.same_counts, bare.same_accuracy, bare.consistent, bare.remark) == (
        None,
        None,
        None,
        "never holds",
    )
    assert len(same.line()) == len(bare.line())


def test_every_listing_is_of_a_published_target():
    published = {(line.dataset, line.target) for line in KNOWLEDGE}
    assert set(LISTINGS) <= published
    assert set(DATASETS) <= {dataset for dataset, _ in published}
    for rules in LISTINGS.values():
        for printed in rules:
            for counts in (printed.train, printed.validation):
                assert counts is None or counts[1] <= counts[0]
