"""Seed 0 gives the programs it gave before: what a change of the code's shape alone must not move.

A change that is meant to learn otherwise writes the file anew: `python tests/test_same_programs.py`.
"""

import json
from pathlib import Path

import pytest

from andre.facts import TASKS
from andre.learning import Config, fit, learn
from andre.samples import SYNTHETIC_TASKS

KEPT = Path(__file__).with_name("same_programs.json")
PROGRAMS = json.loads(KEPT.read_text())


def synthetic(cell: str) -> list[str]:
    task, rows, noise = cell.split(":")
    sample = SYNTHETIC_TASKS[task].sample(int(rows), 0, int(noise) / 100)
    return str(fit(sample, Config(seed=0)).program).splitlines()


def classical(name: str, *, short_bodies: bool) -> list[str]:
    task = TASKS[name]
    found = learn(task.train(0), task.target, variables=task.variables, seed=0, short_bodies=short_bodies)
    return str(found.program).splitlines()


LEARN = {
    "synthetic": synthetic,
    "tasks": lambda name: classical(name, short_bodies=True),
    "tasks, gradient only": lambda name: classical(name, short_bodies=False),
}


@pytest.mark.sweep
@pytest.mark.parametrize(("group", "name"), [(group, name) for group in LEARN for name in PROGRAMS[group]])
def test_the_program_is_the_same(group: str, name: str) -> None:
    assert LEARN[group](name) == PROGRAMS[group][name]


if __name__ == "__main__":
    made = {group: {name: LEARN[group](name) for name in PROGRAMS[group]} for group in LEARN}
    KEPT.write_text(json.dumps(made, indent=1) + "\n")
