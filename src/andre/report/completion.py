"""The report of a completed knowledge base: rules by relation, how they are scored, how test facts rank."""

from __future__ import annotations

from andre.completion import Choice, Completion
from andre.evaluation import RankReport, Ranks
from andre.facts import MARKS, FactBase
from andre.inference import covered_heads
from andre.logic import Atom, Constant, Program, Rule, Variable, counted
from andre.report.page import Prediction, Ranking, ReportData, RuleRow, Scoring, TargetReport
from andre.report.result import provenance
from andre.report.summary import rules_by_target, scoring, title
from andre.report.words import as_sentence, size
from andre.runs import Origin

#: Rules of a relation that are listed, and predictions of all rules together that are explained.
_RULES, _EXPLAINED = 40, 2000
#: Predictions of a rule that are listed; those that are not explained without their grounding.
_LISTED = 5_000


def gather_completion(completion: Completion, origin: Origin | None = None) -> ReportData:
    """A report of a completed knowledge base, which has its facts with it.

    The origin says how it came to be, where that was kept.

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
    by_target, train = rules_by_target(completion), completion.facts.select("train")
    listed = sum(min(_RULES, len(rules)) for rules in by_target.values())
    most = max(1, min(60, _EXPLAINED // max(1, listed)))
    tested = len(completion.facts.select("test"))
    ranks = completion.ranks("test") if tested else {}
    targets = []
    for rules in by_target.values():
        steps = _steps(completion, rules.rules[0].head.predicate)
        own = [ranks[step] for step in steps if step in ranks]
        targets.append(_target(completion, rules, train, most, own))
    whole = Scoring(
        summary=scoring(completion),
        choices={_said(choice): choice.mrr for choice in completion.choices},
        reliability=tuple((bin.confidence, bin.share, bin.count) for bin in completion.reliability.bins),
        ranking=_ranking(list(ranks.values()), tested),
        notes=tuple(map(as_sentence, completion.notes)),
    )
    config = completion.config.model_dump(mode="json")
    made = provenance(origin, completion.config.seed, {"learning": completion.seconds}, config)
    return ReportData(title(list(by_target)), tuple(targets), made, whole)


def _steps(completion: Completion, relation: str) -> tuple[int, int]:
    """The numbers under which a relation is ranked: by its second argument, and by its first."""
    names = completion.graph.relations
    return names.index(relation), names.index(relation) + len(names)


def _target(
    completion: Completion, rules: Program, train: FactBase, most: int, ranks: list[Ranks]
) -> TargetReport:
    """The most confident rules of a relation, with what they derive, and the ranks of its test facts."""
    head = rules.rules[0].head
    relation = completion.facts.relations[head.key]
    stated = {
        tuple(codes): MARKS[mark]
        for codes, mark in zip(relation.codes.tolist(), relation.column("mark").tolist(), strict=True)
    }
    # Rules that no fact bears out lower what others say, and tell nobody anything.
    supported = Program(tuple(rule for rule in rules if any(item.n_r for item in rule.evidence)))
    rows, shown = [], Program(supported.rules[:_RULES])
    for rule, chance in zip(shown, completion.chances(shown).tolist(), strict=True):
        # What no training fact states; test and validation facts come first.
        found = [tuple(codes) for codes in covered_heads(rule, train).tolist()]
        new = sorted(
            (codes for codes in found if stated.get(codes) != "train"), key=lambda at: at not in stated
        )
        made = tuple(
            _prediction(completion, rule, codes, stated.get(codes, ""), chance, explained=place < most)
            for place, codes in enumerate(new[:_LISTED])
        )
        rows.append(RuleRow(rule, predictions=made, left_out=len(new) - len(made)))
    left, idle = len(supported) - len(shown), len(rules) - len(supported)
    notes = [f"{counted(left, 'more rule')} {'is' if left == 1 else 'are'} not listed."] if left else []
    if idle:
        are = "is" if idle == 1 else "are"
        notes.append(f"{counted(idle, 'rule')} that no training fact bears out {are} not listed.")
    return TargetReport(
        head=str(Atom(head.predicate, tuple(map(Variable, "XY")))),
        summary=f"{size(rules)}, {relation.count('train'):,} training facts",
        rules=tuple(rows),
        ranking=_ranking(ranks, relation.count("test")),
        notes=tuple(notes),
    )


def _prediction(
    completion: Completion, rule: Rule, codes: tuple[int, ...], split: str, chance: float, *, explained: bool
) -> Prediction:
    """An atom that a rule derives, if asked for with what its variables stand for in one grounding."""
    constants = completion.facts.constants
    atom = Atom(rule.head.predicate, tuple(Constant(constants[code]) for code in codes))
    if not explained:
        return Prediction(str(atom), True if split else None, chance, split)
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
    return Ranking.of(RankReport.from_ranks(Ranks.concat(ranks)), facts) if ranks and facts else None


def _said(choice: Choice) -> str:
    """A way of scoring in words."""
    penalty = "" if choice.penalty is None else f", penalty {choice.penalty:g}"
    chained = ", from assumed facts too" if choice.chained else ""
    return f"{choice.aggregator}, smoothing {choice.smoothing:g}{penalty}{chained}"
