"""Uncles, ancestors and cousins among 2,000 people: definitions from one population, tried on another.

Two populations are drawn, one of 2,000 people to learn from and one of 600 to judge by, each a file of Prolog
facts: who is whose parent and sibling, and who is male. Everything about uncles, ancestors and cousins
that is not stated is false.

Run it with `python examples/run.py population [FOLDER [OPTION...]]`. All it makes lies in FOLDER, by
default `build` beside this file. Options go to `andre learn`.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from andre.facts.tasks.population import Population, populate

TARGETS = ("uncle/2", "ancestor/2", "cousin/2")
Pairs = set[tuple[str, str]]


def draw(clans: int, rng: np.random.Generator) -> Population:
    """Clans of four generations, fifty people in each."""
    return populate((((0, 8), (12, 2), (14, 2), (12, 0)),) * clans, rng)


def related(people: Population, target: str) -> dict[str, Pairs]:
    """Parents, siblings, and one of the relations that are to be learned from them."""
    parents = {*people.mothers, *people.fathers}
    siblings = {(one.name, two.name) for one, two in people.siblings}
    males = {one.name for one in people.people if one.is_male}
    children, sibs = defaultdict(set), defaultdict(set)
    for one, two in parents:
        children[one].add(two)
    for one, two in siblings:
        sibs[one].add(two)

    def descendants(one: str) -> Iterator[str]:
        for child in children[one]:
            yield child
            yield from descendants(child)

    aunts_and_uncles = {
        (one, child) for one in list(sibs) for other in sibs[one] for child in children[other]
    }
    if target == "uncle/2":
        wanted = {(one, two) for one, two in aunts_and_uncles if one in males}
    elif target == "cousin/2":
        wanted = {(two, child) for one, child in aunts_and_uncles for two in children[one]}
    else:
        wanted = {(one.name, two) for one in people.people for two in descendants(one.name)}
    return {"parent": parents, "sibling": siblings, target.partition("/")[0]: wanted}


def write_population(people: Population, target: str, path: Path) -> Path:
    """Write a population as Prolog facts, with one relation to learn."""
    lines = [f"male({one.name})." for one in people.people if one.is_male]
    for name, pairs in related(people, target).items():
        lines += [f"{name}({one},{two})." for one, two in sorted(pairs)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


def write(folder: Path, target: str) -> tuple[Path, Path]:
    """Write 2,000 people to learn from and 600 others to judge by."""
    rng, name = np.random.default_rng(0), target.partition("/")[0]
    many, others = draw(40, rng), draw(12, rng)
    return (
        write_population(many, target, folder / f"{name}.pl"),
        write_population(others, target, folder / f"{name}_of_others.pl"),
    )


def main(andre: Callable[..., str], folder: Path, *options: str) -> None:
    """Draw both populations, learn each target from one, and judge it on the other."""
    say = sys.stdout.write
    for target in TARGETS:
        people, others = write(folder, target)
        run = folder / target.partition("/")[0]
        say(andre("learn", people, "--target", target, "--out", run, *options))
        say(andre("eval", run, others))
        say(andre("report", run))
