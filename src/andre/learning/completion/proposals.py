"""Rules for the pool that runs of gradient descent propose, nothing enumerated."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from andre.errors import DataError
from andre.evaluation.crisp import CrispSample
from andre.facts import FactBase
from andre.grounding import Census, Codes, Language, Sample, sample_census, take_census
from andre.grounding.form import Form
from andre.learning.callbacks import Callback
from andre.learning.config import Config
from andre.learning.extraction import distinct_bodies, extract
from andre.learning.known import apart
from andre.learning.relational import learnable
from andre.learning.selection import nothing, with_shorter
from andre.learning.state import State
from andre.learning.trainer import Trainer
from andre.logic import Rule
from andre.model.config import Settings

__all__ = ["ProposalConfig", "informative_columns", "propose"]

Count = Annotated[int, Field(ge=1)]


class ProposalConfig(Settings):
    """How many runs propose, and what they see.

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
    seed: Annotated[int, Field(ge=0)] = 0


def propose(
    facts: FactBase, config: ProposalConfig | None = None, executor: Executor | None = None
) -> list[Rule]:
    """Let runs propose rules for every binary relation, from the training facts alone.

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
    >>> found = propose(FactBase.from_facts(map(parse_atom, rows)))
    >>> print(next(rule for rule in found if rule.head.predicate == "likes"))
    likes(X1, X2) :- knows(X2, X1), X1 \\= X2.
    """
    config = config or ProposalConfig()
    known = facts.select("train")
    targets = [name for name in learnable(known)[0] if name.endswith("/2")]
    work = _Work(known, config)
    found = map(work, targets) if executor is None else executor.map(work, targets)
    return [rule for rules in found for rule in rules]


@dataclass(frozen=True)
class _Work:
    """What is done for one target; a value, so that other processes can be given it."""

    facts: FactBase
    config: ProposalConfig

    def __call__(self, target: str) -> list[Rule]:
        config = self.config
        language = Language(target, variables=config.variables, inequality=False, max_body=config.literals)
        try:
            census = self._census(language).require_both_classes()
        except DataError:  # nothing can be told apart, so nothing can be proposed
            return []
        sample = census.to_sample()
        part = sample.thinned(config.rows, config.seed)
        kept = informative_columns(part, config.columns)
        sample = sample.columns(kept)
        own = np.flatnonzero(sample.space.recursive).tolist()
        form = replace(language.form(sample.space), unnegated=tuple(own))
        return _rules(sample, _admitted(_bodies(part.columns(kept), config), form), config)

    def _census(self, language: Language) -> Census:
        if language.variables > 3:  # head atoms can be drawn where rules have one variable more
            return take_census(self.facts, language, mode="complete")
        return sample_census(self.facts, language, self.config.heads, seed=self.config.seed, mode="complete")


def informative_columns(sample: Sample, most: int) -> NDArray[np.bool_]:
    """The literals that say most about the label of the rows they hold in, [m].

    Both classes weigh the same. A literal of a longer body tells little of an
    example, as it holds somewhere in almost all of them, but more of a row.
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


def _entropy(p: NDArray[np.float64]) -> NDArray[np.float64]:
    return -(p * np.log(p) + (1 - p) * np.log(1 - p))


class _Reader(Callback):
    """Reads the bodies of all runs at every look."""

    def __init__(self, certainties: tuple[float, ...]) -> None:
        self.certainties = certainties
        self.found: list[Codes] = []

    def on_extract(self, state: State) -> None:
        """Take what the runs say now."""
        if state.runs is not None:
            codes = extract(state.runs.weights, state.runs.mask, self.certainties)
            self.found.append(distinct_bodies(codes))


def _bodies(sample: Sample, config: ProposalConfig) -> Codes:
    """What runs come to at any look, [bodies, m]."""
    learning = Config.preset(
        "default",
        steps=config.steps,
        restarts=config.restarts,
        subrules=config.subrules,
        rounds=1,
        check_every=-(-config.steps // config.looks),
        seed=config.seed,
    )
    trainer = Trainer(sample, learning)
    state = State(trainer.crisp, 1, trainer.steps, best=nothing(trainer.crisp))
    state.runs = trainer.start(0)
    reader = _Reader(learning.selection.certainties)
    trainer.train(state, (reader,), lambda: None)
    return np.concatenate(reader.found)


def _admitted(bodies: Codes, form: Form) -> Codes:
    """Well-formed bodies among these and those one or two literals shorter."""
    longest = form.max_body or form.space.m
    bodies = bodies[np.count_nonzero(bodies, axis=1) <= longest + 2]
    pool = with_shorter(with_shorter(bodies))
    return pool[form.admits(pool)]


def _rules(sample: Sample, bodies: Codes, config: ProposalConfig) -> list[Rule]:
    """The most significant of these bodies as rules, their variables apart."""
    crisp = CrispSample.of(sample)
    right, wrong = crisp.body_counts(bodies).T  # [bodies] each
    positive, negative = crisp.totals
    # Positives are facts; a negative that weighs nothing is connected to nothing.
    share, base = (right + 0.5) / (right + wrong + 1), positive / (positive + negative)
    gain = right * np.log(share / base) + wrong * np.log((1 - share) / (1 - base))
    good = (right >= config.support) & (share > base)
    order = np.lexsort((np.count_nonzero(bodies, axis=1), -np.where(good, gain, -1)))  # ties to the shorter
    chosen = _distinct(crisp, bodies[order[good[order]]], config.rules)
    return [apart(rule).tidy() for rule in sample.space.program(chosen)]


def _distinct(crisp: CrispSample, bodies: Codes, most: int) -> Codes:
    """The first bodies that do not cover just what one before them covers.

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
