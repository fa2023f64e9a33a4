"""`andre predict`: a saved model on new rows, or a program on facts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from andre.cli.app import app
from andre.cli.programs import Engine, Format, Json, Memory, predict_facts
from andre.cli.tables import predict_rows
from andre.errors import AndreError

__all__ = ["predict"]


@app.command(
    epilog="\n\n".join(
        (
            "andre predict birds.run new.csv --proba > predictions.csv",
            "andre predict ancestors.pl family.pl",
            "andre predict rules.txt graph.tsv --out derived.tsv",
        )
    )
)
def predict(
    program: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|PROGRAM",
            help="A folder that `andre fit --out` or `andre learn --out` wrote, or rules in Prolog, "
            "ProbLog, AnyBURL, JSON or CSV.",
        ),
    ],
    source: Annotated[
        Path, typer.Argument(metavar="TABLE|FACTS", help="New rows for a RUN, facts for a PROGRAM.")
    ],
    *,
    proba: Annotated[bool, typer.Option("--proba", help="RUN: add a column with the probability.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write here, not to stdout.")] = None,
    as_json: Json = False,
    format: Format = None,
    engine: Engine = "auto",
    memory_limit: Memory = "4GB",
) -> None:
    """Apply what was learned: a prediction per row of a table, or all facts that a program derives.

    Columns of a table are matched by name, in any order; others are not read.
    Facts marked as test or validation facts are not read, nor are the examples
    of a Popper folder, nor facts of what a learned theory defines.
    """
    if (program / "result.json").is_file():
        if as_json:
            raise AndreError("predictions for a table are CSV: leave out --json")
        predict_rows(program, source, proba=proba, out=out)
        return
    if proba:
        raise AndreError(f"--proba needs a folder that `andre fit --out` wrote, and {program} is none")
    predict_facts(
        program,
        source,
        out=out,
        as_json=as_json,
        format=format,
        engine=engine,
        memory_limit=memory_limit,
    )
