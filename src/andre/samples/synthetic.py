"""Synthetic samples: random valuations labelled by a known program, with some labels flipped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from andre.arrays import Bools, Floats
from andre.errors import DataError
from andre.logic import Program
from andre.samples.sample import Sample
from andre.samples.space import Codes, RuleSpace


@dataclass(frozen=True)
class SyntheticTask:
    """A program to recover, and the rule space it is written in.

    Examples
    --------
    >>> task = SYNTHETIC_TASKS["R1"]
    >>> print(task.program)
    h :- b1, \\+ b9.
    >>> rows, labels = task.draw(5, seed=1)
    >>> rows.shape, labels.dtype
    ((5, 10), dtype('bool'))
    """

    name: str
    space: RuleSpace
    program: Program

    def draw(self, n_rows: int, seed: int, noise: float = 0.0) -> tuple[Floats, Bools]:
        """Uniform random valuations, [rows, m], and their labels, [rows].

        Parameters
        ----------
        noise
            The share of the positive and of the negative labels that is flipped.
        """
        if not 0 <= noise <= 1:
            raise DataError(f"the noise {noise:g} is no share of the labels: give a number from 0 to 1")
        rng = np.random.default_rng([seed, n_rows, *self.name.encode()])
        rows = rng.random((n_rows, self.space.m))
        labels = np.zeros(n_rows, dtype=bool)
        for code in self.space.encode(self.program):
            labels |= np.all(np.where(code > 0, rows > 0.5, np.where(code < 0, rows < 0.5, True)), axis=1)
        flipped = labels.copy()
        for value in (True, False):
            members = rng.permutation(np.flatnonzero(labels == value))
            flipped[members[: round(noise * len(members))]] = not value
        return rows, flipped

    def sample(self, n_rows: int, seed: int, noise: float = 0.0) -> Sample:
        """The rows and labels of `draw` as a sample."""
        return Sample.from_arrays(*self.draw(n_rows, seed, noise), space=self.space)


def _task(name: str, columns: list[str], head: str, bodies: list[dict[str, int]]) -> SyntheticTask:
    space = RuleSpace.from_names(columns, head)
    codes = [[body.get(column, 0) for column in columns] for body in bodies]
    return SyntheticTask(name, space, space.program(codes))


def random_task(m: int, n_rules: int, seed: int) -> SyntheticTask:
    """A task with a random program of `n_rules` rules of two or three literals, no two sharing an atom."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, n_rules)
    if sizes.sum() > m:
        raise DataError(f"{n_rules} rules need {sizes.sum()} atoms, and there are {m}: take more atoms")
    atoms = iter(rng.permutation(m))
    codes: Codes = np.zeros((n_rules, m), dtype=np.int8)
    for rule, size in enumerate(sizes):
        for _ in range(size):
            codes[rule, next(atoms)] = rng.choice((-1, 1))
    space = RuleSpace.from_names([f"b{column + 1}" for column in range(m)])
    return SyntheticTask(f"random-{m}-{n_rules}-{seed}", space, space.program(codes))


def _tasks() -> dict[str, SyntheticTask]:
    ten = [f"b{column}" for column in range(1, 11)]
    clean = [{"b1": 1, "b9": -1}, {"b2": -1, "b8": 1}, {"b3": 1, "b5": -1, "b7": 1}]
    noisy = [{atom: -sign for atom, sign in body.items()} for body in clean]
    family = [f"{parent}({pair})" for pair in ("X1,X2", "X2,X3", "X1,X3") for parent in ("mother", "father")]
    lines = [
        {f"{first}(X1,X2)": 1, f"{second}(X2,X3)": 1}
        for first in ("mother", "father")
        for second in ("mother", "father")
    ]
    tasks = [
        *(_task(f"R{n}", ten, "h", clean[:n]) for n in (1, 2, 3)),
        *(_task(f"R{n + 3}", ten, "h", noisy[:n]) for n in (1, 2, 3)),
        _task("four", ["b1", "b2", "b3", "b4"], "h", [{"b2": -1, "b4": 1}, {"b1": 1, "b3": -1}]),
        _task("grandparent", family, "grandparent(X1,X3)", lines),
    ]
    return {task.name: task for task in tasks}


#: The paper's synthetic programs by name: R1 to R6, and the two visual examples. That R1 to R6 have ten
#: candidates is an assumption: the paper names b1 to b9 and no number.
SYNTHETIC_TASKS: dict[str, SyntheticTask] = _tasks()
