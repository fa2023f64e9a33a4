"""Uncles and ancestors: definitions from one family, tried on another.

Two families are drawn, each a file of Prolog facts with a few background rules. Definitions are learned
from the first, and judged on the second, where they see mothers, fathers and who is male, and nothing else.

Run it with `python examples/run.py family [FOLDER [OPTION...]]`; it takes less than a minute. All it
makes lies in FOLDER, by default `build` beside this file. Options go to `andre learn`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

TARGETS = ("--target", "uncle/2", "--target", "ancestor/2")
RULES = """\
parent(X, Y) :- mother(X, Y).
parent(X, Y) :- father(X, Y).
sibling(X, Y) :- parent(Z, X), parent(Z, Y), X \\= Y.
"""


@dataclass
class Family:
    """People, numbered by birth, with their mothers and fathers."""

    letter: str  #: every name begins with it
    is_male: list[bool] = field(default_factory=list)
    parents: dict[int, tuple[int, int]] = field(default_factory=dict)  #: mother and father, by child

    def add(self, is_male: bool) -> int:
        """Someone whose parents nobody knows."""
        self.is_male.append(is_male)
        return len(self.is_male) - 1

    def ancestors(self, one: int) -> set[int]:
        """All from whom one descends."""
        known = self.parents.get(one, ())
        return set(known).union(*map(self.ancestors, known))

    def brothers(self, one: int) -> set[int]:
        """The brothers of one."""
        known = self.parents.get(one)
        return {two for two, theirs in self.parents.items() if theirs == known and self.is_male[two]} - {one}

    def text(self) -> str:
        """The family as Prolog: background, then examples of uncles and ancestors."""
        facts = [("male", (one,)) for one, is_male in enumerate(self.is_male) if is_male]
        for child, (mother, father) in self.parents.items():
            facts += [("mother", (mother, child)), ("father", (father, child))]
            uncles = self.brothers(mother) | self.brothers(father)
            facts += [("uncle", (uncle, child)) for uncle in sorted(uncles)]
            facts += [("ancestor", (one, child)) for one in sorted(self.ancestors(child))]
        lines = [f"{name}({', '.join(f'{self.letter}{one}' for one in who)})." for name, who in sorted(facts)]
        return RULES + "\n".join(lines) + "\n"


def draw_family(letter: str, generations: int, rng: Random) -> Family:
    """Couples with two to four children each, who marry into the family or stay alone."""
    family = Family(letter)
    couples = [(family.add(False), family.add(True)) for _ in range(2)]
    for _ in range(generations):
        children = []
        for couple in couples:
            for _ in range(rng.randint(2, 4)):
                child = family.add(rng.random() < 0.5)
                family.parents[child] = couple
                children.append(child)
        couples = []
        for one in rng.sample(children, len(children) // 2):
            other = family.add(not family.is_male[one])
            couples.append((other, one) if family.is_male[one] else (one, other))
    return family


def main(andre: Callable[..., str], folder: Path, *options: str) -> None:
    """Draw both families, learn from one, judge on the other, and write a report."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = Random(0)
    for name, letter, generations in (("family.pl", "a", 3), ("others.pl", "b", 4)):
        (folder / name).write_text(draw_family(letter, generations, rng).text())
    run, say = folder / "run", sys.stdout.write
    say(andre("learn", folder / "family.pl", *TARGETS, "--out", run, *options))
    say(andre("eval", run, folder / "others.pl"))
    say(andre("report", run))
