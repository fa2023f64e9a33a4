"""What examples reach: conjunctions of links, grown one link at a time and joined with the facts.

A link is a literal that binds new variables, as `has_car(X1, X2)` binds the cars of a train. A determinate
link has one match at the most, so that all of these are followed. Every other link multiplies the groundings:
these are followed one after another, the most promising first. A `View` is a conjunction of links with its
groundings, a left outer join of the examples with the facts: each example has at least one row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, islice, product
from typing import TypeAlias

import numpy as np

from andre.arrays import Bools, Ints, is_among, ranges, row_keys
from andre.facts import FactBase, Key, Relation
from andre.limits import check
from andre.logic import Atom, Variable

#: A link by its relation, the places of known variables with their numbers, and its copy.
_LinkName: TypeAlias = tuple[Key, tuple[tuple[int, int], ...], int]
#: In place of a constant: the example has no match for the link (NULL in SQL).
NOTHING = -1
#: The most choices of known variables that are tried for a link.
_MOST_CHOICES = 256


@dataclass(frozen=True)
class Slot:
    """A variable of a view."""

    number: int
    kind: str  #: its type
    depth: int = 0  #: its distance from the head, in links
    needs: frozenset[int] = frozenset()  #: the numbers of all variables that the links up to it bind
    owed: bool = False  #: whether it is an output of the head by the directions, or bound by one

    @property
    def variable(self) -> Variable:
        """The variable as rules name it."""
        return Variable(f"X{self.number + 1}")


@dataclass(frozen=True)
class Link:
    """A literal that binds new variables."""

    key: Key
    slots: tuple[Slot, ...]  #: what stands at each place
    known: tuple[int, ...]  #: the places of variables that are bound before it
    copy: int = 0  #: number among the links of this relation with the same known variables

    @property
    def new(self) -> tuple[int, ...]:
        """The places of the variables that it binds."""
        return tuple(place for place in range(len(self.slots)) if place not in self.known)

    @property
    def depth(self) -> int:
        """The depth of the variables that it binds."""
        return self.slots[self.new[0]].depth

    @property
    def atom(self) -> Atom:
        """The literal."""
        return Atom(self.key[0], tuple(slot.variable for slot in self.slots))


def variables_of(slots: Sequence[Slot]) -> int:
    """How many variables beside the head's a rule needs for a literal about these."""
    return len(frozenset[int]().union(*(slot.needs for slot in slots)))


class Lookup:
    """Facts of the relations that bodies may hold, for joins and for tests of single atoms.

    A fact holds if its probability is above one half. At exactly one half, and in an open world where
    nothing is stated, neither the atom nor its negation holds.
    """

    def __init__(self, facts: FactBase, keys: Sequence[Key]) -> None:
        self.base = max(1, len(facts.constants))
        self._open = facts.world == "open"
        self._relations: dict[Key, Relation] = {}
        self._exceptions: dict[Key, Ints] = {}  # closed world: facts at one half; open world: denied ones
        for key in keys:
            relation = facts.relations[key]
            chance = np.where(relation.column("negative"), 0.0, relation.column("probability"))
            kept = chance > 0.5
            self._relations[key] = relation if kept.all() else relation.take(kept)
            self._exceptions[key] = relation.codes[chance < 0.5 if self._open else chance == 0.5].astype(
                np.int64
            )
        self._sorted: dict[tuple[Key, tuple[int, ...]], tuple[Ints, Ints]] = {}
        self._functional: dict[tuple[Key, tuple[int, ...]], bool] = {}
        self._members: dict[Key, Bools] = {}

    @property
    def keys(self) -> tuple[Key, ...]:
        """The relations."""
        return tuple(self._relations)

    def codes(self, key: Key) -> Ints:
        """The facts of a relation, [N, arity]."""
        return self._relations[key].codes.astype(np.int64)

    def fits(self, width: int) -> bool:
        """Whether so many constants fit into one key of 64 bits."""
        return width * math.log2(max(2, self.base)) < 62

    def _index(self, key: Key, places: tuple[int, ...]) -> tuple[Ints, Ints]:
        """The order of a relation's facts by some places, and their keys in that order."""
        if (key, places) not in self._sorted:
            keys = row_keys(self.codes(key)[:, list(places)], self.base)
            order = np.argsort(keys, kind="stable")
            self._sorted[key, places] = order, keys[order]
        return self._sorted[key, places]

    def is_functional(self, key: Key, places: tuple[int, ...]) -> bool:
        """Whether a relation is functional: constants at these places determine the fact."""
        if (key, places) not in self._functional:
            keys = self._index(key, places)[1]
            self._functional[key, places] = bool((keys[1:] != keys[:-1]).all())
        return self._functional[key, places]

    def matches(self, key: Key, places: tuple[int, ...], known: Ints) -> tuple[Ints, Ints, Ints]:
        """The facts with given constants at some places, as ranges: begins and ends in an order of the facts.

        Parameters
        ----------
        known
            The constants, [rows, places]; `NOTHING` matches no fact.
        """
        order, keys = self._index(key, places)
        wanted = np.where((known >= 0).all(axis=1), row_keys(known.clip(0), self.base), -1)
        return np.searchsorted(keys, wanted, "left"), np.searchsorted(keys, wanted, "right"), order

    def members(self, key: Key) -> Bools:
        """Which constants a unary relation holds for, [n]."""
        if key not in self._members:
            self._members[key] = np.zeros(self.base, dtype=np.bool_)
            self._members[key][self.codes(key)[:, 0]] = True
        return self._members[key]

    def hold(self, key: Key, rows: Ints) -> Bools:
        """Which atoms hold, given their constants, [rows, arity]."""
        if key[1] == 1:
            return self.members(key)[rows[:, 0]]
        first, last, _ = self.matches(key, tuple(range(key[1])), rows)
        return np.asarray(last > first)

    def fail(self, key: Key, rows: Ints) -> Bools:
        """Which atoms are false, so that their negation holds, given their constants, [rows, arity]."""
        exceptions = self._exceptions[key]
        is_exception = (
            is_among(rows, exceptions, self.base) if len(exceptions) else np.zeros(len(rows), dtype=np.bool_)
        )
        return np.asarray((is_exception == self._open) & ~self.hold(key, rows))


@dataclass(frozen=True, eq=False)
class View:
    """A conjunction of links with its groundings for all examples."""

    links: tuple[Link, ...]
    slots: tuple[Slot, ...]  #: the variables, one for each column of `rows`; the head's come first
    owners: Ints  #: [R], the example of each row, ascending
    rows: Ints  #: [R, slots], codes of constants, or NOTHING

    @cached_property
    def place(self) -> Mapping[int, int]:
        """The column of each slot by its number."""
        return {slot.number: column for column, slot in enumerate(self.slots)}

    def values(self, slots: Sequence[Slot]) -> Ints:
        """The constants of some slots, [R, slots]."""
        return self.rows[:, [self.place[slot.number] for slot in slots]]

    @property
    def signature(self) -> frozenset[Link]:
        """The links as a set: equal for equal views."""
        return frozenset(self.links)


@dataclass(frozen=True)
class Growth:
    """How far links are followed."""

    #: Where unstated atoms are false: of more head atoms than this, a weighted sample is drawn.
    heads: int = 20_000
    rows: int = 200_000  #: groundings of all views together
    views: int = 40  #: views that are kept
    beam: int = 12  #: views that are grown further
    slots: int = 80  #: variables of a view
    copies: int = 3  #: links of one kind from the same variables
    variables: int = 6  #: variables that a rule may have
    named: int = 0  #: further variables, which stand for constants in the end
    depth: int = 4  #: links from the head to a variable
    multiple: int = 4  #: links of a view that multiply groundings


@dataclass
class Grower:
    """Grows views from the head atoms of examples, by a beam search."""

    lookup: Lookup
    target: Key
    types: Mapping[Key, tuple[str, ...]]  #: of the arguments of every relation
    inputs: Mapping[str, tuple[int, ...]]  #: by name, the places that must be bound before a literal is used
    only_in_head: frozenset[str]  #: types of which links bind no variable
    limits: Growth
    score: Callable[[View, tuple[Slot, ...]], float]  #: how promising the tests of new variables are
    answers: frozenset[int] = frozenset()  #: places of the head that directions say are outputs
    _slots: dict[_LinkName, list[tuple[int, Slot]]] = field(default_factory=dict)
    _n_slots: int = 0
    _n_head: int = 0

    def grow(self, heads: Ints, kinds: Sequence[str]) -> list[View]:
        """The most promising views; the links of none are a subset of another's.

        Parameters
        ----------
        heads
            The constants of every example, [B, arity].
        kinds
            The types of the head's arguments.
        """
        slots = tuple(Slot(place, kind, owed=place in self.answers) for place, kind in enumerate(kinds))
        self._n_slots = self._n_head = len(slots)
        root = self._with_determinate_links(View((), slots, np.arange(len(heads)), heads.astype(np.int64)))
        kept, frontier, seen = {root.signature: root}, [root], {root.signature}
        for level in range(1, self.limits.multiple + 1):
            # Each number of links has a share of the rows, so that fewer links do not take all.
            most = self.limits.rows * level // self.limits.multiple
            left = most - sum(len(view.rows) for view in kept.values())
            grown: list[tuple[float, View, View]] = []
            for size, view, link in sorted(self._branching(frontier), key=lambda entry: entry[0]):
                check()
                signature = view.signature | {link}
                if size > max(most // 2, len(root.rows)) or signature in seen:
                    continue
                seen.add(signature)
                child = self._with_determinate_links(self._joined(view, link))
                fresh = tuple(slot for slot in child.slots if slot.number not in view.place)
                grown.append((self.score(child, fresh), child, view))
                if len(grown) >= 4 * self.limits.views:
                    break
            grown.sort(key=lambda entry: (-round(entry[0], 9), len(entry[1].rows)))
            frontier = []
            for _, child, parent in grown:
                freed = len(parent.rows) if parent.signature in kept else 0
                if len(kept) >= self.limits.views or len(child.rows) > left + freed:
                    continue
                left += freed - len(child.rows)
                kept.pop(parent.signature, None)
                kept[child.signature] = child
                frontier.append(child)
            frontier = frontier[: self.limits.beam]
            if not frontier:
                break
        return list(kept.values())

    def _with_determinate_links(self, view: View) -> View:
        """The view closed under determinate links, those near the head first.

        A link is left out if all variables that it binds equal others in every grounding: it is a test then.
        """
        for depth in range(1, self.limits.depth + 1):
            determinate = [
                link for link in self._links(view) if self._is_determinate(link) and link.depth == depth
            ]
            for link in sorted(determinate, key=lambda link: link.slots[link.new[0]].owed):
                if len(view.slots) + len(link.new) > self.limits.slots:
                    return view
                grown = self._joined(view, link)
                if any(_is_new(grown, slot, len(view.slots)) for slot in grown.slots[len(view.slots) :]):
                    view = grown
        return view

    def _branching(self, views: Sequence[View]) -> Iterator[tuple[int, View, Link]]:
        """The views with each link that is not determinate, and how many groundings they would have."""
        for view in views:
            for link in self._links(view):
                if len(view.slots) + len(link.new) > self.limits.slots or self._is_determinate(link):
                    continue
                first, last, _ = self._matches(view, link)
                if (last > first).any():
                    yield int(np.maximum(last - first, 1).sum()), view, link

    def _is_determinate(self, link: Link) -> bool:
        return link.key != self.target and self.lookup.is_functional(link.key, link.known)

    def _matches(self, view: View, link: Link) -> tuple[Ints, Ints, Ints]:
        known = view.values([link.slots[place] for place in link.known])
        return self.lookup.matches(link.key, link.known, known)

    def _joined(self, view: View, link: Link) -> View:
        """The left outer join of a view with one link more; no head atom matches itself."""
        first, last, order = self._matches(view, link)
        facts = self.lookup.codes(link.key)[order]
        row, match = ranges(first, last)
        if link.key == self.target:
            other = (facts[match] != view.rows[row, : self._n_head]).any(axis=1)
            row, match = row[other], match[other]
        found = np.full((len(row), len(link.new)), NOTHING)
        found[:] = facts[match][:, list(link.new)]
        without = np.ones(len(view.rows), dtype=np.bool_)
        without[row] = False
        missing = np.flatnonzero(without)
        row = np.concatenate([row, missing])
        found = np.concatenate([found, np.full((len(missing), len(link.new)), NOTHING)])
        sort = np.argsort(row, kind="stable")
        return View(
            (*view.links, link),
            (*view.slots, *(link.slots[place] for place in link.new)),
            view.owners[row[sort]],
            np.concatenate([view.rows[row[sort]], found[sort]], axis=1),
        )

    def _links(self, view: View) -> Iterator[Link]:
        """The links that a view can be grown by."""
        have = set(view.links)
        for key in self.lookup.keys:
            needed = set(self.inputs.get(key[0], ()))
            for width in range(1, key[1]):
                if not self.lookup.fits(width):
                    continue
                for number, places in enumerate(combinations(range(key[1]), width)):
                    if not number % _MOST_CHOICES:
                        check()  # relations of a hundred arguments have more than can be gone through
                    if needed <= set(places):
                        yield from self._from_places(view, key, places, have)

    def _from_places(self, view: View, key: Key, places: tuple[int, ...], have: set[Link]) -> Iterator[Link]:
        kinds = self.types[key]
        new = [place for place in range(key[1]) if place not in places]
        if any(kinds[place] in self.only_in_head for place in new):
            return
        free = key != self.target and self.lookup.is_functional(key, places)
        choices = [[slot for slot in view.slots if slot.kind == kinds[place]] for place in places]
        bound = self._bound_alike(view, key, places)
        for chosen in islice(product(*choices), _MOST_CHOICES):
            depth = 1 + max(slot.depth for slot in chosen)
            if len(set(chosen)) < len(chosen) or depth > self.limits.depth:
                continue
            if chosen in bound:
                continue
            known = self._n_head + variables_of(chosen)
            for copy in range(1 if free else self.limits.copies):
                # Not even beside the others:
                if known + (copy + 1) * len(new) > self.limits.variables + self.limits.named:
                    break
                link = self._link(key, places, chosen, depth, copy)
                if link not in have:
                    yield link
                    break

    def _bound_alike(self, view: View, key: Key, places: tuple[int, ...]) -> set[tuple[Slot, ...]]:
        """Variables that a functional relation links already: the same link would only find the same fact."""
        if not self.lookup.is_functional(key, places):
            return set()
        return {tuple(link.slots[place] for place in places) for link in view.links if link.key == key}

    def _link(
        self, key: Key, places: tuple[int, ...], chosen: tuple[Slot, ...], depth: int, copy: int
    ) -> Link:
        """The link, with the same new variables in whatever view it stands."""
        known = tuple((place, slot.number) for place, slot in zip(places, chosen, strict=True))
        slots = dict(zip(places, chosen, strict=True))
        name = key, known, copy
        if name not in self._slots:
            new = [place for place in range(key[1]) if place not in slots]
            numbers = range(self._n_slots, self._n_slots + len(new))
            needs = frozenset[int]().union(numbers, *(slot.needs for slot in chosen))
            self._slots[name] = [
                (place, Slot(number, self.types[key][place], depth, needs, any(slot.owed for slot in chosen)))
                for place, number in zip(new, numbers, strict=True)
            ]
            self._n_slots += len(new)
        slots.update(self._slots[name])
        return Link(key, tuple(slots[place] for place in range(key[1])), places, copy)


def _is_new(view: View, slot: Slot, known: int) -> bool:
    """Whether a variable differs from each of the first `known` ones in some grounding."""
    own = view.rows[:, view.place[slot.number]]
    alike = [column for column, other in enumerate(view.slots[:known]) if other.kind == slot.kind]
    return not (view.rows[:, alike] == own[:, None]).all(axis=0).any()
