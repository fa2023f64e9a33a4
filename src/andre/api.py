"""The main functions, `fit`, `learn`, `complete` and `load`, with files and checkpoints as arguments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

from andre.completion import Completion, CompletionConfig
from andre.completion import complete as complete_facts
from andre.errors import ConfigError, shorten, type_of
from andre.facts import as_facts, read_examples
from andre.learning import (
    Callback,
    ClassifierConfig,
    Config,
    Plan,
    Result,
    RuleClassifier,
    Theory,
    learn_classifier,
)
from andre.learning import fit as fit_sample
from andre.learning import learn as learn_targets
from andre.runs import Checkpoint, RunFolder, keepers, load
from andre.samples import Sample
from andre.workers import Workers

__all__ = ["complete", "fit", "learn", "load"]


@overload
def fit(
    data: Sample,
    config: Config | None = None,
    *,
    validation: Sample | None = None,
    callbacks: Sequence[Callback] = (),
    checkpoint: Path | str | None = None,
) -> Result: ...


@overload
def fit(
    data: Any,
    config: ClassifierConfig | str | Any = None,
    *,
    label: str | Any = None,
    validation: Any = None,
    callbacks: Sequence[Callback] = (),
    checkpoint: Path | str | None = None,
    **options: Any,
) -> RuleClassifier: ...


def fit(
    data: Any,
    config: Any = None,
    *,
    label: str | Any = None,
    validation: Any = None,
    callbacks: Sequence[Callback] = (),
    checkpoint: Path | str | None = None,
    **options: Any,
) -> Result | RuleClassifier:
    """Learn rules from a table.

    Parameters
    ----------
    data
        A table: the path of a CSV or Parquet file, a DataFrame, or a mapping of columns. Or a `Sample`
        of truth values.
    config
        All settings: a `ClassifierConfig` for a table, by default `ClassifierConfig.of(**options)`, or
        a `Config` for a sample. A label may stand in its place, as in `fit(frame, "income")`.
    label
        The column of a table with the class of each row. A comparison such as `price > 100`,
        `since > 2021-03-01` or `species = cat` makes two classes of a column. Or the labels themselves,
        one per row: an array, a list or a Series, whose name is used for that of the column.
    validation
        Rows on which every rule is counted, too, but from which nothing is learned: a second table,
        a share of the rows of the first such as 0.2, or a second sample.
    callbacks
        Observers of the runs; see `andre.learning.Callback`.
    checkpoint
        A folder for the progress of runs. After an interruption, the same call continues from it,
        and returns the same result as without the interruption.
    options
        For a table: `weight` (a column of row weights), `positive` (with two classes, the one that rules
        are about; with more, the one to learn against all others), `preset` and `settings` of runs, and
        all fields of `ClassifierConfig`, such as `max_rules`, `objective` or `columns`.

    Returns
    -------
    RuleClassifier | Result
        For a table, rules with weights, which predict the classes of new rows; for a sample, the program
        with its evidence, scores, and all runs. Ctrl-C and a time limit end learning early, with the best
        result so far.

    Examples
    --------
    >>> people = {"age": [*range(20, 60)] * 3, "color": ["red", "blue", "red"] * 40}
    >>> people["buys"] = [a > 39 and c == "red" for a, c in zip(people["age"], people["color"])]
    >>> model = fit(people, label="buys")
    >>> print(model.program)
    buys :- age > 39.5, color = red.
    >>> model.predict_proba({"age": [50], "color": ["red"]}).round(1)
    array([[0., 1.]])

    From rows of truth values:

    >>> import numpy as np
    >>> rows = np.random.default_rng(0).random((60, 3))
    >>> sample = Sample.from_arrays(rows, (rows[:, 0] > 0.5) & (rows[:, 2] < 0.5))
    >>> result = fit(sample, Config.preset(restarts=2, steps=100))
    >>> print(result.program)
    h :- b1, \\+ b3.
    >>> result.score("train").accuracy
    1.0
    """
    if isinstance(data, Sample):
        if label is not None or options:
            raise ConfigError("a sample has its labels, and its settings are a Config: leave out the rest")
        keeper = None if checkpoint is None else Checkpoint(checkpoint)
        return fit_sample(data, config, validation=validation, callbacks=callbacks, checkpoint=keeper)
    if label is None and not (config is None or isinstance(config, Config | ClassifierConfig)):
        label, config = config, None
    if label is None:
        raise ConfigError(
            f"the column that is to be predicted is not named: give label='...'{_columns(data)}"
        )
    if not (config is None or isinstance(config, ClassifierConfig)):
        raise ConfigError(f"{type_of(config)} is no ClassifierConfig, by which a table is learned from")
    source = {name: options.pop(name, None) for name in ("weight", "positive")}
    if config is None:
        preset, settings = options.pop("preset", "default"), options.pop("settings", None)
        config = ClassifierConfig.of(preset, settings, **options)
    elif options:
        raise ConfigError(f"give {next(iter(options))!r} in the config, or no config")
    rows, held = read_examples(data, label, validation, seed=config.seed, **source)
    return learn_classifier(rows, config, validation=held, callbacks=callbacks, keeper=keepers(checkpoint))


def learn(
    facts: Any,
    target: str | Sequence[str] | None = None,
    plan: Plan | None = None,
    *,
    callbacks: Sequence[Callback] = (),
    out: Path | str | RunFolder | None = None,
    executor: Workers | None = None,
    **options: Any,
) -> Theory:
    """Learn the rules of one or more relations from facts.

    Parameters
    ----------
    facts
        The facts, including background rules: a fact base; anything that `andre.read_facts` takes, such
        as the path of a file or folder, or DataFrames; or the name of a task or a public dataset.
    target
        The relations to learn, as p/2. It may be left out if a language, or a bias that
        came with the facts, names one; `andre.learning.learnable(facts)` lists all.
    plan
        How to learn; by default `Plan.of(facts, target, **options)`.
    callbacks
        Observers of the runs; see `andre.learning.Callback`. With an executor they are
        notified only of finished targets.
    out
        A folder in which every target is saved as soon as it is learned. After a stop, the
        same call continues: targets learned from the same facts by the same plan are read from it.
    executor
        Learns targets in parallel: any `concurrent.futures.Executor`, or a dask `Client`.
    options
        What `Plan.of` takes: `mode`, `semantics`, `variables`, `preset`, `seed`,
        `time_limit`, and every field of `Language` and `Config`.

    Returns
    -------
    Theory
        A definition for every target. Ctrl-C ends the call with those learned so far.

    Examples
    --------
    >>> from andre.facts import TASKS
    >>> theory = learn(TASKS["even"].train(), "even/1", variables=2, rounds=1, steps=60)
    >>> print(theory.program)
    even(X1) :- successor(X2, X1), \\+ even(X2).
    even(X1) :- zero(X1).
    """
    folder = RunFolder(out) if isinstance(out, Path | str) else out
    facts = as_facts(facts)
    if not (target is None or isinstance(target, str) or _is_texts(target)):
        raise ConfigError(
            f"{target!r} is no target: give the name of a relation, as 'p/2', or a list of them"
        )
    return learn_targets(facts, target, plan, callbacks=callbacks, out=folder, executor=executor, **options)


def complete(facts: Any, config: CompletionConfig | None = None, **options: Any) -> Completion:
    """Learn rules for all relations of a knowledge base, which rank its missing facts.

    Parameters
    ----------
    facts
        The facts: a fact base; anything that `andre.read_facts` takes, such as the path of a file or
        folder, or DataFrames; or the name of a task or a public dataset.
    config
        Which rules are considered, and which ways of scoring are compared.
    options
        Further arguments of `andre.completion.complete`: `extra`, `callbacks`, `executor`, `store`.

    Returns
    -------
    Completion
        Its `rank("citizen_of(ann, ?)")` ranks the answers to a question, with the rules behind them.

    Examples
    --------
    >>> rows = [f"likes(x{i}, y{i})" for i in range(9)] + [f"knows(y{i}, x{i})" for i in range(10)]
    >>> print(complete(rows).rank("likes(x9, ?)")[0].atom)
    likes(x9, y9)
    """
    if config is not None and not isinstance(config, CompletionConfig):
        raise ConfigError(f"{type_of(config)} is no CompletionConfig: see andre.completion")
    return complete_facts(as_facts(facts), config, **options)


def _is_texts(given: object) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(one, str) for one in given)


def _columns(data: Any) -> str:
    """A hint with the names of the columns, if they are known without reading the table."""
    names = [str(name) for name in getattr(data, "columns", data if isinstance(data, dict) else ())]
    return f", one of {shorten(', '.join(names), 100)}" if names else ""
