"""Reports to test with: a small one whose groundings are known, and one as large as a knowledge base's."""

from __future__ import annotations

import random

from andre.facts import FactBase
from andre.inference import Explainer
from andre.logic import Atom, Evidence, parse_atom, parse_program, parse_rule
from andre.report import ReportData
from andre.report.page import (
    Bars,
    CensusCounts,
    Chart,
    ConfusionCounts,
    Prediction,
    Provenance,
    Ranking,
    Rejected,
    RuleRow,
    RunRow,
    TargetReport,
)
from andre.report.theory import Judged, to_prediction

FAMILY = "parent(ann,bob). parent(bob,carl). parent(bob,dora). male(bob). male(carl)."
RULES = (
    "grandparent(X,Y) :- parent(X,Z), parent(Z,Y). "
    "grandson(X,Y) :- parent(Y,Z), parent(Z,X), male(X), \\+ male(Y)."
)


def family() -> ReportData:
    """Two targets over four people, explained by the engine."""
    facts = FactBase.from_facts(rule.head for rule in parse_program(FAMILY))
    rules = parse_program(RULES)
    explainer = Explainer(rules, facts)
    targets = []
    for rule, atoms in zip(
        rules, (["grandparent(ann,carl)", "grandparent(ann,dora)"], ["grandson(carl,ann)"]), strict=True
    ):
        found = [explainer.explain(parse_atom(atom)) for atom in atoms]
        made = tuple(
            to_prediction(Judged(why.atom, holds=True, split="test"), why.firings[0]) for why in found
        )
        row = RuleRow(rule.with_evidence(Evidence("train", 3, 2)), 0.5, 4, made, 7)
        targets.append(TargetReport(str(rule.head), "1 rule", (row,)))
    return ReportData("Family", tuple(targets), Provenance("andre learn family.pl"))


def large(targets: int = 46, rules: int = 25, predictions: int = 60) -> ReportData:
    """As many targets, rules and predictions as a run over UMLS has, with every section."""
    draw = random.Random(0)
    names = [f"semantic_type_{number}_of_the_network" for number in range(135)]
    relations = [f"relation_{number}_with_a_name" for number in range(targets)]
    return ReportData(
        "UMLS", tuple(_target(name, relations, names, (rules, predictions), draw) for name in relations)
    )


def _target(
    name: str, relations: list[str], names: list[str], size: tuple[int, int], draw: random.Random
) -> TargetReport:
    rules, predictions = size
    rows = []
    for _ in range(rules):
        first, second = draw.sample(relations, 2)
        rule = parse_rule(f"{name}(X1,X2) :- {first}(X1,X3), \\+ {second}(X3,X2), X1 \\= X3.")
        made = tuple(
            Prediction(f"{name}({a}, {b})", draw.random() < 0.8, 0.75, "test", (a, b, c), (1.0, 0.0, 1.0))
            for a, b, c in (draw.sample(names, 3) for _ in range(predictions))
        )
        evidence = (Evidence("train", 331, 300), Evidence("valid", 33, 30))
        rows.append(RuleRow(rule.with_evidence(*evidence), 0.01, 3, made, 200))
    shares = ((0.7, 0.2, 0.1),) * 30
    atoms = tuple(str(Atom.parse(f"{relation}(X1,X3)")) for relation in relations[:30])
    steps = tuple(float(15 * look) for look in range(1, 21))
    lines = {f"loss {number}": tuple(draw.random() for _ in steps) for number in range(6)}
    runs = tuple(
        RunRow("\n".join(str(row.rule) for row in rows[:4]), 3, (1,), (4,), 99.0 + run, 0.4)
        for run in range(20)
    )
    return TargetReport(
        head=f"{name}(X1, X2)",
        summary="25 rules, 75 literals, MRR 0.94",
        rules=tuple(rows),
        bars=Bars(atoms, (shares,) * 4, 205),
        charts=(Chart("Losses", steps, lines), Chart("Accuracy", steps, lines, unit=True)),
        census=CensusCounts({"groundings": 772065.0, "distinct rows": 30120.0}, 2000, 770065, 235),
        runs=runs,
        confusions=(ConfusionCounts("test", 60, 4, 8, 900),),
        ranking=Ranking("filtered, both sides", ("MRR", "Hits@1"), {"realistic": (0.94, 0.91)}),
        rejected=tuple(Rejected(row.rule, "its body never holds (proposed by 1 run)") for row in rows) * 2,
    )
