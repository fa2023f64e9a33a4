"""Reports to test with: a small one whose groundings are known, and one as large as a knowledge base's."""

from __future__ import annotations

import random
from dataclasses import replace

from andre.facts import FactBase
from andre.inference import Explainer
from andre.logic import Atom, Evidence, Phrases, parse_atom, parse_program, parse_rule
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


LONG = """
works_for_the_hospital_of(dr_maria_magdalena_von_hohenstein, saint_bartholomews_hospital_london).
responsible_for(saint_bartholomews_hospital_london, patient_number_1203948572098).
knows(dr_maria_magdalena_von_hohenstein, patient_number_1203948572098).
supervised_by(patient_number_1203948572098, dr_maria_magdalena_von_hohenstein).
trusts(dr_maria_magdalena_von_hohenstein, dr_maria_magdalena_von_hohenstein).
prescribes(dr_maria_magdalena_von_hohenstein, 'acetylsalicylic acid, 500 mg', patient_number_1203948572098,
    thrice_daily).
"""
LONG_RULES = """
delivers_medication_to(X1, X2) :- works_for_the_hospital_of(X1, X3), responsible_for(X3, X2), knows(X1, X2),
    supervised_by(X2, X1), trusts(X1, X1), \\+ discharged_against_medical_advice(X2).
may_give_on_this_day(X1, X2, X3) :- prescribes(X1, X2, X3, X4), responsible_for(X5, X3),
    \\+ works_for_the_hospital_of(X1, X3), X1 \\= X3.
"""
LONG_ATOMS = (
    "delivers_medication_to(dr_maria_magdalena_von_hohenstein, patient_number_1203948572098)",
    "may_give_on_this_day(dr_maria_magdalena_von_hohenstein, 'acetylsalicylic acid, 500 mg', "
    "patient_number_1203948572098)",
)


def long_names() -> ReportData:
    """Names as long as real ones, several links between two terms, relations of three and four arguments."""
    facts, rules = FactBase.from_facts(rule.head for rule in parse_program(LONG)), parse_program(LONG_RULES)
    explainer, targets = Explainer(rules, facts), []
    for rule, atom in zip(rules, map(parse_atom, LONG_ATOMS), strict=True):
        why = explainer.explain(atom)
        made = tuple(to_prediction(Judged(atom, holds=True, split="train"), firing) for firing in why.firings)
        row = RuleRow(rule.with_evidence(Evidence("train", 1, 1)), predictions=made)
        targets.append(
            TargetReport(str(rule.head), "1 rule", (replace(row, sentence=Phrases().sentence(rule)),))
        )
    return ReportData("Long names", tuple(targets))


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
