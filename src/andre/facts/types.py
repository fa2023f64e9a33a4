"""Argument types: two arguments of relations have the same type if they share a constant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from andre.arrays import Bools, Ints, distinct_keys
from andre.facts.base import FactBase
from andre.facts.relation import Key, Relation


def type_of_codes(relations: Iterable[Relation], n_values: int) -> tuple[list[list[int]], Ints]:
    """The type of every argument and of every code, as a number.

    Arguments that share a code, directly or through others, are of one type: a
    type is a connected component of the graph of arguments and their codes.

    Returns
    -------
    tuple
        For each relation the type of each argument, and [n_values] the type of
        each code; -1 for a code that no fact has. Types are numbered from 0 in
        the order of their first arguments.

    Examples
    --------
    >>> parent = Relation("parent", np.array([[0, 1], [1, 2]]))
    >>> age = Relation("age", np.array([[0, 3]]))
    >>> type_of_codes([parent, age], 4)
    ([[0, 0], [0, 1]], array([0, 0, 0, 1]))
    """
    known = list(relations)
    columns = [column for relation in known for column in relation.codes.T]
    types = np.arange(len(columns))  # of each argument: the first argument known to be of its type
    owner = np.full(n_values, -1)  # of each code: an argument that has it
    for place, column in enumerate(columns):
        codes = distinct_keys(column)
        met = owner[codes]
        joined = distinct_keys(types[[place, *distinct_keys(met[met >= 0])]])
        if len(joined) > 2:  # it joins several types that were apart so far
            types[np.isin(types, joined)] = joined[0]
        types[place] = joined[0]
        owner[codes] = place
    _, numbers = np.unique(types, return_inverse=True)
    of_arguments = iter(numbers.tolist())
    of_codes = np.append(numbers, -1)[owner]  # an owner of -1 picks the -1 at the end
    return [[next(of_arguments) for _ in range(relation.arity)] for relation in known], of_codes


@dataclass(frozen=True)
class ArgumentTypes:
    """The types of all arguments by name, and the number of constants of each type.

    Examples
    --------
    >>> from andre.logic import Atom, Constant
    >>> ann, bob, cy = map(Constant, ("ann", "bob", "cy"))
    >>> facts = [Atom("parent", (ann, bob)), Atom("parent", (bob, cy)), Atom("age", (cy, Constant(9)))]
    >>> print(argument_types(FactBase.from_facts(facts)))
    parent(entity, entity), age(entity, number)
    """

    of: Mapping[Key, tuple[str, ...]]
    sizes: Mapping[str, int]  #: how many constants each type has

    def __str__(self) -> str:
        return ", ".join(
            f"{name}({', '.join(types)})" if types else name for (name, _), types in self.of.items()
        )


def argument_types(base: FactBase) -> ArgumentTypes:
    """Infer the types of all arguments from shared constants, and name them.

    A type of numbers alone is called number. One whose constants are exactly
    those of a unary relation takes its name. If one type is left, it is called
    entity; several are named after their first argument, as `city2` for the
    second one of city.
    """
    relations = list(base.relations.values())
    places, of_codes = type_of_codes(relations, len(base.constants))
    counts = Counter(of_codes.tolist())
    numeric = _numeric(base, of_codes)
    names: dict[int, str] = {}
    taken: set[str] = set()

    def name(kind: int, wish: str) -> None:
        chosen, again = wish, 1
        while chosen in taken:
            again += 1
            chosen = f"{wish}_{again}"
        taken.add(chosen)
        names[kind] = chosen

    for kind in sorted(numeric):
        name(kind, "number")
    for relation, kinds in zip(relations, places, strict=True):
        if relation.arity == 1 and kinds[0] not in names and len(relation) == counts[kinds[0]]:
            name(kinds[0], relation.name)
    rest = {kind for kinds in places for kind in kinds} - names.keys()
    for relation, kinds in zip(relations, places, strict=True):
        for position, kind in enumerate(kinds, start=1):
            if kind not in names:
                name(kind, f"{relation.name}{position}" if len(rest) > 1 else "entity")
    of = {r.key: tuple(names[kind] for kind in kinds) for r, kinds in zip(relations, places, strict=True)}
    return ArgumentTypes(of, {names[kind]: counts[kind] for kind in sorted(names)})


#: The share of an argument's constants that must be of a head's type for the argument to be of that type.
_ALIKE = 0.9


def with_types_of_heads(base: FactBase) -> tuple[FactBase, int]:
    """The same facts with a bias in which body arguments with constants of the head have the head's type.

    A bias written by hand or by a script may call the same things by two names, and then no rule
    gets from the head to what is known of them. Numbers say nothing: an age and a count may be
    equal. The second value counts the arguments whose type has changed.

    Examples
    --------
    >>> from andre.facts.bias import Bias
    >>> from andre.logic import parse_atom
    >>> types = (("active", ("drug",)), ("ames", ("arg0",)), ("atoms", ("drug", "count")))
    >>> bias = Bias(head=(("active", 1),), body=(("ames", 1), ("atoms", 2)), types=types)
    >>> facts = FactBase.from_facts(map(parse_atom, ["active(d1)", "active(d2)", "ames(d1)", "atoms(d2, 9)"]))
    >>> found, changed = with_types_of_heads(replace(facts, bias=bias))
    >>> found.bias.types_of("ames", 1), found.bias.types_of("atoms", 2), changed
    (('drug',), ('drug', 'count'), 1)
    """
    bias = base.bias
    if bias is None or not bias.types:
        return base, 0
    is_name = np.fromiter((isinstance(v, str) for v in base.constants), np.bool_, len(base.constants))
    typed = {
        key: kinds for key in base.relations if (kinds := bias.types_of(*key)) is not None and key[1] > 0
    }
    of_heads = dict[str, Bools]()  # by type of a head's argument, which constants it has: [n_values]
    for kind in dict.fromkeys(kind for head in bias.head for kind in typed.get(head, ())):
        of_heads[kind] = np.zeros(len(base.constants), dtype=np.bool_)
        for key, kinds in typed.items():
            for place in (place for place, own in enumerate(kinds) if own == kind):
                of_heads[kind][base.relations[key].codes[:, place]] = True
    changed, types = 0, dict[Key, tuple[str, ...]]()
    for key, kinds in typed.items():
        made = list(kinds)
        for place, kind in enumerate(kinds):
            codes = distinct_keys(base.relations[key].codes[:, place].astype(np.int64))
            if kind in of_heads or not len(codes) or not is_name[codes].all():
                continue
            shares = {other: float(of_heads[other][codes].mean()) for other in of_heads}
            best = max(shares, key=lambda other: shares[other], default=kind)
            if shares.get(best, 0.0) >= _ALIKE:
                made[place] = best
                changed += 1
        types[key] = tuple(made)
    if not changed:
        return base, 0
    named = tuple((name, types.get((name, len(kinds)), kinds)) for name, kinds in bias.types)
    return replace(base, bias=replace(bias, types=named)), changed


def argument_domains(base: FactBase, key: Key) -> list[Ints]:
    """For each argument of a relation, the codes of the constants that it ranges over, ascending.

    They are the constants of its type: the one that the bias of the facts declares, else
    the one that is inferred. Of a relation that has neither, an argument may be any constant.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> base = FactBase.from_facts(map(parse_atom, ["p(a, b)", "q(a, 1)", "r(c)"]))
    >>> [codes.tolist() for codes in argument_domains(base, ("q", 2))]
    [[0], [2]]
    >>> [codes.tolist() for codes in argument_domains(base, ("new", 1))]
    [[0, 1, 2, 3]]
    """
    declared = {} if base.bias is None else dict(base.bias.types)
    wanted, columns = declared.get(key[0], ()), dict[str, list[Ints]]()
    for relation in base.relations.values():
        kinds = declared.get(relation.name, ())
        for kind, column in (
            zip(kinds, relation.codes.T, strict=False) if len(kinds) == relation.arity else ()
        ):
            columns.setdefault(kind, []).append(column)
    if len(wanted) == key[1] and all(kind in columns for kind in wanted):
        return [distinct_keys(np.concatenate(columns[kind]).astype(np.int64)) for kind in wanted]
    if key in base.relations:
        places, of_codes = type_of_codes(base.relations.values(), len(base.constants))
        own = places[list(base.relations).index(key)]
        return [np.flatnonzero(of_codes == kind) for kind in own]
    return [np.arange(len(base.constants))] * key[1]


def _numeric(base: FactBase, of_codes: Ints) -> set[int]:
    """The types whose constants are all numbers."""
    is_name = np.fromiter((isinstance(v, str) for v in base.constants), np.bool_, len(base.constants))
    return set(of_codes[~is_name].tolist()) - set(of_codes[is_name].tolist()) - {-1}
