"""Settings of completion."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from andre.model import NonNegative, Positive, Settings

__all__ = ["Aggregator", "CompletionConfig"]


Count = Annotated[int, Field(ge=1)]

#: How the rules that fire for a candidate make one score.
Aggregator: TypeAlias = Literal["maximum", "noisy-or", "weights"]


class CompletionConfig(Settings):
    """What may be in the pool, and among which ways of scoring validation facts choose.

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
    #: The price of a squared weight, the dearest first: each fit starts from the one before.
    penalties: Annotated[tuple[Positive, ...], Field(min_length=1)] = (30.0, 10.0)
    short: bool = True  #: whether all bodies of one and two literals are enumerated
    bodies: Count = 100  #: bodies per relation and side, by significance
    confident: Annotated[int, Field(ge=0)] = 100  #: and by confidence
    #: Rules with constants per relation and side; None takes 300 in large bases and 30 in small ones.
    constants: Annotated[int, Field(ge=0)] | None = None
    #: Chains of three literals per relation and side, and in large bases as many of four; None takes 40 in
    #: large bases, and in small ones as many as there are fewer short bodies than `bodies`: with few
    #: relations short bodies say little.
    chains: Annotated[int, Field(ge=0)] | None = None
    chain_facts: Count = 150  #: facts of a relation from which chains are found
    support: Count = 2  #: facts that a body with positive evidence is right about
    depth: Count = 5  #: rules that the maximum and noisy-or look at, the best first
    #: Whether the likeliest answer counts as a fact where nothing is known of a constant, so that rules can
    #: build on it. Both are tried where a twentieth of the validation facts are about such constants; None
    #: does so in small bases, and does without in large ones, where it took long and gained nothing.
    chained: Annotated[tuple[bool, ...], Field(min_length=1)] | None = None
    non_negative: bool = False  #: no rule may speak against its head
    queries: Count = 2_000  #: queries of a relation and side that weights are learned from, at most
    cells: Count = 60_000_000  #: entries that all bodies may have together; longer chains stay out first
    seed: Annotated[int, Field(ge=0)] = 0
    valid_share: Annotated[float, Field(ge=0, lt=1)] = 0.1  #: split off where no fact is marked valid
    valid_most: Count = 3_000  #: facts that are split off, at most
    give_back: bool = True  #: whether facts that were split off are learned from once they have chosen
