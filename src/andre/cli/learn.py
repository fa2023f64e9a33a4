"""`andre learn`: rules for one relation, several or all, from facts."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from andre.cli.app import app
from andre.cli.processes import processes
from andre.cli.tables import AsJson, Quiet, check_folder, config_options, say
from andre.errors import AndreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from andre.facts import FactBase, Task
    from andre.learning import Plan, Theory
    from andre.logic import Program

__all__ = ["learn", "note_lines", "print_theory"]


@app.command(
    epilog="\n\n".join(
        (
            "andre learn family.pl --target grandparent/2",
            "andre learn connectedness                          a built-in task; see andre tasks",
            "andre learn graph.tsv --target locatedIn/2 --out run --time-limit 60",
            "andre learn graph.tsv --all --jobs 2 --out run     every relation",
            "andre learn sport.popper --set negation=true       the bias names the target",
        )
    )
)
def learn(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A file, folder or database of facts, or a built-in task.")
    ],
    *,
    target: Annotated[
        list[str] | None, typer.Option(help="The relation to learn, as p/2; repeatable.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Learn every relation.")] = False,
    mode: Annotated[
        str | None,
        typer.Option(
            help="define: from the background alone; complete: from all known facts. "
            "By default complete for triples, .nl and --all, else define."
        ),
    ] = None,
    semantics: Annotated[
        str | None,
        typer.Option(help="What an example is: a head atom (exists, the default) or a grounding (rows)."),
    ] = None,
    variables: Annotated[int | None, typer.Option(help="How many variables a rule may have [3].")] = None,
    language: Annotated[
        Path | None, typer.Option(metavar="TOML", help="A file that says what bodies may hold.")
    ] = None,
    known: Annotated[
        Path | None,
        typer.Option(
            "--with",
            metavar="PROGRAM",
            help="Known rules: those of a target stay as they are and are added to, others are background.",
        ),
    ] = None,
    preset: Annotated[str, typer.Option(help="default works best; paper follows the paper.")] = "default",
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same program.")] = 0,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for each target.")] = None,
    memory_limit: Annotated[float, typer.Option(min=0, help="Gigabytes that the census may take.")] = 4.0,
    heads: Annotated[
        int | None,
        typer.Option(min=8, help="Draw so many head atoms of each target that stand for all: large graphs."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Targets learned at once, by processes.")] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other setting, of bodies or runs; repeatable."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Save everything here, target by target; a second call goes on."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--format", help="Of the program: prolog, problog, anyburl, json or csv."),
    ] = None,
    reads: Annotated[
        str | None, typer.Option("--reads", metavar="FORMAT", help="Of the facts, where it cannot be seen.")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Learn the rules of a relation from facts.

    The program goes to standard output as Prolog with the evidence of every
    rule, everything else to standard error. In `define` a program is judged by
    what it derives from the other relations alone, to its fixpoint; in
    `complete` it may read the known facts of its target. Ctrl-C stops and
    gives the best program so far.
    """
    from andre.facts import read_source
    from andre.learning import Plan
    from andre.logic import PROGRAM_FORMATS
    from andre.runs import FactSource, Origin, save_origin

    if out is not None:
        check_folder(out)
    if to is not None and to not in PROGRAM_FORMATS:
        raise AndreError(f"there is no format {to!r} for programs: choose from {', '.join(PROGRAM_FORMATS)}")
    if all_ and target:
        raise AndreError("--target names relations and --all means every one: give one of them")
    facts, task = read_source(source, reads), _task(source)
    targets = _every(source, facts, quiet) if all_ else _targets(facts, target, task, language)
    if not quiet:
        for note in facts.notes:
            say(f"note: {note}")
    if mode is None and all_:
        # Relations that are all defined by each other would leave no fact to start from.
        mode = "complete"
    if variables is None and task is not None:
        variables = task.variables
    given = {"mode": mode, "semantics": semantics, "variables": variables, "heads": heads}
    plan = Plan.of(
        facts,
        targets[0] if targets else None,
        preset=preset,
        language=language,
        memory_limit=int(memory_limit * 2**30),
        known=_known(known),
        **{name: value for name, value in given.items() if value is not None},
        **config_options(settings or [], seed=seed, time_limit=time_limit),
    )
    if not quiet:
        say(f"{plan.mode} mode, {plan.semantics}, {plan.language.variables} variables")
    theory = _learn(facts, targets, plan, out, jobs=jobs, quiet=quiet)
    if out is not None:
        save_origin(Origin(("andre", *sys.argv[1:]), facts=FactSource.of(source, reads)), out)
    print_theory(theory, to, as_json)
    if not quiet:
        _say_how_it_went(theory, out, len(targets) or 1)


def _known(path: Path | None) -> Program:
    from andre.logic import Program, read_program

    return Program() if path is None else read_program(path)


def _task(source: str) -> Task | None:
    """The built-in task of this name, unless it is a path."""
    from andre.facts import TASKS

    return None if Path(source).exists() else TASKS.get(source)


def _targets(facts: FactBase, given: list[str] | None, task: Task | None, language: Path | None) -> list[str]:
    """The targets asked for; a built-in task has its own, a language or a bias may name one."""
    if given:
        return given
    if task is not None:
        return [task.target]
    if language is None and facts.bias is None:
        names = ", ".join(f"{name}/{arity}" for name, arity in facts.relations)
        raise AndreError(f"there is no target: name one by --target, or take --all; there are {names}")
    return []


def _every(source: str, facts: FactBase, quiet: bool) -> list[str]:
    """All relations that can be learned; why others cannot is said."""
    from andre.learning import learnable

    targets, skipped = learnable(facts)
    if not targets:
        raise AndreError(f"no relation of {source} can be learned: {'; '.join(skipped)}")
    for reason in () if quiet else skipped:
        say(f"left out: {reason}")
    return targets


def _learn(
    facts: FactBase, targets: list[str], plan: Plan, out: Path | None, *, jobs: int, quiet: bool
) -> Theory:
    """Learn, with a live view on stderr where that is a terminal and a line per target elsewhere."""
    from andre.api import learn as learn_targets
    from andre.report import LiveProgress, TargetLines

    names = targets or None
    with processes(jobs) as executor:
        if quiet:
            return learn_targets(facts, names, plan, out=out, executor=executor)
        lines = TargetLines(len(targets) or 1)
        if not sys.stderr.isatty() or executor is not None:
            return learn_targets(facts, names, plan, callbacks=[lines], out=out, executor=executor)
        with LiveProgress() as progress:
            lines.console = progress.console
            return learn_targets(facts, names, plan, callbacks=[progress, lines], out=out)


def print_theory(theory: Theory, to: str | None = None, as_json: bool = False) -> None:
    """Print the program: for machines, for a terminal, or as plain Prolog."""
    from andre.logic import PROGRAM_FORMATS

    if as_json:
        from andre.report import theory_document

        typer.echo(json.dumps(theory_document(theory), indent=2))
    elif to is None and sys.stdout.isatty():
        from rich.console import Console

        from andre.report import rule_table, target_table

        console = Console(highlight=False)
        console.print(rule_table(theory.program))
        if len(theory.definitions) > 1:
            console.print("", target_table(theory))
    else:
        typer.echo(PROGRAM_FORMATS[to or "prolog"].write(theory.program), nl=False)


def note_lines(notes: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Notes about targets, each said once."""
    targets: dict[str, list[str]] = {}
    for target, note in notes:
        targets.setdefault(note, []).append(target)
    for note, (first, *others) in targets.items():
        yield f"{first}{f' and {len(others)} more' if others else ''}: {note}"


def _say_how_it_went(theory: Theory, out: Path | None, targets: int) -> None:
    for line in note_lines((definition.target, note) for definition in theory for note in definition.notes):
        say(line)
    for definition in theory:
        if definition.reason:
            say(f"{definition.target}: no rule, because {definition.reason}")
        if definition.result.stopped == "time" and len(definition.program):
            say(f"{definition.target}: the time limit was reached, so this is the best so far")
        if definition.result.stopped == "interrupted":
            say(f"{definition.target}: stopped by Ctrl-C, so this is the best so far")
    for name, reason in theory.skipped.items():
        say(f"{name} was left out: {reason}")
    if left := targets - len(theory.definitions) - len(theory.skipped):
        how = "with --out RUN a second call goes on" if out is None else "the same call goes on"
        say(f"stopped by Ctrl-C before {left} of {targets} targets: {how}")
    if out is not None:
        say(f"saved in {out}: andre show {out}, andre predict {out} FACTS, andre report {out}")
