"""Choosing the program with the shortest description: rules of many runs, combined and refined."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from andre.arrays import Floats
from andre.evaluation import CrispSample, Extents, description_length, program_length, union
from andre.learning.bodies import distinct_bodies, most_general
from andre.learning.choose.pool import RuleCoverage, RulePool
from andre.learning.choose.refinement import Refiner
from andre.learning.choose.set_cover import cheapest_cover
from andre.learning.config import Floor, Guide, SelectionConfig
from andre.limits import check, limited, out_of_time, stage, time_left, unhurried
from andre.samples import Codes, Form, RuleSpace

#: How many of the best programs are refined, and how many where a sample has this many cells.
_REFINED, _REFINED_LARGE, _LARGE = 6, 2, 2_000_000

#: The shares of the time that is left which pruning, then pooling, and then combining may take.
_PRUNING_SHARE, _POOLING_SHARE, _COMBINING_SHARE = 1 / 4, 1 / 3, 1 / 2


@dataclass(frozen=True, eq=False)
class Candidate:
    """A program and how well it describes the sample."""

    codes: Codes  #: [rules, m]
    length: float  #: description length, nats

    @property
    def rank(self) -> tuple[float, int]:
        """Shorter descriptions first, then fewer literals."""
        return (round(self.length, 9), int(np.count_nonzero(self.codes)))


class Pruner:
    """Prunes programs and measures their description, each once however many runs come to it."""

    def __init__(self, sample: CrispSample, floor: Floor) -> None:
        self.sample, self.floor = sample, floor
        self._known: dict[bytes, Candidate] = {}

    def __call__(self, subrules: Codes) -> Candidate:
        """What is left of subrules, [n, m], without those that say nothing or add nothing."""
        bodies = distinct_bodies(subrules)
        key = bodies.tobytes()
        if key not in self._known:
            sound = prune(self.sample, bodies, self.floor)
            self._known[key] = Candidate(sound, program_length(self.sample, sound))
        return self._known[key]


def nothing(sample: CrispSample) -> Candidate:
    """The program without rules, which every other must beat."""
    codes = np.zeros((0, sample.space.m), dtype=np.int8)
    return Candidate(codes, program_length(sample, codes))


#: Rules that an integer program combines, and nats that a mistake is taken to cost.
_COVERED, _PRICES = 200, (1.0, 2.0, 4.0)
#: Seconds that each of these may take.
_SECONDS = 1.0


def select(
    sample: CrispSample,
    programs: list[Codes],
    config: SelectionConfig,
    guide: Guide | None = None,
    *,
    pruner: Pruner | None = None,
) -> Candidate:
    """The program with the shortest description, its rules in order of support.

    Parameters
    ----------
    programs
        What the runs have come to, [subrules, m] each.
    guide
        What bodies must look like, by default what `config` says of safety, and bodies to
        pool beside those of the programs.
    pruner
        What was pruned of these programs before.
    """
    guide, floor = guide or Guide(), config.floor(sample.totals[0])
    form, pruner = guide.form or form_of(sample.space, config), pruner or Pruner(sample, floor)
    with unhurried():
        empty = nothing(sample)
    programs = [codes[form.admits(codes)] for codes in programs]
    found = [empty]
    if not sample.space.head_variables:
        found += _always(sample, config)
    with limited(time_left().share(_PRUNING_SHARE)), stage("pruning the runs' programs"):
        for codes in _distinct(distinct_bodies(program) for program in programs):
            check()
            found.append(pruner(codes))
    pool = None
    if config.combine or config.refine:
        beside = empty.codes if guide.extra is None else guide.extra
        with limited(time_left().share(_POOLING_SHARE)), stage("pooling rules"):
            pool = RuleCoverage(sample, pool_rules(sample, np.concatenate([beside, *programs]), config, form))
    if pool is not None and config.combine:
        with limited(time_left().share(_COMBINING_SHARE)), stage("combining rules"):
            found += combine(pool, config)
            if sample.space.links:  # rules of many literals overlap so much that a beam is misled
                found += cheapest_programs(pool, config)
    found = [candidate for candidate in found if len(candidate.codes) <= config.max_rules]
    found.sort(key=lambda candidate: candidate.rank)
    best = found[0]
    if config.refine:
        refiner = Refiner(sample, pool, floor, form, config.max_rules)
        for start in found[: _REFINED if sample.literals.size < _LARGE else _REFINED_LARGE]:
            if out_of_time("refining"):
                break
            refined = Candidate(*refiner.refine(start.codes))
            best = min(best, refined, key=lambda candidate: candidate.rank)
    with unhurried():
        codes = _by_support(sample, prune(sample, best.codes, floor))
        return Candidate(codes, program_length(sample, codes))


def most_accurate(
    sample: CrispSample, programs: list[Codes], n_rules: Sequence[int], config: SelectionConfig
) -> Candidate:
    """The paper's choice: of the fewest subrules that are accurate enough, the most accurate program.

    A program that is no more accurate than none at all is never chosen.

    Parameters
    ----------
    programs
        What the runs have come to, [subrules, m] each.
    n_rules
        How many subrules each run was given.
    """
    ranked: list[tuple[bool, int, float, int, int, Codes]] = []
    with unhurried():
        floor, empty = config.floor(sample.totals[0]), nothing(sample)
        least = sample.accuracy(empty.codes)
    for place, (codes, n) in enumerate(zip(programs, n_rules, strict=True)):
        if ranked and out_of_time("choosing among runs"):
            break
        with unhurried():
            bodies = distinct_bodies(codes)
            sound = _general(sample, bodies, floor) if config.redundant else prune(sample, bodies, floor)
            accuracy = sample.accuracy(sound)
        if accuracy <= least:
            continue
        enough = accuracy >= config.accuracy
        ranked.append((not enough, n if enough else 0, -accuracy, n, place, sound))
    if not ranked:
        return empty
    best = min(ranked, key=lambda entry: entry[:5])[5]
    with unhurried():
        return Candidate(_by_support(sample, best), program_length(sample, best))


def all_sound(sample: CrispSample, programs: list[Codes], config: SelectionConfig) -> Candidate:
    """All rules of all runs that reach the floor, but for those that another is a part of.

    Parameters
    ----------
    programs
        What the runs have come to, [subrules, m] each.
    """
    bodies = distinct_bodies(np.concatenate([nothing(sample).codes, *programs]))
    codes = _by_support(sample, _general(sample, bodies, config.floor(sample.totals[0])))
    return Candidate(codes, program_length(sample, codes))


def _general(sample: CrispSample, bodies: Codes, floor: Floor) -> Codes:
    """The bodies that reach the floor and that no other is a part of."""
    return most_general(bodies[floor.passes(sample.body_counts(bodies))])


def form_of(space: RuleSpace, config: SelectionConfig) -> Form:
    """What bodies must look like where no language says it."""
    return Form(space, safe=config.safe, singletons=True)


def pool_rules(
    sample: CrispSample, bodies: Codes, config: SelectionConfig, form: Form | None = None
) -> Codes:
    """The rules worth combining, [rules, m]: distinct bodies, and all one literal less, that reach the floor.

    Of more than the pool holds, those with the shortest description alone stay.
    """
    pool = RulePool.of(sample, bodies, form or form_of(sample.space, config)).by_length(sample.totals)
    return pool.bodies[config.floor(sample.totals[0]).passes(pool.counts)][: config.pool]


def cheapest_programs(pool: RuleCoverage, config: SelectionConfig) -> list[Candidate]:
    """Programs of pooled rules that an integer program finds cheapest, at some prices of a mistake."""
    sample, found = pool.sample, list[Candidate]()
    best = np.argsort(-(pool.own[:, 0] - pool.own[:, 1]), kind="stable")[:_COVERED]
    bodies = pool.bodies[best]
    covers, surplus = sample.covers(bodies), sample.positives - sample.negatives
    is_priced = surplus != 0
    costs = np.log(2 * sample.space.m) * np.count_nonzero(bodies, axis=1) + np.log(2)
    if not len(bodies) or not is_priced.any():
        return found
    for price in _PRICES:
        check()
        worth = price * surplus[is_priced]
        chosen = cheapest_cover(covers[:, is_priced], worth, costs, config.max_rules, _SECONDS)
        if chosen is not None and len(chosen):
            codes = bodies[chosen]
            found.append(Candidate(codes, program_length(sample, codes)))
    return found


def combine(pool: RuleCoverage, config: SelectionConfig) -> list[Candidate]:
    """Programs made of pooled rules, by beam search.

    A beam looks ahead: a program stays in it though it is longer than the one
    it was made from, as a first rule often pays only once the second is there.
    """
    sample, covers, size = pool.sample, pool.covers, pool.sizes
    states: list[tuple[tuple[int, ...], Extents]] = [((), union(covers[:0]))]
    found: list[Candidate] = []
    best = math.inf
    for n_rules in range(1, config.max_rules + 1):
        grown: dict[bytes, tuple[float, tuple[int, ...], Extents]] = {}
        beside: Iterable[Floats] = ()
        with stage("combining rules"):
            beside = pool.beside(np.stack([rest for _, rest in states]))  # [states, rules, 2]
        for (chosen, rest), covered in zip(states, beside, strict=False):
            if out_of_time("combining rules"):
                break
            n_literals = size + size[list(chosen)].sum()
            lengths = description_length(covered, sample.totals, n_literals, n_rules, m=sample.space.m)
            others = np.setdiff1d(np.arange(len(lengths)), chosen)  # no rule stands in a program twice
            for rule in others[np.argsort(lengths[others], kind="stable")[: config.beam]]:
                rows = rest | covers[rule]
                key, length = rows.tobytes(), float(lengths[rule])
                if key not in grown or length < grown[key][0]:
                    grown[key] = (length, (*chosen, int(rule)), rows)
        ranked = sorted(grown.values(), key=lambda state: state[:2])[: config.beam]
        found += [Candidate(pool.bodies[list(chosen)], length) for length, chosen, _ in ranked]
        states = [(chosen, rows) for _, chosen, rows in ranked]
        if not ranked or (n_rules > 2 and ranked[0][0] > best) or out_of_time("combining rules"):
            break
        best = min(best, ranked[0][0])
    return found


def prune(sample: CrispSample, codes: Codes, floor: Floor) -> Codes:
    """Leave out rules that never fire, that do not reach the floor, or that add nothing to the others."""
    covers = sample.extents(codes)
    counts = sample.counts(covers)
    sure = floor.passes(counts)
    codes, covers, weight = codes[sure], covers[sure], counts[sure].sum(axis=1)
    # Longer and narrower rules are tried first, so that of two equal ones the simpler stays.
    order = sorted(range(len(codes)), key=lambda r: (-np.count_nonzero(codes[r]), weight[r]))
    kept = set(range(len(codes)))
    for rule in order:
        others = kept - {rule}
        if not (covers[rule] & ~union(covers[sorted(others)])).any():
            kept = others
    return codes[sorted(kept)]


def _always(sample: CrispSample, config: SelectionConfig) -> list[Candidate]:
    """The program that is always true, where most labels are; it has no body to be safe or not."""
    codes = np.zeros((1, sample.space.m), dtype=np.int8)
    floor = config.floor(sample.totals[0])
    if replace(floor, confidence=max(0.5, floor.confidence)).passes(sample.totals):
        return [Candidate(codes, program_length(sample, codes))]
    return []


def _by_support(sample: CrispSample, codes: Codes) -> Codes:
    support = sample.body_counts(codes)[:, 0]
    return codes[np.argsort(-support, kind="stable")]


def _distinct(programs: Iterable[Codes]) -> list[Codes]:
    return list({codes.tobytes(): codes for codes in programs}.values())
