"""Shorter lists, so that a page with many targets stays small; what is left out is counted."""

from __future__ import annotations

from dataclasses import dataclass, replace

from andre.report.page import Bars, ReportData, RuleRow, TargetReport

__all__ = ["Limits", "trim"]


@dataclass(frozen=True)
class Limits:
    """How long the lists of a target may be."""

    predictions: int = 60  #: of every rule
    atoms: int = 30  #: in the bars
    runs: int = 20
    rejected: int = 40

    def halved(self) -> Limits:
        """Half as long, and never empty.

        Examples
        --------
        >>> Limits(predictions=60, atoms=30, runs=20, rejected=1).halved()
        Limits(predictions=30, atoms=15, runs=10, rejected=1)
        """
        return Limits(*(max(1, limit // 2) for limit in vars(self).values()))


def trim(data: ReportData, limits: Limits) -> ReportData:
    """The same report with lists no longer than the limits.

    Examples
    --------
    >>> from andre.logic import parse_rule
    >>> from andre.report.page import Prediction
    >>> row = RuleRow(parse_rule("h :- b."), predictions=(Prediction("row 1"), Prediction("row 2")))
    >>> data = ReportData("h", (TargetReport("h", rules=(row,)),))
    >>> trim(data, Limits(predictions=1)).targets[0].rules[0].left_out
    1
    """
    return replace(data, targets=tuple(_target(target, limits) for target in data.targets))


def _target(target: TargetReport, limits: Limits) -> TargetReport:
    return replace(
        target,
        rules=tuple(_rule(row, limits.predictions) for row in target.rules),
        bars=None if target.bars is None else _bars(target.bars, limits.atoms),
        runs=target.runs[: limits.runs],
        runs_left_out=target.runs_left_out + max(0, len(target.runs) - limits.runs),
        rejected=target.rejected[: limits.rejected],
        rejected_left_out=target.rejected_left_out + max(0, len(target.rejected) - limits.rejected),
    )


def _rule(row: RuleRow, most: int) -> RuleRow:
    left = row.left_out + max(0, len(row.predictions) - most)
    return replace(row, predictions=row.predictions[:most], left_out=left)


def _bars(bars: Bars, most: int) -> Bars:
    """The atoms that some subrule is least sure to leave out, in their order."""
    sure = [min(subrule[place][2] for subrule in bars.subrules) for place in range(len(bars.names))]
    kept = sorted(sorted(range(len(sure)), key=lambda place: sure[place])[:most])
    return Bars(
        names=tuple(bars.names[place] for place in kept),
        subrules=tuple(tuple(subrule[place] for place in kept) for subrule in bars.subrules),
        left_out=bars.left_out + len(bars.names) - len(kept),
    )
