"""Well-founded models by SWI-Prolog's tabling, for programs without comparisons."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.inference.strategies import ARITY

from andre.logic import Atom, Constant, Literal, Program, Rule

_ASK = """
ask(N, Goal, Told) :- call_delays(Goal, Why), (Why == true -> Sign = t ; Sign = u),
    format("~w ~w ~w~n", [N, Sign, Told]).
"""


def by_prolog(cases: Sequence[tuple[Program, Mapping[Atom, float]]]) -> list[tuple[set[Atom], set[Atom]]]:
    """For every program and its facts the atoms that are true, and those that are true or undefined."""
    swipl = shutil.which("swipl")
    assert swipl is not None
    constants: list[Constant] = []
    lines = [":- style_check(-discontiguous).", ":- style_check(-singleton).", _ASK]
    for number, (program, facts) in enumerate(cases):
        for name, arity in ARITY.items():
            own = f"{name}_{number}"
            lines += [f":- table {own}/{arity}.", f"{_call(own, ['none'] * arity)} :- fail."]
        lines += [f"{_atom(atom, number, constants)} :- true." for atom, value in facts.items() if value]
        lines += [_rule(rule, number, constants) for rule in program]
    goals = []
    for number in range(len(cases)):
        for name, arity in ARITY.items():
            places = [f"V{place}" for place in range(arity)]
            goals.append(f"ask({number}, {_call(f'{name}_{number}', places)}, {_call(name, places)})")
    lines += [f"main :- {goal}, fail." for goal in goals] + ["main."]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "programs.pl"
        file.write_text("\n".join(lines) + "\n")
        command = [swipl, "-q", "-f", "none", "-g", "main", "-t", "halt", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert not done.stderr, done.stderr[:500]
    found: list[tuple[set[Atom], set[Atom]]] = [(set(), set()) for _ in cases]
    for line in done.stdout.splitlines():
        number_, sign, atom = line.split(" ", 2)
        name, _, rest = atom.partition("(")
        args = tuple(constants[int(arg[1:])] for arg in rest.rstrip(")").split(",")) if rest else ()
        lower, upper = found[int(number_)]
        upper.add(Atom(name, args))
        if sign == "t":
            lower.add(Atom(name, args))
    return found


def _rule(rule: Rule, number: int, constants: list[Constant]) -> str:
    body = sorted(rule.body, key=lambda literal: literal.negated)
    goals = [_goal(literal, number, constants) for literal in body]
    return f"{_atom(rule.head, number, constants)} :- {', '.join(goals) or 'true'}."


def _goal(literal: Literal, number: int, constants: list[Constant]) -> str:
    goal = _atom(literal.atom, number, constants)
    return f"tnot({goal})" if literal.negated else goal


def _atom(atom: Atom, number: int, constants: list[Constant]) -> str:
    terms = []
    for term in atom.args:
        if isinstance(term, Constant):
            # 2 and 2.0 are two constants.
            if not any(term == one and type(term.value) is type(one.value) for one in constants):
                constants.append(term)
            place = next(
                place
                for place, one in enumerate(constants)
                if term == one and type(term.value) is type(one.value)
            )
            terms.append(f"k{place}")
        else:
            terms.append(term.name)
    return _call(f"{atom.predicate}_{number}", terms)


def _call(name: str, terms: Sequence[str]) -> str:
    return f"{name}({', '.join(terms)})" if terms else name
