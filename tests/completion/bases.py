"""Knowledge bases to complete, and settings that are quick."""

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from andre.completion import CompletionConfig, SizeConfig
from andre.facts import FactBase
from andre.logic import Atom, Constant, parse_atom

__all__ = ["FAST", "family", "islands", "ladders", "large", "small_bases"]

FAST = CompletionConfig(smoothing=(5.0,), penalties=(10.0,))


def large(config=FAST, **changes):
    """The settings under which every base counts as a large one."""
    return config.model_copy(update={"sizes": SizeConfig(small=0), **changes})


def family(n=24, seed=0, test=True):
    """parent is the inverse of child; grandparent follows; likes is noise. Some facts are held out."""
    rng = np.random.default_rng(seed)
    rows, marks = [], []

    def state(name, one, two, mark="train"):
        if mark == "test" and not test:
            return
        rows.append(Atom(name, (Constant(f"c{one}"), Constant(f"c{two}"))))
        marks.append(mark)

    for child in range(1, n):
        parent = (child - 1) // 2
        state("child", child, parent)
        state("parent", parent, child, "test" if child % 5 == 0 else "valid" if child % 5 == 1 else "train")
        if child > 2:
            state("grandparent", (parent - 1) // 2, child, "valid" if child % 7 == 0 else "train")
        state("likes", *rng.integers(0, n, 2))
    return FactBase.from_facts(rows, marks=marks)


def islands(n=30):
    """Two rings of towns, each in a land of its own; for seven towns in a row only rules can say in which."""
    rows, marks = [], []
    for land in "ab":
        for town in range(n):
            rows.append(f"near({land}{town}, {land}{(town + 1) % n})")
            marks.append("train")
            rows.append(f"in({land}{town}, {land})")
            marks.append("test" if town < 7 else "valid" if 15 <= town < 22 else "train")
    return FactBase.from_facts(map(parse_atom, rows), marks=marks)


small_bases = st.lists(
    st.tuples(st.sampled_from("pqr"), st.sampled_from("abcde"), st.sampled_from("abcde")),
    min_size=4,
    max_size=30,
).map(lambda rows: FactBase.from_facts([Atom(n, (Constant(x), Constant(y))) for n, x, y in rows]))


def ladders(n=12, steps=4):
    """far joins the ends of some steps over nodes of their own; the last three facts are held out."""
    rows = []
    for i in range(n):
        nodes = [Constant(f"{letter}{i}") for letter in "abcdef"[: steps + 1]]
        rows += [Atom(name, ends) for name, ends in zip("pqrst", pairwise(nodes), strict=False)]
        rows.append(Atom("far", (nodes[0], nodes[-1])))
    held = {rows[(steps + 1) * i + steps] for i in range(n - 3, n)}
    return FactBase.from_facts(rows, marks=["valid" if row in held else "train" for row in rows])
