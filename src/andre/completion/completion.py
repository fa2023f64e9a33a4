"""A completed knowledge base: its rules, and candidates ranked by them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from andre.completion.assumed import believed
from andre.completion.bodies import Body, to_rule
from andre.completion.calibration import Reliability
from andre.completion.config import Aggregator, CompletionConfig
from andre.completion.features import Features, LateFeatures, members
from andre.completion.graph import Graph
from andre.completion.scoring import Scorer, best_confidences, rank_facts
from andre.errors import DataError
from andre.evaluation import RankReport, Ranks
from andre.facts import FactBase
from andre.files import Saveable
from andre.inference import FactIndex, Search, infer
from andre.logic import Atom, Constant, Evidence, Literal, Program, Rule, Variable

__all__ = ["Candidate", "Choice", "Completion"]


@dataclass(frozen=True)
class Choice:
    """One way of scoring that was tried, and how it ranked validation facts."""

    aggregator: Aggregator
    smoothing: float
    penalty: float | None
    chained: bool  #: whether rules could build on assumed facts
    mrr: float


@dataclass(frozen=True)
class Candidate:
    """A candidate, and the rules that fire for it, the most confident first."""

    atom: Atom
    score: float  #: ranks the candidates of one query; not to be compared between queries
    chance: float  #: of being a fact, calibrated on validation facts
    rules: tuple[Rule, ...]


@dataclass(frozen=True, eq=False)
class Completion(Saveable):
    """What `complete` hands back.

    Examples
    --------
    >>> from andre.completion.config import CompletionConfig
    >>> from andre.completion.complete import complete
    >>> from andre.logic import parse_atom
    >>> rows = [f"likes(x{i}, y{i})" for i in range(9)] + [f"knows(y{i}, x{i})" for i in range(10)]
    >>> facts = FactBase.from_facts(map(parse_atom, rows))
    >>> done = complete(facts, CompletionConfig(aggregators=("maximum",), constants=0))
    >>> found = done.rank(parse_atom("likes(x9, Y)"))[0]
    >>> print(found.atom, "by", found.rules[0])
    likes(x9, y9) by likes(X, Y) :- knows(Y, X), X \\= Y.
    """

    facts: FactBase
    graph: Graph
    features: Mapping[int, Features]  #: by step
    scorer: Scorer
    choices: tuple[Choice, ...]
    reliability: Reliability  #: how often candidates of a confidence are validation facts
    config: CompletionConfig
    seconds: float

    def __repr__(self) -> str:
        n, chained = len(self.graph.relations), ", chained" if self.chained else ""
        return f"Completion({n} relation{'s' * (n != 1)}, scored by {self.scorer.aggregator}{chained})"

    def evaluate(self, mark: str = "test") -> RankReport:
        """Filtered ranks of the facts of one mark, both sides.

        Constants without a training fact are asked about like all others, with
        a warning: no rule says anything about them.
        """
        if not len(self.graph.part(mark)):
            taught = " (those that were split off teach by now: keep them by give_back=false)"
            raise DataError(
                f"no fact is marked {mark}, so there is nothing to rank: mark some, or split them off"
                + (taught if mark == "valid" and self.config.give_back else "")
            )
        unseen = len(np.setdiff1d(self.graph.part(mark)[:, 1:], self.graph.train[:, 1:]))
        if unseen:
            warnings.warn(
                f"{unseen} {'constant has' if unseen == 1 else 'constants have'} {mark} facts but no "
                "training fact: no rule can rank them",
                stacklevel=2,
            )
        return RankReport.from_ranks(Ranks.concat(self.ranks(mark).values()))

    @property
    def chained(self) -> bool:
        """Whether rules build on assumed facts."""
        return len(self.graph.assumed) > 0

    def is_assumed(self, atom: Atom) -> bool:
        """Whether an atom counts as a fact though nobody stated it.

        Examples
        --------
        >>> from andre.completion.config import CompletionConfig
        >>> from andre.completion.complete import complete
        >>> from andre.logic import parse_atom
        >>> rows = [f"near(x{i}, x{(i + 1) % 9})" for i in range(9)]
        >>> rows += [f"in(x{i}, k)" for i in range(8)]
        >>> facts = FactBase.from_facts(map(parse_atom, rows))
        >>> config = CompletionConfig(aggregators=("maximum",), chained=(True,))
        >>> [complete(facts, config).is_assumed(parse_atom(text)) for text in ("in(x8, k)", "in(x7, k)")]
        [True, False]
        """
        codes = [self.facts.code(arg.value) for arg in atom.args if isinstance(arg, Constant)]
        if atom.predicate not in self.graph.relations or len(codes) != 2 or None in codes:
            return False
        row = [self.graph.relations.index(atom.predicate), *codes]
        return bool((self.graph.assumed == row).all(axis=1).any())

    def ranks(self, mark: str = "test") -> dict[int, Ranks]:
        """The same by step: steps below the number of relations ask for the second argument."""
        return rank_facts(self.graph, self.features, self.scorer, mark)

    def rule(self, step: int, body: Body | Rule) -> Rule:
        """A body of a step as a rule."""
        if isinstance(body, Rule):
            return body
        count = len(self.graph.relations)
        seen = body if step < count else body.reversed(self.graph)
        return to_rule(seen, self.graph.relations[step % count], self.graph, self.facts)

    @cached_property
    def rules(self) -> Program:
        """Every rule that scores, with its evidence on train and valid, the most confident first.

        Where no fact is valid, or none is any more, there is no such evidence.
        """
        found: dict[Rule, Rule] = {}
        has_valid = len(self.graph.valid) > 0
        for step, features in self._stated.items():
            covered = features.groundings.copy()
            covered.data = np.ones_like(covered.data, dtype=np.float64)
            marks = {mark: self._facts_of(features, mark) for mark in ("train", "valid")}
            n_b = np.asarray(covered.sum(axis=1)).ravel()
            n_r, new = covered @ marks["train"], covered @ marks["valid"]
            for place, body in enumerate(features.bodies):
                rule = self.rule(step, body)
                if rule not in found:
                    train = Evidence("train", float(n_b[place]), float(n_r[place]))
                    valid = Evidence("valid", float(n_b[place] - n_r[place]), float(new[place]))
                    found[rule] = rule.with_evidence(train, *([valid] if has_valid else []))
        ordered = sorted(found.values(), key=lambda rule: -rule.evidence[0].n_r / (rule.evidence[0].n_b + 5))
        return Program(tuple(ordered))

    def _facts_of(self, features: Features, mark: str) -> NDArray[np.float64]:
        """[U], which pairs of the features are facts of a mark."""
        pairs = self.graph.pairs(features.step, mark)
        stated = np.sort(pairs[:, 0] * features.n + pairs[:, 1])
        return members(features.keys, stated).astype(np.float64)

    def rank(self, pattern: Atom, limit: int = 10, *, known: bool = False, rules: int = 3) -> list[Candidate]:
        """The best candidates for the variable of a pattern, with the rules that fire for them.

        Parameters
        ----------
        pattern
            An atom of a binary relation with one variable, such as `isa(x, Y)`.
        limit
            How many candidates.
        known
            Whether candidates that are known facts already are listed too.
        rules
            How many rules for each candidate.
        """
        step, start = self._query(pattern)
        features = self.features.get(step)
        if features is None:
            return []
        scores = self.scorer.scores(features, np.array([start]))[0]  # [n]
        if not known:
            stated = self.graph.known(step, ("train", "valid", "denied"))[start].indices
            scores[stated] = -np.inf
        order = np.argsort(-scores, kind="stable")[:limit]
        table = features.table(np.array([start]))
        best = best_confidences(table, features.confidence(self.scorer.smoothing), 1)[:, 0]
        chances = self.reliability.chance(best)
        at = {int(candidate): cell for cell, candidate in enumerate(table.candidate.tolist())}
        found = []
        for candidate in order[np.isfinite(scores[order])].tolist():
            fired: tuple[Rule, ...] = ()
            chance = 0.0
            if (cell := at.get(candidate)) is not None:
                row = table.groundings[cell]
                chosen = np.sort(row.indices)[:rules].tolist()
                fired = tuple(self._with_counts(step, features.bodies[place]) for place in chosen)
                chance = float(chances[cell])
            end = Constant(self.facts.constants[candidate])
            atom = pattern.substitute(dict.fromkeys(pattern.variables, end))
            found.append(Candidate(atom, float(scores[candidate]), chance, fired))
        return found

    def groundings(self, rule: Rule, atom: Atom, limit: int = 3) -> list[tuple[Literal, ...]]:
        """Ways in which training and assumed facts satisfy the body of a rule for an atom.

        Comparisons are left out.
        """
        bindings: dict[Variable, Constant] = {}
        for arg, constant in zip(rule.head.args, atom.args, strict=True):
            if isinstance(arg, Variable) and isinstance(constant, Constant):
                bindings[arg] = constant
        found = islice(self._search.groundings(rule, bindings, []), limit)
        return [
            tuple(literal for literal in rule.substitute(dict(values)).body if not literal.is_builtin)
            for values in found
        ]

    @cached_property
    def _search(self) -> Search:
        known = believed(self.facts, self.graph)
        return Search(FactIndex(known), infer(Program(), known))

    @cached_property
    def _stated(self) -> Mapping[int, Features]:
        """The same bodies by training facts alone: what was assumed is no evidence."""
        if not self.chained:
            return self.features
        bodies = {step: features.bodies for step, features in self.features.items()}
        plain = replace(self.graph, assumed=self.graph.assumed[:0])
        return LateFeatures(bodies, plain, self.facts.select("train"))

    def _with_counts(self, step: int, body: Body | Rule) -> Rule:
        stated = self._stated[step]
        place = stated.bodies.index(body)
        evidence = Evidence("train", float(stated.n_b[place]), float(stated.n_r[place]))
        return self.rule(step, body).with_evidence(evidence)

    def _query(self, pattern: Atom) -> tuple[int, int]:
        """The step that a pattern asks for, and the constant it asks from."""
        if pattern.predicate not in self.graph.relations or pattern.arity != 2:
            names = ", ".join(self.graph.relations[:8])
            raise DataError(f"{pattern} is of no binary relation of these facts: choose from {names}, ...")
        places = [place for place, arg in enumerate(pattern.args) if isinstance(arg, Variable)]
        if len(places) != 1:
            raise DataError(f"{pattern} must leave one argument open, as in {pattern.predicate}(x, Y)")
        constant = pattern.args[1 - places[0]]
        assert isinstance(constant, Constant)
        code = self.facts.code(constant.value)
        if code is None:
            raise DataError(f"no fact mentions {constant}: check its spelling")
        relation = self.graph.relations.index(pattern.predicate)
        return (relation if places[0] == 1 else relation + len(self.graph.relations)), code
