"""Settings of completion, and what follows from them for a knowledge base of a given size."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Annotated

from pydantic import Field

from andre.completion.graph import Graph
from andre.completion.scoring import Aggregator
from andre.model import Count, NonNegative, Positive, Settings, Whole

#: GB that a process takes before it has read any facts; bytes that a score and an entry of a table take while
#: they are worked on, roughly.
_BARE, _PER_SCORE, _PER_ENTRY = 0.4, 60, 150
#: The effort for directions of a large, sparse base of few relations, and facts per constant below which a
#: base is sparse. Validation facts of WN18RR (2 per constant) rank better with it, of Family (8) they do not.
_EFFORT, _SPARSE = 4.0, 4


class SizeConfig(Settings):
    """From which size on a knowledge base counts as large, and bounds on memory and work."""

    #: Entries of all relations and their inverses as dense matrices, up to which a base is small.
    small: Whole = 10_000_000
    #: Entries (queries x candidates x rules) up to which weights score every candidate, fired for or not.
    table: Whole = 40_000_000
    #: Entries (a body that covers a candidate of a query) that weights are learned from, about, in bases
    #: above `table`.
    cells: Count = 1_500_000
    block: Count = 5_000_000  #: scores (queries x candidates) that are ranked at a time
    walks: Whole = 500_000  #: along a chain of four or five: with more, it says little about any of its pairs
    walks_per_start: Whole = 20_000  #: along any chain, on average over sampled starts
    #: Pairs that chains and pairs of literals cover together from a start, about; bodies of least
    #: significance per pair are left out.
    covered: Count = 50_000
    #: Chains of two steps up to which all are tried, not only those that connect some fact.
    listed: Whole = 2_500
    ranged: Whole = 200  #: answers of a direction up to which all of them are scored in every query
    probes: Whole = 10_000_000  #: walks by which bodies are estimated, where `probed` starts have fewer
    #: Pairs of an answer and another fact of one start that rules with constants are counted on; hubs among
    #: the starts are left out where there are more.
    products: Whole = 30_000_000
    #: Starts of a direction that rules without constants are counted on; more are sampled.
    starts: Count = 50_000
    #: Entries that counting rules without constants may take; with more, starts are sampled.
    counted: Count = 20_000_000
    #: Walks that counting bodies with hundreds of walks from a start may take; with more, fewer starts are
    #: sampled for these bodies.
    walked: Count = 50_000_000
    shared: Count = 10_000  #: a direction with more starts is shared by workers, in blocks of this size
    #: Ways in which walks from both ends of a fact meet; between hubs nearly every chain would be found.
    meetings: Whole = 1_000_000

    def times(self, effort: float) -> SizeConfig:
        """The same sizes with `effort` times the entries and walks for a direction.

        Examples
        --------
        >>> SizeConfig(cells=100, walks=10).times(4).cells
        400
        """
        return self.model_copy(
            update={"cells": round(self.cells * effort), "walks": round(self.walks * effort)}
        )

    def within(self, memory: float) -> SizeConfig:
        """The same sizes, reduced so far that a process takes about this much memory (GB) at most.

        Examples
        --------
        >>> SizeConfig().within(8) == SizeConfig()
        True
        >>> SizeConfig().within(0.7).cells < SizeConfig().cells
        True
        """
        room = max(0.05, memory - _BARE) * 2**30
        return self.model_copy(
            update={
                "block": min(self.block, int(room / 2 / _PER_SCORE)),
                "cells": min(self.cells, int(room / 2 / _PER_ENTRY)),
            }
        )


class CompletionConfig(Settings):
    """Which rules may take part, and which scorers are compared on validation facts.

    A tuple of one value is a choice already made.

    Examples
    --------
    >>> CompletionConfig.read({"smoothing": (5,)}).smoothing
    (5.0,)
    >>> CompletionConfig.read({"smothing": (5,)})
    Traceback (most recent call last):
    andre.errors.ConfigError: there is no setting smothing: is smoothing meant?
    """

    aggregators: Annotated[tuple[Aggregator, ...], Field(min_length=1)] = ("maximum", "noisy-or", "weights")
    smoothing: Annotated[tuple[NonNegative, ...], Field(min_length=1)] = (1.0, 5.0, 20.0)  #: c of N_r/(N_b+c)
    #: L2 penalties of learned weights, the strongest first: each fit starts from the one before.
    penalties: Annotated[tuple[Positive, ...], Field(min_length=1)] = (10.0, 3.0)
    short: bool = True  #: whether all bodies of one and two literals are enumerated
    bodies: Count = 100  #: bodies per relation and side, by significance
    confident: Whole = 100  #: further bodies per relation and side, by confidence
    #: Rules with constants per relation and side; None takes 300 in large bases and 30 in small ones.
    constants: Whole | None = None
    #: Chains of three literals per relation and side, in large bases of few relations as many of four, and in
    #: sparse ones of five;
    #: None takes 40 in large bases, and in small ones as many as there are fewer short bodies than `bodies`:
    #: with few relations short bodies say little.
    chains: Whole | None = None
    chain_facts: Count = 150  #: facts of a relation from which chains of three and more are found
    facts: Count = 500  #: facts of a relation from which shorter bodies are found, in large bases
    probed: Count = 200  #: starts of a relation on which bodies are estimated before they are counted
    #: How many times as many queries, entries, walks and chains, and facts to find chains from, a direction
    #: of a large base gets as is set, and the square root of it times as many bodies; None takes 4 in sparse
    #: bases of few relations, which leave time for it.
    effort: Positive | None = None
    support: Count = 2  #: facts that a body with positive evidence is right about
    depth: Count = 5  #: rules that the maximum and noisy-or look at, the best first
    #: Whether the likeliest answer counts as a fact where nothing is known of a constant, so that rules can
    #: build on it. Both are tried where a twentieth of the validation facts are about such constants; None
    #: does so in small bases, and does without in large ones, where it took long and gained nothing.
    chained: Annotated[tuple[bool, ...], Field(min_length=1)] | None = None
    non_negative: bool = False  #: no rule counts as evidence against its head
    queries: Count = 2_000  #: queries of a relation and side that weights are learned from, at most
    seed: Whole = 0
    valid_share: Annotated[float, Field(ge=0, lt=1)] = 0.1  #: split off where no fact is marked valid
    valid_most: Count = 3_000  #: facts that are split off, at most
    give_back: bool = True  #: whether facts that were split off are learned from once they have chosen
    time_limit: Positive | None = None  #: seconds, after which the best so far is returned
    #: GB that each process may take, about; larger tables are sampled. None takes sizes as they are.
    memory: Positive | None = None
    sizes: SizeConfig = SizeConfig()


@dataclass(frozen=True)
class CompletionPlan:
    """What the size of a knowledge base decides, settled once before anything is counted.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom
    >>> graph = Graph.of(FactBase.from_facts([parse_atom("p(a, b)")]))
    >>> CompletionPlan.of(graph, CompletionConfig()).constants
    30
    >>> CompletionPlan.of(graph, CompletionConfig(sizes=SizeConfig(small=0))).constants
    300
    """

    config: CompletionConfig
    is_small: bool  #: relations are multiplied as dense matrices
    constants: int  #: rules with constants per direction
    any_constant: int  #: rules h(X, c) where b leads from X to anything, per direction
    chains: int  #: chains of each length per direction
    lengths: tuple[int, ...]  #: of chains, in literals
    #: So many times as often as chance a chain must be right in a large base. Hubs join everything with
    #: everything: chains through them cover most of all pairs and are no evidence.
    lift: float
    chained: tuple[bool, ...]  #: whether facts are assumed; the ways to try

    @classmethod
    def of(cls, graph: Graph, config: CompletionConfig) -> CompletionPlan:
        """Settle what the settings leave to the size of the base."""
        count = graph.n_steps
        small, few = graph.n**2 * count <= config.sizes.small, count**2 <= config.sizes.listed
        sparse = len(graph.train) < _SPARSE * graph.n
        effort = 1.0 if small else config.effort or (_EFFORT if few and sparse else 1.0)
        sizes = config.sizes.times(effort)
        if config.memory is not None:
            sizes = sizes.within(config.memory)
        config = config.model_copy(
            update={
                "sizes": sizes,
                "memory": None,
                "effort": 1.0,
                "bodies": round(config.bodies * effort**0.5),
                "confident": round(config.confident * effort**0.5),
                "queries": round(config.queries * effort),
                "chain_facts": round(config.chain_facts * effort),
            }
        )
        short = count + comb(count, 2) + count**2  # one literal, two side by side, two in a row
        # With few relations in a large base few facts are covered by chains of three. With many relations,
        # long chains say what shorter ones and likeness say: validation facts ranked no better by them.
        # In a sparse base of few, what is likely may be five steps away.
        lengths = ((3, 4, 5) if sparse else (3, 4)) if few else ()
        chains = max(0, config.bodies - short) if small else round(40 * effort)
        return cls(
            config=config,
            is_small=small,
            # Each covers few pairs: in a large base many are needed, in a small one other bodies do.
            constants=(30 if small else 300) if config.constants is None else config.constants,
            any_constant=0 if small or config.constants == 0 else 100,
            chains=chains if config.chains is None else config.chains,
            lengths=(3,) if small else lengths,
            lift=3.0,
            chained=config.chained or ((False, True) if small else (False,)),
        )
