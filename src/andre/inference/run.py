"""Running programs over facts, by the engine that suits their size."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from andre.errors import ConfigError, DataError, LogicError, type_of
from andre.facts import PLUS, FactBase, Key, with_sums
from andre.inference.clingo_engine import ClingoEngine
from andre.inference.coded import CodedProgram, CodedRule, is_variable
from andre.inference.duckdb_engine import DuckDBEngine
from andre.inference.engine import Engine, components
from andre.inference.model import Model
from andre.inference.prolog import Tabling, tabled
from andre.logic import Constant, Program, parse_program

#: Above this many atoms, DuckDB is faster than clingo in spite of its start-up time.
_CLINGO_MAX = 20_000


def choose_engine(name: str, program: CodedProgram, memory_limit: str) -> Engine:
    """The engine of this name; `auto` is clingo for small programs without probabilities, else DuckDB.

    Raises
    ------
    ConfigError
        Where there is no engine of this name.
    """
    if name not in ("auto", "clingo", "duckdb"):
        raise ConfigError(f"there is no engine {name!r}: choose auto, clingo or duckdb")
    if name == "auto":
        # clingo needs a run for each probability.
        small = program.is_crisp and estimate_size(program) <= _CLINGO_MAX
        name = "clingo" if small else "duckdb"
    return ClingoEngine() if name == "clingo" else DuckDBEngine(memory_limit)


def estimate_size(program: CodedProgram) -> float:
    """Estimate how many atoms a program reads and derives, rather too high than too low.

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


def as_program(program: Program | str) -> Program:
    """A program, given as a value or as text."""
    if isinstance(program, str):
        return parse_program(program)
    if not isinstance(program, Program):
        raise LogicError(f"{type_of(program)} is no program: give a Program, or rules as Prolog text")
    return program


def infer(
    program: Program | str, facts: FactBase, *, engine: str | Engine = "auto", memory_limit: str = "4GB"
) -> Model:
    """Run a program over facts to its well-founded model.

    Rules may be recursive, even through negation. A conjunction is as probable
    as its least probable part, a disjunction as its most probable one, and the
    negation of an atom of probability p has 1 - p; an unknown atom has 0.

    In an open world (`FactBase.world`) an atom that is neither stated nor denied is
    unknown, even if derived: the negation of an atom has 1 - p only if a fact
    denies the atom or states it with less than certainty, and otherwise 0.

    Parameters
    ----------
    program
        Rules, or their Prolog text. Each variable occurs in the head or in a positive body literal. One that
        occurs only in the head ranges over the constants of its arguments' types, or over all constants if
        the facts do not determine them; see `andre.facts.argument_domains`.
    facts
        The facts, whatever their marks. Denied facts do not hold, unless a
        rule derives them: rules override facts, in either world. Background
        rules that came with the facts are run first, and what they derive counts
        as stated. If a rule reads plus(A, B, C) and nothing defines it, it holds for their numbers
        if A + B = C and B is not negative.
    engine
        `clingo` for small programs, `duckdb` for large ones, `auto` to
        choose by an estimate, or an engine of your own.
    memory_limit
        How much memory DuckDB may take before it uses the disk.

    Raises
    ------
    LogicError
        Where a variable is neither in the head nor in a positive body literal, or the model leaves an
        atom undefined.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_program
    >>> facts = FactBase.from_facts([parse_atom("edge(a, b)"), parse_atom("edge(b, c)")])
    >>> rules = parse_program("path(X, Y) :- edge(X, Y). path(X, Y) :- edge(X, Z), path(Z, Y).")
    >>> print(*sorted(map(str, infer(rules, facts))))
    path(a, b) path(a, c) path(b, c)

    >>> denied = FactBase.from_facts([], negatives=[parse_atom("edge(b, a)")])
    >>> one_way = parse_program("one_way(X, Y) :- edge(X, Y), \\\\+ edge(Y, X).")
    >>> print(*infer(one_way, facts.merge(denied)))
    one_way(a, b) one_way(b, c)
    >>> print(*infer(one_way, replace(facts.merge(denied), world="open")))
    one_way(a, b)
    """
    program = as_program(program)
    if not isinstance(facts, FactBase):
        raise DataError(f"{type_of(facts)} is no FactBase: give what andre.read_facts makes of it")
    if len(facts.rules) or facts.prolog is not None:
        facts = materialise(facts, engine=engine, memory_limit=memory_limit)
    return _run(program, _with_sums(program, facts), engine, memory_limit)


def _with_sums(program: Program, facts: FactBase) -> FactBase:
    """The facts with the sums that a program reads, unless something else defines plus/3."""
    if PLUS in facts.relations or PLUS not in missing_relations(program, facts):
        return facts
    atoms = [lit.atom for rule in program for lit in rule.body if lit.atom.key == PLUS]
    named = [term.number for atom in atoms if isinstance(term := atom.args[1], Constant)]
    steps = [float(number) for number in named if number is not None]
    return with_sums(facts, steps if len(steps) == len(atoms) else None)


def missing_relations(program: Program, facts: FactBase) -> list[Key]:
    """The relations that a program reads, directly or by background rules, but nothing states or defines.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_program
    >>> facts = FactBase.from_facts([parse_atom("edge(a, b)")])
    >>> facts = facts.with_background(parse_program("red(X) :- rose(X). blue(X) :- sea(X)."))
    >>> missing_relations(parse_program("h(X) :- edge(X, Y), red(Y), h(Y)."), facts)
    [('rose', 1)]
    """
    bodies: dict[Key, list[Key]] = {}
    for rule in (*program, *facts.rules):
        read = [literal.atom.key for literal in rule.body if not literal.is_builtin]
        bodies.setdefault(rule.head.key, []).extend(read)
    stated = set(facts.relations)
    if facts.prolog is not None:
        stated |= {*facts.prolog.defines, *facts.prolog.library}
    reached = dict.fromkeys(rule.head.key for rule in program)
    waiting = list(reached)
    while waiting:
        for key in bodies.get(waiting.pop(), ()):
            if key not in reached:
                reached[key] = None
                waiting.append(key)
    return [key for key in reached if key not in stated and key not in bodies]


def _run(program: Program, facts: FactBase, engine: str | Engine, memory_limit: str) -> Model:
    coded = CodedProgram.of(program, facts)
    chosen = choose_engine(engine, coded, memory_limit) if isinstance(engine, str) else engine
    return Model.of(coded, facts, chosen.run(coded), chosen.name)


def materialise(
    facts: FactBase,
    *,
    engine: str | Engine = "auto",
    memory_limit: str = "4GB",
    tabling: Tabling | None = None,
) -> FactBase:
    """The facts together with those that their background derives, without the background itself.

    Rules are run by an engine; clauses that only Prolog can run are tabled by SWI-Prolog (see
    `Tabling`), and a note says how far.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_program
    >>> facts = FactBase.from_facts([parse_atom("father(abe, homer)")])
    >>> background = parse_program("parent(X, Y) :- father(X, Y).")
    >>> materialise(facts.with_rules(background))
    FactBase(2 facts, 2 relations, 2 constants)
    """
    bare = replace(facts, rules=Program())
    if len(facts.rules):
        bare = _run(facts.rules, bare, engine, memory_limit).facts
    return tabled(bare, tabling)
