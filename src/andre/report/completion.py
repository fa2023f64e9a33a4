"""The report of a completed knowledge base: rules by relation, how they are scored, how test facts rank."""

from __future__ import annotations

from collections.abc import Iterator

from andre.completion import Choice, Completion
from andre.evaluation import RankReport, Ranks
from andre.facts import FactBase
from andre.inference import covered_heads
from andre.logic import Atom, Constant, Program, Rule, Variable
from andre.report.gather import provenance
from andre.report.page import Prediction, Ranking, ReportData, RuleRow, Scoring, TargetReport
from andre.report.predictions import chances
from andre.report.summary import rules_by_target, scoring, size
from andre.report.theory import ranking
from andre.runs import Origin

__all__ = ["gather_completion"]


#: Rules of a relation that are listed, and predictions of all rules together that are explained.
_RULES, _EXPLAINED = 40, 2000


def gather_completion(completion: Completion, origin: Origin | None = None) -> ReportData:
    """A report of a completed knowledge base, which has its facts with it.

    Parameters
    ----------
    completion
        What `complete` handed back.
    origin
        How it came to be, where that was kept.

    Examples
    --------
    >>> from andre.completion import complete
    >>> rows = [f"p(x{i}, y{i})" for i in range(9)] + [f"q(y{i}, x{i})" for i in range(10)]
    >>> data = gather_completion(complete(FactBase.from_facts(map(Atom.parse, rows))))
    >>> [target.head for target in data.targets]
    ['p(X, Y)', 'q(X, Y)']
    >>> data.targets[0].rules[0].predictions[0].text
    'p(x9, y9)'
    """
    by_target = rules_by_target(completion)
    listed = sum(min(_RULES, len(rules)) for rules in by_target.values())
    most = max(1, min(60, _EXPLAINED // max(1, listed)))
    ranks = completion.ranks("test") if len(completion.facts.select("test")) else {}
    targets = tuple(_target(completion, rules, ranks, most) for rules in by_target.values())
    whole = Scoring(
        summary=scoring(completion),
        choices={_said(choice): choice.mrr for choice in completion.choices},
        reliability=tuple((bin.confidence, bin.share, bin.count) for bin in completion.reliability.bins),
        ranking=_ranking(list(ranks.values()), len(completion.facts.select("test"))),
    )
    config = completion.config.model_dump(mode="json")
    made = provenance(origin, completion.config.seed, {"learning": completion.seconds}, config)
    names = list(by_target)
    title = ", ".join(names) if len(names) <= 3 else f"{len(names)} relations"
    return ReportData(f"Rules for {title}", targets, made, whole)


def _target(completion: Completion, rules: Program, ranks: dict[int, Ranks], most: int) -> TargetReport:
    """The most confident rules of a relation, with what they derive, and the ranks of its test facts."""
    head = rules.rules[0].head
    shown = Program(rules.rules[:_RULES])
    likely = chances(completion, shown).tolist()
    rows = [_row(completion, rule, chance, most) for rule, chance in zip(shown, likely, strict=True)]
    notes = [f"{len(rules) - _RULES:,} more rules are not listed."] if len(rules) > _RULES else []
    place, count = completion.graph.relations.index(head.predicate), len(completion.graph.relations)
    own = [ranks[step] for step in (place, place + count) if step in ranks]
    relation = completion.facts.relations[head.predicate, head.arity]
    return TargetReport(
        head=str(head),
        summary=f"{size(rules)}, {relation.count('train'):,} training facts",
        rules=tuple(rows),
        ranking=_ranking(own, relation.count("test")),
        notes=tuple(notes),
    )


def _row(completion: Completion, rule: Rule, chance: float, most: int) -> RuleRow:
    """A rule with what it derives that no training fact states; those known to be facts come first."""
    derived = sorted(_derived(completion.facts, rule), key=lambda found: found[1] == "")
    made = tuple(_prediction(completion, rule, atom, split, chance) for atom, split in derived[:most])
    return RuleRow(rule, predictions=made, left_out=len(derived) - len(made))


def _derived(facts: FactBase, rule: Rule) -> Iterator[tuple[Atom, str]]:
    """The new atoms that a rule derives, each with the mark of the fact that states it, if any does."""
    held_out = {mark: facts.select(mark) for mark in ("valid", "test")}
    train = facts.select("train")
    for codes in covered_heads(rule, train).tolist():
        atom = Atom(rule.head.predicate, tuple(Constant(facts.constants[code]) for code in codes))
        if atom not in train:
            yield atom, next((mark for mark, some in held_out.items() if atom in some), "")


def _prediction(completion: Completion, rule: Rule, atom: Atom, split: str, chance: float) -> Prediction:
    bound: dict[Variable, object] = {}
    body = [literal.atom for literal in rule.body if not literal.is_builtin]
    grounded = next(iter(completion.groundings(rule, atom, limit=1)), ())
    for general, ground in zip(
        (rule.head, *body), (atom, *(literal.atom for literal in grounded)), strict=False
    ):
        pairs = zip(general.args, ground.args, strict=True)
        bound |= {term: value for term, value in pairs if isinstance(term, Variable)}
    return Prediction(
        text=str(atom),
        holds=True if split else None,
        probability=chance,
        split=split,
        terms=tuple(str(bound.get(variable, variable)) for variable in rule.variables),
        values=tuple(float(not literal.negated) for literal in rule.body),
    )


def _ranking(ranks: list[Ranks], facts: int) -> Ranking | None:
    return ranking(RankReport.from_ranks(Ranks.concat(ranks)), facts) if ranks and facts else None


def _said(choice: Choice) -> str:
    """A way of scoring in words."""
    penalty = "" if choice.penalty is None else f", penalty {choice.penalty:g}"
    chained = ", from assumed facts too" if choice.chained else ""
    return f"{choice.aggregator}, smoothing {choice.smoothing:g}{penalty}{chained}"
