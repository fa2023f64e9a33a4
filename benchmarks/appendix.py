"""The ten classical tasks as the paper's appendix prints them: facts, candidate atoms and rules.

Variables are renamed so that the head's come first. Where the appendix ends a list of facts
by dots, the facts that it prints are all there are, but for `grandparent`: there every one of its four
rules has two families, of which it prints five.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Literal, TypeAlias

from andre.facts import TASKS, FactBase, Key
from andre.facts.tasks.task import facts_of_rows
from andre.logic import Program, parse_program
from andre.samples import Language

#: What bodies may hold: every relation on every ordered pair of variables, so the relations that the appendix
#: lists for the task, or only the atoms that it lists.
Candidates: TypeAlias = Literal["all", "relations", "atoms"]


@dataclass(frozen=True)
class PrintedTask:
    """What the appendix says of one task.

    Examples
    --------
    >>> task = PRINTED["son"]
    >>> task.facts, task.language("atoms").space(task.facts).m
    (FactBase(15 facts, 4 relations, 9 constants), 6)
    """

    name: str
    facts: FactBase = field(repr=False)
    candidates: tuple[str, ...]  #: the atoms that it lets bodies hold
    definition: str  #: the rules that it prints
    corrected: str | None = None  #: the same without a misprint

    @property
    def key(self) -> Key:
        """The relation to define."""
        return next(iter(self.program)).head.key

    @cached_property
    def program(self) -> Program:
        """The rules that it prints."""
        return parse_program(self.definition)

    def language(self, candidates: Candidates, facts: FactBase | None = None) -> Language:
        """The language of preset `paper` over some facts, with these candidates for bodies."""
        task, facts = TASKS[self.name], facts or self.facts
        whole = Language.preset("paper", task.target, variables=task.variables)
        if candidates == "all":
            return whole
        names = tuple(dict.fromkeys(atom.split("(")[0] for atom in self.candidates))
        if candidates == "relations":
            return replace(whole, relations=names)
        atoms = (str(atom).replace(" ", "") for atom in whole.space(facts).atoms)
        return replace(whole, exclude=tuple(atom for atom in atoms if atom not in self.candidates))


def _numbers(last: int) -> dict[str, list[tuple[int, ...]]]:
    return {"successor": [(number, number + 1) for number in range(last)], "zero": [(0,)]}


def _parity(name: str, rest: int) -> PrintedTask:
    """`odd` or `even`: the numbers to 31, of which those with this remainder belong to it."""
    members: list[tuple[int, ...]] = [(number,) for number in range(rest, 32, 2)]
    zeros = (f"zero(X{place})" for place in (1, 2, 3))
    chain = ("successor(X3,X2)", "successor(X2,X1)", "successor(X3,X1)")
    base = "zero(X2), successor(X2, X1)" if rest else "zero(X1)"
    return PrintedTask(
        name,
        facts_of_rows(range(32), {name: members, **_numbers(31)}),
        (*zeros, *chain, f"{name}(X3)", f"{name}(X2)"),
        f"{name}(X1) :- {base}. {name}(X1) :- successor(X2, X1), \\+ {name}(X2). "
        f"{name}(X1) :- successor(X2, X1), successor(X3, X2), {name}(X3).",
    )


def _grandparents(**families: Iterable[str]) -> dict[str, list[str]]:
    """Families of three, by the two kinds of parent (m, f) that lead from the first to the last."""
    found: dict[str, list[str]] = {"grandparent": [], "mother": [], "father": []}
    for kinds, members in families.items():
        for people in members:
            found["grandparent"].append(people[0] + people[2])
            for kind, pair in zip(kinds, (people[:2], people[1:]), strict=True):
                found["mother" if kind == "m" else "father"].append(pair)
    return found


def _paths(*relations: str) -> tuple[str, ...]:
    """Each relation along both halves of X1, X3, X2, and between its ends."""
    return tuple(f"{name}({args})" for name, args in product(relations, ("X1,X3", "X3,X2", "X1,X2")))


def _facts(constants: Iterable[str], relations: Mapping[str, Iterable[str]]) -> FactBase:
    """Facts of two arguments, each written as two letters."""
    return facts_of_rows(constants, {name: map(tuple, pairs) for name, pairs in relations.items()})


_LESS = "lessThan(X1, X2) :- lessThan(X1, X3), lessThan(X3, X2)."

#: The tasks by name, in the order of `CLASSICAL_TASKS`.
PRINTED: dict[str, PrintedTask] = {
    task.name: task
    for task in (
        PrintedTask(
            "predecessor",
            facts_of_rows(
                range(10), {"predecessor": [(number + 1, number) for number in range(9)], **_numbers(9)}
            ),
            ("successor(X2,X1)",),
            "predecessor(X1, X2) :- successor(X2, X1).",
        ),
        _parity("odd", 1),
        _parity("even", 0),
        PrintedTask(
            "lessThan",
            facts_of_rows(
                range(10),
                {"lessThan": [(x, y) for x in range(10) for y in range(10) if x < y], **_numbers(9)},
            ),
            (
                "successor(X2,X3)",
                "successor(X3,X1)",
                "successor(X2,X1)",
                "lessThan(X1,X3)",
                "lessThan(X3,X2)",
            ),
            f"lessThan(X1, X2) :- successor(X2, X1). {_LESS}",
            f"lessThan(X1, X2) :- successor(X1, X2). {_LESS}",
        ),
        PrintedTask(
            "grandparent",
            _facts(
                "abcdefghijklmnopqrstuvwx",
                _grandparents(mm=("ace", "bdf"), ff=("ghi", "jkl"), mf=("mno", "pqr"), fm=("stu", "vwx")),
            ),
            _paths("father", "mother"),
            " ".join(
                f"grandparent(X1, X2) :- {one}(X1, X3), {two}(X3, X2)."
                for one, two in product(("mother", "father"), repeat=2)
            ),
        ),
        PrintedTask(
            "son",
            _facts(
                "abcdefghi",
                {
                    "son": ("ba", "ca", "ed"),
                    "father": ("ab", "ac", "de", "df", "gh", "gi"),
                    "brother": ("bc", "cb", "ef"),
                    "sister": ("fe", "hi", "ih"),
                },
            ),
            (*_paths("father"), "brother(X1,X3)", "sister(X1,X3)", "son(X3,X2)"),
            "son(X1, X2) :- brother(X1, X3), son(X3, X2). son(X1, X2) :- father(X2, X1).",
        ),
        PrintedTask(
            "relatedness",
            _facts(
                "abcdefgh",
                {
                    "related": [x + y for part in ("abcdef", "gh") for x in part for y in part],
                    "parent": ("ab", "ac", "ce", "cf", "dc", "gh"),
                },
            ),
            (*_paths("parent"), "related(X1,X3)", "related(X3,X2)"),
            "related(X1, X2) :- parent(X1, X2). related(X1, X2) :- parent(X2, X1). "
            "related(X1, X2) :- related(X2, X1). related(X1, X2) :- related(X1, X3), related(X3, X2).",
        ),
        PrintedTask(
            "father",
            facts_of_rows(
                ("howard", "anne", "henry", "elizabeth", "john", "margaret", "louis", "adele", "philip"),
                {
                    "father": [("louis", "philip"), ("henry", "elizabeth")],
                    "husband": [("henry", "anne"), ("louis", "adele")],
                    "mother": [("anne", "elizabeth"), ("adele", "philip")],
                    "brother": [("john", "margaret"), ("henry", "louis"), ("philip", "margaret")],
                    "aunt": [("howard", "anne"), ("anne", "henry")],
                },
            ),
            _paths("mother", "husband"),
            "father(X1, X2) :- husband(X1, X3), mother(X3, X2).",
        ),
        PrintedTask(
            "directed_edge",
            _facts("abcd", {"d_edge": ("ab", "ba", "bd", "db", "cc"), "edge": ("ab", "bd", "cc")}),
            ("edge(X1,X2)", "d_edge(X2,X1)"),
            "d_edge(X1, X2) :- d_edge(X2, X1). d_edge(X1, X2) :- edge(X1, X2).",
        ),
        PrintedTask(
            "connectedness",
            _facts(
                "abcd",
                {
                    "connectedness": ("ab", "bc", "cd", "ba", "ac", "ad", "aa", "bd", "bb"),
                    "edge": ("ab", "bc", "cd", "ba"),
                },
            ),
            (
                "edge(X1,X2)",
                "edge(X2,X1)",
                "edge(X3,X2)",
                "connectedness(X1,X3)",
                "connectedness(X3,X2)",
            ),
            "connectedness(X1, X2) :- edge(X1, X2). connectedness(X1, X2) :- edge(X2, X1). "
            "connectedness(X1, X2) :- connectedness(X1, X3), edge(X3, X2).",
        ),
    )
}
