"""The values everything else speaks in: atoms, literals, rules, programs."""

from andre.logic.atom import Atom, Constant, Term, Variable
from andre.logic.grammar import Clause, parse_atom, parse_clauses, parse_program, parse_rule
from andre.logic.literal import Literal
from andre.logic.program import Program
from andre.logic.rule import Evidence, Rule
from andre.logic.safety import check_safe
from andre.logic.subsumption import subsumes
from andre.logic.writers import format_program, read_program, write_program

__all__ = [
    "Atom",
    "Clause",
    "Constant",
    "Evidence",
    "Literal",
    "Program",
    "Rule",
    "Term",
    "Variable",
    "check_safe",
    "format_program",
    "parse_atom",
    "parse_clauses",
    "parse_program",
    "parse_rule",
    "read_program",
    "subsumes",
    "write_program",
]
