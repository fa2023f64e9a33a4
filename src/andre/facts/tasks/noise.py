"""Facts made worse on purpose: labels turned over, and certainty lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from andre.arrays import row_keys
from andre.errors import DataError
from andre.facts.base import FactBase
from andre.facts.relation import Key, Relation
from andre.facts.types import type_of_codes

__all__ = ["atom_domain", "noisy", "probabilistic"]


def atom_domain(facts: FactBase, key: Key) -> NDArray[np.int32]:
    """All atoms of a relation over the constants of its arguments' types.

    Returns
    -------
    array
        Codes [N, arity], in order.

    Examples
    --------
    >>> from andre.facts.tasks import TASKS
    >>> len(atom_domain(TASKS["predecessor"].train(), ("predecessor", 2))) == 41 * 41
    True
    """
    return _domains(facts)[key]


def _domains(facts: FactBase) -> dict[Key, NDArray[np.int32]]:
    relations = list(facts.relations.values())
    places, of_codes = type_of_codes(relations, len(facts.constants))
    made = {}
    for relation, kinds in zip(relations, places, strict=True):
        axes = [np.flatnonzero(of_codes == kind).astype(np.int32) for kind in kinds]
        grid = np.meshgrid(*axes, indexing="ij")
        made[relation.key] = np.stack([axis.ravel() for axis in grid], axis=1) if axes else relation.codes
    return made


def noisy(facts: FactBase, target: str, share: float, seed: int = 0) -> FactBase:
    """Turn over a share of the target's labels: true facts go, false ones come.

    The share is of all atoms that the target may have (`atom_domain`), drawn
    without regard to their labels. Rules that read the target read it as it
    is then.

    Parameters
    ----------
    facts
        A closed world of certain facts.
    target
        The relation, as p/2.
    share
        From 0 to 1; its product with the number of atoms is rounded.
    seed
        Decides which labels.

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
    true = _among(domain, relation, len(facts.constants))
    chosen = np.random.default_rng(seed).permutation(len(domain))[: round(share * len(domain))]
    true[chosen] = ~true[chosen]
    if not true.any():
        raise DataError(f"no fact of {relation} is left after noise: lower the share")
    flipped = Relation(relation.name, domain[true])
    return replace(facts, relations={**facts.relations, relation.key: flipped})


def probabilistic(facts: FactBase, seed: int = 0, *, only: Sequence[str] | None = None) -> FactBase:
    """Give every atom a probability: true ones N(0.75, 0.15), false ones N(0.25, 0.15).

    Draws are clipped to [0, 1]. All relations, or `only` those named as p/2,
    are made uncertain, over all atoms they may have (`atom_domain`). An atom counts as true where its
    probability is above 0.5, so a false one is now a stated, improbable fact.
    What comes out as 0 is left out, which in a closed world says the same.

    Examples
    --------
    >>> from andre.facts.tasks import TASKS
    >>> likely = probabilistic(TASKS["odd"].train()).relations["odd", 1]
    >>> bool(likely.probability.min() > 0), 0.4 < float(likely.probability.mean()) < 0.6
    (True, True)
    """
    rng = np.random.default_rng(seed)
    relations = {}
    for name in only or ():
        _plain(facts, name)  # an unknown name is refused
    for key, domain in _domains(facts).items():
        name = f"{key[0]}/{key[1]}"
        if only is not None and name not in only:
            relations[key] = facts.relations[key]
            continue
        relation = _plain(facts, name)
        true = _among(domain, relation, len(facts.constants))
        chance = rng.normal(np.where(true, 0.75, 0.25), 0.15).clip(0, 1)
        relations[key] = Relation(relation.name, domain[chance > 0], chance[chance > 0])
    return replace(facts, relations=relations)


def _plain(facts: FactBase, target: str) -> Relation:
    """The relation of a name as p/2, if its facts are certain, unmarked and none is denied."""
    for relation in facts.relations.values():
        if str(relation) == target:
            if any(column is not None for column in (relation.probability, relation.mark, relation.negative)):
                raise DataError(
                    f"the facts of {target} have probabilities, marks or denials: "
                    "noise is made on certain training facts"
                )
            return relation
    names = ", ".join(map(str, facts.relations.values()))
    raise DataError(f"there is no relation {target}: choose from {names}")


def _among(domain: NDArray[np.int32], relation: Relation, n_constants: int) -> NDArray[np.bool_]:
    """[N], which atoms of the domain are facts of the relation."""
    keys = row_keys(np.concatenate([domain, relation.codes]), n_constants)
    return np.isin(keys[: len(domain)], keys[len(domain) :])
