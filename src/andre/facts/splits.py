"""Train, valid and test facts: drawn at random, or as in PyKEEN's datasets."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np

from andre.errors import DataError
from andre.facts.base import FactBase
from andre.facts.files import read_facts
from andre.facts.relation import MARKS, Relation

#: The datasets that PyKEEN carries, and the folders it keeps them in.
PYKEEN_SPLITS = {"nations": "nations", "umls": "umls", "kinship": "kinships"}


def hold_out(
    facts: FactBase, share: float, seed: int = 0, targets: Collection[str] | None = None
) -> FactBase:
    """Mark a random share of the training facts of each relation as validation facts.

    At least one fact of a relation is marked, and at least one stays. Denied
    facts and marks that are there stay as they are.

    Parameters
    ----------
    share
        Between 0 and 1; its product with the number of facts is rounded.
    targets
        Relations, as p/2; all of them if None. A relation that is named must
        have two training facts; of the others those with fewer are left as
        they are, with a note.

    Examples
    --------
    >>> from andre.facts.tasks import TASKS
    >>> split = hold_out(TASKS["lessThan"].train(), 0.25, targets=["lessThan/2"])
    >>> split.relations["lessThan", 2].count("train"), split.relations["lessThan", 2].count("valid")
    (396, 132)
    """
    if not 0 < share < 1:
        raise DataError(f"a share of {share:g} cannot be held out: give one between 0 and 1")
    for name in sorted(targets or ()):
        facts.named(name)  # an unknown name is refused
    rng = np.random.default_rng(seed)
    relations, left = dict(facts.relations), []
    for key, relation in facts.relations.items():
        if targets is not None and str(relation) not in targets:
            continue
        marked = _marked(relation, share, rng)
        if marked is not None:
            relations[key] = marked
        elif targets is not None:
            raise DataError(f"{relation} has fewer than two training facts: none of them can be held out")
        else:
            left.append(str(relation))
    notes = facts.notes
    if left:
        remark = f"nothing is held out of {', '.join(left)}: fewer than two training facts"
        notes = replace(notes, remarks=(*notes.remarks, remark))
    return replace(facts, relations=relations, notes=notes)


def _marked(relation: Relation, share: float, rng: np.random.Generator) -> Relation | None:
    """The relation with a share of its training facts marked, or None if there are too few."""
    rows = np.flatnonzero(relation.marked("train") & ~relation.impossible)
    if len(rows) < 2:
        return None
    count = min(max(round(share * len(rows)), 1), len(rows) - 1)
    mark = relation.column("mark").copy()
    mark[rng.permutation(rows)[:count]] = MARKS.index("valid")
    return replace(relation, mark=mark)


def pykeen_split(name: str) -> FactBase:
    """Read nations, umls or kinship with the train, valid and test facts of PyKEEN.

    Its files are read where they are installed, without importing it.
    Relations are spelled as in the dataset of that name.

    Examples
    --------
    >>> pykeen_split("wordnet")
    Traceback (most recent call last):
    ...
    andre.errors.DataError: PyKEEN carries no dataset wordnet: choose from nations, umls, kinship
    """
    if name not in PYKEEN_SPLITS:
        raise DataError(f"PyKEEN carries no dataset {name}: choose from {', '.join(PYKEEN_SPLITS)}")
    spec = importlib.util.find_spec("pykeen")
    if spec is None or spec.origin is None:
        raise DataError(f"the split of {name} comes with pykeen: pip install 'andre[pykeen]'")
    facts = read_facts(Path(spec.origin).parent / "datasets" / PYKEEN_SPLITS[name], "tsv-splits")
    renamed = (replace(r, name=r.name.replace("-", "_")) for r in facts.relations.values())
    return replace(facts, relations={relation.key: relation for relation in renamed})


def training_facts(facts: FactBase, *, held_out: bool = False) -> FactBase:
    """The facts from which anything may be learned: none that is marked valid or test.

    All learners use this function, so that held-out facts have no influence anywhere: as
    evidence in a body, through background rules, as a type or as a constant.

    Parameters
    ----------
    held_out
        Whether constants that occur in no training fact are kept; see `andre.samples.Language.held_out`.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> atoms = [parse_atom("p(ann)"), parse_atom("p(bob)")]
    >>> training_facts(FactBase.from_facts(atoms, marks=["train", "valid"]))
    FactBase(1 facts, 1 relations, 1 constants)
    """
    known = facts.select("train")
    return known if held_out or known is facts else known.compact()
