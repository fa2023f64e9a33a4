"""Atoms, rules and programs from Prolog, ProbLog and AnyBURL text.

`str()` of an atom, rule or program reads back as an equal one. Counts in
comments, as the writers put them (`% train: N_b=219, N_r=215`), become the
evidence of the clause that follows. Where such a comment says that the
confidence is written as the probability, the rule itself has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from andre.errors import LogicError, shorten, type_of
from andre.logic.atom import Atom, Constant, Literal, Term, Variable, fresh_variables
from andre.logic.grammar import RawAtom, RawClause, RawDirective, RawTerm, ReadError, TermText, read_raw
from andre.logic.program import Program
from andre.logic.rule import Evidence, Rule
from andre.logic.spelling import CODE, QUOTED, unquote

_COUNTED_LINE = re.compile(r"\s*[0-9.eE+]+\s+[0-9.eE+]+\s+[0-9.eE+-]+\s+\S.*<=")
_CODE_ARGUMENT = re.compile(rf"[(,]\s*{CODE}\s*[,)]")
#: Marks a comment of the ProbLog writer that wrote the confidence as the probability of the rule.
AS_PROBABILITY = ", written as the probability"
_STATISTICS = re.compile(
    rf"^[ \t]*%[ \t]*(?P<split>{QUOTED}|[a-z]\w*): "
    r"N_b=(?P<n_b>[0-9.e+-]+), N_r=(?P<n_r>[0-9.e+-]+)(?P<as_probability>[^\n]*" + AS_PROBABILITY + ")?",
    re.MULTILINE,
)
#: Directives that change nothing about what a program means when it is read as a whole.
_SKIPPED_DIRECTIVE = re.compile(
    r":-\s*(?:discontiguous|dynamic|encoding|endif|ensure_loaded|if\(current_predicate\(use_rendering/1\)\)"
    r"|module|multifile|set_prolog_flag|style_check|table|use_module|use_rendering)(?!\w)"
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A rule or fact, and the line on which it begins.

    Examples
    --------
    >>> clause, = parse_clauses("% ages\\n0.9::older(ann, bob).")
    >>> print(clause.rule, clause.line)
    0.9::older(ann, bob). 2
    """

    rule: Rule
    line: int


def parse_program(text: str, *, source: str = "<text>") -> Program:
    """Read a program in Prolog, ProbLog or AnyBURL syntax.

    Parameters
    ----------
    text
        The program. AnyBURL is known by its counts or by a `<=` without a dot.
    source
        What error messages call the text: its file, as a rule.

    Examples
    --------
    >>> print(parse_program("h(X, Y) :- not q(Y), p(X, Y), X \\\\= Y.  % a comment"))
    h(X, Y) :- p(X, Y), \\+ q(Y), X \\= Y.
    """
    return Program(tuple(clause.rule for clause in parse_clauses(text, source=source)))


def parse_clauses(text: str, *, source: str = "<text>") -> list[Clause]:
    """Read the clauses of a program, each with its line.

    Raises
    ------
    LogicError
        Naming source and line.
    """
    text = _checked(text).removeprefix("\ufeff")
    try:
        if _is_anyburl(text):
            return list(_read_lines(text))
        return list(_read_program(text))
    except ReadError as problem:
        raise LogicError(f"{source}, line {problem.line}: {problem.message}") from None


def parse_rule(text: str, *, source: str = "<text>") -> Rule:
    """Read one rule or fact; its final dot may be left out.

    Examples
    --------
    >>> rule = parse_rule("219\\t215\\t0.98\\th(X,Y) <= b(X,A), c(A,Y)")
    >>> print(rule, rule.evidence[0])
    h(X, Y) :- b(X, A), c(A, Y). train: N_b=219, N_r=215, N_r/N_b=0.9817
    """
    if not (_is_anyburl(_checked(text)) or text.rstrip().endswith(".")):
        text += " ."
    clauses = parse_clauses(text, source=source)
    if len(clauses) != 1:
        raise LogicError(f"{source} holds {len(clauses)} clauses where one rule is asked for")
    return clauses[0].rule


def parse_atom(text: str, *, source: str = "<text>") -> Atom:
    """Read one atom.

    Raises
    ------
    LogicError
        Where the text is no atom.

    Examples
    --------
    >>> parse_atom("h(a, 'New York')")
    Atom(predicate='h', args=(Constant(value='a'), Constant(value='New York')))
    """
    try:
        raw: RawAtom = read_raw(_checked(text), "single")
        return next(_name_all([raw]))
    except ReadError as problem:
        raise LogicError(f"{source}: {problem.message}") from None


def _checked(text: object) -> str:
    if not isinstance(text, str):
        raise LogicError(f"{type_of(text)} is no text: give rules and atoms as Prolog writes them")
    return text


def _is_anyburl(text: str) -> bool:
    """Whether the first line that is neither blank nor a comment is an AnyBURL rule."""
    for match in re.finditer(r"[^\n]+", text):
        line = match[0].strip()
        if line and not line.startswith("%"):
            # A clause that goes on in the next line ends in a comma or in the arrow itself.
            is_whole = not line.endswith((".", ",", "<="))
            return bool(_COUNTED_LINE.match(line) or (is_whole and re.search(r"\)\s*<=", line)))
    return False


def _read_lines(text: str) -> Iterator[Clause]:
    # One leading zero shows that all digits are codes, as WordNet's 00260881 and 12651611, and so names.
    has_codes = bool(_CODE_ARGUMENT.search(text))
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith("%"):
            continue
        try:
            raw = read_raw(line, "line") if _COUNTED_LINE.match(line) else _prolog_line(line)
            yield _clause(raw, number, read=Constant if has_codes else Constant.read)
        except ReadError as problem:
            raise ReadError(problem.message, number) from None


def _prolog_line(line: str) -> RawClause:
    """Read a line without counts: as Prolog where possible, else as AnyBURL."""
    try:
        items = read_raw(line if line.rstrip().endswith(".") else line + " .", "program")
    except ReadError:
        items = [read_raw(line, "line")]
    if len(items) != 1 or isinstance(items[0], RawDirective):
        raise ReadError("there is more than one rule in this line: write each in its own", 1)
    clause: RawClause = items[0]
    return clause


def _read_program(text: str) -> Iterator[Clause]:
    statistics = _statistics(text)
    for item in read_raw(text, "program"):
        if isinstance(item, RawDirective):
            _skip(item)
            continue
        evidence = []
        while statistics and statistics[-1].line <= item.head.line:
            evidence.append(statistics.pop())
        if any(found.as_probability for found in evidence):
            item = item._replace(probability=None)  # noqa: PLW2901
        yield _clause(item, item.head.line, tuple(found.evidence for found in evidence))


class _Statistics(NamedTuple):
    line: int
    evidence: Evidence
    as_probability: bool  #: whether the probability of the rule is this confidence, and not its own


def _statistics(text: str) -> list[_Statistics]:
    """The counts in comments with their lines, the last first."""
    found, line, place = [], 1, 0
    for match in _STATISTICS.finditer(text):
        line, place = line + text.count("\n", place, match.start()), match.start()
        split = match["split"]
        try:
            name = unquote(split) if split.startswith("'") else split
            counts = float(match["n_b"]), float(match["n_r"])
        except ValueError:
            continue  # a remark that only looks like counts
        found.append(
            _Statistics(line, Evidence(name, *map(_whole, counts)), match["as_probability"] is not None)
        )
    return found[::-1]


def _whole(count: float) -> float:
    return int(count) if count.is_integer() else count


def _skip(directive: RawDirective) -> None:
    if not _SKIPPED_DIRECTIVE.match(directive.text):
        shown = shorten(directive.text, 60)
        raise ReadError(f"the directive {shown!r} cannot be carried out: take it out", directive.line)


def _clause(
    raw: RawClause,
    line: int,
    evidence: tuple[Evidence, ...] = (),
    read: Callable[[str], Constant] = Constant.read,
) -> Clause:
    body = tuple(literal for literal in raw.body if literal.negated or not literal.atom.is_true)
    if any(literal.atom.is_true for literal in body):
        raise ReadError("\\+ true never holds, so this rule says nothing: take it out", line)
    head, *atoms = _name_all([raw.head, *(literal.atom for literal in body)], read)
    if raw.counts is not None:
        evidence = (Evidence("train", *map(_whole, raw.counts)),)
    probability = 1.0 if raw.probability is None else raw.probability
    literals = map(Literal, atoms, (literal.negated for literal in body))
    try:
        return Clause(Rule(head, tuple(literals), evidence, probability), line)
    except LogicError as error:
        raise ReadError(str(error), line) from None


def _name_all(atoms: Iterable[RawAtom], read: Callable[[str], Constant] = Constant.read) -> Iterator[Atom]:
    """The atoms of a clause, with a new variable for every `_`."""
    atoms = list(atoms)
    taken = {arg.name for atom in atoms for arg in atom.args if isinstance(arg, Variable)}
    fresh = fresh_variables(taken)
    for atom in atoms:
        try:
            yield Atom(atom.predicate, tuple(_term(arg, fresh, read) for arg in atom.args))
        except LogicError as error:
            raise ReadError(str(error), atom.line) from None


def _term(term: RawTerm, fresh: Iterator[Variable], read: Callable[[str], Constant]) -> Term:
    if isinstance(term, Variable | Constant):
        return term
    if isinstance(term, TermText):
        return Constant(term.text)
    return read(term) if isinstance(term, str) else next(fresh)
