"""The goals of the published benchmarks: what was to be reached, what was, and what the best peer reaches.

Each benchmark that has goals has a function here, which reads them off the tables of its report, so that kept
reports need not be measured again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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


def _counted(goal: str, kept: Sequence[bool], unit: str, peer: str = "–") -> Iterator[Goal]:
    """A goal that is met if it is in every case; none where there is no case."""
    if kept:
        yield Goal(goal, f"{share(sum(kept), len(kept))} {unit}", peer, all(kept))


def _yes(cells: Iterable[str]) -> list[bool]:
    """Which cells say yes, of those that say yes or no."""
    return [cell == "yes" for cell in cells if cell != "–"]


def _ilp(table: Table) -> Iterator[Goal]:
    popper = [cell == "100.0" for cell in table.column("Popper: training") if cell != "–"]
    return _counted(
        "every task of Popper's folders, of drawn ones and of mutagenesis is solved",
        _yes(table.column("solved")),
        "tasks",
        f"Popper: {share(sum(popper), len(popper))} of those it was run on" if popper else "–",
    )


def _few(table: Table) -> Iterator[Goal]:
    recovered = [_quotient(cell) >= 0.95 for cell in table.column("recovered")]
    return _counted("∂ILP's tasks, each recovered from 19 of 20 seeds", recovered, "tasks")


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
    return _counted("rules of one graph on another: Hits@10 of 50 at least GraIL's", better, "splits")


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
    paper = table.column("paper").count("100%")
    return _counted(
        "ten classical tasks: recovered from every seed, on a domain three times larger",
        [_quotient(cell) == 1 for cell in table.column("recovered")],
        "tasks",
        f"the paper: {share(paper, len(table.rows))}, on domains of its own",
    )


def _synthetic(table: Table) -> Iterator[Goal]:
    paper = table.column("paper found").count("yes")
    return _counted(
        "R1-R6: recovered from 95% of the seeds that identify the program",
        _yes(table.column("met")),
        "cells",
        f"the paper: {share(paper, len(table.rows))} cells, one seed each",
    )


def _ablation(table: Table) -> Iterator[Goal]:
    lines = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    runs = [line for line in lines if line["pipeline"] != "full"]
    ours = next(line for line in runs if line["operators"] == "attention")
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
    return _counted("three rules among 50 predicates, 10% noise", _yes(table.column("recovered")), "seeds")


def _accuracy(table: Table) -> Iterator[Goal]:
    paper = [float(cell) for cell in table.column("paper")]
    ours, ceilings = (
        table.column(name) for name in ("fewest errors (rules)", "ceiling of the held-out rows")
    )
    beyond = sum(theirs > float(ceiling) for theirs, ceiling in zip(paper, ceilings, strict=True))
    return _counted(
        "accuracy on held-out rows at least the paper's, by the program of fewest errors",
        [_number(cell) >= theirs for cell, theirs in zip(ours, paper, strict=True)],
        "targets",
        f"the paper: on {beyond} more than any program can reach here",
    )


def _countries(table: Table) -> Iterator[Goal]:
    lines = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    short = [line for line in lines if line["rules from"] == "short bodies"]
    if short:
        yield Goal(
            "Countries: the region of every held-out country ranks first",
            ", ".join(line["first of the regions"] for line in short),
            f"the paper: {', '.join(line['paper'] + '%' for line in short)}",
            all(_quotient(line["first of the regions"]) == 1 for line in short),
        )


def _times(table: Table) -> Iterator[Goal]:
    lines = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    compared = [line for line in lines if line["paper"] != "–"]
    minutes = sorted({line["paper"] for line in compared}, key=float)
    return _counted(
        "programs for all relations of a base in less time than the paper's, on a processor",
        [float(line["ours"]) <= float(line["paper"]) for line in compared],
        "runs",
        f"the paper: {', '.join(minutes)} minutes on an RTX 5090",
    )


def _totals(table: Table) -> Iterator[Goal]:
    return _counted("the census counts as many rows as the paper", _yes(table.column("equal")), "targets")


def _disk(table: Table) -> Iterator[Goal]:
    return _counted("the same result from disk as in memory", _yes(table.column("equal")), "runs")


def _cluster(table: Table) -> Iterator[Goal]:
    same = _yes(table.column("as without a cluster"))
    return _counted("the same result on a cluster as without one", same, "runs")


def _ratios(table: Table) -> Iterator[Goal]:
    return _counted("ratios of time and memory: every bound holds", _yes(table.column("met")), "bounds")


def _device(table: Table) -> Iterator[Goal]:
    met = _yes(table.column("met"))
    return _counted("time and memory on a graphics card: every bound holds", met, "bounds")


def _limits(table: Table) -> Iterator[Goal]:
    """Limits below a second are the resolution of the blocks of work, not a promise."""
    limits = [float(cell) for cell in table.column("limit, s")]
    taken = [float(cell) for cell in table.column("taken, s")]
    return _counted(
        "no more than a tenth over the time allowed, of a second or more",
        [time <= 1.1 * limit for time, limit in zip(taken, limits, strict=True) if limit >= 1],
        "commands" if "command" in table.columns else "calls",
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
    "disk": (_disk, "Censuses of one relation, three variables"),
    "device": (_device, "Measured on"),
    "cluster": (_cluster, "Workers of a cluster"),
    "limits": (_limits, "Time taken of the time allowed"),
    "commands": (_limits, "Taken of what is allowed"),
}
