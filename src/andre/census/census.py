"""The census: facts become weighted distinct rows, or weighted distinct bags of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress

import numpy as np

from andre.arrays import Bools, Counts, Floats, Ints, distinct_rows, number_keys
from andre.census.bags import BagCollector, Weigher, informative_columns
from andre.census.cells import UNKNOWN, Cells, value_of
from andre.census.counting import GraphJoins, Joins, count_classes
from andre.census.draw import draw_cells, draw_heads
from andre.census.graph import FactGraph
from andre.census.inner import join_inner
from andre.census.labelling import build_graph, seen_constants
from andre.census.listing import list_classes
from andre.census.plan import CensusPlan, Draw, Method, Mode, Request, Semantics, plan_census
from andre.census.profile_bags import collect_bags
from andre.census.strata import Classes
from andre.errors import ConfigError, DataError
from andre.facts import FactBase, key_text, training_facts
from andre.limits import check
from andre.samples import Language, Membership, RuleSpace, Sample, Valuations

#: Fewer head atoms cannot stand for all: half of them are not stated, and these are of four kinds.
_FEWEST_DRAWN = 8


@dataclass(frozen=True, eq=False)
class Census:
    """Distinct rows with their weights; in `exists`, distinct bags of rows with theirs.

    Examples
    --------
    >>> from andre.logic import Atom, Constant
    >>> names = [Constant(name) for name in ("ann", "bob", "cy", "dan")]
    >>> facts = FactBase.from_facts([Atom("p", pair) for pair in zip(names, names[1:])])
    >>> census = take_census(facts, Language.preset("paper", "p/2"), semantics="rows")
    >>> census.groundings, census.dropped, census.distinct, census.positive, census.negative
    (36, 2, 12, 10, 24)
    """

    space: RuleSpace  #: over the candidates that can tell rows apart
    plan: CensusPlan  #: how it was taken, and why so
    cells: Cells  #: [U, m], the distinct rows: truth values as levels, a byte each
    positives: Floats | Ints  #: [U] in rows, [B] in exists; integers unless labels are probabilities
    negatives: Floats | Ints  #: the same
    groundings: int
    dropped: int | float  #: positives of rows whose atoms are all false, or that object identity rules out
    heads: Ints | None = None  #: [B], in exists how many head atoms have each bag
    members: Membership | None = None  #: in exists the rows of each bag, as indices into `cells`
    corrupting: bool = False  #: whether negatives weigh the facts they corrupt, not the atoms they are
    sampled: int | None = None  #: how many head atoms were drawn, where these stand for all

    @property
    def semantics(self) -> Semantics:
        """What an example is: a grounding (`rows`) or a head atom (`exists`)."""
        return self.plan.request.semantics

    @cached_property
    def valuations(self) -> Valuations:
        """The distinct rows as truth values, [U, m]; NaN is unknown."""
        return value_of(self.cells)

    @property
    def distinct(self) -> int:
        """How many distinct rows there are, U."""
        return len(self.cells)

    @property
    def n_examples(self) -> int | float:
        """How many examples there are: groundings less the dropped ones, or head atoms."""
        return self.groundings - self.dropped if self.heads is None else int(self.heads.sum())

    @property
    def positive(self) -> int | float:
        """The weight of all positive examples."""
        return _total(self.positives)

    @property
    def negative(self) -> int | float:
        """The weight of all negative examples."""
        return _total(self.negatives)

    def to_sample(self) -> Sample:
        """The examples as a learner takes them."""
        positives, negatives = (np.asarray(w, dtype=np.float64) for w in (self.positives, self.negatives))
        weighed = self.corrupting and self.heads is not None
        heads = np.asarray(self.heads, dtype=np.float64) if weighed else None
        return Sample(self.space, self.valuations, positives, negatives, self.members, heads)

    def require_both_classes(self) -> Census:
        """The census itself; refused where there is no positive or no negative example."""
        for weight, kind in ((self.positive, "positive"), (self.negative, "negative")):
            if not weight > 0:
                raise DataError(
                    f"{key_text(self.space.head.key)} has no {kind} examples in {self.semantics}: "
                    + self._remedy(kind)
                )
        return self

    def _remedy(self, kind: str) -> str:
        """What to do where there are no examples of a kind."""
        if (self.semantics, kind) == ("rows", "negative"):
            return (
                "its head ranges over the arguments of its own facts, so state what is false, use "
                "semantics exists, or unary_negatives for a head of one argument"
            )
        if kind == "positive" and self.plan.request.distinct and self.space.head.arity > 1:
            return (
                "variables stand for different constants, and its true facts repeat one, as p(a, a) does; "
                "set identity to false, or use mode define"
            )
        return "add facts of both kinds, or use the other semantics"

    def split(self, share: float, seed: int) -> tuple[Census, Census]:
        """Divide the examples at random: a share of them, and the rest.

        Every choice of examples is equally likely. In `exists`, head atoms are
        divided, and the weight of a bag goes with the number of its atoms.
        """
        if not 0 < share < 1:
            raise ConfigError(f"the share {share:g} divides nothing: give a number between 0 and 1")
        rng = np.random.default_rng(seed)
        if self.heads is None:
            cells = np.concatenate([self.positives, self.negatives])
            if cells.dtype == np.float64:
                raise ConfigError("rows with probabilities as labels cannot be counted out: split the facts")
            drawn = draw_cells(cells, share, rng)
            one, two = np.split(drawn, 2), np.split(cells - drawn, 2)
            return self._part(one[0], one[1], None), self._part(two[0], two[1], None)
        drawn = draw_cells(self.heads, share, rng)
        part = np.asarray(drawn, dtype=np.float64) / self.heads
        one = [part * self.positives, part * self.negatives]
        two = [self.positives - one[0], self.negatives - one[1]]
        return self._part(one[0], one[1], drawn), self._part(two[0], two[1], self.heads - drawn)

    def _part(self, positives: Floats | Ints, negatives: Floats | Ints, heads: Ints | None) -> Census:
        part = replace(self, positives=positives, negatives=negatives, heads=heads, dropped=0)
        return replace(part, groundings=int(positives.sum() + negatives.sum())) if heads is None else part


def _total(weights: Counts) -> int | float:
    total = weights.sum()
    return int(total) if weights.dtype == object else total.item()


def take_census(
    facts: FactBase,
    language: Language,
    *,
    semantics: Semantics = "exists",
    mode: Mode = "define",
    identity: bool | None = None,
    memory_limit: int = 4 << 30,
    method: Method = "auto",
) -> Census:
    """Count the distinct rows or bags of all groundings of a language, listing as few of them as possible.

    Parameters
    ----------
    semantics
        `rows`: every grounding is an example, as in the paper. `exists`: every
        head atom is, with the set of its rows; a cell is unknown where the atom
        is the head atom itself.
    mode
        Over which head atoms `exists` ranges: in `define` over the constants of
        the arguments' types, all that is not stated being false; in `complete`
        over all constants, an atom that is not stated weighing as many facts
        as it corrupts. Where negative examples are stated, only these count.
    identity
        Whether all variables stand for different constants; by default in
        `exists` with mode `complete`.
    memory_limit
        How many bytes tables may take.
    method
        `list` visits every grounding; `count` joins wherever facts are unary
        and binary and a rule has at most two variables more than its head;
        `auto` takes what is shorter. The census is the same.

    Raises
    ------
    DataError, ConfigError
        Where target, language and facts do not fit, or tables outgrow the limit.
    OutOfTimeError
        Inside `andre.limits.limited`, where time is up before all is counted.
    """
    request = Request(semantics, mode, identity, memory_limit, method)
    facts = _taught(facts, language)
    graph = ground(facts, language, semantics, mode)
    return carry_out(facts, graph, plan_census(graph, language.variables, request))


def sample_census(
    facts: FactBase,
    language: Language,
    draw: Draw,
    *,
    mode: Mode = "define",
    identity: bool | None = None,
    memory_limit: int = 4 << 30,
) -> Census:
    """Take the census in `exists` of a stratified sample of head atoms that stand for all.

    Half of them are stated, and the others are evenly of those that something
    connects and those that nothing does. The bags are exact. Weights stand for
    all head atoms: their number is exact, and their weight right in expectation.
    Where there are no more than `draw.most` head atoms, this is `take_census`.

    Parameters
    ----------
    language
        Facts must be unary and binary, and a rule may have one variable more than its head.
    draw
        How many head atoms are drawn, 8 or more, and which of them apart from all others.
    mode, identity, memory_limit
        As in `take_census`.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> facts = FactBase.from_facts([parse_atom(f"next(c{i}, c{i + 1})") for i in range(99)])
    >>> census = sample_census(facts, Language("next/2"), Draw(200), mode="complete")
    >>> census.sampled, census.n_examples, census.positive
    (200, 9900, 99.0)
    """
    request = Request("exists", mode, identity, memory_limit)
    if draw.most < _FEWEST_DRAWN:
        raise ConfigError(
            f"{draw.most} head atoms cannot stand for all kinds of them: draw {_FEWEST_DRAWN} or more"
        )
    facts = _taught(facts, language)
    graph = ground(facts, language, "exists", mode)
    return carry_out(facts, graph, plan_census(graph, language.variables, request, draw))


def _taught(facts: FactBase, language: Language) -> FactBase:
    """What a census reads, which is nothing that is marked; refused where the target has no such fact."""
    language.key(facts)
    return training_facts(facts, held_out=language.held_out)


def ground(facts: FactBase, language: Language, semantics: Semantics, mode: Mode) -> FactGraph:
    """The graph of the training facts that a language reads, with the domains of its head.

    Raises
    ------
    DataError, ConfigError
        Where language and facts do not fit, or there are fewer constants than variables.
    """
    space = language.space(facts)
    constants = np.arange(len(facts.constants)) if language.held_out else seen_constants(facts)
    if language.variables > len(constants):
        raise DataError(
            f"there are {language.variables} variables for {len(constants)} constants: use fewer variables"
        )
    return build_graph(facts, space, constants, head_domains(facts, language, semantics, mode, constants))


def head_domains(
    facts: FactBase,
    language: Language,
    semantics: Semantics = "exists",
    mode: Mode = "define",
    constants: Ints | None = None,
) -> list[Ints]:
    """For each argument of the head, the codes of the constants it ranges over.

    Parameters
    ----------
    constants
        The domain in mode `complete`, and in `rows` that of a head of one argument where the
        language widens it; by default all constants of training facts.
    """
    key, facts = language.key(facts), facts.select("train")
    target = facts.relations[key]
    widened = language.unary_negatives and key[1] == 1 and target.negative is None
    if semantics == "rows" and not widened:
        return [np.unique(column).astype(np.int64) for column in target.codes.T]
    if semantics == "rows" or mode == "complete":
        return [seen_constants(facts) if constants is None else constants] * key[1]
    types = language.types_of(facts)
    found: dict[str, list[Ints]] = {}
    for other, relation in facts.relations.items():
        for kind, column in zip(types[other], relation.codes.T, strict=True):
            found.setdefault(kind, []).append(np.unique(column))
    return [np.unique(np.concatenate(found[kind])).astype(np.int64) for kind in types[key]]


def carry_out(facts: FactBase, graph: FactGraph, plan: CensusPlan) -> Census:
    """Take the census that a plan describes.

    Raises
    ------
    DataError
        Where tables outgrow the memory limit, or no candidate is true anywhere.
    """
    weigh = Weigher.of(facts, graph, corrupting=plan.corrupting)
    if plan.request.semantics == "rows":
        return count_rows(graph, plan, weigh)
    into = BagCollector(graph, plan.request.memory_limit)
    drawn = None
    if plan.steps[0].strategy == "profiles":
        arity, identity = graph.space.head.arity, plan.request.distinct
        inner = plan.variables > arity
        if plan.draw is not None:
            drawn = draw_heads(graph, weigh, plan.draw, inner=inner, identity=identity)
        collect_bags(into, weigh, drawn, inner=inner, identity=identity)
        groundings = plan.n_heads * (graph.n - (arity if identity else 0) if inner else 1)
    else:
        groundings = _collect_listed(graph, plan, into, weigh)
    whole = _census_of_bags(into, groundings, plan, weigh)
    return whole if drawn is None else replace(whole, sampled=len(drawn))


def _classes(
    graph: FactGraph, plan: CensusPlan, *, heads: bool, joins: Joins | None = None
) -> Iterator[Classes]:
    """The counted classes of all strata, each by the strategy of its step."""
    memory, identity = plan.request.memory_limit, plan.request.distinct
    for step in plan.steps:
        check()
        if step.strategy == "join":
            yield from join_inner(graph, heads=heads, identity=identity, memory=memory)
        elif step.strategy == "list":
            yield list_classes(graph, step.strata[0], heads=heads, memory=memory)
        else:
            own = joins or GraphJoins(graph, memory, step.duckdb)
            yield count_classes(graph, step.strata[0], own, big_integers=step.big_integers)


def count_rows(graph: FactGraph, plan: CensusPlan, weigh: Weigher, joins: Joins | None = None) -> Census:
    """Merge the rows of all classes, and drop the positives of rows whose atoms are all false.

    Parameters
    ----------
    joins
        Who joins the pairs of the graph, where that is not in memory.
    """
    found = list(_classes(graph, plan, heads=False, joins=joins))
    rows = np.concatenate([classes.cells(graph, plan.self_support) for classes in found])
    truth = np.concatenate([classes.truth(graph) for classes in found])
    count: Counts = np.concatenate([classes.counts for classes in found])
    check()
    columns = informative_columns([rows], graph)
    first, group = distinct_rows(rows[:, columns])
    weight_for, against = np.nan_to_num(truth), weigh.negatives(truth, np.ones(len(truth)))
    if np.isin(truth[~np.isnan(truth)], (0.0, 1.0)).all():  # keep to integers, which are exact
        weight_for, against = weight_for.astype(np.int64), against.astype(np.int64)
    positives, negatives = (np.zeros(len(first), dtype=(count[:1] * weight_for[:1]).dtype) for _ in range(2))
    np.add.at(positives, group, count * weight_for)
    np.add.at(negatives, group, count * against)
    stated = np.array([not atom.is_builtin for atom in graph.space.atoms])[columns]
    distinct = rows[first][:, columns]
    blank = ~((distinct > 0) & (distinct != UNKNOWN))[:, stated].any(axis=1)
    dropped = positives[blank].sum()
    positives[blank] = 0
    kept = np.flatnonzero((positives != 0) | (negatives != 0))
    return Census(
        _narrowed(graph.space, columns),
        plan,
        distinct[kept],
        positives[kept],
        negatives[kept],
        groundings=int(count.sum()),
        dropped=int(dropped) if positives.dtype != np.float64 else float(dropped),
    )


def _collect_listed(graph: FactGraph, plan: CensusPlan, into: BagCollector, weigh: Weigher) -> int:
    """Put the bags of all head atoms into a collector by visiting each, and count the groundings."""
    found = list(_classes(graph, plan, heads=True))
    keys, number = number_keys(np.concatenate([one.heads for one in found]), graph.n**graph.space.head.arity)
    truth = np.full(len(keys), np.nan)
    truth[number] = np.concatenate([one.truth(graph) for one in found])
    weight = weigh.weight_unstated(keys // graph.n, keys % graph.n)
    into.open(np.nan_to_num(truth), weigh.negatives(truth, weight), np.ones(len(keys), dtype=np.int64))
    begin = 0
    for one in found:
        into.put(number[begin : begin + len(one)], one)
        begin += len(one)
    return int(sum(one.counts.sum() for one in found))


def _census_of_bags(into: BagCollector, groundings: int, plan: CensusPlan, weigh: Weigher) -> Census:
    graph, bags = into.graph, into.finish()
    loops = plan.request.distinct and graph.space.head.arity == 2
    dropped = np.nan_to_num(graph.label_truth[graph.labels]).sum() if loops else 0
    return Census(
        _narrowed(graph.space, bags.columns),
        plan,
        bags.cells,
        bags.positives,
        bags.negatives,
        groundings=groundings,
        dropped=float(dropped) if dropped % 1 else int(dropped),
        heads=bags.heads,
        members=bags.members,
        corrupting=weigh.out is not None,
    )


def _narrowed(space: RuleSpace, columns: Bools) -> RuleSpace:
    """The space over some of its candidates, one of which must be no comparison."""
    if all(atom.is_builtin for atom in compress(space.atoms, columns)):
        raise DataError(
            f"no candidate for the body of {space.head} is true anywhere: "
            "allow more variables, relations or recursion"
        )
    return space.narrowed(columns)
