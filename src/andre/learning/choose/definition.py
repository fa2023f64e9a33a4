"""Choosing a definition: the rules whose fixpoint describes a target shortest.

A base case alone pays little and a recursive rule alone derives nothing, so
both are tried together before either is judged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from andre.arrays import Floats
from andre.evaluation import Judge, Mistakes, Verdicts, description_length, most_wrong
from andre.learning.bodies import literal_bodies, shorter_bodies
from andre.learning.config import SelectionConfig
from andre.limits import check, limited, out_of_time, stage, time_left, unhurried
from andre.samples import Codes, Form

#: Numbers of rules of a `Judge`, in order.
Numbers = tuple[int, ...]

#: Base cases and recursive rules that are tried in pairs at the most.
_BASES, _STEPS = 32, 96
#: Programs that are judged together at the most where there is a time limit.
_WITHIN_LIMIT = 32
#: Short bodies that are looked at though they may derive no example.
_NEEDED = 512
#: Programs that agree with all examples whose like of the same length are looked for.
_EXCHANGED = 4
#: Base cases that are tried two at a time.
_PAIRED = 6
#: Base cases, and recursive rules, of which some are dropped.
_ABOVE = 24
#: Rules that are tried on top of a program, the most promising first.
_TRIED = 16


@dataclass(frozen=True, eq=False)
class DefinitionChooser:
    """Chooses the program whose fixpoint describes the labels of a target shortest."""

    judge: Judge
    form: Form  #: what bodies must look like, over the rule space of the pool
    config: SelectionConfig
    fixed: Numbers = ()  #: known rules, which every program has
    mistakes: Mistakes = "listed"  #: how they are told, and so what a program may get wrong
    _bodies: dict[int, Codes] = field(default_factory=dict, init=False)  #: by number
    _faultless: dict[Numbers, float] = field(
        default_factory=dict, init=False
    )  #: lengths, where none is listed

    def choose(self, pool: Codes) -> tuple[Codes, float]:
        """The bodies of the best program found, [rules, m], and its description length.

        Parameters
        ----------
        pool
            Well-formed bodies to choose from, the most promising first, [rules, m].
        """
        length, program = self._ranked_programs(pool)[0]
        return self._codes(program), length

    def consistent(self, pool: Codes) -> list[Codes]:
        """The shortest programs that get no example wrong, [rules, m] each; none where none was found.

        Asked of a chooser that lists no mistakes. The first is the one to give, with the fewest negations,
        then the fewest different literals; the others are as short.
        """
        # A rule may derive no example by itself and be needed by those that do.
        with stage("counting short bodies"):
            pool = np.concatenate((pool, replace(self.form, negation=False).short_bodies()[:_NEEDED]))
        self._ranked_programs(pool)
        for program in self._shortest()[:_EXCHANGED]:
            with stage("exchanging literals"):
                for rule in program:
                    rest = tuple(other for other in program if other != rule)
                    bodies, size = (
                        _edited(self._bodies[rule], grow=True),
                        np.count_nonzero(self._bodies[rule]),
                    )
                    same = bodies[np.count_nonzero(bodies, axis=1) == size]
                    self._ranked(sorted(self._with_bodies(rest, same)))
        found = [self._codes(program) for program in self._shortest()]
        return sorted(found, key=_oddity)

    def _shortest(self) -> list[Numbers]:
        """The shortest programs that were met and get nothing wrong."""
        least = min(self._faultless.values(), default=math.inf)
        return sorted(program for program, length in self._faultless.items() if length == least)

    def shortlist(self, pool: Codes, most: int) -> list[Codes]:
        """The best programs found that have rules, so many at the most, [rules, m] each.

        Of programs of the same length that derive the same, one is given.
        """
        found: dict[tuple[float, bytes], Numbers] = {}
        ranked = self._ranked_programs(pool)
        with stage("judging programs at their fixpoint"):
            for length, program in ranked:
                if program and len(found) < most:
                    model = self._judged([program]).fingerprint(0)
                    found.setdefault((round(length, 6), model), program)
        return [self._codes(program) for program in found.values()]

    def _ranked_programs(self, pool: Codes) -> list[tuple[float, Numbers]]:
        """The programs that the search came to, the best first."""
        numbers: list[int] = []
        with limited(time_left().share(0.25)), stage("reading the pool"):
            for body in pool:
                check()
                numbers.append(self._number(body))
        bases, every_step = self._kinds(numbers)
        numbers, (n_bases, n_steps) = [*bases, *every_step], self._affordable()
        steps = every_step[:n_steps]
        with unhurried():
            ranked = self._ranked([()])
        ranked = sorted(ranked + self._ranked([(number,) for number in (*bases, *steps)]))
        first = [program[0] for _, program in ranked if program and program[0] in set(bases)][:n_bases]
        pairs = [_sorted((base, step)) for step in steps for base in first if self.config.max_rules > 1]
        ranked = _best((*ranked, *self._beside(ranked, pairs)), self.config.beam)
        best = ranked[0]
        grown = ranked
        for _ in range(self.config.max_rules - 2):
            if out_of_time("adding rules") or self._flawless(best[1]):
                break
            tried: set[Numbers] = set()
            with stage("adding rules"):
                for _, program in grown:
                    tried |= {_sorted((*program, rule)) for rule in self._adding(program, numbers)}
            grown = _best(self._beside(ranked, sorted(tried)), self.config.beam)
            if not grown or grown[0][0] >= best[0] - 1e-9:
                break
            best = grown[0]
            ranked = _best((*ranked, *grown), self.config.beam)
        if self.mistakes != "listed":
            ranked = _best((*ranked, *self._from_above(numbers)), self.config.beam)
        refined = [self._refine(*start) for start in ranked[:3]]
        return sorted({*refined, *ranked})

    def _from_above(self, numbers: Sequence[int]) -> list[tuple[float, Numbers]]:
        """What is left of all rules that are never wrong where one is dropped at a time, while that shortens.

        Where positives follow from several rules together, no single one that is added explains more.
        Where nothing is labelled wrong, the rules are those of one or two literals, none negated.
        """
        found: list[tuple[float, Numbers]] = []
        length = math.inf
        with stage("dropping rules"):
            right, wrong = self.judge.stated().steps(0, numbers).T
            bodies = self._codes(numbers)
            plain = (np.count_nonzero(bodies, axis=1) <= 2) & (bodies >= 0).all(axis=1)
            sound = plain if self.mistakes == "unlabelled" else (right > 0) & (wrong == 0)
            some = [numbers[place] for place in np.flatnonzero(sound).tolist()]
            bases = [rule for rule in some if not self.judge.is_recursive(rule)]
            steps = [rule for rule in some if self.judge.is_recursive(rule)][: self._affordable()[1]]
            found += self._ranked(
                [_sorted((*two, step)) for two in self._alternatives(bases) for step in steps]
            )
            program = _sorted((*bases[:_ABOVE], *steps[:_ABOVE]))
            while program:
                fewer = self._ranked([_sorted(set(program) - {rule}) for rule in program])
                if not fewer or fewer[0][0] >= length:
                    break
                length, program = fewer[0]
                found.append(fewer[0])
        return [entry for entry in found if len(entry[1]) <= self.config.max_rules]

    def _alternatives(self, bases: Iterable[int]) -> Iterable[Numbers]:
        """Pairs of base cases of one literal, as a recursive rule may need two: a mother or a father."""
        return combinations(
            [rule for rule in bases if np.count_nonzero(self._bodies[rule]) == 1][:_PAIRED], 2
        )

    def _codes(self, program: Iterable[int]) -> Codes:
        """The bodies of a program, [rules, m]."""
        empty = np.zeros((0, self.form.space.m), dtype=np.int8)
        return np.vstack([empty, *(self._bodies[rule] for rule in program)])

    def _kinds(self, numbers: Iterable[int]) -> tuple[list[int], list[int]]:
        """The base cases and the recursive rules of a pool, as many of each as there is time for."""
        kinds: tuple[list[int], list[int]] = [], []
        for number in dict.fromkeys(numbers):
            kind = kinds[self.judge.is_recursive(number)]
            if len(kind) < self.judge.affordable.singles:
                kind.append(number)
        return kinds

    def _affordable(self) -> tuple[int, int]:
        """How many base cases and recursive rules are tried in pairs."""
        affordable = self.judge.affordable.pairs
        n_bases = int(min(_BASES, max(4.0, math.sqrt(affordable / 3))))
        return n_bases, int(min(_STEPS, max(8.0, affordable / n_bases)))

    def _number(self, body: Codes) -> int:
        """The number of the rule with this body."""
        number = self.judge.add(self.form.space.rule(body))
        self._bodies[number] = body
        return number

    def _judged(self, programs: Sequence[Numbers], judge: Judge | None = None) -> Verdicts:
        """What programs derive together with the known rules."""
        return (judge or self.judge).judge([self.fixed + program for program in programs])

    def _lengths(self, programs: Sequence[Numbers], judge: Judge) -> Floats:
        """Description lengths, [P]; infinite below the floor and where a program has no verdict."""
        verdicts = self._judged(programs, judge)
        counts = verdicts.counts
        floor = self.config.floor()
        sizes = np.array(
            [sum(np.count_nonzero(self._bodies[rule]) for rule in program) for program in programs]
        )
        n_rules = np.array([len(program) for program in programs])
        sure = floor.passes(counts)
        if floor.support:  # a program may hide a rule that derives next to nothing
            for place in np.flatnonzero(sure).tolist():
                sure[place] = floor.supported(verdicts.steps(place, programs[place])).all()
        sure |= n_rules == 0
        lengths = np.full(len(programs), math.inf)
        lengths[sure] = description_length(
            counts[sure], self.judge.totals, sizes[sure], n_rules[sure], self.form.space.m, self.mistakes
        )
        if self.mistakes != "listed":
            lengths = np.round(lengths, 9)
            right = sure & (counts[:, 0] == self.judge.totals[0])
            right &= (n_rules > 0) & (n_rules <= self.config.max_rules)
            if self.mistakes == "refused":
                right &= counts[:, 1] == 0
            self._faultless.update(
                (programs[place], float(lengths[place])) for place in np.flatnonzero(right).tolist()
            )
        return lengths

    def _beside(
        self, rivals: Sequence[tuple[float, Numbers]], programs: Sequence[Numbers]
    ) -> list[tuple[float, Numbers]]:
        """Programs by description length; those that would not be kept beside others may be left out."""
        return self._ranked(programs, [length for length, _ in rivals], self.config.beam)

    def _ranked(
        self, programs: Sequence[Numbers], rivals: Iterable[float] = (), places: int | None = None
    ) -> list[tuple[float, Numbers]]:
        """Programs by description length, as many of them as there is time for.

        Parameters
        ----------
        rivals, places
            Where these are given, only programs are of interest that are among the best so many
            together with the rivals, given by their lengths: others may be left out.
        """
        ranked: list[tuple[float, Numbers]] = []
        best, bar, judge = sorted(rivals)[:places], math.inf, self.judge
        with stage("judging programs at their fixpoint"):
            step = judge.at_once
            if time_left().left < math.inf:  # then less is lost where time runs out in the midst of some
                step = min(step, _WITHIN_LIMIT)
            for at in range(0, len(programs), step):
                some = programs[at : at + step]
                if places is not None and len(best) == places and best[-1] < bar:
                    bar = best[-1]
                    judge = self.judge.within(most_wrong(bar, self.judge.totals, self.form.space.m))
                found = list(zip(np.round(self._lengths(some, judge), 9).tolist(), some, strict=True))
                ranked += found
                best = sorted((*best, *(length for length, _ in found)))[:places]
        return sorted(entry for entry in ranked if math.isfinite(entry[0]))

    def _flawless(self, program: Numbers) -> bool:
        """Whether a program has no mistake to mend."""
        with unhurried():
            covered = self._judged([program]).counts[0]
        return bool(covered[0] == self.judge.totals[0] and covered[1] == 0)

    def _adding(self, program: Numbers, numbers: Sequence[int]) -> list[int]:
        """The rules that shorten the description most by what they derive in one step from its model."""
        verdict = self._judged([program])
        others = [number for number in numbers if number not in program]
        new = verdict.steps(0, others, beyond=True)
        covered = verdict.counts + new
        sizes = np.array([np.count_nonzero(self._bodies[number]) for number in others])
        lengths = description_length(covered, self.judge.totals, sizes, 1, self.form.space.m, self.mistakes)
        promising = np.lexsort((-new[:, 0], np.round(lengths, 9)))
        return [others[place] for place in promising if new[place, 0] > 0][:_TRIED]

    def _with_bodies(self, rest: Numbers, bodies: Codes) -> set[Numbers]:
        """Programs of some rules and one more, whose body is one of these, [bodies, m], and well-formed."""
        found: set[Numbers] = set()
        for body in bodies[self.form.admits(bodies)]:
            check()
            found.add(_sorted((*rest, self._number(body))))
        return found

    def _refine(self, length: float, program: Numbers) -> tuple[float, Numbers]:
        """Take the best edit again and again, while the description gets shorter."""
        while not out_of_time("refining"):
            edits: set[Numbers] = set()
            flawless = self._flawless(program)
            with stage("refining"):
                for rule in program:
                    rest = tuple(other for other in program if other != rule)
                    edits.add(rest)
                    bodies = _edited(self._bodies[rule], grow=not flawless)
                    edits |= self._with_bodies(rest, bodies)
            ranked = self._ranked(sorted(edits - {program}), [length], 1)
            if not ranked or ranked[0][0] >= length - 1e-9:
                break
            length, program = ranked[0]
        return length, program


def _sorted(program: Iterable[int]) -> Numbers:
    return tuple(sorted(set(program)))


def _best(ranked: Iterable[tuple[float, Numbers]], count: int) -> list[tuple[float, Numbers]]:
    return sorted(set(ranked))[:count]


def _oddity(bodies: Codes) -> tuple[int, int]:
    """How many literals of a program are negated, and how many are different: rules are mostly alike."""
    different = np.unique(np.argwhere(bodies)[:, 1] * 2 + (bodies[bodies != 0] < 0))
    return int(np.count_nonzero(bodies < 0)), len(different)


def _edited(body: Codes, *, grow: bool) -> Codes:
    """Bodies with a literal dropped and, to `grow`, added, flipped or replaced, [edits, m]."""
    shorter = shorter_bodies(body[None])
    if not grow:
        return shorter[shorter.any(axis=1)]
    starts = np.vstack((body, shorter))
    literals = literal_bodies(np.arange(2 * len(body))[:, None], len(body))  # [2m, m]
    longer = (starts[:, None] + literals)[np.tile(starts == 0, 2)]
    bodies = np.unique(np.concatenate((shorter, longer)), axis=0)
    return np.asarray(bodies[bodies.any(axis=1) & (bodies != body).any(axis=1)])
