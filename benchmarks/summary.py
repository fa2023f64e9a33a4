"""The goals of the published benchmarks: what was to be reached, what was, and what the best peer reaches.

Each benchmark that has goals has a function here, which reads them off the tables of its report, so that kept
reports need not be measured again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

from benchmarks.report import Report, Table, share


@dataclass(frozen=True)
class Goal:
    """One line of the summary."""

    goal: str
    ours: str
    peer: str = "–"  #: the best of those that it is compared with
    met: bool | None = None  #: None where nothing was measured for it


def goals_of(report: Report) -> list[Goal]:
    """The goals of a report, in the order of its benchmark; none where it has no goals, or not their tables.

    Examples
    --------
    >>> table = Table("Absolute error", ("operator", "min: mean error", "max: mean error"), (
    ...     ("attention", "0.01", "0.01"), ("product", "0.08", "0.12")))
    >>> goals_of(Report("operators", "Operators", "", {}, 0.0, (table,)))[0].met
    True
    """
    if report.name not in _GOALS:
        return []
    goals, *titles = _GOALS[report.name]
    found = [[table for table in report.tables if table.title.startswith(title)][:1] for title in titles]
    return list(goals(*chain(*found))) if all(found) else []


def _stated(table: Table) -> Iterator[Goal]:
    """Goals that the report itself lists, as figures alone or as one figure against another."""
    for goal, met, figures in table.rows:
        several = ";" in figures
        ours, _, peer = (figures, "", "") if several else figures.partition(" against ")
        yield Goal(goal, ours, peer or "–", None if met == "–" else met == "yes")


def _ilp(table: Table) -> Iterator[Goal]:
    solved = table.column("solved").count("yes")
    popper = [cell for cell in table.column("Popper: training") if cell != "–"]
    yield Goal(
        "every task of Popper's folders, of drawn ones and of mutagenesis is solved",
        f"{share(solved, len(table.rows))} tasks",
        f"Popper: {share(popper.count('100.0'), len(popper))} of those it was run on",
        solved == len(table.rows),
    )


def _few(table: Table) -> Iterator[Goal]:
    recovered = [_quotient(cell) >= 0.95 for cell in table.column("recovered")]
    yield Goal(
        "∂ILP's tasks, each recovered from 19 of 20 seeds",
        f"{share(sum(recovered), len(recovered))} tasks",
        met=all(recovered),
    )


def _graphs(ours: Table, others: Table) -> Iterator[Goal]:
    for row in ours.rows:
        base, mrr = row[0], row[ours.columns.index("MRR")]
        peers = [peer for peer in others.rows if peer[0] == base]
        if peers:
            best = max(peers, key=lambda peer: float(peer[2]))
            met = _number(mrr) >= float(best[2])
            yield Goal(f"{base}: MRR at least the best peer's", mrr, f"{best[1]}: {best[2]}", met)
    planted = [cell for cell in ours.column("planted rules") if cell != "–"]
    if planted:
        met = all(cell.split()[0] == cell.split()[-1] for cell in planted)
        yield Goal("all rules planted in drawn graphs are found", ", ".join(planted), met=met)


def _ranking(others: Table, ours: Table) -> Iterator[Goal]:
    for base, learner, mrr, *_ in others.rows:
        pools = [dict(zip(ours.columns, row, strict=True)) for row in ours.rows if row[0] == base]
        if pools:
            chosen = max(pools, key=lambda pool: float(pool["valid MRR"]))["MRR"]
            yield Goal(
                f"{base}, rules chosen on validation facts: MRR at least as published",
                chosen,
                f"{learner}: {mrr}",
                _number(chosen) >= _number(mrr),
            )


def _inductive(table: Table) -> Iterator[Goal]:
    pairs = zip(table.column("Hits@10 of 50"), table.column("GraIL"), strict=True)
    better = [float(ours) >= float(peer) for ours, peer in pairs]
    yield Goal(
        "rules of one graph on another: Hits@10 of 50 at least GraIL's",
        f"{share(sum(better), len(better))} splits",
        met=all(better),
    )


def _splits(table: Table) -> Iterator[Goal]:
    best: dict[str, tuple[str, ...]] = {}
    for row in table.rows:
        measured = row[table.columns.index("ours is")] != "–"
        if measured and (row[0] not in best or float(row[2]) > float(best[row[0]][2])):
            best[row[0]] = row
    for split, learner, theirs, _, ours, verdict, _ in best.values():
        yield Goal(
            f"{split}, the same split, train facts alone: MRR within the noise of the best, or above",
            ours,
            f"{learner}: {theirs}",
            verdict != "lower",
        )


def _classical(table: Table) -> Iterator[Goal]:
    recovered = [_quotient(cell) == 1 for cell in table.column("recovered")]
    paper = table.column("paper").count("100%")
    yield Goal(
        "ten classical tasks: recovered from every seed, on a domain three times larger",
        f"{share(sum(recovered), len(recovered))} tasks",
        f"the paper: {share(paper, len(recovered))}, on domains of its own",
        all(recovered),
    )


def _synthetic(table: Table) -> Iterator[Goal]:
    met = [cell == "yes" for cell in table.column("met") if cell != "–"]
    found = {name: table.column(f"{name} found").count("yes") for name in ("paper", "DFORL")}
    yield Goal(
        "R1-R6: recovered from 95% of the seeds that identify the program",
        f"{share(sum(met), len(met))} cells",
        f"the paper: {share(found['paper'], len(table.rows))} cells, one seed each",
        all(met),
    )


def _ablation(table: Table) -> Iterator[Goal]:
    lines = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    runs = [line for line in lines if line["pipeline"] != "full"]
    (ours,) = (line for line in runs if line["operators"] == "attention")
    best = max((line for line in runs if line is not ours), key=lambda line: _quotient(line["recovered"]))
    yield Goal(
        "attention recovers more programs than other operators, by runs alone",
        ours["recovered"],
        f"{best['operators']}: {best['recovered']}",
        _quotient(ours["recovered"]) > _quotient(best["recovered"]),
    )


def _operators(table: Table) -> Iterator[Goal]:
    ours, *others = table.rows
    for what in ("min", "max"):
        place = table.columns.index(f"{what}: mean error")
        best = min(others, key=lambda row: float(row[place]))
        yield Goal(
            f"attention is closest to the {what}imum: mean error",
            ours[place],
            f"{best[0]}: {best[place]}",
            float(ours[place]) < float(best[place]),
        )


def _visual(table: Table) -> Iterator[Goal]:
    recovered = table.column("recovered, default")
    yield Goal(
        "both visual examples: recovered from every seed",
        ", ".join(recovered),
        f"the paper: {share(table.column('paper found').count('yes'), len(recovered))} examples, one seed",
        all(_quotient(cell) == 1 for cell in recovered),
    )


def _wide(table: Table) -> Iterator[Goal]:
    recovered = table.column("recovered").count("yes")
    seeds = len(table.rows)
    yield Goal(
        "three rules among 50 predicates, 10% noise",
        f"{share(recovered, seeds)} seeds",
        met=recovered == seeds,
    )


def _accuracy(table: Table) -> Iterator[Goal]:
    pairs = zip(table.column("fewest errors (rules)"), table.column("paper"), strict=True)
    better = [_number(ours) >= float(paper) for ours, paper in pairs]
    ceilings = zip(table.column("ceiling of the held-out rows"), table.column("paper"), strict=True)
    beyond = sum(float(paper) > float(ceiling) for ceiling, paper in ceilings)
    yield Goal(
        "accuracy on held-out rows at least the paper's, by the program of fewest errors",
        f"{share(sum(better), len(better))} targets",
        f"the paper: on {beyond} more than any program can reach here",
        all(better),
    )


def _countries(table: Table) -> Iterator[Goal]:
    lines = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    short = [line for line in lines if line["rules from"] == "short bodies"]
    yield Goal(
        "Countries: the region of every held-out country ranks first",
        ", ".join(line["first of the regions"] for line in short),
        f"the paper: {', '.join(line['paper'] + '%' for line in short)}",
        all(_quotient(line["first of the regions"]) == 1 for line in short),
    )


def _times(table: Table) -> Iterator[Goal]:
    lines = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    compared = [line for line in lines if line["paper"] != "–"]
    faster = [float(line["ours"]) <= float(line["paper"]) for line in compared]
    minutes = sorted((line["paper"] for line in compared), key=float)
    yield Goal(
        "programs for all relations of a base in less time than the paper's, on a processor",
        f"{share(sum(faster), len(faster))} runs",
        f"the paper: {minutes[0]} to {minutes[-1]} minutes on an RTX 5090",
        all(faster),
    )


def _totals(table: Table) -> Iterator[Goal]:
    equal = [cell == "yes" for cell in table.column("equal") if cell != "–"]
    yield Goal(
        "the census counts as many rows as the paper",
        f"{share(sum(equal), len(equal))} targets",
        met=all(equal),
    )


def _same(table: Table) -> Iterator[Goal]:
    column = "equal" if "equal" in table.columns else "as without a cluster"
    equal = [cell == "yes" for cell in table.column(column) if cell != "–"]
    where = "from disk as in memory" if column == "equal" else "on a cluster as without one"
    yield Goal(f"the same result {where}", f"{share(sum(equal), len(equal))} runs", met=all(equal))


def _ratios(table: Table) -> Iterator[Goal]:
    met = [cell == "yes" for cell in table.column("met") if cell != "–"]
    what = "ratios of time and memory" if "ratio" in table.columns else "time and memory on a graphics card"
    yield Goal(f"{what}: every bound holds", f"{share(sum(met), len(met))} bounds", met=all(met))


def _limits(table: Table) -> Iterator[Goal]:
    """Limits below a second are the resolution of the blocks of work, not a promise."""
    limits = [float(cell) for cell in table.column("limit, s")]
    taken = [float(cell) for cell in table.column("taken, s")]
    kept = [time <= 1.1 * limit for time, limit in zip(taken, limits, strict=True) if limit >= 1]
    yield Goal(
        "no more than a tenth over the time allowed, of a second or more",
        f"{share(sum(kept), len(kept))} {'commands' if 'command' in table.columns else 'calls'}",
        met=all(kept),
    )


def _quotient(cell: str) -> float:
    part, _, whole = cell.partition("/")
    return int(part) / int(whole)


def _number(cell: str) -> float:
    """The first number of a cell, before an interval or other numbers."""
    return float(cell.split(maxsplit=1)[0])


#: The function of each benchmark that has goals, and how the titles of the tables that it reads begin.
_GOALS: dict[
    str, tuple[Callable[..., Iterator[Goal]], str] | tuple[Callable[..., Iterator[Goal]], str, str]
] = {
    "tables": (_stated, "Goals"),
    "tables-growth": (_stated, "Goal"),
    "ilp": (_ilp, "Accuracy in per cent, size and time"),
    "ilp-few": (_few, "Seeds recovered"),
    "graphs": (_graphs, "Ours, realistic ranks of test facts", "Others"),
    "ranking": (_ranking, "MRR of others", "Ours, realistic ranks"),
    "inductive": (_inductive, "Ours, realistic ranks of test facts"),
    "splits": (_splits, "Others on the same split"),
    "classical": (_classical, "Accuracy in the paper, and seeds recovered"),
    "synthetic": (_synthetic, "Recovery from 10 candidate predicates"),
    "ablation": (_ablation, "All cells"),
    "operators": (_operators, "Absolute error"),
    "visual": (_visual, "Both examples"),
    "wide": (_wide, "Three rules among 50 predicates"),
    "kb-accuracy": (_accuracy, "Accuracy on held-out rows"),
    "kb-countries": (_countries, "Test countries whose region ranks first"),
    "kb-times": (_times, "Minutes for all programs"),
    "speed": (_ratios, "Ratios, each measured in one run"),
    "census": (_totals, "Row totals, preset paper"),
    "disk": (_same, "Censuses of one relation, three variables"),
    "device": (_ratios, "Measured on"),
    "cluster": (_same, "Workers of a cluster"),
    "limits": (_limits, "Time taken of the time allowed"),
    "commands": (_limits, "Taken of what is allowed"),
}
