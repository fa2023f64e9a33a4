"""Random terms, rules and programs, odd spellings included."""

from hypothesis import strategies as st

from andre.logic import Atom, Constant, Evidence, Literal, Program, Rule, Variable, quote
from andre.logic.terms import compound_text, list_text

ODD_NAMES = ["not", "true", "is", "it's", "a\\b", "[a,b]", "[]", "[X]", "New York", "X", "007", "1e5", "nan"]
ODD_NAMES += [
    "é",
    "Éa",
    "a\nb",
    "\x85",
    "\u2028",
    "\ud800",
    "% c",
    "/* c",
    "p.",
    "::",
    ":-",
    "0.5::p",
    "#TEST",
]

names = st.one_of(st.sampled_from("abcpqr"), st.sampled_from(ODD_NAMES), st.text(min_size=1, max_size=6))
variables = st.sampled_from(["X", "Y", "Z", "X1", "_1", "_abc"]).map(Variable)
numbers = st.one_of(
    st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([1e20, -1e-7, 1e300])
)
simple_texts = st.one_of(names.map(quote), numbers.map(lambda number: str(Constant(number))))
functors = st.sampled_from(["f", "+", "-", "*", "/", ":", "^", "mod", "a b", "=", "[]", "X"])


def around(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Lists and compound terms of these texts, as canonical texts."""
    return st.one_of(
        st.lists(inner, max_size=2).map(list_text),
        st.builds(compound_text, functors, st.lists(inner, min_size=1, max_size=2)),
    )


#: Lists and compound terms, as constants.
ground_terms = around(st.one_of(simple_texts, around(simple_texts))).map(Constant)
constants = st.one_of(st.one_of(names, st.just(""), numbers).map(Constant), ground_terms)
terms = st.one_of(variables, constants)
atoms = st.builds(
    Atom,
    names.filter(lambda name: name not in ("=", "<", ">", "=<", ">=", "\\=")),
    st.lists(terms, max_size=3).map(tuple),
)
comparisons = st.builds(Atom, st.sampled_from(["=", "<", ">", "=<", ">=", "\\="]), st.tuples(terms, terms))
literals = st.builds(Literal, st.one_of(atoms, atoms, comparisons), st.booleans())
counts = st.one_of(st.integers(0, 10**12), st.floats(0, 1e6))
evidence = st.builds(
    lambda split, one, other: Evidence(split, max(one, other), min(one, other)),
    st.sampled_from(["train", "valid", "my split", "it's: N_b=3"]),
    counts,
    counts,
)
rules = st.builds(
    Rule,
    atoms,
    st.lists(literals, max_size=4).map(tuple),
    st.lists(evidence, max_size=2, unique_by=lambda item: item.split).map(tuple),
    st.one_of(st.just(1.0), st.floats(0, 1)),
)
programs = st.lists(rules, max_size=4).map(lambda found: Program(tuple(found)))
