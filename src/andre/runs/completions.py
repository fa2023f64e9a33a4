"""Saving a completion whole, and loading it: facts, rules, and how they score."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

import andre
from andre.completion import (
    Body,
    Choice,
    Completion,
    CompletionConfig,
    Graph,
    LateFeatures,
    Reliability,
    ReliabilityBin,
    Scorer,
    believed,
)
from andre.errors import AndreError, CheckpointError
from andre.facts import FactBase, read_facts, write_facts
from andre.files import write_whole
from andre.logic import Rule, parse_rule, to_prolog

__all__ = ["load_completion", "save_completion"]


_INDEX = "completion.json"
_FACTS = "facts.jsonl"
_FORMAT = 3


def save_completion(completion: Completion, folder: Path | str) -> None:
    """Write a completion into a folder; the index that makes it one is written last.

    Examples
    --------
    >>> import tempfile
    >>> from andre.completion import complete
    >>> from andre.logic import parse_atom
    >>> rows = [f"{r}({a}{i}, {b}{i})" for i in range(9) for r, a, b in (("p", "x", "y"), ("q", "y", "x"))]
    >>> done = complete(FactBase.from_facts(map(parse_atom, rows)))
    >>> folder = tempfile.mkdtemp()
    >>> save_completion(done, folder)
    >>> load_completion(folder).rank(parse_atom("p(x0, Y)")) == done.rank(parse_atom("p(x0, Y)"))
    True
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    scorer = completion.scorer
    index = {
        "format": _FORMAT,
        "andre": andre.__version__,
        "config": json.loads(completion.config.model_dump_json()),
        "scorer": {
            "aggregator": scorer.aggregator,
            "smoothing": scorer.smoothing,
            "depth": scorer.depth,
            "penalty": scorer.penalty,
            "weights": {str(step): weights.tolist() for step, weights in scorer.weights.items()},
        },
        "choices": [asdict(choice) for choice in completion.choices],
        "reliability": {
            "bins": [asdict(part) for part in completion.reliability.bins],
            "confidences": completion.reliability.confidences.tolist(),
            "chances": completion.reliability.chances.tolist(),
        },
        "relations": list(completion.graph.relations),
        "constants": list(completion.facts.constants),
        "bodies": {
            str(step): [_plain(body) for body in features.bodies]
            for step, features in completion.features.items()
        },
        "assumed": completion.graph.assumed.tolist(),
        "seconds": completion.seconds,
    }
    (folder / _INDEX).unlink(missing_ok=True)  # from here on the folder is no completion until all is there
    write_facts(completion.facts.without("rules", "bias"), folder / _FACTS)
    write_whole(folder / "program.pl", to_prolog(completion.rules))
    write_whole(folder / _INDEX, json.dumps(index))


def load_completion(folder: Path | str) -> Completion:
    """Read back what `save_completion` wrote."""
    folder = Path(folder)
    if not (folder / _INDEX).is_file():
        raise CheckpointError(f"there is no saved completion in {folder}: it has no {_INDEX}")
    try:
        index = json.loads((folder / _INDEX).read_bytes())
        if index["format"] != _FORMAT:
            raise CheckpointError(
                f"the completion in {folder} has format {index['format']}, which this version cannot read: "
                f"use andre {index['andre']}"
            )
        return _completion(index, read_facts(folder / _FACTS))
    except CheckpointError:
        raise
    except (AndreError, AttributeError, KeyError, TypeError, ValueError, OSError) as error:
        raise CheckpointError(f"the completion in {folder} is damaged ({error}): save it again") from None


def _completion(index: Mapping[str, Any], facts: FactBase) -> Completion:
    # Steps and constants are numbers in the index; the facts may come back in another order.
    relations = {key[0]: relation for key, relation in facts.relations.items() if key[1] == 2}
    others = {key: relation for key, relation in facts.relations.items() if key[1] != 2}
    place = {value: code for code, value in enumerate(index["constants"])}
    recode = np.array([place[value] for value in facts.constants])
    ordered = [relations[name].recoded(recode) for name in index["relations"]]
    rest = [relation.recoded(recode) for relation in others.values()]
    facts = FactBase.from_relations(index["constants"], [*ordered, *rest], world=facts.world)
    assumed = np.array(index["assumed"], dtype=np.int64).reshape(-1, 3)
    graph = replace(Graph.of(facts), assumed=assumed)
    bodies = {int(step): tuple(map(_body, some)) for step, some in index["bodies"].items()}
    saved = index["scorer"]
    weights = {int(step): np.array(values) for step, values in saved["weights"].items()}
    curve = index["reliability"]
    return Completion(
        facts=facts,
        graph=graph,
        features=LateFeatures(bodies, graph, believed(facts, graph)),
        scorer=Scorer(saved["aggregator"], saved["smoothing"], saved["depth"], saved["penalty"], weights),
        choices=tuple(Choice(**choice) for choice in index["choices"]),
        reliability=Reliability(
            bins=tuple(ReliabilityBin(**part) for part in curve["bins"]),
            confidences=np.array(curve["confidences"]),
            chances=np.array(curve["chances"]),
        ),
        config=CompletionConfig.read(index["config"]),
        seconds=index["seconds"],
    )


def _plain(body: Body | Rule) -> str | list[Any]:
    return str(body) if isinstance(body, Rule) else [body.shape, *body.steps]


def _body(plain: str | list[Any]) -> Body | Rule:
    return parse_rule(plain) if isinstance(plain, str) else Body(plain[0], tuple(plain[1:]))
