"""Texts that do not say whether they are names or numbers, and how they are told apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from andre.errors import LogicError
from andre.facts.relation import Relation
from andre.facts.types import type_of_codes
from andre.facts.values import Value
from andre.logic.spelling import read_number

__all__ = ["values_of_texts"]

_CODE = re.compile(r"-?0[0-9]+\Z")


def values_of_texts(texts: Sequence[str], relations: Iterable[Relation]) -> list[Value]:
    """Read texts as numbers where they all are, type by type, else as names.

    Tables and triples do not say whether 12 is a number. It is read as one,
    unless a constant of the same type has a leading zero: then these are codes,
    as WordNet's 00260881 and 12651611, and all of them names.

    Examples
    --------
    >>> age = Relation("age", np.array([[0, 1]]))
    >>> sense = Relation("sense", np.array([[2, 3]]))
    >>> values_of_texts(["ann", "9", "00260881", "12651611"], [age])
    ['ann', 9, '00260881', 12651611]
    >>> values_of_texts(["ann", "9", "00260881", "12651611"], [age, Relation("same", np.array([[2], [3]]))])
    ['ann', 9, '00260881', '12651611']
    """
    values: list[Value] = list(texts)
    numeric = [code for code, text in enumerate(texts) if text and text[0] in "-0123456789"]
    codes = [code for code in numeric if _CODE.match(texts[code])]
    if codes:
        _, kinds = type_of_codes(relations, len(texts))
        named = np.isin(kinds, kinds[codes]) & (kinds >= 0)
        numeric = [code for code in numeric if not named[code]]
    for code in numeric:
        values[code] = _value(texts[code])
    return values


def _value(text: str) -> Value:
    try:
        number = read_number(text)
    except LogicError:  # too large to compute with
        number = None
    return text if number is None else number + 0  # -0.0 is 0.0
