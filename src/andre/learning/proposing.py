"""Bodies that runs of gradient descent propose for others to choose from.

Runs that only propose may see a part of the rows and of the candidates, and
train less. They are one source of bodies, and `short_bodies` is another; a new
source is a function beside these that gives bodies as codes, [bodies, m].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated

import numpy as np
from pydantic import Field

from andre.arrays import Bools, Floats
from andre.census import Census, Draw, sample_census, take_census
from andre.errors import DataError
from andre.evaluation import CrispSample, smoothed_confidence
from andre.facts import FactBase
from andre.learning.bodies import distinct_bodies, literal_bodies, with_shorter
from andre.learning.callbacks import Callback, State
from andre.learning.config import Config, Guide
from andre.learning.fitting import fit
from andre.learning.plan import learnable, with_inequalities
from andre.learning.results import Result
from andre.limits import check, limited, out_of_time, stage, time_left
from andre.logic import Rule
from andre.model import Count, Positive, Settings, Whole
from andre.samples import Codes, Form, Language, RuleSpace, Sample
from andre.workers import Task, Workers, run_tasks

#: Rows that runs are shown for which no time is left.
_WITHOUT_TIME = 200
#: The chance to be shown of a candidate that tells nothing, as a share of the mean chance.
_UNINFORMED = 0.3


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
    # Without time there is no training, and what is prepared for it is all that takes any.
    rows = min(effort.rows, _WITHOUT_TIME) if time_left().passed else effort.rows
    part, guide = sample.thinned(rows, config.seed), guide or Guide()
    if columns is None:
        with limited(time_left().share(float(effort.time))):
            return fit(part, effort.of(config), callbacks=callbacks, guide=guide)
    columns = sample.space.with_links(columns)
    part = part.columns(columns)
    form = None if guide.form is None else narrowed(guide.form, part.space, columns)
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


def narrowed(form: Form, space: RuleSpace, kept: Bools) -> Form:
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
    """How many runs `propose` lets propose, what they see, and which of their bodies are kept.

    Examples
    --------
    >>> ProposalConfig(steps=20).steps
    20
    """

    parts: Count = 4  #: random parts of the examples and literals, each seen by runs of its own
    steps: Count = 80  #: epochs of a run
    learning_rate: Positive = 0.1
    restarts: Count = 6  #: runs for each number of subrules, in each part
    subrules: Annotated[tuple[Count, ...], Field(min_length=1)] = (8,)  #: rules of a run
    looks: Count = 4  #: times at which the bodies of the runs are read
    #: Short bodies that a subrule is read as at a look, the likeliest by its weights: so many about the
    #: head's variables alone, and so many about others; beside the body that it has settled on.
    likeliest: Whole = 8
    columns: Count = 128  #: literals that runs see, in wider spaces: drawn by how informative they are
    #: Head atoms that are looked at; of more, so many are drawn, unless rules have more than three variables.
    heads: Annotated[int, Field(ge=8)] = 50_000
    rows: Count = 2_000  #: rows that the runs of a part see
    variables: Count = 3  #: of a rule
    literals: Count = 4  #: most literals of a body
    rules: Count = 200  #: rules of a relation that are kept, the most significant first
    confident: Whole = 100  #: further rules of a relation that are kept, the most confident first
    support: Count = 2  #: facts that a rule is right about which speaks for its head
    seed: Whole = 0
    device: str = "cpu"  #: see `Config.device`

    def training(self, part: int) -> Config:
        """The settings of the runs of one part."""
        return Config.preset(
            "default",
            steps=self.steps,
            learning_rate=self.learning_rate,
            restarts=self.restarts,
            subrules=self.subrules,
            check_every=-(-self.steps // self.looks),
            seed=int(np.random.SeedSequence([self.seed, part]).generate_state(1)[0]),
            device=self.device,
        )


def propose(
    facts: FactBase, config: ProposalConfig | None = None, executor: Workers | None = None
) -> list[Rule]:
    """Rules that runs propose for every binary relation of a knowledge base, from its training facts alone.

    No body is enumerated: a body is read off the weights of a run at one of a few
    looks, or is such a one without some of its literals. Ranking has use for many
    weak rules, and for rules that are right less often than chance and so speak
    against their head: hand the rules to `complete` as `extra`, which weighs them.

    Parameters
    ----------
    facts
        A knowledge base; only facts that are marked neither valid nor test teach.
    config
        How many runs, and what they see.
    executor
        Works on relations in parallel: any `concurrent.futures.Executor`, or a dask `Client`. Where
        a deadline of `andre.limits` passes, the rules of the relations that are done are returned.

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
    tasks = [Task(f"propose {target}", _OneRelation.__call__, (target,)) for target in targets]
    found: dict[str, list[Rule]] = {}
    with stage("proposing"):
        for name, rules in (
            ((task.name, one(*task.args)) for task in tasks)
            if executor is None
            else run_tasks(executor, one, iter(tasks), time_left())
        ):
            found[name] = rules
            check()
    return [rule for task in tasks for rule in found.get(task.name, ())]


def beyond_short(rules: Iterable[Rule]) -> list[Rule]:
    """The rules of more than two literals, inequalities not counted.

    Where all short bodies are enumerated and the best of them kept, others of that length
    only make weights harder to learn: validation facts of UMLS and Kinship rank worse with them.

    Examples
    --------
    >>> from andre.logic import parse_program
    >>> rules = parse_program("h(X,Y) :- p(X,Y), X \\\\= Y. h(X,Y) :- p(X,Z), p(Z,Y), \\\\+ q(X,Y).")
    >>> print(*beyond_short(rules))
    h(X, Y) :- p(X, Z), p(Z, Y), \\+ q(X, Y).
    """
    return [rule for rule in rules if sum(not literal.is_builtin for literal in rule.body) > 2]


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
        except DataError:  # nothing can be told apart, so nothing can be proposed
            return []
        found = [np.zeros((0, sample.space.m), dtype=np.int8)]
        for part in range(config.parts):
            if out_of_time("proposing"):
                break
            with suppress(DataError):  # a part may hold one class alone
                found.append(self._bodies(sample, language, part))
        return _rules(sample, distinct_bodies(np.concatenate(found)), config)

    def _bodies(self, sample: Sample, language: Language, part: int) -> Codes:
        """Well-formed bodies that runs come to which see one part of a sample, [bodies, m]."""
        config, training = self.config, self.config.training(part)
        columns = self._columns(sample.thinned(config.rows, training.seed), part)
        reader = _Reader(_form(language, sample.space.narrowed(columns)), training, config.likeliest)
        effort = Effort(config.rows, rounds=1)
        result = propose_bodies(sample, training, effort, columns=columns, callbacks=(reader,))
        if result.stopped == "interrupted":
            raise KeyboardInterrupt
        found = reader.bodies()
        bodies = np.zeros((len(found), sample.space.m), dtype=np.int8)
        bodies[:, columns] = found
        return bodies

    def _columns(self, sample: Sample, part: int) -> Bools:
        """The candidates that runs of one part see, [m].

        Every other part shows none about the head's variables alone. Where relations exclude
        one another, these tell nearly all about the label, and runs come to nothing else.
        """
        space = sample.space
        shown: Bools = np.ones(space.m, dtype=np.bool_)
        inner: Bools = np.asarray(space.incidence[len(space.head_variables) :].any(axis=0))  # [m]
        if part % 2 and np.count_nonzero(inner) > 1:
            shown = inner
        rng = np.random.default_rng([self.config.seed, part])
        shown[shown] = informative_columns(sample.columns(shown), self.config.columns, rng)
        return shown

    def _census(self, language: Language) -> Census:
        if language.variables > 3:  # head atoms can be drawn where rules have one variable more
            return take_census(self.facts, language, mode="complete")
        draw = Draw(self.config.heads, self.config.seed)
        return sample_census(self.facts, language, draw, mode="complete")


def informative_columns(sample: Sample, most: int, rng: np.random.Generator | None = None) -> Bools:
    """The candidates with the highest information gain about the label of a row, so many at the most, [m].

    Both classes weigh the same. Rows are looked at and not examples: a literal of a
    longer body holds on some row of almost every example.

    Parameters
    ----------
    rng
        Draws candidates with chances in proportion to their gain, a little for those without;
        None takes the best.
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
    if rng is None:
        kept[np.argsort(-gain, kind="stable")[:most]] = True
    else:
        chance = gain.clip(0) + _UNINFORMED * gain.clip(0).mean() + 1e-12
        kept[rng.choice(m, most, replace=False, p=chance / chance.sum())] = True
    return kept


def _entropy(p: Floats) -> Floats:
    """The entropy of a coin that shows heads with probability p, in nats."""
    return -(p * np.log(p) + (1 - p) * np.log(1 - p))


def _form(language: Language, space: RuleSpace) -> Form:
    """What a language asks of bodies, whose own target must not be negated."""
    return replace(language.form(space), unnegated=tuple(np.flatnonzero(space.recursive).tolist()))


class _Reader(Callback):
    """Collects the bodies that runs hold at every look, not only at the end."""

    def __init__(self, form: Form, training: Config, likeliest: int) -> None:
        self.form = form
        self.certainties = training.selection.certainties
        self.likeliest = likeliest
        self.found: list[Codes] = []  #: settled bodies
        self.likely: list[Codes] = []  #: short bodies, settled or not

    @cached_property
    def _short(self) -> tuple[Codes, Codes]:
        """Well-formed bodies of one and two literals: about the head's variables alone, and about others."""
        bodies, space = self.form.short_bodies(), self.form.space
        others = space.incidence[len(space.head_variables) :].any(axis=0)  # [m]
        inner = (bodies[:, others] != 0).any(axis=1)
        return bodies[~inner], bodies[inner]

    def on_extract(self, state: State) -> None:
        """Take the bodies that the runs hold now."""
        from andre.learning.descent.extraction import extract, likeliest_bodies  # noqa: PLC0415  (runs load torch)

        if state.runs is not None:
            weights, mask = state.runs.weights, state.runs.mask
            self.found.append(distinct_bodies(extract(weights, mask, self.certainties)))
            for short in self._short if self.likeliest else ():
                self.likely.append(likeliest_bodies(weights[mask > 0], short, self.likeliest))

    def bodies(self) -> Codes:
        """All that was read: settled bodies, those with up to two literals less, atoms alone, likely bodies.

        An atom that a run negates is read alone, too: where it holds, it speaks against the head.
        """
        m = self.form.space.m
        settled = np.concatenate([np.zeros((0, m), dtype=np.int8), *self.found])
        longest = self.form.max_body or m
        found = with_shorter(with_shorter(settled[np.count_nonzero(settled, axis=1) <= longest + 2]))
        alone = literal_bodies(np.flatnonzero((settled != 0).any(axis=0))[:, None], m)
        found = distinct_bodies(np.concatenate([found, alone, *self.likely]))
        return found[self.form.admits(found)]


def _rules(sample: Sample, bodies: Codes, config: ProposalConfig) -> list[Rule]:
    """The best of these bodies as rules whose variables stand for different constants.

    They speak for the head, the most significant and the most confident of them; but a
    body of one literal costs little and may rule out most candidates, so that all of
    these stay, those that speak against the head among them.
    """
    crisp = CrispSample.of(sample)
    right, wrong = crisp.body_counts(bodies).T  # [bodies] each
    positive, negative = crisp.totals
    # Positives are facts; a negative that weighs nothing is connected to nothing.
    share, base = (right + 0.5) / (right + wrong + 1), positive / (positive + negative)
    gain = right * np.log(share / base) + wrong * np.log((1 - share) / (1 - base))
    sure = smoothed_confidence(right + wrong, right)
    length = np.count_nonzero(bodies, axis=1)
    good = (right >= config.support) & (share > base)
    chosen = [bodies[(length == 1) & (right + wrong > 0) & (good | (right <= base * (right + wrong)))]]
    for value, most in ((gain, config.rules), (sure, config.confident)):
        order = np.lexsort((length, -value))  # ties to the shorter
        chosen.append(_distinct(crisp, bodies[order[good[order]]], most))
    kept = _distinct(crisp, np.concatenate(chosen), sum(map(len, chosen)))
    return [with_inequalities(rule).tidy() for rule in sample.space.program(kept)]


def _distinct(crisp: CrispSample, bodies: Codes, most: int) -> Codes:
    """The first bodies, so many at the most, of which no two cover the same examples.

    A literal that rules nothing out makes another body of the same meaning,
    and a few hundred of those would leave no room for others.
    """
    seen: set[bytes] = set()
    kept: list[int] = []
    for first in range(0, len(bodies), max(1, most)):
        covers = np.packbits(crisp.covers(bodies[first : first + most]), axis=1)  # [rules, B / 8]
        for place, row in enumerate(covers, first):
            if len(kept) < most and (key := row.tobytes()) not in seen:
                seen.add(key)
                kept.append(place)
        if len(kept) >= most:
            break
    return bodies[kept]
