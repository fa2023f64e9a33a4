"""The head atoms that a census of reach looks at: what is stated, and what is false because it is not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from andre.arrays import Floats, Ints, is_among, row_keys
from andre.census.census import head_domains
from andre.facts import FactBase
from andre.samples import Language


@dataclass(frozen=True, eq=False)
class Examples:
    """Head atoms with the weights of their labels.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> facts = FactBase.from_facts(map(parse_atom, ["p(a)", "q(a)", "q(b)", "q(c)"]))
    >>> examples = draw_examples(facts, Language("p/1", variables=2), most=10, seed=0)
    >>> examples.heads.tolist(), examples.positives.tolist(), examples.negatives.tolist()
    ([[0], [1], [2]], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0])
    """

    heads: Ints  #: [B, arity], codes of constants
    positives: Floats  #: [B]
    negatives: Floats  #: [B]
    total: int  #: head atoms that they stand for

    @property
    def sampled(self) -> bool:
        """Whether there are more head atoms than these."""
        return self.total > len(self.heads)


def draw_examples(
    facts: FactBase, language: Language, most: int, seed: int, also: Ints | None = None
) -> Examples:
    """The stated examples and, in a closed world without stated negatives, those that are false by silence.

    Of more than `most`, some are drawn to stand for all: half of the stated ones at the most, and of the
    others evenly any, and such as differ from a true one in one argument.

    Parameters
    ----------
    also
        Head atoms that are false and are to be among those drawn, where some are, [N, arity].
    """
    relation = facts.select("train").relations[language.key(facts)]
    chance = np.where(relation.column("negative"), 0.0, relation.column("probability"))
    heads = relation.codes.astype(np.int64)
    rng = np.random.default_rng(seed)
    if relation.negative is not None or facts.world == "open":
        false = np.flatnonzero(chance == 0)
        if len(heads) <= most or len(false) <= most // 2:
            return Examples(heads, chance, 1 - chance, len(heads))
        others = np.flatnonzero(chance > 0)
        drawn = rng.choice(false, max(most // 2, most - len(others)), replace=False)
        if also is not None:  # denied ones that are known to matter come first
            wanted = false[is_among(heads[false], also, max(1, len(facts.constants)))]
            drawn = np.concatenate([wanted, np.setdiff1d(drawn, wanted)])[: max(len(drawn), len(wanted))]
        kept = np.sort(np.concatenate([others, drawn]))
        against = np.where(chance[kept] == 0, len(false) / len(drawn), 1 - chance[kept])
        return Examples(heads[kept], chance[kept], against, len(heads))
    domains = head_domains(facts, language)
    total, base = int(np.prod([len(one) for one in domains], dtype=object)), max(1, len(facts.constants))
    if total <= most:
        grid = np.stack([axis.ravel() for axis in np.meshgrid(*domains, indexing="ij")], axis=1)
        silent = grid[~is_among(grid, heads, base)]
        weight, drawn = 1.0, np.arange(len(heads))
    else:
        drawn = np.arange(len(heads))
        if len(heads) > most // 2:
            drawn = np.sort(rng.choice(len(heads), most // 2, replace=False))
        anywhere = np.stack([rng.choice(one, most) for one in domains], axis=1)
        near = heads[rng.integers(len(heads), size=most)]
        place = rng.integers(near.shape[1], size=most)
        near[np.arange(most), place] = anywhere[np.arange(most), place]
        mixed = np.stack((anywhere, near), axis=1).reshape(-1, near.shape[1])
        if also is not None:
            mixed = np.concatenate([also, mixed])
        mixed = mixed[~is_among(mixed, heads, base)]
        mixed = mixed[np.sort(np.unique(row_keys(mixed, base), return_index=True)[1])]
        silent = mixed[: most - len(drawn)]
        weight = (total - len(heads)) / max(1, len(silent))
    share = len(heads) / max(1, len(drawn))
    order = np.concatenate([heads[drawn], silent])
    positives = np.concatenate([chance[drawn] * share, np.zeros(len(silent))])
    negatives = np.concatenate([(1 - chance[drawn]) * share, np.full(len(silent), weight)])
    return Examples(order, positives, negatives, total)
