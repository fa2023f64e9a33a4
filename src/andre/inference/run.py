"""Running a program over facts."""

from __future__ import annotations

from dataclasses import replace

from andre.facts import FactBase
from andre.inference.choice import choose_engine
from andre.inference.coded import CodedProgram
from andre.inference.engine import Engine
from andre.inference.model import Model
from andre.logic import Program

__all__ = ["infer", "materialise"]


def infer(
    program: Program, facts: FactBase, *, engine: str | Engine = "auto", memory_limit: str = "4GB"
) -> Model:
    """Run a program over facts to its well-founded model.

    Rules may be recursive, also through negation. A conjunction is as probable
    as its least probable part, a disjunction as its most probable one, and the
    negation of an atom of probability p has 1 - p; what is not known has 0.

    Parameters
    ----------
    program
        Safe rules.
    facts
        What is known, whatever its marks; denied facts do not hold. Background
        rules that came with the facts are run first.
    engine
        `clingo` for programs of task size, `duckdb` for large ones, `auto` to
        choose by an estimate, or an engine of your own.
    memory_limit
        How much memory DuckDB may take before it goes to disk.

    Raises
    ------
    LogicError
        Where a rule is unsafe, or the model leaves an atom undefined.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_program
    >>> facts = FactBase.from_facts([parse_atom("edge(a, b)"), parse_atom("edge(b, c)")])
    >>> rules = parse_program("path(X, Y) :- edge(X, Y). path(X, Y) :- edge(X, Z), path(Z, Y).")
    >>> print(*sorted(map(str, infer(rules, facts))))
    path(a, b) path(a, c) path(b, c)
    """
    if len(facts.rules):
        facts = materialise(facts, engine=engine, memory_limit=memory_limit)
    coded = CodedProgram.of(program, facts)
    chosen = choose_engine(engine, coded, memory_limit) if isinstance(engine, str) else engine
    return Model.of(coded, facts, chosen.run(coded), chosen.name)


def materialise(facts: FactBase, *, engine: str | Engine = "auto", memory_limit: str = "4GB") -> FactBase:
    """Put what the background rules derive beside the facts, and leave the rules out.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_program
    >>> facts = FactBase.from_facts([parse_atom("father(abe, homer)")])
    >>> background = parse_program("parent(X, Y) :- father(X, Y).")
    >>> materialise(facts.with_rules(background))
    FactBase(2 facts, 2 relations, 2 constants)
    """
    bare = replace(facts, rules=Program())
    return (
        infer(facts.rules, bare, engine=engine, memory_limit=memory_limit).facts if len(facts.rules) else bare
    )
