"""One small, valid source per format, to be broken in many ways."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from andre.facts import FORMATS, Bias, FactBase, Relation, write_facts
from andre.logic import parse_program


def sample_base(name: str) -> FactBase:
    """Facts that use whatever a format can hold."""
    holds = FORMATS[name].holds
    edge = Relation(
        "edge",
        np.array([[0, 1], [1, 2], [2, 0], [0, 2]]),
        probability=np.array([0.5, 1, 0.25, 1]) if "probability" in holds else None,
        mark=np.array([0, 2, 0, 2]) if "mark" in holds else None,
        negative=np.array([False, True, False, False]) if "negative" in holds else None,
    )
    red = Relation("red", np.array([[0, 0], [2, 2]] if name in {"tsv", "tsv-splits"} else [[0], [2]]))
    base = FactBase.from_relations(["a", "b", "New York"], [edge, red])
    if "rules" in holds:
        base = base.with_rules(parse_program("path(X, Y) :- edge(X, Y), X \\= Y."))
    if "bias" in holds:
        bias = Bias(head=(("edge", 2),), body=(("red", 1),), max_vars=3, types=(("edge", ("node", "node")),))
        base = FactBase(base.constants, base.relations, base.rules, bias=bias)
    return base


def write_sample(name: str, folder: Path) -> Path:
    """Write the sample of a format into a folder, and give its path."""
    path = folder / sample_name(name)
    for file, data in sample_files(name).items():
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_bytes(data)
    return path


def sample_name(name: str) -> str:
    return "sample" if FORMATS[name].folder else f"sample{FORMATS[name].suffixes[0]}"


#: The samples of formats that are only read.
_READ = {
    "rdf": """# a graph
<http://x.org/a> <http://x.org/p#edge> <http://x.org/b> .
<http://x.org/b> <http://x.org/p#edge> <http://x.org/New%20York> .
<http://x.org/New%20York> <http://x.org/p#edge> <http://x.org/a> .
<http://x.org/a> <http://x.org/p#edge> <http://x.org/New%20York> .
<http://x.org/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://x.org/p#Red> .
<http://x.org/New%20York> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://x.org/p#Red> .
"""
}


@cache
def sample_files(name: str) -> dict[str, bytes]:
    """The files of the sample of a format, written once: databases are slow to write."""
    if name in _READ:
        return {sample_name(name): _READ[name].encode()}
    with tempfile.TemporaryDirectory() as folder:
        write_facts(sample_base(name), Path(folder, sample_name(name)), name)
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}
