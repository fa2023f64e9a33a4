"""`andre fit` and `andre demo`: rules from a table."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from andre.cli import options
from andre.cli.app import command
from andre.cli.options import input_path, with_settings
from andre.cli.printing import check_file, check_folder, print_json, say
from andre.cli.show import print_run
from andre.errors import AndreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from andre.arrays import Floats
    from andre.facts import LabelledRows
    from andre.learning import Callback, ClassifierConfig, RuleClassifier

#: The label of tables that `andre demo --save` writes, and the columns that a message names.
_LABEL, _NAMED = "h", 12


@command(
    "andre fit people.csv --label income",
    "andre fit people.csv --label income --dry-run",
    "andre fit people.csv --label 'price > 100' --ignore id --column zip=category --out people.run",
    "andre fit people.csv --label income --validation 0.2 --max-rules 8 --report people.html",
    "andre fit shop.sqlite --tables customer --label loyal",
    "zcat birds.csv.gz | andre fit - --label bird --crisp --time-limit 60 --quiet > birds.pl",
    learns=True,
)
def fit(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="CSV or Parquet; - is standard input. Or a table of a database, as shop.sqlite#customer.",
        ),
    ],
    *,
    label: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            show_default="h",
            help="The column of classes, or a comparison: 'price > 100', 'since > 2021-03-01', 'kind = cat'.",
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Of two classes the one that rules are about, by default 1 or yes; of more, this one "
            "against all others.",
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=KIND",
            help="What a column is: number, category, boolean, date, truth or text; repeatable.",
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column to leave out; repeatable.")
    ] = None,
    tables: Annotated[
        str | None, typer.Option("--tables", metavar="TABLE", help="Of a database, the table with the rows.")
    ] = None,
    weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="A column of row weights: 2 counts as two rows.")
    ] = None,
    validation: Annotated[
        str | None, typer.Option(metavar="SHARE|FILE", help="Rows to hold out, e.g. 0.2, or a second table.")
    ] = None,
    max_rules: Annotated[int, typer.Option(metavar="N", min=1, help="Rules at the most.")] = 15,
    max_literals: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Literals of a rule at the most; 3 where they are searched for."
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            metavar="fewest|best",
            help="Take the fewest rules near the best, or the best; by default the best above 15 rules.",
        ),
    ] = None,
    objective: Annotated[
        str,
        typer.Option(
            metavar="accuracy|balanced|CLASS=COST,...",
            help="What decisions maximise, or what a mistake about each class costs.",
        ),
    ] = "accuracy",
    class_weight: Annotated[
        str | None,
        typer.Option(metavar="balanced|CLASS=WEIGHT,...", help="What rows of each class weigh in learning."),
    ] = None,
    crisp: Annotated[bool, typer.Option("--crisp", help="The plain program, without weights.")] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print what each column becomes, or what a fit would refuse, and learn nothing."
        ),
    ] = False,
    preset: options.Preset = "default",
    seed: options.Seed = 0,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
    device: options.Device = "cpu",
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
    """Learn rules that tell the rows of a table apart.

    The table may be as it is: columns are recognised as numbers, categories,
    true and false, or dates, and an empty cell is unknown. Each rule has a
    weight, which it adds to the log-odds of its class where it fires; where
    none does, the base rate holds. Rules go to standard output, everything
    else to standard error. Ctrl-C stops learning and gives the best rules so far.
    """
    from andre.facts import table_parts
    from andre.limits import Deadline, limited, unhurried
    from andre.progress import doing

    check_folder(out)
    check_folder(checkpoint)
    check_file(report)
    where = input_path(table if tables is None else f"{table}#{tables}")
    _check_table(where, label)
    # Only now, as torch takes seconds to load, which no slip of spelling shall cost.
    from andre.learning import ClassifierConfig, learn_classifier
    from andre.runs import Origin, TableSource, digest

    given = with_settings(settings, device=device)
    config = ClassifierConfig.of(
        preset,
        {name: value for name, value in given.items() if name not in _OWN_FIELDS},
        rules="crisp" if crisp else "weighted",
        max_rules=max_rules,
        max_literals=max_literals,
        size=size,
        objective=_by_class(objective, "--objective"),
        class_weight=None if class_weight is None else _by_class(class_weight, "--class-weight"),
        columns=dict(_pair(text, "--column", "age=number") for text in column or ()),
        ignore=tuple(ignore or ()),
        seed=seed,
        time_limit=time_limit,
        **{name: given[name] for name in _OWN_FIELDS if name in given},
    )
    file, part = table_parts(where)
    known = digest(Path(file)) if Path(file).is_file() else ""  # a pipe cannot be read twice
    if known:
        where = str(Path(file).resolve()) + ("" if part is None else f"#{part}")
    held = validation and input_path(validation)
    source = TableSource(where, known, label or _LABEL, weight, config.ignore, held, seed, positive)
    deadline = Deadline.after(time_limit)
    with limited(deadline):
        rows, held_out = source.rows()
    if dry_run:
        _print_columns(rows, held_out, config, as_json=as_json)
        return
    keeper = None
    if checkpoint is not None:
        from andre.runs import keepers  # which loads torch

        keeper = keepers(checkpoint)
    if not quiet:
        _say_of_weights(rows.weights, weight)
    with _watchers(quiet, tensorboard) as callbacks, limited(deadline):
        model = learn_classifier(rows, config, validation=held_out, callbacks=callbacks, keeper=keeper)
    origin = Origin(command=("andre", *sys.argv[1:]), table=source if known else None)
    with unhurried():
        print_run(model, as_json=as_json)  # first, so that it is not lost where a file cannot be written
        if out is not None:
            from andre.runs import save

            with doing(f"saving {out}"):
                save(model, out, origin)
        if report is not None:
            from andre.report import gather_classifier, in_words, write_report

            with doing(f"writing {report}"):
                write_report(in_words(gather_classifier(model, origin, rows, held_out)), report)
        if not quiet:
            _say_how_it_went(model, out, report)


def _check_table(where: str, label: str | None) -> None:
    """Refuse a table that is not there, or that has no label, before anything is loaded."""
    from andre.facts import open_table

    if Path(where).exists() and not Path(where).is_file():  # a pipe, which can be read once
        return
    with open_table(where) as table:
        names = [name.strip() for name in table.names]
    if label is None and _LABEL not in names:
        some = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        raise AndreError(f"{where}: name the column to predict by --label: there are {some}")


#: Settings that `--set` may name and that are none of the runs of gradient descent.
_OWN_FIELDS = ("truth_values", "always_run")


def _pair(text: str, option: str, example: str) -> tuple[str, str]:
    """A name and a value with an equals sign between; the name may have one, too."""
    name, equals, value = text.rpartition("=")
    if not (equals and name.strip() and value.strip()):
        raise AndreError(f"{option} {text} says nothing: write it as in {option} {example}")
    return name.strip(), value.strip()


def _by_class(text: str, option: str) -> str | dict[str, float]:
    """A word, or numbers by class, as in yes=5,no=1."""
    if "=" not in text:
        return text
    pairs = (_pair(piece, option, "yes=5,no=1") for piece in text.split(","))
    try:
        return {name: float(value) for name, value in pairs}
    except ValueError:
        raise AndreError(f"{option} {text} has no number behind a sign: write it as in yes=5,no=1") from None


def _print_columns(
    rows: LabelledRows, held_out: LabelledRows | None, config: ClassifierConfig, *, as_json: bool
) -> None:
    """What each column becomes, and the classes."""
    from andre.learning import guess_notes, learn_encoding

    encoding, labels = learn_encoding(rows, config, held_out), rows.labels
    shares = dict(zip(labels.classes, (rows.totals / rows.totals.sum()).tolist(), strict=True))
    if as_json:
        from dataclasses import asdict

        columns = [asdict(column) for column in encoding.summary()]
        print_json({"label": labels.name, "classes": shares, "columns": columns})
        return
    typer.echo(encoding)
    classes = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
    about = ""
    if len(shares) == 2:
        own = labels.classes[labels.positive]
        both = ", and weighted rules may speak for either class"
        about = f"; the base rate is that of {own}{'' if config.rules == 'crisp' else both}"
    say(f"{len(rows):,} rows, {len(encoding.atoms):,} atoms; {labels.name}: {classes}{about}")
    for line in (*rows.notes, *guess_notes(encoding, config)):
        say(line)


def _say_of_weights(weights: Floats, column: str | None) -> None:
    """A word on weights that look like shares: rows of next to no weight are next to no evidence."""
    if column is not None and float(weights.sum()) < len(weights) / 2:
        say(
            f"the weights of {len(weights)} rows add up to {float(weights.sum()):g}, and count as so many "
            "rows: if only their proportions matter, scale them up to a mean of 1"
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
            from andre.cli.working import shown_through
            from andre.report import LiveProgress

            live = stack.enter_context(LiveProgress())
            stack.enter_context(shown_through(live))
            watchers.append(live)
        if tensorboard is not None:
            from andre.report import TensorBoard

            watchers.append(stack.enter_context(TensorBoard(tensorboard)))
        yield watchers


def _say_how_it_went(result: RuleClassifier, out: Path | None, report: Path | None) -> None:
    from andre.report import class_shares, outcome, remarks

    for line in (*remarks(result), outcome(result), *class_shares(result)):
        say(line)
    if out is not None:
        say(
            f"saved in {out}: andre show {out}, andre report {out}, andre predict or eval {out} TABLE, "
            f"andre explain {out} TABLE ROW"
        )
    if report is not None:
        say(f"report written to {report}")
