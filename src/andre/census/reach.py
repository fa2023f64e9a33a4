"""The census of what examples reach: bags of rows for rules of many variables, by joins from the examples.

Where the groundings of all variables are too many to be counted, each example has the groundings of the
links that lead away from it (`andre.census.links`), and the candidates are the tests that its variables
allow: atoms, equalities, constants and cuts of numbers. A body that needs a variable needs its link, so
that what it covers is exact wherever the view of its links was listed whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, islice, pairwise, permutations, product

import numpy as np

from andre.arrays import Bools, Floats, Ints, distinct_rows, number_between
from andre.census.cells import TRUE, UNKNOWN, Cells
from andre.census.census import Census
from andre.census.heads import Examples, draw_examples
from andre.census.links import NOTHING, Grower, Growth, Lookup, Slot, View, variables_of
from andre.census.plan import CensusPlan, Request, Step
from andre.errors import DataError
from andre.facts import FactBase, Key, training_facts
from andre.limits import check
from andre.logic import ORDERS, Atom, Constant, Variable
from andre.samples import Language, Membership, RuleSpace, sums_of

#: Atoms of one relation that are tried in one view at the most.
_MOST_TESTS = 256
#: Ways to choose their variables that are put in order.
_MOST_SORTED = 10_000
#: Relations between a new variable and others by which a view is judged.
_MOST_PROMISES = 48
#: Constants and cuts that are tried for one variable, and values from which on numbers are cut.
_CONSTANTS, _CUTS, _FEW = 8, 7, 2
#: Comparisons of two numbers that are tried at the most.
_MOST_SIZES = 60
#: Cuts on either side of one that is moved, close to it and further apart up to the next quantiles.
_AROUND = 40


@dataclass(frozen=True, eq=False)
class Candidate:
    """A test of the variables of views."""

    atom: Atom
    slots: tuple[Slot, ...]
    holds: Callable[[Ints], Bools]  #: on which rows of constants, [R, slots]; all of them are there
    recursive: bool = False  #: whether it is about the target
    fails: Callable[[Ints], Bools] | None = None  #: on which rows its negation holds; None: on all others

    def cells(self, view: View) -> Cells:
        """Its truth on the rows of a view, [R]; unknown without a constant, and of the head itself."""
        if any(slot.number not in view.place for slot in self.slots):
            return np.full(len(view.rows), UNKNOWN, dtype=np.uint8)
        values = view.values(self.slots)
        known = (values != NOTHING).all(axis=1)
        if self.recursive:
            known &= (values != view.rows[:, : len(self.slots)]).any(axis=1)
        found = np.full(len(view.rows), UNKNOWN, dtype=np.uint8)
        held = self.holds(values[known])
        failed = ~held if self.fails is None else self.fails(values[known])
        found[known] = np.select([held, failed], [TRUE, 0], UNKNOWN)
        return found


def reach_census(
    facts: FactBase,
    language: Language,
    *,
    growth: Growth | None = None,
    cuts: Mapping[Variable, tuple[float, ...]] | None = None,
    also: Ints | None = None,
    seed: int = 0,
    memory_limit: int = 4 << 30,
) -> Census:
    """Bags of the rows that examples reach by links, over the tests that these allow.

    Parameters
    ----------
    language
        What rules may have; its variables and literals bound bodies, not views.
    growth
        How far links are followed.
    cuts
        By variable, cuts of numbers around which all others are candidates too.
    also
        Head atoms that are false, to be among those that are looked at, [N, arity].
    memory_limit
        Bytes that the rows may take: of more, fewer views are kept.

    Raises
    ------
    DataError
        Where nothing can be said about the examples.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> lines = ["car(t1,c1)", "car(t2,c2)", "car(t2,c3)", "short(c1)", "short(c3)", "roof(c1)", "east(t1)"]
    >>> facts = FactBase.from_facts(map(parse_atom, lines), negatives=[parse_atom("east(t2)")])
    >>> print(*reach_census(facts, Language("east/1", variables=2)).space.names, sep="; ")
    short(X2); roof(X2); car(X1, X2)
    """
    facts = training_facts(facts, held_out=language.held_out)
    key, growth = language.key(facts), replace(growth or Growth(), variables=language.variables)
    examples, types = draw_examples(facts, language, growth.heads, seed, also), language.types_of(facts)
    lookup = Lookup(facts, language.body_keys(facts))
    tests = _Tests(facts, language, lookup, types, examples, cuts or {}, growth.named)
    only_in_head = frozenset(language.one_of_type)
    grower = Grower(lookup, key, types, language.inputs, only_in_head, growth, tests.promise, tests.answers)
    views = grower.grow(examples.heads, types[key])
    table = _Table.of(views, tests, memory_limit)
    head = Atom(key[0], tuple(slot.variable for slot in views[0].slots[: key[1]]))
    space = table.space(head, free_head=language.free_head)
    first, number = distinct_rows(table.cells)
    members, group = Membership.distinct(table.owners, number, len(examples.heads), len(first))
    positives, negatives = (
        sums_of(group, weight, len(members)) for weight in (examples.positives, examples.negatives)
    )
    why = (
        f"joins from {len(examples.heads):,} head atoms along {len(space.links):,} links, "
        f"{len(table.cells):,} groundings in {len(table.views):,} views"
    )
    plan = CensusPlan(
        Request("exists", "define", None, memory_limit),
        language.variables,
        (Step("reach", (), why),),
        examples.total,
    )
    return Census(
        space,
        plan,
        table.cells[first],
        positives,
        negatives,
        groundings=len(table.cells),
        dropped=0,
        heads=np.rint(positives + negatives).astype(np.int64),
        members=members,
        sampled=len(examples.heads) if examples.sampled else None,
    )


@dataclass(frozen=True, eq=False)
class _Table:
    """The rows of views over the candidates that tell examples apart."""

    views: Sequence[View]
    candidates: Sequence[Candidate]
    cells: Cells  #: [R, m]
    owners: Ints  #: [R]

    @classmethod
    def of(cls, views: Sequence[View], tests: _Tests, memory: int) -> _Table:
        """Evaluate the tests of as many views as fit into the memory allowed."""
        found = {one.atom: one for view in views for one in tests.of_view(view) if tests.is_sayable(one)}
        found |= tests.of_sizes(views)
        # Of those that say the same, the one that can be run before the answer is known comes first.
        candidates = sorted(found.values(), key=lambda one: (tests.is_owed(one), _simplicity(one)))
        allowed = max(1, memory // 8 // max(1, len(candidates)))
        sizes = np.cumsum([len(view.rows) for view in views])
        views = views[: max(1, int(np.searchsorted(sizes, allowed, "right")))]
        columns = []
        for one in candidates:
            check()
            columns.append(np.concatenate([one.cells(view) for view in views]))
        owners = np.concatenate([view.owners for view in views])
        cells = np.stack(columns) if columns else np.zeros((0, len(owners)), dtype=np.uint8)  # [m, R]
        check()
        kept = tests.telling(cells, owners)
        check()
        needed = _needed(candidates, kept, views)
        kept |= np.array([one.atom in needed for one in candidates], dtype=np.bool_)
        chosen = [one for one, keep in zip(candidates, kept, strict=True) if keep]
        if not any(not one.atom.is_builtin for one in chosen):
            raise DataError("nothing tells the examples apart: allow more relations or variables")
        return cls(views, chosen, np.ascontiguousarray(cells[kept].T), owners)

    def space(self, head: Atom, *, free_head: bool) -> RuleSpace:
        """The rule space of the candidates."""
        atoms = tuple(one.atom for one in self.candidates)
        found = {link.atom: None for view in self.views for link in view.links}
        return RuleSpace(head, atoms, tuple(atom for atom in found if atom in set(atoms)), free_head)


def _simplicity(candidate: Candidate) -> tuple[int, int]:
    """Those about variables near the head come first, then those about few."""
    return max((slot.depth for slot in candidate.slots), default=0), len(candidate.slots)


def _needed(candidates: Sequence[Candidate], kept: Bools, views: Sequence[View]) -> set[Atom]:
    """The links without which the variables of the kept candidates are not bound."""
    binder = {link.slots[place].number: link for view in views for link in view.links for place in link.new}
    found: set[Atom] = set()
    open_slots = [slot for one, keep in zip(candidates, kept, strict=True) if keep for slot in one.slots]
    while open_slots:
        slot = open_slots.pop()
        link = binder.get(slot.number)
        if link is not None and link.atom not in found:
            found.add(link.atom)
            open_slots += link.slots
    return found


@dataclass(frozen=True, eq=False)
class _Tests:
    """What may be asked about the variables of views."""

    facts: FactBase
    language: Language
    lookup: Lookup
    types: Mapping[Key, tuple[str, ...]]
    examples: Examples
    near: Mapping[Variable, tuple[float, ...]]  #: cuts around which all are candidates
    named: int = 0  #: variables beyond those of rules, which stand for constants in the end
    columns: int = 1_000  #: candidates that are kept at the most

    @cached_property
    def _target(self) -> Key:
        return self.language.key(self.facts)

    @property
    def _head(self) -> Atom:
        return Atom(self._target[0], tuple(Slot(place, "").variable for place in range(self._target[1])))

    @cached_property
    def _numbers(self) -> Floats:
        """The number that each constant is, NaN for names, [n]."""
        return np.array([np.nan if isinstance(v, str) else float(v) for v in self.facts.constants])

    def is_sayable(self, candidate: Candidate) -> bool:
        """Whether a rule with a candidate, its links and constants has no more variables than it may."""
        arity, equal = self.examples.heads.shape[1], candidate.atom.predicate == "="
        return bool(arity + variables_of(candidate.slots) - equal <= self.language.variables + self.named)

    @property
    def answers(self) -> frozenset[int]:
        """The places of the head that directions say are outputs."""
        ways = dict(self.language.directions).get(self._target[0], ())
        return frozenset(place for place, way in enumerate(ways) if way == "out")

    def is_owed(self, candidate: Candidate) -> bool:
        """Whether a candidate needs what the head is to answer."""
        inputs = self.language.inputs.get(candidate.atom.predicate, ())
        return any(candidate.slots[place].owed for place in inputs if place < len(candidate.slots))

    def of_view(self, view: View) -> Iterator[Candidate]:
        """All tests of the variables of a view."""
        for link in view.links:
            yield Candidate(link.atom, link.slots, _always, link.key == self._target)
        yield from self._about(view, view.slots)

    def of_sizes(self, views: Sequence[View]) -> dict[Atom, Candidate]:
        """Comparisons of two numbers, those of one type, from one argument and near the head first.

        Inferred types keep no two of them apart: they only say which values have been seen.
        """
        found: dict[Atom, tuple[bool, bool, Candidate]] = {}
        declared = not isinstance(self.language.types, bool)
        for view in views if self.language.order else ():
            check()
            bound = {link.slots[place]: (link.key, place) for link in view.links for place in link.new}
            for pair in permutations([slot for slot in view.slots if slot.kind in self._numeric], 2):
                unlike = pair[0].kind != pair[1].kind
                if not (unlike and declared):
                    apart = len({bound.get(slot) for slot in pair}) > 1
                    for sign in ("<",) if self.language.negation else ("<", "=<"):
                        atom = Atom(sign, tuple(slot.variable for slot in pair))
                        found[atom] = unlike, apart, Candidate(atom, pair, _Order(self._numbers, sign))
        kept = [entry for entry in found.values() if self.is_sayable(entry[-1])]
        kept.sort(key=lambda entry: (*entry[:2], _simplicity(entry[-1])))
        return {one.atom: one for *_, one in kept[:_MOST_SIZES]}

    @cached_property
    def _numeric(self) -> frozenset[str]:
        """The types of which all arguments are numbers, more than a few."""
        codes: dict[str, list[Ints]] = {}
        for key in self.lookup.keys:
            for kind, column in zip(self.types[key], self.lookup.codes(key).T, strict=True):
                codes.setdefault(kind, []).append(column)
        distinct = {kind: np.unique(np.concatenate(columns)) for kind, columns in codes.items()}
        return frozenset(
            kind
            for kind, some in distinct.items()
            if len(some) > _FEW and not np.isnan(self._numbers[some]).any()
        )

    def promise(self, view: View, fresh: tuple[Slot, ...]) -> float:
        """The highest information gain about the label of one simple test of new variables.

        Simple are unary relations, constants, and what relations say between a new variable and another.
        """
        columns = []
        for slot in fresh:
            values = view.values([slot])[:, 0]
            known = values != NOTHING
            columns.append(known)
            for key in self.lookup.keys:
                if key[1] == 1 and self.types[key][0] == slot.kind:
                    columns.append(known & self.lookup.members(key)[values])
            tests = (one.holds for one in self._of_values(view, slot))
            columns += [values == test.code for test in tests if isinstance(test, _Is)]
        new = {slot.number for slot in fresh}
        between = (
            (key, (one, two))
            for key in self.lookup.keys
            if key[1] == 2
            for one, two in permutations(view.slots, 2)
            if (one.kind, two.kind) == self.types[key] and new & {one.number, two.number}
        )
        stated = {(link.key, link.slots) for link in view.links}
        for key, pair in islice((one for one in between if one not in stated), _MOST_PROMISES):
            columns.append(self.lookup.hold(key, view.values(pair)))
        if not columns:
            return 0.0
        starts = np.flatnonzero(np.diff(view.owners, prepend=-1))
        covered = np.bitwise_or.reduceat(np.stack(columns), starts, axis=1)  # [tests, B]
        weights = np.stack((self.examples.positives, self.examples.negatives), axis=1)
        return float(self._gains(*(covered @ weights).T).max())

    def _about(self, view: View, slots: tuple[Slot, ...]) -> Iterator[Candidate]:
        stated = {link.atom for link in view.links}
        for key in self.lookup.keys:
            kinds = self.types[key]
            if not self.lookup.fits(key[1]):
                continue
            choices = [[slot for slot in slots if slot.kind == kind] for kind in kinds]
            for chosen in islice(_about_head_first(choices), _MOST_TESTS):
                if len(set(chosen)) == len(chosen) or self.language.repeated:
                    atom = Atom(key[0], tuple(slot.variable for slot in chosen))
                    if atom not in stated and atom != self._head and not self.language.excludes(atom):
                        yield Candidate(
                            atom,
                            chosen,
                            partial(self.lookup.hold, key),
                            key == self._target,
                            partial(self.lookup.fail, key),
                        )
        for one, two in combinations(slots, 2):
            if one.kind == two.kind:
                yield Candidate(Atom("=", (one.variable, two.variable)), (one, two), _same)
        for slot in slots:
            yield from self._of_values(view, slot)

    def _is_cut(self, slot: Slot) -> bool:
        """Whether rules may say how large a number is; beside a bias the head's may be names of examples."""
        return self.language.cuts and (slot.depth > 0 or self.facts.bias is None)

    def _of_values(self, view: View, slot: Slot) -> Iterator[Candidate]:
        """Comparisons of a variable with constants and with cuts."""
        values = view.values([slot])[:, 0]
        present = np.unique(values[values != NOTHING])
        if len(present) < 2:
            return
        numbers = self._numbers[present]
        counts = bool((numbers == np.rint(numbers)).all())  # a whole number may be one to name
        if self._is_cut(slot) and not np.isnan(numbers).any() and len(present) > _FEW:
            given = self.near.get(slot.variable, ())
            for cut in _cuts(self._numbers[values[values != NOTHING]], given):
                constant = Constant(int(cut) if cut.is_integer() else cut)
                for sign in (">",) if self.language.negation else (">", "=<"):
                    yield Candidate(
                        Atom(sign, (slot.variable, constant)), (slot,), _Cut(self._numbers, cut, sign)
                    )
            if not counts:
                return
        if self._may_hold_constants(view, slot, present):
            for code in self._telling_constants(view.owners, values, present):
                value = self.facts.constants[code]
                yield Candidate(Atom("=", (slot.variable, Constant(value))), (slot,), _Is(code))

    def _may_hold_constants(self, view: View, slot: Slot, present: Ints) -> bool:
        if self.language.constants is None:
            return len(present) < len(np.unique(view.owners)) or len(present) <= _CONSTANTS
        places = {
            f"{link.key[0]}/{link.key[1]}:{place + 1}"
            for link in view.links
            for place, own in enumerate(link.slots)
            if own == slot
        }
        return bool(places & set(self.language.constants))

    def _telling_constants(self, owners: Ints, values: Ints, present: Ints) -> list[int]:
        """The constants that tell most about the label, and of equal ones those of most examples."""
        number = np.searchsorted(present, values)
        number[values == NOTHING] = len(present)
        pairs = np.unique(np.stack((owners, number), axis=1), axis=0)
        positives, negatives = (
            sums_of(pairs[:, 1], weight[pairs[:, 0]], len(present) + 1)[:-1]
            for weight in (self.examples.positives, self.examples.negatives)
        )
        gains = self._gains(positives, negatives)
        support = np.bincount(pairs[:, 1], minlength=len(present) + 1)[:-1]
        gains[support < _FEW] = -1.0
        # What says nothing by itself may tell beside another: of a target of key and value, whose every key
        # has one true value and some false ones, no quality of the key says anything without the value.
        best = np.lexsort((-support, -gains.round(9)))[:_CONSTANTS]  # rounding errors break no tie
        return [int(code) for code in present[np.sort(best[gains[best] >= 0])]]

    def gain(self, cells: Cells, owners: Ints) -> Floats:
        """The information gain about the label of an example of each candidate, from [m, R] to [m]."""
        found = np.zeros((len(cells), 2))
        for place, column in enumerate(cells):
            covered = np.zeros(len(self.examples.heads), dtype=np.bool_)
            covered[owners[column == TRUE]] = True
            found[place] = covered @ self.examples.positives, covered @ self.examples.negatives
        return self._gains(*found.T)

    def _gains(self, positives: Floats, negatives: Floats) -> Floats:
        totals = self.examples.positives.sum(), self.examples.negatives.sum()
        p, n = (
            np.clip(part / max(total, 1e-12), 1e-9, 1 - 1e-9)
            for part, total in zip((positives, negatives), totals, strict=True)
        )
        return np.asarray(_entropy((p + n) / 2) - (_entropy(p) + _entropy(n)) / 2)

    def telling(self, cells: Cells, owners: Ints) -> Bools:
        """Which candidates tell examples apart, [m]: of equal ones the first.

        Of many, half are the simplest, which may tell nothing but beside others, half the most telling.
        """
        kept = np.zeros(len(cells), dtype=np.bool_)
        kept[np.sort(distinct_rows(cells)[0])] = True
        true = cells == TRUE
        kept &= true.any(axis=1)
        if not self.language.negation:
            positive = self.examples.positives[owners] > 0
            kept &= true[:, positive].any(axis=1)
        if np.count_nonzero(kept) > self.columns:
            simplest = np.flatnonzero(kept)[: self.columns // 2]
            gains = np.where(kept, self.gain(cells, owners), -1.0)
            gains[simplest] = np.inf
            kept[np.argsort(-gains, kind="stable")[self.columns :]] = False
        return kept


def _about_head_first(choices: Sequence[Sequence[Slot]]) -> Iterable[tuple[Slot, ...]]:
    """All ways to choose; those of few variables beside the head's first, unless they are very many."""
    if math.prod(map(len, choices)) > _MOST_SORTED:
        return product(*choices)
    return sorted(product(*choices), key=lambda chosen: sum(slot.depth > 0 for slot in chosen))


def _entropy(p: Floats) -> Floats:
    return np.asarray(-(p * np.log(p) + (1 - p) * np.log(1 - p)))


def _cuts(values: Floats, near: tuple[float, ...]) -> list[float]:
    """Short numbers between values, at quantiles of them; and all those around some cuts."""
    levels = np.unique(values)
    middles = (levels[1:] + levels[:-1]) / 2
    if len(middles) <= _CUTS:
        return [number_between(low, high) for low, high in pairwise(levels.tolist())]
    wanted = np.quantile(values, np.arange(1, _CUTS + 1) / (_CUTS + 1))
    places = [np.searchsorted(middles, wanted).clip(max=len(middles) - 1)]
    steps = np.unique(np.geomspace(1, max(_AROUND, len(middles) / _CUTS), _AROUND).astype(np.int64))
    for cut in near:
        place = int(np.searchsorted(middles, cut))
        around = np.concatenate([place - steps, [place], place + steps])
        places.append(around[(around >= 0) & (around < len(middles))])
    chosen = np.unique(np.concatenate(places))
    return [number_between(float(levels[place]), float(levels[place + 1])) for place in chosen]


def _always(rows: Ints) -> Bools:
    return np.ones(len(rows), dtype=np.bool_)


def _same(rows: Ints) -> Bools:
    return np.asarray(rows[:, 0] == rows[:, 1])


@dataclass(frozen=True, eq=False)
class _Order:
    """Holds where one number compares so with another."""

    numbers: Floats
    sign: str

    def __call__(self, rows: Ints) -> Bools:
        one, other = self.numbers[rows].T
        return np.asarray(ORDERS[self.sign](one, other))


@dataclass(frozen=True)
class _Is:
    """Holds where a variable stands for one constant."""

    code: int

    def __call__(self, rows: Ints) -> Bools:
        return np.asarray(rows[:, 0] == self.code)


@dataclass(frozen=True, eq=False)
class _Cut:
    """Holds where a variable stands for a number above a cut, or not above it."""

    numbers: Floats
    cut: float
    sign: str

    def __call__(self, rows: Ints) -> Bools:
        above = self.numbers[rows[:, 0]] > self.cut
        return np.asarray(above if self.sign == ">" else ~above)
