"""Tasks on families of several generations, with half-siblings, single mothers and childless couples."""

from __future__ import annotations

from functools import partial

import numpy as np

from andre.facts.base import FactBase
from andre.facts.tasks.graphs import components
from andre.facts.tasks.population import populate
from andre.facts.tasks.task import Task, facts_of_rows

#: For each clan and generation, how many people are born into it and how many marry into it.
Clans = tuple[tuple[tuple[int, int], ...], ...]


def _grandparent(clans: Clans, rng: np.random.Generator) -> FactBase:
    people = populate(clans, rng)
    parents = people.mothers + people.fathers
    children: dict[str, list[str]] = {}
    for parent, child in parents:
        children.setdefault(parent, []).append(child)
    pairs = {(one, two) for one, child in parents for two in children.get(child, ())}
    return facts_of_rows(
        people.names, {"grandparent": sorted(pairs), "mother": people.mothers, "father": people.fathers}
    )


def _relatedness(clans: Clans, rng: np.random.Generator) -> FactBase:
    people = populate(clans, rng)
    parents = people.mothers + people.fathers
    related = [(one, two) for part in components(parents) for one in part for two in part]
    return facts_of_rows(people.names, {"related": related, "parent": parents})


def _father(clans: Clans, rng: np.random.Generator) -> FactBase:
    people = populate(clans, rng)
    siblings = people.siblings
    sisters: dict[str, list[str]] = {}
    for one, two in siblings:
        if not one.is_male:
            sisters.setdefault(two.name, []).append(one.name)
    aunts = {
        (aunt, child) for parent, child in people.mothers + people.fathers for aunt in sisters.get(parent, ())
    }
    return facts_of_rows(
        people.names,
        {
            "father": people.fathers,
            "husband": people.marriages,
            "mother": people.mothers,
            "brother": [(one.name, two.name) for one, two in siblings if one.is_male],
            "aunt": sorted(aunts),
        },
    )


def _son(founders: int, generations: tuple[tuple[int, int], ...], rng: np.random.Generator) -> FactBase:
    """Fathers and their children, none of whom is an only child.

    A generation is given by the number of men of the one before who have
    children, and by the number of these children; three of five are boys.
    """
    men = [f"m{number + 1}" for number in range(founders)]
    people = list(men)
    fathers: list[tuple[str, str]] = []
    for n_fathers, n_children in generations:
        chosen = [men[place] for place in rng.permutation(len(men))[:n_fathers]]
        whose = chosen * 2 + [
            chosen[place] for place in rng.integers(n_fathers, size=n_children - 2 * n_fathers)
        ]
        boys = rng.permutation(n_children) < 0.6 * n_children
        children = [
            f"{'m' if is_boy else 'w'}{number}" for number, is_boy in enumerate(boys, start=len(people) + 1)
        ]
        fathers += zip(whose, children, strict=True)
        people += children
        men = [child for child in children if child[0] == "m"]
    siblings = [
        (one, two) for whose, one in fathers for other, two in fathers if whose == other and one != two
    ]
    return facts_of_rows(
        people,
        {
            "son": [(child, father) for father, child in fathers if child[0] == "m"],
            "father": fathers,
            "brother": [(one, two) for one, two in siblings if one[0] == "m"],
            "sister": [(one, two) for one, two in siblings if one[0] == "w"],
        },
    )


GRANDPARENT = Task(
    name="grandparent",
    summary="Grandparents, through mothers and fathers: one rule for each of the four lines.",
    target="grandparent/2",
    variables=3,
    background=("mother/2", "father/2"),
    definition=" ".join(
        f"grandparent(X, Y) :- {one}(X, Z), {two}(Z, Y)."
        for one in ("mother", "father")
        for two in ("mother", "father")
    ),
    domains=(
        partial(_grandparent, (((0, 8), (12, 0), (18, 0), (21, 0)), ((0, 2), (2, 0)))),
        partial(
            _grandparent,
            (
                ((0, 14), (20, 0), (28, 0), (36, 0), (40, 0)),
                ((0, 8), (12, 0), (20, 2), (20, 0)),
                ((0, 2), (4, 0)),
            ),
        ),
    ),
)

SON = Task(
    name="son",
    summary="Sons of fathers, told from daughters by a brother fact: every child here has a sibling.",
    target="son/2",
    variables=3,
    background=("father/2", "brother/2", "sister/2"),
    definition="son(X, Y) :- brother(X, Z), father(Y, Z).",
    domains=(
        partial(_son, 4, ((4, 15), (6, 20), (6, 20))),
        partial(_son, 10, ((10, 35), (14, 45), (16, 50), (15, 45))),
    ),
)

RELATEDNESS = Task(
    name="relatedness",
    summary="People of one family: whom a chain of parents and children joins, whichever way it runs.",
    target="related/2",
    variables=3,
    background=("parent/2",),
    definition=(
        "related(X, Y) :- parent(X, Y). related(X, Y) :- parent(Y, X). "
        "related(X, Y) :- related(X, Z), related(Z, Y)."
    ),
    domains=(
        partial(
            _relatedness,
            (
                ((0, 2), (3, 2), (4, 2), (4, 0)),
                ((0, 4), (4, 0), (4, 0)),
                ((0, 2), (3, 0)),
                ((0, 2), (2, 0)),
                ((0, 2), (1, 0)),
            ),
        ),
        partial(
            _relatedness,
            (
                ((0, 4), (6, 2), (8, 2), (8, 2), (8, 0)),
                ((0, 2), (4, 2), (5, 2), (6, 2), (6, 0)),
                ((0, 4), (5, 2), (6, 2), (6, 0)),
                ((0, 2), (4, 2), (6, 2), (4, 0)),
                ((0, 2), (3, 0)),
                ((0, 2), (2, 0)),
                ((0, 2), (1, 0)),
            ),
        ),
    ),
)

FATHER = Task(
    name="father",
    summary="Fathers as husbands of mothers, among aunts, brothers, women alone and childless couples.",
    target="father/2",
    variables=3,
    background=("husband/2", "mother/2", "brother/2", "aunt/2"),
    definition="father(X, Y) :- husband(X, Z), mother(Z, Y).",
    domains=(
        partial(_father, (((0, 6), (10, 2), (14, 2), (12, 0)), ((0, 2), (4, 2), (4, 0)))),
        partial(
            _father,
            (
                ((0, 12), (18, 4), (24, 4), (30, 0)),
                ((0, 6), (10, 2), (14, 2), (16, 0)),
                ((0, 4), (6, 2), (8, 2), (12, 0)),
            ),
        ),
    ),
)
