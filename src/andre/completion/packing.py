"""The rules of a direction as arrays: half a million are saved and opened without an object for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats
from andre.completion.bodies import ANY, LONGEST, Body, Shape, covered_pairs
from andre.completion.config import CompletionConfig, CompletionPlan
from andre.completion.directions import DirectionRules
from andre.completion.features import Features, OnDemandFeatures, RuleCover, features_of
from andre.completion.graph import Graph, with_assumed
from andre.facts import FactBase
from andre.logic import Rule

_SHAPES: tuple[Shape, ...] = get_args(Shape)
#: In place of the steps that a body does not have.
_NONE = -2


@dataclass(frozen=True, eq=False)
class PackedRules:
    """The bodies of a direction and their counts.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> graph = Graph.of(FactBase.from_facts([parse_atom("p(a, b)")]))
    >>> bodies = (Body("path", (1,)), Body("to", (0, 1, 0)))
    >>> found = DirectionRules(0, bodies, np.zeros(2), np.zeros(2)).features(graph, CompletionConfig().sizes)
    >>> PackedRules.of(found).bodies == bodies
    True
    """

    codes: NDArray[
        np.int32
    ]  #: [K, 6], number of the shape and its steps; after the last shape, a given rule's number
    given: tuple[Rule, ...]
    n_b: Floats  #: [K]
    n_r: Floats  #: [K]
    per_start: float
    fires: Floats = field(default_factory=lambda: np.zeros(0))  #: [K]

    @classmethod
    def of(cls, features: Features) -> PackedRules:
        """Pack the rules of a direction."""
        per_start = features.per_start if isinstance(features, OnDemandFeatures) else 0.0
        return replace(cls.pack(features.bodies, features.n_b, features.n_r, per_start), fires=features.fires)

    @classmethod
    def pack(cls, bodies: Sequence[Body | Rule], n_b: Floats, n_r: Floats, per_start: float) -> PackedRules:
        """Pack some bodies with their counts."""
        codes = np.full((len(bodies), 1 + LONGEST), _NONE, dtype=np.int32)
        given: list[Rule] = []
        for row, body in zip(codes, bodies, strict=True):
            if isinstance(body, Rule):
                row[:2] = len(_SHAPES), len(given)
                given.append(body)
            else:
                row[0] = _SHAPES.index(body.shape)
                row[1 : len(body.steps) + 1] = body.steps
        return cls(codes, tuple(given), n_b, n_r, per_start)

    @property
    def bodies(self) -> tuple[Body | Rule, ...]:
        """The bodies again."""
        return tuple(
            self.given[first]
            if shape == len(_SHAPES)
            else Body(_SHAPES[shape], tuple(step for step in (first, *rest) if step != _NONE))
            for shape, first, *rest in self.codes.tolist()
        )

    def fits(self, graph: Graph) -> bool:
        """Whether all shapes, steps, constants and given rules are there, as in what `pack` made.

        Examples
        --------
        >>> from andre.logic import parse_atom
        >>> graph = Graph.of(FactBase.from_facts([parse_atom("p(a, b)")]))
        >>> bodies = [Body("path", (1, 0)), Body("to", (0, ANY, 1))]
        >>> kept = PackedRules.pack(bodies, np.ones(2), np.ones(2), 0.0)
        >>> kept.fits(graph), replace(kept, codes=kept.codes + 1).fits(graph)
        (True, False)
        >>> replace(kept, codes=kept.codes[:, :-1]).fits(graph)  # as runs of older versions hold them
        True
        """
        codes, given = self.codes, len(_SHAPES)
        # Runs of older versions hold a step less.
        if codes.ndim != 2 or codes.shape[1] not in (LONGEST, 1 + LONGEST):
            return False
        if not len(codes) == len(self.n_b) == len(self.n_r):
            return False
        if len(self.fires) not in (0, len(codes)):
            return False
        shape, steps = codes[:, 0], codes[:, 1:]
        there = steps != _NONE
        lengths = there.sum(axis=1)
        is_step = (steps >= 0) & (steps < len(graph.steps))  # [K, 5]
        constant = steps[:, 1:3]
        with_constants = is_step[:, 0] & (lengths == 3) & (constant < graph.n).all(axis=1)
        with_constants &= (constant[:, 1] >= 0) & ((constant[:, 0] >= 0) | (constant[:, 0] == ANY))
        right = np.select(
            [shape == _SHAPES.index("path"), shape == _SHAPES.index("both"), shape == given],
            [
                lengths >= 1,
                lengths == 2,
                (steps[:, 0] >= 0) & (steps[:, 0] < len(self.given)) & (lengths == 1),
            ],
            with_constants,
        )
        walked = (shape == _SHAPES.index("path")) | (shape == _SHAPES.index("both"))
        in_a_row = (there[:, :-1] >= there[:, 1:]).all(axis=1)
        known = (shape >= 0) & (shape <= given)
        return bool((known & right & in_a_row & (~walked | (is_step | ~there).all(axis=1))).all())

    def __len__(self) -> int:
        return len(self.codes)


class LazyFeatures(Mapping[int, Features]):
    """The features of every step, made when a step is first asked about: a query needs one step only.

    Those of a small base are counted again with all their pairs, unless they were counted elsewhere;
    those of a large one have their counts.

    Parameters
    ----------
    packed
        By step.
    graph, facts
        What they are counted on, as steps and as relations.
    config
        The settings that they were learned by.
    elsewhere
        Whether the counts are of other facts, and stay.
    """

    def __init__(
        self,
        packed: Mapping[int, PackedRules],
        graph: Graph,
        facts: FactBase,
        config: CompletionConfig,
        *,
        elsewhere: bool = False,
    ) -> None:
        self._packed, self._graph, self._sizes = packed, graph, config.sizes
        is_small = CompletionPlan.of(graph, config).is_small
        self._is_counted = is_small and not elsewhere
        self._rules = RuleCover(graph, with_assumed(facts, graph), is_small=is_small)
        self._found: dict[int, Features] = {}

    def __getitem__(self, step: int) -> Features:
        if step not in self._found:
            self._found[step] = self._made(step, self._packed[step])
        return self._found[step]

    def _made(self, step: int, packed: PackedRules) -> Features:
        bodies = packed.bodies
        held = {
            place: self._rules.pairs(body, step)
            for place, body in enumerate(bodies)
            if isinstance(body, Rule)
        }
        if self._is_counted:
            covered = [
                covered_pairs(body, self._graph) if isinstance(body, Body) else held[place]
                for place, body in enumerate(bodies)
            ]
            return features_of(bodies, covered, self._graph, step)
        rules = DirectionRules(step, bodies, packed.n_b, packed.n_r, packed.fires, packed.per_start)
        return rules.features(self._graph, self._sizes, held)

    def __iter__(self) -> Iterator[int]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)
