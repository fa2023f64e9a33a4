"""The relations that the tables of a database become: a plan that depends only on the schema.

A table with a key becomes `table(key)` and, for each other column, `table_column(key, value)`;
a key of several columns is as many arguments, or one where other tables refer to it: then each of its
rows is a thing, whose parts are relations of their own. A column of true and false says whether
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
from typing import TypeAlias

from andre.errors import DataError
from andre.facts.formats.columns import is_triples
from andre.facts.formats.databases.schema import ForeignKey, Table, identifier
from andre.facts.formats.databases.selection import Selection
from andre.facts.relation import COLUMNS

#: The columns of an argument: of several the cells of a row are one constant, as those of a foreign key.
Argument: TypeAlias = tuple[str, ...]

_WIDE = 3  # arguments of a table without a key, above which a hint at --key is worth its line


@dataclass(frozen=True)
class Ids:
    """The ids of an argument: numbers with a prefix, such as `track_5`, and cells of several columns.

    Examples
    --------
    >>> print(Ids("stay", (True, True)).joined(["7", "2"]), Ids("test", (True, False)).joined(["7", "a,b"]))
    stay_7_2 test_7,a\\,b
    """

    prefix: str
    whole: tuple[bool, ...]  #: of each column, whether it has whole numbers, even where they are text

    def joined(self, parts: Sequence[str]) -> str:
        """The constant of several cells, another for any others."""
        if all(self.whole):
            return "_".join((self.prefix, *parts))
        apart = (part.replace("\\", "\\\\").replace(",", "\\,") for part in parts)
        return f"{self.prefix}_{','.join(apart)}"


@dataclass(frozen=True)
class PlannedRelation:
    """A relation of the rows of a table."""

    name: str | None  #: None for triples, whose rows name it
    arguments: tuple[Argument, ...]
    truth: str | None = None  #: a column that says whether the fact is stated or denied
    #: Columns called probability, mark or negative that give just that, of a table without a key.
    reserved: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlannedTable:
    """A table, and the relations that it becomes."""

    table: Table
    relations: tuple[PlannedRelation, ...]
    ids: Mapping[Argument, Ids] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        used = {
            name
            for one in self.relations
            for name in (*(name for argument in one.arguments for name in argument), *one.reserved, one.truth)
            if name is not None
        }
        return tuple(name for name in self.table.names if name in used)


@dataclass(frozen=True)
class Plan:
    """The tables that are read, and remarks on them."""

    tables: tuple[PlannedTable, ...]
    prefixes: tuple[str, ...] = ()  #: what the ids of any table begin with, read or not
    joined: tuple[str, ...] = ()  #: those of ids of several columns
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
    ...         ids = (planned.ids.get(argument) for argument in relation.arguments)
    ...         print(relation.name, *("text" if one is None else one.prefix for one in ids))
    album album
    album_title album text
    track track
    track_album track album
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
            own = {argument: one for (title, argument), one in ids.items() if title == table.title}
            planned.append(PlannedTable(table, relations, own))
    prefixes = sorted({one.prefix for one in ids.values()})
    joined = sorted({one.prefix for one in ids.values() if len(one.whole) > 1})
    return Plan(tuple(planned), tuple(prefixes), tuple(joined), tuple(remarks))


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
    """The tables, with columns of views taken for a key if they have its names or those of references to it.

    All that are named so must mean the same: an `id` that many tables have says nothing.
    """
    things = _things(tables)
    places: dict[Argument, set[tuple[str, Argument]]] = {}
    for table in tables:
        meant = {link.columns: (link.table, link.others) for link in table.foreign_keys}
        if len(table.key) == 1 or table.title in things:
            meant.setdefault(table.key, (table.title, table.key))
        for columns, place in meant.items() if not table.is_view else ():
            places.setdefault(tuple(name.casefold() for name in columns), set()).add(place)
    known = {table.title: table for table in tables}
    for table in tables:
        stated = {name for link in table.foreign_keys for name in link.columns}
        own = {name.casefold(): name for name in table.names if table.is_view and name not in stated}
        found = []
        for columns, named in places.items():
            if len(named) == 1 and own.keys() >= set(columns):
                ((title, key),) = named
                same = tuple(own[name] for name in columns)
                if list(map(known[title].kind, key)) == list(map(table.kind, same)):
                    found.append(ForeignKey(same, title, key))
        found.sort(key=lambda link: [table.names.index(name) for name in link.columns])
        yield replace(table, foreign_keys=(*table.foreign_keys, *found))


def _single(table: Table) -> list[ForeignKey]:
    return [link for link in table.foreign_keys if len(link.columns) == 1]


def _resolved(table: Table, tables: Sequence[Table]) -> Table:
    """The table with the columns of its foreign keys filled in, without those to unknown tables.

    Those of several columns refer to a key, and are in its order; others are taken column by column.
    """
    keys = {other.title: other.key for other in tables}
    found: list[ForeignKey] = []
    for link in table.foreign_keys:
        key = keys.get(link.table)
        others = link.others or key or ()
        if key is None or len(others) != len(link.columns):
            continue
        column = dict(zip(others, link.columns, strict=True))
        parts = [key] if set(others) == set(key) else [(name,) for name in others]
        found += [replace(link, columns=tuple(column[name] for name in part), others=part) for part in parts]
    return replace(table, foreign_keys=tuple(found))


def _several(table: Table) -> list[ForeignKey]:
    """The foreign keys of several columns."""
    return [link for link in table.foreign_keys if len(link.columns) > 1]


def _things(tables: Sequence[Table]) -> frozenset[str]:
    """The tables whose key of several columns others refer to, so that each of their rows is a constant."""
    return frozenset(link.table for table in tables for link in _several(table))


def _arguments(columns: Sequence[str], table: Table) -> tuple[Argument, ...]:
    """The arguments that some columns are: of a foreign key of several one, and each other column."""
    groups = {link.columns for link in _several(table) if set(link.columns) <= set(columns)}
    inside = {name for group in groups for name in group}
    every = [*groups, *((name,) for name in columns if name not in inside)]
    return tuple(sorted(every, key=lambda argument: [columns.index(name) for name in argument]))


@dataclass(frozen=True)
class _Shape:
    """How the rows of a table become facts."""

    key: tuple[Argument, ...]  #: arguments of every relation of the table
    links: tuple[ForeignKey, ...] = ()  #: each becomes a relation from the key
    values: tuple[str, ...] = ()  #: each becomes a relation from the key
    reserved: tuple[str, ...] = ()
    is_key: bool = True  #: whether each row has another key
    as_written: bool = False  #: whether it is a table of facts, whose name stays as it is


def _shape(table: Table, tables: Sequence[Table]) -> _Shape:
    names = tuple(
        column.name for column in table.columns if column.kind != "binary" or column.name in table.key
    )
    plain = tuple(name for name in names if name not in COLUMNS)
    reserved = tuple(name for name in names if name in COLUMNS)
    if is_triples(plain) or plain == tuple(f"arg{place + 1}" for place in range(len(plain))):
        return _Shape(tuple((name,) for name in plain), reserved=reserved, is_key=False, as_written=True)
    is_thing = table.title in _things(tables)
    if not table.key and not table.is_view:  # it may have been written as facts
        return _Shape(_arguments(plain, table), reserved=reserved, is_key=False)
    if not table.key or (set(names) == set(table.key) and not is_thing):
        return _Shape(_arguments(names, table), is_key=bool(table.key))
    if link := _links_only(table, tables):
        return _Shape(link)
    # Where the key is one of another table, the parts of the key are told of there.
    is_told = not is_thing or any(link.columns == table.key for link in table.foreign_keys)
    told = set(table.key) if is_told else set[str]()
    rest = tuple(name for name in names if name not in told)
    links = (link for link in table.foreign_keys if set(link.columns) <= set(names))
    shown = {link.columns: link for link in links if not set(link.columns) <= told}
    inside = {name for columns in shown for name in columns}
    return _Shape(
        (table.key,) if is_thing else _arguments(table.key, table),
        tuple(sorted(shown.values(), key=lambda link: [names.index(name) for name in link.columns])),
        tuple(name for name in rest if name not in inside),
    )


def _links_only(table: Table, tables: Sequence[Table]) -> tuple[Argument, ...]:
    """The foreign keys of a table that has nothing else, except a key to which nothing refers."""
    others = _arguments([name for name in table.names if name not in table.key], table)
    linked = {link.columns for link in table.foreign_keys}
    referred = any(link.table == table.title for other in tables for link in other.foreign_keys)
    if len(table.key) > 1 or table.key in linked or referred or len(others) < 2 or set(others) - linked:
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


def _ids(tables: Sequence[Table]) -> dict[tuple[str, Argument], Ids]:
    """The ids of all keys and of columns that refer to them, equal for columns joined by foreign keys."""
    owner: dict[tuple[str, Argument], tuple[str, Argument]] = {}  # the root of columns, by union and find

    def root(place: tuple[str, Argument]) -> tuple[str, Argument]:
        while (above := owner.get(place, place)) != place:
            place = above
        return place

    things = _things(tables)
    for table in tables:
        for link in table.foreign_keys:
            ends: list[tuple[Argument, Argument]] = [
                ((name,), (other,)) for name, other in zip(link.columns, link.others, strict=True)
            ]
            if len(ends) > 1:
                ends.append((link.columns, link.others))
            for columns, others in ends:
                # What is referred to stays the root: a key is named after the table that it is the key of.
                one, two = root((table.title, columns)), root((link.table, others))
                if one != two:
                    owner[one] = two
    known = {table.title: table for table in tables}
    joined = {root(place) for place in owner}
    wishes: dict[_Place, str] = {}
    for table in tables:
        if len(table.key) == 1 or table.title in things:
            wishes[table.title, ()] = snake_case(table.title)
        for name in table.names:
            if (table.title, (name,)) in joined and name not in table.key:
                wishes[table.title, (name,)] = f"{snake_case(table.title)}_{snake_case(name)}"
    prefixes = _apart(wishes)
    found = {}
    for table in tables:
        several = {table.key} if table.title in things else set[Argument]()
        several |= {link.columns for link in _several(table)}
        every: list[Argument] = [(name,) for name in table.names]
        for argument in (*every, *several):
            title, columns = root((table.title, argument))
            place = (title, () if known[title].key == columns else columns)
            if place in prefixes:
                whole = tuple(known[title].kind(name) == "integer" for name in columns)
                found[table.title, argument] = Ids(prefixes[place], whole)
    return found


def _chosen(
    table: Table, shape: _Shape, names: Mapping[_Place, str], selection: Selection
) -> Iterator[PlannedRelation]:
    """The relations of a table that are read."""
    columns = frozenset(selection.columns_of(table))
    arguments = shape.key if shape.is_key else tuple(one for one in shape.key if columns.issuperset(one))
    if arguments:
        written = tuple(name for argument in shape.key for name in argument)
        name = None if is_triples(written) else names[table.title, ()]
        yield PlannedRelation(name, arguments, reserved=shape.reserved)
    for link in shape.links:
        if columns.issuperset(link.columns):
            yield PlannedRelation(names[table.title, link.columns], (*shape.key, link.columns))
    for value in shape.values:
        if value in columns:
            name = names[table.title, (value,)]
            if table.kind(value) == "boolean":
                yield PlannedRelation(name, shape.key, truth=value)
            else:
                yield PlannedRelation(name, (*shape.key, (value,)))


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
    arguments = relations[0].arguments if relations else ()
    if not table.key and len(arguments) > _WIDE:
        yield (
            f"the {what} {table.title} states no key, so each row is a fact of {len(arguments)} "
            f"arguments: --key {table.title}.{arguments[0][0]} would make a relation of each column"
        )


def check_some(plan: Plan, source: str) -> None:
    """Refuse a database if nothing of it would be read."""
    if not plan.tables:
        told = f" ({'; '.join(plan.remarks)})" if plan.remarks else ""
        raise DataError(f"{source} has no tables that facts can be read from{told}: each relation is one")
