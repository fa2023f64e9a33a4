"""Facts from objects in memory: DataFrames, rows, and PyKEEN's TriplesFactory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from andre.errors import DataError
from andre.facts.base import FactBase
from andre.facts.build import Builder, Place, as_names
from andre.facts.formats.columns import add_table, table_columns
from andre.facts.relation import COLUMNS, MARKS

if TYPE_CHECKING:
    import pandas as pd


def is_frame(source: object) -> bool:
    """Whether this is a DataFrame of pandas, Polars or a similar library."""
    return hasattr(source, "columns") and hasattr(source, "shape") and hasattr(source, "__getitem__")


def is_rows(source: object) -> bool:
    """Whether these are rows in memory: a list of tuples or lists, or an array of two dimensions."""
    if isinstance(source, np.ndarray):
        return source.ndim == 2
    return isinstance(source, list) and bool(source) and all(isinstance(row, tuple | list) for row in source)


def is_triples_factory(source: object) -> bool:
    """Whether this is a PyKEEN TriplesFactory, or has the same fields."""
    return all(hasattr(source, name) for name in ("mapped_triples", "entity_to_id", "relation_to_id"))


def from_frames(source: Any) -> FactBase:
    """The facts of a DataFrame of triples (head, relation, tail), or of one DataFrame for each relation.

    Columns called probability, mark or negative give just that of each fact. Rows may stand in place of a
    DataFrame: a list of tuples, an array, or, for a relation of one argument, a list of constants.

    Examples
    --------
    >>> import pandas as pd
    >>> from_frames({"age": pd.DataFrame({"who": ["ann"], "years": [9]})}).constants
    ('ann', 9)
    >>> from_frames(pd.DataFrame([("ann", "mother", "bob")])).relations
    mappingproxy({('mother', 2): Relation(mother/2, 1 facts)})
    >>> print(*from_frames([("ann", "mother", "bob")]).atoms("mother", 2))
    mother(ann, bob)
    >>> print(*from_frames({"male": ["bob", "cy"]}).atoms("male", 1))
    male(bob) male(cy)
    """
    builder = Builder()
    if not isinstance(source, Mapping):
        columns = _columns(source, "the triples")
        arguments = [column for column in columns if column not in COLUMNS]
        if len(arguments) != 3:
            raise DataError(
                f"triples have a head, a relation and a tail, not {len(arguments)} columns: "
                "for other facts give a dict of DataFrames, or of lists of rows, by relation"
            )
        _add(builder, None, columns, "the triples")
    else:
        for name, table in source.items():
            if not isinstance(name, str) or not (is_frame(table) or isinstance(table, list | np.ndarray)):
                raise DataError(f"{name!r} must be a relation's name with a DataFrame or a list of rows")
            what = f"the {'DataFrame' if is_frame(table) else 'rows of'} {name}"
            _add(builder, name, _columns(table, what), what)
    return builder.finish(as_names)


def _columns(table: Any, source: str) -> dict[str, list[Any]]:
    if not is_frame(table):
        rows = [row if isinstance(row, tuple | list) else (row,) for row in _plain_rows(table)]
        sizes = sorted({len(row) for row in rows})
        if len(sizes) > 1:
            raise DataError(f"{source}: one row has {sizes[0]} cells and another {sizes[-1]}")
        return {f"arg{n}": list(cells) for n, cells in enumerate(zip(*rows, strict=True), 1)}
    columns = {str(column): list(table[column]) for column in table.columns}
    if len(columns) != len(table.columns):
        raise DataError("the columns of a DataFrame need distinct names")
    return columns


def _plain_rows(table: Any) -> list[Any]:
    return list(table.tolist() if isinstance(table, np.ndarray) else table)


def _add(builder: Builder, name: str | None, columns: dict[str, list[Any]], source: str) -> None:
    n_rows = len(next(iter(columns.values()), []))
    if not n_rows:
        raise DataError(f"{source} has no facts: leave it out, or fill it")
    add_table(builder, name, columns, Place(source, range(n_rows), "row"))


def to_frames(base: FactBase) -> dict[str, pd.DataFrame]:
    """One DataFrame for each relation, with the columns that `from_frames` reads.

    Examples
    --------
    >>> from andre.logic import Atom, Constant
    >>> to_frames(FactBase.from_facts([Atom("age", (Constant("ann"), Constant(9)))]))["age"]
      arg1 arg2
    0  ann    9
    """
    import pandas as pd  # noqa: PLC0415  (an extra)

    names = [relation.name for relation in base.relations.values()]
    if len(set(names)) < len(names):
        raise DataError("two relations have one name, and a dict of DataFrames holds one: rename one")
    if lost := set(base.features) - set(COLUMNS):
        raise DataError(f"DataFrames cannot hold {' and '.join(sorted(lost))}: take them out with without()")
    frames = {}
    for relation in base.relations.values():
        if not relation.arity:
            raise DataError(f"{relation} has no arguments, so no DataFrame can hold it")
        columns = table_columns(base, relation)
        frames[relation.name] = pd.DataFrame(
            {
                name: pd.Series(cells, dtype=object if name.startswith("arg") else None)
                for name, cells in columns.items()
            }
        )
    return frames


def from_triples_factories(parts: Mapping[str, Any]) -> FactBase:
    """The facts of PyKEEN's triples factories, given by mark.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> factory = SimpleNamespace(
    ...     entity_to_id={"ann": 0, "bob": 1},
    ...     relation_to_id={"mother": 0},
    ...     mapped_triples=np.array([[0, 0, 1]]),
    ... )
    >>> print(*from_triples_factories({"train": factory}).atoms("mother", 2))
    mother(ann, bob)
    """
    builder = Builder()
    for mark, factory in parts.items():
        if mark not in MARKS or not is_triples_factory(factory):
            raise DataError(f"{mark!r} must be train, valid or test, with a triples factory")
        triples = np.asarray(factory.mapped_triples)
        entities = _labels(factory.entity_to_id, "entity")
        relations = _labels(factory.relation_to_id, "relation")
        if triples.ndim != 2 or triples.shape[1] != 3 or not len(triples):
            raise DataError(f"the {mark} triples need three columns and at least one row")
        codes = np.array([builder.texts[entity] for entity in entities], dtype=np.int32)
        try:
            ends, kinds = codes[triples[:, [0, 2]]], np.arange(len(relations), dtype=np.int32)[triples[:, 1]]
        except IndexError:
            raise DataError(f"the {mark} triples have an id that no entity or relation has") from None
        marks = np.full(len(triples), MARKS.index(mark), dtype=np.uint8)
        builder.add_triples(relations, kinds, ends, mark=marks)
    return builder.finish(as_names)


def _labels(ids: Mapping[str, int], what: str) -> list[str]:
    if sorted(ids.values()) != list(range(len(ids))):
        raise DataError(f"the {what} ids of a triples factory must count from 0 without gaps")
    return [str(label) for label in sorted(ids, key=ids.__getitem__)]
