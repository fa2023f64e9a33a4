"""`andre fit` and `andre demo`: rules from a table of examples."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from andre.cli import options
from andre.cli.app import command
from andre.cli.options import input_path, with_settings
from andre.cli.printing import check_file, check_folder, say
from andre.cli.show import print_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from andre.facts import ExampleTable
    from andre.learning import Callback, Result


@command(
    "andre fit birds.csv --label bird",
    "andre fit birds.csv --label bird --validation 0.2 --out birds.run",
    "andre fit family.csv --label 'grandparent(X1,X3)' --set subrules=4 --set steps=300",
    "zcat birds.csv.gz | andre fit - --label bird --time-limit 60 --quiet > birds.pl",
)
def fit(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="CSV or Parquet; - is standard input.")],
    *,
    label: Annotated[str, typer.Option(help="The column of 0/1 labels; it names the head.")] = "h",
    weight: Annotated[str | None, typer.Option(help="A column of row weights: 2 counts as two rows.")] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="A column to leave out; repeatable.")] = None,
    validation: Annotated[
        str | None, typer.Option(metavar="SHARE|FILE", help="Rows to hold out, e.g. 0.2, or a second table.")
    ] = None,
    preset: options.Preset = "default",
    seed: options.Seed = 0,
    time_limit: options.TimeLimit = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    settings: options.Set = None,
    out: options.OutRun = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep progress here, and take it up again.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a report here, as one HTML file.")
    ] = None,
    tensorboard: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write training curves here, for TensorBoard.")
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn rules from a table of examples.

    A row is an example, and a column a candidate for the bodies of rules or the
    label. Cells are truth values from 0 to 1, or true and false; an empty cell
    is unknown. The program goes to standard output as Prolog, everything else
    to standard error. Ctrl-C stops learning and gives the best program so far.
    """
    from andre.api import fit as learn
    from andre.learning import Config
    from andre.runs import Origin, TableSource, digest, save

    check_folder(out)
    check_file(report)
    chosen = with_settings(settings, seed=seed, time_limit=time_limit, device=device)
    config = Config.preset(preset, **chosen)
    path = Path(input_path(table))
    known = digest(path) if path.is_file() else ""  # a pipe cannot be read twice
    where = str(path.resolve()) if known else str(path)
    held = validation and input_path(validation)
    source = TableSource(where, known, label, weight, tuple(ignore or ()), held, seed)
    examples = source.read()
    if examples.constant and not quiet:
        say(f"left out, because the same on every row: {', '.join(examples.constant)}")
    if not quiet:
        _say_of_weights(examples.table)
    with _watchers(quiet, tensorboard) as callbacks:
        result = learn(
            examples.train, config, validation=examples.held, callbacks=callbacks, checkpoint=checkpoint
        )
    origin = Origin(command=("andre", *sys.argv[1:]), table=source if known else None)
    if out is not None:
        save(result, out, origin)
    if report is not None:
        from andre.report import gather_result, write_report

        write_report(gather_result(result, origin, examples.train, examples.table), report)
    print_run(result, as_json=as_json)
    if not quiet:
        _say_how_it_went(result, out, report)


def _say_of_weights(table: ExampleTable) -> None:
    """A word on weights that look like shares: rows of next to no weight are next to no evidence."""
    if table.weights is None:
        return
    rows, total = int((table.weights > 0).sum()), float(table.weights.sum())
    if total < rows / 2:
        say(
            f"the weights of {rows} rows add up to {total:g}, and count as so many rows: "
            "if only their proportions matter, scale them up to a mean of 1"
        )


@command()
def demo(
    seed: options.Seed = 0,
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the rows as CSV.")] = None,
    quiet: options.Quiet = False,
) -> None:
    """Learn a built-in task, from rows to rules.

    Two rules over four predicates are found again from 100 rows of fuzzy truth values.
    """
    from rich.console import Console

    from andre.files import write_whole
    from andre.learning import Config
    from andre.learning import fit as learn
    from andre.report import outcome, row_table, rule_table
    from andre.samples import SYNTHETIC_TASKS

    console, task = Console(highlight=False, quiet=quiet), SYNTHETIC_TASKS["four"]
    rows, labels = task.draw(100, seed)
    names, head = task.space.names, str(task.space.head)
    console.print("100 rows of random truth values; h is 1 where a hidden program holds. The first five:")
    console.print(row_table(names, rows[:5], head, labels[:5]))
    if save is not None:
        lines = [",".join((*names, head))]
        for row, label in zip(rows.tolist(), labels.tolist(), strict=True):
            lines.append(",".join([*map(repr, row), str(int(label))]))
        write_whole(save, "\n".join(lines) + "\n")
    with _watchers(quiet) as callbacks:
        result = learn(task.sample(100, seed), Config.preset(seed=seed), callbacks=callbacks)
    console.print("\nLearned, with N_b rows where the body holds and N_r where the head holds too:")
    Console(highlight=False).print(rule_table(result.program))
    same = "the hidden program" if result.program == task.program else "not the hidden program"
    console.print(f"\n{outcome(result)}: {same}.")
    console.print("Your own table: andre fit TABLE --label COLUMN", style="dim")


@contextmanager
def _watchers(quiet: bool, tensorboard: Path | None = None) -> Iterator[list[Callback]]:
    """A live view on standard error where that is a terminal, and curves for TensorBoard where asked for."""
    with ExitStack() as stack:
        watchers: list[Callback] = []
        if not quiet and sys.stderr.isatty():
            from andre.report import LiveProgress

            watchers.append(stack.enter_context(LiveProgress()))
        if tensorboard is not None:
            from andre.report import TensorBoard

            watchers.append(stack.enter_context(TensorBoard(tensorboard)))
        yield watchers


def _say_how_it_went(result: Result, out: Path | None, report: Path | None) -> None:
    from andre.report import outcome, remarks

    for line in remarks(result):
        say(line)
    say(outcome(result))
    if out is not None:
        say(f"saved in {out}: andre show {out}, andre report {out}, andre predict {out} TABLE")
    if report is not None:
        say(f"report written to {report}")
