"""What a run says of new rows and of new facts."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np

from andre.arrays import Ints
from andre.completion import Completion
from andre.evaluation import covers, literal_truth
from andre.facts import FactBase, Key, RawTable, Relation, TruthRows
from andre.inference import Explainer, Explanation, Model, covered_heads, explain, infer, missing_relations
from andre.learning import Result, RuleClassifier, Theory
from andre.logic import Atom, Evidence, Program, by_row
from andre.runs import Run, TableSource, program_of


def predict_table(result: Result, path: Path | str, proba: bool = False) -> str:
    """Predictions for the rows of a table, as CSV.

    Parameters
    ----------
    result
        A learned model.
    path
        The table, with a column of truth values for each atom that rules read, and any others.
    proba
        Whether to give the probability of the head too.
    """
    values = _truth_rows(result, path).valuations
    texts = [*map(str, result.program), ""]  # the last where no rule fires
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["prediction", *(["probability"] if proba else []), "rule"])
    if len(values):  # a table may have no rows
        surest, probable = result.surest_rules(values), result.predict_proba(values)  # [N]
        for rule, chance in zip(surest.tolist(), probable.tolist(), strict=True):
            writer.writerow([int(rule >= 0), *([f"{chance:.6g}"] if proba else []), texts[rule]])
    return buffer.getvalue()


def count_rows(
    result: Result | RuleClassifier, path: Path | str, split: str, source: TableSource | None = None
) -> Program:
    """The rules of a result with N_b and N_r counted on the rows of a table.

    Parameters
    ----------
    result
        A learned model.
    path
        The table, with a column of labels.
    split
        What the counts are called; counts of other splits stay.
    source
        The table that was learned from, whose columns of labels and weights have
        the same names; without it, the head names the labels.
    """
    weight = None if source is None else source.weight
    if isinstance(result, RuleClassifier):
        return result.judged(result.labelled(path, weight), split).program
    label = str(result.space.head) if source is None else source.label
    rows = _truth_rows(result, path, label, weight)
    fires = covers(literal_truth(rows.valuations), result.codes)  # [rules, N]
    counts = zip(fires @ rows.weights, fires @ (rows.weights * rows.labels), strict=True)
    rules = []
    for rule, (n_b, n_r) in zip(result.program, counts, strict=True):
        others = (item for item in rule.evidence if item.split != split)
        rules.append(rule.with_evidence(Evidence(split, float(n_b), float(n_r)), *others))
    return Program(tuple(rules))


def _truth_rows(
    result: Result, path: Path | str, label: str | None = None, weight: str | None = None
) -> TruthRows:
    """The rows of a table as truth values of all atoms; those that no rule reads are unknown."""
    read = np.flatnonzero((result.codes != 0).any(axis=0))
    names = [result.space.names[place] for place in read]
    rows = TruthRows.read(RawTable.read(path), names, label, weight)
    valuations = np.full((len(rows.weights), result.space.m), np.nan)
    valuations[:, read] = rows.valuations
    return replace(rows, valuations=valuations)


def derive(run: Run, facts: FactBase, *, engine: str = "auto", memory_limit: str = "4GB") -> Model:
    """All that the rules of a run derive from new facts.

    A definition reads no fact of its targets; all other rules read training
    facts, and those about columns of a table read rows as `andre.facts.row_facts`
    states them. Rules of a completion are applied once, never to what another rule
    derives: so they were counted, and so the probability of an atom is the
    chance, by its surest rule, that it is a fact. What has none, to six decimals, is left out.

    Parameters
    ----------
    run
        What was learned.
    facts
        What the rules are applied to.
    engine, memory_limit
        As for `andre.inference.infer`; completions need neither.

    Examples
    --------
    >>> from andre.completion import complete
    >>> rows = [f"p(x{i}, y{i})" for i in range(9)] + [f"q(y{i}, x{i})" for i in range(9)]
    >>> done = complete(FactBase.from_facts(map(Atom.parse, rows)))
    >>> print(*derive(done, FactBase.from_facts([Atom.parse("p(a, b)")])))
    q(b, a)
    """
    if isinstance(run, Completion):
        rules = tuple(rule for rule in _with_chances(run) if rule.probability)
        return _apply_once(Program(rules), facts.select("train"))
    return infer(by_row(run.program), _evidence(run, facts), engine=engine, memory_limit=memory_limit)


def lacking(run: Run, facts: FactBase) -> list[Key]:
    """The relations that the rules of a run read and that neither new facts nor its background have."""
    known = run.with_background(facts) if isinstance(run, Theory) else facts
    return missing_relations(by_row(program_of(run)), known)


def taken_with(run: Run, facts: FactBase) -> list[Key]:
    """The relations that new facts lack, and whose facts a run has kept with its background."""
    if not isinstance(run, Theory) or run.prolog is None:
        return []
    return list(dict.fromkeys(atom.key for atom in run.prolog.facts_beside(facts.relations)))


def explain_atom(run: Run, facts: FactBase, atom: Atom, *, limit: int = 3, depth: int = 3) -> Explanation:
    """Why a run derives an atom from new facts, or which of its rules comes nearest.

    Parameters
    ----------
    run, facts
        What was learned, and what is known.
    atom, limit, depth
        As for `andre.inference.explain`.
    """
    if not isinstance(run, Completion):
        known = run.evidence(facts, [atom]) if isinstance(run, Theory) else facts.select("train")
        return explain(by_row(run.program), known, atom, limit=limit, depth=depth)
    known = facts.select("train")
    rules = Program(tuple(rule for rule in _with_chances(run) if rule.head.predicate == atom.predicate))
    model = _apply_once(rules, known)
    # Another derived atom is no premise.
    asked = np.array([derived == atom for derived in model], dtype=np.bool_)
    kept = {key: relation.take(asked) for key, relation in model.derived.relations.items()}
    model = replace(model, derived=replace(model.derived, relations=kept))
    return Explainer(rules, known, model).explain(atom, limit=limit, depth=depth)


def _evidence(run: RuleClassifier | Result | Theory, facts: FactBase) -> FactBase:
    return run.evidence(facts) if isinstance(run, Theory) else facts.select("train")


def _with_chances(completion: Completion) -> Program:
    """The rules, each with its chance as its probability."""
    rules = program_of(completion)
    likely = completion.chances(rules).round(6).tolist()
    return Program(
        tuple(replace(rule, probability=chance) for rule, chance in zip(rules, likely, strict=True))
    )


def _apply_once(rules: Program, known: FactBase) -> Model:
    """What single rules derive from facts and no fact states, each atom as probable as its surest rule."""
    found: dict[Key, list[tuple[Ints, float]]] = {}
    for rule in rules:
        key = rule.head.key
        found.setdefault(key, []).append((covered_heads(rule, known), rule.probability))
    relations = []
    for key, parts in found.items():
        if stated := known.relations.get(key):
            parts.append((stated.codes.astype(np.int64), np.inf))
        codes = np.concatenate([heads for heads, _ in parts])  # [P, arity]
        chance = np.repeat([sure for _, sure in parts], [len(heads) for heads, _ in parts])  # [P]
        order = np.argsort(-chance, kind="stable")
        best = order[np.unique(codes[order], axis=0, return_index=True)[1]]  # of each atom the surest
        new = best[np.isfinite(chance[best])]
        new = new[np.argsort(-chance[new], kind="stable")]
        relations.append(Relation(key[0], codes[new], chance[new]))
    derived = {relation.key: relation for relation in relations if len(relation)}
    return Model(known, FactBase(known.constants, derived, world=known.world), "one step")
