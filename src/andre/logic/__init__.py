"""Atoms, rules and programs: frozen values whose `str()` is Prolog.

- `atom`, `rule`, `program`: the values, and what makes a rule safe
- `spelling`: how Prolog spells names and numbers
- `terms`: lists and compound terms as constants
- `grammar`, `parse`: values from Prolog, ProbLog and AnyBURL text
- `writers`: programs as text and files of all formats, and as sentences
- `rows`: rules about columns of a table as relational rules about its rows
- `variants`, `compare`: equality up to renaming; subsumption, differences, merging
"""

from andre.logic.atom import (
    BUILTINS,
    MISSING,
    ORDERS,
    Atom,
    Constant,
    Literal,
    Term,
    Variable,
    comparison_holds,
)
from andre.logic.compare import Difference, difference, merge_programs, subsumes
from andre.logic.parse import Clause, parse_atom, parse_clauses, parse_program, parse_rule
from andre.logic.program import Program
from andre.logic.rows import by_row, speaks_of_columns
from andre.logic.rule import Evidence, Rule, check_runnable, check_safe, unsafe_variables
from andre.logic.spelling import (
    QUOTED,
    counted,
    format_count,
    is_code,
    number_or_none,
    quote,
    read_date,
    read_number,
    spell_date,
    spell_number,
    unquote,
)
from andre.logic.terms import NAMED_OPERATORS, is_term
from andre.logic.writers import PROGRAM_FORMATS, format_program, read_program, write_program
from andre.logic.writers.english import Phrases, readable, to_english
from andre.logic.writers.json import from_json, to_json
from andre.logic.writers.prolog import to_prolog
from andre.logic.writers.table import html_table, program_html

__all__ = [
    "BUILTINS",
    "MISSING",
    "NAMED_OPERATORS",
    "ORDERS",
    "PROGRAM_FORMATS",
    "QUOTED",
    "Atom",
    "Clause",
    "Constant",
    "Difference",
    "Evidence",
    "Literal",
    "Phrases",
    "Program",
    "Rule",
    "Term",
    "Variable",
    "by_row",
    "check_runnable",
    "check_safe",
    "comparison_holds",
    "counted",
    "difference",
    "format_count",
    "format_program",
    "from_json",
    "html_table",
    "is_code",
    "is_term",
    "merge_programs",
    "number_or_none",
    "parse_atom",
    "parse_clauses",
    "parse_program",
    "parse_rule",
    "program_html",
    "quote",
    "read_date",
    "read_number",
    "read_program",
    "readable",
    "speaks_of_columns",
    "spell_date",
    "spell_number",
    "subsumes",
    "to_english",
    "to_json",
    "to_prolog",
    "unquote",
    "unsafe_variables",
    "write_program",
]
