"""Random facts for the census: few constants, so that everything collides."""

from __future__ import annotations

from hypothesis import strategies as st

from andre.facts import FactBase
from andre.logic import Atom, Constant

NAMES = ("a", "b", "c", "d", "e", "f")
#: Sixteenths add up exactly in floating point, so that sums may be compared for equality.
CHANCES = (1.0, 1.0, 1.0, 0.5, 0.25, 0.8125, 0.75, 0.0)


@st.composite
def fact_bases(
    draw: st.DrawFn,
    *,
    target: int = 2,
    others: tuple[tuple[str, int], ...] = (("q", 2), ("r", 2), ("u", 1)),
    numbers: bool = False,
    chances: bool = False,
    marks: bool = False,
    denied: bool = False,
    world: str = "closed",
    max_facts: int = 14,
) -> FactBase:
    """A target p of some arity, which always has a training fact, and other relations."""
    values = [Constant(name) for name in NAMES[: draw(st.integers(4, len(NAMES)))]]
    if numbers:
        values[:3] = [Constant(1), Constant(2.5), Constant(2)]
    value = st.sampled_from(values)

    def atoms(name: str, arity: int) -> st.SearchStrategy[Atom]:
        return st.builds(lambda args: Atom(name, args), st.tuples(*[value] * arity))

    kinds = [atoms("p", target), *(atoms(*other) for other in others)]
    first = draw(kinds[0])
    background = [Atom("seen", (v,)) for v in values]  # every constant is there
    facts = list(dict.fromkeys([first, *draw(st.lists(st.one_of(kinds), min_size=2, max_size=max_facts))]))
    against = []
    if denied:
        against = [atom for atom in draw(st.lists(kinds[0], max_size=4, unique=True)) if atom not in facts]
    likely = [draw(st.sampled_from(CHANCES)) if chances else 1.0 for _ in facts]
    parts = [draw(st.sampled_from(("train", "train", "valid", "test"))) if marks else "train" for _ in facts]
    parts[0], likely[0] = "train", 1.0
    if marks:
        background = background[:-1]
    return FactBase.from_facts(
        [*facts, *background],
        negatives=against,
        probabilities=[*likely, *[1.0] * len(background)],
        marks=[*parts, *["train"] * len(background)],
        world=world,  # type: ignore[arg-type]
    )
