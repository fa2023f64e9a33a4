"""`andre census`: how many groundings, rows and distinct rows a target has."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from andre.cli.app import app

if TYPE_CHECKING:
    from andre.census import Census, Mode, Semantics

__all__ = ["census"]


@app.command()
def census(
    source: Annotated[Path, typer.Argument(help="A file, folder or database of facts, a task or a dataset.")],
    *,
    target: Annotated[
        str | None, typer.Option(help="The relation to define, as p/2; a bias or language may name it.")
    ] = None,
    variables: Annotated[int | None, typer.Option(help="How many variables a rule may have.")] = None,
    semantics: Annotated[
        str, typer.Option(help="What an example is: a grounding (rows) or a head atom (exists).")
    ] = "exists",
    mode: Annotated[str, typer.Option(help="define or complete: over what exists ranges.")] = "define",
    preset: Annotated[str, typer.Option(help="default or paper.")] = "default",
    language: Annotated[Path | None, typer.Option(help="A TOML file that says what bodies may hold.")] = None,
    format: Annotated[
        str | None, typer.Option("--format", help="Its format, where it cannot be seen.")
    ] = None,
    heads: Annotated[
        int | None, typer.Option(help="Draw so many head atoms that stand for all; in exists.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw.")] = 0,
    memory_limit: Annotated[float, typer.Option(min=0, help="Gigabytes that tables may take.")] = 4.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Count the rows of a target without listing its groundings."""
    from andre.census import sample_census, take_census
    from andre.errors import ConfigError
    from andre.facts import read_source
    from andre.limits import peak_megabytes
    from andre.samples import Language

    began = time.perf_counter()
    facts = read_source(source, format)
    given = {"target": target, "variables": variables}
    options = {name: value for name, value in given.items() if value is not None}
    chosen = Language.of(facts, language, preset, **options)
    limit, about = int(memory_limit * 2**30), cast("Mode", mode)  # checked there, with a sentence
    if heads is None:
        found = take_census(
            facts, chosen, semantics=cast("Semantics", semantics), mode=about, memory_limit=limit
        )
    elif semantics == "exists":
        found = sample_census(facts, chosen, heads, seed=seed, mode=about, memory_limit=limit)
    else:
        raise ConfigError(
            f"head atoms are drawn in exists only: leave out --heads or --semantics {semantics}"
        )
    summary = _summary(found.require_both_classes())
    if as_json:
        import json

        typer.echo(json.dumps({"source": str(source), "target": chosen.target, **summary}, indent=2))
        return
    for name, value in summary.items():
        typer.echo(f"{name:<12} {value:,}" if isinstance(value, int | float) else f"{name:<12} {value}")
    typer.echo(f"{'time':<12} {time.perf_counter() - began:.2f} s")
    if (peak := peak_megabytes()) is not None:
        typer.echo(f"{'peak memory':<12} {peak:,.0f} MB")


def _summary(found: Census) -> dict[str, Any]:
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
