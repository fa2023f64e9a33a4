"""Random populations: people, their parents and their marriages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Person:
    """A person with those parents that are known; names of men begin with m, of women with w."""

    name: str
    is_male: bool
    mother: str | None = None
    father: str | None = None

    def is_sibling(self, other: Person) -> bool:
        """Whether two different people have a known parent in common."""
        if self.name == other.name:
            return False
        return (self.mother is not None and self.mother == other.mother) or (
            self.father is not None and self.father == other.father
        )


@dataclass(frozen=True)
class _Parents:
    """Those of a generation who may have children: couples and single mothers."""

    couples: tuple[tuple[Person, Person], ...] = ()  #: (husband, wife)
    single: tuple[Person, ...] = ()  #: women whose children's father is not known


@dataclass(frozen=True)
class Population:
    """People and marriages.

    A woman marries once at most and has all her children with her husband, so
    that the husband of a mother is the father; a man may marry twice, so that
    there are half-siblings.
    """

    people: tuple[Person, ...]
    marriages: tuple[tuple[str, str], ...]  #: (husband, wife)

    @property
    def mothers(self) -> list[tuple[str, str]]:
        """Pairs of mother and child."""
        return [(person.mother, person.name) for person in self.people if person.mother is not None]

    @property
    def fathers(self) -> list[tuple[str, str]]:
        """Pairs of father and child."""
        return [(person.father, person.name) for person in self.people if person.father is not None]

    @property
    def siblings(self) -> list[tuple[Person, Person]]:
        """Ordered pairs of people with a parent in common."""
        children: dict[str, list[int]] = {}
        for place, person in enumerate(self.people):
            for parent in (person.mother, person.father):
                if parent is not None:
                    children.setdefault(parent, []).append(place)
        found = []
        for person in self.people:
            places = {
                place for parent in (person.mother, person.father) if parent for place in children[parent]
            }
            found += [
                (person, two) for two in map(self.people.__getitem__, sorted(places)) if two is not person
            ]
        return found

    @property
    def names(self) -> list[str]:
        """The names of all people."""
        return [person.name for person in self.people]


def populate(clans: tuple[tuple[tuple[int, int], ...], ...], rng: np.random.Generator) -> Population:
    """A random population of clans that do not intermarry.

    Parameters
    ----------
    clans
        For each clan and generation, how many are born into it and how many
        marry into it; the founders of a clan count as marrying in.
    rng
        Decides who marries whom and whose child one is; the numbers are fixed.

    Examples
    --------
    >>> population = populate((((0, 2), (2, 0)),), np.random.default_rng(0))
    >>> population.names, population.mothers, population.marriages
    (['w1', 'm2', 'w3', 'm4'], [('w1', 'w3'), ('w1', 'm4')], (('m2', 'w1'),))
    """
    people: list[Person] = []
    marriages: list[tuple[str, str]] = []

    def add(place: int, mother: str | None = None, father: str | None = None) -> Person:
        is_male = place % 5 in {1, 3}  # more women than men: some stay single, some marry a married man
        person = Person(f"{'m' if is_male else 'w'}{len(people) + 1}", is_male, mother, father)
        people.append(person)
        return person

    for generations in clans:
        parents = _Parents()
        for born, incoming in generations:
            births = _births(parents, born, rng)
            natives = [add(place, *pair) for place, pair in enumerate(births)]
            incomers = [add(place % 2) for place in range(incoming)]
            parents = _marry(natives, incomers, rng)
            marriages += [(husband.name, wife.name) for husband, wife in parents.couples]
    return Population(tuple(people), tuple(marriages))


def _births(parents: _Parents, born: int, rng: np.random.Generator) -> list[tuple[str, str | None]]:
    """The mother and father of each child: one child each, the others to couples at random.

    Couples come first, those with an incomer before others, so that every incomer has a child.
    """
    if not born:
        return []
    couples = [(wife.name, husband.name) for husband, wife in parents.couples]
    first = [*couples, *((woman.name, None) for woman in parents.single)][:born]
    others = [couples[place] for place in rng.integers(len(couples), size=born - len(first))]
    return [*(first[place] for place in rng.permutation(len(first))), *others]


def _marry(natives: list[Person], incomers: list[Person], rng: np.random.Generator) -> _Parents:
    """Marry as many as possible, incomers first and no siblings.

    Of the women who are left, the first marries a man who has a wife already,
    and the next has children on her own.
    """
    seekers = [*_shuffled(incomers, rng), *_shuffled(natives, rng)]
    couples: list[tuple[Person, Person]] = []
    taken: set[str] = set()
    for one in seekers:
        free = [
            two
            for two in seekers
            if one.is_male != two.is_male and not {one.name, two.name} & taken and not one.is_sibling(two)
        ]
        if free:
            two = free[-1]  # the last are natives, so that incomers marry into the clan
            couples.append((one, two) if one.is_male else (two, one))
            taken |= {one.name, two.name}
    left = [person for person in natives if not person.is_male and person.name not in taken]
    if left and (suitors := [husband for husband, _ in couples if not husband.is_sibling(left[0])]):
        couples.append((suitors[-1], left.pop(0)))
    return _Parents(tuple(couples), tuple(left[:1]))


def _shuffled(people: list[Person], rng: np.random.Generator) -> list[Person]:
    return [people[place] for place in rng.permutation(len(people))]
