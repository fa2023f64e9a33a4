"""The fact base: relations over one dictionary of constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from andre.arrays import row_keys
from andre.errors import DataError, shorten, type_of
from andre.facts.background import Background
from andre.facts.bias import Bias
from andre.facts.relation import (
    COLUMNS,
    MARKS,
    Dictionary,
    Key,
    Relation,
    Value,
    check_value,
    key_of,
    merge_equal,
)
from andre.logic import Atom, Constant, Program, Variable, html_table, parse_atom

#: What facts may have beside their arguments.
FEATURES = (*COLUMNS, "rules", "bias")

#: What is neither stated nor denied is false (closed) or unknown (open).
World: TypeAlias = Literal["closed", "open"]

_MOST_RELATIONS = 30  # that a notebook shows; of more it says how many


@dataclass(frozen=True)
class Notes:
    """Peculiarities of a source that are no reason to refuse it; iterating gives a sentence for each.

    Examples
    --------
    >>> print(*Notes(duplicates=2, unary=("person",)), sep="\\n")
    2 facts are stated more than once: each counts once
    person is read as unary: all its facts have two equal arguments
    """

    duplicates: int = 0  #: rows that repeat a fact
    overlaps: int = 0  #: facts that stand in more than one of train, valid, test
    unary: tuple[str, ...] = ()  #: relations read as unary
    directives: int = 0  #: Prolog directives passed over
    tabled: str = ""  #: how far a background in Prolog was tabled
    remarks: tuple[str, ...] = ()  #: what else is worth knowing, one sentence each

    def __iter__(self) -> Iterator[str]:
        if self.duplicates:
            yield f"{_facts(self.duplicates)} stated more than once: each counts once"
        if self.overlaps:
            yield (
                f"{_facts(self.overlaps)} in more than one of train, valid and test: "
                "they count for the last of these only"
            )
        if self.unary:
            names = ", ".join(self.unary)
            verb, whose = ("is", "its") if len(self.unary) == 1 else ("are", "their")
            yield f"{names} {verb} read as unary: all {whose} facts have two equal arguments"
        if self.directives:
            what = "directive is" if self.directives == 1 else "directives are"
            yield f"{self.directives} Prolog {what} passed over: only facts and rules are read"
        if self.tabled:
            yield self.tabled
        yield from self.remarks


def _facts(count: int) -> str:
    return f"{count} {'fact is' if count == 1 else 'facts are'}"


@dataclass(frozen=True, eq=False, repr=False)
class FactBase:
    """Distinct facts of any arity, each a row of codes over one dictionary of constants.

    Two fact bases are equal when they state the same, whatever the order of
    facts and the codes of constants; notes and origin do not count.

    Examples
    --------
    >>> ann, bob = Constant("ann"), Constant("bob")
    >>> facts = FactBase.from_facts([Atom("parent", (ann, bob)), Atom("female", (ann,))])
    >>> facts
    FactBase(2 facts, 2 relations, 2 constants)
    >>> facts.relations["parent", 2].codes.tolist(), facts.constants
    ([[0, 1]], ('ann', 'bob'))
    >>> Atom("female", (bob,)) in facts
    False
    """

    constants: tuple[Value, ...]
    relations: Mapping[Key, Relation]
    rules: Program = field(default=Program())  #: background rules that came with the facts
    world: World = "closed"
    notes: Notes = field(default=Notes())
    bias: Bias | None = None  #: the language bias that came with the facts
    origin: str | None = None  #: the format they were read from
    prolog: Background | None = None  #: background clauses that only Prolog can run

    def __post_init__(self) -> None:
        if self.world not in {"closed", "open"}:
            raise DataError(f"a world is closed or open, not {self.world!r}")
        for rule in self.rules:
            if not rule.body:
                raise DataError(f"{rule} has no body: state it among the facts, not the rules")
        for key, relation in self.relations.items():
            if key != relation.key:
                raise DataError(f"{relation} is filed under {key[0]}/{key[1]}: use its name and arity")
            codes = relation.codes
            if codes.size and not (codes.min() >= 0 and codes.max() < len(self.constants)):
                raise DataError(f"{relation} has a code outside the dictionary of constants")
        object.__setattr__(self, "relations", MappingProxyType(dict(self.relations)))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "relations": dict(self.relations)}  # a read-only view cannot be pickled

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, relations=MappingProxyType(state["relations"]))

    @classmethod
    def from_facts(
        cls,
        facts: Iterable[Atom | str],
        *,
        negatives: Iterable[Atom | str] = (),
        probabilities: Iterable[float] | None = None,
        marks: Iterable[str] | None = None,
        world: World = "closed",
    ) -> FactBase:
        """Facts from ground atoms or their text, with a probability and a mark for each if given.

        Examples
        --------
        >>> FactBase.from_facts(["parent(ann, bob)", "parent(bob, cy)"])
        FactBase(2 facts, 1 relations, 3 constants)
        >>> a, b = Atom("p", (Constant("a"),)), Atom("p", (Constant("b"),))
        >>> base = FactBase.from_facts([a], negatives=[b], probabilities=[0.9], world="open")
        >>> base.relations["p", 1].probability.tolist(), base.truth(a), base.truth(b)
        ([0.9, 1.0], True, False)
        """
        stated, denied = list(map(_as_atom, _as_many(facts))), list(map(_as_atom, _as_many(negatives)))
        chances = [1.0] * len(stated) if probabilities is None else list(probabilities)
        parts = ["train"] * len(stated) if marks is None else list(marks)
        if not len(stated) == len(chances) == len(parts):
            raise DataError(f"{len(stated)} facts need as many probabilities and marks")
        if unknown := set(parts) - set(MARKS):
            raise DataError(f"there is no mark {min(unknown)!r}: choose train, valid or test")
        dictionary = Dictionary[Hashable]()
        values: list[Value] = []
        rows: dict[Key, list[tuple[tuple[int, ...], float, int, bool]]] = {}
        for position, atom in enumerate(stated + denied):
            codes = []
            for value in _ground(atom):
                codes.append(dictionary[key_of(value)])
                if len(dictionary) > len(values):
                    values.append(value)
            is_denied = position >= len(stated)
            chance, part = (1.0, "train") if is_denied else (chances[position], parts[position])
            row = (tuple(codes), chance, MARKS.index(part), is_denied)
            rows.setdefault(atom.key, []).append(row)
        relations = []
        for (name, arity), found in rows.items():
            columns = list(zip(*found, strict=True))
            codes_array = np.array(columns[0], dtype=np.int32).reshape(len(found), arity)
            relations.append(Relation(name, codes_array, *map(np.array, columns[1:])))
        return cls.from_relations(values, relations, world=world)

    @classmethod
    def from_relations(
        cls,
        constants: Iterable[Value],
        relations: Iterable[Relation],
        *,
        world: World = "closed",
    ) -> FactBase:
        """Facts from relations whose codes are positions among the constants; repeated facts count once.

        Examples
        --------
        >>> edges = Relation("edge", np.array([[0, 1], [1, 0], [0, 1]]))
        >>> base = FactBase.from_relations(["a", "b"], [edges])
        >>> len(base), base.notes.duplicates
        (2, 1)
        """
        values = tuple(map(check_value, constants))
        if len(Dictionary.of(values)) != len(values):
            raise DataError("a constant stands twice in the list of constants: give each one code")
        given = list(relations)
        for key, count in Counter(relation.key for relation in given).items():
            if count > 1:
                raise DataError(f"{key[0]}/{key[1]} is given twice: join its facts first")
        merged = merge_equal(given, len(values), lambda relation, row: str(_atom(relation, values, row)))
        notes = Notes(duplicates=merged.duplicates, overlaps=merged.overlaps)
        return cls(values, merged.relations, Program(), world, notes)

    @cached_property
    def dictionary(self) -> Mapping[Hashable, int]:
        """The code of each constant, by its `key_of`."""
        return MappingProxyType(dict(Dictionary.of(self.constants)))

    def code(self, value: Value) -> int | None:
        """The code of a constant, or None if it is not in the dictionary."""
        return self.dictionary.get(key_of(value))

    def named(self, name: str) -> Relation:
        """The relation with a name such as p/2."""
        for relation in self.relations.values():
            if str(relation) == name:
                return relation
        raise DataError(
            f"there is no relation {name}: choose from {', '.join(map(str, self.relations.values()))}"
        )

    def atoms(self, name: str, arity: int) -> Iterator[Atom]:
        """The facts of a relation as atoms, including denied ones.

        Examples
        --------
        >>> base = FactBase.from_relations(["a", "b"], [Relation("p", np.array([[1], [0]]))])
        >>> print(*base.atoms("p", 1))
        p(b) p(a)
        """
        relation = self.relations.get((name, arity))
        if relation is not None:
            for row in range(len(relation)):
                yield _atom(relation, self.constants, row)

    def truth(self, atom: Atom) -> bool | None:
        """Whether a ground atom is stated (True), denied or absent (False), or unknown (None).

        A probability of 0 denies it.
        """
        relation = self.relations.get(atom.key)
        codes = [self.code(value) for value in _ground(atom)]
        absent = False if self.world == "closed" else None
        if relation is None or None in codes:
            return absent
        hits = np.flatnonzero((relation.codes == np.array(codes, dtype=np.int32)).all(axis=1))
        if not hits.size:
            return absent
        return not relation.impossible[hits[0]]

    def select(self, mark: str) -> FactBase:
        """The facts with one mark, without relations that have none.

        Examples
        --------
        >>> edge = Relation("edge", np.array([[0, 1], [1, 0]]), mark=np.array([0, 2]))
        >>> len(FactBase.from_relations(["a", "b"], [edge]).select("train"))
        1
        """
        if mark not in MARKS:
            raise DataError(f"there is no mark {mark!r}: choose train, valid or test")
        if mark == MARKS[0] and all(len(some) and some.mark is None for some in self.relations.values()):
            return self
        chosen = (relation.take(relation.marked(mark)) for relation in self.relations.values())
        return replace(self, relations={relation.key: relation for relation in chosen if len(relation)})

    def compact(self) -> FactBase:
        """The same facts over the constants that occur in them, in their order.

        Examples
        --------
        >>> FactBase.from_relations("abc", [Relation("p", np.array([[2], [0]]))]).compact().constants
        ('a', 'c')
        """
        occurs = np.zeros(len(self.constants), dtype=np.bool_)
        for relation in self.relations.values():
            occurs[relation.codes.ravel()] = True
        codes = np.cumsum(occurs) - 1
        kept = tuple(compress(self.constants, occurs.tolist()))
        relations = {key: relation.recoded(codes) for key, relation in self.relations.items()}
        return replace(self, constants=kept, relations=relations)

    def with_relation(self, relation: Relation) -> FactBase:
        """The same facts with one relation, over the same dictionary, added or replaced."""
        merged = merge_equal(
            [relation], len(self.constants), lambda relation, row: str(_atom(relation, self.constants, row))
        )
        return replace(self, relations={**self.relations, **merged.relations})

    def with_rules(self, rules: Program) -> FactBase:
        """The same facts with other background rules."""
        return replace(self, rules=rules)

    def with_background(self, rules: Program, prolog: Background | None = None) -> FactBase:
        """The same facts with additional background rules and clauses for Prolog.

        Facts that belong to the clauses come with them, of relations that are not stated here.

        Examples
        --------
        >>> from andre.logic import parse_program
        >>> rules = parse_program("parent(X, Y) :- father(X, Y).")
        >>> base = FactBase.from_facts([Atom("father", (Constant("abe"), Constant("homer")))])
        >>> base.with_background(rules).with_background(rules)
        FactBase(1 facts, 1 relations, 2 constants, 1 rules)
        """
        joined = Program(tuple(dict.fromkeys((*self.rules, *rules))))
        both = [some for some in (self.prolog, prolog) if some is not None]
        made = replace(self, rules=joined, prolog=both[0] + both[-1] if both else None)
        if prolog is None or not (further := prolog.facts_beside(self.relations)):
            return made
        return replace(made.merge(FactBase.from_facts(further)), notes=self.notes, origin=self.origin)

    def without(self, *features: str) -> FactBase:
        """The same facts without some of `FEATURES`.

        Without probabilities all facts are certain, without marks all are for
        training, and without negatives the denied facts are gone.

        Examples
        --------
        >>> likely = Relation("p", np.array([[0]]), probability=np.array([0.4]))
        >>> FactBase.from_relations(["a"], [likely]).without("probability").relations["p", 1].probability
        """
        if unknown := set(features) - set(FEATURES):
            raise DataError(f"there is no {min(unknown)!r} to leave out: choose from {', '.join(FEATURES)}")
        relations = []
        for relation in self.relations.values():
            if "negative" in features and relation.negative is not None:
                relation = relation.take(~relation.negative)  # noqa: PLW2901
            plain: dict[str, Any] = dict.fromkeys(set(features) & {"probability", "mark"})
            relations.append(replace(relation, **plain))
        rules = self.rules
        if "probability" in features:
            rules = Program(tuple(replace(rule, probability=1.0) for rule in rules))
        return replace(
            self,
            relations={relation.key: relation for relation in relations if len(relation)},
            rules=Program() if "rules" in features else rules,
            prolog=None if "rules" in features else self.prolog,
            bias=None if "bias" in features else self.bias,
        )

    @property
    def features(self) -> tuple[str, ...]:
        """Which of FEATURES these facts have."""
        has = {
            name
            for name in COLUMNS
            if any(getattr(relation, name) is not None for relation in self.relations.values())
        }
        if any(rule.probability != 1 for rule in self.rules):
            has.add("probability")
        if len(self.rules) or self.prolog is not None:
            has.add("rules")
        if self.bias is not None:
            has.add("bias")
        return tuple(name for name in FEATURES if name in has)

    def merge(self, other: FactBase) -> FactBase:
        """The facts and rules of both; if both have a world and a bias, those of this one.

        Examples
        --------
        >>> p, q = (FactBase.from_facts([Atom(n, (Constant(c),))]) for n, c in ("pa", "qb"))
        >>> p.merge(q)
        FactBase(2 facts, 2 relations, 2 constants)
        """
        joint = Dictionary(self.dictionary)
        codes = np.array([joint[key_of(value)] for value in other.constants], dtype=np.int64)
        new = [v for v, code in zip(other.constants, codes, strict=True) if code >= len(self.constants)]
        relations = dict(self.relations)
        for key, relation in other.relations.items():
            recoded = relation.recoded(codes)
            relations[key] = Relation.concat([relations[key], recoded]) if key in relations else recoded
        merged = FactBase.from_relations((*self.constants, *new), relations.values(), world=self.world)
        merged = replace(merged, rules=self.rules, prolog=self.prolog, bias=self.bias or other.bias)
        return merged.with_background(other.rules, other.prolog)

    def __len__(self) -> int:
        return sum(map(len, self.relations.values()))

    def __contains__(self, atom: Atom) -> bool:
        """Whether a ground atom is stated."""
        return self.truth(atom) is True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FactBase):
            return NotImplemented
        rest, others = ((some.world, some.bias, some.rules, some.prolog) for some in (self, other))
        if rest != others:
            return False
        if {k: len(r) for k, r in self.relations.items()} != {k: len(r) for k, r in other.relations.items()}:
            return False
        joint = Dictionary(self.dictionary)
        codes = np.array([joint[key_of(value)] for value in other.constants], dtype=np.int64)
        n = len(joint)
        return all(_same(r, other.relations[k].recoded(codes), n) for k, r in self.relations.items())

    __hash__ = None  # type: ignore[assignment]

    def _repr_html_(self) -> str:
        """A table for notebooks: a line per relation, those with the most facts first."""
        ranked = sorted(self.relations.values(), key=lambda relation: -len(relation))
        lines = [
            [str(relation), f"{len(relation):,}", str(next(self.atoms(*relation.key)))]
            for relation in ranked[:_MOST_RELATIONS]
            if len(relation)
        ]
        hidden = len(ranked) - _MOST_RELATIONS
        more = f" {hidden} more relations." if hidden > 0 else ""
        return html_table(["relation", "facts", "for example"], lines, f"{self!r}.{more}")

    def __repr__(self) -> str:
        rules = f", {len(self.rules)} rules" if len(self.rules) else ""
        return (
            f"FactBase({len(self)} facts, {len(self.relations)} relations, "
            f"{len(self.constants)} constants{rules})"
        )


def _as_many(facts: Iterable[Atom | str]) -> Iterable[Atom | str]:
    if isinstance(facts, Mapping) and not all(isinstance(fact, Atom) for fact in facts):
        raise DataError("a dict is given where facts are: read_facts takes lists of rows by relation")
    if isinstance(facts, str):
        raise DataError(
            f"one text is given where facts are: give a list, as [{facts!r}], or read a file of them"
        )
    return facts


def _as_atom(fact: Atom | str) -> Atom:
    if isinstance(fact, str):
        return parse_atom(fact.strip().removesuffix("."), source=f"the fact {shorten(fact, 40)!r}")
    if isinstance(fact, Atom):
        return fact
    raise DataError(f"{shorten(repr(fact), 60)} is no fact: give an Atom, or text such as 'parent(ann, bob)'")


def _ground(atom: Atom) -> Iterator[Value]:
    for arg in atom.args:
        if not isinstance(arg, Constant):
            what = "a variable" if isinstance(arg, Variable) else f"{type_of(arg)}, no Constant"
            raise DataError(f"{atom} is no fact: {arg} is {what}")
        yield check_value(arg.value)


def _atom(relation: Relation, constants: tuple[Value, ...], row: int) -> Atom:
    return Atom(relation.name, tuple(Constant(constants[code]) for code in relation.codes[row].tolist()))


def _same(one: Relation, other: Relation, n_values: int) -> bool:
    """Whether two relations of distinct facts and equal size have the same facts."""
    keys = row_keys(np.concatenate([one.codes, other.codes]), n_values)
    first, second = np.argsort(keys[: len(one)]), np.argsort(keys[len(one) :])
    if not np.array_equal(keys[: len(one)][first], keys[len(one) :][second]):
        return False
    return all(np.array_equal(one.column(c)[first], other.column(c)[second]) for c in COLUMNS)
