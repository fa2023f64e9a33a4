"""Learning a target beside predicates that are invented for it, and whether they are worth their rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from andre.arrays import Ints
from andre.errors import DataError
from andre.evaluation import program_cost
from andre.facts import FactBase, Key, key_text
from andre.inference import BodyEvaluator, Model, infer, materialise
from andre.learning.judged_by import background_of
from andre.learning.plan import Plan
from andre.learning.relational.from_examples import is_trusted
from andre.learning.relational.inventions import Invention, Inventor
from andre.learning.results import Definition
from andre.learning.weak import Weak
from andre.limits import check, limited, out_of_time, stage, time_left
from andre.logic import Program, counted
from andre.samples import Language

#: Learns a target from facts, in a language.
Learner: TypeAlias = Callable[[FactBase, Language], Definition]

#: New predicates that a program may have where the plan does not say.
_MOST = 2
#: Literals of a program up to which none with a new predicate is shorter: that has two literals of its own at
#: least, and is read as often as makes up for them.
_SHORT = 4
#: True examples up to which predicates are invented unasked.
_FEW = 200
#: The share of the time left in which the target is learned beside a batch of candidates.
_FOR_BATCH = 0.4


def should_invent(made: Definition, facts: FactBase, plan: Plan) -> bool:
    """Whether predicates are invented, given what was learned without.

    Where neither plan nor bias says so, they are where few examples have no program that agrees with
    all of them, or a weak one so long that it may become shorter.
    """
    if made.result.stopped == "interrupted" or plan.mode != "define" or plan.semantics != "exists":
        return False
    if plan.invent == 0:
        return False
    if _is_asked(facts, plan) or facts.bias is not None:
        return _is_asked(facts, plan)
    if made.confusion.true_positives + made.confusion.false_negatives > _FEW:
        return False
    return not made.flawless or (made.weak is not None and made.program.n_literals > _SHORT)


def _is_asked(facts: FactBase, plan: Plan) -> bool:
    """Whether the plan, or else a bias, asks for inventions."""
    if plan.invent is not None:
        return plan.invent > 0
    return facts.bias is not None and facts.bias.enable_pi


def learn_with_inventions(
    made: Definition, facts: FactBase, language: Language, plan: Plan, learn: Learner
) -> Definition:
    """What was learned without new predicates, or a better definition that has some.

    Better is one that describes the examples shorter, its new predicates included, or that agrees with
    all of them where the other does not. The target is learned beside each batch of candidates,
    and then beside those alone that its program reads.

    Parameters
    ----------
    made
        What was learned without.
    facts
        What is known; background rules have been run.
    learn
        Learns the target once more.
    """
    best, most = made, _MOST if plan.invent is None else plan.invent
    inventor = Inventor(facts, language, _relations_by_use(made))
    with stage("inventing predicates"):
        for batch in inventor.batches():
            offer = _Offer(facts, language, batch)
            with limited(time_left().share(_FOR_BATCH)):
                tried = offer.learned(learn)
            used = offer.used(tried, most)
            if tried is not None and used:
                alone = _Offer(facts, language, used)
                found = alone.learned(learn) if len(used) < len(batch) else tried
                best = _better(best, alone.defined(found, plan), plan)
            # What two relations make together could be said by more variables, and pays if read three times:
            # unasked it is tried where nothing else was found.
            asked = _is_asked(facts, plan) or not len(made.program)
            enough = not asked or (best is not made and (best.flawless or len(made.program) > 0))
            if enough or out_of_time("inventing predicates") or _interrupted(tried):
                break
    return best


@dataclass(frozen=True)
class _Offer:
    """Inventions that a target may read, beside the facts."""

    facts: FactBase
    language: Language
    inventions: Sequence[Invention]

    def learned(self, learn: Learner) -> Definition | None:
        """The target as it is learned beside them; None where it cannot be."""
        rules = dict.fromkeys(rule for one in self.inventions for rule in one.rules)
        facts = materialise(self.facts.with_rules(Program(tuple(rules))))
        try:
            return learn(facts, self._language())
        except DataError:
            return None

    def _language(self) -> Language:
        """The language with them, in which a variable may stand in an atom twice, as in a closure."""
        language, words = self.language, [one.word for one in self.inventions]
        if language.relations is not None:
            named = tuple(dict.fromkeys(key_text(key) for one in self.inventions for key in one.keys))
            language = replace(language, relations=(*language.relations, *named))
        if not isinstance(language.types, bool) and language.types:
            kinds = tuple((word.name, word.kinds) for word in words)
            language = replace(language, types=(*language.types, *kinds))
        if language.directions:
            ways = tuple(
                (
                    word.name,
                    tuple("in" if place in word.inputs else "out" for place in range(len(word.kinds))),
                )
                for word in words
            )
            language = replace(language, directions=(*language.directions, *ways))
        recursive = any(rule.is_recursive for one in self.inventions for rule in one.rules)
        return replace(language, repeated=language.repeated or recursive)

    def used(self, made: Definition | None, most: int) -> list[Invention]:
        """Those that a program reads, most often first, of so many new predicates at the most."""
        reads = Counter(_read_keys(made)) if made is not None else Counter()
        wanted = sorted(
            (one for one in self.inventions if one.word.key in reads), key=lambda one: -reads[one.word.key]
        )
        kept: list[Invention] = []
        for one in wanted:
            if len(frozenset[Key]().union(one.keys, *(other.keys for other in kept))) <= most:
                kept.append(one)
        return kept

    def defined(self, made: Definition | None, plan: Plan) -> Definition | None:
        """The definition with the rules of those that its program reads.

        None where it reads none, or where one of these rules has less support than rules must have.
        """
        if made is None:
            return None
        reads = set(_read_keys(made))
        read = [one for one in self.inventions if one.word.key in reads]
        rules = dict.fromkeys(rule.tidy() for one in read for rule in one.rules)
        if not rules:
            return None
        own, m = made.program, made.result.space.m
        program = Program((*own, *rules))
        least = plan.config.selection.floor().support
        if least and (self._support(program, len(own)) < least).any():
            return None
        costs = program_cost([own.n_literals, program.n_literals], [len(own), len(program)], m).tolist()
        length = made.length + costs[1] - costs[0]
        weak = None
        if made.flawless and length >= made.empty_length:
            excess = length - made.empty_length
            weak = Weak(made.confusion.true_positives, excess) if made.weak is None else made.weak
            weak = replace(weak, excess=excess)
        names = ", ".join(key_text(key) for key in dict.fromkeys(rule.head.key for rule in rules))
        note = f"{names} {'was' if ',' not in names else 'were'} invented, by {counted(len(rules), 'rule')}"
        return replace(made, program=program, length=length, weak=weak, notes=(*made.notes, note))

    def _support(self, program: Program, first: int) -> Ints:
        """What each rule of a program is right about, from one on, [rules].

        That is how many true examples are not derived without it, or how many facts it derives
        itself where these are fewer, as of a base case from which all others follow.
        """
        key = self.language.key(self.facts)
        target = self.facts.select("train").relations[key]
        true = target.codes[~target.column("negative") & (target.column("probability") > 0.5)]
        background = background_of(self.facts, key)
        whole = infer(program, background)
        bodies = BodyEvaluator(whole.facts, likely=True)

        def derived(model: Model) -> int:
            return int(np.count_nonzero(model.probabilities(key, true) > 0.5))

        found = []
        for place in range(first, len(program)):
            check()
            rest = Program((*program.rules[:place], *program.rules[place + 1 :]))
            lost = derived(whole) - derived(infer(rest, background))
            found.append(min(lost, len(bodies.cover(program.rules[place]).heads)))
        return np.array(found)


def _better(best: Definition, found: Definition | None, plan: Plan) -> Definition:
    """The one of two definitions that agrees with all examples, or else describes them shorter."""
    selection = plan.config.selection
    if found is None or (selection.strict and found.weak is not None):
        return best
    if len(found.program) > selection.max_rules:
        return best
    if found.flawless == best.flawless:
        return found if found.length < best.length - 1e-9 else best
    agreeing, other = (found, best) if found.flawless else (best, found)
    trusted = is_trusted(agreeing.length, other.length, other.empty_length)
    return agreeing if not len(other.program) or trusted else other


def _interrupted(made: Definition | None) -> bool:
    return made is not None and made.result.stopped == "interrupted"


def _relations_by_use(made: Definition) -> Iterable[Key]:
    """Relations that the program reads, then those of other rules that were found."""
    pooled = made.pool.space.program(made.pool.bodies)
    reads = [lit.atom.key for rule in (*made.program, *pooled) for lit in rule.body]
    return dict.fromkeys(reads)


def _read_keys(made: Definition) -> list[Key]:
    """The relation of every literal of a program."""
    return [lit.atom.key for rule in made.program for lit in rule.body]
