"""Bodies that runs of gradient descent propose for others to choose from.

Runs that only propose may see a part of the rows and of the candidates, and
train less. They are one source of bodies, and `short_bodies` is another; a new
source is a function beside these that gives bodies as codes, [bodies, m].
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated

import numpy as np
from pydantic import Field

from andre.arrays import Bools, Floats
from andre.census import Census, sample_census, take_census
from andre.errors import DataError
from andre.evaluation import CrispSample
from andre.facts import FactBase
from andre.learning.callbacks import Callback, State
from andre.learning.config import Config, Guide
from andre.learning.extraction import distinct_bodies, extract, with_shorter
from andre.learning.fitting import fit
from andre.learning.plan import learnable, with_inequalities
from andre.learning.results import Result
from andre.limits import limited, time_left
from andre.logic import Rule
from andre.model import Count, Settings, Whole
from andre.samples import Codes, Form, Language, RuleSpace, Sample


@dataclass(frozen=True)
class Effort:
    """How much of a sample and of the usual training runs take that only propose bodies.

    Only their bodies are used, so their own programs are neither combined nor
    refined; and a rule's support in a part of the examples says little of its
    support in all, so that none is asked for.
    """

    rows: int  #: rows that the runs see at the most; bags count with all theirs
    rounds: int  #: rounds at the most
    restarts: Fraction = Fraction(1)  #: the share of the usual restarts
    steps: Fraction = Fraction(1)  #: the share of the usual steps
    time: Fraction = Fraction(1)  #: the share of the time limit

    def of(self, config: Config) -> Config:
        """The usual settings, reduced.

        Examples
        --------
        >>> Effort(rows=100, rounds=1, steps=Fraction(2, 3)).of(Config()).training.steps
        100
        """
        given, limit = config.training, config.time_limit
        training = {
            "rounds": min(self.rounds, given.rounds),
            "restarts": max(1, int(given.restarts * self.restarts)),
            "steps": max(1, int(given.steps * self.steps)),
        }
        selection = {"combine": False, "refine": False, "min_support": 0.0}
        return config.model_copy(
            update={
                "training": given.model_copy(update=training),
                "selection": config.selection.model_copy(update=selection),
                "time_limit": None if limit is None else limit * float(self.time),
            }
        )


def propose_bodies(
    sample: Sample,
    config: Config,
    effort: Effort,
    guide: Guide | None = None,
    *,
    columns: Bools | None = None,
    callbacks: Sequence[Callback] = (),
) -> Result:
    """What runs come to that see a part of a sample: `proposed` holds their bodies, over all candidates.

    Parameters
    ----------
    sample
        The examples, of which a random part is shown.
    effort
        How many rows are shown, and how much less is done than usual.
    columns
        The candidates that are shown, [m]; all by default.
    """
    part, guide = sample.thinned(effort.rows, config.seed), guide or Guide()
    if columns is None:
        with limited(time_left().share(float(effort.time))):
            return fit(part, effort.of(config), callbacks=callbacks, guide=guide)
    part = part.columns(columns)
    form = None if guide.form is None else _narrowed(guide.form, part.space, columns)
    fixed = None
    if guide.fixed is not None:  # known rules that can be said with these candidates
        fixed = guide.fixed[~guide.fixed[:, ~columns].any(axis=1)][:, columns]
    shown = Guide(form, fixed=fixed if fixed is not None and len(fixed) else None)
    with limited(time_left().share(float(effort.time))):
        found = fit(part, effort.of(config), callbacks=callbacks, guide=shown)
    proposed = np.zeros((len(found.proposed), sample.space.m), dtype=np.int8)
    proposed[:, columns] = found.proposed
    weights = np.zeros((len(found.weights), sample.space.m, 3), dtype=np.float32)
    weights[..., 2] = np.abs(found.weights).max(initial=1.0)  # what a run did not see it leaves out
    weights[:, columns] = found.weights
    return replace(found, space=sample.space, proposed=proposed, weights=weights)


def _narrowed(form: Form, space: RuleSpace, kept: Bools) -> Form:
    """The same bounds on bodies over the kept candidates, which hold all that the form requires."""
    place = np.cumsum(kept) - 1
    return replace(
        form,
        space=space,
        unnegated=tuple(int(place[column]) for column in form.unnegated if kept[column]),
        require=tuple(tuple(int(place[column]) for column in some) for some in form.require),
    )


def promising_columns(bodies: Codes, form: Form, most: int = 64) -> Bools:
    """The candidates of the first of these bodies and all that a form requires, [m], so many at the most.

    Examples
    --------
    >>> space = RuleSpace.from_names(["p", "q", "r"])
    >>> promising_columns(np.array([[1, 0, -1]], dtype=np.int8), Form(space))
    array([ True, False,  True])
    """
    kept = np.zeros(form.space.m, dtype=np.bool_)
    kept[[column for columns in form.require for column in columns]] = True
    for body in bodies:
        wider = kept | (body != 0)
        if np.count_nonzero(wider) > most:
            break
        kept = wider
    return kept


class ProposalConfig(Settings):
    """How many runs `propose` lets propose, and what they see.

    Examples
    --------
    >>> ProposalConfig(steps=20).steps
    20
    """

    steps: Count = 80  #: epochs of a run
    restarts: Count = 3  #: runs for each number of subrules
    subrules: Annotated[tuple[Count, ...], Field(min_length=1)] = (2, 4, 8)  #: rules of a run
    looks: Count = 4  #: times at which the bodies of the runs are read
    columns: Count = 64  #: literals that runs see, the most informative; in spaces that are wider
    #: Head atoms that are looked at; of more, so many are drawn, unless rules have more than three variables.
    heads: Annotated[int, Field(ge=8)] = 50_000
    rows: Count = 2_000  #: rows that runs see
    variables: Count = 3  #: of a rule
    literals: Count = 4  #: most literals of a body
    rules: Count = 150  #: rules of a relation that are kept, the most significant first
    support: Count = 2  #: facts that a rule is right about
    seed: Whole = 0

    def training(self) -> Config:
        """The settings of the runs."""
        return Config.preset(
            "default",
            steps=self.steps,
            restarts=self.restarts,
            subrules=self.subrules,
            check_every=-(-self.steps // self.looks),
            seed=self.seed,
        )


def propose(
    facts: FactBase, config: ProposalConfig | None = None, executor: Executor | None = None
) -> list[Rule]:
    """Rules that runs propose for every binary relation of a knowledge base, from its training facts alone.

    No body is enumerated: a body is one that a run has come to at one of a few
    looks, or such a one without some of its literals. Hand the rules to
    `complete` as `extra`.

    Parameters
    ----------
    facts
        A knowledge base; only facts that are marked neither valid nor test teach.
    config
        How many runs, and what they see.
    executor
        Works on relations in parallel: any `concurrent.futures.Executor`.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> rows = [f"likes(x{i}, y{i})" for i in range(9)] + [f"knows(y{i}, x{i})" for i in range(9)]
    >>> found = propose(FactBase.from_facts(map(parse_atom, rows)), ProposalConfig(steps=20, restarts=1))
    >>> print(next(rule for rule in found if rule.head.predicate == "likes"))
    likes(X1, X2) :- knows(X2, X1), X1 \\= X2.
    """
    config = config or ProposalConfig()
    known = facts.select("train")
    targets = [name for name in learnable(known)[0] if name.endswith("/2")]
    one = _OneRelation(known, config)
    found = map(one, targets) if executor is None else executor.map(one, targets)
    return [rule for rules in found for rule in rules]


@dataclass(frozen=True)
class _OneRelation:
    """Proposes rules for one relation; a value, so that other processes can be given it."""

    facts: FactBase
    config: ProposalConfig

    def __call__(self, target: str) -> list[Rule]:
        config = self.config
        language = Language(target, variables=config.variables, inequality=False, max_body=config.literals)
        try:
            sample = self._census(language).require_both_classes().to_sample()
            kept = informative_columns(sample.thinned(config.rows, config.seed), config.columns)
            bodies = self._bodies(sample, kept)
        except DataError:  # nothing can be told apart, so nothing can be proposed
            return []
        sample = sample.columns(kept)
        own = np.flatnonzero(sample.space.recursive).tolist()
        form = replace(language.form(sample.space), unnegated=tuple(own))
        return _rules(sample, _admitted(bodies, form), config)

    def _bodies(self, sample: Sample, columns: Bools) -> Codes:
        """What runs that see these columns come to at any look, [bodies, columns]."""
        training, effort = self.config.training(), Effort(self.config.rows, rounds=1)
        reader = _Reader(training.selection.certainties)
        result = propose_bodies(sample, training, effort, columns=columns, callbacks=(reader,))
        if result.stopped == "interrupted":
            raise KeyboardInterrupt
        return np.concatenate(reader.found)

    def _census(self, language: Language) -> Census:
        if language.variables > 3:  # head atoms can be drawn where rules have one variable more
            return take_census(self.facts, language, mode="complete")
        return sample_census(self.facts, language, self.config.heads, seed=self.config.seed, mode="complete")


def informative_columns(sample: Sample, most: int) -> Bools:
    """The candidates with the highest information gain about the label of a row, so many at the most, [m].

    Both classes weigh the same. Rows are looked at and not examples: a literal of a
    longer body holds on some row of almost every example.
    """
    m = sample.space.m
    if m <= most:
        return np.ones(m, dtype=np.bool_)
    rows = np.arange(sample.n_rows) if sample.members is None else sample.members.rows
    sizes = np.ones(sample.n_examples) if sample.members is None else np.diff(sample.members.starts)
    holds = sample.valuations > 0.5  # [U, m]
    share = []
    for weight in (sample.positives, sample.negatives):
        # Each example's weight is shared among its rows.
        spread = np.repeat(weight / np.maximum(sizes, 1), sizes.astype(np.int64))
        per_row = np.bincount(rows, spread, sample.n_rows)  # [U]
        share.append((per_row @ holds) / max(float(per_row.sum()), 1e-12))  # [m]
    positive, negative = (np.clip(part, 1e-6, 1 - 1e-6) for part in share)
    gain = _entropy((positive + negative) / 2) - (_entropy(positive) + _entropy(negative)) / 2
    kept = np.zeros(m, dtype=np.bool_)
    kept[np.argsort(-gain, kind="stable")[:most]] = True
    return kept


def _entropy(p: Floats) -> Floats:
    """The entropy of a coin that shows heads with probability p, in nats."""
    return -(p * np.log(p) + (1 - p) * np.log(1 - p))


class _Reader(Callback):
    """Collects the bodies that runs hold at every look, not only at the end."""

    def __init__(self, certainties: tuple[float, ...]) -> None:
        self.certainties = certainties
        self.found: list[Codes] = []

    def on_extract(self, state: State) -> None:
        """Take the bodies that the runs hold now."""
        if state.runs is not None:
            codes = extract(state.runs.weights, state.runs.mask, self.certainties)
            self.found.append(distinct_bodies(codes))


def _admitted(bodies: Codes, form: Form) -> Codes:
    """Well-formed bodies among these and those one or two literals shorter."""
    longest = form.max_body or form.space.m
    bodies = bodies[np.count_nonzero(bodies, axis=1) <= longest + 2]
    pool = with_shorter(with_shorter(bodies))
    return pool[form.admits(pool)]


def _rules(sample: Sample, bodies: Codes, config: ProposalConfig) -> list[Rule]:
    """The most significant of these bodies as rules whose variables stand for different constants."""
    crisp = CrispSample.of(sample)
    right, wrong = crisp.body_counts(bodies).T  # [bodies] each
    positive, negative = crisp.totals
    # Positives are facts; a negative that weighs nothing is connected to nothing.
    share, base = (right + 0.5) / (right + wrong + 1), positive / (positive + negative)
    gain = right * np.log(share / base) + wrong * np.log((1 - share) / (1 - base))
    good = (right >= config.support) & (share > base)
    order = np.lexsort((np.count_nonzero(bodies, axis=1), -np.where(good, gain, -1)))  # ties to the shorter
    chosen = _distinct(crisp, bodies[order[good[order]]], config.rules)
    return [with_inequalities(rule).tidy() for rule in sample.space.program(chosen)]


def _distinct(crisp: CrispSample, bodies: Codes, most: int) -> Codes:
    """The first bodies, so many at the most, of which no two cover the same examples.

    A literal that rules nothing out makes another body of the same meaning,
    and a few hundred of those would leave no room for others.
    """
    seen: set[bytes] = set()
    kept: list[int] = []
    for first in range(0, len(bodies), most):
        covers = np.packbits(crisp.covers(bodies[first : first + most]), axis=1)  # [rules, B / 8]
        for place, row in enumerate(covers, first):
            if len(kept) < most and (key := row.tobytes()) not in seen:
                seen.add(key)
                kept.append(place)
        if len(kept) == most:
            break
    return bodies[kept]
