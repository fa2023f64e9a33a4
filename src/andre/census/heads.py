"""The examples of a census of reach: stated head atoms, and unstated ones where these are false."""

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
    """The stated examples and, in a closed world without stated negatives, the unstated ones as negatives.

    Of more than `most`, a weighted sample is drawn: at most half of it are stated ones; of the others,
    half are drawn uniformly and half differ from a true one in one argument.

    Parameters
    ----------
    also
        Head atoms that are false and are to be among those drawn, where some are, [N, arity].
    """
    relation = facts.select("train").relations[language.key(facts)]
    chance = np.where(relation.column("negative"), 0.0, relation.column("probability"))
    heads, base = relation.codes.astype(np.int64), max(1, len(facts.constants))
    rng = np.random.default_rng(seed)
    if relation.negative is not None or facts.world == "open":
        return _of_stated(heads, chance, most, also, base, rng)
    domains = head_domains(facts, language)
    total = int(np.prod([len(one) for one in domains], dtype=object))
    if total <= most:
        stated = np.arange(len(heads))
        grid = np.stack([axis.ravel() for axis in np.meshgrid(*domains, indexing="ij")], axis=1)
        unstated, weight = grid[~is_among(grid, heads, base)], 1.0
    else:
        stated = np.arange(len(heads))
        if len(heads) > most // 2:
            stated = np.sort(rng.choice(len(heads), most // 2, replace=False))
        drawn = _draw_atoms(heads, domains, most, rng)
        drawn = drawn if also is None else np.concatenate([also, drawn])
        drawn = drawn[~is_among(drawn, heads, base)]
        distinct = np.sort(np.unique(row_keys(drawn, base), return_index=True)[1])
        unstated = drawn[distinct[: most - len(stated)]]
        weight = (total - len(heads)) / max(1, len(unstated))
    share = len(heads) / max(1, len(stated))
    positives = np.concatenate([chance[stated] * share, np.zeros(len(unstated))])
    negatives = np.concatenate([(1 - chance[stated]) * share, np.full(len(unstated), weight)])
    return Examples(np.concatenate([heads[stated], unstated]), positives, negatives, total)


def _of_stated(
    heads: Ints, chance: Floats, most: int, also: Ints | None, base: int, rng: np.random.Generator
) -> Examples:
    """Stated atoms alone; of very many denied ones, a sample that stands for all."""
    false = np.flatnonzero(chance == 0)
    if len(heads) <= most or len(false) <= most // 2:
        return Examples(heads, chance, 1 - chance, len(heads))
    others = np.flatnonzero(chance > 0)
    drawn = rng.choice(false, max(most // 2, most - len(others)), replace=False)
    if also is not None:  # denied ones that are known to matter come first
        wanted = false[is_among(heads[false], also, base)]
        drawn = np.concatenate([wanted, np.setdiff1d(drawn, wanted)])[: max(len(drawn), len(wanted))]
    kept = np.sort(np.concatenate([others, drawn]))
    negatives = np.where(chance[kept] == 0, len(false) / len(drawn), 1 - chance[kept])
    return Examples(heads[kept], chance[kept], negatives, len(heads))


def _draw_atoms(heads: Ints, domains: list[Ints], most: int, rng: np.random.Generator) -> Ints:
    """By turns any atom, and one that differs from a stated one in one argument: [2 * most, arity]."""
    anywhere = np.stack([rng.choice(one, most) for one in domains], axis=1)
    near = heads[rng.integers(len(heads), size=most)]
    place = rng.integers(near.shape[1], size=most)
    near[np.arange(most), place] = anywhere[np.arange(most), place]
    return np.stack((anywhere, near), axis=1).reshape(-1, near.shape[1])
