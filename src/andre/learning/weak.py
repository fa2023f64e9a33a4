"""Programs that agree with all examples and may still be chance, and the example that would tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import TypeAlias

from andre.census import head_domains
from andre.facts import FactBase, Key
from andre.inference import infer
from andre.limits import check, stage
from andre.logic import Atom, Constant, Program
from andre.samples import Language

#: An atom by the codes of its arguments.
Row: TypeAlias = tuple[int, ...]

#: Programs as short as the given one that are run to find where they differ from it.
_RIVALS = 8
#: Head atoms without label that are looked at for one to ask about.
_ASKED = 100_000


@dataclass(frozen=True)
class Weak:
    """What there is to say of a program that agrees with all examples, and that they are too few to confirm.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_program
    >>> rival = parse_program("h(X) :- q(X).")
    >>> weak = Weak(3, 1.25, ties=2, rival=rival, ask=parse_atom("h(d)"), predicted=True)
    >>> print(*str(weak).split("; "), sep="\\n")
    3 positive examples are too few to tell it from chance (1.2 nats longer than a list of labels)
    2 others as short agree with all examples
    is h(d) true? It says yes, and 'h(X) :- q(X).' says no
    """

    support: float  #: positive examples that it explains
    excess: float  #: nats by which it, as a description of the labels, is longer than a list of them
    ties: int = 0  #: other programs as short that agree with all examples
    rival: Program | None = None  #: one of them, which says otherwise about `ask` where there is such an atom
    ask: Atom | None = None  #: an atom without label; whether it holds would confirm or refute the program
    predicted: bool = True  #: whether the program derives it

    @property
    def question(self) -> str:
        """The example to ask for, in words."""
        rival = None if self.rival is None else f"'{' '.join(map(str, self.rival))}'"
        if self.ask is not None:
            says, otherwise = ("yes", "no") if self.predicted else ("no", "yes")
            against = "" if rival is None else f", and {rival} says {otherwise}"
            return f"is {self.ask} true? It says {says}{against}"
        if rival is not None:
            return f"an example is wanted on which it differs from {rival}, as none at hand does"
        return "a further example would confirm or refute it"

    def __str__(self) -> str:
        examples = f"{self.support:g} positive example{' is' if self.support == 1 else 's are'} too few"
        chance = f"{examples} to tell it from chance ({self.excess:.1f} nats longer than a list of labels)"
        others = "1 other as short agrees" if self.ties == 1 else f"{self.ties:,} others as short agree"
        agree = f"; {others} with all examples" if self.ties else ""
        return f"{chance}{agree}; {self.question}"


def weakness(
    program: Program,
    rivals: Sequence[Program],
    background: FactBase,
    unlabelled: Iterable[Row],
    *,
    support: float,
    excess: float,
) -> Weak:
    """What to say of a weak program, and which example to ask for.

    Asked for is an atom without label about which the program and one that is as
    short disagree, else one that the program derives.

    Parameters
    ----------
    rivals
        Programs as short that agree with all examples too.
    background
        What programs read.
    unlabelled
        Head atoms that no example labels, as codes.
    support, excess
        Positive examples that the program explains, and by how many nats it is too long.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_program
    >>> facts = FactBase.from_facts(map(parse_atom, ["p(a)", "q(a)", "r(b)", "p(c)"]))
    >>> one, other = parse_program("h(X) :- p(X)."), parse_program("h(X) :- q(X).")
    >>> weak = weakness(one, [other], facts, [(2,)], support=1, excess=2.0)
    >>> print(facts.constants, weak.question)
    ('a', 'b', 'c') is h(c) true? It says yes, and 'h(X) :- q(X).' says no
    """
    key, asked = program.rules[0].head.key, list(islice(unlabelled, _ASKED))

    def atom(row: Row) -> Atom:
        return Atom(key[0], tuple(Constant(background.constants[code]) for code in row))

    with stage("looking for an example to ask for"):
        ours = _derived(program, background, key) if asked else frozenset()
        for rival in rivals[:_RIVALS] if asked else ():
            check()
            differ = ours ^ _derived(rival, background, key)
            for row in asked:
                if row in differ:
                    return Weak(support, excess, len(rivals), rival, atom(row), predicted=row in ours)
        for row in asked:
            if row in ours:
                return Weak(support, excess, len(rivals), None, atom(row))
    return Weak(support, excess, len(rivals), rivals[0] if rivals else None)


def _derived(program: Program, background: FactBase, key: Key) -> frozenset[Row]:
    """The atoms of the target that a program derives, as codes."""
    relation = infer(program, background).derived.relations.get(key)
    return frozenset() if relation is None else frozenset(map(tuple, relation.codes.tolist()))


def unlabelled_heads(facts: FactBase, language: Language, *, closed: bool) -> Iterator[Row]:
    """Head atoms that no example labels, as codes.

    Parameters
    ----------
    closed
        Whether in a closed world what no example states is false, where none is stated to be false.
    """
    target = facts.select("train").relations[language.key(facts)]
    if target.negative is None and closed and facts.world == "closed":
        return
    labelled = frozenset(map(tuple, target.codes.tolist()))
    domains = (domain.tolist() for domain in head_domains(facts, language))
    yield from (row for row in product(*domains) if row not in labelled)
