"""Random fact bases, from tame to odd."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from andre.facts import FactBase, Key, Relation

PLAIN_NAMES = st.sampled_from(["ann", "bob", "cy", "dee", "north_east", "x1"])
# fmt: off
TRICKY_NAMES = [
    "New York", "it's", 'say "hi"', "a,b", "a(b)", "[a,b]", "12", "007", "-3", "1e5", "1.50", "nan", "X", "_",
    "é", "日本", "#TEST", "%c", "a\tb", "a\nb", "a\r\nb", " x ", "\ufeffa", "a::b", ".", "'", "\\", "not",
    "true", "is", "\u2028", "0.5::p", "a.", "/*", "*/", "-", "pos(a)", "arg1", "NULL", "<NA>", "\x1f", "",
]
RELATION_NAMES = [
    "p", "q", "edge", "_hypernym", "P", "located in", "a/b", "é", "not", "true", "..", "12", "it's", "a,b",
    "sqlite_x", "%p", "#TEST", "0.5::p", "\ufeffp",
]
# fmt: on
ODD_NAMES = st.one_of(
    st.sampled_from(TRICKY_NAMES), st.text(max_size=6).filter(lambda name: "\0" not in name)
)
NUMBERS = st.one_of(
    st.integers(-20, 20),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, 1.0, 1e16, 1e300, 5e-324]),
)
BINARY = st.just(2)


@st.composite
def bases(
    draw: st.DrawFn,
    names: st.SearchStrategy[str] = PLAIN_NAMES,
    numbers: st.SearchStrategy[float] | None = None,
    relation_names: list[str] | None = None,
    arities: st.SearchStrategy[int] = BINARY,
    features: frozenset[str] = frozenset(),
) -> FactBase:
    """A fact base of a few relations with distinct facts."""
    values = draw(
        st.lists(
            names if numbers is None else st.one_of(names, numbers),
            min_size=2,
            max_size=6,
            unique_by=lambda value: (type(value), value),
        )
    )
    relations: dict[Key, Relation] = {}
    for name in draw(st.lists(st.sampled_from(relation_names or ["p", "q", "edge"]), min_size=1, max_size=4)):
        arity = draw(arities)
        row = st.tuples(*[st.integers(0, len(values) - 1)] * arity)
        rows = draw(st.lists(row, min_size=1, max_size=8, unique=True))
        columns = {}
        for field, cells in (
            ("negative", st.booleans()),
            ("probability", st.one_of(st.just(1.0), st.floats(0, 1))),
            ("mark", st.integers(0, 2)),
        ):
            if field in features and draw(st.booleans()):
                columns[field] = np.array([draw(cells) for _ in rows])
        if "negative" in columns and "probability" in columns:
            columns["probability"][columns["negative"]] = 1
        relations[name, arity] = Relation(
            name, np.array(rows, dtype=np.int32).reshape(len(rows), arity), **columns
        )
    return FactBase.from_relations(values, relations.values())
