"""`andre rank`: the best candidates for the open place of an atom, and why."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from andre.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from andre.evaluation.ranks import RankReport
    from andre.learning.completion import Completion, Prediction
    from andre.logic import Atom

__all__ = ["rank"]


@app.command(
    epilog="\n\n".join(
        (
            "andre rank umls.nl 'isa(alga, ?)'",
            "andre rank umls.nl --evaluate test --out umls.run",
            "andre rank umls.run 'isa(?, entity)' --limit 5",
        )
    )
)
def rank(
    source: Annotated[
        Path, typer.Argument(metavar="FACTS|RUN", help="A knowledge base, or a folder that --out wrote.")
    ],
    pattern: Annotated[
        str | None, typer.Argument(help="An atom with one open place, as 'isa(x, ?)'.", show_default=False)
    ] = None,
    *,
    limit: Annotated[int, typer.Option(help="How many candidates.", min=1)] = 10,
    rules: Annotated[int, typer.Option(help="How many rules for each candidate.", min=0)] = 3,
    known: Annotated[bool, typer.Option("--known", help="List known facts too.")] = False,
    evaluate: Annotated[
        str | None, typer.Option(help="Rank the facts marked valid or test, and print MRR and Hits.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Save what was learned in this folder.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="The format of the facts.")] = None,
    seed: Annotated[int, typer.Option(help="Of the validation facts that are split off.", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Rank what is missing from a knowledge base, with the rules that say so."""
    if pattern is None and evaluate is None and out is None:
        from andre.errors import AndreError

        raise AndreError("there is nothing to do: give an atom such as 'isa(x, ?)', --evaluate or --out")
    asked = None if pattern is None else _pattern(pattern)
    # Facts that are split off can be ranked only as long as they are not learned from.
    config = {"seed": seed, "give_back": evaluate != "valid"}
    completion = _completion(source, format, config)
    if out is not None:
        from andre.learning.completion import save_completion

        save_completion(completion, out)
    found = [] if asked is None else completion.rank(asked, limit, known=known, rules=rules)
    report = None if evaluate is None else _evaluate(completion, evaluate)
    if as_json:
        import json
        from dataclasses import asdict

        values = {
            "predictions": [_as_values(prediction) for prediction in found],
            "evaluation": report and asdict(report),
            "chosen": {
                "aggregator": completion.scorer.aggregator,
                "smoothing": completion.scorer.smoothing,
                "penalty": completion.scorer.penalty,
            },
            "reliability": [asdict(bin) for bin in completion.reliability.bins],
            "seconds": completion.seconds,
        }
        typer.echo(json.dumps(values, indent=2, ensure_ascii=False))
        return
    for line in _lines(found, completion):
        typer.echo(line)
    if report is not None:
        typer.echo(f"{report.queries} queries on {evaluate} facts, filtered, both sides")
        typer.echo(str(report))


def _pattern(text: str) -> Atom:
    from andre.logic import parse_atom

    return parse_atom(text.replace("?", "Answer") if "'" not in text else text)


def _completion(source: Path, format: str | None, settings: dict[str, Any]) -> Completion:
    from andre.facts import read_facts
    from andre.learning.completion import CompletionConfig, complete, load_completion

    if (source / "completion.json").is_file():
        return load_completion(source)
    base = read_facts(source, format)
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always")
        made = complete(base, CompletionConfig.read(settings))
    for note in noticed:
        typer.echo(f"note: {note.message}", err=True)
    if not len(base.select("valid")):
        then = ", which then teach like all others" if settings["give_back"] else ""
        typer.echo(f"note: no fact is marked valid: seed {settings['seed']} splits some off{then}", err=True)
    return made


def _evaluate(completion: Completion, mark: str) -> RankReport:
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always")
        report = completion.evaluate(mark)
    for note in noticed:
        typer.echo(f"note: {note.message}", err=True)
    return report


def _as_values(prediction: Prediction) -> dict[str, Any]:
    return {
        "atom": str(prediction.atom),
        "score": prediction.score,
        "chance": prediction.chance,
        "rules": [
            {"rule": str(rule), "n_b": rule.evidence[0].n_b, "n_r": rule.evidence[0].n_r}
            for rule in prediction.rules
        ],
    }


def _lines(found: list[Prediction], completion: Completion) -> Iterator[str]:
    """Candidates, each with its rules and one grounding of every rule."""
    for place, prediction in enumerate(found, 1):
        yield f"{place:>3}. {prediction.atom}  chance {prediction.chance:.3f}"
        for rule in prediction.rules:
            counted = rule.evidence[0]
            yield f"       {counted.n_r:g} of {counted.n_b:g}: {rule}"
            for body in completion.groundings(rule, prediction.atom, limit=1):
                yield f"         as {', '.join(map(str, body))}"
