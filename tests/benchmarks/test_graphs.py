"""The table of graphs of real size, on a base small enough to see what is right."""

import numpy as np
import pytest

from andre.errors import ConfigError
from andre.facts import FactBase, Relation
from benchmarks import graphs


def base() -> FactBase:
    """after is the inverse of before; every fifth fact of it is a test fact, every seventh valid."""
    pairs = np.array([[one, one + step] for one in range(20) for step in (1, 2)])
    mark = np.zeros(len(pairs), dtype=np.uint8)
    mark[::7], mark[::5] = 1, 2
    return FactBase.from_relations(
        [f"c{number}" for number in range(22)],
        [Relation("before", pairs), Relation("after", pairs[:, ::-1], mark=mark)],
    )


def test_the_table_says_how_well_how_long_and_how_much(monkeypatch):
    monkeypatch.setattr(graphs, "load_split", lambda name: base())
    monkeypatch.setattr(graphs, "run_apart", lambda work, *given: work(*given))
    report = graphs.bench_graphs("fb15k-237", workers=1)
    (found,) = report.data["bases"]
    assert found["test"]["mrr"]["realistic"] > 0.9
    assert found["interval"]["mean"] == pytest.approx(found["test"]["mrr"]["realistic"])
    assert found["peak"] > 0
    assert found["processor"] > 0
    ours, others = report.tables
    assert len(ours.rows[0]) == len(ours.columns)
    assert {row[0] for row in others.rows} == {"fb15k-237"}
    with pytest.raises(ConfigError, match="no dataset 'none'"):
        graphs.bench_graphs("none")
