"""Rules that were learned on one graph, for another with other constants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from andre.arrays import Floats
from andre.completion.bodies import ANY, Body
from andre.completion.features import Features
from andre.completion.graph import Graph
from andre.completion.packing import PackedRules
from andre.completion.scoring import Scorer
from andre.facts import FactBase
from andre.logic import Constant, Rule


@dataclass(frozen=True, eq=False)
class MovedRules:
    """The rules of every direction that two graphs have, as the other numbers relations and constants."""

    packed: Mapping[int, PackedRules]  #: by step of the other graph
    scorer: Scorer  #: with the weights of the rules that are left
    notes: tuple[str, ...]  #: what is left out, a sentence each


def move_rules(
    features: Mapping[int, Features],
    scorer: Scorer,
    source: tuple[Graph, FactBase],
    to: tuple[Graph, FactBase],
) -> MovedRules:
    """Translate rules with their counts and weights; those that the other graph has no names for stay out.

    Parameters
    ----------
    features
        The rules by step.
    source, to
        The graph that they were learned on, and the other one, each with its facts.
    """
    names, graph = _Names.of(source, to), to[0]
    packed, weights, dense = dict[int, PackedRules](), dict[int, Floats](), list[int]()
    total = unnamed = unrelated = 0
    for step, new in names.steps.items():
        if step not in features:
            continue
        own = features[step]
        bodies = [names.moved(body) for body in own.bodies]
        kept = [place for place, body in enumerate(bodies) if isinstance(body, Body | Rule)]
        total += len(bodies)
        unnamed += bodies.count("constant")
        unrelated += bodies.count("relation")
        starts = max(1, int(source[0].has_answer(step).sum()))
        plain = PackedRules.pack(
            [body for body in bodies if isinstance(body, Body | Rule)],
            own.n_b[kept],
            own.n_r[kept],
            float(own.n_b[kept].sum() / starts),
        )
        packed[new] = replace(plain, fires=own.fires[kept])
        if (learned := scorer.weights.get(step)) is not None:
            # After the weights of the bodies come those of what does not come from one body.
            weights[new] = np.concatenate([learned[kept], learned[len(bodies) :]])
        if scorer.is_dense(own):
            dense.append(new)
    moved = replace(scorer, weights=weights, dense=tuple(dense))
    return MovedRules(packed, moved, tuple(_notes(graph, packed, total, unnamed, unrelated)))


def _notes(
    graph: Graph, packed: Mapping[int, PackedRules], total: int, unnamed: int, unrelated: int
) -> Iterator[str]:
    for count, what in ((unnamed, "name constants"), (unrelated, "read relations")):
        if count:
            yield f"{count:,} of {total:,} rules {what} that these facts lack, and are left out"
    ruled = {step % len(graph.relations) for step in packed}
    if new := [name for place, name in enumerate(graph.relations) if place not in ruled]:
        more = " and others" if len(new) > 5 else ""
        yield f"nothing was learned about {', '.join(new[:5])}{more}: all candidates tie there"


@dataclass(frozen=True, eq=False)
class _Names:
    """What the steps and constants of one graph are in another."""

    steps: Mapping[int, int]  #: those of relations that both have
    source: FactBase
    to: FactBase

    @classmethod
    def of(cls, source: tuple[Graph, FactBase], to: tuple[Graph, FactBase]) -> _Names:
        (one, facts), (two, others) = source, to
        places = {name: place for place, name in enumerate(two.relations)}
        both = [(place, places[name]) for place, name in enumerate(one.relations) if name in places]
        steps = dict(both) | {old + len(one.relations): new + len(two.relations) for old, new in both}
        return cls(steps, facts, others)

    def moved(self, body: Body | Rule) -> Body | Rule | str:
        """The same body on the other graph, or what that lacks: a constant or a relation."""
        if isinstance(body, Rule):
            terms = [
                term for atom in (body.head, *(literal.atom for literal in body.body)) for term in atom.args
            ]
            named = [term for term in terms if isinstance(term, Constant)]
            return "constant" if any(self.to.code(term.value) is None for term in named) else body
        if body.shape in {"path", "both"}:
            if not self.steps.keys() >= set(body.steps):
                return "relation"
            steps = [self.steps[step] for step in body.steps]
            return Body(body.shape, tuple(sorted(steps) if body.shape == "both" else steps))
        step, end, head = body.steps
        if step not in self.steps:
            return "relation"
        codes = [ANY if code == ANY else self.to.code(self.source.constants[code]) for code in (end, head)]
        if None in codes:
            return "constant"
        return Body(body.shape, (self.steps[step], *(code for code in codes if code is not None)))
