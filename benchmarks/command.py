"""`./dev bench`: the paper's tables, measured here."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from andre.cli.app import run
from andre.errors import AndreError, DataError

if TYPE_CHECKING:
    from benchmarks.output import Report

__all__ = ["bench", "main"]


bench = typer.Typer(
    name="bench",
    help="Measure the paper's tables and figures, its numbers beside ours.",
    no_args_is_help=True,
)

Seeds = Annotated[int, typer.Option(min=1, help="Samples a cell: seeds 0, 1, ... The full tables take 20.")]
Seed = Annotated[int, typer.Option(min=0, help="Draws the rows and the first weights.")]
Workers = Annotated[int, typer.Option(min=0, help="Processes; 0 takes one for each core.")]
Preset = Annotated[str, typer.Option(help="default, or paper for the paper's own settings (slow).")]
Cells = Annotated[
    str | None,
    typer.Option(help="Only these, e.g. R1,R2:500,R5:500:45: task, training rows, noise in per cent."),
]
Tasks = Annotated[str | None, typer.Option(help="Only these, e.g. odd,lessThan.")]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Write JSON and figures to OUT/benchmarks/ and the page OUT/benchmarks.md.", file_okay=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@bench.command()
def synthetic(
    seeds: Seeds = 2,
    cells: Cells = None,
    preset: Preset = "default",
    workers: Workers = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """R1-R6, 28 cells: how often the target program is recovered."""
    from benchmarks.synthetic import bench_synthetic, parse_cells

    chosen = parse_cells(cells)
    with _progress("synthetic") as tick:
        report = bench_synthetic(chosen, seeds, preset, _count(workers), tick)
    _show(report, out, as_json)


@bench.command()
def ablation(
    seeds: Seeds = 2,
    cells: Cells = "R1,R2,R3",
    preset: Preset = "default",
    workers: Workers = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Attention against product operators, all else equal."""
    from benchmarks.ablation import bench_ablation
    from benchmarks.synthetic import parse_cells

    chosen = parse_cells(cells)
    with _progress("ablation") as tick:
        report = bench_ablation(chosen, seeds, preset, _count(workers), tick)
    _show(report, out, as_json)


@bench.command()
def operators(out: Out = None, as_json: AsJson = False) -> None:
    """How closely operators follow the minimum and the maximum (figure of appendix B)."""
    from benchmarks.operators import bench_operators

    _show(bench_operators(out), out, as_json)


@bench.command()
def visual(seed: Seed = 0, out: Out = None, as_json: AsJson = False) -> None:
    """Grandparent and the four-predicate rule, with their figures (appendix G)."""
    from benchmarks.visual import bench_visual

    _show(bench_visual(seed, out), out, as_json)


@bench.command()
def wide(
    m: Annotated[int, typer.Option(min=9, help="Candidate predicates.")] = 50,
    rows: Annotated[int, typer.Option(min=1, help="Training rows.")] = 5000,
    noise: Annotated[float, typer.Option(min=0, max=1, help="Share of flipped labels.")] = 0.1,
    seeds: Seeds = 5,
    workers: Workers = 0,
    *,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Random programs of three rules among many predicates, beyond the paper."""
    from benchmarks.wide import bench_wide

    with _progress("wide") as tick:
        report = bench_wide(m, rows, noise, seeds, _count(workers), tick)
    _show(report, out, as_json)


@bench.command()
def classical(
    seeds: Seeds = 2, tasks: Tasks = None, workers: Workers = 0, out: Out = None, as_json: AsJson = False
) -> None:
    """Ten classical tasks, each judged on a larger domain by running its program alone."""
    from benchmarks.classical import bench_classical, parse_tasks

    chosen = parse_tasks(tasks)
    with _progress("classical") as tick:
        report = bench_classical(chosen, seeds, _count(workers), tick)
    _show(report, out, as_json)


@bench.command()
def noise(
    seeds: Seeds = 2, tasks: Tasks = None, workers: Workers = 0, out: Out = None, as_json: AsJson = False
) -> None:
    """Four classical tasks from labels turned over and from uncertain facts, with a figure."""
    from benchmarks.classical import parse_tasks
    from benchmarks.noise import NOISY_TASKS, bench_noise

    chosen = parse_tasks(tasks, NOISY_TASKS)
    with _progress("noise") as tick:
        report = bench_noise(chosen, seeds, _count(workers), tick, out=out)
    _show(report, out, as_json)


@bench.command()
def census(
    facts: Annotated[int, typer.Option(min=1000, help="Facts of the largest random graph.")] = 10**6,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """The paper's row totals from its datasets, and how a census grows with the facts."""
    from benchmarks.growth import SIZES, bench_census

    _show(bench_census([size for size in SIZES if size <= facts] or [facts]), out, as_json)


@bench.command()
def kb(
    part: Annotated[
        str | None, typer.Option(help="Only these, with commas: ranking, accuracy, countries, time. [all]")
    ] = None,
    datasets: Annotated[
        str | None, typer.Option(help="Only these datasets, with commas, e.g. nations,umls.")
    ] = None,
    seed: Seed = 0,
    workers: Workers = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Knowledge bases: ranks of missing facts, accuracy by two protocols, Countries, times."""
    from benchmarks.kb import PARTS, KbOptions, parse_parts

    for name in parse_parts(part):
        with _progress(name) as tick:
            report = PARTS[name](KbOptions(datasets, seed, _count(workers), tick, out))
        _show(report, out, as_json)


@bench.command()
def ranking(
    bases: Annotated[str | None, typer.Option(help="Only these, e.g. nations,umls.")] = None,
    pools: Annotated[str | None, typer.Option(help="Only these of short,gradient,mixed.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of runs and of validation facts split off.")] = 0,
    workers: Workers = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Missing facts of Nations, UMLS, Kinship and WN18RR: filtered ranks, four tie policies."""
    from benchmarks.ranking import bench_ranking, parse_names
    from benchmarks.ranking_trial import BASES, POOLS

    chosen, made_of = parse_names(bases, BASES), parse_names(pools, POOLS)
    with _progress("ranking") as tick:
        report = bench_ranking(chosen, made_of, seed, _count(workers), tick, out=out)
    _show(report, out, as_json)


@bench.command(name="all")
def everything(
    seeds: Seeds = 2,
    workers: Workers = 0,
    out: Out = None,
    speed: Annotated[
        Path | None,
        typer.Option(help="Also run the speed benchmarks in this folder, with pytest.", exists=True),
    ] = None,
) -> None:
    """All tables and figures with the default settings, one after the other.

    Tables of knowledge bases are left out where their datasets are neither here
    nor to be had.
    """
    classical(seeds=seeds, workers=workers, out=out)
    noise(seeds=min(seeds, 10), workers=workers, out=out)
    synthetic(seeds=seeds, workers=workers, out=out)
    ablation(seeds=seeds, workers=workers, out=out)
    operators(out=out)
    visual(out=out)
    wide(workers=workers, out=out)
    census(facts=10**7, out=out)
    try:
        kb(workers=workers, out=out)
    except DataError as error:
        typer.echo(f"andre: left out: {error}", err=True)
    if speed is not None:
        command = [sys.executable, "-m", "pytest", str(speed), "--benchmark-only"]
        if subprocess.run([*command, *([] if out is None else ["--out", str(out)])], check=False).returncode:
            raise AndreError(f"the speed benchmarks in {speed} did not pass: see above")


@bench.command()
def figures(
    folder: Annotated[Path, typer.Argument(help="Where to write them.", file_okay=False)],
) -> None:
    """Draw the figures of the documentation's concept pages into FOLDER, as SVG."""
    from benchmarks.figures import draw_figures

    for path in draw_figures(folder):
        typer.echo(path)


@bench.command()
def page(
    folder: Annotated[Path, typer.Argument(help="Where `--out` pointed to.", exists=True, file_okay=False)],
) -> None:
    """Write FOLDER/benchmarks.md from the results in FOLDER/benchmarks/, without measuring."""
    from benchmarks.output import write_page

    typer.echo(write_page(folder))


def _count(workers: int) -> int:
    return workers or os.cpu_count() or 1


def _show(report: Report, out: Path | None, as_json: bool) -> None:
    """Print a report as its reader likes it, and keep it where asked."""
    if out is not None:
        report.write(out)
    if as_json:
        typer.echo(report.json(), nl=False)
    elif sys.stdout.isatty():
        from rich.console import Console

        from benchmarks.output import rich_tables

        console = Console(markup=False, highlight=False)
        for part in (report.title, *rich_tables(report), *report.notes, report.provenance()):
            console.print(part)
    else:
        typer.echo(report.markdown() + "\n")


@contextmanager
def _progress(name: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr while trials run; nothing where stderr is no terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        line = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(line, completed=done, total=total)


def main() -> None:
    """Run the benchmarks' command line."""
    run(bench)
