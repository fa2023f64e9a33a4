"""`python -m benchmarks NAME`, which `./dev bench` calls: measure, print, and keep what was measured."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from andre.errors import AndreError, DataError
from benchmarks import BENCHMARKS, Tick

if TYPE_CHECKING:
    from benchmarks.report import Report

#: What a setting is called on the command line, and what it does.
_OPTIONS = {
    "seeds": ("--seeds", "how many seeds, from 0 on unless said otherwise; a few for a quick look"),
    "first": ("--first", "the first of the seeds"),
    "folds": ("--folds", "in how many parts noisy examples are held out"),
    "seed": ("--seed", "draws samples and first weights"),
    "device": ("--device", "where runs are trained: cpu, cuda or auto"),
    "workers": ("--jobs", "how many processes share the work"),
    "preset": ("--preset", "default, or paper for the paper's own settings (slow)"),
    "cells": ("--cells", "only these, e.g. R1,R2:500,R5:500:45: task, training rows, noise in per cent"),
    "tasks": ("--tasks", "only these, e.g. odd,lessThan"),
    "tables": ("--tables", "only these, e.g. adult,iris"),
    "learners": ("--learners", "only these, e.g. ours-15,EBM"),
    "earlier": ("--earlier", "a kept report, of which bases or peers are taken that are not measured now"),
    "done": ("--done", "with --pieces: measure nothing, and report what is done"),
    "datasets": ("--datasets", "only these, e.g. nations,umls"),
    "pools": ("--pools", "only these of short,gradient,mixed"),
    "facts": ("--facts", "facts of the largest random graph"),
    "m": ("--m", "candidate predicates"),
    "rows": ("--rows", "training rows"),
    "noise": ("--noise", "share of flipped labels"),
    "long": ("--long", "also what takes minutes"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; a user's mistake is one sentence on stderr and status 2, pages in part status 1.

    Examples
    --------
    >>> main(["synthetic", "--cells", "R7", "--seeds", "1"])
    2
    """
    given = vars(_parser().parse_args(arguments))
    run = given.pop("run")
    try:
        return int(run(**given) or 0)
    except AndreError as error:
        sys.stderr.write(f"bench: {error}\n")
        return 2


def _parser() -> argparse.ArgumentParser:
    """One command for every benchmark, its options those of the list, and `all`, `page` and `figures`."""
    parser = argparse.ArgumentParser(
        "./dev bench", description="Measure the paper's tables and figures, its numbers beside ours."
    )
    commands = parser.add_subparsers(metavar="NAME", required=True)
    out = argparse.ArgumentParser(add_help=False)
    out.add_argument("--out", type=Path, help="write OUT/benchmarks/*.json, figures and pages")
    out.add_argument(
        "--pieces", type=Path, help="keep every piece that is done here, and go on from there another time"
    )
    out.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="let the workers of a dask scheduler share the work, as tcp://host:8786",
    )
    for name, benchmark in BENCHMARKS.items():
        command = commands.add_parser(
            name,
            parents=[out],
            help=benchmark.title,
            description=f"{benchmark.title}. Defaults are the settings of the published page.",
        )
        for key, value in benchmark.defaults.items():
            option, about = _OPTIONS[key]
            if isinstance(value, bool):
                command.add_argument(option, action=argparse.BooleanOptionalAction, default=value, help=about)
            else:
                about += f" [{'all' if value is None else value}]"
                kind = str if value is None else type(value)
                command.add_argument(
                    option, dest=key, metavar=key.upper(), type=kind, default=value, help=about
                )
        command.add_argument("--json", dest="as_json", action="store_true", help="print JSON")
        command.set_defaults(run=_measure, name=name)
    everything = commands.add_parser(
        "all", parents=[out], help="all of them, as published, one after another"
    )
    everything.set_defaults(run=_measure_all)
    page = commands.add_parser(
        "page", help="write the pages of FOLDER/benchmarks from what is kept, without measuring"
    )
    page.add_argument("folder", type=Path)
    page.set_defaults(run=_write_pages)
    figures = commands.add_parser("figures", help="draw the figures of the concept pages into FOLDER")
    figures.add_argument("folder", type=Path)
    figures.set_defaults(run=_draw)
    return parser


def _measure(
    name: str,
    out: Path | None,
    pieces: Path | None,
    cluster: str | None,
    *,
    as_json: bool = False,
    **settings: Any,
) -> None:
    from benchmarks.pages import write_pages
    from benchmarks.processes import keep_pieces, use_cluster

    if settings.get("seeds", 1) < 1:
        raise AndreError("--seeds must be at least 1")
    with _progress(name) as tick, keep_pieces(pieces), use_cluster(cluster):
        report = BENCHMARKS[name].measure(tick, **settings)
    if pieces is not None:
        said = "Measured piece by piece, perhaps in several starts: the time in all is that of the last."
        report = replace(report, notes=(*report.notes, said))
    if cluster is not None:
        said = "Shared out among the workers of a cluster: their processor time and memory are not in here."
        report = replace(report, notes=(*report.notes, said))
    if out is not None:
        report.write(out)
        write_pages(out)
    _show(report, as_json=as_json)


def _measure_all(out: Path | None, pieces: Path | None, cluster: str | None) -> int:
    """Measure every benchmark as published; 1 where the pages are not what these measurements alone make."""
    left_out = []
    for name in BENCHMARKS:
        try:
            _measure(name, out, pieces, cluster)
        except DataError as error:  # its datasets are neither here nor to be had
            sys.stderr.write(f"bench: {name} left out: {error}\n")
            left_out.append(name)
    if left_out:
        sys.stderr.write(
            f"bench: the pages are not all new: what they had of {', '.join(left_out)} before is as it was\n"
        )
    if out is not None and (others := _others(out)):
        sys.stderr.write(
            f"bench: the pages also have {', '.join(others)}, which `all` does not measure: "
            f"delete them in {out}\n"
        )
        return 1
    return 1 if left_out else 0


def _others(out: Path) -> list[str]:
    """Reports of a folder that are not of the list."""
    from benchmarks.report import reports_in

    return sorted({report.name for report in reports_in(out)} - set(BENCHMARKS))


def _write_pages(folder: Path) -> None:
    from benchmarks.pages import write_pages

    sys.stdout.write(f"{write_pages(folder)}\n")


def _draw(folder: Path) -> None:
    from benchmarks.figures import draw_figures

    sys.stdout.writelines(f"{path}\n" for path in draw_figures(folder))


def _show(report: Report, *, as_json: bool) -> None:
    """Print a report: JSON if asked for, tables on a terminal, Markdown into a pipe."""
    if as_json:
        sys.stdout.write(report.json())
    elif sys.stdout.isatty():
        from rich.console import Console

        from benchmarks.report import rich_tables

        console = Console(markup=False, highlight=False)
        for part in (report.title, *rich_tables(report), *report.notes, report.provenance()):
            console.print(part)
    else:
        sys.stdout.write(report.markdown() + "\n\n")


@contextmanager
def _progress(name: str) -> Iterator[Tick]:
    """A bar on stderr while trials run; nothing where stderr is no terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        line = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(line, completed=done, total=total)


def _point_to_data() -> None:
    """Let datasets be found in shared/datasets beside the checkout, where `ANDRE_DATA` says nothing else."""
    beside = Path(__file__).parents[2] / "shared" / "datasets"
    if "ANDRE_DATA" not in os.environ and beside.is_dir():
        os.environ["ANDRE_DATA"] = str(beside)


if __name__ == "__main__":
    _point_to_data()
    sys.exit(main())
