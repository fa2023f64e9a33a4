"""Trains: which of them go east, told by their cars, as in Michalski's puzzle but with hundreds of them.

Every train has two to five cars, each with a length, a roof, a number of wheels and a load. A train goes
east if it has a short car with a roof, or a car with triangles right before one with circles. Half of
the trains go east. They are written as folders in the layout of Popper: background, bias and examples.

Run it with `python examples/run.py trains [FOLDER [OPTION...]]`. All it makes lies in FOLDER, by
default `build` beside this file. Options go to `andre learn`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random

LENGTHS = ("short", "long")
ROOFS = ("closed", "open")
WHEELS = ("two_wheels", "three_wheels")
LOADS = ("circles", "triangles", "rectangles", "nothing")
BIAS = """\
head_pred(eastbound,1).
body_pred(has_car,2).
body_pred(before,2).
type(eastbound,(train,)).
type(has_car,(train,car)).
type(before,(car,car)).
direction(eastbound,(in,)).
direction(has_car,(in,out)).
direction(before,(in,out)).
max_vars(3).
max_body(5).
"""


@dataclass(frozen=True)
class Car:
    """A car: its length, roof, wheels and load, in words that are predicates."""

    length: str
    roof: str
    wheels: str
    load: str

    @property
    def words(self) -> tuple[str, ...]:
        """What is true of it."""
        return self.length, self.roof, self.wheels, self.load


def goes_east(cars: tuple[Car, ...]) -> bool:
    """The rules that are to be found."""
    covered = any(car.length == "short" and car.roof == "closed" for car in cars)
    return covered or any((one.load, two.load) == ("triangles", "circles") for one, two in pairwise(cars))


def draw_train(rng: Random) -> tuple[Car, ...]:
    """Two to five cars; roofs are rare on short ones, so that the second rule has work to do."""
    cars = []
    for _ in range(rng.randint(2, 5)):
        length = rng.choice(LENGTHS)
        roof = ROOFS[rng.random() < (0.9 if length == "short" else 0.5)]
        cars.append(Car(length, roof, rng.choice(WHEELS), rng.choice(LOADS)))
    return tuple(cars)


def draw_trains(count: int, rng: Random) -> list[tuple[Car, ...]]:
    """Trains of which every second goes east."""
    trains: list[tuple[Car, ...]] = []
    while len(trains) < count:
        train = draw_train(rng)
        if goes_east(train) == (len(trains) % 2 == 0):
            trains.append(train)
    return trains


def write_trains(trains: list[tuple[Car, ...]], folder: Path) -> Path:
    """Write background, bias and examples."""
    folder.mkdir(parents=True, exist_ok=True)
    background, examples = [], []
    for number, train in enumerate(trains, start=1):
        names = [f"c{number}_{place}" for place in range(1, len(train) + 1)]
        background += [f"has_car(t{number},{name})." for name in names]
        background += [f"before({one},{two})." for one, two in pairwise(names)]
        background += [
            f"{word}({name})." for name, car in zip(names, train, strict=True) for word in car.words
        ]
        examples.append(f"{'pos' if goes_east(train) else 'neg'}(eastbound(t{number})).")
    words = [*LENGTHS, *ROOFS, *WHEELS, *LOADS]
    bias = [f"body_pred({word},1).\ntype({word},(car,)).\ndirection({word},(in,))." for word in words]
    for name, lines in (("bk.pl", sorted(background)), ("exs.pl", examples), ("bias.pl", [BIAS, *bias])):
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def write(folder: Path) -> tuple[Path, Path]:
    """Write 200 trains to learn from and 1,000 to judge by."""
    rng = Random(0)
    one, two = ((name, draw_trains(count, rng)) for name, count in (("train", 200), ("test", 1000)))
    return write_trains(one[1], folder / one[0]), write_trains(two[1], folder / two[0])


def main(andre: Callable[..., str], folder: Path, *options: str) -> None:
    """Draw the trains, learn from some, judge on the others, and write a report."""
    train, test = write(folder)
    run, say = folder / "run", sys.stdout.write
    say(andre("learn", train, "--out", run, *options))
    say(andre("eval", run, test))
    say(andre("report", run))
