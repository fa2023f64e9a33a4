"""What definitions are judged by: the background that they may read, and the labels of their target."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from andre.arrays import is_among
from andre.census import head_domains
from andre.errors import DataError
from andre.evaluation import (
    AtomKeys,
    JoinedRules,
    JoinJudge,
    JoinLimits,
    Judge,
    Labels,
    ListedLabels,
    RuleBase,
    TableJudge,
)
from andre.facts import FactBase, Key, Relation, key_text
from andre.inference import TruthTables, built_terms
from andre.samples import Language

#: Constants over which products of truth tables are still quick.
_MOST_CONSTANTS = 512
#: Rows that the joins of one program may make: so many at the least, and so many for each true example;
#: and at the least where few programs are judged.
_LEAST_ROWS, _ROWS_PER_EXAMPLE, _ROWS_OF_FEW = 300_000, 20, 6_000_000


def fits_tables(facts: FactBase, cells: int) -> bool:
    """Whether programs are judged at their fixpoint on truth tables, of so many cells at the most."""
    n, widest = len(facts.constants), max([2, *(arity for _, arity in facts.relations)])
    return n <= _MOST_CONSTANTS and n**widest <= cells


def background_of(facts: FactBase, target: Key) -> FactBase:
    """What a definition may read: the training facts of everything but the target."""
    known = facts.select("train")
    kept = {key: relation for key, relation in known.relations.items() if key != target}
    return replace(known, relations=kept)


def listed_labels(facts: FactBase, language: Language) -> ListedLabels:
    """The atoms that a definition is judged by: stated ones, and in a closed world all others."""
    key = language.key(facts)
    train = facts.select("train").relations[key]
    closed = train.negative is None and facts.world == "closed"
    value = np.where(train.column("negative"), 0.0, train.column("probability"))
    return ListedLabels(
        AtomKeys(key[1], max(1, len(facts.constants))),
        train.codes.astype(np.int64),
        value,
        1 - value,
        tuple(head_domains(facts, language)) if closed else None,
    )


def labels_of(facts: FactBase, language: Language) -> Labels:
    """The same as truth tables."""
    return Labels.of(listed_labels(facts, language))


def judge_over(
    background: FactBase, key: Key, labels: ListedLabels, *, tabled: bool, few: bool = False
) -> Judge:
    """Whatever judges programs at their fixpoint over a background: on truth tables or by joins.

    Parameters
    ----------
    few
        Whether only a few programs are judged, so that the joins of each may take longer.
    """
    if tabled:
        return TableJudge(RuleBase(TruthTables.of(background), key), Labels.of(labels))
    least = _ROWS_OF_FEW if few else _LEAST_ROWS
    limits = JoinLimits(rows=max(least, int(_ROWS_PER_EXAMPLE * labels.totals[0])))
    return JoinJudge(JoinedRules.of(background, key, limits), labels)


def with_stated_world(
    facts: FactBase, language: Language, given: FactBase, *, seed: int, most: int = 10_000
) -> FactBase:
    """The facts with false examples of a target, where a closed world would be one over built terms.

    Taking a list apart builds lists that no source states. Of these it is unknown what holds: the false
    examples are all other atoms over what the sources state, or some of very many. Where the sources state
    no such atom, nothing changes.

    Parameters
    ----------
    facts, given
        With the background run, and before.
    most
        How many atoms are looked at; of more, so many are drawn.
    """
    key, n = language.key(facts), max(1, len(facts.constants))
    relation = facts.relations[key]
    built = built_terms(facts, given)
    if relation.negative is not None or facts.world == "open" or not len(built):
        return facts
    domains = head_domains(facts, language)
    stated = [np.setdiff1d(domain, built) for domain in domains]
    sizes = [len(domain) for domain in stated]
    total = int(np.prod(sizes, dtype=object))
    if sizes == [len(domain) for domain in domains]:
        return facts
    places = np.arange(total) if total <= most else np.random.default_rng(seed).integers(total, size=most)
    numbers = np.unravel_index(np.unique(places), sizes)
    heads = np.stack([domain[number] for domain, number in zip(stated, numbers, strict=True)], axis=1)
    false = heads[~is_among(heads, relation.codes.astype(np.int64), n)].astype(np.int32)
    if not len(false):
        note = (
            f"no source states a term of which {key_text(key)} is false, so that it is taken to be false of "
            f"those that only the background builds: state some that are false, as 0.0::{key[0]}(...)"
        )
        return _noted(facts, note)
    denied = Relation(key[0], false, negative=np.ones(len(false), dtype=np.bool_))
    labelled = facts.with_relation(Relation.concat([relation, denied]))
    drawn = "" if total <= most else " (some, as they are very many)"
    return _noted(
        labelled,
        f"{len(false):,} atoms of {key_text(key)} are false examples: all others over what is stated{drawn}; "
        "terms that only the background builds, such as the rest of a list, are none",
    )


def _noted(facts: FactBase, note: str) -> FactBase:
    """The facts with a further note on their tabled background."""
    remarks = "; ".join(filter(None, (facts.notes.tabled, note)))
    return replace(facts, notes=replace(facts.notes, tabled=remarks))


def refuse_one_kind(labels: ListedLabels, key: Key) -> None:
    """Raise an error where no example is true, or none false."""
    negative = np.append(labels.negative, [1.0] * (labels.n_unlisted > 0))
    for chances, kind in ((labels.positive, "true"), (negative, "false")):
        if not (chances > 0.5).any():
            raise DataError(
                f"no atom of {key_text(key)} is more likely {kind} than not: of all, one is {kind} with "
                f"probability {chances.max(initial=0):.3g} at the most, and an example needs more than 0.5"
            )
