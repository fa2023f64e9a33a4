"""`andre predict`, `explain` and `eval`: what rules say of new rows and new facts."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from andre.cli import options
from andre.cli.app import command
from andre.cli.options import input_path, memory_for, read_in_world
from andre.cli.printing import check_file, note, print_json, print_table
from andre.errors import AndreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from andre.evaluation import Confusion, Entailment
    from andre.facts import FactBase, Key
    from andre.inference import Model
    from andre.learning import Result, RuleClassifier, Theory
    from andre.logic import Atom, Program
    from andre.runs import Run


#: Endings that tables of examples have too; all others of a format of facts mean facts.
_TABLES = frozenset({".csv", ".tsv", ".parquet"})
#: What the rows that a classifier is judged by are called.
NEW_ROWS = "new"
#: Relations that a note names; the others are counted.
_NAMED = 5


@command(
    "andre predict birds.run new.csv --proba > predictions.csv",
    "andre predict ancestors.pl family.pl",
    "andre predict rules.txt graph.tsv --out derived.tsv",
)
def predict(
    program: options.Program,
    source: Annotated[
        str,
        typer.Argument(
            metavar="TABLE|FACTS", help="New rows for a run of `andre fit`, else facts.", show_default=False
        ),
    ],
    *,
    proba: Annotated[bool, typer.Option("--proba", help="TABLE: add the chance of every class.")] = False,
    out: options.OutFile = None,
    as_json: options.Json = False,
    format: options.Format = None,
    world: options.World = None,
    engine: options.Engine = "auto",
    memory_limit: options.MemoryLimit = None,
    quiet: options.Quiet = False,
) -> None:
    """Apply what was learned to new rows or facts.

    For a table, a prediction per row; for facts, all that the rules derive from
    them, as they stand in the file: what learning took otherwise among uncertain
    facts is not revised here. Columns of a table are matched by name, in any
    order; those that no rule reads may be missing. Facts marked as test or validation facts are not
    read, nor are the examples of a Popper folder, nor facts of what a learned
    theory defines.
    The rules of a knowledge base that `andre rank` completed are applied once,
    and each fact is as probable as the surest of its rules. In an open world
    a negated condition holds only of what is denied.
    """
    from andre.facts import write_facts
    from andre.inference import infer
    from andre.logic import Rule, read_program

    run = _open(program)
    if run is not None and format is None and is_table(source):
        from andre.learning import Result, RuleClassifier

        if isinstance(run, Result | RuleClassifier):
            if as_json:
                raise AndreError("predictions for a table are CSV: leave out --json")
            _predict_rows(run, source, proba=proba, out=out, quiet=quiet)
            return
    if proba:
        raise AndreError(f"--proba needs a folder that `andre fit --out` wrote, and {program} is none")
    how = {"engine": engine, "memory_limit": f"{memory_for(memory_limit, 0.5) / 2**20:.0f}MiB"}
    facts = read_for(source, format, world, program, run, quiet=quiet)
    if run is None:
        model = infer(read_program(program), _evidence(facts), **how)
    else:
        from andre.report import derive

        model = derive(run, facts, **how)
    if out is not None:
        write_facts(model.derived, out)
    elif as_json:
        print_json([_values(atom, probability) for atom, probability in _facts(model)])
    else:
        for atom, probability in _facts(model):  # Prolog, or ProbLog where uncertain
            sys.stdout.write(f"{Rule(atom, probability=probability)}\n")
    where = f", written to the folder {out}" if out is not None and out.is_dir() else ""
    if not quiet:
        typer.echo(f"{len(model):,} facts derived by {model.engine}{where}", err=True)


@command("andre explain uncles.run family.pl 'uncle(al, bo)'", "andre explain churn.run new.csv 17")
def explain(
    program: options.Program,
    source: Annotated[
        str,
        typer.Argument(
            metavar="TABLE|FACTS", help="Rows for a run of `andre fit`, else facts.", show_default=False
        ),
    ],
    atom: Annotated[
        str,
        typer.Argument(
            metavar="ROW|ATOM",
            help="The number of the row, 1 the first below the header; of facts, the atom: 'h(a, b)'.",
            show_default=False,
        ),
    ],
    *,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many groundings of each rule to show.")
    ] = 3,
    depth: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many levels of premises to explain.")
    ] = 3,
    as_json: options.Json = False,
    format: options.Format = None,
    world: options.World = None,
    quiet: options.Quiet = False,
) -> None:
    """Say why a row has its class, or an atom holds, or which literal is missing.

    For a row of a table: its class and probability, the base rate, the rules that
    fire and how their weights add up, and of the others the conditions that fail.
    An atom that holds is explained by rules and their groundings; of one that
    does not, the rule that comes nearest is shown.
    """
    from andre.facts import as_stated
    from andre.inference import explain as why
    from andre.logic import parse_atom, read_program

    run = _open(program)
    if run is not None and format is None and is_table(source):
        from andre.learning import Result, RuleClassifier

        if isinstance(run, RuleClassifier):
            row = run.explain(input_path(source), _row_number(atom, source))
            if as_json:
                print_json(row.as_dict())
            else:
                typer.echo(str(row))
            return
        if isinstance(run, Result):
            raise AndreError(
                f"{source} is read as a table, and {program} is no classifier, whose rows are explained: "
                "give facts to explain an atom"
            )
    asked = parse_atom(atom, source="the atom")
    facts = read_for(source, format, world, program, run, quiet=quiet)
    asked, how = as_stated(asked, facts), {"limit": limit, "depth": depth}
    if run is None:
        explanation = why(read_program(program), _evidence(facts), asked, **how)
    else:
        from andre.report import explain_atom

        explanation = explain_atom(run, facts, asked, **how)
    if as_json:
        print_json(explanation.as_dict())
    else:
        typer.echo(str(explanation))


@command("andre eval uncles.run family.nl", "andre eval churn.run test.csv", name="eval")
def evaluate(
    program: options.Program,
    source: Annotated[
        str,
        typer.Argument(
            metavar="TABLE|FACTS",
            help="Rows with labels for a run of `andre fit`, else facts.",
            show_default=False,
        ),
    ],
    *,
    mark: Annotated[
        str | None,
        typer.Option(
            metavar="valid|test", help="Judge the facts marked valid or test; test where there are any."
        ),
    ] = None,
    as_json: options.Json = False,
    format: options.Format = None,
    world: options.World = None,
    engine: options.Engine = "auto",
    quiet: options.Quiet = False,
) -> None:
    """Judge what was learned by rows with labels, or by facts.

    For a table: accuracy, area under the curve and log-loss, the classes that
    rows were taken for, and every rule's count there and confidence in training.
    For facts: accuracy, precision and recall over the head atoms that rules
    derive, and some of the atoms that are missed or derived wrongly; --json lists
    more. Atoms marked #TEST are judged and the others read. Without marks, all
    atoms of the heads are judged, and the program must derive them from the
    rest; a run of mode complete reads them as it did in learning, all but the
    very atom. Facts are taken as they stand in the file, uncertain ones unrevised. A
    target of a run without a rule is judged, too.
    """
    from andre.evaluation import entailment
    from andre.logic import read_program

    if format is None and (fitted := run_of_rows(program, source)) is not None:
        _judge_rows(fitted, program, source, as_json=as_json, quiet=quiet)
        return
    rules, theory = read_program(program), theory_in(program)
    if not len(rules) and theory is None:
        raise AndreError(f"{program} has no rule, so there is nothing to judge: learn or write some first")
    facts = read_for(source, format, world, program, theory, quiet=quiet)
    if theory is None:
        result = entailment(rules, facts, mark=mark, engine=engine)
    else:
        result = theory.evaluate(facts, mark, engine=engine)
    if as_json:
        print_json({"program": str(program), "source": source, **result.as_dict()})
        return
    if not quiet:
        typer.echo(f"judged: {result.protocol}", err=True)
    judged = {f"{name}/{arity}": counts for (name, arity), counts in result.heads.items()}
    if len(judged) > 1:
        judged["all"] = result.overall
    columns = ["head", "accuracy", "precision", "recall", "TP", "FP", "FN", "TN"]
    print_table(columns, [{"head": name, **_figures(counts)} for name, counts in judged.items()])
    if not quiet:
        _say_what_is_wrong(result)


def _row_number(text: str, source: str) -> int:
    """The number of a row as it is typed."""
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise AndreError(
            f"{source} is read as a table, and {text!r} is no number of a row: give one, 1 for the first "
            "below the header, or give facts to explain an atom"
        )
    return int(text)


def _say_what_is_wrong(result: Entailment) -> None:
    """Some of the atoms that were judged wrongly, on standard error."""
    from andre.report import such_as

    for key, found in result.misjudged.items():
        counts = result.heads[key]
        if found.missed:
            typer.echo(f"missed: {such_as(found.missed, counts.false_negatives)}", err=True)
        if found.wrong:
            typer.echo(f"derived, and not true: {such_as(found.wrong, counts.false_positives)}", err=True)


def _open(path: Path) -> Run | None:
    """The saved run in a folder, or None for rules in a file, which are read without loading torch."""
    if not path.is_dir():
        if not path.exists():  # else a fault of the facts would be told first
            raise AndreError(f"there is no file {path}: check the path")
        return None
    from andre.runs import load

    return load(path)


def theory_in(program: Path) -> Theory | None:
    """What `andre learn` saved in a folder; None for other programs."""
    if not program.is_dir():
        return None
    from andre.learning import Theory
    from andre.runs import is_run, load

    run = load(program) if is_run(program) else None
    return run if isinstance(run, Theory) else None


def is_table(source: str) -> bool:
    """Whether a run of `andre fit` takes a source for a table: it is no folder and has no ending of facts."""
    from andre.facts import FORMATS

    of_facts = {suffix for item in FORMATS.values() for suffix in item.suffixes} - _TABLES
    return not Path(source).is_dir() and Path(source).suffix.lower() not in of_facts


def run_of_rows(program: Path, source: str) -> Result | RuleClassifier | None:
    """The run of `andre fit` in a folder, if a source is a table for it."""
    if not (program.is_dir() and is_table(source)):
        return None
    from andre.learning import Result, RuleClassifier
    from andre.runs import is_run, load

    run = load(program) if is_run(program) else None
    return run if isinstance(run, Result | RuleClassifier) else None


def _judge_rows(
    run: Result | RuleClassifier, program: Path, table: str, *, as_json: bool, quiet: bool
) -> None:
    """Print how a classifier fares on the rows of a table that has its label."""
    from andre.learning import RuleClassifier
    from andre.logic import format_count
    from andre.report import confusion_table, rules_on
    from andre.runs import load_origin

    if not isinstance(run, RuleClassifier):
        raise AndreError(f"{program} is no classifier: count its rules by andre rescore {program} {table}")
    origin = load_origin(program)
    weight = None if origin is None or origin.table is None else origin.table.weight
    rows = run.labelled(input_path(table), weight)
    note(rows.notes, quiet)
    judged = run.judged(rows, NEW_ROWS)
    (score,) = (one for one in judged.scores if one.split == NEW_ROWS)
    columns, classes = confusion_table(run, rows)
    rules = rules_on(judged, NEW_ROWS)
    if as_json:
        from dataclasses import asdict

        counts = {"classes": list(run.classes), "confusion": run.confusion(rows).tolist(), "rules": rules}
        print_json(
            {"program": str(program), "source": table, "rows": score.rows, **asdict(score.fit), **counts}
        )
        return
    typer.echo(f"{score} on {format_count(score.rows)} rows")
    print_table(columns, classes)
    if rules:
        print_table(list(rules[0]), rules)


def _predict_rows(
    run: Result | RuleClassifier, table: str, *, proba: bool, out: Path | None, quiet: bool
) -> None:
    from andre.files import write_whole
    from andre.learning import Result
    from andre.report import predict_raw_rows, predict_table

    check_file(out)
    if isinstance(run, Result):
        text = predict_table(run, input_path(table), proba)
    else:
        text, notes = predict_raw_rows(run, input_path(table), proba)
        note(notes, quiet)
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_whole(out, text)


def read_for(
    source: str,
    format: str | None,
    world: str | None,
    program: Path,
    run: Run | None,
    *,
    quiet: bool = False,
) -> FactBase:
    """The facts of a source; a note names relations that the rules read and that it lacks."""
    from andre.inference import missing_relations
    from andre.logic import read_program

    facts = read_in_world(source, format, world, program)
    note(facts.notes, quiet)
    taken: list[Key] = []
    if run is None:
        rules = read_program(program)
        missing = missing_relations(rules, facts)
        note(_unbound(rules), quiet)
    else:
        from andre.report import lacking, taken_with

        missing, taken = lacking(run, facts), taken_with(run, facts)
    if missing:
        note(
            [f"{source} has no fact of {_named(missing)}, which the rules read: check names and arities"],
            quiet,
        )
    if taken:
        note(
            [f"{source} has no fact of {_named(taken)}: those that the rules were learned with are taken"],
            quiet,
        )
    return facts


def _unbound(rules: Program) -> list[str]:
    """A note on the first rule whose head has a variable that no condition binds, which is often a slip."""
    from andre.logic import unsafe_variables

    for rule in rules:
        if rule.body and (free := [str(one) for one in unsafe_variables(rule) if one in rule.head.variables]):
            return [f"{free[0]} is in no condition of '{rule}', so that it is every constant of its type"]
    return []


def _named(keys: list[Key]) -> str:
    """Relations by name, the first where they are many."""
    names = ", ".join(f"{name}/{arity}" for name, arity in keys[:_NAMED])
    return names + (f" and {len(keys) - _NAMED} more relations" if len(keys) > _NAMED else "")


def _evidence(facts: FactBase) -> FactBase:
    """What a program may read: training facts, less the examples of what is to be learned."""
    from dataclasses import replace

    training = facts.select("train")
    examples = training.bias.head if training.bias else ()
    read = {key: relation for key, relation in training.relations.items() if key not in examples}
    return replace(training, relations=read)


def _facts(model: Model) -> Iterator[tuple[Atom, float]]:
    """The derived facts, each with its probability."""
    for key, relation in model.derived.relations.items():
        yield from zip(model.derived.atoms(*key), relation.column("probability").tolist(), strict=True)


def _values(atom: Atom, probability: float) -> dict[str, Any]:
    from andre.logic import Constant

    args = [arg.value for arg in atom.args if isinstance(arg, Constant)]
    return {"predicate": atom.predicate, "args": args, "probability": probability}


def _figures(counts: Confusion) -> dict[str, object]:
    shares = {name: getattr(counts, name) for name in ("accuracy", "precision", "recall")}
    return {
        **{name: "-" if share is None else f"{share:.4f}" for name, share in shares.items()},
        "TP": counts.true_positives,
        "FP": counts.false_positives,
        "FN": counts.false_negatives,
        "TN": counts.true_negatives,
    }
