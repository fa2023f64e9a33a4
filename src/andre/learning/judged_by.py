"""What definitions are judged by: the background that they may read, and the labels of their target."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

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
from andre.facts import FactBase, Key
from andre.inference import TruthTables
from andre.samples import Language, key_text

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


def refuse_one_kind(labels: ListedLabels, key: Key) -> None:
    """Raise an error where no example is true, or none false."""
    negative = np.append(labels.negative, [1.0] * (labels.n_unlisted > 0))
    for chances, kind in ((labels.positive, "true"), (negative, "false")):
        if not (chances > 0.5).any():
            raise DataError(
                f"no atom of {key_text(key)} is more likely {kind} than not: of all, one is {kind} with "
                f"probability {chances.max(initial=0):.3g} at the most, and an example needs more than 0.5"
            )
