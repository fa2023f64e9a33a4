"""Rules about the columns of a table as relational rules about its rows, which Prolog can run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, count

from andre.logic.atom import BUILTINS, MISSING, ORDERS, Atom, Constant, Literal, Term, Variable
from andre.logic.program import Program
from andre.logic.rule import Rule
from andre.logic.spelling import read_date

_ROW = Variable("Row")
#: The value of a Boolean column, by whether its literal is negated.
_TRUTH = {False: Constant("true"), True: Constant("false")}


def speaks_of_columns(program: Program) -> bool:
    """Whether the rules compare columns of a table, and no other atom has variables or arguments.

    Examples
    --------
    >>> from andre.logic.parse import parse_program
    >>> speaks_of_columns(parse_program("rich :- age > 42, \\\\+ student."))
    True
    >>> speaks_of_columns(parse_program("rich :- \\\\+ student."))
    False
    """
    atoms = [literal.atom for rule in program for literal in rule.body]
    return (
        any(atom.column is not None for atom in atoms)
        and all(
            atom.column not in BUILTINS if atom.column is not None else atom.gap or not atom.args
            for atom in atoms
        )
        and not any(rule.head.variables for rule in program)
    )


def by_row(program: Program) -> Program:
    """Rules that compare columns of a table as relational rules, with a row as the first argument.

    A column is a relation of row and value, as `andre.facts.row_facts` states it: a Boolean one has the
    values true and false, a date is in seconds since 1970 (UTC), and a value that is unknown is no fact,
    so that no literal about it holds; that it is missing is a fact of its own. A rule without a body holds
    of every `row`. Any other program is returned as it is.

    Examples
    --------
    >>> from andre.logic.parse import parse_program
    >>> program = parse_program("rich :- age > 42, age =< 60, color = red, \\\\+ student.")
    >>> print(by_row(program))
    rich(Row) :- age(Row, Age), color(Row, red), student(Row, false), Age > 42, Age =< 60.
    >>> print(by_row(parse_program("rich :- missing(debts), age > 42.")))
    rich(Row) :- missing(Row, debts), age(Row, Age), Age > 42.
    """
    return Program(tuple(map(_by_row, program))) if speaks_of_columns(program) else program


def _by_row(rule: Rule) -> Rule:
    atoms = [literal.atom for literal in rule.body]
    variables = _variables(dict.fromkeys(atom.column for atom in atoms if atom.column is not None))
    body: dict[Literal, None] = {}  # in order, each once
    for literal in rule.body:
        body |= dict.fromkeys(_of_row(literal, variables))
    head = Atom(rule.head.predicate, (_ROW, *rule.head.args))
    return replace(rule, head=head, body=tuple(body) or (Literal(Atom("row", (_ROW,))),))


def _of_row(literal: Literal, variables: dict[str, Variable]) -> list[Literal]:
    """The literals about a row that correspond to a literal about a column."""
    column = literal.atom.column
    if literal.atom.gap is not None:
        said = Literal(Atom(MISSING, (_ROW, *literal.atom.args)), literal.negated)
        return [Literal(Atom("row", (_ROW,))), said] if literal.negated else [said]
    if column is None:
        return [Literal(Atom(literal.atom.predicate, (_ROW, _TRUTH[literal.negated])))]
    atom = literal.atom.complement if literal.negated else literal.atom
    value = atom.args[1]
    if atom.predicate == "=":
        return [Literal(Atom(column, (_ROW, value)))]
    if atom.predicate in ORDERS:
        value = _number(value)
    variable = variables[column]
    return [Literal(Atom(column, (_ROW, variable))), Literal(Atom(atom.predicate, (variable, value)))]


def _number(value: Term) -> Term:
    """The number to compare with: for a date, the seconds since 1970."""
    if isinstance(value, Constant) and isinstance(value.value, str):
        seconds = read_date(value.value)
        return value if seconds is None else Constant(seconds)
    return value


def _variables(columns: Iterable[str]) -> dict[str, Variable]:
    """A variable for the value of each column, named after it."""
    taken, found = {_ROW.name}, {}
    for column in columns:
        words = re.findall(r"[A-Za-z0-9]+", column)
        name = "".join(word[0].upper() + word[1:] for word in words)
        if not name or name[0].isdigit():
            name = f"V{name}"
        endings = chain([""], map(str, count(2)))
        name = next(new for new in map(name.__add__, endings) if new not in taken)
        taken.add(name)
        found[column] = Variable(name)
    return found
