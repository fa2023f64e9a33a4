"""Definitions of several targets that read one another: mended where together they derive other atoms.

Each is learned from the examples of the others, as if these were facts. Even and odd numbers may then be
told by one another in a circle, from which nothing follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from andre.evaluation import Confusion, description_length, entailment
from andre.facts import FactBase, Key
from andre.learning.choose.pool import with_counts
from andre.learning.results import Definition
from andre.learning.weak import Weak
from andre.limits import check, out_of_time, stage
from andre.logic import Program, Rule
from andre.samples import Language

#: Rules of a target that are never wrong by the examples of all, of which some may be dropped: the shortest.
_SOUND = 24


def settle_together(
    made: Mapping[str, Definition],
    facts: FactBase,
    languages: Mapping[str, Language],
    learn: Callable[[str, Language], Definition | None],
) -> dict[str, Definition]:
    """The definitions, or others that derive together what each derives from the examples of the others.

    Rules that are never wrong make no mistake together either: of all that are known of the targets, as
    many are dropped as can be. Where all of them derive too little, targets are learned again that may not
    read one another in a circle. What is still derived wrongly is noted.

    Parameters
    ----------
    made
        By target; definitions that read the examples of one another.
    facts
        What is known, the examples included.
    languages
        Of the targets.
    learn
        Learns a target once more; None where that fails.
    """
    task = _Together(facts, tuple(one.key for one in made.values()))
    if not task.is_circular(made.values()) or not task.goes_wrong(made):
        return dict(made)
    found: dict[str, Definition] | None = None
    with stage("settling what targets derive together"):
        found = task.from_above(made) or task.in_order(made, languages, learn)
    return task.judged(found or dict(made))


@dataclass(frozen=True, eq=False)
class _Together:
    """Several targets, by what a program for all of them derives from all else."""

    facts: FactBase
    keys: tuple[Key, ...]

    def is_circular(self, made: Iterable[Definition]) -> bool:
        """Whether a target is told by others that are told by it."""
        reads = {one.key: self._read(one.program) - {one.key} for one in made}
        for _ in reads:  # the transitive closure
            reads = {key: some.union(*(reads[other] for other in some)) for key, some in reads.items()}
        return any(key in some for key, some in reads.items())

    def _read(self, program: Iterable[Rule]) -> set[Key]:
        """The targets that rules read."""
        return {lit.atom.key for rule in program for lit in rule.body} & {*self.keys}

    def derived(self, programs: Iterable[Iterable[Rule]]) -> Mapping[Key, Confusion]:
        """What the rules of all targets derive together, by target."""
        rules = dict.fromkeys(rule for program in programs for rule in program)
        return entailment(Program(tuple(rules)), self.facts, heads=self.keys).heads

    def goes_wrong(self, made: Mapping[str, Definition]) -> bool:
        """Whether targets make more mistakes together than each does by the examples of the others."""
        together = self.derived(one.program for one in made.values())
        return any(_mistakes(together[one.key]) > _mistakes(one.confusion) for one in made.values())

    def from_above(self, made: Mapping[str, Definition]) -> dict[str, Definition] | None:
        """Definitions of rules that are never wrong, of which none can be dropped; None: all are too few."""
        rules = {name: self._sound(one) for name, one in made.items()}
        if any(map(_mistakes, self.derived(rules.values()).values())):
            return None
        every = [(name, rule) for name, some in rules.items() for rule in some]
        for name, rule in sorted(every, key=lambda pair: -len(pair[1].body)):
            check()
            fewer = {**rules, name: [other for other in rules[name] if other is not rule]}
            if not any(map(_mistakes, self.derived(fewer.values()).values())):
                rules = fewer
        return {name: _with_program(one, Program(tuple(rules[name]))) for name, one in made.items()}

    def _sound(self, made: Definition) -> list[Rule]:
        """The shortest rules that are right about an example and wrong about none, and deny no target."""
        good = (made.pool.counts[:, 0] > 0) & (made.pool.counts[:, 1] == 0)
        order = np.argsort(np.count_nonzero(made.pool.bodies[good], axis=1), kind="stable")
        bodies, counts = made.pool.bodies[good][order], made.pool.counts[good][order]
        found: list[Rule] = []
        for body, own in zip(bodies, counts, strict=True):
            rule = made.pool.space.rule(body).tidy()
            if not any(lit.negated and lit.atom.key in self.keys for lit in rule.body):
                found.append(with_counts(rule, own))
            if len(found) == _SOUND:
                break
        return found

    def in_order(
        self,
        made: Mapping[str, Definition],
        languages: Mapping[str, Language],
        learn: Callable[[str, Language], Definition | None],
    ) -> dict[str, Definition]:
        """Definitions of which none reads a target that was not settled before it."""
        found = dict(made)
        for name, one in made.items():
            if out_of_time("settling what targets derive together") or not self.goes_wrong(found):
                break
            others = [other for other in found if other != name and self._leads_to(found, other, one.key)]
            language = languages[name]
            again = learn(name, replace(language, exclude=(*language.exclude, *others)))
            if again is not None and len(again.program):
                note = f"it was learned without reading {', '.join(others)}, which read it themselves"
                found[name] = replace(again, notes=(*again.notes, note))
        return found

    def _leads_to(self, made: Mapping[str, Definition], name: str, key: Key) -> bool:
        """Whether the rules of a target read another one, directly or by way of others."""
        seen, left = set[Key](), [made[name].key]
        by_key = {one.key: one for one in made.values()}
        while left:
            for read in self._read(by_key[left.pop()].program) - seen:
                seen.add(read)
                left.append(read)
        return key in seen

    def judged(self, made: Mapping[str, Definition]) -> dict[str, Definition]:
        """The definitions with what they derive together, and a note where that is wrong."""
        together, found = self.derived(one.program for one in made.values()), {}
        for name, one in made.items():
            counts = together[one.key]
            notes = one.notes
            if _mistakes(counts) > _mistakes(one.confusion):
                notes += (
                    f"together with the rules of the other targets it is wrong about {_mistakes(counts):,} "
                    f"of {counts.total:,} examples, by their examples about {_mistakes(one.confusion):,}",
                )
            found[name] = replace(one, confusion=counts, notes=notes)
        return found


def _mistakes(counts: Confusion) -> int:
    return counts.false_positives + counts.false_negatives


def _with_program(made: Definition, program: Program) -> Definition:
    """The definition with another program, which makes no mistake."""
    right = made.confusion.true_positives + made.confusion.false_negatives
    wrong = made.confusion.false_positives + made.confusion.true_negatives
    counts, totals = np.array([right, 0.0]), np.array([right, wrong], dtype=np.float64)
    m = made.result.space.m
    length = float(description_length(counts, totals, program.n_literals, len(program), m=m))
    excess = length - made.empty_length
    return replace(
        made, program=program, length=length, weak=Weak(float(right), excess) if excess >= 0 else None
    )
