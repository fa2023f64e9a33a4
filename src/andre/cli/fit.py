"""`andre fit` and `andre demo`: rules from a table of examples."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from andre.cli import options
from andre.cli.app import command
from andre.cli.options import input_path, with_settings
from andre.cli.printing import check_file, check_folder, say
from andre.cli.show import print_run

if TYPE_CHECKING:
    from andre.facts import ExampleTable
    from andre.learning import Callback, Config, Result
    from andre.runs import TableSource
    from andre.samples import Sample


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
    weight: Annotated[str | None, typer.Option(help="A column of row weights.")] = None,
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
    from andre.learning import Config
    from andre.runs import Origin, TableSource, digest, save

    check_folder(out)
    check_file(report)
    chosen = with_settings(settings, seed=seed, time_limit=time_limit, device=device)
    config = Config.preset(preset, **chosen)
    path = Path(input_path(table))
    known = digest(path) if path.is_file() else ""  # a pipe cannot be read twice
    where = str(path.resolve()) if known else str(path)
    source = TableSource(where, known, label, weight, tuple(ignore or ()), validation, seed)
    examples = read_examples(source, quiet=quiet)
    result = _learn(examples, config, checkpoint=checkpoint, tensorboard=tensorboard, quiet=quiet)
    origin = Origin(command=("andre", *sys.argv[1:]), table=source if known else None)
    if out is not None:
        save(result, out, origin)
    if report is not None:
        from andre.report import gather, write_report

        write_report(gather(result, origin, examples.train, examples.table), report)
    print_run(result, as_json=as_json)
    if not quiet:
        _say_how_it_went(result, out, report)


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
    result = _learn(Examples(task.sample(100, seed)), Config.preset(seed=seed), quiet=quiet)
    console.print("\nLearned, with N_b rows where the body holds and N_r where the head holds too:")
    Console(highlight=False).print(rule_table(result.program))
    same = "the hidden program" if result.program == task.program else "not the hidden program"
    console.print(f"\n{outcome(result)}: {same}.")
    console.print("Your own table: andre fit TABLE --label COLUMN", style="dim")


class Examples(NamedTuple):
    """What rules are learned from."""

    train: Sample
    held: Sample | None = None  #: to validate on
    table: ExampleTable | None = None  #: all rows one by one, those held out among them


def read_examples(source: TableSource, *, quiet: bool = True) -> Examples:
    """Read a table as its options say: the rows to learn from, and those held out."""
    from andre.facts import read_table
    from andre.samples import Sample

    table = read_table(source.path, source.label, source.weight, ignore=source.ignore).require_both_classes()
    if (constant := table.constant) and not quiet:
        say(f"left out, because the same on every row: {', '.join(constant)}")
    table = table.without_constant()
    if source.validation is None:
        return Examples(Sample.from_table(table), table=table)
    try:
        share = float(source.validation)
    except ValueError:  # no number, so a file
        other = read_table(input_path(source.validation), source.label, source.weight, columns=table.names)
        return Examples(Sample.from_table(table), Sample.from_table(other), table)
    train, held = table.split(share, source.seed)
    return Examples(Sample.from_table(train), Sample.from_table(held), table)


def _learn(
    examples: Examples,
    config: Config,
    *,
    checkpoint: Path | None = None,
    tensorboard: Path | None = None,
    quiet: bool,
) -> Result:
    """Learn, with a live view on standard error where that is a terminal."""
    from contextlib import ExitStack

    from andre.api import fit as learn

    with ExitStack() as stack:
        watchers: list[Callback] = []
        if not quiet and sys.stderr.isatty():
            from andre.report import LiveProgress

            watchers.append(stack.enter_context(LiveProgress()))
        if tensorboard is not None:
            from andre.report import TensorBoard

            watchers.append(stack.enter_context(TensorBoard(tensorboard)))
        return learn(
            examples.train, config, validation=examples.held, callbacks=watchers, checkpoint=checkpoint
        )


def _say_how_it_went(result: Result, out: Path | None, report: Path | None) -> None:
    from andre.report import outcome, why_no_rule

    if result.stopped == "interrupted":
        say("stopped by Ctrl-C: this is the best program so far")
    elif result.stopped == "time":
        say(f"the time limit of {result.config.time_limit:g} s was reached: this is the best program so far")
    if why := why_no_rule(result):
        say(why)
    say(outcome(result))
    if out is not None:
        say(f"saved in {out}: andre show {out}, andre report {out}, andre predict {out} TABLE")
    if report is not None:
        say(f"report written to {report}")
