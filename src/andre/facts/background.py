"""Clauses that only Prolog can run: arithmetic, lists with variables, cuts, facts for all terms.

What Datalog can say stays among the rules of a fact base. `divide` tells the two
apart: a rule is Prolog's where the grammar of rules refuses it, where a variable is
not bound by its body, or where its body uses a predicate that is Prolog's.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from andre.errors import LogicError
from andre.facts.relation import Key
from andre.logic import NAMED_OPERATORS, QUOTED, Atom, Rule, read_number, unquote, unsafe_variables

_LIBRARY = """
    append/2 append/3 arg/3 assoc_to_keys/2 assoc_to_list/2 assoc_to_values/2 atom/1 atom_chars/2 atom_codes/2
    atom_concat/3 atom_length/2 atom_number/2 atom_string/2 atom_to_term/3 atomic/1 atomic_list_concat/2
    atomic_list_concat/3 aggregate_all/3 aggregate_all/4 bagof/3 between/3 call/1 call/2 call/3 call/4
    callable/1 char_code/2 char_type/2 clumped/2 code_type/2 compare/3 compound/1
    copy_term/2 delete/3 divmod/4 empty_assoc/1 get_assoc/3 list_to_assoc/2 max_assoc/3 min_assoc/3
    not/1 number_string/2 put_assoc/4 same_length/2 string_code/3 string_lower/2 string_upper/2
    subseq/3 term_string/2 text_concat/3 text_to_string/2
    downcase_atom/2 exclude/3 fail/0 false/0 findall/3 float/1 flatten/2
    foldl/4 foldl/5 forall/2 functor/3 ground/1 ignore/1 include/3 integer/1 intersection/3 is_list/1
    is_set/1 keysort/2 last/2 length/2 list_to_ord_set/2 list_to_set/2 maplist/2 maplist/3 maplist/4
    max_list/2 max_member/2 member/2 memberchk/2 min_list/2 min_member/2 msort/2 nextto/3 nonvar/1 nth0/3
    nth0/4 nth1/3 nth1/4 number/1 number_codes/2 numlist/3 once/1 ord_memberchk/2 ord_subset/2 ord_union/3
    pairs_keys/2 pairs_keys_values/3 pairs_values/2 partition/4 permutation/2 plus/3 predsort/3 prefix/2
    repeat/0 reverse/2 select/3 select/4 selectchk/3 setof/3 sort/2 sort/4 split_string/4 string/1
    string_chars/2 string_codes/2 string_concat/3 string_length/2 sub_atom/5 sub_string/5 subset/2
    subtract/3 succ/2 sum_list/2 sumlist/2 term_to_atom/2 tnot/1 union/3 upcase_atom/2 var/1
"""
#: Predicates of SWI-Prolog that a background may use without defining them.
LIBRARY: frozenset[Key] = frozenset(
    (name, int(arity)) for name, _, arity in (word.rpartition("/") for word in _LIBRARY.split())
)

_TOKEN = re.compile(
    rf"(?P<blank>\s+|%[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)|(?P<quoted>{QUOTED})"
    r"|(?P<name>[^\W\d_A-Z]\w*)|0'(?:\\.|''|[^\\])|(?P<bracket>[()\[\]{}])|(?P<comma>,)"
    r"|(?P<sign>[-+*/\\^<>=~:.?@#&$]+)"
    r"|\"(?:[^\"\\]|\\[\s\S])*\"|`(?:[^`\\]|\\[\s\S])*`|[A-Z_]\w*"
    r"|[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]\w*|[|!;]"
)
_OPENING = {")": "(", "]": "[", "}": "{"}


class Written(NamedTuple):
    """A clause or directive as it was written, with its rule if the grammar of rules can read it."""

    text: str
    key: Key | None  #: what it defines; None for a directive, or where only Prolog can tell
    rule: Rule | None = None

    @classmethod
    def of(cls, text: str) -> Written | None:
        """A clause that only Prolog can read; None where it is not even in its form.

        Examples
        --------
        >>> Written.of("tail([_|T], T).").key, Written.of("even(A) :- 0 is A mod 2.").key
        (('tail', 2), ('even', 1))
        >>> Written.of("p(a b) q.") is None, Written.of("p(X :- q(X).") is None
        (True, True)
        """
        tokens = _tokens(text)
        if tokens is None or tokens[-1] != "." or not _is_balanced(tokens) or _has_gap(tokens):
            return None
        neck = next((n for n, token in enumerate(tokens) if token in (":-", "-->")), len(tokens) - 1)
        key = _key_of(tokens[:neck])
        if key is None or neck == len(tokens) - 2:
            return None
        return cls(text, (key[0], key[1] + 2) if tokens[neck] == "-->" else key)


def without_operators(text: str, declared: Mapping[str, str]) -> str | None:
    """A clause whose goals are written as calls; None where that is not all there is to read in it.

    Parameters
    ----------
    declared
        By name, the kind of each operator that a source declares, as in `:- op(700, xfx, likes).`

    Examples
    --------
    >>> declared = {"likes": "xfx", "knows": "xfx", "nice": "fy"}
    >>> print(without_operators("X knows Y :- X likes Y, nice Y.", declared))
    knows(X, Y) :- likes(X, Y), nice(Y).
    """
    tokens = _tokens(text)
    if tokens is None or tokens[-1] != "." or not _is_balanced(tokens) or {";", "->", "-->"} & set(tokens):
        return None
    head, *body = _split(tokens[:-1], ":-")
    goals = _split(body[0], ",") if body else []
    if len(body) > 1 or not all((head, *goals)):
        return None
    called = ", ".join(_as_call(goal, declared) for goal in goals)
    return f"{_as_call(head, declared)} :- {called}." if goals else f"{_as_call(head, declared)}."


def _as_call(goal: Sequence[str], declared: Mapping[str, str]) -> str:
    """A goal as a call of the operator in it that brackets do not hide."""
    if goal[0] == "\\+":
        return f"\\+ {_as_call(goal[1:], declared)}" if goal[1:] else goal[0]
    if declared.get(goal[0]) in ("fx", "fy") and len(goal) > 1 and goal[1] != "(":
        return f"{goal[0]}({_joined(goal[1:])})"
    for name, kind in declared.items():
        parts = _split(goal, name)
        if kind in ("xfx", "xfy", "yfx") and len(parts) == 2 and all(parts):
            return f"{name}({_joined(parts[0])}, {_joined(parts[1])})"
    return _joined(goal)


def _split(tokens: Sequence[str], at: str) -> list[list[str]]:
    """The tokens between those of one kind that stand in no brackets."""
    depth, parts = 0, [list[str]()]
    for token in tokens:
        depth += (token in ("(", "[", "{")) - (token in _OPENING)
        if token == at and not depth:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _joined(tokens: Sequence[str]) -> str:
    """The text of tokens; a bracket behind a name stays with it."""
    return "".join(
        token if not n or token == "(" or tokens[n - 1] == "(" else f" {token}"
        for n, token in enumerate(tokens)
    )


def _tokens(text: str) -> list[str] | None:
    """The tokens without blanks and comments; None if the text cannot be divided into tokens."""
    found, place = [], 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None or not _has_value(match[0]):
            return None
        if match.lastgroup != "blank":
            found.append(match[0])
        place = match.end()
    return found or None


def _has_value(token: str) -> bool:
    """Whether a quoted name has only known escapes, and a number is not too large."""
    try:
        if token[0] == "'":
            unquote(token)
        elif token[0].isdigit():
            read_number(token)
    except LogicError:
        return False
    return True


def _is_balanced(tokens: Iterable[str]) -> bool:
    open_: list[str] = []
    for token in tokens:
        if token in ("(", "[", "{"):
            open_.append(token)
        elif token in _OPENING and (not open_ or open_.pop() != _OPENING[token]):
            return False
    return not open_


def _has_gap(tokens: Sequence[str]) -> bool:
    """Whether two terms follow each other without an operator or comma between them."""
    for one, other in pairwise(tokens):
        ends = one in _OPENING or (_is_operand(one) and one not in NAMED_OPERATORS)
        if ends and _is_operand(other) and other not in NAMED_OPERATORS:
            return True
    return False


def _is_operand(token: str) -> bool:
    return token[0].isalnum() or token[0] in "_'\"`"


def _key_of(head: Sequence[str]) -> Key | None:
    """Name and arity of the head of a clause, from its tokens; None if there is none."""
    match = _TOKEN.match(head[0]) if head else None
    if match is None or match.lastgroup not in ("name", "quoted"):
        return None
    name = unquote(head[0]) if match.lastgroup == "quoted" else head[0]
    if len(head) == 1:
        return name, 0
    if head[1] != "(" or head[-1] != ")" or len(head) == 3:
        return None
    depth, arity = 0, 1
    for place, token in enumerate(head[1:], start=1):
        depth += (token in ("(", "[", "{")) - (token in _OPENING)
        if depth == 0 and place < len(head) - 1:
            return None
        arity += depth == 1 and token == ","
    return name, arity


@dataclass(frozen=True)
class Background:
    """Clauses and directives for SWI-Prolog, in their order.

    Examples
    --------
    >>> background = Background(("tail([_|T], T).", "even(A) :- 0 is A mod 2."))
    >>> background.defines
    (('tail', 2), ('even', 1))
    """

    clauses: tuple[str, ...]
    library: tuple[Key, ...] = ()  #: predicates of Prolog's own that a bias lets bodies hold
    #: Plain facts that belong to the clauses, such as empty([]), for sources without facts of their relation.
    facts: tuple[Atom, ...] = ()

    @property
    def text(self) -> str:
        """The clauses as one program."""
        return "".join(f"{clause}\n" for clause in self.clauses)

    @cached_property
    def defines(self) -> tuple[Key, ...]:
        """The predicates that the clauses define, as far as their text shows."""
        written = filter(None, map(Written.of, self.clauses))
        return tuple(dict.fromkeys(clause.key for clause in written if clause.key is not None))

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name in the clauses, and so all predicates that they may call."""
        found: set[str] = set()
        for clause in self.clauses:
            for match in _TOKEN.finditer(clause):
                if match.lastgroup == "quoted":
                    found.add(unquote(match[0]))
                elif match.lastgroup == "name":
                    found.add(match[0])
        return frozenset(found)

    def facts_beside(self, stated: Container[Key]) -> tuple[Atom, ...]:
        """The facts among the clauses, of relations that a source does not state."""
        return tuple(atom for atom in self.facts if atom.key not in stated)

    def __add__(self, other: Background) -> Background:
        clauses = dict.fromkeys((*self.clauses, *other.clauses))
        library = dict.fromkeys((*self.library, *other.library))
        return Background(tuple(clauses), tuple(library), tuple(dict.fromkeys((*self.facts, *other.facts))))

    def __str__(self) -> str:
        names = ", ".join(f"{name}/{arity}" for name, arity in (*self.defines, *self.library))
        count = "1 clause" if len(self.clauses) == 1 else f"{len(self.clauses)} clauses"
        return f"{count} for SWI-Prolog: {names}"


def divide(
    written: Sequence[Written], stated: Iterable[Key], asked: Iterable[Key] = ()
) -> tuple[list[Rule], Background | None]:
    """The rules that Datalog can run, and all other clauses for Prolog, in their order.

    Parameters
    ----------
    written
        All clauses of a source but its plain facts, and its directives.
    stated
        The predicates of the plain facts.
    asked
        The predicates that bodies may hold.

    Examples
    --------
    >>> from andre.logic import parse_rule
    >>> texts = ["big(X) :- size(X, N), larger(N, 3).", "old(X) :- age(X, N), N > 60."]
    >>> clauses = [Written(text, parse_rule(text).head.key, parse_rule(text)) for text in texts]
    >>> rules, background = divide([*clauses, Written.of("larger(A, B) :- A > B.")], [("size", 2)])
    >>> print(*rules, *background.clauses, sep="\\n")
    old(X) :- age(X, N), N > 60.
    big(X) :- size(X, N), larger(N, 3).
    larger(A, B) :- A > B.
    """
    defined = {*stated, *(clause.key for clause in written)}
    prolog = {clause.key for clause in written if clause.rule is None and clause.key is not None}
    prolog |= {clause.rule.head.key for clause in written if clause.rule and unsafe_variables(clause.rule)}
    prolog |= LIBRARY - defined
    while True:
        added = {
            clause.rule.head.key
            for clause in written
            if clause.rule and any(literal.atom.key in prolog for literal in clause.rule.body)
        }
        if added <= prolog:
            break
        prolog |= added
    rules = [clause.rule for clause in written if clause.rule and clause.rule.head.key not in prolog]
    rest = tuple(clause.text for clause in written if clause.rule is None or clause.rule.head.key in prolog)
    library = tuple(key for key in asked if key in LIBRARY - defined)
    is_needed = library or any(not text.startswith(":-") for text in rest)
    return rules, Background(rest, library) if is_needed else None
