"""A census of facts that outgrow memory: DuckDB joins them over Parquet files, spilling to disk.

What a census needs of a graph is small whatever the graph's size: its labels and
patterns, and how many pairs, wedges and triangles have which of them. Here these
tables are made by SQL; what follows is the same as for a graph in memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from andre.arrays import Ints
from andre.census.bags import Weigher
from andre.census.cells import TRUE, Cells
from andre.census.census import Census, count_rows
from andre.census.counting import TRIANGLES
from andre.census.graph import FactGraph
from andre.census.plan import CensusPlan, Request, Step
from andre.census.strata import Counted, strata
from andre.errors import ConfigError, DataError
from andre.facts import FactBase, Key, Relation
from andre.limits import check, interrupting
from andre.samples import Language, RuleSpace

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Constants are numbered; facts are rows of relation, first and second argument, each once.
_FACTS = """
CREATE TABLE constants AS
    SELECT value, row_number() OVER () - 1 AS id
    FROM (SELECT x AS value FROM stated UNION SELECT y FROM stated);
CREATE TABLE facts AS
    SELECT DISTINCT r, one.id AS x, two.id AS y
    FROM stated JOIN constants AS one ON stated.x = one.value JOIN constants AS two ON stated.y = two.value;
DROP TABLE stated;
DROP TABLE constants;
"""
#: What is known of each constant, and of each ordered pair of them, as sorted lists of columns, numbered
#: from 1. Columns of constants are relations (p(x, x)), then the head's places; those of pairs are relations
#: forwards and backwards.
_LABELS = """
CREATE TABLE labelled AS
    SELECT c, list_sort(list(item)) AS items FROM (
        SELECT x AS c, r AS item FROM facts WHERE x = y
        UNION SELECT x, {relations} FROM facts WHERE r = {target}
        UNION SELECT y, {relations} + 1 FROM facts WHERE r = {target}
    ) GROUP BY c;
CREATE TABLE labels AS
    SELECT items, row_number() OVER () AS number, count(*) AS n FROM labelled GROUP BY items;
CREATE TABLE label_of AS SELECT c, number FROM labelled JOIN labels USING (items);
DROP TABLE labelled;
"""
_PAIRS = """
CREATE TABLE joined AS
    SELECT a, b, list_sort(list(item)) AS items FROM (
        SELECT x AS a, y AS b, 2 * r AS item FROM facts WHERE x <> y
        UNION ALL SELECT y, x, 2 * r + 1 FROM facts WHERE x <> y
    ) GROUP BY a, b;
CREATE TABLE patterns AS
    SELECT items, row_number() OVER () AS number FROM (SELECT DISTINCT items FROM joined);
CREATE TABLE sides AS
    SELECT a, b, coalesce(one.number, 0) AS la, coalesce(two.number, 0) AS lb, patterns.number AS p
    FROM joined JOIN patterns USING (items)
    LEFT JOIN label_of AS one ON one.c = a LEFT JOIN label_of AS two ON two.c = b;
DROP TABLE joined;
"""
#: Centres that have as many neighbours of each type (label and pattern) are taken together.
_VIEWS = """
CREATE TABLE types AS SELECT lb AS l, p, row_number() OVER () AS t FROM (SELECT DISTINCT lb, p FROM sides);
CREATE TABLE views AS
    SELECT row_number() OVER () AS id, la, seen, count(*) AS members FROM (
        SELECT a, la, list_sort(list({'t': t, 'k': k})) AS seen FROM (
            SELECT a, la, t, count(*) AS k FROM sides JOIN types ON types.l = lb AND types.p = sides.p
            GROUP BY a, la, t
        ) GROUP BY a, la
    ) GROUP BY la, seen;
CREATE TABLE seen AS
    SELECT id, la, members, item.t AS t, item.k AS k
    FROM (SELECT id, la, members, unnest(seen) AS item FROM views);
DROP TABLE views;
"""
_WEDGES = """
SELECT one.la, a.l, b.l, a.p, b.p,
    sum(one.members::HUGEINT * one.k * (two.k - (one.t = two.t)::INTEGER)) AS n
FROM seen AS one JOIN seen AS two USING (id)
JOIN types AS a ON a.t = one.t JOIN types AS b ON b.t = two.t
GROUP BY ALL HAVING n <> 0
"""
#: Pairs at the end of lower degree: a hub then begins few.
_UPWARD = """
CREATE TABLE ranked AS
    SELECT a, row_number() OVER (ORDER BY count(*), a) AS place FROM sides GROUP BY a;
CREATE TABLE pairs AS
    SELECT one.place AS a, two.place AS b, la, lb, p
    FROM sides JOIN ranked AS one ON one.a = sides.a JOIN ranked AS two ON two.a = sides.b
    WHERE one.place < two.place;
"""


def census_on_disk(
    folder: Path | str, language: Language, *, identity: bool | None = None, memory_limit: int = 4 << 30
) -> Census:
    """Take the census in `rows` of facts in Parquet files, which are never read into memory as a whole.

    Parameters
    ----------
    folder
        Has a file of one or two columns for each relation, as parent.parquet. All facts are certain, and
        all teach. Constants are told by their text.
    language
        The target and up to three variables, without types, constants and order.
    identity
        Whether all variables stand for different constants; by default not.
    memory_limit
        How many bytes DuckDB may take; the rest goes to a folder of TMPDIR.

    Raises
    ------
    DataError, ConfigError
        Where there are no such files, or language and facts do not fit.
    """
    folder = Path(folder)
    names = tuple(sorted(path.stem for path in folder.glob("*.parquet")))
    if not names:
        raise DataError(f"there is no Parquet file in {folder}: give a folder with one for each relation")
    request = Request("rows", identity=identity, memory_limit=memory_limit)
    with _database(memory_limit) as database:
        joins = _DiskJoins(database, tuple(_read(database, folder, names)))
        facts = _examples(joins.keys)
        target = language.key(facts)
        if language.variables > 3 or language.types or language.constants or language.order or target[1] != 2:
            raise ConfigError(
                "facts on disk are counted for a target of two arguments and rules of up to three variables, "
                "without types, constants and order"
            )
        graph = joins.graph(language.space(facts))
        why = "facts are in Parquet files, and DuckDB joins them"
        steps = tuple(
            Step("disk", (stratum,), why, big_integers=True)
            for stratum in strata(language.variables)
            if stratum.is_distinct or not request.distinct
        )
        heads = int(np.prod([graph.counted[own].sum() for own in graph.domains.T], dtype=object))
        plan = CensusPlan(request, language.variables, steps, heads)
        return count_rows(graph, plan, Weigher(), joins)


def _read(database: DuckDBPyConnection, folder: Path, names: Sequence[str]) -> Iterator[Key]:
    """Read the files into a table, and give name and arity of each relation; p(x) is stated as p(x, x)."""
    database.execute("CREATE TABLE stated (r INTEGER, x VARCHAR, y VARCHAR)")
    for number, name in enumerate(names):
        source = "read_parquet('{}')".format(str(folder / f"{name}.parquet").replace("'", "''"))
        described = database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        columns = ['"' + row[0].replace('"', '""') + '"' for row in described]
        if not 1 <= len(columns) <= 2:
            raise DataError(f"{name}.parquet has {len(columns)} columns: facts on disk have one or two")
        check()
        with interrupting(database.interrupt):
            database.execute(f"INSERT INTO stated SELECT {number}, {columns[0]}, {columns[-1]} FROM {source}")
        yield name, len(columns)


def _examples(keys: Sequence[Key]) -> FactBase:
    """A few facts of the same relations: all that the atoms of a body hang on."""
    both = np.array([[0, 1], [1, 0]])
    return FactBase.from_relations("ab", [Relation(name, both[:, :arity]) for name, arity in keys])


@contextmanager
def _database(memory: int) -> Iterator[DuckDBPyConnection]:
    """A database in a folder that is gone afterwards, held to so many bytes of memory."""
    import duckdb  # noqa: PLC0415  (takes a second to load)

    with TemporaryDirectory(prefix="andre-") as folder, duckdb.connect(f"{folder}/facts.duckdb") as database:
        database.execute(f"SET memory_limit = '{memory // 2**20} MiB'")
        database.execute("SET temp_directory = ?", [folder])
        database.execute("SET preserve_insertion_order = false")
        database.execute("SET enable_progress_bar = false")  # it would go to standard output
        yield database


@dataclass(eq=False)
class _DiskJoins:
    """Pairs, wedges and triangles by SQL."""

    database: DuckDBPyConnection
    keys: tuple[Key, ...]  #: relations, in the order of their numbers

    def graph(self, space: RuleSpace) -> _DiskGraph:
        """Number labels and patterns, and give the graph without its constants and pairs."""
        count, place = len(self.keys), self.keys.index(space.head.key)
        self._run(_FACTS)
        (n,) = self._all("SELECT count(*) FROM (SELECT x FROM facts UNION SELECT y FROM facts)")[0]
        self._run(_LABELS.format(relations=count, target=place))
        self._run(_PAIRS)
        labels = self._all("SELECT items, n FROM labels ORDER BY number")
        patterns = [row[0] for row in self._all("SELECT items FROM patterns ORDER BY number")]
        label_cells = _cells([row[0] for row in labels], count + 2)
        pattern_cells = _cells(patterns, 2 * count)
        labelled = np.array([row[1] for row in labels], dtype=np.int64)
        number = {tuple(items): at for at, items in enumerate(patterns, 1)}
        back = [number[tuple(sorted(item ^ 1 for item in items))] for items in patterns]
        nothing = np.zeros(0, dtype=np.int64)
        columns: dict[Hashable, int] = {
            ("unary" if key[1] == 1 else "reflexive", key): at for at, key in enumerate(self.keys)
        }
        return _DiskGraph(
            space=space,
            n=int(n),
            labels=nothing,
            label_cells=label_cells,
            label_columns=columns | {("domain", 0): count, ("domain", 1): count + 1},
            label_truth=np.where(label_cells[:, place] == TRUE, 1.0, np.nan),
            domains=label_cells[:, count:] == TRUE,
            starts=nothing,
            others=nothing,
            patterns=nothing,
            pattern_cells=pattern_cells,
            pattern_columns={key: 2 * at for at, key in enumerate(self.keys) if key[1] == 2},
            pattern_truth=np.where(pattern_cells[:, 2 * place] == TRUE, 1.0, np.nan),
            absent=0,
            codes=nothing,
            wide={},
            constant_codes={},
            counted=np.append(int(n) - labelled.sum(), labelled),
            turned=np.array([0, *back], dtype=np.int64),
        )

    def pairs(self) -> Counted:
        """Group the pairs."""
        return self._pairs

    @cached_property
    def _pairs(self) -> Counted:
        return self._counted("SELECT la, lb, p, count(*) AS n FROM sides GROUP BY ALL")

    def wedges(self, dtype: type) -> Counted:
        """Multiply the neighbours of every constant."""
        self._run(_VIEWS)
        found = self._counted(_WEDGES)
        return Counted(found.columns, found.counts.astype(dtype))

    def triangles(self) -> Counted:
        """Close the paths."""
        self._run(_UPWARD)
        return self._counted(TRIANGLES)

    def _counted(self, query: str) -> Counted:
        """What a query gives, counts last, which may outgrow 64 bits."""
        rows = self._all(query)
        width = len(self.database.description or ())
        *columns, counts = zip(*rows, strict=True) if rows else [()] * width
        return Counted(
            [np.array(column, dtype=np.int64) for column in columns], np.array(counts, dtype=object)
        )

    def _all(self, query: str) -> list[Any]:
        with interrupting(self.database.interrupt):
            return self.database.execute(query).fetchall()

    def _run(self, script: str) -> None:
        for statement in filter(None, map(str.strip, script.split(";"))):
            check()
            with interrupting(self.database.interrupt):
                self.database.execute(statement)


def _cells(items: Sequence[Sequence[int]], columns: int) -> Cells:
    """The cells of lists of columns that are true, [1 + lists, columns]; the first has none."""
    cells = np.zeros((1 + len(items), columns), dtype=np.uint8)
    for row, some in enumerate(items, 1):
        cells[row, list(some)] = TRUE
    return cells


@dataclass(frozen=True, eq=False)
class _DiskGraph(FactGraph):
    """Labels and patterns of a graph whose constants and pairs are on disk."""

    counted: Ints  #: [L]
    turned: Ints  #: [P]

    @cached_property
    def label_counts(self) -> Ints:
        """How many constants have each label, [L]."""
        return self.counted

    @cached_property
    def reversed_pattern(self) -> Ints:
        """For each pattern, the pattern of the same facts seen from the second constant, [P]."""
        return self.turned
