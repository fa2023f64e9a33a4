"""JSON Lines: a fact, a rule or the bias to a line; this format holds all that facts can have."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from andre.errors import DataError, LogicError
from andre.facts.base import FactBase
from andre.facts.bias import Bias
from andre.facts.build import Builder, Place, as_names
from andre.facts.formats.format import Format
from andre.facts.relation import MARKS
from andre.facts.text import blocks, fail_at
from andre.facts.values import checked
from andre.logic import parse_rule

__all__ = ["JSONL"]

_FACT = {"relation", "args", "probability", "mark", "negative"}


def read_jsonl(path: Path) -> FactBase:
    """Read a file of JSON objects, one to a line."""
    builder = Builder()
    for block in blocks(path):
        for line, text in enumerate(block.text.split("\n"), start=block.first_line):
            if text.strip():
                try:
                    _add(builder, json.loads(text, parse_constant=_refuse), Place(path, [line]))
                except (DataError, LogicError) as error:
                    message = str(error)
                    raise (error if message.startswith(str(path)) else fail_at(path, line, message)) from None
                except (ValueError, RecursionError):
                    raise fail_at(path, line, "this is no JSON: each line holds one object") from None
    return builder.finish(as_names)


def _refuse(name: str) -> None:
    raise DataError(f"{name} cannot be a constant: only finite numbers and names can")


def _add(builder: Builder, item: Any, place: Place) -> None:
    if not isinstance(item, dict):
        raise DataError("this is no object: write {} with a relation, a rule or a bias")
    if item.keys() == {"rule"} and isinstance(item["rule"], str):
        builder.rules.append(parse_rule(item["rule"], source=place.of(0)))
    elif item.keys() == {"bias"} and isinstance(item["bias"], dict):
        builder.bias = _bias(item["bias"])
    elif "relation" in item and "args" in item and item.keys() <= _FACT:
        _add_fact(builder, item, place)
    else:
        raise DataError(f"an object has relation and args, or rule, or bias, not {', '.join(sorted(item))}")


def _add_fact(builder: Builder, item: dict[str, Any], place: Place) -> None:
    name, args = item["relation"], item["args"]
    chance, mark, negative = (
        item.get(field, default)
        for field, default in (("probability", 1), ("mark", "train"), ("negative", False))
    )
    if not isinstance(name, str) or not isinstance(args, list):
        raise DataError("a relation is a name and its args are a list")
    if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0 <= chance <= 1:
        raise DataError(f"the probability {chance!r} is outside [0, 1]: mend or remove it")
    if mark not in MARKS or not isinstance(negative, bool):
        raise DataError("a mark is train, valid or test, and negative is true or false")
    codes = np.array([[builder.code(checked(arg)) for arg in args]], dtype=np.int32).reshape(1, len(args))
    builder.add(
        name,
        codes,
        place,
        probability=np.array([float(chance)]),
        mark=np.array([MARKS.index(mark)]),
        negative=np.array([negative]),
    )


def _bias(item: dict[str, Any]) -> Bias:
    known = {field.name: field.default for field in fields(Bias)}
    if unknown := item.keys() - known.keys():
        raise DataError(f"a bias has no {min(unknown)}")
    try:
        return Bias(**{name: _tuples(value) for name, value in item.items()})
    except TypeError:
        raise DataError("this bias cannot be read") from None


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def write_jsonl(base: FactBase, path: Path) -> None:
    """Write an object to a line."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        if base.bias is not None:
            file.write(json.dumps({"bias": asdict(base.bias)}, ensure_ascii=False) + "\n")
        for rule in base.rules:
            file.write(json.dumps({"rule": str(rule)}, ensure_ascii=False) + "\n")
        for relation in base.relations.values():
            for row, codes in enumerate(relation.codes.tolist()):
                item: dict[str, Any] = {"relation": relation.name, "args": [base.constants[c] for c in codes]}
                if relation.probability is not None and relation.probability[row] != 1:
                    item["probability"] = float(relation.probability[row])
                if relation.mark is not None and relation.mark[row]:
                    item["mark"] = MARKS[relation.mark[row]]
                if relation.negative is not None and relation.negative[row]:
                    item["negative"] = True
                file.write(json.dumps(item, ensure_ascii=False) + "\n")


JSONL = Format(
    name="jsonl",
    title="JSON Lines",
    read=read_jsonl,
    write=write_jsonl,
    suffixes=(".jsonl", ".ndjson"),
    holds=frozenset({"probability", "mark", "negative", "rules", "bias"}),
)
