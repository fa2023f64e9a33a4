"""`andre facts`, `convert`, `census`, `tasks` and `datasets`: what there is to learn from."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from andre.cli import options
from andre.cli.app import command
from andre.cli.options import memory_for, read_in_world, selected
from andre.cli.printing import note, print_json, print_table
from andre.errors import AndreError

if TYPE_CHECKING:
    from andre.census import Census
    from andre.facts import Bias, FactBase, Task
    from andre.facts.datasets import Dataset


@command(
    "andre facts family.pl",
    "andre facts umls --json",
    "andre facts shop.sqlite --tables 'customer,order*'",
    "andre facts postgresql://ann@localhost/shop --key totals.customer_id",
)
def facts(
    source: options.Facts,
    *,
    format: options.Format = None,
    tables: options.Tables = None,
    columns: options.Columns = None,
    key: options.Keys = None,
    join: options.Joins = None,
    as_json: options.Json = False,
) -> None:
    """Show what facts there are: relations, counts, types.

    The types of arguments are found from the facts; of each relation one fact is shown.
    In a database a table with a key becomes table_column(key, value) for every column.
    """
    from andre.facts import without_password
    from andre.logic import quote

    base = read_in_world(source, format, None, selection=selected(tables, columns, key, join))
    source = without_password(source)
    summary = _facts_summary(base)
    if as_json:
        print_json({"source": source, **summary})
        return
    columns, rows = _fact_columns(summary), [_fact_row(relation) for relation in summary["relations"]]
    if sys.stdout.isatty():  # where the name stands beside it already
        for row, relation in zip(rows, summary["relations"], strict=True):
            row["sample"] = row["sample"].removeprefix(quote(relation["name"]))
    size = f"{len(base):,} facts of {len(base.relations):,} relations about {len(base.constants):,} constants"
    print_table(columns, rows, words=("types", "sample"), title=source, caption=size)
    if sys.stdout.isatty():
        sizes = ", ".join(f"{name} ({size:,})" for name, size in summary["types"].items())
        typer.echo(f"types: {sizes}")
    for rule in summary["rules"]:
        typer.echo(f"rule: {rule}" if sys.stdout.isatty() else rule)
    for clause in summary["prolog"]:
        typer.echo(f"Prolog: {clause}" if sys.stdout.isatty() else clause)
    note(summary["notes"])


@command(
    "andre convert graph.nl graph.jsonl",
    "andre convert graph.nl train.pl --mark train",
    "andre convert --rules rules.txt rules.pl",
)
def convert(
    source: options.Facts,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The file or folder to write.", show_default=False)
    ],
    *,
    to: options.To = None,
    format: options.Format = None,
    tables: options.Tables = None,
    columns: options.Columns = None,
    key: options.Keys = None,
    join: options.Joins = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT",
            help="Leave out what the format cannot hold: probability, mark, negative, rules or bias; "
            "repeatable.",
        ),
    ] = None,
    mark: Annotated[
        str | None, typer.Option(metavar="train|valid|test", help="Write the facts with this mark only.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="RELATION", help="The relation that has the examples (popper).")
    ] = None,
    rules: Annotated[
        bool, typer.Option("--rules", help="FACTS is a program: prolog, problog, anyburl, json or csv.")
    ] = False,
) -> None:
    """Write facts, or rules, in another format.

    The ending of OUT names the format, or else --to. Parquet and CSV become a
    folder of that name, with a file for each relation.
    Nothing is lost without being said: what the format cannot hold is refused unless --drop names it.
    """
    if rules:
        from andre.logic import read_program, write_program

        program = read_program(source, format)
        write_program(program, out, to)
        typer.echo(f"{len(program):,} rules written to {out}", err=True)
        return
    base = read_in_world(source, format, None, selection=selected(tables, columns, key, join))
    note(base.notes)
    if mark is not None:
        base = base.select(mark).without("mark")
    if target is not None:
        base = replace(base, bias=_bias_for(base, target))
    _write(base.without(*(drop or [])), out, to)


@command("andre census family.pl --target grandparent/2", "andre census umls --target isa/2 --mode complete")
def census(
    source: options.Facts,
    *,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="RELATION", help="The relation to define, as p/2; a bias or language may name it."
        ),
    ] = None,
    variables: options.Variables = None,
    semantics: options.Semantics = "exists",
    mode: options.Mode = "define",
    preset: options.Preset = "default",
    language: options.LanguageFile = None,
    format: options.Format = None,
    tables: options.Tables = None,
    columns: options.Columns = None,
    key: options.Keys = None,
    join: options.Joins = None,
    world: options.World = None,
    heads: options.Heads = None,
    seed: options.Seed = 0,
    memory_limit: options.MemoryLimit = None,
    on_disk: Annotated[
        bool,
        typer.Option(
            "--on-disk",
            help="Never read the facts into memory as a whole: FACTS is a folder with a Parquet file of one "
            "or two columns for each relation, which DuckDB joins. In rows, with up to three variables.",
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Count the examples of a target, and its distinct rows.

    The groundings are counted without being listed; the plan says how, and why so.
    """
    from andre.census import Draw, census_on_disk, sample_census, take_census
    from andre.samples import Language

    began = time.perf_counter()
    given = {"target": target, "variables": variables}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if on_disk:
        if target is None or semantics != "rows" or heads is not None:
            raise AndreError("--on-disk counts in rows and needs a --target: add --semantics rows")
        chosen = Language.preset(preset, **options)
        found = census_on_disk(source, chosen, memory_limit=memory_for(memory_limit, 0.5))
        _print_census(found.require_both_classes(), source, chosen.target, began, as_json)
        return
    base = read_in_world(source, format, world, selection=selected(tables, columns, key, join))
    chosen = Language.of(base, language, preset, **options)
    # Mode and semantics are checked there, with a sentence.
    common: dict[str, Any] = {"mode": mode, "memory_limit": memory_for(memory_limit, 0.5)}
    if heads is None:
        found = take_census(base, chosen, semantics=cast("Any", semantics), **common)
    elif semantics == "exists":
        found = sample_census(base, chosen, Draw(heads, seed), **common)
    else:
        raise AndreError(f"head atoms are drawn in exists only: leave out --heads or --semantics {semantics}")
    _print_census(found.require_both_classes(), source, chosen.target, began, as_json)


def _print_census(found: Census, source: str, target: str, began: float, as_json: bool) -> None:
    """Say what was counted, by which plan, how long that took and how much memory."""
    from andre.memory import peak_megabytes

    summary = _census_summary(found)
    if as_json:
        print_json({"source": source, "target": target, **summary, "plan": found.plan.to_dict()})
        return
    _print_pairs({name: _value_text(value) for name, value in summary.items()}, 12)
    for step in str(found.plan).splitlines():
        typer.echo(f"{'plan':<12} {step}")
    typer.echo(f"{'time':<12} {time.perf_counter() - began:.2f} s")
    if (peak := peak_megabytes()) is not None:
        typer.echo(f"{'peak memory':<12} {peak:,.0f} MB")


@command("andre tasks", "andre tasks even --out even.pl", "andre tasks even --split test --out larger.pl")
def tasks(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One of the tasks; all of them if none is named.")
    ] = None,
    *,
    out: options.OutFile = None,
    split: Annotated[
        str, typer.Option(metavar="train|test", help="What to write: test is the larger domain.")
    ] = "train",
    to: options.To = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """List the built-in tasks, or write the facts of one."""
    from andre.facts import TASKS

    if name is not None and name not in TASKS:
        raise AndreError(f"there is no task {name}: choose from {', '.join(TASKS)}")
    if out is not None:
        if name is None:
            raise AndreError("there is no task to write: name one before --out")
        if split not in {"train", "test"}:
            raise AndreError(f"a task has no split {split!r}: choose train or test")
        _write(TASKS[name].train(seed) if split == "train" else TASKS[name].test(seed), out, to)
        return
    shown = [_task_summary(task, seed) for task in TASKS.values() if name in {None, task.name}]
    if as_json:
        print_json(shown if name is None else shown[0])
        return
    columns = ("name", "target", "variables", "constants", "facts", "summary")
    caption = "Constants and facts: to learn from / to judge by."
    print_table(columns, map(_task_row, shown), words=("target", "summary"), caption=caption)


@command("andre datasets", "andre datasets umls")
def datasets(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One to download if need be; none: list all.")
    ] = None,
    *,
    as_json: options.Json = False,
) -> None:
    """List the public knowledge bases, or download one."""
    from andre.facts.datasets import DATASETS, fetch, find

    if name is None:
        shown = [_dataset_summary(dataset, find(dataset.name)) for dataset in DATASETS.values()]
    else:
        path = fetch(name)  # first: it says which names there are
        shown = [_dataset_summary(DATASETS[name], path)]
    if as_json:
        print_json(shown if name is None else shown[0])
    elif name is not None:
        _print_pairs({key: value for key, value in shown[0].items() if key != "notes"}, 10)
        note(shown[0]["notes"])
    else:
        columns = ("name", "relations", "train", "test", "constants", "summary")
        missing = dict.fromkeys(columns[2:5], "") | {"relations": "not downloaded"}
        rows = [dataset if dataset["path"] else {**dataset, **missing} for dataset in shown]
        print_table(columns, rows, words=("summary",))


def _write(base: FactBase, out: Path, to: str | None) -> None:
    from andre.facts import write_facts

    write_facts(base, out, to)
    where = f"the folder {out}" if out.is_dir() else out
    typer.echo(f"{len(base):,} facts of {len(base.relations)} relations written to {where}", err=True)


def _print_pairs(values: dict[str, Any], width: int) -> None:
    for name, value in values.items():
        typer.echo(
            f"{name:<{width}} {value:,}" if isinstance(value, int | float) else f"{name:<{width}} {value}"
        )


def _bias_for(base: FactBase, target: str) -> Bias:
    from andre.facts import Bias

    heads = tuple(key for key in base.relations if target in {key[0], f"{key[0]}/{key[1]}"})
    if not heads:
        names = ", ".join(f"{name}/{arity}" for name, arity in base.relations)
        raise AndreError(f"there is no relation {target}: choose from {names}")
    body = tuple(key for key in base.relations if key not in heads)
    return replace(base.bias, head=heads) if base.bias else Bias(head=heads, body=body)


def _facts_summary(base: FactBase) -> dict[str, Any]:
    from andre.facts import MARKS, argument_types

    types = argument_types(base)
    relations = [
        {
            "name": relation.name,
            "arity": relation.arity,
            "facts": len(relation),
            "types": list(types.of[key]),
            **{mark: relation.count(mark) for mark in MARKS},
            "negative": relation.n_negative,
            "probabilistic": relation.probability is not None,
            "sample": str(next(base.atoms(*key))),
        }
        for key, relation in base.relations.items()
    ]
    return {
        "facts": len(base),
        "constants": len(base.constants),
        "relations": relations,
        "types": dict(types.sizes),
        "rules": [str(rule) for rule in base.rules],
        "prolog": list(base.prolog.clauses) if base.prolog else [],
        "bias": None if base.bias is None else asdict(base.bias),
        "notes": list(base.notes),
        **{name: count for name, count in asdict(base.notes).items() if name in {"duplicates", "overlaps"}},
    }


def _fact_columns(summary: dict[str, Any]) -> list[str]:
    """The columns that say something: counts that are zero throughout are left out."""
    marked = any(relation["valid"] or relation["test"] for relation in summary["relations"])
    shown = [
        name
        for name in ("train", "valid", "test", "negative")
        if any(relation[name] for relation in summary["relations"]) and (name != "train" or marked)
    ]
    return ["relation", "facts", *shown, "types", "sample"]


def _fact_row(relation: dict[str, Any]) -> dict[str, Any]:
    from andre.logic import quote

    types = ", ".join(map(quote, relation["types"]))
    return {**relation, "relation": f"{quote(relation['name'])}/{relation['arity']}", "types": types}


def _value_text(value: str | float) -> str:
    from andre.logic import format_count

    return value if isinstance(value, str) else format_count(value)


def _census_summary(found: Census) -> dict[str, Any]:
    whole = {
        "semantics": found.semantics,
        "groundings": found.groundings,
        "dropped": found.dropped,
        "rows": found.n_examples,
        "distinct": found.distinct,
        "positive": found.positive,
        "negative": found.negative,
        "candidates": found.space.m,
    }
    if found.heads is not None:
        whole["bags"] = len(found.heads)
    if found.sampled is not None:
        whole["sampled"] = found.sampled
    # A count is a whole number, and a weight is shown as one where it is.
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in whole.items()
    }


def _task_summary(task: Task, seed: int) -> dict[str, Any]:
    sizes = {
        split: {"constants": len(base.constants), "facts": len(base)}
        for split, base in (("train", task.train(seed)), ("test", task.test(seed)))
    }
    return {
        "name": task.name,
        "target": task.target,
        "variables": task.variables,
        "background": list(task.background),
        **sizes,
        "summary": task.summary,
    }


def _task_row(task: dict[str, Any]) -> dict[str, Any]:
    """A task with its counts as train/test."""
    return task | {key: f"{task['train'][key]}/{task['test'][key]}" for key in ("constants", "facts")}


def _dataset_summary(dataset: Dataset, path: Path | None) -> dict[str, Any]:
    """What is known of a dataset; its counts only where its file is on this machine."""
    from andre.facts import MARKS
    from andre.facts.datasets import load

    counts: dict[str, Any] = dict.fromkeys(("relations", *MARKS, "constants"))
    notes = [f"{dataset.name}: {dataset.note}"] if dataset.note else []
    if path is not None:
        base = load(dataset.name)
        by_mark = {mark: sum(r.count(mark) for r in base.relations.values()) for mark in MARKS}
        counts = {"relations": len(base.relations), **by_mark, "constants": len(base.constants)}
        notes = list(base.notes)
    return {
        "name": dataset.name,
        **counts,
        "path": None if path is None else str(path),
        "summary": dataset.summary,
        "notes": notes,
    }
