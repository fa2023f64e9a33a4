"""`andre fit`, `show` and `demo`, and what `andre predict` does with rows: rules from tables."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from andre.cli.app import app
from andre.errors import AndreError

if TYPE_CHECKING:
    from collections.abc import Collection

    from andre.learning import Callback, Config, Result
    from andre.logic import Rule
    from andre.report import Rows
    from andre.runs import TableSource
    from andre.samples import Sample

__all__ = [
    "AsJson",
    "Quiet",
    "Run",
    "check_folder",
    "config_options",
    "predict_rows",
    "predict_table",
    "read_rows",
    "say",
    "show_result",
]


_EXAMPLES = "\n\n".join  # a blank line between examples, or the help would run them together

Source = Annotated[Path, typer.Argument(metavar="TABLE", help="CSV or Parquet; - is standard input.")]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="A folder that `andre fit --out` wrote.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only the result, and errors.")]


@app.command(
    epilog=_EXAMPLES(
        (
            "andre fit birds.csv --label bird",
            "andre fit birds.csv --label bird --validation 0.2 --out birds.run",
            "andre fit family.csv --label 'grandparent(X1,X3)' --set subrules=4 --set steps=300",
            "zcat birds.csv.gz | andre fit - --label bird --time-limit 60 --quiet > birds.pl",
        )
    )
)
def fit(
    table: Source,
    *,
    label: Annotated[str, typer.Option(help="The column of 0/1 labels; it names the head.")] = "h",
    weight: Annotated[str | None, typer.Option(help="A column of row weights.")] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="A column to leave out; repeatable.")] = None,
    validation: Annotated[
        str | None, typer.Option(metavar="SHARE|FILE", help="Rows to hold out, e.g. 0.2, or a second table.")
    ] = None,
    preset: Annotated[str, typer.Option(help="default works best; paper follows the paper.")] = "default",
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same program.")] = 0,
    time_limit: Annotated[float | None, typer.Option(help="Seconds; then the best so far.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other setting; repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="RUN", help="Save the learned model here.")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep progress here, and take it up again.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a report here, as one HTML file.")
    ] = None,
    tensorboard: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write training curves here, for TensorBoard.")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Learn rules from a table: one row per example, one column per candidate, one for the label.

    Cells are truth values from 0 to 1, or true and false; an empty cell is
    unknown. The program goes to standard output as Prolog, everything else to
    standard error. Ctrl-C stops learning and gives the best program so far.
    """
    if out is not None:
        check_folder(out)
    if report is not None and not report.parent.is_dir():
        raise AndreError(f"there is no folder {report.parent} to write {report.name} to: make it first")
    chosen = _config(preset, settings or [], seed=seed, time_limit=time_limit, device=device)
    source = _source(table, label, weight, tuple(ignore or ()), (validation, seed))
    rows, held = _read(source, quiet)
    result = _learn(rows.train, chosen, held, checkpoint, quiet, tensorboard)
    _keep(result, source, rows, out, report)
    show_result(result, as_json)
    if not quiet:
        _say_how_it_went(result, out, report)


def predict_rows(run: Path, table: Path, *, proba: bool = False, out: Path | None = None) -> None:
    """Write a saved model's predictions for new rows to stdout, or to a file."""
    from andre.files import write_whole
    from andre.runs import load_result

    if out is not None and not out.parent.is_dir():
        raise AndreError(f"there is no folder {out.parent} to write {out.name} to: make it first")
    text = predict_table(load_result(run), _input(table), proba)
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_whole(out, text)


def predict_table(result: Result, path: Path, proba: bool = False) -> str:
    """Predictions for the rows of a table, as CSV.

    Parameters
    ----------
    result
        A learned model.
    path
        The table; it may have other columns, and needs no label.
    proba
        Whether to give the probability of the head too.
    """
    import numpy as np

    from andre.evaluation import covers, literal_truth
    from andre.facts import read_table

    table = read_table(path, label=None, columns=result.space.atoms)
    fires = covers(literal_truth(table.valuations), result.codes)  # [rules, N]
    trust = np.array([_trust(rule) for rule in result.program])  # [rules]
    chances = result.predict_proba(table.valuations)  # [N]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["prediction", *(["probability"] if proba else []), "rule"])
    texts = [*map(str, result.program), ""]
    silent = np.full((1, len(table)), -1.0)  # where no rule fires, the text is empty
    surest = np.vstack((np.where(fires, trust[:, None], -2.0), silent)).argmax(axis=0)  # [N]
    for rule, chance in zip(surest.tolist(), chances.tolist(), strict=True):
        fired = int(rule < len(result.program))
        writer.writerow([fired, *([f"{chance:.6g}"] if proba else []), texts[rule]])
    return buffer.getvalue()


@app.command()
def demo(
    seed: Annotated[int, typer.Option(min=0, help="Draws the rows and the first weights.")] = 0,
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the rows as CSV.")] = None,
) -> None:
    """Learn a built-in task: two rules over four predicates from 100 rows of fuzzy truth values."""
    from rich.console import Console

    from andre.files import write_whole
    from andre.learning import Config
    from andre.report import outcome, row_table, rule_table
    from andre.samples import SYNTHETIC_TASKS

    console, task = Console(highlight=False), SYNTHETIC_TASKS["four"]
    rows, labels = task.draw(100, seed)
    names, head = task.space.names, str(task.space.head)
    console.print("100 rows of random truth values; h is 1 where a hidden program holds. The first five:")
    console.print(row_table(names, rows[:5], head, labels[:5]))
    if save is not None:
        lines = [",".join((*names, head))]
        lines += [
            ",".join([*map(repr, row), str(int(label))])
            for row, label in zip(rows.tolist(), labels, strict=True)
        ]
        write_whole(save, "\n".join(lines) + "\n")
    result = _learn(task.sample(100, seed), Config.preset(seed=seed), None, None, quiet=False)
    console.print("\nLearned, with N_b rows where the body holds and N_r where the head holds too:")
    console.print(rule_table(result.program))
    same = "the hidden program" if result.program == task.program else "not the hidden program"
    console.print(f"\n{outcome(result)}: {same}.")
    console.print("Your own table: andre fit TABLE --label COLUMN", style="dim")


def _input(path: Path) -> Path:
    return Path("/dev/stdin") if str(path) == "-" else path


def check_folder(path: Path) -> None:
    """Refuse a folder that cannot be written to, before work is done that would be lost."""
    if path.exists() and not path.is_dir():
        raise AndreError(f"{path} is a file: name a folder, or a new one")
    nearest = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not nearest.is_dir():
        raise AndreError(f"{path} cannot be made, because {nearest} is a file: name another folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise AndreError(f"{path} cannot be written to: name another folder, or allow writing to {nearest}")


def _source(
    path: Path,
    label: str,
    weight: str | None,
    ignore: tuple[str, ...],
    held: tuple[str | None, int],
) -> TableSource:
    """What is to be read, and as what; a pipe cannot be read twice, so it has no digest."""
    from andre.runs import TableSource, digest

    path = _input(path)
    known = digest(path) if path.is_file() else ""
    return TableSource(str(path), known, label, weight, ignore, *held)


def read_rows(source: TableSource) -> Rows:
    """The rows that a model was learned from."""
    return _read(source, quiet=True)[0]


def _read(source: TableSource, quiet: bool) -> tuple[Rows, Sample | None]:
    """The rows to learn from, and those held out."""
    from andre.facts import read_table
    from andre.report import Rows
    from andre.samples import Sample

    table = read_table(source.path, source.label, source.weight, ignore=source.ignore).require_both_classes()
    if (constant := table.constant) and not quiet:
        say(f"left out, because the same on every row: {', '.join(constant)}")
    table = table.without_constant()
    if source.validation is None:
        return Rows(Sample.from_table(table), table), None
    share = _share(source.validation)
    if share is not None:
        train, held = table.split(share, source.seed)
        return Rows(Sample.from_table(train), table), Sample.from_table(held)
    second = read_table(_input(Path(source.validation)), source.label, source.weight, columns=table.names)
    return Rows(Sample.from_table(table), table), Sample.from_table(second)


def _keep(result: Result, source: TableSource, rows: Rows, out: Path | None, report: Path | None) -> None:
    """Save the model with its origin, and write its report, where asked."""
    from dataclasses import replace

    from andre.runs import Origin, save_origin, save_result

    found = replace(source, path=str(Path(source.path).resolve())) if source.sha256 else None
    origin = Origin(command=("andre", *sys.argv[1:]), table=found)
    if out is not None:
        save_result(result, out)
        save_origin(origin, out)
    if report is not None:
        from andre.report import gather, write_report

        write_report(gather(result, origin, rows), report)


def _share(text: str) -> float | None:
    """A share of rows, or None where the text is no number and so names a file."""
    try:
        return float(text)
    except ValueError:
        return None


def _config(preset: str, settings: list[str], **options: Any) -> Config:
    from andre.learning import Config

    return Config.preset(preset, **config_options(settings, **options))


#: Settings that are lists, even of one.
_LISTS = {"subrules", "certainties", "relations", "exclude", "require", "constants"}


def config_options(settings: list[str], lists: Collection[str] = _LISTS, /, **options: Any) -> dict[str, Any]:
    """Options by name, with those that `--set NAME=VALUE` gave; `lists` names those that are lists."""
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise AndreError(f"--set {setting} sets nothing: write NAME=VALUE, e.g. --set steps=300")
        options[name.strip().replace("-", "_")] = _value(name.strip() in lists, text.strip())
    return options


def _value(is_list: bool, text: str) -> Any:
    """A setting's value as JSON would have it, or else as text; `1,2` is a list, and so is `p(X,Y),q`."""
    if is_list or "," in text:
        inner = text[1:-1] if text[:1] + text[-1:] in {"[]", "()"} else text
        # A comma between brackets is one of an atom.
        return [_plain(piece.strip()) for piece in re.split(r",(?![^(]*\))", inner) if piece.strip()]
    return _plain(text)


def _plain(text: str) -> Any:
    try:
        return json.loads(text.lower() if text.lower() in {"true", "false"} else text)
    except ValueError:
        return None if text.lower() == "none" else text


def _learn(
    train: Sample,
    config: Config,
    held: Sample | None,
    checkpoint: Path | None,
    quiet: bool,
    tensorboard: Path | None = None,
) -> Result:
    """Learn, with a live view on stderr where that is a terminal."""
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
        return learn(train, config, validation=held, callbacks=watchers, checkpoint=checkpoint)


def show_result(result: Result, as_json: bool) -> None:
    """Print the program: for machines, for a terminal, or as plain Prolog."""
    if as_json:
        from andre.report import document

        typer.echo(json.dumps(document(result), indent=2))
    elif sys.stdout.isatty():
        from rich.console import Console

        from andre.report import listing

        Console(highlight=False).print(listing(result), soft_wrap=True)
    else:
        from andre.runs import prolog

        typer.echo(prolog(result), nl=False)


def _say_how_it_went(result: Result, out: Path | None, report: Path | None = None) -> None:
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


def say(message: str) -> None:
    """Say something on stderr."""
    typer.echo(f"andre: {message}", err=True)


def _trust(rule: Rule) -> float:
    """How sure a rule is of its head, on the training rows."""
    evidence = rule.on("train")
    return 0.0 if evidence is None else (evidence.n_r + 1) / (evidence.n_b + 2)
