"""`andre show` and `andre report`: what a saved run learned, as text and as a page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from andre.cli import options
from andre.cli.app import command
from andre.cli.printing import check_file, check_folder, print_json
from andre.errors import AndreError

if TYPE_CHECKING:
    from andre.learning import Result
    from andre.runs import Run as Saved


@command(
    "andre show family.run",
    "andre show family.run --sentences                  for people who do not read Prolog",
    "andre show graph.run --target locatedIn/2 --to csv",
)
def show(
    run: options.Run,
    *,
    target: Annotated[
        str | None,
        typer.Option(metavar="RELATION", help="Of a run with several relations, the one to show, as p/2."),
    ] = None,
    runs: Annotated[bool, typer.Option("--runs", help="List the best of the runs it came from.")] = False,
    pool: Annotated[
        bool, typer.Option("--pool", help="Print all rules that runs came to, not only those chosen.")
    ] = False,
    targets: Annotated[bool, typer.Option("--targets", help="List targets with time and support.")] = False,
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write figures of the training here, as SVG.")
    ] = None,
    sentences: Annotated[
        bool, typer.Option("--sentences", help="Print the rules as sentences, one a line.")
    ] = False,
    phrases: options.Phrases = None,
    to: options.To = None,
    as_json: options.Json = False,
) -> None:
    """Print what a run learned: the rules with their evidence.

    Of a knowledge base that was completed, also how its rules are scored.
    """
    from rich.text import Text

    from andre.completion import Completion
    from andre.learning import Result, RuleClassifier, Theory
    from andre.report import remarks, rules_by_target, run_table, target_table
    from andre.runs import load

    loaded = load(run)
    rules_by_target(loaded, target)  # says which targets there are
    _check_kind(run, loaded, pool=pool, trained=runs or plots is not None)
    if targets and isinstance(loaded, Theory | Completion):
        _print(target_table(loaded))
        return
    if pool and isinstance(loaded, Theory):
        from andre.logic import to_prolog

        wanted = loaded if target is None else loaded.only(target)
        typer.echo("".join(to_prolog(definition.pool.rules, rounded=True) for definition in wanted), nl=False)
        return
    if sentences or phrases is not None:
        _print_sentences(loaded, target, phrases)
        return
    trained: Saved = loaded
    if isinstance(loaded, RuleClassifier):
        if (runs or plots) and not loaded.runs:
            raise AndreError(f"{run} was ended before any training: leave out --runs and --plots")
        places = [n for n, own in enumerate(loaded.runs) if str(own.space.head) == target]
        trained = loaded.runs[places[0] if places else 0] if loaded.runs else loaded
    if isinstance(loaded, Theory):
        trained = (loaded[target] if target else loaded.definitions[0]).result
    if plots is not None and isinstance(trained, Result):
        _draw(trained, plots)
    if runs and isinstance(trained, Result):
        _print(run_table(trained))
    else:
        print_run(loaded, to, as_json, target)
        if to is None and not as_json:  # as comments of Prolog
            _print(*(Text(f"% note: {line}", style="dim") for line in remarks(loaded, target)))


@command("andre report family.run --open", "andre report birds.run --data birds.csv --out birds.html --open")
def report(
    run: options.Run,
    *,
    data: Annotated[
        Path | None,
        typer.Option(metavar="TABLE|FACTS", help="What it was learned from, where that is not where it was."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write; RUN/report.html if not given.")
    ] = None,
    phrases: options.Phrases = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    as_json: options.Json = False,
) -> None:
    """Write a page about a run: one HTML file that needs no network.

    It shows what the program misses and gets wrong, each rule as a sentence and
    in Prolog with its evidence, what it derives and why, and how it was made.
    Folded away are what the network holds, how training went, what the runs
    found, and what was rejected and why; of a knowledge base that was completed
    it shows how its rules are scored and how test facts rank.
    """
    from andre.report import as_values, gather, write_report
    from andre.runs import load, load_origin

    path = out or run / "report.html"
    if path.parent != run:
        check_file(path)
    made = gather(load(run), load_origin(run), data, phrases)
    if as_json:
        print_json(as_values(made))
        return
    write_report(made, path)
    typer.echo(path)
    if show:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())


def print_run(run: Saved, to: str | None = None, as_json: bool = False, target: str | None = None) -> None:
    """Print the rules, all or those of one target: for machines, for a terminal, or as plain Prolog."""
    from andre.report import document, listing, overview, rules_by_target

    if as_json:
        print_json(document(run, target))
    elif to is not None:
        from andre.logic import Program, format_program

        rules = [rule for some in rules_by_target(run, target).values() for rule in some]
        typer.echo(format_program(Program(tuple(rules)), to), nl=False)
    elif sys.stdout.isatty():
        _print(*overview(run, target))
    else:
        typer.echo(listing(run, target), nl=False)


def _check_kind(path: Path, run: Saved, *, pool: bool, trained: bool) -> None:
    """Refuse what this kind of run has not."""
    from andre.completion import Completion
    from andre.learning import Theory

    if pool and not isinstance(run, Theory):
        raise AndreError(f"{path} has no pool of rules: andre learn keeps one for every target")
    if trained and isinstance(run, Completion):
        raise AndreError(f"{path} was made by andre rank, without training: leave out --runs and --plots")


def _print_sentences(run: Saved, target: str | None, phrases: Path | None) -> None:
    from andre.logic import Phrases, to_english
    from andre.report import rules_by_target

    said = None if phrases is None else Phrases.read(phrases)
    for rules in rules_by_target(run, target).values():
        typer.echo(to_english(rules, said), nl=False)


def _print(*things: object) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for thing in things:
        console.print(thing, soft_wrap=isinstance(thing, Text))  # a table folds its own cells


def _draw(result: Result, folder: Path) -> None:
    from andre.learning import plot_accuracy, plot_losses, plot_probabilities, save_figure

    check_folder(folder)
    save_figure(plot_losses(result), folder / "losses.svg")
    save_figure(plot_accuracy(result), folder / "accuracy.svg")
    save_figure(plot_probabilities(result), folder / "probabilities.svg")
