"""The relations that the tables of a database become: a plan that depends only on the schema.

A table with a key becomes `table(key)` and, for each other column, `table_column(key, value)`;
a key of several columns is as many arguments. A column of true and false says whether
`table_column(key)` holds. A table that links others, and has nothing but their keys, is a relation
between these, and so is any table without a key between its columns.

Numbers that are keys are constants of their table, as `track_5`: those of two tables
are never the same, unless a foreign key says that they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from andre.errors import DataError
from andre.facts.formats.columns import is_triples
from andre.facts.formats.databases.schema import ForeignKey, Table, identifier
from andre.facts.formats.databases.selection import Selection
from andre.facts.relation import COLUMNS

_WIDE = 3  # arguments of a table without a key, above which a hint at --key is worth its line


@dataclass(frozen=True)
class Ids:
    """The ids of a column, whose numbers are written with a prefix, such as `track_5`."""

    prefix: str
    whole: bool  #: whether they are whole numbers, even where a column has them as text


@dataclass(frozen=True)
class PlannedRelation:
    """A relation of the rows of a table."""

    name: str | None  #: None for triples, whose rows name it
    columns: tuple[str, ...]  #: the arguments
    truth: str | None = None  #: a column that says whether the fact is stated or denied
    reserved: tuple[str, ...] = ()  #: columns called probability, mark or negative that give just that


@dataclass(frozen=True)
class PlannedTable:
    """A table, and the relations that it becomes."""

    table: Table
    relations: tuple[PlannedRelation, ...]
    ids: Mapping[str, Ids] = field(default_factory=dict)  #: by column

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        used = {
            name
            for one in self.relations
            for name in (*one.columns, *one.reserved, one.truth)
            if name is not None
        }
        return tuple(name for name in self.table.names if name in used)


@dataclass(frozen=True)
class Plan:
    """The tables that are read, and remarks on them."""

    tables: tuple[PlannedTable, ...]
    prefixes: tuple[str, ...] = ()  #: what the ids of any table begin with, read or not
    remarks: tuple[str, ...] = ()


def plan_relations(tables: Sequence[Table], selection: Selection | None = None) -> Plan:
    """The relations that the selected tables become.

    Names and prefixes follow from all tables, so that they stay as they are whatever is chosen.

    Examples
    --------
    >>> from andre.facts.formats.databases.schema import Column
    >>> album = Table("Album", (Column("AlbumId", "integer"), Column("Title")), key=("AlbumId",))
    >>> track = Table(
    ...     "Track",
    ...     (Column("TrackId", "integer"), Column("AlbumId", "integer")),
    ...     key=("TrackId",),
    ...     foreign_keys=(ForeignKey(("AlbumId",), "Album"),),
    ... )
    >>> for planned in plan_relations([album, track]).tables:
    ...     for relation in planned.relations:
    ...         print(relation.name, *(planned.ids.get(name, name) for name in relation.columns))
    album Ids(prefix='album', whole=True)
    album_title Ids(prefix='album', whole=True) Title
    track Ids(prefix='track', whole=True)
    track_album Ids(prefix='track', whole=True) Ids(prefix='album', whole=True)
    """
    selection = selection or Selection()
    declared = selection.declared(tables)
    whole = list(_with_view_keys([_resolved(table, declared) for table in declared]))
    shaped = {table.title: _shape(table, whole) for table in whole}
    written: dict[_Place, str] = {
        (table.title, ()): table.name for table in whole if shaped[table.title].as_written
    }
    names = _apart(dict(wish for table in whole for wish in _wishes(table, shaped[table.title])), written)
    ids = _ids(whole)
    planned, remarks = [], list[str]()
    for table in selection.chosen(whole):
        relations = tuple(_chosen(table, shaped[table.title], names, selection))
        remarks += _odd(table, relations, selection)
        if relations:
            own = {name: ids[table.title, name] for name in table.names if (table.title, name) in ids}
            planned.append(PlannedTable(table, relations, own))
    prefixes = sorted({one.prefix for one in ids.values()})
    return Plan(tuple(planned), tuple(prefixes), tuple(remarks))


def snake_case(name: str) -> str:
    """A name in lower case, with underscores between its words.

    Examples
    --------
    >>> snake_case("MediaTypeId"), snake_case("order details"), snake_case("HTTPPort")
    ('media_type_id', 'order_details', 'http_port')
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"\W+", "_", words).strip("_").lower()


def _with_view_keys(tables: Sequence[Table]) -> Iterator[Table]:
    """The tables, with columns of views taken for a key if they have its name or that of references to it.

    All that are named so must mean the same: an `id` that many tables have says nothing.
    """
    places: dict[str, set[tuple[str, str]]] = {}
    for table in tables:
        meant = {link.columns[0]: (link.table, link.others[0]) for link in _single(table)}
        if len(table.key) == 1:
            meant.setdefault(table.key[0], (table.title, table.key[0]))
        for name, place in meant.items() if not table.is_view else ():
            places.setdefault(name.casefold(), set()).add(place)
    known = {table.title: table for table in tables}
    for table in tables:
        stated = {name for link in table.foreign_keys for name in link.columns}
        found = []
        for column in table.columns if table.is_view else ():
            named = places.get(column.name.casefold(), set())
            if len(named) == 1 and column.name not in stated:
                ((title, key),) = named
                if known[title].kind(key) == column.kind:
                    found.append(ForeignKey((column.name,), title, (key,)))
        yield replace(table, foreign_keys=(*table.foreign_keys, *found))


def _single(table: Table) -> list[ForeignKey]:
    return [link for link in table.foreign_keys if len(link.columns) == 1]


def _resolved(table: Table, tables: Sequence[Table]) -> Table:
    """The table with the columns of its foreign keys filled in, without those to unknown tables."""
    keys = {other.title: other.key for other in tables}
    links = (replace(link, others=link.others or keys.get(link.table, ())) for link in table.foreign_keys)
    kept = tuple(one for one in links if one.table in keys and len(one.others) == len(one.columns))
    return replace(table, foreign_keys=kept)


@dataclass(frozen=True)
class _Shape:
    """How the rows of a table become facts."""

    key: tuple[str, ...]  #: arguments of every relation of the table
    links: tuple[ForeignKey, ...] = ()  #: each becomes a relation from the key
    values: tuple[str, ...] = ()  #: each becomes a relation from the key
    reserved: tuple[str, ...] = ()
    is_key: bool = True  #: whether each row has another key
    as_written: bool = False  #: whether it is a table of facts, whose name stays as it is


def _shape(table: Table, tables: Sequence[Table]) -> _Shape:
    names = tuple(
        column.name for column in table.columns if column.kind != "binary" or column.name in table.key
    )
    reserved = tuple(name for name in names if name in COLUMNS)
    arguments = tuple(name for name in names if name not in COLUMNS)
    if is_triples(arguments) or arguments == tuple(f"arg{place + 1}" for place in range(len(arguments))):
        return _Shape(arguments, reserved=reserved, is_key=False, as_written=True)
    if not table.key or set(arguments) == set(table.key):
        return _Shape(arguments, reserved=reserved, is_key=bool(table.key))
    if link := _links_only(table, tables):
        return _Shape(link)
    inside = {name for link in table.foreign_keys if len(link.columns) > 1 for name in link.columns}
    single = {link.columns[0]: link for link in _single(table)}
    several = tuple(
        link
        for link in table.foreign_keys
        if len(link.columns) > 1 and not set(link.columns) <= set(table.key)
    )
    rest = tuple(name for name in names if name not in table.key)
    links = (*(single[name] for name in rest if name in single), *several)
    return _Shape(table.key, links, tuple(name for name in rest if name not in single and name not in inside))


def _links_only(table: Table, tables: Sequence[Table]) -> tuple[str, ...]:
    """The foreign keys of a table that has nothing else, except a key to which nothing refers."""
    others = tuple(name for name in table.names if name not in table.key)
    linked = {link.columns[0] for link in _single(table)}
    referred = any(link.table == table.title for other in tables for link in other.foreign_keys)
    if len(table.key) > 1 or table.key[0] in linked or referred or len(others) < 2 or set(others) - linked:
        return ()
    return others


#: A relation before it has a name: the title of its table, and the columns beside the key.
_Place = tuple[str, tuple[str, ...]]


def _wishes(table: Table, shape: _Shape) -> Iterator[tuple[_Place, str]]:
    """The preferred name of each relation of a table, by its index."""
    start = snake_case(table.title)
    yield (table.title, ()), start
    plain = Counter(snake_case(name) for name in table.names)
    for link in shape.links:
        end = snake_case(link.columns[0] if len(link.columns) == 1 else link.table)
        bare = re.sub(r"_(id|fk)$", "", end)  # what the column leads to is the thing, not its id
        yield (table.title, link.columns), f"{start}_{end if plain[bare] else bare}"
    for name in shape.values:
        yield (table.title, (name,)), f"{start}_{snake_case(name)}"


def _apart(wishes: Mapping[_Place, str], taken: Mapping[_Place, str] | None = None) -> dict[_Place, str]:
    """A unique name for each index: the preferred one, else one that shows where the column name begins.

    Of a table and a column that wish for one name, as CustomerCountry and the Country of Customer, the
    table gets it. What still is not apart is named as SQL writes it.

    Examples
    --------
    >>> wishes = {("Customer", ("Country",)): "customer_country", ("CustomerCountry", ()): "customer_country"}
    >>> _apart(wishes)["Customer", ("Country",)]
    'customer__country'
    """
    names: dict[_Place, str] = dict(taken or {})
    asked = Counter(names.values())  # a name that two asked for is no one's later, either
    ways: list[Callable[[_Place], str]] = [
        lambda place: "" if place[1] else wishes[place],
        lambda place: wishes[place] if place[1] else "",
        lambda place: "__".join(map(snake_case, (place[0], *place[1]))) if place[1] else "",
    ]
    for way in ways:
        wanted = {place: name for place in wishes if place not in names and (name := way(place)).strip("_")}
        asked += Counter(wanted.values())
        names |= {place: name for place, name in wanted.items() if asked[name] == 1}
    for place in sorted(wishes.keys() - names.keys()):
        name = ".".join(map(identifier, (place[0], *place[1])))
        while name in names.values():
            name += "'"
        names[place] = name
    return names


def _ids(tables: Sequence[Table]) -> dict[tuple[str, str], Ids]:
    """The ids of all keys and of columns that refer to them, equal for columns joined by foreign keys."""
    owner: dict[tuple[str, str], tuple[str, str]] = {}  # the root of a column, by union and find

    def root(place: tuple[str, str]) -> tuple[str, str]:
        while (above := owner.get(place, place)) != place:
            place = above
        return place

    for table in tables:
        for link in table.foreign_keys:
            for column, other in zip(link.columns, link.others, strict=True):
                # What is referred to stays the root: a key is named after the table that it is the key of.
                one, two = root((table.title, column)), root((link.table, other))
                if one != two:
                    owner[one] = two
    known = {table.title: table for table in tables}
    joined = {root(place) for place in owner}
    wishes: dict[_Place, str] = {}
    for table in tables:
        for name in table.names:
            if table.key == (name,):
                wishes[table.title, ()] = snake_case(table.title)
            elif (table.title, name) in joined and name not in table.key:
                wishes[table.title, (name,)] = f"{snake_case(table.title)}_{snake_case(name)}"
    prefixes = _apart(wishes)
    found = {}
    for table in tables:
        for name in table.names:
            title, column = root((table.title, name))
            place = (title, () if known[title].key == (column,) else (column,))
            if place in prefixes:
                found[table.title, name] = Ids(prefixes[place], known[title].kind(column) == "integer")
    return found


def _chosen(
    table: Table, shape: _Shape, names: Mapping[_Place, str], selection: Selection
) -> Iterator[PlannedRelation]:
    """The relations of a table that are read."""
    columns = frozenset(selection.columns_of(table))
    arguments = shape.key if shape.is_key else tuple(name for name in shape.key if name in columns)
    if arguments:
        name = None if is_triples(shape.key) else names[table.title, ()]
        yield PlannedRelation(name, arguments, reserved=shape.reserved)
    for link in shape.links:
        if columns.issuperset(link.columns):
            yield PlannedRelation(names[table.title, link.columns], (*shape.key, *link.columns))
    for value in shape.values:
        if value in columns:
            name = names[table.title, (value,)]
            if table.kind(value) == "boolean":
                yield PlannedRelation(name, shape.key, truth=value)
            else:
                yield PlannedRelation(name, (*shape.key, value))


def _odd(table: Table, relations: Sequence[PlannedRelation], selection: Selection) -> Iterator[str]:
    """Remarks on what is unexpected in a table."""
    what = "view" if table.is_view else "table"
    if not table.columns:
        yield f"the {what} {table.title} cannot be read, since its columns are not known"
        return
    if table.is_view and table.foreign_keys:
        told = ", ".join(
            f"{name} is taken for that of {link.table}"
            for link in table.foreign_keys
            for name in link.columns
        )
        yield f"the view {table.title} states no keys: by its name {told}"
    wanted = set(selection.columns_of(table)) - set(table.key)
    binary = [one.name for one in table.columns if one.kind == "binary" and one.name in wanted]
    if binary:
        yield f"{table.title}.{', '.join(binary)}: binary data is left out"
    if not table.key and relations and len(relations[0].columns) > _WIDE:
        yield (
            f"the {what} {table.title} states no key, so each row is a fact of {len(relations[0].columns)} "
            f"arguments: --key {table.title}.{relations[0].columns[0]} would make a relation of each column"
        )


def check_some(plan: Plan, source: str) -> None:
    """Refuse a database if nothing of it would be read."""
    if not plan.tables:
        told = f" ({'; '.join(plan.remarks)})" if plan.remarks else ""
        raise DataError(f"{source} has no tables that facts can be read from{told}: each relation is one")
