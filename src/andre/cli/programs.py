"""`andre eval` and `andre explain`, and what `andre predict` does with facts: run a program over them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from andre.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from andre.evaluation import Confusion
    from andre.facts import FactBase
    from andre.inference import Model

__all__ = ["Engine", "Format", "Json", "Memory", "evaluate", "explain", "predict_facts"]


_Program = Annotated[
    Path,
    typer.Argument(
        metavar="RUN|PROGRAM",
        help="A folder that `andre learn --out` wrote, or rules in Prolog, ProbLog, AnyBURL, JSON or CSV.",
        show_default=False,
    ),
]
_Source = Annotated[
    Path, typer.Argument(help="A file, folder or database of facts, or a public base.", show_default=False)
]
Format = Annotated[
    str | None, typer.Option("--format", help="The format of the facts, where it cannot be seen.")
]
Engine = Annotated[str, typer.Option(help="auto, clingo (small) or duckdb (large).")]
Memory = Annotated[str, typer.Option(help="How much memory DuckDB may take before it goes to disk.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def predict_facts(
    program: Path,
    source: Path,
    *,
    out: Path | None = None,
    as_json: bool = False,
    format: str | None = None,
    engine: str = "auto",
    memory_limit: str = "4GB",
) -> None:
    """Write what a program derives to stdout, or to a file."""
    from andre.facts import write_facts
    from andre.inference import infer
    from andre.logic import read_program

    rules = read_program(program)
    evidence = _evidence(program, _read(source, format))
    model = infer(rules, evidence, engine=engine, memory_limit=memory_limit)
    if out is not None:
        write_facts(model.derived, out)
    elif as_json:
        _print_json(list(_facts_as_values(model)))
    else:
        for line in _fact_lines(model):
            sys.stdout.write(line)
    typer.echo(f"{len(model):,} facts derived by {model.engine}", err=True)


@app.command("eval")
def evaluate(
    program: _Program,
    source: _Source,
    *,
    mark: Annotated[
        str | None, typer.Option(help="Judge the facts marked valid or test; test where there are any.")
    ] = None,
    as_json: Json = False,
    format: Format = None,
    engine: Engine = "auto",
) -> None:
    """Judge PROGRAM by the head atoms it derives: accuracy, precision, recall.

    Atoms marked #TEST are judged and the others read. Without marks, all atoms
    of the heads are judged, and the program must derive them from the rest.
    """
    from andre.evaluation import entailment
    from andre.logic import read_program

    rules = read_program(program)
    result = entailment(rules, _read(source, format), mark=mark, engine=engine)
    if as_json:
        _print_json({"program": str(program), "source": str(source), **result.as_dict()})
        return
    typer.echo(f"judged: {result.protocol}", err=True)
    rows = [(f"{name}/{arity}", counts) for (name, arity), counts in result.heads.items()]
    if len(rows) > 1:
        rows.append(("all", result.overall))
    _print_lines(
        ["head", "accuracy", "precision", "recall", "TP", "FP", "FN", "TN"],
        [[name, *_figures(counts)] for name, counts in rows],
    )


@app.command()
def explain(
    program: _Program,
    source: _Source,
    atom: Annotated[str, typer.Argument(help="The atom, such as 'h(a, b)'.", show_default=False)],
    *,
    limit: Annotated[int, typer.Option(min=1, help="How many groundings of each rule to show.")] = 3,
    depth: Annotated[int, typer.Option(min=1, help="How many levels of premises to explain.")] = 3,
    as_json: Json = False,
    format: Format = None,
) -> None:
    """Say why ATOM holds, with rules and groundings, or which literal is missing."""
    from andre.facts import as_stated
    from andre.inference import Explainer
    from andre.logic import parse_atom, read_program

    asked = parse_atom(atom, source="the atom")
    rules = read_program(program)
    facts = _read(source, format)
    explainer = Explainer(rules, _evidence(program, facts))
    explanation = explainer.explain(as_stated(asked, facts), limit=limit, depth=depth)
    if as_json:
        _print_json(explanation.as_dict())
    else:
        typer.echo(str(explanation))


def _read(source: Path, format: str | None) -> FactBase:
    from andre.facts import read_source

    facts = read_source(source, format)
    for note in facts.notes:
        typer.echo(f"note: {note}", err=True)
    return facts


def _evidence(program: Path, facts: FactBase) -> FactBase:
    """What a program may read: training facts, less the examples of what is to be learned."""
    from dataclasses import replace

    if (program / "theory.json").is_file():
        from andre.runs import load_theory

        return load_theory(program).evidence(facts)

    training = facts.select("train")
    examples = training.bias.head if training.bias else ()
    read = {key: relation for key, relation in training.relations.items() if key not in examples}
    return replace(training, relations=read)


def _fact_lines(model: Model) -> Iterator[str]:
    """The derived facts as Prolog, uncertain ones as ProbLog."""
    from andre.logic import Rule

    for key, relation in model.derived.relations.items():
        values = [1.0] * len(relation) if relation.probability is None else relation.probability.tolist()
        for atom, value in zip(model.derived.atoms(*key), values, strict=True):
            yield f"{Rule(atom, probability=value)}\n"


def _facts_as_values(model: Model) -> Iterator[dict[str, Any]]:
    for key, relation in model.derived.relations.items():
        values = [1.0] * len(relation) if relation.probability is None else relation.probability.tolist()
        for codes, value in zip(relation.codes.tolist(), values, strict=True):
            args = [model.derived.constants[code] for code in codes]
            yield {"predicate": key[0], "args": args, "probability": value}


def _figures(counts: Confusion) -> list[str]:
    shares = (counts.accuracy, counts.precision, counts.recall)
    whole = (counts.true_positives, counts.false_positives, counts.false_negatives, counts.true_negatives)
    return ["-" if share is None else f"{share:.4f}" for share in shares] + list(map(str, whole))


def _print_lines(columns: list[str], lines: list[list[str]]) -> None:
    """A table on a terminal, and cells between tabs elsewhere."""
    if not sys.stdout.isatty():
        for line in (columns, *lines):
            typer.echo("\t".join(line))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left", overflow="fold")
    for line in lines:
        table.add_row(*map(Text, line))
    Console().print(table)


def _print_json(value: object) -> None:
    import json

    typer.echo(json.dumps(value, indent=2))
