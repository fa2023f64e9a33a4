"""A completed knowledge base: its rules, and the answers to queries ranked by them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from andre.arrays import Floats, Ints
from andre.completion.bodies import Body
from andre.completion.calibration import Reliability, in_order
from andre.completion.config import CompletionConfig, CompletionPlan
from andre.completion.directions import count_bodies
from andre.completion.features import Features, RuleCover
from andre.completion.graph import Graph, with_assumed
from andre.completion.packing import LazyFeatures, PackedRules
from andre.completion.pool import as_rule, from_first_argument
from andre.completion.scoring import Aggregator, Scorer, best_confidences, rank_facts
from andre.completion.transfer import move_rules
from andre.errors import DataError, type_of
from andre.evaluation import Negatives, RankReport, Ranks, smoothed_confidence
from andre.facts import FactBase, in_canonical_order, read_query
from andre.files import Saveable
from andre.inference import FactIndex, Search, infer
from andre.logic import Atom, Constant, Evidence, Literal, Program, Rule, Variable, counted, program_html

#: Rules of a relation and side that a notebook shows.
_SHOWN = 3


@dataclass(frozen=True)
class Choice:
    """A scorer that was tried, and the mean reciprocal rank of validation facts by it."""

    aggregator: Aggregator
    smoothing: float
    penalty: float | None
    chained: bool  #: whether rules could build on assumed facts
    mrr: float


@dataclass(frozen=True)
class RankedAnswer:
    """An answer to a query, and the rules that fire for it, the most confident first."""

    atom: Atom
    score: float  #: ranks the candidates of one query; not to be compared between queries
    chance: float  #: of being a fact, calibrated on validation facts
    rules: tuple[Rule, ...]
    rank: int  #: among all candidates that may be listed, from 1

    def __str__(self) -> str:
        by = f", by {self.rules[0]}" if self.rules else ", by no rule"
        return f"{self.rank}. {self.atom}, chance {self.chance:.3f}{by}"


@dataclass(frozen=True, eq=False)
class Completion(Saveable):
    """A completed knowledge base, as `complete` returns it: it ranks answers and names the rules behind them.

    Examples
    --------
    >>> from andre.completion import CompletionConfig, complete
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
    notes: tuple[str, ...] = ()  #: what is odd about the facts or was left out, a sentence each
    elsewhere: bool = False  #: whether rules were learned on other facts, of which their counts are

    @classmethod
    def restored(
        cls, facts: FactBase, assumed: Ints, packed: Mapping[int, PackedRules], **rest: Any
    ) -> Completion:
        """A completion from its facts, assumed ones apart, its rules by step and its other fields.

        The features of a step are made when it is first asked about.
        """
        graph = replace(Graph.of(facts), assumed=assumed)
        elsewhere = rest.get("elsewhere", False)
        features = LazyFeatures(packed, graph, facts, rest["config"], elsewhere=elsewhere)
        return cls(facts, graph, features, **rest)

    def __repr__(self) -> str:
        way = f"{self.scorer.aggregator}{', chained' if self.chained else ''}"
        relations = counted(len(self.graph.relations), "relation")
        rules = counted(sum(len(made.bodies) for made in self.features.values()), "rule")
        return f"Completion({rules} for {relations}, scored by {way})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the surest rules of each relation and side."""
        return program_html(self.surest_rules(_SHOWN), f"The {_SHOWN} surest of each side: {self!r}")

    def transferred(self, facts: FactBase) -> Completion:
        """The same rules on other facts, whose constants may all be others, as inductive splits have them.

        Relations and constants are told by their names. Rules are evaluated on what of
        these facts is marked neither valid nor test; their counts and weights, the
        way of scoring and the calibration of chances stay as they were learned.
        Rules that name constants or relations which these facts lack are left out,
        and no facts are assumed; `notes` says so.

        Examples
        --------
        >>> from andre.completion import CompletionConfig, complete
        >>> from andre.logic import parse_atom
        >>> rows = [f"likes(x{i}, y{i})" for i in range(9)] + [f"knows(y{i}, x{i})" for i in range(10)]
        >>> done = complete(FactBase.from_facts(map(parse_atom, rows)), CompletionConfig(constants=0))
        >>> others = FactBase.from_facts(map(parse_atom, ["knows(bob, ann)", "likes(cy, dee)"]))
        >>> print(done.transferred(others).rank(parse_atom("likes(ann, Y)"))[0].atom)
        likes(ann, bob)
        """
        facts = in_canonical_order(facts)
        graph = Graph.of(facts)
        moved = move_rules(self.features, self.scorer, (self.graph, self.facts), (graph, facts))
        notes = moved.notes
        if self.chained:
            notes += ("rules were learned with assumed facts: none are assumed here",)
        return replace(
            self,
            facts=facts,
            graph=graph,
            features=LazyFeatures(moved.packed, graph, facts, self.config, elsewhere=True),
            scorer=moved.scorer,
            notes=notes,
            elsewhere=True,
        )

    def evaluate(self, mark: str = "test", negatives: Negatives | None = None) -> RankReport:
        """Mean reciprocal rank and Hits of the facts of one mark, filtered, asked from both sides.

        Constants without a training fact are asked about like all others; see
        `notes_on`.

        Parameters
        ----------
        mark
            valid or test.
        negatives
            How many wrong candidates are drawn to rank each fact among, as inductive splits are
            compared by; by default it is ranked among all.
        """
        if not len(self.graph.part(mark)):
            taught = " (those that were split off teach by now: keep them by give_back=false)"
            raise DataError(
                f"no fact is marked {mark}, so there is nothing to rank: mark some, or split them off"
                + (taught if mark == "valid" and self.config.give_back else "")
            )
        return RankReport.from_ranks(Ranks.concat(self.sides(mark, negatives)))

    def notes_on(self, mark: str) -> tuple[str, ...]:
        """What limits the ranks of the facts of one mark: constants that no rule can say anything about."""
        unseen = len(np.setdiff1d(self.graph.part(mark)[:, 1:], self.graph.train[:, 1:]))
        if not unseen:
            return ()
        have = "constant has" if unseen == 1 else "constants have"
        return (f"{unseen} {have} {mark} facts but no training fact: no rule can rank them",)

    @property
    def chained(self) -> bool:
        """Whether rules build on assumed facts."""
        return len(self.graph.assumed) > 0

    def is_assumed(self, atom: Atom) -> bool:
        """Whether an atom counts as a fact though nobody stated it."""
        codes = [self.facts.code(arg.value) for arg in atom.args if isinstance(arg, Constant)]
        if atom.predicate not in self.graph.relations or len(codes) != 2 or None in codes:
            return False
        row = [self.graph.relations.index(atom.predicate), *codes]
        return bool((self.graph.assumed == row).all(axis=1).any())

    def ranks(self, mark: str = "test", negatives: Negatives | None = None) -> dict[int, Ranks]:
        """Filtered ranks of the facts of one mark by step, in the order of `Graph.pairs`."""
        block = self.config.sizes.block
        return rank_facts(self.graph, self.features, self.scorer, mark, block=block, negatives=negatives)

    def sides(self, mark: str = "test", negatives: Negatives | None = None) -> tuple[Ranks, Ranks]:
        """The same ranks with the second argument asked for, and with the first.

        Both list the facts in one order, relation by relation, so that the two ranks
        of a fact can be taken together.
        """
        ranks, count = self.ranks(mark, negatives), len(self.graph.relations)
        asked = [step for step in ranks if step < count]
        second, first = (Ranks.concat(ranks[step + side] for step in asked) for side in (0, count))
        return second, first

    @cached_property
    def rules(self) -> Program:
        """Every rule that scores, with its evidence, the most confident first.

        In a small base that is of train and, where there are such facts, of valid. In
        a large one it is of train, and of pairs whose start has an answer: the second
        argument asked for, or the first where the rule ranks that side only.
        """
        return self.surest_rules()

    def surest_rules(self, most: int | None = None) -> Program:
        """The same rules, or only the `most` most confident ones of each direction."""
        found: dict[Rule | tuple[int, Body], Rule] = {}
        for step, features in self._by_training_facts.items():
            relation = step % len(self.graph.relations)
            counted = zip(features.bodies, features.evidence(self.graph), strict=True)
            for body, evidence in islice(counted, most):
                # A rule may be found from both sides; to compare bodies takes far less time than rules.
                if isinstance(body, Body) and relation not in self._with_given:
                    key: Rule | tuple[int, Body] = (relation, from_first_argument(body, self.graph, step))
                else:
                    key = as_rule(body, self.graph, step, self.facts)
                if key not in found:
                    found[key] = as_rule(body, self.graph, step, self.facts).with_evidence(*evidence)
        rules = tuple(found.values())
        counts = np.array([(rule.evidence[0].n_b, rule.evidence[0].n_r) for rule in rules]).reshape(-1, 2)
        order = np.argsort(-smoothed_confidence(*counts.T), kind="stable")
        return Program(tuple(rules[at] for at in order.tolist()))

    def chances(self, rules: Program) -> Floats:
        """The chance that what a rule derives is a fact, calibrated on validation facts, [rules].

        It goes by the confidence that ranks answers; of the two sides that a
        relation is asked from, the surer one counts.
        """
        return self.reliability.chance(np.array([self._confidences[rule] for rule in rules]))

    def rank(
        self, pattern: Atom | str, limit: int = 10, *, known: bool = False, rules: int = 3
    ) -> list[RankedAnswer]:
        """The best answers for the variable of a pattern, with the rules that fire for them.

        Parameters
        ----------
        pattern
            An atom of a binary relation with one variable, such as `isa(x, Y)`, or the text of one, such
            as "isa(x, ?)".
        limit
            How many answers.
        known
            Whether answers that are known facts already are listed too. No rule is about
            p(x, x), whose score therefore says nothing: a known one comes beyond the limit, too.
        rules
            How many rules for each answer.
        """
        if limit < 1:
            raise DataError(f"the limit of answers is {limit}: give 1 or more")
        if isinstance(pattern, str):
            pattern = read_query(pattern, self.facts)
        step, start = self._query(pattern)
        features = self.features.get(step)
        if features is None:
            return []
        scores = self.scorer.scores(features, np.array([start]))[0]  # [n]
        if not known:
            stated = self.graph.known(step, ("train", "valid", "denied"))[start].indices
            scores[stated] = -np.inf
        ranked = np.argsort(-scores, kind="stable")
        order = ranked[: min(limit, np.count_nonzero(np.isfinite(scores)))]
        if known and start not in order and self.graph.known(step, ("train", "valid"))[start, start]:
            order = np.append(order, start)
        rank = np.argsort(ranked) + 1  # [n]
        cells = features.cells(np.array([start]))
        confidence = features.confidence(self.scorer.smoothing)
        best = best_confidences(cells.groundings, confidence, 1)[:, 0]
        chances = np.zeros(len(scores))  # [n], 0 where no rule fires
        chances[cells.candidate] = self.reliability.chance(best)
        chances = in_order(chances, scores)
        at = {int(candidate): cell for cell, candidate in enumerate(cells.candidate.tolist())}
        found = []
        for candidate in order.tolist():
            cell = at.get(candidate)
            firing = np.sort(cells.groundings[[] if cell is None else [cell]].indices)
            surest = firing[np.argsort(-confidence[firing], kind="stable")[:rules]]
            fired = tuple(self._with_counts(step, features.bodies[place]) for place in surest.tolist())
            end = Constant(self.facts.constants[candidate])
            atom = pattern.substitute(dict.fromkeys(pattern.variables, end))
            score, chance = float(scores[candidate]), float(chances[candidate])
            found.append(RankedAnswer(atom, score, chance, fired, int(rank[candidate])))
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
        known = with_assumed(self.facts, self.graph)
        return Search(FactIndex(known), infer(Program(), known))

    @cached_property
    def _by_training_facts(self) -> Mapping[int, Features]:
        """The features by training facts alone: what was assumed is no evidence."""
        if not self.chained:
            return self.features
        plain, sizes = replace(self.graph, assumed=self.graph.assumed[:0]), self.config.sizes
        if CompletionPlan.of(plain, self.config).is_small:
            packed = {step: PackedRules.of(features) for step, features in self.features.items()}
            return LazyFeatures(packed, plain, self.facts, self.config)
        rules = RuleCover(plain, self.facts.select("train"), is_small=False)
        found = {}
        for step, features in self.features.items():
            held = {
                at: rules.pairs(body, step)
                for at, body in enumerate(features.bodies)
                if isinstance(body, Rule)
            }
            counted, _ = count_bodies(plain, step, features.bodies, held, sizes)
            found[step] = counted.features(plain, sizes)
        return found

    @cached_property
    def _with_given(self) -> frozenset[int]:
        """The relations with given rules, any of which may be spelled like none of our bodies and be one."""
        return frozenset(
            step % len(self.graph.relations)
            for step, features in self.features.items()
            if any(isinstance(body, Rule) for body in features.bodies)
        )

    @cached_property
    def _confidences(self) -> dict[Rule, float]:
        """The confidence that each rule ranks answers by, the higher of both sides."""
        best: dict[Rule, float] = {}
        for step, features in self.features.items():
            confidence = features.confidence(self.scorer.smoothing).tolist()
            for body, sure in zip(features.bodies, confidence, strict=True):
                rule = as_rule(body, self.graph, step, self.facts)
                best[rule] = max(best.get(rule, 0.0), sure)
        return best

    def _with_counts(self, step: int, body: Body | Rule) -> Rule:
        stated = self._by_training_facts[step]
        place = stated.bodies.index(body)
        evidence = Evidence("train", float(stated.n_b[place]), float(stated.n_r[place]))
        return as_rule(body, self.graph, step, self.facts).with_evidence(evidence)

    def _query(self, pattern: Atom) -> tuple[int, int]:
        """The direction of a query, and the constant that it asks from."""
        if not isinstance(pattern, Atom):
            raise DataError(f"{type_of(pattern)} is no question: give a text such as 'isa(x, ?)'")
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
