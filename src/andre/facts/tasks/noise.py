"""Noise: facts with some labels flipped, or with probabilities instead of certainty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from andre.arrays import is_among
from andre.errors import DataError
from andre.facts.base import FactBase
from andre.facts.relation import COLUMNS, Codes, Key, Relation
from andre.facts.types import type_of_codes


def atom_domain(facts: FactBase, key: Key) -> Codes:
    """All atoms that a relation may have over the constants of its arguments' types, as codes [N, arity].

    Examples
    --------
    >>> from andre.facts.tasks import TASKS
    >>> len(atom_domain(TASKS["predecessor"].train(), ("predecessor", 2))) == 41 * 41
    True
    """
    return _domains(facts)[key]


def _domains(facts: FactBase) -> dict[Key, Codes]:
    relations = list(facts.relations.values())
    places, of_codes = type_of_codes(relations, len(facts.constants))
    made = {}
    for relation, kinds in zip(relations, places, strict=True):
        axes = [np.flatnonzero(of_codes == kind).astype(np.int32) for kind in kinds]
        grid = np.meshgrid(*axes, indexing="ij")
        made[relation.key] = np.stack([axis.ravel() for axis in grid], axis=1) if axes else relation.codes
    return made


def noisy(facts: FactBase, target: str, share: float, seed: int = 0) -> FactBase:
    """The facts with a share of the target's labels flipped: some true facts are removed, false ones added.

    The share is of all atoms that the target may have (`atom_domain`), drawn
    uniformly whatever their labels. Recursive rules read the noisy target.

    Parameters
    ----------
    facts
        A closed world of certain facts.
    target
        The relation, as p/2.
    share
        From 0 to 1; its product with the number of atoms is rounded.

    Examples
    --------
    >>> from andre.facts.tasks import TASKS
    >>> clean = TASKS["lessThan"].train()
    >>> half = noisy(clean, "lessThan/2", 0.5)
    >>> len(clean.relations["lessThan", 2]), noisy(half, "lessThan/2", 0.0) == half
    (528, True)
    """
    if not 0 <= share <= 1:
        raise DataError(f"a share of {share:g} of the labels cannot be turned over: give one from 0 to 1")
    relation = _plain(facts, target)
    domain = atom_domain(facts, relation.key)
    true = is_among(domain, relation.codes, len(facts.constants))
    chosen = np.random.default_rng(seed).permutation(len(domain))[: round(share * len(domain))]
    true[chosen] = ~true[chosen]
    if not true.any():
        raise DataError(f"no fact of {relation} is left after noise: lower the share")
    flipped = Relation(relation.name, domain[true])
    return replace(facts, relations={**facts.relations, relation.key: flipped})


def probabilistic(facts: FactBase, seed: int = 0, *, only: Sequence[str] | None = None) -> FactBase:
    """The facts with a probability for every atom: true ones N(0.75, 0.15), false ones N(0.25, 0.15).

    Draws are clipped to [0, 1]. They cover all atoms that a relation may have
    (`atom_domain`), of all relations or `only` of those named as p/2. An atom
    counts as true where its probability is above 0.5, so a false one becomes a
    stated, improbable fact. A probability of 0 is left out, which in a closed
    world says the same.

    Examples
    --------
    >>> from andre.facts.tasks import TASKS
    >>> likely = probabilistic(TASKS["odd"].train()).relations["odd", 1]
    >>> bool(likely.probability.min() > 0), 0.4 < float(likely.probability.mean()) < 0.6
    (True, True)
    """
    for name in only or ():
        _plain(facts, name)  # an unknown name is refused
    rng = np.random.default_rng(seed)
    relations = dict(facts.relations)
    for key, domain in _domains(facts).items():
        if only is not None and str(relations[key]) not in only:
            continue
        relation = _plain(facts, str(relations[key]))
        true = is_among(domain, relation.codes, len(facts.constants))
        chance = rng.normal(np.where(true, 0.75, 0.25), 0.15).clip(0, 1)
        relations[key] = Relation(relation.name, domain[chance > 0], chance[chance > 0])
    return replace(facts, relations=relations)


def _plain(facts: FactBase, target: str) -> Relation:
    """The relation with a name such as p/2; DataError if its facts have probabilities, marks or denials."""
    relation = facts.named(target)
    if any(getattr(relation, field) is not None for field in COLUMNS):
        raise DataError(
            f"the facts of {target} have probabilities, marks or denials: "
            "noise is made on certain training facts"
        )
    return relation
