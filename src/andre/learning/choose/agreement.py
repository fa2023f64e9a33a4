"""Choosing a definition by its examples: the shortest description of them, or agreement with all of them.

Few clean examples are enough to name a program that agrees with them, and too few to
say that it is no chance. Such a program is chosen here where nothing better is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from andre.arrays import Floats
from andre.evaluation import description_length
from andre.facts import FactBase, Key
from andre.learning.choose.definition import DefinitionChooser
from andre.learning.plan import Plan
from andre.samples import Codes

#: True examples up to which a program that agrees with all is preferred to a shorter one with mistakes, and
#: by how many nats the description may be longer then.
_FEW, _LONGER = 20, 10.0
_CLOSED = (
    "no example is stated to be false: all other atoms over the constants of the head's types were taken to "
    "be; unlabelled=unknown takes them for unknown"
)
_POSITIVES = (
    "positives alone taught: what no example labels is unknown, and of the programs that derive all "
    "positives the one is given that tells them most shortly, its own length included"
)
_NONE_AGREES = (
    "no program that was looked at agrees with all examples, though noise=0 says that they are clean: this "
    "one describes them shortest"
)


@dataclass(frozen=True, eq=False)
class Choice:
    """The bodies that were chosen for a definition, and what speaks for them."""

    codes: Codes  #: [rules, m]
    rivals: tuple[Codes, ...] = ()  #: further programs as short that agree with all examples
    agrees: bool = False  #: whether they were chosen because they agree with all examples
    closed: bool = True  #: whether head atoms without label were taken to be false
    notes: tuple[str, ...] = ()  #: what is to be said of the labels


def choose_definition(
    chooser: DefinitionChooser, pool: Codes, plan: Plan, facts: FactBase, target: Key
) -> Choice:
    """The program that describes the examples shortest, or the shortest that agrees with all of them.

    The second where examples are clean, where the first has no rule, and where it describes few
    examples nearly as shortly. Positives alone teach where the plan says so; and in a Popper folder
    without negative examples, which states its examples apart from all else, where no program derives
    the positives and nothing more.

    Parameters
    ----------
    chooser
        One that lists mistakes.
    pool
        Well-formed bodies, the most promising first, [rules, m].
    """
    selection = plan.config.selection
    apart = are_positives_apart(facts, plan, target)
    if plan.unlabelled == "unknown" and _are_positives_alone(facts, target):
        return _by_positives(chooser, pool)
    codes, length = chooser.choose(pool)
    described = Choice(codes, notes=on_closed_world(facts, plan, target))
    few = not selection.strict and chooser.judge.totals[0] <= _FEW and _makes_mistakes(chooser, codes)
    enough = not (apart or few or selection.noise == 0) if len(codes) else selection.strict
    if enough:
        return described
    found = replace(chooser, mistakes="refused").consistent(pool)
    if apart:  # what may be true beside them is told by a program that says less than a list of them
        most = restating(chooser.judge.totals[0], target)
        found = [codes for codes in found if np.count_nonzero(codes) + len(codes) < most]
    if few and len(codes) and not apart and selection.noise == "auto":
        found = [other for other in found if _length(chooser, other) <= length + _LONGER]
    if found:
        same = any(np.array_equal(codes, described.codes) for codes in found)
        agreeing = replace(described, codes=found[0], rivals=tuple(found[1:]), agrees=True)
        return described if same else agreeing
    if apart and len((only := _by_positives(chooser, pool)).codes):
        return only
    return replace(described, notes=(*described.notes, *([_NONE_AGREES] if selection.noise == 0 else ())))


def _counts(chooser: DefinitionChooser, codes: Codes) -> Floats:
    """How many true and false examples a program derives, with the rules that are part of any, [2]."""
    numbers = map(chooser.judge.add, chooser.form.space.program(codes))
    counts: Floats = chooser.judge.judge([(*chooser.fixed, *numbers)]).counts[0]
    return counts


def _makes_mistakes(chooser: DefinitionChooser, codes: Codes) -> bool:
    """Whether a program derives a false example, or leaves out a true one."""
    return bool((_counts(chooser, codes) != [chooser.judge.totals[0], 0]).any())


def _length(chooser: DefinitionChooser, codes: Codes) -> float:
    """Nats by which a program describes the examples."""
    counts, size, m = _counts(chooser, codes), int(np.count_nonzero(codes)), chooser.form.space.m
    return float(description_length(counts, chooser.judge.totals, size, len(codes), m=m))


def on_closed_world(facts: FactBase, plan: Plan, target: Key) -> tuple[str, ...]:
    """A note, where a folder states no false example and all other atoms were taken to be false."""
    return (_CLOSED,) if are_positives_apart(facts, plan, target) else ()


def restating(positives: float, target: Key) -> int:
    """The names in a list of so many facts: a program with as many literals and rules says no more.

    Examples
    --------
    >>> restating(7.0, ("pt", 2))
    21
    """
    return round(positives) * (1 + target[1])


def are_positives_apart(facts: FactBase, plan: Plan, target: Key) -> bool:
    """Whether no example is stated to be false in a folder that states its examples apart from all else."""
    return _are_positives_alone(facts, target) and facts.origin == "popper" and plan.unlabelled == "auto"


def _are_positives_alone(facts: FactBase, target: Key) -> bool:
    """Whether, in a closed world, no example is stated to be false."""
    return facts.world == "closed" and facts.select("train").relations[target].negative is None


def _by_positives(chooser: DefinitionChooser, pool: Codes) -> Choice:
    """The program that derives all positives, and among whose atoms they are told most shortly."""
    anything = chooser.config.model_copy(update={"min_confidence": 0.0})
    found = replace(chooser, config=anything, mistakes="unlabelled").consistent(pool)
    none = np.zeros((0, chooser.form.space.m), dtype=np.int8)
    codes, *rivals = found or [none]
    return Choice(codes, tuple(rivals), agrees=bool(found), closed=False, notes=(_POSITIVES,))
