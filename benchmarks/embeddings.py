"""ComplEx by PyKEEN on the splits that PyKEEN carries: what an embedding reaches on the same facts."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import numpy as np

from andre.errors import DataError
from andre.facts import PYKEEN_SPLITS
from benchmarks import BENCHMARKS, Tick, parse_names, silent
from benchmarks.processes import run_all
from benchmarks.ranking import decimals
from benchmarks.report import Report, Table, seed_range

#: Weights of the cubic penalty that validation facts choose from.
PENALTIES = (0.0, 0.01, 0.1)
_DIMENSIONS, _EPOCHS, _BATCH, _RATE, _EVERY, _PATIENCE = 128, 300, 256, 0.1, 10, 3


@dataclass(frozen=True)
class Run:
    """One training of an embedding."""

    base: str
    seed: int
    penalty: float
    epochs: int = _EPOCHS  #: at the most


@dataclass(frozen=True)
class Trained:
    """What came out of a training."""

    run: Run
    epochs: int
    valid_mrr: float
    test_mrr: float  #: filtered, realistic, both sides
    seconds: float


def train(run: Run) -> Trained:
    """Train ComplEx on the train facts until validation facts rank no better, and rank the test facts."""
    try:
        from pykeen.pipeline import pipeline
        from pykeen.stoppers import EarlyStopper
    except ImportError:
        raise DataError("ComplEx comes with pykeen: pip install 'andre[pykeen]'") from None
    began = time.perf_counter()
    penalty = {"weight": run.penalty, "p": 3.0, "normalize": True}
    with _quiet():
        done = pipeline(
            dataset=PYKEEN_SPLITS[run.base],
            dataset_kwargs={"create_inverse_triples": True},
            model="ComplEx",
            model_kwargs={
                "embedding_dim": _DIMENSIONS,
                "regularizer": "lp" if run.penalty else None,
                "regularizer_kwargs": penalty if run.penalty else None,
            },
            training_loop="LCWA",
            loss="CrossEntropy",
            optimizer="Adagrad",
            optimizer_kwargs={"lr": _RATE},
            training_kwargs={"num_epochs": run.epochs, "batch_size": _BATCH, "use_tqdm": False},
            stopper="early",
            stopper_kwargs={
                "frequency": _EVERY,
                "patience": _PATIENCE,
                "relative_delta": 0.002,
                "metric": "mrr",
                "evaluation_batch_size": _BATCH,
            },
            evaluation_kwargs={"batch_size": _BATCH, "use_tqdm": False},
            random_seed=run.seed,
            device="cpu",
        )
    figures = done.metric_results.get_metric("both.realistic.inverse_harmonic_mean_rank")
    assert isinstance(done.stopper, EarlyStopper)
    best = max(done.stopper.results, default=0.0)
    return Trained(run, len(done.losses), float(best), float(figures), time.perf_counter() - began)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what PyKEEN and torch say about machines that have no GPU."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def bench_embeddings(
    datasets: str | None = None, seeds: int = 3, workers: int = 16, tick: Tick = silent
) -> Report:
    """Train from every seed with every penalty, and report what validation facts choose."""
    bases = parse_names(datasets, tuple(PYKEEN_SPLITS), "dataset")
    runs = [Run(base, seed, penalty) for base in bases for seed in range(seeds) for penalty in PENALTIES]
    began = time.perf_counter()
    trained = run_all(train, runs, workers, tick)
    return Report(
        name="embeddings",
        title=BENCHMARKS["embeddings"].title,
        protocol=_PROTOCOL,
        settings={"seeds": seed_range(seeds), "bases": ", ".join(bases), "workers": workers},
        seconds=time.perf_counter() - began,
        tables=(_chosen(bases, trained),),
        data={"trained": [asdict(each) for each in trained]},
    )


def _chosen(bases: Sequence[str], trained: Sequence[Trained]) -> Table:
    rows = []
    for base in bases:
        own = [each for each in trained if each.run.base == base]
        best = [
            max((each for each in own if each.run.seed == seed), key=lambda each: each.valid_mrr)
            for seed in sorted({each.run.seed for each in own})
        ]
        test = [each.test_mrr for each in best]
        rows.append(
            (
                base,
                decimals(float(np.mean(test))),
                f"{decimals(min(test))} to {decimals(max(test))}",
                decimals(float(np.mean([each.valid_mrr for each in best]))),
                ", ".join(f"{each.run.penalty:g}" for each in best),
                f"{np.mean([each.seconds for each in own]):.0f}",
            )
        )
    columns = (
        "base",
        "test MRR, mean of seeds",
        "lowest to highest",
        "valid MRR",
        "penalties chosen",
        "s each",
    )
    return Table("ComplEx, filtered MRR, realistic ranks", columns, tuple(rows))


_PROTOCOL = (
    "ComplEx by PyKEEN, on the train, valid and test facts that PyKEEN carries and our ranks are measured "
    f"on: {_DIMENSIONS} complex dimensions, inverse relations, cross-entropy over all candidates (LCWA), "
    f"Adagrad at {_RATE:g} with batches of {_BATCH}, at most {_EPOCHS} epochs; every {_EVERY} epochs "
    f"validation facts are ranked, and {_PATIENCE} times without a gain end it. Of the weights "
    f"{', '.join(f'{weight:g}' for weight in PENALTIES)} of a cubic penalty each seed takes the one with the "
    "best validation MRR. Ranks are filtered, realistic and over both sides, by PyKEEN's own evaluator, "
    "whose definition ours equals. It is a plain configuration, not the best that ComplEx can do."
)
