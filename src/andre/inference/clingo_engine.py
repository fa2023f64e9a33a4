"""An engine for small programs: clingo's grounder.

A component whose negations are read from given rows is stratified, and clingo
then computes its model while grounding: every atom it finds is a fact, and
nothing is left to solve. Probabilities are processed by level: what holds with at
least probability a follows from the facts and rules of at least probability a.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from andre.inference.coded import (
    CodedAtom,
    CodedProgram,
    CodedRule,
    Rows,
    compare,
    is_variable,
    variable_number,
)
from andre.inference.engine import ROUNDING, Component, well_founded

if TYPE_CHECKING:
    from clingo import Symbol

_Row: TypeAlias = tuple[int, ...]
_Table: TypeAlias = dict[_Row, float]  #: row -> probability
_Estimate: TypeAlias = dict[int, _Table]

_ORDER_NAMES = {"<": "less", "=<": "most", ">": "more", ">=": "least"}


class ClingoEngine:
    """Runs programs by clingo, in memory."""

    name = "clingo"

    def run(self, program: CodedProgram) -> Mapping[int, Rows]:
        """What the well-founded model adds to the facts."""
        return well_founded(program, _ClingoSession(program))


class _ClingoSession:
    def __init__(self, program: CodedProgram) -> None:
        self.program = program
        self.stated = {number: _table(program.facts.get(number)) for number in range(len(program.keys))}
        self.held = dict(self.stated)
        self.context = _orders(program) if program.orders else None

    def least(self, part: Component, against: _Estimate | None) -> _Estimate:
        estimate: _Estimate = {relation: {} for relation in part.relations}
        blocking = {**self.held, **(against or {})}
        for level in self._levels(part, blocking):
            for relation, row in self._derive(part, blocking, level):
                estimate[relation].setdefault(row, level)
        return estimate

    def _levels(self, part: Component, blocking: Mapping[int, _Table]) -> list[float]:
        """The probabilities that atoms of the component can have, in descending order."""
        if self.program.is_crisp:
            return [1.0]
        levels = {1.0, *(rule.probability for rule in part.rules)}
        for relation in part.relations:
            levels.update(self.held[relation].values())
        for rule in part.rules:
            for atom in rule.positive:
                levels.update(self.held[atom.relation].values())
            for atom in rule.negative:
                levels.update(1 - value for value in blocking[atom.relation].values())
        return sorted(levels - {0.0}, reverse=True)

    def _derive(
        self, part: Component, blocking: Mapping[int, _Table], level: float
    ) -> Iterator[tuple[int, _Row]]:
        import clingo  # noqa: PLC0415  (loaded when a program is run)

        rules = [rule for rule in part.rules if rule.probability >= level]
        read = part.relations | {atom.relation for rule in rules for atom in rule.positive}
        lines = [_facts("r", n, (row for row, v in self.held[n].items() if v >= level)) for n in read]
        for relation in {atom.relation for rule in rules for atom in rule.negative}:
            rows = (row for row, value in blocking[relation].items() if 1 - value < level)
            lines.append(_facts("n", relation, rows))
        lines += map(_rule_text, rules)
        control = clingo.Control(["-Wnone"])
        control.add("base", [], "\n".join(lines))
        control.ground([("base", [])], context=self.context)
        for relation in part.relations:
            arity = self.program.keys[relation][1]
            for atom in control.symbolic_atoms.by_signature(f"r{relation}", arity):
                yield relation, tuple(symbol.number for symbol in atom.symbol.arguments)

    def difference(self, more: _Estimate, less: _Estimate) -> tuple[int, _Row] | None:
        for relation, rows in more.items():
            for row, value in rows.items():
                if abs(value - less[relation].get(row, 0.0)) > ROUNDING:
                    return relation, row
        return None

    def add(self, part: Component, model: _Estimate) -> None:
        self.held.update(model)

    def forget(self, estimate: _Estimate) -> None:
        estimate.clear()

    def derived(self) -> Mapping[int, Rows]:
        found = {}
        for relation in sorted(self.program.heads):
            stated = self.stated[relation]
            new = {row: v for row, v in self.held[relation].items() if v > stated.get(row, 0.0)}
            arity = self.program.keys[relation][1]
            codes = np.array(list(new), dtype=np.int32).reshape(len(new), arity)
            found[relation] = Rows(codes, None if self.program.is_crisp else np.array(list(new.values())))
        return found

    def close(self) -> None:
        self.held.clear()


def _orders(program: CodedProgram) -> SimpleNamespace:
    """The functions that clingo calls while grounding: comparisons of the numbers behind codes."""
    import clingo  # noqa: PLC0415

    ranks = program.ranks.tolist()

    def holds(sign: str, left: Symbol, right: Symbol) -> Symbol:
        return clingo.Number(int(compare(sign, left.number, right.number, ranks)))

    return SimpleNamespace(**{name: partial(holds, sign) for sign, name in _ORDER_NAMES.items()})


def _table(rows: Rows | None) -> _Table:
    if rows is None:
        return {}
    keys = map(tuple, rows.codes.tolist())
    values = [1.0] * len(rows) if rows.values is None else rows.values.tolist()
    return dict(zip(keys, values, strict=True))


def _facts(kind: str, relation: int, rows: Iterator[_Row]) -> str:
    name = f"{kind}{relation}"
    return "".join(f"{name}({','.join(map(str, row))})." if row else f"{name}." for row in rows)


def _rule_text(rule: CodedRule) -> str:
    body = [_atom_text("r", atom) for atom in rule.positive]
    body += [f"not {_atom_text('n', atom)}" for atom in rule.negative]
    for item in rule.comparisons:
        left, right = map(_term_text, item.terms)
        if item.sign in ("=", "\\="):
            body.append(f"{left} {'=' if (item.sign == '=') != item.negated else '!='} {right}")
        else:
            body.append(f"{int(not item.negated)} = @{_ORDER_NAMES[item.sign]}({left},{right})")
    return f"{_atom_text('r', rule.head)} :- {', '.join(body)}."


def _atom_text(kind: str, atom: CodedAtom) -> str:
    terms = ",".join(map(_term_text, atom.terms))
    return f"{kind}{atom.relation}({terms})" if terms else f"{kind}{atom.relation}"


def _term_text(term: int) -> str:
    return f"V{variable_number(term)}" if is_variable(term) else str(term)
