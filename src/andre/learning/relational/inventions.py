"""Predicates that are invented: rules for new relations, made from the background for a target to read.

Candidates are few kinds of rules that people write auxiliary predicates with: one
relation or another, two after each other, a transitive closure. They are run into the
background like rules that are known, a batch at a time, and the target is learned beside
them (`inventing.py`). Those that its program reads are kept where it and they
together describe the examples shorter, or where only with them a program agrees with all examples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from andre.facts import FactBase, Key
from andre.inference import infer
from andre.learning.judged_by import background_of
from andre.limits import check
from andre.logic import Atom, Literal, Program, Rule, Variable
from andre.samples import Language

#: Facts of a relation up to which candidates are made from it, and of a candidate.
_MOST_FACTS = 2_000
#: Letters of a name that still says what it means.
_LONGEST_NAME = 40

_X, _Y, _Z = map(Variable, ("X", "Y", "Z"))


@dataclass(frozen=True)
class Word:
    """A relation of one or two arguments that rules may read.

    Examples
    --------
    >>> print(Word("edge", ("node", "node"))(_X, _Y))
    edge(X, Y)
    """

    name: str
    kinds: tuple[str, ...]  #: types of its arguments
    inputs: tuple[int, ...] = ()  #: places that must be bound before it is read, counted from 0

    @property
    def key(self) -> Key:
        """Name and arity."""
        return self.name, len(self.kinds)

    @property
    def is_link(self) -> bool:
        """Whether it leads from one thing to another of the same type."""
        return len(self.kinds) == 2 and self.kinds[0] == self.kinds[1]

    def __call__(self, *args: Variable) -> Atom:
        """It, of these variables."""
        return Atom(self.name, args)


@dataclass(frozen=True)
class Invention:
    """A new predicate with its rules, and those of other new ones that they read."""

    word: Word
    rules: Program

    @classmethod
    def of(cls, word: Word, *bodies: Sequence[Atom]) -> Invention:
        """The predicate that holds where one of these bodies does."""
        head = word(*(_X, _Y)[: len(word.kinds)])
        return cls(word, Program(tuple(Rule(head, tuple(map(Literal, body))) for body in bodies)))

    @property
    def keys(self) -> frozenset[Key]:
        """The new predicates."""
        return frozenset(rule.head.key for rule in self.rules)

    def renamed(self, name: str) -> Invention:
        """The same under another name."""

        def atom(one: Atom) -> Atom:
            return replace(one, predicate=name) if one.key == self.word.key else one

        rules = (
            Rule(atom(rule.head), tuple(Literal(atom(lit.atom), lit.negated) for lit in rule.body))
            for rule in self.rules
        )
        return Invention(replace(self.word, name=name), Program(tuple(rules)))


def union(one: Word, other: Word) -> Invention:
    """What holds of either of two relations.

    Examples
    --------
    >>> print(union(Word("mother", ("person",) * 2), Word("father", ("person",) * 2)).rules)
    mother_or_father(X, Y) :- mother(X, Y).
    mother_or_father(X, Y) :- father(X, Y).
    """
    args = (_X, _Y)[: len(one.kinds)]
    inputs = tuple(sorted({*one.inputs, *other.inputs}))
    word = Word(f"{one.name}_or_{other.name}", one.kinds, inputs)
    return Invention.of(word, [one(*args)], [other(*args)])


def either_way(link: Word) -> Invention:
    """A relation together with its inverse.

    Examples
    --------
    >>> print(either_way(Word("edge", ("node", "node"))).rules)
    edge_either_way(X, Y) :- edge(X, Y).
    edge_either_way(X, Y) :- edge(Y, X).
    """
    return Invention.of(Word(f"{link.name}_either_way", link.kinds), [link(_X, _Y)], [link(_Y, _X)])


def closure(link: Word) -> Invention:
    """The transitive closure of a relation.

    Examples
    --------
    >>> print(closure(Word("edge", ("node", "node"))).rules)
    edge_closure(X, Y) :- edge(X, Y).
    edge_closure(X, Y) :- edge(X, Z), edge_closure(Z, Y).
    """
    word = Word(f"{link.name}_closure", link.kinds, link.inputs)
    return Invention.of(word, [link(_X, _Y)], [link(_X, _Z), word(_Z, _Y)])


def chain(one: Word, other: Word) -> Invention:
    """Two relations after each other.

    Examples
    --------
    >>> print(chain(Word("brother", ("person",) * 2), Word("parent", ("person",) * 2)).rules)
    brother_then_parent(X, Y) :- brother(X, Z), parent(Z, Y).
    """
    word = Word(f"{one.name}_then_{other.name}", (one.kinds[0], other.kinds[1]), one.inputs)
    return Invention.of(word, [one(_X, _Z), other(_Z, _Y)])


def meeting(one: Word, other: Word, place: int) -> Invention:
    """Two relations that have an argument in common, the first (0) or the second (1) of each.

    Examples
    --------
    >>> print(meeting(Word("edge", ("node",) * 2), Word("edge", ("node",) * 2), 0).rules)
    edge_and_edge_from_same(X, Y) :- edge(Z, X), edge(Z, Y).
    """
    where = ("from", "to")[place]
    kinds = one.kinds[1 - place], other.kinds[1 - place]
    word = Word(f"{one.name}_and_{other.name}_{where}_same", kinds)
    ends = ((_Z, _X), (_Z, _Y)) if place == 0 else ((_X, _Z), (_Y, _Z))
    return Invention.of(word, [one(*ends[0]), other(*ends[1])])


def restricted(link: Word, quality: Word, place: int) -> Invention:
    """A relation whose first (0) or second (1) argument has a quality.

    Examples
    --------
    >>> print(restricted(Word("edge", ("node",) * 2), Word("red", ("node",)), 1).rules)
    edge_to_red(X, Y) :- edge(X, Y), red(Y).
    """
    word = Word(f"{link.name}_{('from', 'to')[place]}_{quality.name}", link.kinds, link.inputs)
    return Invention.of(word, [link(_X, _Y), quality((_X, _Y)[place])])


def some(link: Word, place: int) -> Invention:
    """What stands in the first (0) or second (1) place of a relation at all: rules deny it to say "none".

    Examples
    --------
    >>> print(some(Word("edge", ("node",) * 2), 1).rules)
    some_edge_to(X) :- edge(Y, X).
    """
    word = Word(f"some_{link.name}_{('from', 'to')[place]}", (link.kinds[place],))
    return Invention.of(word, [link(*((_X, _Y), (_Y, _X))[place])])


class Inventor:
    """Makes candidates from the background of a target, a batch at a time.

    Parameters
    ----------
    facts
        What is known; candidates are made from all of it but the target.
    language
        What bodies may hold, which candidates keep to: none is recursive where the target may not be, and
        types, declared or inferred, say what goes with what.
    leading
        Relations to begin with, where there are more candidates than a batch has.
    batch
        How many candidates a batch has at the most.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> facts = FactBase.from_facts(map(parse_atom, ["h(a)", "edge(a, b)", "edge(b, c)", "edge(c, d)"]))
    >>> for batch in Inventor(facts, Language("h/1")).batches():
    ...     print(*(one.word.name for one in batch))
    edge_closure edge_either_way some_edge_from some_edge_to
    edge_then_edge edge_and_edge_from_same edge_and_edge_to_same
    edge_either_way_closure
    """

    def __init__(
        self, facts: FactBase, language: Language, leading: Iterable[Key] = (), batch: int = 12
    ) -> None:
        target, types = language.key(facts), language.types_of(facts)
        self.background, self.language, self.batch = background_of(facts, target), language, batch
        relations = self.background.relations
        allowed = language.body_keys(facts)
        self._recursive = target in allowed
        excluded = {text.partition("(")[0].partition("/")[0].strip() for text in language.exclude}
        keys = [
            key
            for key in allowed
            if key in relations
            and key[1] <= 2
            and len(relations[key]) <= _MOST_FACTS
            and key[0] not in excluded
        ]
        first = {key: place for place, key in enumerate(leading)}
        keys.sort(key=lambda key: first.get(key, len(first)))
        words = [Word(key[0], types[key], language.inputs.get(key[0], ())) for key in keys]
        self.links = [word for word in words if len(word.kinds) == 2]
        self.qualities = [word for word in words if len(word.kinds) == 1]
        self._target = target[0]
        self._places = {key: place for place, key in enumerate(facts.relations)}
        self._names = {name for name, _ in facts.relations}
        self._seen = {rows for one in relations.values() for rows in _readings(one.codes.tolist())}

    def batches(self) -> Iterator[tuple[Invention, ...]]:
        """Candidates that hold of something, each of something else; the simplest come first."""
        simple = self._new(self._alternatives())
        paired = self._new(self._pairs())
        yield from filter(None, (simple, paired))
        if self._recursive:
            links = [one for one in (*simple, *paired) if one.word.is_link]
            yield from filter(None, [self._new(map(_closed, links))])
        yield from filter(None, [self._new(_twice(one) for one in paired if one.word.is_link)])

    def _alternatives(self) -> Iterator[Invention]:
        if self._recursive:
            yield from (closure(link) for link in self.links if link.is_link)
        for words in (self.links, self.qualities):
            for two in combinations(words, 2):
                one, other = sorted(two, key=lambda word: self._places[word.key])
                if one.kinds == other.kinds:
                    yield union(one, other)
        yield from (either_way(link) for link in self.links if link.is_link and not link.inputs)
        if self.language.negation:
            yield from (some(link, place) for link in self.links for place in (0, 1))

    def _pairs(self) -> Iterator[Invention]:
        for one in self.links:
            for other in self.links:
                if one.kinds[1] == other.kinds[0] and 1 not in (*one.inputs, *other.inputs):
                    yield chain(one, other)
        for link in self.links:
            for quality in self.qualities:
                for place in (0, 1):
                    if link.kinds[place] == quality.kinds[0]:
                        yield restricted(link, quality, place)
        free = [link for link in self.links if not link.inputs]
        for number, one in enumerate(free):
            for other in free[number:]:
                for place in (0, 1):
                    if one.kinds[place] == other.kinds[place]:
                        yield meeting(one, other, place)

    def _new(self, candidates: Iterable[Invention]) -> tuple[Invention, ...]:
        """The first candidates that hold of what no relation so far does, under names of their own."""
        found: list[Invention] = []
        for one in filter(self._keeps, candidates):
            if len(found) == self.batch:
                break
            check()
            named = self._named(one)
            relation = infer(named.rules, self.background).derived.relations.get(named.word.key)
            if relation is None or not 0 < len(relation) <= _MOST_FACTS:
                continue
            readings = _readings(relation.codes.tolist())
            if not readings & self._seen:
                self._seen |= readings
                self._names.add(named.word.name)
                found.append(named)
        return tuple(found)

    def _keeps(self, one: Invention) -> bool:
        """Whether its rules are no longer than the language allows."""
        most, variables = self.language.max_body, self.language.variables
        return all(
            (most is None or len(rule.body) <= most) and len(rule.variables) <= variables
            for rule in one.rules
        )

    def _named(self, one: Invention) -> Invention:
        """The same under a name that is free and can be read."""
        if one.word.name not in self._names and len(one.word.name) <= _LONGEST_NAME:
            return one
        number = 1
        while (name := f"{self._target}_inv_{number}") in self._names:
            number += 1
        return one.renamed(name)


def _closed(link: Invention) -> Invention:
    """The transitive closure of an invented relation, whose rules it has too."""
    made = closure(link.word)
    return Invention(made.word, Program((*link.rules, *made.rules)))


def _twice(link: Invention) -> Invention:
    """An invented relation after itself, with its rules."""
    made = chain(link.word, link.word)
    return Invention(made.word, Program((*link.rules, *made.rules)))


def _readings(rows: list[list[int]]) -> set[frozenset[tuple[int, ...]]]:
    """The rows of a relation as they are and read backwards, which says the same."""
    return {frozenset(map(tuple, rows)), frozenset(tuple(reversed(row)) for row in rows)}
