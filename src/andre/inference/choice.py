"""Which engine suits a program: an estimate of how much it derives."""

from __future__ import annotations

from math import prod

import numpy as np

from andre.errors import ConfigError
from andre.inference.clingo_engine import ClingoEngine
from andre.inference.coded import CodedProgram, CodedRule, is_variable
from andre.inference.duckdb_engine import DuckDBEngine
from andre.inference.engine import Engine
from andre.inference.strata import components

__all__ = ["choose_engine", "estimate_size"]

#: Above this many atoms DuckDB's start costs less than clingo's symbols do.
_CLINGO_MAX = 20_000


def choose_engine(name: str, program: CodedProgram, memory_limit: str) -> Engine:
    """Make the engine of this name; `auto` takes clingo for small programs, else DuckDB.

    Raises
    ------
    ConfigError
        Where there is no engine of this name.
    """
    if name not in ("auto", "clingo", "duckdb"):
        raise ConfigError(f"there is no engine {name!r}: choose auto, clingo or duckdb")
    if name == "auto":
        # clingo goes through probabilities one by one.
        small = program.is_crisp and estimate_size(program) <= _CLINGO_MAX
        name = "clingo" if small else "duckdb"
    return ClingoEngine() if name == "clingo" else DuckDBEngine(memory_limit)


def estimate_size(program: CodedProgram) -> float:
    """Roughly how many atoms the program reads and derives, rather too many than too few.

    A join is estimated from the sizes of its relations and the number of
    distinct values it joins on; a recursive relation may hold every row of
    the constants that occur.
    """
    sizes = {number: float(len(rows)) for number, rows in program.facts.items()}
    distinct = {
        (number, place): float(len(np.unique(rows.codes[:, place])))
        for number, rows in program.facts.items()
        for place in range(rows.codes.shape[1])
    }
    occurring = max(distinct.values(), default=0.0) + 1
    for part in components(program.rules):
        for number in part.relations:
            arity = program.keys[number][1]
            most = occurring**arity
            rules = [rule for rule in part.rules if rule.head.relation == number]
            found = most if part.is_recursive else sum(_join_size(rule, sizes, distinct) for rule in rules)
            sizes[number] = sizes.get(number, 0.0) + min(found, most)
            for place in range(arity):
                distinct[number, place] = min(sizes[number], occurring)
    return sum(sizes.values())


def _join_size(rule: CodedRule, sizes: dict[int, float], distinct: dict[tuple[int, int], float]) -> float:
    rows = prod(sizes.get(atom.relation, 0.0) for atom in rule.positive)
    seen: dict[int, float] = {}
    for atom in rule.positive:
        for place, term in enumerate(atom.terms):
            values = max(distinct.get((atom.relation, place), 1.0), 1.0)
            if not is_variable(term):
                rows /= values
            elif term in seen:
                rows /= max(values, seen[term])
                seen[term] = min(values, seen[term])
            else:
                seen[term] = values
    return rows
