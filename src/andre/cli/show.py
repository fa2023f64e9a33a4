"""`andre show`: what a saved run learned."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from andre.cli.app import app
from andre.cli.learn import print_theory
from andre.cli.tables import AsJson, Run, check_folder, show_result
from andre.errors import AndreError

if TYPE_CHECKING:
    from andre.learning import Result

__all__ = ["show"]


@app.command()
def show(
    run: Run,
    *,
    target: Annotated[
        str | None, typer.Option(help="Of a run with several targets, the one to show, as p/2.")
    ] = None,
    runs: Annotated[bool, typer.Option("--runs", help="List the best of the runs it came from.")] = False,
    pool: Annotated[
        bool, typer.Option("--pool", help="Print all rules that runs came to, not only those chosen.")
    ] = False,
    targets: Annotated[bool, typer.Option("--targets", help="List targets with time and support.")] = False,
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write figures of the training here, as SVG.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print a saved model: the program with its evidence."""
    from andre.runs import load_result, load_theory

    if not (run / "theory.json").is_file():
        if pool:
            raise AndreError(f"{run} has no pool of rules: andre learn keeps one for every target")
        result = load_result(run)
        if not _details(result, runs, plots):
            show_result(result, as_json)
        return
    theory = load_theory(run)
    if targets:
        from rich.console import Console

        from andre.report import target_table

        Console().print(target_table(theory))
        return
    if pool:
        from andre.logic import to_prolog

        wanted = theory if target is None else theory.only(target)
        typer.echo("".join(to_prolog(definition.pool.rules) for definition in wanted), nl=False)
        return
    chosen = theory[target] if target else theory.definitions[0]
    if not _details(chosen.result, runs, plots):
        print_theory(theory if target is None else theory.only(target), as_json=as_json)


def _details(result: Result, runs: bool, plots: Path | None) -> bool:
    """Write figures and list runs, as asked; whether a list was all that was asked for."""
    if plots is not None:
        from andre.learning import plot_accuracy, plot_losses, plot_probabilities, save_figure

        check_folder(plots)
        for name, draw in (("losses", plot_losses), ("accuracy", plot_accuracy)):
            save_figure(draw(result), plots / f"{name}.svg")
        save_figure(plot_probabilities(result), plots / "probabilities.svg")
    if runs:
        from rich.console import Console

        from andre.report import run_table

        Console().print(run_table(result))
    return runs
