"""All bodies of one or two literals, counted without writing them out.

Wide rule spaces: runs that propose bodies see a part of the rows and the most promising candidates.

Rules for the pool that runs of gradient descent propose, nothing enumerated.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from andre.arrays import Ints
from andre.census import Census, sample_census, take_census
from andre.errors import DataError
from andre.evaluation import CrispSample, description_length
from andre.facts import FactBase
from andre.learning.callbacks import Callback, State
from andre.learning.choose.select import form_of, nothing, select, with_shorter
from andre.learning.config import Config, Floor, Guide, SelectionConfig
from andre.learning.extraction import distinct_bodies, extract
from andre.learning.fit import fit
from andre.learning.plan import apart, learnable
from andre.learning.result import Result, judge
from andre.learning.trainer import Trainer
from andre.limits import Deadline
from andre.logic import Rule
from andre.model import Settings
from andre.samples import Codes, Form, Language, RuleSpace, Sample

__all__ = [
    "ProposalConfig",
    "best_short_bodies",
    "fit_screened",
    "informative_columns",
    "is_wide",
    "promising_columns",
    "propose",
]


#: Rows of examples, bags counted with all theirs, from which on a part of them is looked at first, and
#: how many examples without positives there are for one in that part.
_MANY, _SHARE = 50_000, 16
_SLACK = 1 - 1e-9


def best_short_bodies(sample: CrispSample, form: Form, config: SelectionConfig) -> Codes:
    """The bodies of one or two literals that are worth combining, the most promising first, [rules, m].

    They have the support and confidence that the settings ask of a rule; of more
    than a pool holds, those with the shortest description alone stay.

    Examples
    --------
    >>> from andre.samples import Sample
    >>> rows = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]])
    >>> crisp = CrispSample.of(Sample.from_arrays(rows, [1, 0, 0, 0]))
    >>> best_short_bodies(crisp, Form(crisp.space), SelectionConfig())
    array([[ 1,  1,  0],
           [ 1,  0, -1],
           [ 0,  1, -1]], dtype=int8)
    """
    m = sample.space.m
    pairs, counts = _counted(sample, form, config.floor(sample.totals[0]))
    sizes = 1 + (pairs[:, 0] != pairs[:, 1])
    lengths = description_length(counts, sample.totals, sizes, 1, m=m)
    chosen = pairs[np.argsort(lengths, kind="stable")[: config.pool]]
    codes = np.zeros((len(chosen), m), dtype=np.int8)
    for literal in chosen.T:
        codes[np.arange(len(chosen)), literal % m] = np.where(literal < m, 1, -1)
    return codes


def _counted(sample: CrispSample, form: Form, floor: Floor) -> tuple[Ints, NDArray[np.float64]]:
    """Pairs of literals that reach the floor, and what they cover, [R, 2] each."""
    m = sample.space.m
    kinds, both, alone = _well_formed(form)
    parts = _parts(sample)
    # Weights that are not whole may add up to a little less in another order.
    nearly = Floor(floor.support * _SLACK, floor.confidence * _SLACK)
    pairs, counts = [np.zeros((0, 2), dtype=np.int64)], [np.zeros((0, 2))]
    every = np.arange(2 * m)
    for literal in every:
        partners = np.flatnonzero(both[kinds[literal]][kinds] & (every > literal) & (every != literal + m))
        if alone[literal]:
            partners = np.append(partners, literal)  # with itself it is a body of one
        if not _hopeful(parts, int(literal), partners, nearly):
            continue
        held = sample.literal_rows(int(literal))
        own = sample.literal_counts(held, sample.labels)[:, partners].T  # [partners, 2]
        sure = floor.passes(own)
        pairs.append(np.stack((np.full(int(sure.sum()), literal), partners[sure]), axis=1))
        counts.append(own[sure])
    return np.concatenate(pairs), np.concatenate(counts)


def _parts(sample: CrispSample) -> list[CrispSample]:
    """The few examples that rule out most pairs: those with positives, then a share of the others."""
    if len(sample.literals if sample.members is None else sample.members.rows) < _MANY:
        return []
    true = sample.positives > 0
    false = np.flatnonzero(~true)[::_SHARE]
    return [sample.part(some) for some in (np.flatnonzero(true), false) if len(some)]


def _hopeful(parts: list[CrispSample], literal: int, partners: Ints, floor: Floor) -> bool:
    """Whether a pair can reach the floor, going by the examples of some parts.

    All positives are in the first part. What is wrong already there, or with
    some negatives more, is no better on all examples.
    """
    own = np.zeros((2, len(partners)))
    for part in parts if len(partners) else ():
        own += part.literal_counts(part.literal_rows(literal), part.labels)[:, partners]
        if not floor.passes(own.T).any():
            return False
    return len(partners) > 0


def _well_formed(form: Form) -> tuple[Ints, NDArray[np.bool_], NDArray[np.bool_]]:
    """Kinds of literals, [2m]; which kinds make a body together, and which literals make one alone.

    A form tells literals apart by their variables, their sign and a few other
    traits. One body for every two kinds says what holds of all.
    """
    m = form.space.m
    numbers: dict[object, int] = {}
    kinds = np.empty(2 * m, dtype=np.int64)
    members: list[list[int]] = []
    for literal in range(2 * m):
        column = literal % m
        atom = form.space.atoms[column]
        traits = (atom.args, atom.is_builtin, literal < m, column in form.unnegated)
        kind = numbers.setdefault((*traits, *(column in some for some in form.require)), len(numbers))
        kinds[literal] = kind
        if kind == len(members):
            members.append([])
        members[kind].append(column)
    signs = np.array([1 if kinds[columns[0]] == kind else -1 for kind, columns in enumerate(members)])
    first, second = np.triu_indices(len(members))
    bodies = np.zeros((len(first), m), dtype=np.int8)
    possible = np.ones(len(first), dtype=np.bool_)
    for row, (one, two) in enumerate(zip(first, second, strict=True)):
        column = members[one][0]
        other = next((c for c in members[two] if c != column), None)
        if other is None:  # the same column twice: try another for the first
            column, other = next((c for c in members[one] if c != column), column), members[two][0]
        possible[row] = column != other
        bodies[row, column], bodies[row, other] = signs[one], signs[two]
    both = np.zeros((len(members), len(members)), dtype=np.bool_)
    both[first, second] = possible & form.admits(bodies)
    single = np.vstack((np.eye(m, dtype=np.int8), -np.eye(m, dtype=np.int8)))
    return kinds, both | both.T, form.admits(single)


#: Candidates that the runs see at the most.
_MOST_COLUMNS = 64
#: Rows that the runs see at the most; bags count with all theirs.
_MOST_ROWS = 6_000
#: What a step costs, rows times candidates, from which on runs see a part only.
_WIDE = 200_000


def is_wide(sample: Sample) -> bool:
    """Whether runs that saw all rows and candidates would take long."""
    entries = sample.n_rows if sample.members is None else max(sample.n_rows, len(sample.members.rows) // 8)
    return entries * sample.space.m > _WIDE


def promising_columns(bodies: Codes, form: Form) -> NDArray[np.bool_]:
    """The candidates of the first of these bodies, and all that a form requires, [m].

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
        if np.count_nonzero(wider) > _MOST_COLUMNS:
            break
        kept = wider
    return kept


def fit_screened(
    sample: Sample, crisp: CrispSample, config: Config, callbacks: tuple[Callback, ...], guide: Guide
) -> Result:
    """Learn a program: runs propose from a part of the sample, the choice is made on all of it.

    Parameters
    ----------
    sample, crisp
        The examples, and the same cut at one half.
    guide
        Its bodies say which candidates are promising; without any all are.
    """
    form = guide.form or form_of(sample.space, config.selection)
    extra = np.zeros((0, sample.space.m), dtype=np.int8) if guide.extra is None else guide.extra
    deadline = Deadline.after(config.time_limit)
    kept = promising_columns(extra, form)
    stated = np.array([not atom.is_builtin for atom in sample.space.atoms])
    part = sample.thinned(_MOST_ROWS, config.seed)
    if not (kept & stated).any():  # no short body is any good: there is nothing to go by
        kept[:] = True
    part = part.columns(kept)
    proposed = fit(part, _lean(config), callbacks=callbacks, guide=Guide(_narrowed(form, part.space, kept)))
    wide = np.zeros((len(proposed.proposed), sample.space.m), dtype=np.int8)
    wide[:, kept] = proposed.proposed
    programs = [sample.space.encode(run.program) for run in proposed.runs]
    pool = np.concatenate([extra, wide])
    chosen = select(crisp, programs, config.selection, deadline, form, pool)
    program, scores = judge(sample.space.program(chosen.codes), [("train", crisp)])
    weights = np.zeros((len(proposed.weights), sample.space.m, 3), dtype=np.float32)
    weights[..., 2] = np.abs(proposed.weights).max(initial=1.0)  # what a run did not see it leaves out
    weights[:, kept] = proposed.weights
    return replace(
        proposed,
        space=sample.space,
        config=config,
        program=program,
        length=chosen.length,
        empty_length=nothing(crisp).length,
        scores=scores,
        weights=weights,
        proposed=wide,
    )


def _lean(config: Config) -> Config:
    """Settings for one round of runs that only propose: half as many as usual, and two thirds of the steps.

    What they propose is refined by the choice, so that more steps make programs no better. A rule's
    support among a part of the examples says little of its support among all.
    """
    given = config.training
    less = {"rounds": 1, "restarts": max(1, given.restarts // 2), "steps": max(1, given.steps * 2 // 3)}
    training = given.model_copy(update=less)
    selection = config.selection.model_copy(update={"combine": False, "refine": False, "min_support": 0.0})
    limit = None if config.time_limit is None else config.time_limit / 2
    return config.model_copy(update={"training": training, "selection": selection, "time_limit": limit})


def _narrowed(form: Form, space: RuleSpace, kept: NDArray[np.bool_]) -> Form:
    """The same bounds where only some of the candidates are left."""
    place = np.cumsum(kept) - 1
    return replace(
        form,
        space=space,
        unnegated=tuple(int(place[column]) for column in form.unnegated if kept[column]),
        require=tuple(tuple(int(place[column]) for column in some) for some in form.require),
    )


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
