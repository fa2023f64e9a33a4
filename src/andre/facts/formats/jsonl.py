"""JSON Lines: one fact, rule or bias per line; this format can represent all fact bases."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from andre.errors import DataError, LogicError
from andre.facts.background import Written
from andre.facts.base import FEATURES, FactBase
from andre.facts.bias import Bias
from andre.facts.build import Builder, Place, as_names
from andre.facts.formats.format import Format
from andre.facts.formats.text import blocks, fail_at
from andre.facts.relation import COLUMNS, MARKS, Key, check_value
from andre.logic import parse_rule

_FIELDS = {"relation", "args", *COLUMNS}

#: Rows of a block by name and arity: codes, probability, mark, negative, line.
_Found: TypeAlias = dict[Key, list[tuple[tuple[int, ...], float, int, bool, int]]]


def read_jsonl(path: Path) -> FactBase:
    """Read a file of JSON objects, one per line."""
    builder = Builder()
    for block in blocks(path):
        found: _Found = {}
        for line, text in enumerate(block.text.split("\n"), start=block.first_line):
            if text.strip():
                try:
                    _take(builder, json.loads(text, parse_constant=_refuse), line, found)
                except (DataError, LogicError) as error:
                    raise fail_at(path, line, str(error)) from None
                except (ValueError, RecursionError):
                    raise fail_at(path, line, "this is no JSON: each line holds one object") from None
        for (name, arity), rows in found.items():
            codes, *columns, lines = zip(*rows, strict=True)
            probability, mark, negative = map(np.array, columns)
            builder.add(
                name,
                np.array(codes, dtype=np.int32).reshape(len(rows), arity),
                Place(path, lines),
                probability=probability,
                mark=mark,
                negative=negative,
            )
    return builder.finish(as_names)


def _refuse(name: str) -> None:
    raise DataError(f"{name} cannot be a constant: only finite numbers and names can")


def _take(builder: Builder, item: Any, line: int, found: _Found) -> None:
    """Add a rule or bias to the builder, and a fact to those of this block."""
    if not isinstance(item, dict):
        raise DataError("this is no object: write {} with a relation, a rule or a bias")
    if item.keys() == {"rule"} and isinstance(item["rule"], str):
        rule = parse_rule(item["rule"])
        if not rule.body:
            raise DataError(f"{rule} has no body: write it as a relation with its args")
        builder.add_rule(rule)
    elif item.keys() == {"prolog"} and isinstance(item["prolog"], str):
        text = item["prolog"]
        builder.written.append(Written.of(text) or Written(text, None))
    elif item.keys() == {"bias"} and isinstance(item["bias"], dict):
        builder.bias = _bias(item["bias"])
    elif "relation" in item and "args" in item and item.keys() <= _FIELDS:
        row = _row(builder, item)
        found.setdefault((item["relation"], len(item["args"])), []).append((*row, line))
    else:
        raise DataError(
            f"an object has relation and args, or rule, or prolog, or bias, not {', '.join(sorted(item))}"
        )


def _row(builder: Builder, item: dict[str, Any]) -> tuple[tuple[int, ...], float, int, bool]:
    chance, mark = item.get("probability", 1), item.get("mark", "train")
    negative = item.get("negative", False)
    if not isinstance(item["relation"], str) or not isinstance(item["args"], list):
        raise DataError("a relation is a name and its args are a list")
    if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0 <= chance <= 1:
        raise DataError(f"the probability {chance!r} is outside [0, 1]: mend or remove it")
    if mark not in MARKS or not isinstance(negative, bool):
        raise DataError("a mark is train, valid or test, and negative is true or false")
    if negative and chance != 1:
        raise DataError("a denied fact has no probability: state it or deny it, not both")
    codes = tuple(builder.code(check_value(arg)) for arg in item["args"])
    return codes, float(chance), MARKS.index(mark), negative


def _bias(item: dict[str, Any]) -> Bias:
    if unknown := item.keys() - {field.name for field in fields(Bias)}:
        raise DataError(f"a bias has no {min(unknown)}")
    return Bias(**{name: _tuples(value) for name, value in item.items()})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def write_jsonl(base: FactBase, path: Path) -> None:
    """Write the bias, the rules and the facts, one object per line."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        if base.bias is not None:
            file.write(json.dumps({"bias": asdict(base.bias)}, ensure_ascii=False) + "\n")
        for rule in base.rules:
            file.write(json.dumps({"rule": str(rule)}, ensure_ascii=False) + "\n")
        for clause in base.prolog.clauses if base.prolog else ():
            file.write(json.dumps({"prolog": clause}, ensure_ascii=False) + "\n")
        for relation in base.relations.values():
            columns = (relation.column(field).tolist() for field in COLUMNS)
            for codes, chance, mark, negative in zip(relation.codes.tolist(), *columns, strict=True):
                item: dict[str, Any] = {"relation": relation.name, "args": [base.constants[c] for c in codes]}
                if chance != 1:
                    item["probability"] = chance
                if mark:
                    item["mark"] = MARKS[mark]
                if negative:
                    item["negative"] = True
                file.write(json.dumps(item, ensure_ascii=False) + "\n")


JSONL = Format(
    name="jsonl",
    title="JSON Lines",
    read=read_jsonl,
    write=write_jsonl,
    suffixes=(".jsonl", ".ndjson"),
    holds=frozenset(FEATURES),
)
