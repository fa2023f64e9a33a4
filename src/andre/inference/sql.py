"""The body of a rule as a SQL query over tables of codes.

A table has the columns a0, a1, ... (a proposition has a0, always 0) and, where
probabilities are computed, the column v.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from andre.inference.coded import CodedAtom, CodedComparison, CodedRule, is_variable

__all__ = ["columns", "rule_query", "same_row"]

_SIGNS = {"=": "=", "\\=": "<>", "<": "<", "=<": "<=", ">": ">", ">=": ">="}


def columns(arity: int) -> list[str]:
    """The columns of a table of this arity."""
    return [f"a{place}" for place in range(max(arity, 1))]


def same_row(arity: int, one: str, other: str) -> str:
    """The condition that two tables agree in all arguments."""
    return " AND ".join(f"{one}.{column} = {other}.{column}" for column in columns(arity))


def rule_query(
    rule: CodedRule, tables: Sequence[str], blocking: Callable[[int], str], ranks: Sequence[int], crisp: bool
) -> str:
    """Write a rule as a query for its head's rows.

    Parameters
    ----------
    rule
        The rule; it is safe.
    tables
        The table that each positive literal reads.
    blocking
        The table that a negated relation is read from.
    ranks
        The order of the constants, for comparisons with a number in the rule.
    crisp
        Whether there are no probabilities.

    Examples
    --------
    >>> from andre.inference.coded import CodedAtom
    >>> rule = CodedRule(CodedAtom(0, (-1,)), (CodedAtom(1, (-1, 7)),), (CodedAtom(2, (-1,)),), (), 1.0)
    >>> print(rule_query(rule, ["r1"], "r{}".format, [], crisp=True))
    SELECT t0.a0 AS a0 FROM r1 t0 WHERE t0.a1 = 7
    AND NOT EXISTS (SELECT 1 FROM r2 n WHERE n.a0 = t0.a0)
    """
    places: dict[int, str] = {}
    conditions: list[str] = []
    for number, atom in enumerate(rule.positive):
        for place, term in enumerate(atom.terms):
            column = f"t{number}.a{place}"
            if term in places or not is_variable(term):
                conditions.append(f"{column} = {places.get(term, term)}")
            else:
                places[term] = column
    source = " CROSS JOIN ".join(f"{table} t{number}" for number, table in enumerate(tables))
    parts = [source or "(SELECT 1) t"]
    values = [f"t{number}.v" for number in range(len(tables))]
    for number, atom in enumerate(rule.negative):
        table = blocking(atom.relation)
        if crisp:
            conditions.append(f"NOT EXISTS (SELECT 1 FROM {table} n WHERE {_matches(atom, 'n', places)})")
        else:
            parts.append(f"LEFT JOIN {table} n{number} ON {_matches(atom, f'n{number}', places)}")
            values.append(f"1 - coalesce(n{number}.v, 0)")
    for comparison in rule.comparisons:
        conditions.append(_condition(comparison, places, ranks, parts))
    head = [f"{places.get(term, term)} AS a{place}" for place, term in enumerate(rule.head.terms)] or [
        "0 AS a0"
    ]
    if not crisp:
        value = f"least({', '.join([*values, f'{rule.probability!r}::DOUBLE'])})"
        head.append(f"{value} AS v")
        conditions.append(f"{value} > 0")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {', '.join(head)} FROM {' '.join(parts)}{where}"


def _matches(atom: CodedAtom, alias: str, places: dict[int, str]) -> str:
    conditions = [f"{alias}.a{place} = {places.get(term, term)}" for place, term in enumerate(atom.terms)]
    return " AND ".join(conditions) or f"{alias}.a0 = 0"


def _condition(item: CodedComparison, places: dict[int, str], ranks: Sequence[int], parts: list[str]) -> str:
    sign = _SIGNS[item.sign]
    if item.sign in ("=", "\\="):
        test = f"{places.get(item.left, item.left)} {sign} {places.get(item.right, item.right)}"
    else:
        left, right = (_rank(term, places, ranks, parts) for term in (item.left, item.right))
        # Only numbers have an order: between names no order holds, nor does its negation fail.
        test = f"coalesce({left} {sign} {right}, false)"
    return f"NOT ({test})" if item.negated else test


def _rank(term: int, places: dict[int, str], ranks: Sequence[int], parts: list[str]) -> str:
    if not is_variable(term):
        return str(ranks[term]) if ranks[term] >= 0 else "NULL::BIGINT"
    alias = f"k{places[term].replace('.', '_')}"
    join = f"LEFT JOIN numbers {alias} ON {alias}.code = {places[term]}"
    if join not in parts:
        parts.append(join)
    return f"{alias}.rank"
