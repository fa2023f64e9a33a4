"""What a saved run says of new rows, and what the rules of a completed knowledge base say of new facts."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np

from andre.arrays import Floats, Ints
from andre.completion import Completion
from andre.facts import FactBase, Key, Relation, read_table
from andre.inference import Explainer, Explanation, Model, covered_heads
from andre.learning import Result
from andre.logic import Atom, Program, Rule
from andre.runs import program_of

__all__ = ["apply_once", "chances", "explain_once", "predict_table"]


def predict_table(result: Result, path: Path | str, proba: bool = False) -> str:
    """Predictions for the rows of a table, as CSV.

    Parameters
    ----------
    result
        A learned model.
    path
        The table; it may have other columns, and needs no label.
    proba
        Whether to give the probability of the head too.
    """
    values = read_table(path, label=None, columns=result.space.atoms).valuations
    texts = [*map(str, result.program), ""]  # the last where no rule fires
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["prediction", *(["probability"] if proba else []), "rule"])
    surest, probable = result.surest_rules(values), result.predict_proba(values)  # [N]
    for rule, chance in zip(surest.tolist(), probable.tolist(), strict=True):
        writer.writerow([int(rule >= 0), *([f"{chance:.6g}"] if proba else []), texts[rule]])
    return buffer.getvalue()


def chances(completion: Completion, rules: Program) -> Floats:
    """The chance that what a rule derives is a fact, calibrated on validation facts, [rules]."""
    counts = [rule.evidence[0] for rule in rules]
    smoothing = completion.scorer.smoothing
    return completion.reliability.chance(np.array([seen.n_r / (seen.n_b + smoothing) for seen in counts]))


def apply_once(completion: Completion, facts: FactBase, about: str | None = None) -> Model:
    """What the rules of a completion derive from training facts, each atom by its surest rule.

    Rules read stated facts only, never what another rule derives: as they were
    counted, so that the probability of an atom is its chance of being a fact.

    Parameters
    ----------
    completion
        A completed knowledge base.
    facts
        What the rules are applied to.
    about
        The relation to derive; all of them if None.

    Examples
    --------
    >>> from andre.completion import complete
    >>> rows = [f"p(x{i}, y{i})" for i in range(9)] + [f"q(y{i}, x{i})" for i in range(9)]
    >>> done = complete(FactBase.from_facts(map(Atom.parse, rows)))
    >>> new = FactBase.from_facts([Atom.parse("p(a, b)")])
    >>> print(*apply_once(done, new))
    q(b, a)
    """
    rules, known = _with_chances(completion, about), facts.select("train")
    found: dict[Key, list[tuple[Ints, float]]] = {}
    for rule in rules:
        key = rule.head.predicate, rule.head.arity
        found.setdefault(key, []).append((covered_heads(rule, known), rule.probability))
    relations = []
    for key, parts in found.items():
        codes = np.concatenate([heads for heads, _ in parts])  # [P, arity]
        chance = np.concatenate([np.full(len(heads), sure) for heads, sure in parts])  # [P]
        if stated := known.relations.get(key):
            codes = np.concatenate([stated.codes, codes])
            chance = np.concatenate([np.full(len(stated), np.inf), chance])
        order = np.argsort(-chance, kind="stable")
        _, first = np.unique(codes[order], axis=0, return_index=True)
        best = order[first]
        new = best[np.isfinite(chance[best])]
        relations.append(Relation(key[0], codes[new], chance[new]))
    derived = {relation.key: relation for relation in relations if len(relation)}
    return Model(known, FactBase(known.constants, derived), "one step")


def explain_once(
    completion: Completion, facts: FactBase, atom: Atom, *, limit: int = 3, depth: int = 3
) -> Explanation:
    """Why the rules of a completion derive an atom from training facts, or which rule comes nearest."""
    model = apply_once(completion, facts, atom.predicate)
    # Another derived atom is no premise.
    asked = [fact == atom for fact in model.derived.atoms(atom.predicate, atom.arity)]
    kept = {key: relation.take(np.array(asked)) for key, relation in model.derived.relations.items()}
    model = replace(model, derived=replace(model.derived, relations=kept))
    rules = _with_chances(completion, atom.predicate)
    return Explainer(rules, model.stated, model).explain(atom, limit=limit, depth=depth)


def _with_chances(completion: Completion, about: str | None) -> Program:
    """The rules, each with its chance as its probability."""
    chosen = [rule for rule in program_of(completion) if about in (None, rule.head.predicate)]
    if not chosen:
        return Program()
    likely: list[float] = chances(completion, Program(tuple(chosen))).tolist()
    return Program(tuple(_probable(rule, value) for rule, value in zip(chosen, likely, strict=True)))


def _probable(rule: Rule, probability: float) -> Rule:
    return replace(rule, probability=round(probability, 6))
