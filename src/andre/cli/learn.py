"""`andre learn`: rules for one relation, several or all, from facts."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from andre.cli import options
from andre.cli.app import command
from andre.cli.options import facts_input, memory_bytes, memory_for, read_in_world, selected, with_settings
from andre.cli.printing import check_folder, note, say
from andre.cli.show import print_run
from andre.errors import AndreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    from andre.facts import FactBase, Task
    from andre.learning import Plan, Theory
    from andre.runs import RunFolder
    from andre.samples import Language


@command(
    "andre learn family.pl grandparent/2                or with --target grandparent/2",
    "andre learn connectedness                          a built-in task; see andre tasks",
    "andre learn graph.tsv --target locatedIn/2 --out run --time-limit 60",
    "andre learn graph.tsv --all --jobs 2 --out run     every relation",
    "andre learn graph.tsv --all --cluster tcp://host:8786 --out run",
    "andre learn shop.sqlite --target customer_vip/1 --tables 'customer,order*'",
    "andre learn sport.popper --set negation=true       the bias names the target",
    learns=True,
)
def learn(
    source: options.Facts,
    relations: Annotated[
        list[str] | None, typer.Argument(metavar="RELATION", help="The relation to learn, as p/2.")
    ] = None,
    *,
    target: Annotated[
        list[str] | None, typer.Option(metavar="RELATION", help="The same as RELATION; repeatable.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Learn every relation.")] = False,
    mode: options.Mode = None,
    semantics: options.Semantics = None,
    variables: options.Variables = None,
    language: options.LanguageFile = None,
    known: Annotated[
        Path | None,
        typer.Option(
            "--with",
            metavar="PROGRAM",
            help="Known rules: those of a target stay as they are and are added to, others are background.",
        ),
    ] = None,
    preset: options.Preset = "default",
    seed: options.Seed = 0,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
    heads: options.Heads = None,
    noise: options.Noise = None,
    strict: options.Strict = False,
    unlabelled: options.Unlabelled = None,
    invent: options.Invent = None,
    jobs: options.Jobs = 1,
    cluster: options.Cluster = None,
    device: options.Device = "cpu",
    settings: options.Set = None,
    out: options.OutRun = None,
    to: options.To = None,
    format: options.Format = None,
    tables: options.Tables = None,
    columns: options.Columns = None,
    key: options.Keys = None,
    join: options.Joins = None,
    world: options.World = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn the rules of a relation from facts.

    The program goes to standard output as Prolog with the evidence of every
    rule, everything else to standard error. In `define` a program is judged by
    what it derives from the other relations alone, to its fixpoint; in
    `complete`, the default for triples, .nl and --all, it may read the known
    facts of its target. Ctrl-C stops and gives the best program so far. A run
    is saved target by target, and a second call goes on where it was stopped.
    """
    from andre.limits import Deadline, limited, unhurried
    from andre.logic import PROGRAM_FORMATS, Program, read_program
    from andre.workers import workers

    check_folder(out)
    if to is not None and to not in PROGRAM_FORMATS:
        raise AndreError(f"there is no format {to!r} for programs: choose from {', '.join(PROGRAM_FORMATS)}")
    wanted = [*(relations or ()), *(target or ())]
    if all_ and wanted:
        raise AndreError(f"{wanted[0]} names a relation and --all means every one: give one of them")
    source, format = facts_input(source, format)
    selection, deadline = selected(tables, columns, key, join), Deadline.after(time_limit)
    with limited(deadline):
        facts, task = read_in_world(source, format, world, selection=selection), _task(source)
    targets = _every(source, facts, quiet) if all_ else _targets(facts, wanted, task, language)
    if known is None:
        _check_names(source, facts, targets)
    # Only now, as torch takes seconds to load, which no slip of spelling shall cost.
    from andre.learning import Plan
    from andre.runs import FactSource, Origin, RunFolder

    chosen = with_settings(
        settings,
        target=targets[0] if targets else None,
        preset=preset,
        language=language,
        # Relations that are all defined by each other would leave no fact to start from.
        mode="complete" if mode is None and all_ else mode,
        semantics=semantics,
        variables=task.variables if variables is None and task is not None else variables,
        heads=heads,
        memory_limit=memory_for(memory_limit, 0.5 / jobs),
        known=Program() if known is None else read_program(known),
        seed=seed,
        device=device,
        time_limit=time_limit,
        unlabelled=unlabelled,
        invent=invent,
        **({} if noise is None else {"noise": 0 if noise == "0" else noise}),
        **({"strict": True} if strict else {}),
    )
    plan = Plan.of(facts, **chosen)
    note(facts.notes, quiet)
    note(_on_marked(facts, [plan.aim(name) for name in targets] or [plan.language]), quiet)
    if not quiet:
        opened = ", open world" if facts.world == "open" else ""
        say(f"{plan.mode} mode, {plan.semantics}, {plan.language.variables} variables{opened}")
    folder = None
    if out is not None:
        found = FactSource.of(source, format, facts.world, selection)
        origin = Origin(("andre", *sys.argv[1:]), facts=found)
        folder = RunFolder(out, origin)
    pool = workers(jobs, cluster, None if memory_limit is None else memory_bytes(memory_limit))
    with limited(deadline if len(targets) < 2 else Deadline.after(None)):
        theory = _learn(facts, targets, plan, folder, pool, quiet=quiet)
    with unhurried():
        print_run(theory, to, as_json)
        if folder is not None and folder.failed is not None:
            raise folder.failed
        if not quiet:
            _say_how_it_went(theory, out, len(targets) or 1)


def _task(source: str) -> Task | None:
    """The built-in task of this name, unless it is a path."""
    from andre.facts import TASKS

    return None if Path(source).exists() else TASKS.get(source)


def _targets(facts: FactBase, given: list[str], task: Task | None, language: Path | None) -> list[str]:
    """The targets asked for; a built-in task has its own, a language or a bias may name one."""
    if given:
        return given
    if task is not None:
        return [task.target]
    if language is None and facts.bias is None:
        names = ", ".join(f"{name}/{arity}" for name, arity in facts.relations)
        raise AndreError(f"there is no target: name one behind the facts, or take --all; there are {names}")
    return []


def _check_names(source: str, facts: FactBase, targets: list[str]) -> None:
    """Refuse targets that are no relation, where no background could define them."""
    from andre.samples import Language

    if not len(facts.rules) and facts.prolog is None:
        for name in targets:
            try:
                Language(name).key(facts)
            except AndreError as error:
                if len(facts.relations) > 1 or not Path(source).is_file():
                    raise
                column = name.partition("/")[0]
                command = shlex.join(("andre", "fit", source, "--label", column))
                raise AndreError(
                    f"{error}; rules about the rows of a table are learned by {command}"
                ) from None


def _every(source: str, facts: FactBase, quiet: bool) -> list[str]:
    """All relations that can be learned; why others cannot is said."""
    from andre.learning import learnable

    targets, skipped = learnable(facts)
    if not targets:
        raise AndreError(f"no relation of {source} can be learned: {'; '.join(skipped)}")
    for reason in () if quiet else skipped:
        say(f"left out: {reason}")
    return targets


def _on_marked(facts: FactBase, languages: list[Language]) -> Iterator[str]:
    """What becomes of the targets' facts that are marked, where all that is not stated is false."""
    closed = facts.world == "closed"
    relations = [facts.relations[language.key(facts)] for language in languages]
    marked = sum(
        int((~one.marked("train") & ~one.column("negative")).sum())
        for one in relations
        if closed and not (one.marked("train") & one.column("negative")).any()
    )
    if marked:
        whose = f"of {relations[0]}" if len(relations) == 1 else "of the targets"
        what = "fact is" if marked == 1 else "facts are"
        yield (
            f"{marked:,} {what} marked valid or test {whose}: nothing is learned from them, so that what "
            "only they state is a false example, like all that no training fact states"
        )


def _learn(
    facts: FactBase,
    targets: list[str],
    plan: Plan,
    out: RunFolder | None,
    pool: AbstractContextManager[Executor | None],
    *,
    quiet: bool,
) -> Theory:
    """Learn, with a live view on standard error where that is a terminal and a line per target elsewhere."""
    from andre.cli.working import shown_through
    from andre.learning import learn as learn_targets
    from andre.report import LiveProgress, TargetLines

    names = targets or None
    with pool as executor:
        if quiet:
            return learn_targets(facts, names, plan, out=out, executor=executor)
        lines = TargetLines(len(targets) or 1)
        if not sys.stderr.isatty() or executor is not None:
            return learn_targets(facts, names, plan, callbacks=[lines], out=out, executor=executor)
        with LiveProgress() as progress, shown_through(progress):
            lines.console = progress.console
            return learn_targets(facts, names, plan, callbacks=[progress, lines], out=out)


def _with_option(typed: list[str], option: str) -> str:
    """The command that was typed, with an option more, which takes the place of what it was given before.

    Examples
    --------
    >>> _with_option(["learn", "my facts.pl", "--variables", "2", "-q"], "--variables 4")
    "andre learn 'my facts.pl' -q --variables 4"
    """
    kept, added = list(typed), shlex.split(option)
    for name in {name for name in added if name.startswith("--")} - {"--set"}:
        while name in kept:
            place = kept.index(name)
            del kept[place : place + 2]
        kept = [one for one in kept if not one.startswith(f"{name}=")]
    return f"{shlex.join(('andre', *kept))} {option}"


def _say_how_it_went(theory: Theory, out: Path | None, targets: int) -> None:
    from andre.report import remarks

    for line in remarks(theory):
        say(line)
    helpful = dict.fromkeys(made.advice.option for made in theory if made.advice is not None)
    for option in helpful:
        say(f"try: {_with_option(sys.argv[1:], option)}")
    if left := targets - len(theory.definitions) - len(theory.skipped):
        how = "with --out RUN a second call goes on" if out is None else "the same call goes on"
        say(f"stopped by Ctrl-C before {left} of {targets} targets: {how}")
    if out is not None:
        say(f"saved in {out}: andre show {out}, andre predict {out} FACTS, andre report {out}")
