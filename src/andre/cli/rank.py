"""`andre rank`: the best candidates for the open place of an atom, and why."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from andre.cli import options
from andre.cli.app import command
from andre.cli.options import read_in_world, selected, with_settings
from andre.cli.printing import check_folder, note, print_json, say
from andre.cli.processes import processes
from andre.errors import AndreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

    from andre.completion import Completion, CompletionConfig, DirectionStore, RankedAnswer
    from andre.evaluation import RankReport
    from andre.facts import FactBase
    from andre.logic import Atom, Literal, Rule
    from andre.runs import Origin

#: Settings of completion that are lists, even of one.
_LISTS = ("aggregators", "smoothing", "penalties", "chained")
#: The share of the time limit in which runs propose rules.
_FOR_PROPOSING = 0.5


@command(
    "andre rank umls.nl 'isa(alga, ?)'",
    "andre rank umls.nl --evaluate test --out umls.run",
    "andre rank umls.run 'isa(?, entity)' --limit 5",
    "andre rank umls.run --batch questions.tsv --json          many questions, one a line",
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
    pattern: Annotated[
        str | None, typer.Argument(help="An atom with one open place, as 'isa(x, ?)'.", show_default=False)
    ] = None,
    *,
    batch: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Many questions, one a line: as 'isa(x, ?)', or tab-separated with a ? as 'x isa ?'.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option(help="How many candidates.", min=1)] = 10,
    rules: Annotated[int, typer.Option(help="How many rules for each candidate.", min=0)] = 3,
    known: Annotated[
        bool, typer.Option("--known", help="List known facts too; a known p(x, x) whatever its rank.")
    ] = False,
    evaluate: Annotated[
        str | None, typer.Option(help="Rank the facts marked valid or test, and print MRR and Hits.")
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
    from each side by itself: by several processes with --jobs, and with --out a
    run that was stopped goes on where it was.
    """
    from andre.completion import CompletionConfig
    from andre.limits import Deadline, limited, unhurried
    from andre.runs import DirectionFolder, FactSource, Origin, load_origin

    if pattern is None and batch is None and evaluate is None and out is None:
        raise AndreError(
            "there is nothing to do: give an atom such as 'isa(x, ?)', --batch, --evaluate or --out"
        )
    if evaluate not in {None, "valid", "test"}:
        raise AndreError(f"--evaluate ranks facts marked valid or test, not {evaluate!r}")
    check_folder(out)
    completion = _saved(source)
    if completion is not None:
        if propose or more or settings or world is not None or time_limit is not None:
            raise AndreError(
                f"{source} is learned already: --propose, --with, --set, --time-limit and --world need facts"
            )
        origin, asked = load_origin(source), _asked(pattern, batch, completion.facts)
    else:
        # What is asked is looked up first: a slip of spelling shall not cost the time of learning.
        selection = selected(tables, columns, key, join)
        deadline = Deadline.after(time_limit)
        with limited(deadline):
            read = read_in_world(source, format, world, selection=selection)
        base = _checked(read, source, evaluate, quiet)
        asked = _asked(pattern, batch, base)
        # Facts that are split off can be ranked only as long as they are not learned from.
        memory = _memory(memory_limit, jobs)
        chosen = with_settings(
            settings,
            _LISTS,
            seed=seed,
            time_limit=time_limit,
            give_back=evaluate != "valid",
            **({} if memory is None else {"memory": memory}),
        )
        store = None if out is None else DirectionFolder(out)
        further = _Rules(propose, more, jobs, device, memory_limit)
        with limited(deadline):
            completion = _complete(base, CompletionConfig.read(chosen), further, quiet, store)
        found_in = FactSource.of(source, format, base.world, selection)
        origin = Origin(("andre", *sys.argv[1:]), facts=found_in)
    with unhurried():
        unsaved = None if out is None else _save(completion, out, origin)
        found = _ranked(completion, asked, limit, known=known, rules=rules)
    report = None if evaluate is None else _evaluate(completion, evaluate, quiet)
    with unhurried():
        if as_json:
            print_json(_values(completion, found, report))
        else:
            for line in _lines(found, completion, rules):
                typer.echo(line)
            _say_what_has_no_candidate(asked, found)
        if report is not None and not as_json:
            typer.echo(f"{report.queries} queries on {evaluate} facts, filtered, both sides")
            typer.echo(str(report))
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


def _evaluate(completion: Completion, mark: str, quiet: bool) -> RankReport | None:
    """How the facts of a mark rank; None where Ctrl-C comes first."""
    from andre.limits import stage

    with stage(f"ranking {mark} facts"):
        report = completion.evaluate(mark)
        note(completion.notes_on(mark), quiet)
        return report
    note([f"stopped by Ctrl-C before the {mark} facts were ranked"])
    return None


def _say_what_has_no_candidate(asked: list[Atom], found: list[RankedAnswer]) -> None:
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


def _asked(pattern: str | None, batch: Path | None, facts: FactBase) -> list[Atom]:
    """The questions, each looked up in the facts."""
    from andre.facts import read_query

    texts = [] if pattern is None else [pattern]
    if batch is not None:
        try:
            lines = batch.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise AndreError(f"the questions in {batch} cannot be read: {error}") from None
        texts += [
            _as_atom(line, f"{batch}, line {number}") for number, line in enumerate(lines, 1) if line.strip()
        ]
    return [read_query(text, facts) for text in texts]


def _as_atom(line: str, where: str) -> str:
    """A question as an atom; with tabs it has the first argument, the relation and the second argument."""
    if "\t" not in line:
        return line.strip()
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) != 3 or cells.count("?") != 1:
        raise AndreError(
            f"{where} is no question: write x, relation and ? (or ?, relation and y) between tabs"
        )
    first, relation, second = cells
    return f"{relation}({first}, {second})"


def _memory(limit: str | None, jobs: int) -> float | None:
    """Gigabytes for each process: a share of the limit, or of half of the machine's memory."""
    from andre.memory import machine_gigabytes

    if limit is not None:
        return options.memory_bytes(limit) / 2**30 / jobs
    machine = machine_gigabytes()
    return None if machine is None else machine / 2 / jobs


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
    jobs: int
    device: str
    memory_limit: str | None


def _complete(
    base: FactBase, config: CompletionConfig, rules: _Rules, quiet: bool, store: DirectionStore | None
) -> Completion:
    from andre.completion import complete, with_validation
    from andre.learning import Callback
    from andre.limits import limited, time_left, told
    from andre.progress import doing

    with (
        doing("learning"),
        doing("reading rules") as work,
        processes(rules.jobs, rules.memory_limit) as executor,
    ):

        class Shown(Callback):
            def on_stage(self, stage: str, part: int, total: int) -> None:
                work.name, work.part, work.total = stage, part, total

        with limited(time_left().share(_FOR_PROPOSING)) as watch:
            extra = _extra(base, config, rules, executor)
        made = complete(base, config, extra, [Shown()], executor=executor, store=store)
    if watch.cut:
        half = None if config.time_limit is None else _FOR_PROPOSING * config.time_limit
        late = f"{told(watch.why, half)} before all runs had proposed rules"
        made = replace(made, notes=(*made.notes, late))
    note(made.notes, quiet)
    if not len(base.select("valid")) and len(with_validation(base, config).select("valid")):
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


def _values(completion: Completion, found: list[RankedAnswer], report: RankReport | None) -> dict[str, Any]:
    from dataclasses import asdict

    from andre.report import scoring_values

    return {
        "predictions": [_as_values(prediction) for prediction in found],
        "evaluation": report and asdict(report),
        **scoring_values(completion),
    }


def _as_values(prediction: RankedAnswer) -> dict[str, Any]:
    return {
        "atom": str(prediction.atom),
        "rank": prediction.rank,
        "score": prediction.score,
        "chance": prediction.chance,
        "rules": [
            {"rule": str(rule), "n_b": rule.evidence[0].n_b, "n_r": rule.evidence[0].n_r}
            for rule in prediction.rules
        ],
    }


def _lines(found: list[RankedAnswer], completion: Completion, limit: int) -> Iterator[str]:
    """Candidates, each with its rules and one grounding of every rule."""
    from andre.logic import tell_count

    # Test facts are not told from other candidates: they are what ranks are judged by.
    stated = [completion.facts.select(mark) for mark in ("train", "valid")]
    for prediction in found:
        known = "  known" if any(prediction.atom in facts for facts in stated) else ""
        yield f"{prediction.rank:>3}. {prediction.atom}  chance {prediction.chance:.3f}{known}"
        if limit and not prediction.rules:
            first, second = prediction.atom.args
            why = "can say so: its variables stand for different constants" if first == second else "says so"
            yield f"       no rule {why}"
        for rule in prediction.rules:
            counted = rule.evidence[0]
            yield f"       {tell_count(counted.n_r)} of {tell_count(counted.n_b)}: {rule}"
            for body in completion.groundings(rule, prediction.atom, limit=1):
                yield f"         as {', '.join(_told(literal, completion) for literal in body)}"


def _told(literal: Literal, completion: Completion) -> str:
    return f"{literal} (assumed)" if completion.is_assumed(literal.atom) else str(literal)
