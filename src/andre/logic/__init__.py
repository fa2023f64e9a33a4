"""The values everything else speaks in: atoms, literals, rules, programs.

Files of programs are read and written by `andre.logic.writers`.
"""

from andre.logic.atom import Atom, Constant, Term, Variable
from andre.logic.grammar import Clause, parse_atom, parse_clauses, parse_program, parse_rule
from andre.logic.literal import Literal
from andre.logic.program import Program
from andre.logic.rule import Evidence, Rule
from andre.logic.safety import check_safe
from andre.logic.subsumption import subsumes

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
    "parse_atom",
    "parse_clauses",
    "parse_program",
    "parse_rule",
    "subsumes",
]
