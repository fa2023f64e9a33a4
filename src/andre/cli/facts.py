"""`andre facts` and `andre convert`: look at facts, and carry them from one format to another."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from andre.cli.app import app

if TYPE_CHECKING:
    from andre.facts import FactBase

__all__ = ["convert", "facts"]


_Source = Annotated[Path, typer.Argument(help="A file, folder or database of facts, a task or a dataset.")]
_Format = Annotated[str | None, typer.Option("--format", help="Its format, where it cannot be seen.")]


@app.command()
def facts(
    source: _Source,
    format: _Format = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what facts a source has: relations, counts, argument types, samples."""
    from andre.facts import read_source

    base = read_source(source, format)
    summary = _summary(base)
    if as_json:
        import json

        typer.echo(json.dumps({"source": str(source), **summary}, ensure_ascii=False, indent=2))
        return
    if sys.stdout.isatty():
        _print_table(source, base, summary)
    else:
        _print_plain(summary)
    for note in summary["notes"]:
        typer.echo(f"note: {note}", err=True)


@app.command()
def convert(
    source: _Source,
    out: Annotated[Path, typer.Argument(help="The file or folder to write.")],
    *,
    to: Annotated[str | None, typer.Option(help="The format to write, where OUT does not end in it.")] = None,
    format: _Format = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(help="Leave out what the format cannot hold: probability, mark, negative, rules, bias."),
    ] = None,
    mark: Annotated[
        str | None, typer.Option(help="Write the facts marked train, valid or test only.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="The relation that has the examples (popper).")] = None,
    rules: Annotated[
        bool,
        typer.Option("--rules", help="SOURCE is a program: prolog, problog, anyburl, json or csv."),
    ] = False,
) -> None:
    """Write the facts of SOURCE in another format, or its rules; nothing is lost without being said."""
    if rules:
        _convert_rules(source, out, format, to)
        return
    from andre.facts import read_source, write_facts

    base = read_source(source, format)
    for note in base.notes:
        typer.echo(f"note: {note}", err=True)
    if mark is not None:
        base = base.select(mark).without("mark")
    if target is not None:
        base = replace(base, bias=_bias_for(base, target))
    base = base.without(*(drop or []))
    write_facts(base, out, to)
    typer.echo(f"{len(base):,} facts of {len(base.relations)} relations written to {out}", err=True)


def _convert_rules(source: Path, out: Path, format: str | None, to: str | None) -> None:
    from andre.logic import read_program, write_program

    program = read_program(source, format)
    write_program(program, out, to)
    typer.echo(f"{len(program):,} rules written to {out}", err=True)


def _bias_for(base: FactBase, target: str) -> Any:
    from andre.errors import DataError
    from andre.facts import Bias

    heads = tuple(key for key in base.relations if target in {key[0], f"{key[0]}/{key[1]}"})
    if not heads:
        names = ", ".join(f"{name}/{arity}" for name, arity in base.relations)
        raise DataError(f"there is no relation {target}: choose from {names}")
    body = tuple(key for key in base.relations if key not in heads)
    return replace(base.bias, head=heads) if base.bias else Bias(head=heads, body=body)


def _summary(base: FactBase) -> dict[str, Any]:
    from andre.facts import MARKS, argument_types

    types = argument_types(base)
    relations = []
    for key, relation in base.relations.items():
        relations.append(
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
        )
    return {
        "facts": len(base),
        "constants": len(base.constants),
        "relations": relations,
        "types": dict(types.sizes),
        "rules": [str(rule) for rule in base.rules],
        "bias": None if base.bias is None else asdict(base.bias),
        "notes": list(base.notes),
        **{name: count for name, count in asdict(base.notes).items() if name in {"duplicates", "overlaps"}},
    }


def _columns(summary: dict[str, Any]) -> list[str]:
    """The columns that say something: counts that are zero throughout are left out."""
    counts = ("train", "valid", "test", "negative")
    marked = any(relation["valid"] or relation["test"] for relation in summary["relations"])
    shown = [
        name
        for name in counts
        if any(relation[name] for relation in summary["relations"]) and (name != "train" or marked)
    ]
    return ["relation", "facts", *shown, "types", "sample"]


def _cells(relation: dict[str, Any], columns: list[str]) -> list[str]:
    from andre.logic import quote

    made = {
        "relation": f"{quote(relation['name'])}/{relation['arity']}",
        "types": ", ".join(map(quote, relation["types"])),
    }
    return [made[column] if column in made else str(relation[column]) for column in columns]


def _print_plain(summary: dict[str, Any]) -> None:
    columns = _columns(summary)
    typer.echo("\t".join(columns))
    for relation in summary["relations"]:
        typer.echo("\t".join(_cells(relation, columns)))
    for rule in summary["rules"]:
        typer.echo(rule)


def _print_table(source: Path, base: FactBase, summary: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    columns = _columns(summary)
    table = Table(title=Text(str(source)), caption=Text(repr(base)))
    for column in columns:
        table.add_column(
            column, justify="left" if column in {"relation", "types", "sample"} else "right", overflow="fold"
        )
    for relation in summary["relations"]:
        table.add_row(*map(Text, _cells(relation, columns)))
    console = Console()
    console.print(table)
    sizes = ", ".join(f"{name} ({size})" for name, size in summary["types"].items())
    console.print(Text(f"types: {sizes}"))
    for rule in summary["rules"]:
        console.print(Text(f"rule: {rule}"))
