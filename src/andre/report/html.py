"""A report as one HTML file that needs nothing else, its lists cut so that the page stays small."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from andre.files import write_whole
from andre.logic import Atom, Rule, Variable, format_count, readable
from andre.report.draw import bars_svg, census_svg, chart_svg
from andre.report.page import Bars, Prediction, ReportData, RuleRow, TargetReport

if TYPE_CHECKING:
    from jinja2 import Environment, Template


@dataclass(frozen=True)
class Limits:
    """How long the lists of a target may be."""

    predictions: int = 20_000  #: of every rule
    atoms: int = 30  #: in the bars
    runs: int = 20
    rejected: int = 40
    columns: int = 200
    faults: int = 2_000  #: of every kind

    @classmethod
    def for_lists_of(cls, data: ReportData) -> Limits:
        """Such that halving them shortens something at once."""
        longest = max((len(row.predictions) for one in data.targets for row in one.rules), default=0)
        return cls(predictions=max(1, min(cls.predictions, longest)))

    def halved(self) -> Limits:
        """Half as long, and never empty.

        Examples
        --------
        >>> Limits(predictions=60, atoms=30, runs=20, rejected=1).halved()
        Limits(predictions=30, atoms=15, runs=10, rejected=1, columns=100, faults=1000)
        """
        return Limits(*(max(1, limit // 2) for limit in vars(self).values()))


def trim(data: ReportData, limits: Limits) -> ReportData:
    """The same report with lists no longer than the limits.

    Examples
    --------
    >>> from andre.logic import parse_rule
    >>> row = RuleRow(parse_rule("h :- b."), predictions=(Prediction("row 1"), Prediction("row 2")))
    >>> data = ReportData("h", (TargetReport("h", rules=(row,)),))
    >>> trim(data, Limits(predictions=1)).targets[0].rules[0].left_out
    1
    """
    return replace(data, targets=tuple(_target(target, limits) for target in data.targets))


def _target(target: TargetReport, limits: Limits) -> TargetReport:
    return replace(
        target,
        faults=tuple(replace(one, examples=one.examples[: limits.faults]) for one in target.faults),
        rules=tuple(_rule(row, limits.predictions) for row in target.rules),
        bars=None if target.bars is None else _bars(target.bars, limits.atoms),
        runs=target.runs[: limits.runs],
        runs_left_out=target.runs_left_out + max(0, len(target.runs) - limits.runs),
        rejected=target.rejected[: limits.rejected],
        columns=target.columns[: limits.columns],
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


def write_report(data: ReportData, path: Path | str) -> Path:
    """Write a report, whole or not at all."""
    path = Path(path)
    write_whole(path, render(data))
    return path


def render(data: ReportData, room: int = 4_000_000) -> str:
    """A report as HTML, of at most so many characters: its lists are halved until it fits.

    Examples
    --------
    >>> from andre.logic import parse_rule
    >>> row = RuleRow(parse_rule("bird :- wings, \\\\+ motor."))
    >>> page = render(ReportData("birds", (TargetReport("bird", rules=(row,)),)))
    >>> page.startswith("<!doctype html>"), "bird :- wings" in page
    (True, True)
    """
    template = _environment().get_template("report.html")
    limits = Limits.for_lists_of(data)
    while True:
        page = _page(template, trim(data, limits))
        if len(page) <= room or limits == limits.halved():
            return page
        limits = limits.halved()


def as_values(data: ReportData) -> dict[str, Any]:
    """A report as values that JSON can hold, rules as text with their evidence.

    Examples
    --------
    >>> as_values(ReportData("birds", ()))["title"]
    'birds'
    """
    values = asdict(data)
    for target, made in zip(data.targets, values["targets"], strict=True):
        rules = [row.rule for row in target.rules], [item.rule for item in target.rejected]
        for rows, given in zip((made["rules"], made["rejected"]), rules, strict=True):
            for row, rule in zip(rows, given, strict=True):
                row["rule"] = str(rule)
                row["evidence"] = [asdict(evidence) for evidence in rule.evidence]
    return values


def _page(template: Template, data: ReportData) -> str:
    return template.render(
        data=data,
        embedded=[[_embedded(row) for row in target.rules] for target in data.targets],
        settings=json.dumps(data.provenance.settings, indent=2),
    )


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  # only reports need it
    from markupsafe import Markup  # noqa: PLC0415

    made = Environment(
        loader=PackageLoader("andre.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        count=_count,
        share=lambda value: "–" if value is None else f"{value:.4f}",
        percent=lambda value: "–" if value is None else f"{100 * value:.1f}%",
        readable=_read,
        rule=lambda text: Markup(str(Markup.escape(text)).replace("\\+", '<b class="not">\\+</b>')),
        chart=lambda chart: Markup(chart_svg(chart)),
        census=lambda census: Markup(census_svg(census)),
        bars=lambda bars, subrule: Markup(bars_svg(bars, subrule)),
    )
    return made


def _read(rule: Rule) -> str:
    """A rule as the page writes it."""
    return str(readable(rule))


def _count(value: float) -> str:
    """A count or a sum of weights."""
    return format_count(value, ",")


def _embedded(row: RuleRow) -> dict[str, Any]:
    """What a click on a rule shows, for the script of the page."""
    rule = readable(row.rule)
    places = {variable: place for place, variable in enumerate(rule.variables)}
    return {
        "head": _atom(rule.head, places),
        "body": [[*_atom(lit.atom, places), lit.negated, lit.is_builtin] for lit in rule.body],
        "variables": [str(variable) for variable in rule.variables],
        "rows": [_prediction(prediction) for prediction in row.predictions],
        "left": row.left_out,
    }


def _atom(atom: Atom, places: dict[Variable, int]) -> list[Any]:
    """A predicate, and per argument the place of a variable or the text of a constant."""
    args = [places[arg] if isinstance(arg, Variable) else str(arg) for arg in atom.args]
    return [atom.predicate, args]


def _prediction(prediction: Prediction) -> list[Any]:
    """Text, truth, probability, split, terms and values, as short as they can be written."""
    chance = None if prediction.probability is None else round(prediction.probability, 4)
    values = [round(value, 4) if isinstance(value, float) else value for value in prediction.values]
    holds = None if prediction.holds is None else int(prediction.holds)
    return [prediction.text, holds, chance, prediction.split, list(prediction.terms), values]
