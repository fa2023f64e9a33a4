"""What the ILP benchmark learns from: Popper's folders, split where they are noisy, and drawn tasks."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Literal

from andre.errors import DataError
from andre.facts import read_facts
from andre.inference import infer
from andre.logic import parse_program

_ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Goal:
    """What a program must reach for its task to be solved."""

    least: float = 1.0
    measure: Literal["training", "held_out", "balanced"] = "training"


#: The goals of tasks that are noisy, or judged on examples of their own; others need all training examples.
GOALS: Mapping[str, Goal] = {
    "noisy-zendo2-10": Goal(0.95, "held_out"),
    "noisy-alzheimer_amine": Goal(0.76, "held_out"),
    "noisy-dropk-20": Goal(0.95, "held_out"),
    "pte": Goal(0.64, "balanced"),
    "mutagenesis": Goal(0.88, "held_out"),
    "drawn trains": Goal(1.0, "held_out"),
    "drawn krk": Goal(0.99, "held_out"),
    "drawn molecules": Goal(0.88, "held_out"),
    "drawn uncle": Goal(1.0, "held_out"),
    "drawn ancestor": Goal(1.0, "held_out"),
    "drawn cousin": Goal(1.0, "held_out"),
}

#: The folders whose labels are noisy: they are learned in folds.
NOISY = ("noisy-alzheimer_amine", "noisy-dropk-20", "noisy-zendo2-10", "pte")


@dataclass(frozen=True)
class Source:
    """What is learned from, and what the program is judged by."""

    task: str
    train: Path
    test: Path | None = None
    target: str | None = None  #: None where a bias names it
    whole: bool = False  #: whether all that is not stated is false, rather than not judged
    place: int = 0  #: which fold it is


def find_folders(name: str = "ilp") -> Path | None:
    """Popper's folders on this machine: in `ANDRE_DATA`/ilp, else in shared/ilp beside the repository.

    The data on mutagenesis lie in a folder of that name there, as DL-Learner's examples have them in Prolog.
    """
    given = os.environ.get("ANDRE_DATA")
    places = [Path(given, name)] if given else []
    places.append(_ROOT.parent / "shared" / name)
    return next((place for place in places if place.is_dir()), None)


def stated(folder: Path, scratch: Path, place: int = 0, folds: int = 1) -> Source:
    """A folder as it is, with its test.pl where it has one; or one fold of it.

    What test.pl states beside examples is a world of its own: it replaces those relations of the
    background. The examples of a fold that are held out have the labels of `CLEAN`, where it knows the task.
    """
    if folds == 1:
        test = folder / "test.pl"
        held = _held_out(folder, scratch / "test", test.read_text()) if test.is_file() else None
        return Source(folder.name, folder, held)
    kept, out = split_examples((folder / "exs.pl").read_text(), place, folds)
    if folder.name in CLEAN:
        is_true = CLEAN[folder.name](folder)
        out = [(is_true(atom), atom) for _, atom in out]
    train, test = (
        _write(
            folder,
            scratch / name,
            "".join(f"{'pos' if sign else 'neg'}({atom}).\n" for sign, atom in examples),
        )
        for name, examples in (("train", kept), ("test", out))
    )
    return Source(folder.name, train, test, place=place)


def mutagenesis(folder: Path, scratch: Path, place: int) -> Source:
    """One of the ten folds of the 188 molecules, as their authors made them: s1.pl to s10.pl.

    Known are atoms, bonds and rings, hydrophobicity and the energy of the lowest unoccupied orbital, and the
    two indicators of structure that chemists had noted, ind1 and inda: all that the authors gave to Progol.
    """
    files = ("atom_bond.pl", "ind1.pl", "inda.pl", "logp.pl", "lumo.pl", "ring_struc.pl")
    # The file of rings writes lists of lists as <...>, which is not Prolog.
    background = "".join((folder / name).read_text() for name in files).translate({60: "[", 62: "]"})
    parts: dict[str, list[str]] = {"train": [], "test": []}
    for number in range(10):
        text = (folder / "188" / f"s{number + 1}.pl").read_text()
        found = re.findall(r"^\s*(:-)?\s*(active\(\w+\))\.", text, re.MULTILINE)
        lines = [f"{'neg' if denied else 'pos'}({atom}).\n" for denied, atom in found]
        parts["test" if number == place else "train"] += lines
    for name, lines in parts.items():
        (scratch / name).mkdir(parents=True)
        (scratch / name / "bk.pl").write_text(background)
        (scratch / name / "exs.pl").write_text("".join(lines))
    return Source("mutagenesis", scratch / "train", scratch / "test", "active/1", place=place)


def split_examples(
    text: str, place: int, folds: int
) -> tuple[list[tuple[bool, str]], list[tuple[bool, str]]]:
    """Examples to learn from, and those of one fold, each with its sign; every fold has its share of both.

    Examples
    --------
    >>> kept, out = split_examples("pos(p(a)). pos(p(b)).\\nneg(p(c)). neg(p(d)).", 0, 2)
    >>> len(kept), sorted(sign for sign, _ in out)
    (2, [False, True])
    """
    # An example ends in a dot before white space or at the end; lists of numbers have no such dot.
    found = re.findall(r"^\s*(pos|neg)\((.*?)\)\s*\.(?=\s|$)", text.replace("). ", ").\n"), re.MULTILINE)
    kept: list[tuple[bool, str]] = []
    out: list[tuple[bool, str]] = []
    for sign in ("pos", "neg"):
        atoms = [atom for each, atom in found if each == sign]
        Random(0).shuffle(atoms)
        for number, atom in enumerate(atoms):
            (out if number % folds == place else kept).append((sign == "pos", atom))
    return kept, out


def _held_out(folder: Path, copy: Path, text: str) -> Path:
    """A copy of a folder with the examples of a test file, whose other relations are the file's own."""
    lines = [line for line in text.splitlines() if line.strip()]
    examples = [line for line in lines if re.match(r"\s*(pos|neg)\(", line)]
    own = [line for line in lines if line not in set(examples)]
    _write(folder, copy, "\n".join(examples) + "\n")
    names = {line.split("(")[0].strip() for line in own}
    kept = [
        line
        for line in (folder / "bk.pl").read_text().splitlines()
        if line.split("(")[0].strip() not in names
    ]
    (copy / "bk.pl").write_text("\n".join([*kept, *own]) + "\n")
    return copy


def _write(folder: Path, copy: Path, examples: str) -> Path:
    """A copy of a folder with other examples."""
    copy.mkdir(parents=True)
    for name in ("bk.pl", "bias.pl"):
        shutil.copyfile(folder / name, copy / name)
    (copy / "exs.pl").write_text(examples)
    return copy


_ZENDO = """
zendo(S) :- piece(S, A), piece(S, B), green(B), coord1(A, X), coord1(B, X), lhs(A).
zendo(S) :- piece(S, A), red(A), piece(S, B), green(B), piece(S, C), blue(C).
"""


def _zendo(folder: Path) -> Callable[[str], bool]:
    """Whether a structure of zendo2 is a positive example, by the rules that its file states."""
    derived = infer(parse_program(_ZENDO), read_facts(folder / "bk.pl")).derived
    true = {str(atom).replace(" ", "") for atom in derived.atoms("zendo", 1)}
    return lambda atom: atom.replace(" ", "") in true


def _dropk(folder: Path) -> Callable[[str], bool]:
    """Whether the last argument is the first without as many elements as the second says."""
    del folder

    def holds(atom: str) -> bool:
        match = re.fullmatch(r"f\(\[(.*?)\],\s*(\d+),\s*\[(.*?)\]\)", atom)
        if match is None:
            raise DataError(f"{atom} is no example of dropk: the folder is not the one that is known")
        one, other = ([part.strip() for part in match[place].split(",") if part.strip()] for place in (1, 3))
        return one[int(match[2]) :] == other

    return holds


#: What is true of the tasks whose labels were turned over by hand: held-out examples are judged by it.
CLEAN: Mapping[str, Callable[[Path], Callable[[str], bool]]] = {
    "noisy-zendo2-10": _zendo,
    "noisy-dropk-20": _dropk,
}

#: The drawn tasks by name: the example that draws each, and the target where no bias names it.
DRAWN: Mapping[str, tuple[str, str | None]] = {
    "drawn trains": ("trains", None),
    "drawn krk": ("krk", None),
    "drawn molecules": ("molecules", None),
    "drawn uncle": ("population", "uncle/2"),
    "drawn ancestor": ("population", "ancestor/2"),
    "drawn cousin": ("population", "cousin/2"),
}


def drawn(task: str, scratch: Path) -> Source:
    """A drawn task, as the example project of its name writes it."""
    name, target = DRAWN[task]
    example = _example(name)
    train, test = example.write(scratch) if target is None else example.write(scratch, target)
    return Source(task, train, test, target, whole=target is not None)


def _example(name: str) -> ModuleType:
    """The module of an example project."""
    spec = spec_from_file_location(f"andre_example_{name}", _ROOT / "examples" / name / f"{name}.py")
    if spec is None or spec.loader is None:
        raise DataError(f"there is no example {name}")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
