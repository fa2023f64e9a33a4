"""`andre rank`: the best candidates for the open place of an atom, and why."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from andre.cli import options
from andre.cli.app import command
from andre.cli.options import facts_input, read_in_world, selected, with_settings
from andre.cli.printing import check_folder, note, print_json, say
from andre.cli.ranked import ranked_lines, ranked_values
from andre.errors import AndreError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from andre.completion import Completion, CompletionConfig, DirectionStore, RankedAnswer
    from andre.evaluation import RankReport
    from andre.facts import FactBase
    from andre.logic import Atom, Rule
    from andre.runs import Origin

#: Settings of completion that are lists, even of one.
_LISTS = ("aggregators", "smoothing", "penalties", "chained")
#: Wrong candidates that inductive splits are compared by.
_DRAWN = 50
#: The share of the time limit in which runs propose rules.
_FOR_PROPOSING = 0.5
#: Of what is then left, what rules may take: in the rest of a time limit questions are answered.
_FOR_LEARNING = 0.95


@command(
    "andre rank umls.nl 'isa(alga, ?)'",
    "andre rank umls.nl --evaluate test --out umls.run",
    "andre rank umls.run 'isa(?, entity)' --limit 5",
    "andre rank umls.run --batch questions.tsv --json          many questions, one a line",
    "andre rank umls.run other.nl --evaluate test              facts about other things",
    "andre rank nations --propose --jobs 2 --evaluate test     a public base, by rules of runs too",
    learns=True,
)
def rank(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FACTS|RUN",
            help="A knowledge base, by path or name, or a folder that --out wrote.",
            show_default=False,
        ),
    ],
    given: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FACTS|ATOM",
            help="After a run, other facts that its rules shall rank; an atom with one open place, as "
            "'isa(x, ?)'.",
            show_default=False,
        ),
    ] = None,
    *,
    batch: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Many questions, one a line: as 'isa(x, ?)', or tab-separated with a ? as 'x isa ?'.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="How many candidates.")] = 10,
    rules: Annotated[int, typer.Option(metavar="N", min=0, help="How many rules for each candidate.")] = 3,
    known: Annotated[
        bool, typer.Option("--known", help="List known facts too; a known p(x, x) whatever its rank.")
    ] = False,
    evaluate: Annotated[
        str | None,
        typer.Option(
            metavar="valid|test", help="Rank the facts marked valid or test, and print MRR and Hits."
        ),
    ] = None,
    negatives: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="With --evaluate, also rank each fact among so many wrong ones, drawn by --seed: 50 for "
            "other facts than those of the run, unless said otherwise, as inductive splits are compared by.",
        ),
    ] = None,
    propose: Annotated[
        bool, typer.Option("--propose", help="Let runs of gradient descent add rules to the short ones.")
    ] = False,
    more: Annotated[
        Path | None, typer.Option("--with", metavar="PROGRAM|RUN", help="More rules, from any source.")
    ] = None,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
    jobs: options.Jobs = 1,
    cluster: options.Cluster = None,
    device: options.Device = "cpu",
    settings: options.Set = None,
    out: options.OutRun = None,
    format: options.Format = None,
    tables: options.Tables = None,
    columns: options.Columns = None,
    key: options.Keys = None,
    join: options.Joins = None,
    world: options.World = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Rank what is missing from a knowledge base, with the reasons.

    Candidates are ranked by rules that are counted on the known facts and
    scored as suits the facts marked valid best; where none is marked, some are
    split off. A candidate comes with its chance of being a fact, the rules that
    say so, and a grounding of each. Of a large base every relation is learned
    from each side by itself: by several processes with --jobs or the workers of a
    dask cluster with --cluster, and with --out a run that was stopped goes on
    where it was.
    """
    from andre.completion import CompletionConfig
    from andre.limits import Deadline, limited, unhurried
    from andre.runs import DirectionFolder, FactSource, Origin, load_origin

    pattern, others = _question_and_facts(given or [])
    if pattern is None and batch is None and evaluate is None and out is None:
        raise AndreError(
            "there is nothing to do: give an atom such as 'isa(x, ?)', --batch, --evaluate or --out"
        )
    if evaluate not in {None, "valid", "test"}:
        raise AndreError(f"--evaluate ranks facts marked valid or test, not {evaluate!r}")
    check_folder(out)
    saved = _saved(source)
    needs_facts = bool(propose or more or settings or world is not None or time_limit is not None)
    _refuse(source, saved, others, needs_facts=needs_facts)
    deadline = Deadline.after(time_limit)
    # What is asked is looked up first: a slip of spelling shall not cost the time of learning.
    if saved is None or others is not None:
        selection, (name, format) = (
            selected(tables, columns, key, join),
            facts_input(str(others or source), format),
        )
        with limited(deadline):
            read = read_in_world(name, format, world, selection=selection)
        base = _checked(read, name, evaluate, quiet)
        origin: Origin | None = Origin(
            ("andre", *sys.argv[1:]), facts=FactSource.of(name, format, base.world, selection)
        )
    else:
        base, origin = saved.facts, load_origin(source)
    asked = _asked(pattern, batch, base)
    if saved is None:
        # Facts that are split off can be ranked only as long as they are not learned from.
        chosen = with_settings(
            settings, _LISTS, seed=seed, time_limit=time_limit, give_back=evaluate != "valid"
        )
        store = None if out is None else DirectionFolder(out)
        work = _Work(jobs, cluster, memory_limit, _Rules(propose, more, device))
        with limited(deadline):
            first = {query.predicate for query in asked}
            completion = _complete(base, CompletionConfig.read(chosen), work, quiet, store, first)
    elif others is not None:
        completion = saved.transferred(base)
        note(completion.notes, quiet)
    else:
        completion = saved
    with unhurried():
        unsaved = None if out is None else _save(completion, out, origin)
        found = _ranked(completion, asked, limit, known=known, rules=rules)
    drawn = negatives if negatives is not None else 0 if others is None else _DRAWN
    reports = _reports(completion, evaluate, drawn, seed, quiet)
    with unhurried():
        if as_json:
            print_json(ranked_values(completion, found, list(reports.values())))
        else:
            _print_answers(completion, asked, found, rules)
            for how, report in reports.items():
                typer.echo(f"{report.queries} queries on {evaluate} facts, {how}, both sides\n{report}")
    if unsaved is not None:
        raise unsaved
    if out is not None and not (quiet or as_json):
        say(f"saved in {out}: andre rank {out} ATOM, andre show {out}, andre report {out}")


def _save(completion: Completion, out: Path, origin: Origin | None) -> OSError | None:
    """Save what was learned; where that fails, what is asked for is still answered."""
    from andre.progress import doing
    from andre.runs import DirectionFolder, save

    try:
        with doing(f"saving {out}"):
            save(completion, out, origin)
        DirectionFolder(out).close()
    except OSError as error:
        return error
    return None


def _ranked(
    completion: Completion, asked: list[Atom], limit: int, *, known: bool, rules: int
) -> list[RankedAnswer]:
    """The best candidates of every question."""
    from andre.progress import doing

    found: list[RankedAnswer] = []
    with doing("ranking candidates", len(asked)) as work:
        for work.part, query in enumerate(asked):
            found += completion.rank(query, limit, known=known, rules=rules)
    return found


def _print_answers(completion: Completion, asked: list[Atom], found: list[RankedAnswer], rules: int) -> None:
    """Print candidates with their rules, and say which questions have none."""
    for line in ranked_lines(found, completion, rules):
        typer.echo(line)
    answered = {answer.atom.predicate for answer in found}
    note(
        f"there is no candidate for {query}: nothing was learned about it"
        for query in asked
        if query.predicate not in answered
    )


def _saved(source: str) -> Completion | None:
    """The completion that was saved in a folder; None where the source is no run."""
    from andre.completion import Completion
    from andre.runs import is_run, load

    if not Path(source).is_dir() or not is_run(source):
        return None
    if not isinstance(run := load(source), Completion):
        raise AndreError(
            f"{source} holds rules that andre learn or fit found, and no facts: rank FACTS --with {source}"
        )
    return run


def _refuse(source: str, saved: Completion | None, others: str | None, *, needs_facts: bool) -> None:
    """Raise an error where a saved run is given what needs facts, or facts what needs a saved run."""
    if saved is not None and needs_facts:
        raise AndreError(
            f"{source} is learned already: --propose, --with, --set, --time-limit and --world need facts"
        )
    if saved is None and others is not None:
        raise AndreError(
            f"{others} is no atom such as 'isa(x, ?)', and {source} is no saved run whose rules could rank "
            "other facts: learn one by --out first"
        )


def _question_and_facts(given: list[str]) -> tuple[str | None, str | None]:
    """The atom that is asked for, and other facts that a run shall rank: what has no brackets is no atom.

    Examples
    --------
    >>> _question_and_facts(["other.tsv", "isa(x, ?)"])
    ('isa(x, ?)', 'other.tsv')
    """
    facts = [text for text in given if "(" not in text or Path(text).exists()]
    atoms = [text for text in given if text not in facts]
    for some, what in ((atoms, "atoms: give one, or all of them by --batch"), (facts, "facts: give one")):
        if len(some) > 1:
            raise AndreError(f"{' and '.join(some)} are several {what}")
    return atoms[0] if atoms else None, facts[0] if facts else None


def _reports(
    completion: Completion, mark: str | None, drawn: int, seed: int, quiet: bool
) -> dict[str, RankReport]:
    """The ranks of the facts of one mark among all candidates and, if asked for, among so many drawn ones."""
    from andre.evaluation import Negatives
    from andre.limits import stage

    found: dict[str, RankReport] = {}
    if mark is None:
        return found
    with stage(f"ranking {mark} facts"):
        found["filtered"] = completion.evaluate(mark)
        note(completion.notes_on(mark), quiet)
        if drawn:
            how = f"filtered, among {drawn} that are wrong, drawn by seed {seed}"
            found[how] = completion.evaluate(mark, Negatives(drawn, seed))
        return found
    note([f"stopped by Ctrl-C before the {mark} facts were ranked"])
    return found


def _asked(pattern: str | None, batch: Path | None, facts: FactBase) -> list[Atom]:
    """The questions, each looked up in the facts."""
    from andre.facts import read_query

    found = [] if pattern is None else [read_query(pattern, facts)]
    if batch is None:
        return found
    try:
        lines = batch.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise AndreError(f"the questions in {batch} cannot be read: {error}") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(read_query(_as_atom(line), facts))
            except AndreError as error:
                raise AndreError(f"{batch}, line {number}: {error}") from None
    return found


def _as_atom(line: str) -> str:
    """A question as an atom; with tabs it has the first argument, the relation and the second argument."""
    if "\t" not in line:
        return line.strip()
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) != 3 or cells.count("?") != 1:
        raise AndreError(
            f"{line.strip()!r} is no question: write x, relation and ? (or ?, relation and y) between tabs"
        )
    first, relation, second = cells
    return f"{relation}({first}, {second})"


def _memory(work: _Work, executor: Executor | None) -> float | None:
    """Gigabytes for each process: a share of the limit, or of half of the machine's memory.

    Of a cluster every worker may take as much as the limit says, or half of what the smallest has.
    """
    from andre.memory import machine_gigabytes
    from andre.workers import memory_of

    jobs = work.jobs if work.cluster is None else 1
    if work.memory_limit is not None:
        return options.memory_bytes(work.memory_limit) / 2**30 / jobs
    whole = machine_gigabytes() if work.cluster is None else memory_of(executor)
    return None if whole is None else whole / 2 / jobs


def _checked(base: FactBase, source: str, evaluate: str | None, quiet: bool) -> FactBase:
    """The facts, after what was noticed in them is said; those to be ranked must be there."""
    note(replace(base.notes, overlaps=0), quiet)  # `complete` notes these itself
    if evaluate == "test" and not len(base.select("test")):
        raise AndreError(f"no fact of {source} is marked test: mark some, or take --evaluate valid")
    return base


class _Rules(NamedTuple):
    """Where rules beside the short ones come from."""

    propose: bool
    program: Path | None
    device: str


class _Work(NamedTuple):
    """Who does the work, within what memory, and with which further rules."""

    jobs: int
    cluster: str | None
    memory_limit: str | None
    rules: _Rules

    @property
    def memory(self) -> int | None:
        """Bytes that all processes may take together, if that is bounded."""
        return None if self.memory_limit is None else options.memory_bytes(self.memory_limit)


def _complete(
    base: FactBase,
    config: CompletionConfig,
    work: _Work,
    quiet: bool,
    store: DirectionStore | None,
    first: set[str],
) -> Completion:
    from andre.completion import complete, split_off
    from andre.learning import Callback
    from andre.limits import limited, stop_reason, time_left
    from andre.progress import doing
    from andre.workers import workers

    with (
        doing("learning"),
        doing("reading rules") as under_way,
        workers(work.jobs, work.cluster, work.memory) as executor,
    ):
        if config.memory is None:
            config = config.model_copy(update={"memory": _memory(work, executor)})

        class Shown(Callback):
            def on_stage(self, stage: str, part: int, total: int) -> None:
                under_way.name, under_way.part, under_way.total = stage, part, total

        with limited(time_left().share(_FOR_PROPOSING)) as watch:
            extra = _extra(base, config, work.rules, executor)
        with limited(time_left().share(_FOR_LEARNING)):
            made = complete(base, config, extra, [Shown()], executor=executor, store=store, first=first)
    if watch.cut:
        half = None if config.time_limit is None else _FOR_PROPOSING * config.time_limit
        cut = f"{stop_reason(watch.why, half)} before all runs had proposed rules"
        made = replace(made, notes=(*made.notes, cut))
    note(made.notes, quiet)
    if not len(base.select("valid")) and any(split_off(base, config).values()):
        then = ", which then teach like all others" if config.give_back else ""
        note([f"no fact is marked valid: seed {config.seed} splits some off{then}"], quiet)
    return made


def _extra(base: FactBase, config: CompletionConfig, rules: _Rules, executor: Executor | None) -> list[Rule]:
    """The rules of runs, and those of a file."""
    found: list[Rule] = []
    if rules.program is not None:
        from andre.logic import read_program

        found += read_program(rules.program)
    if rules.propose:
        from andre.completion import with_validation
        from andre.learning import ProposalConfig, beyond_short, propose

        # Runs must not see the facts that choose, not even those that are split off later.
        settings = ProposalConfig(seed=config.seed, device=rules.device)
        of_runs = propose(with_validation(base, config), settings, executor)
        found += beyond_short(of_runs) if config.short else of_runs
    return found
