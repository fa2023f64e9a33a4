"""What would have helped where no rule was found: other settings, each tried by a few runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from andre.errors import AndreError
from andre.facts import FactBase, key_text
from andre.learning.plan import Plan
from andre.learning.results import Advice, Definition
from andre.limits import Deadline, limited, time_left
from andre.logic import Constant, Program
from andre.samples import Language

#: Learns a target in a language by a plan.
Trial: TypeAlias = Callable[[Language, Plan], Definition]

#: Seconds in which other settings are tried, at the least and at the most; between, as many as learning took.
_LEAST, _MOST = 6.0, 20.0
#: Values that an argument has at the most where rules may name them.
_FEW_VALUES = 12
#: Places of constants that are tried at the most.
_MOST_PLACES = 6
#: How often rules that would help are right, at the least.
_PRECISE = 0.75
#: Literals of a body that are allowed at the least where those that were are doubled.
_BODY = 4
#: Variables that are tried.
_VARIABLES = (3, 4, 6)


@dataclass(frozen=True)
class _Change:
    """Settings that differ from those without a rule."""

    option: str  #: as it is typed
    setting: str  #: the same in Python
    language: Language
    plan: Plan


def advice_on(
    made: Definition, facts: FactBase, language: Language, plan: Plan, learn: Trial
) -> Advice | None:
    """The first change of settings with which a few runs find rules; None where none does, or time is short.

    Parameters
    ----------
    made
        What was learned: no rule.
    facts
        What is known; background rules have been run.
    learn
        Learns the target once more, by few runs.
    """
    if time_left().passed:
        return None
    changes = list(_changes(facts, language, plan))
    with limited(Deadline.after(min(_MOST, max(_LEAST, made.seconds)))):
        for place, change in enumerate(changes):
            if time_left().passed:
                return None
            found: Definition | None = None
            with (
                limited(time_left().share(1 / (len(changes) - place))),
                suppress(AndreError, KeyboardInterrupt),
            ):
                found = learn(change.language, change.plan)
            if found is None:
                continue
            if found.result.stopped == "interrupted":
                return None
            if _helps(found):
                option, setting = change.option, change.setting
                if change.language.constants != language.constants:
                    option, setting = _said(_used_places(found.program))
                return Advice(option, setting, found.program, found.confusion)
    return None


def _helps(found: Definition) -> bool:
    """Whether rules are worth telling of: they describe the examples, and are right most of the time."""
    precise = (found.confusion.precision or 0.0) >= _PRECISE
    return bool(len(found.program)) and (found.flawless or (precise and found.length < found.empty_length))


def _used_places(program: Program) -> list[str]:
    """The places of a program's bodies that hold constants."""
    places = [
        f"{key_text(literal.atom.key)}:{place}"
        for rule in program
        for literal in rule.body
        for place, term in enumerate(literal.atom.args, start=1)
        if isinstance(term, Constant) and not literal.is_builtin
    ]
    return list(dict.fromkeys(places))


def _said(places: Sequence[str]) -> tuple[str, str]:
    """The setting that lets rules name what stands in some places, as it is typed and in Python."""
    return f"--set constants={','.join(places)}", f"constants={list(places)}"


def _changes(facts: FactBase, language: Language, plan: Plan) -> Iterator[_Change]:
    """Settings to try: single ones, those first that help most often, then all that loosen the language.

    A bias says what rules may be: then its limits alone are tried, max_vars and max_body.
    """
    arity = language.key(facts)[1]
    loose: dict[str, Any] = {}
    if language.max_body is not None:
        loose["max_body"] = max(_BODY, 2 * language.max_body)
    biased = facts.bias is not None
    if not biased:
        switches = ("negation", "recursion", "singletons")
        loose |= {name: True for name in switches if not getattr(language, name)}
    if not (biased or language.order) and any(isinstance(value, int | float) for value in facts.constants):
        loose["order"] = True
    more = sorted({max(language.variables, arity) + 1, *_VARIABLES})
    more = [] if plan.widen else [number for number in more if number > max(language.variables, arity)]
    for number in more[:1]:
        yield _with(language, plan, {"variables": number})
    for name, value in loose.items():
        yield _with(language, plan, {name: value})
    if not biased and (places := _places(facts, language)):
        yield _Change(*_said(places), replace(language, constants=places), plan)
    for number in more[1:]:
        yield _with(language, plan, {"variables": number})
    if len(loose) + bool(more) > 1:
        yield _with(language, plan, loose | ({"variables": max(more[0], 4)} if more else {}))
    if biased:
        return
    if plan.semantics == "exists" and plan.mode == "define" and language.recursion:
        completing = replace(plan, mode="complete", identity=True, unlabelled="auto")
        yield _Change("--mode complete", "mode='complete'", language, completing)
    elif plan.semantics == "exists" and plan.mode == "complete":
        defining = replace(plan, mode="define", identity=False, heads=None)
        yield _Change("--mode define", "mode='define'", language, defining)


def _with(language: Language, plan: Plan, fields: Mapping[str, Any]) -> _Change:
    """A change of the language."""
    typed = [
        f"--variables {value}" if name == "variables" else f"--set {name}={str(value).lower()}"
        for name, value in fields.items()
    ]
    setting = ", ".join(f"{name}={value}" for name, value in fields.items())
    return _Change(" ".join(typed), setting, replace(language, **fields), plan)


def _places(facts: FactBase, language: Language) -> tuple[str, ...]:
    """Arguments of a few values each, which rules may name, where the language does not say."""
    if language.constants is not None:
        return ()
    found = []
    for key in language.body_keys(facts):
        codes = facts.relations[key].codes
        for place in range(key[1]):
            values = len(np.unique(codes[:, place]))
            if key[1] > 1 and values <= min(_FEW_VALUES, len(codes) // 2):
                found.append((values, f"{key_text(key)}:{place + 1}"))
    return tuple(place for _, place in sorted(found)[:_MOST_PLACES])
