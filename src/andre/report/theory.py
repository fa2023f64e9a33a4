"""The report of a theory: rules learned from facts, what they derive there, and how test facts rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import asdict, dataclass, replace
from itertools import islice

from andre.evaluation import rank_by_rules
from andre.facts import MARKS, FactBase, Key
from andre.inference import Explainer, Firing, Model, covered_heads, infer
from andre.learning import Definition, Result, Theory
from andre.logic import Atom, Constant, Rule
from andre.report.page import (
    CensusCounts,
    ConfusionCounts,
    Faults,
    Prediction,
    Ranking,
    Rejected,
    ReportData,
    RuleRow,
    TargetReport,
)
from andre.report.result import provenance, target_report
from andre.report.summary import title
from andre.report.words import as_sentence, size
from andre.runs import Origin

#: Atoms of a target that are explained: its facts, then what else is derived.
_EXPLAINED = 2000
#: Atoms of a rule that are listed; those that are not explained without their grounding.
_LISTED = 20_000
#: Atoms up to which those left out are counted.
_COUNTED = 1_000_000


def gather_theory(theory: Theory, origin: Origin | None = None, facts: FactBase | None = None) -> ReportData:
    """A report of everything that was learned from facts.

    Parameters
    ----------
    theory
        What was learned.
    origin
        How it came to be, where that was kept.
    facts
        What it was learned from; without them, sections that need facts are left out and say so.
    """
    plan, names = theory.plan, [definition.target for definition in theory]
    settings = {
        "mode": plan.mode,
        "semantics": plan.semantics,
        "identity": plan.identity,
        "language": asdict(plan.language),
        "config": plan.config.model_dump(mode="json"),
    }
    times = {"learning": sum(definition.seconds for definition in theory)}
    derived = None if facts is None else _Derived(theory, facts)
    targets = tuple(_target(theory, definition, derived) for definition in theory)
    made = provenance(origin, plan.config.seed, times, settings)
    return ReportData(title(names), targets, made)


def _target(theory: Theory, definition: Definition, derived: _Derived | None) -> TargetReport:
    """All sections that a definition can fill."""
    base = target_report(definition.result)
    rules = tuple(RuleRow(rule) for rule in definition.program)
    notes = [] if definition.reason is None else [f"No rule, because {definition.reason}."]
    if definition.advice is not None:
        notes.append(as_sentence(str(definition.advice)))
    if definition.weak is not None:
        notes.append(f"Weak: {definition.weak}.")
    notes += map(as_sentence, definition.notes)
    confusions = [ConfusionCounts("train", **asdict(definition.confusion))]
    if derived is None:
        notes.append(
            "The facts it was learned from were not at hand, so that predictions and what each rule alone "
            "explains are missing: name them by --data."
        )
    else:
        rules, left = derived.rules(definition)
        confusions += derived.held_out(definition.key)
        base = replace(base, ranking=derived.ranking(definition))
        if left:
            notes.append(
                f"{_EXPLAINED:,} atoms are explained here, and {left:,} are not: andre explain says why one "
                "of them is derived."
            )
    found = [_found_by(rule, definition.result) for rule in definition.program]
    own = str(definition.program)  # which may be put together from what no run came to
    runs = tuple(replace(row, is_result=row.program == own) for row in base.runs)
    return replace(
        base,
        summary=_summary(definition),
        faults=_faults(theory, definition),
        rules=tuple(replace(row, found_by=runs) for row, runs in zip(rules, found, strict=True)),
        census=_census(theory, definition),
        runs=runs,
        confusions=tuple(confusions),
        rejected=tuple(Rejected(item.rule, item.reason) for item in definition.rejected),
        notes=tuple(notes),
    )


def _faults(theory: Theory, definition: Definition) -> tuple[Faults, ...]:
    """What the training examples show the program to miss, and to derive though it is not true."""
    seen, found = definition.confusion, definition.misjudged
    missed = Faults("Missed", "True, and derived by no rule.", (), seen.false_negatives)
    wrong = Faults("Wrong", "Derived, and false.", (), seen.false_positives)
    if theory.plan.mode == "complete":
        hint = "Derived, and not stated: they may be missing from the facts, or be false."
        wrong = replace(wrong, title="New", hint=hint)
    both = ((missed, found.missed), (wrong, found.wrong))
    return tuple(replace(kind, examples=tuple(map(str, atoms))) for kind, atoms in both if kind.total)


@dataclass(frozen=True)
class Judged:
    """An atom to explain, and what is known of it."""

    atom: Atom
    holds: bool | None = None
    split: str = ""


def to_prediction(judged: Judged, firing: Firing) -> Prediction:
    """An atom that a rule derives, with the constants its variables stand for.

    Examples
    --------
    >>> from andre.inference import explain
    >>> from andre.logic import parse_program
    >>> facts = FactBase.from_facts([Atom.parse("p(a, b)"), Atom.parse("q(b)")])
    >>> why = explain(parse_program("h(X) :- p(X, Y), q(Y)."), facts, Atom.parse("h(a)"))
    >>> to_prediction(Judged(why.atom, holds=True), why.firings[0]).terms
    ('a', 'b')
    """
    bound = dict(firing.bindings)
    return Prediction(
        text=str(judged.atom),
        holds=judged.holds,
        probability=firing.probability,
        split=judged.split,
        terms=tuple(str(bound.get(variable, variable)) for variable in firing.rule.variables),
        values=tuple(
            1 - premise.probability if premise.literal.negated else premise.probability
            for premise in firing.premises
        ),
    )


def rule_rows(
    rules: Sequence[Rule], explainer: Explainer, atoms: Iterable[Judged], most: int = _LISTED
) -> tuple[RuleRow, ...]:
    """A report's line for every rule, with those of the atoms that it derives, false ones first.

    What a rule alone explains is the share of true training atoms that it derives and no other rule does.

    Parameters
    ----------
    rules
        The program's rules, which the explainer knows.
    explainer
        Over the facts that the program reads.
    atoms
        What to explain, such as everything derived, or the test facts.
    most
        Predictions of a rule that are kept; the others are counted.

    Examples
    --------
    >>> from andre.logic import parse_program
    >>> facts = FactBase.from_facts([Atom.parse("p(a)"), Atom.parse("p(b)")])
    >>> rules = parse_program("h(X) :- p(X).")
    >>> judged = [Judged(Atom.parse("h(a)"), True), Judged(Atom.parse("h(b)"), False)]
    >>> (row,) = rule_rows(rules.rules, Explainer(rules, facts), judged)
    >>> [prediction.text for prediction in row.predictions]
    ['h(b)', 'h(a)']
    """
    found: dict[Rule, list[Prediction]] = {rule: [] for rule in rules}
    only, stated = dict.fromkeys(rules, 0), 0
    for judged in atoms:
        firings = [
            firing
            for firing in explainer.explain(judged.atom, limit=1, depth=1).firings
            if firing.rule in found
        ]
        for firing in firings:
            found[firing.rule].append(to_prediction(judged, firing))
        if judged.holds and judged.split == "train":
            stated += 1
            if len(firings) == 1:
                only[firings[0].rule] += 1
    rows = []
    for rule in rules:
        ranked = sorted(found[rule], key=lambda prediction: prediction.holds is not False)
        alone = only[rule] / stated if stated else None
        left = max(0, len(ranked) - most)
        rows.append(RuleRow(rule, alone, predictions=tuple(ranked[:most]), left_out=left))
    return tuple(rows)


def rank_test_facts(definition: Definition, facts: FactBase) -> Ranking | None:
    """The ranks of a target's test facts as a report shows them; None where there is nothing to rank."""
    report = rank_by_rules(definition.program, facts, definition.key)
    return None if report is None else Ranking.of(report, facts.relations[definition.key].count("test"))


def _with_unexplained(row: RuleRow, rest: Sequence[Judged], covered: Set[Atom]) -> RuleRow:
    """The line of a rule with what else it derives, of what is covered; false ones first."""
    more = [Prediction(str(one.atom), one.holds, split=one.split) for one in rest if one.atom in covered]
    found = sorted((*row.predictions, *more), key=lambda one: (one.holds is not False, not one.terms))
    left = row.left_out + max(0, len(found) - _LISTED)
    return replace(row, predictions=tuple(found[:_LISTED]), left_out=left)


class _Derived:
    """What a theory derives from its facts, by which rules, and how that agrees with the facts."""

    def __init__(self, theory: Theory, facts: FactBase) -> None:
        self._theory, self._facts = theory, facts
        evidence = theory.evidence(facts)
        self._model: Model = infer(theory.program, evidence)
        self._explainer = Explainer(theory.program, evidence, self._model)
        marked = any(relation.count("test") for relation in facts.relations.values())
        self._entailed = theory.evaluate(facts, mark="test").heads if marked and len(theory.program) else {}

    def rules(self, definition: Definition) -> tuple[tuple[RuleRow, ...], int]:
        """A line for every rule, and how many derived atoms were passed over."""
        judged = list(islice(self._judged(definition), _COUNTED))
        rows = rule_rows(definition.program.rules, self._explainer, judged[:_EXPLAINED])
        rest = judged[_EXPLAINED:]
        if rest:
            covered = [self._covered(row.rule) for row in rows]
            true = {one.atom for one in judged if one.holds and one.split == "train"}
            rules = Counter(atom for atoms in covered for atom in atoms & true)
            rows = tuple(
                replace(
                    _with_unexplained(row, rest, atoms),
                    alone=sum(rules[atom] == 1 for atom in atoms & true) / len(true) if true else None,
                )
                for row, atoms in zip(rows, covered, strict=True)
            )
        return rows, len(rest)

    def _covered(self, rule: Rule) -> set[Atom]:
        """What a rule derives in one step from all that holds."""
        codes = covered_heads(rule, self._model.facts).tolist()
        constants, name = self._model.facts.constants, rule.head.predicate
        return {Atom(name, tuple(Constant(constants[code]) for code in one)) for one in codes}

    def held_out(self, key: Key) -> list[ConfusionCounts]:
        """The confusion on test facts, where there are any of this target."""
        counts = self._entailed.get(key)
        return [] if counts is None else [ConfusionCounts("test", **asdict(counts))]

    def ranking(self, definition: Definition) -> Ranking | None:
        """How test facts rank, where there are any of this target and rules may read its facts."""
        return rank_test_facts(definition, self._facts) if self._theory.plan.mode == "complete" else None

    def _judged(self, definition: Definition) -> Iterator[Judged]:
        """The facts of a target, then what is derived and no fact states."""
        key = definition.key
        relation = self._facts.relations.get(key)
        seen: set[Atom] = set()
        if relation is not None:
            marks, denied = relation.column("mark").tolist(), relation.impossible.tolist()
            for place, atom in enumerate(self._facts.atoms(*key)):
                seen.add(atom)
                yield Judged(atom, not denied[place], MARKS[marks[place]])
        # Neither an open world nor a knowledge base that is to be completed says that anything is false, and
        # where false examples are stated, or none was counted, what has no label is not false either.
        is_open = self._facts.world == "open" or self._theory.plan.mode == "complete"
        labelled = relation is not None and relation.negative is not None
        unknown = None if is_open or labelled or not definition.confusion.false_positives else False
        for atom in self._model.derived.atoms(*key):
            if atom not in seen:
                yield Judged(atom, unknown)


def _census(theory: Theory, definition: Definition) -> CensusCounts:
    counts = definition.counts
    what = "rows" if counts.bags is None else "head atoms"
    steps = {"groundings": float(counts.groundings), what: float(counts.examples)}
    if counts.bags is not None:
        steps["distinct bags"] = float(counts.bags)
    steps["distinct rows"] = float(counts.distinct)
    return CensusCounts(
        steps,
        counts.positive,
        counts.negative,
        definition.result.space.m,
        f"semantics {theory.plan.semantics}",
    )


def _summary(definition: Definition) -> str:
    return f"{size(definition.program)}, {definition.confusion.summary}"


def _found_by(rule: Rule, result: Result) -> int | None:
    """How many runs have the rule in their own program, comparisons aside; None where there were none."""
    if not result.runs:
        return None
    wanted = _plain(rule)
    return sum(any(_plain(other) == wanted for other in run.program) for run in result.runs)


def _plain(rule: Rule) -> Rule:
    return Rule(rule.head, tuple(literal for literal in rule.body if not literal.is_builtin))
