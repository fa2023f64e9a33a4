"""What examples reach: joins that are grown a link at a time.

A link is a literal that gets at new constants from known ones, as `has_car(X1, X2)` gets at the cars
of a train. Links that lead to one constant at the most are free, and all are followed; of the others
each multiplies the groundings, so that they are followed one after the other, the most promising first.
A `View` is a set of links with its groundings, for every example at least one.
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
#: The code of a variable that an example has nothing for.
NOTHING = -1
#: Ways to choose known variables for a link that are tried at the most.
_MOST_CHOICES = 256


@dataclass(frozen=True)
class Slot:
    """A variable of a view."""

    number: int
    kind: str  #: the type of what it stands for
    depth: int = 0  #: how many links it is away from the head
    needs: frozenset[int] = frozenset()  #: the numbers of all variables beside the head's that its links bind
    owed: bool = False  #: whether it is, or is bound by, what directions say the head is to answer

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
    copy: int = 0  #: how many links with the same known variables come before it

    @property
    def new(self) -> tuple[int, ...]:
        """The places of the variables that it binds."""
        return tuple(place for place in range(len(self.slots)) if place not in self.known)

    @property
    def depth(self) -> int:
        """How many links what it binds is away from the head."""
        return self.slots[self.new[0]].depth

    @property
    def atom(self) -> Atom:
        """The literal."""
        return Atom(self.key[0], tuple(slot.variable for slot in self.slots))


def variables_of(slots: Sequence[Slot]) -> int:
    """How many variables beside the head's a literal about some needs."""
    return len(frozenset[int]().union(*(slot.needs for slot in slots)))


class Lookup:
    """Facts of the relations that bodies may hold, for joins and for tests of single atoms.

    Facts hold whose probability is above one half. What is stated with one half, and in an open world
    what is not stated, neither holds nor fails.
    """

    def __init__(self, facts: FactBase, keys: Sequence[Key]) -> None:
        self.base = max(1, len(facts.constants))
        self._open = facts.world == "open"
        self._relations: dict[Key, Relation] = {}
        self._odd: dict[Key, Ints] = {}  # in a closed world what is doubtful, in an open one what is denied
        for key in keys:
            relation = facts.relations[key]
            chance = np.where(relation.column("negative"), 0.0, relation.column("probability"))
            kept = chance > 0.5
            self._relations[key] = relation if kept.all() else relation.take(kept)
            self._odd[key] = relation.codes[chance < 0.5 if self._open else chance == 0.5].astype(np.int64)
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
        """Whether what stands at some places leaves one fact at the most."""
        if (key, places) not in self._functional:
            keys = self._index(key, places)[1]
            self._functional[key, places] = bool((keys[1:] != keys[:-1]).all())
        return self._functional[key, places]

    def matches(self, key: Key, places: tuple[int, ...], known: Ints) -> tuple[Ints, Ints, Ints]:
        """Where the facts that have these constants at some places begin and end, and all facts in order.

        Parameters
        ----------
        known
            The constants, [rows, places]; `NOTHING` matches no fact.
        """
        order, keys = self._index(key, places)
        wanted = np.where((known >= 0).all(axis=1), row_keys(known.clip(0), self.base), -1)
        return np.searchsorted(keys, wanted, "left"), np.searchsorted(keys, wanted, "right"), order

    def members(self, key: Key) -> Bools:
        """Of which constants a unary relation holds, [n]."""
        if key not in self._members:
            self._members[key] = np.zeros(self.base, dtype=np.bool_)
            self._members[key][self.codes(key)[:, 0]] = True
        return self._members[key]

    def hold(self, key: Key, rows: Ints) -> Bools:
        """Which atoms are stated, given their constants, [rows, arity]."""
        if key[1] == 1:
            return self.members(key)[rows[:, 0]]
        first, last, _ = self.matches(key, tuple(range(key[1])), rows)
        return np.asarray(last > first)

    def fail(self, key: Key, rows: Ints) -> Bools:
        """Of which atoms the negation holds, given their constants, [rows, arity]."""
        odd = self._odd[key]
        is_odd = is_among(rows, odd, self.base) if len(odd) else np.zeros(len(rows), dtype=np.bool_)
        return np.asarray((is_odd == self._open) & ~self.hold(key, rows))


@dataclass(frozen=True, eq=False)
class View:
    """Links, and the groundings of their variables."""

    links: tuple[Link, ...]
    slots: tuple[Slot, ...]  #: what the columns of `rows` stand for; the head's variables come first
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
        """What makes two views the same."""
        return frozenset(self.links)


@dataclass(frozen=True)
class Growth:
    """How far links are followed."""

    #: Head atoms that are looked at, where what is not stated is false: of more a sample is drawn, with
    #: weights that stand for all.
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
    """Grows views from the head atoms of examples."""

    lookup: Lookup
    target: Key
    types: Mapping[Key, tuple[str, ...]]  #: of the arguments of every relation
    inputs: Mapping[str, tuple[int, ...]]  #: by name, the places that must be bound before a literal is used
    only_in_head: frozenset[str]  #: types of which no variable is bound anew
    limits: Growth
    score: Callable[[View, tuple[Slot, ...]], float]  #: how promising the tests of new variables are
    answers: frozenset[int] = frozenset()  #: places of the head that directions say are outputs
    _slots: dict[_LinkName, list[tuple[int, Slot]]] = field(default_factory=dict)
    _n_slots: int = 0
    _n_head: int = 0

    def grow(self, heads: Ints, kinds: Sequence[str]) -> list[View]:
        """The views of examples, of which no one's links are all among another's.

        Parameters
        ----------
        heads
            The constants of every example, [B, arity].
        kinds
            The types of the head's arguments.
        """
        slots = tuple(Slot(place, kind, owed=place in self.answers) for place, kind in enumerate(kinds))
        self._n_slots = self._n_head = len(slots)
        root = self._closed(View((), slots, np.arange(len(heads)), heads.astype(np.int64)))
        kept, frontier, seen = {root.signature: root}, [root], {root.signature}
        for level in range(1, self.limits.multiple + 1):
            # What more links lead to must not lack room for what fewer lead to.
            most = self.limits.rows * level // self.limits.multiple
            left = most - sum(len(view.rows) for view in kept.values())
            grown: list[tuple[float, View, View]] = []
            for size, view, link in sorted(self._further(frontier), key=lambda entry: entry[0]):
                check()
                signature = view.signature | {link}
                if size > max(most // 2, len(root.rows)) or signature in seen:
                    continue
                seen.add(signature)
                child = self._closed(self._joined(view, link))
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

    def _closed(self, view: View) -> View:
        """The view with all links that lead to one constant at the most, those near the head first.

        A link is left out that leads every example to constants which other variables stand for: what it
        says is a test of these.
        """
        for depth in range(1, self.limits.depth + 1):
            free = [link for link in self._links(view) if self._is_free(link) and link.depth == depth]
            for link in sorted(free, key=lambda link: link.slots[link.new[0]].owed):
                if len(view.slots) + len(link.new) > self.limits.slots:
                    return view
                grown = self._joined(view, link)
                if any(_is_new(grown, slot, len(view.slots)) for slot in grown.slots[len(view.slots) :]):
                    view = grown
        return view

    def _further(self, views: Sequence[View]) -> Iterator[tuple[int, View, Link]]:
        """Views with links that multiply their groundings, and to how many."""
        for view in views:
            for link in self._links(view):
                if len(view.slots) + len(link.new) > self.limits.slots or self._is_free(link):
                    continue
                first, last, _ = self._matches(view, link)
                if (last > first).any():
                    yield int(np.maximum(last - first, 1).sum()), view, link

    def _is_free(self, link: Link) -> bool:
        return link.key != self.target and self.lookup.is_functional(link.key, link.known)

    def _matches(self, view: View, link: Link) -> tuple[Ints, Ints, Ints]:
        known = view.values([link.slots[place] for place in link.known])
        return self.lookup.matches(link.key, link.known, known)

    def _joined(self, view: View, link: Link) -> View:
        """The view with one link more; where nothing matches, its variables stand for nothing.

        A head atom is no fact for itself.
        """
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
        """What a link must not have at some places, as it would find only the fact that bound this."""
        if not self.lookup.is_functional(key, places):
            return set()
        return {tuple(link.slots[place] for place in places) for link in view.links if link.key == key}

    def _link(
        self, key: Key, places: tuple[int, ...], chosen: tuple[Slot, ...], depth: int, copy: int
    ) -> Link:
        """The link, with slots that are the same in whatever view it stands."""
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
    """Whether a variable stands, for some example, for something else than each of the first so many."""
    own = view.rows[:, view.place[slot.number]]
    alike = [column for column, other in enumerate(view.slots[:known]) if other.kind == slot.kind]
    return not (view.rows[:, alike] == own[:, None]).all(axis=0).any()
