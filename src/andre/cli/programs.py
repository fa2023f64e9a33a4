"""`andre rescore`, `diff` and `merge`: what becomes of rules after they are learned."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from andre.cli import options
from andre.cli.app import command
from andre.cli.predict import NEW_ROWS, read_for, run_of_rows, theory_in
from andre.cli.printing import print_json
from andre.errors import AndreError

if TYPE_CHECKING:
    from andre.logic import Difference, Rule
    from andre.logic import Program as Rules


@command("andre rescore run new_facts.pl --out rescored.pl", "andre rescore birds.run new.csv")
def rescore(
    program: options.Program,
    source: Annotated[
        str,
        typer.Argument(
            metavar="TABLE|FACTS", help="Rows for a run of `andre fit`, else facts.", show_default=False
        ),
    ],
    *,
    mark: Annotated[
        str | None,
        typer.Option(
            metavar="train|valid|test",
            help="Which facts the rules are counted on: train, the default, valid or test as well as train. "
            "Of a table, what counts are called.",
        ),
    ] = None,
    to: options.To = None,
    out: options.OutFile = None,
    format: options.Format = None,
    world: options.World = None,
    engine: options.Engine = "auto",
) -> None:
    """Count N_b and N_r of old rules on new facts.

    N_b counts the head atoms for which a rule's body holds, N_r those of them
    that are facts; on a table, which needs its label, rows are counted, as new
    beside those of training.
    """
    from andre.evaluation import rescore as count
    from andre.facts import MARKS
    from andre.logic import read_program

    if mark is not None and mark not in MARKS:
        raise AndreError(f"there is no mark {mark!r}: choose from {', '.join(MARKS)}")
    if format is None and (result := run_of_rows(program, source)) is not None:
        from andre.learning import RuleClassifier
        from andre.report import classifier_listing, count_rows
        from andre.runs import load_origin

        origin = load_origin(program)
        table, split = None if origin is None else origin.table, mark or NEW_ROWS
        if isinstance(result, RuleClassifier) and to is None and out is None:
            judged = result.judged(result.labelled(source, None if table is None else table.weight), split)
            sys.stdout.write(classifier_listing(judged))
        else:
            _write(count_rows(result, source, split, table), to, out)
        return
    theory = theory_in(program)
    facts = read_for(source, format, world, program, theory)
    known = facts if theory is None else theory.with_background(facts)
    _write(count(read_program(program), known, mark or "train", engine=engine), to, out)


@command("andre diff last_week.run today.run")
def diff(old: options.Program, new: options.Program, *, as_json: options.Json = False) -> None:
    """Compare the rules of two runs or programs.

    Says which rules were gained, lost, reworked or have other evidence; status
    1 where rules differ.
    """
    from andre.logic import difference, read_program

    found = difference(read_program(old), read_program(new))
    if as_json:
        print_json(_values(found))
    else:
        for line in _lines(found):
            typer.echo(line)
    if not found.is_empty:
        raise typer.Exit(1)


@command("andre merge ours.run theirs.pl --out all.pl")
def merge(
    programs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN|PROGRAM", help="Two or more runs or programs.", show_default=False),
    ],
    *,
    keep_subsumed: Annotated[
        bool, typer.Option("--keep-subsumed", help="Keep rules that a more general one makes needless.")
    ] = False,
    to: options.To = None,
    out: options.OutFile = None,
) -> None:
    """Put the rules of several programs together, each once."""
    from andre.logic import merge_programs, read_program

    _write(merge_programs(map(read_program, programs), subsumed=keep_subsumed), to, out)


def _write(program: Rules, to: str | None, out: Path | None) -> None:
    from andre.logic import format_program, write_program

    if out is None:
        sys.stdout.write(format_program(program, to or "prolog"))
    else:
        write_program(program, out, to)


def _lines(found: Difference) -> list[str]:
    lines = [f"+ {rule}" for rule in found.gained] + [f"- {rule}" for rule in found.lost]
    for one, two in found.reworked:
        lines += [f"~ {one}", f"  became {two}"]
    for one, two in found.rescored:
        lines += [f"= {two}", f"  {_evidence(one)} became {_evidence(two)}"]
    counts = (
        f"{len(found.gained)} gained, {len(found.lost)} lost, {len(found.reworked)} reworked, "
        f"{len(found.rescored)} with other evidence, {len(found.same)} the same"
    )
    return [*lines, counts]


def _evidence(rule: Rule) -> str:
    return "; ".join(map(str, rule.evidence)) or "no evidence"


def _values(found: Difference) -> dict[str, Any]:
    return {
        "gained": list(map(str, found.gained)),
        "lost": list(map(str, found.lost)),
        "reworked": [{"old": str(one), "new": str(two)} for one, two in found.reworked],
        "rescored": [
            {"rule": str(two), "old": _evidence(one), "new": _evidence(two)} for one, two in found.rescored
        ],
        "same": list(map(str, found.same)),
    }
