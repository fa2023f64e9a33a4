"""Molecules: which are active, by what they weigh on a scale and by what they are built of.

Every molecule is a tree of atoms with single, double and aromatic bonds, and has two measured numbers: its
hydrophobicity (logp) and the energy of its lowest free orbital (lumo). It is active if lumo is below
-1.9 and logp above 1.5, or if it has a nitrogen with two oxygens by double bonds. One label in twenty is
wrong in what is learned from, and none in what is judged by.

Run it with `python examples/run.py molecules [FOLDER [OPTION...]]`. All it makes lies in FOLDER, by
default `build` beside this file. Options go to `andre learn`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

ELEMENTS = "cccccchhhonn"
BONDS = ("single", "double", "aromatic")
MISLABELLED = 0.05
BIAS = """\
head_pred(active,1).
body_pred(has_atom,2).
body_pred(element,2).
body_pred(bond,3).
body_pred(logp,2).
body_pred(lumo,2).
type(active,(molecule,)).
type(has_atom,(molecule,atom)).
type(element,(atom,element)).
type(bond,(atom,atom,kind)).
type(logp,(molecule,real)).
type(lumo,(molecule,real)).
direction(active,(in,)).
direction(has_atom,(in,out)).
direction(element,(in,out)).
direction(bond,(in,out,out)).
direction(logp,(in,out)).
direction(lumo,(in,out)).
max_vars(5).
max_body(6).
"""


@dataclass(frozen=True)
class Molecule:
    """Atoms with their elements, bonds between them by number, and two measured numbers."""

    elements: tuple[str, ...]
    bonds: tuple[tuple[int, int, str], ...]
    logp: float
    lumo: float

    @property
    def is_active(self) -> bool:
        """The rules that are to be found."""
        return (self.lumo < -1.9 and self.logp > 1.5) or any(map(self._is_nitro, range(len(self.elements))))

    def _is_nitro(self, atom: int) -> bool:
        pairs = [(one, two, kind) for one, two, kind in self.bonds if atom in (one, two)]
        ends = [two if one == atom else one for one, two, kind in pairs if kind == "double"]
        return self.elements[atom] == "n" and sum(self.elements[end] == "o" for end in ends) > 1


def draw_molecule(rng: Random) -> Molecule:
    """A tree of six to ten atoms, one in five with a nitro group."""
    count = rng.randint(6, 10)
    elements = [rng.choice(ELEMENTS) for _ in range(count)]
    bonds = [(rng.randrange(place), place, rng.choice(BONDS)) for place in range(1, count)]
    if rng.random() < 0.2:
        elements += ["n", "o", "o"]
        bonds += [
            (rng.randrange(count), count, "single"),
            (count, count + 1, "double"),
            (count, count + 2, "double"),
        ]
    return Molecule(
        tuple(elements), tuple(bonds), round(rng.gauss(2.0, 1.2), 2), round(rng.gauss(-1.6, 0.7), 3)
    )


def write_molecules(molecules: list[Molecule], folder: Path, mislabelled: float, rng: Random) -> Path:
    """Write background, bias and examples; a bond is stated both ways."""
    folder.mkdir(parents=True, exist_ok=True)
    background, examples = [], []
    for number, molecule in enumerate(molecules, start=1):
        atoms = [f"a{number}_{place}" for place in range(len(molecule.elements))]
        background += [f"logp(m{number},{molecule.logp}).", f"lumo(m{number},{molecule.lumo})."]
        for atom, element in zip(atoms, molecule.elements, strict=True):
            background += [f"has_atom(m{number},{atom}).", f"element({atom},{element})."]
        for one, two, kind in molecule.bonds:
            background += [f"bond({atoms[a]},{atoms[b]},{kind})." for a, b in ((one, two), (two, one))]
        is_active = molecule.is_active != (rng.random() < mislabelled)
        examples.append(f"{'pos' if is_active else 'neg'}(active(m{number})).")
    for name, lines in (("bk.pl", sorted(background)), ("exs.pl", examples), ("bias.pl", [BIAS])):
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def write(folder: Path) -> tuple[Path, Path]:
    """Write 200 molecules to learn from and 1,000 to judge by."""
    rng = Random(0)
    few, many = ([draw_molecule(rng) for _ in range(count)] for count in (200, 1000))
    return (
        write_molecules(few, folder / "train", MISLABELLED, rng),
        write_molecules(many, folder / "test", 0.0, rng),
    )


def main(andre: Callable[..., str], folder: Path, *options: str) -> None:
    """Draw molecules, learn from some, judge on the others, and write a report."""
    train, test = write(folder)
    run, say = folder / "run", sys.stdout.write
    say(andre("learn", train, "--out", run, *options))
    say(andre("eval", run, test))
    say(andre("report", run))
