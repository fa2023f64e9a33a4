"""Databases as they are: what becomes of tables, keys, foreign keys and NULL."""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.facts.postgres import postgres_server
from tests.facts.shop import FACTS, duckdb_shop, fill, sqlite_shop

from andre.errors import DataError
from andre.facts import FactBase, Selection, read_facts, read_source, without_password
from andre.facts.formats.databases.relations import plan_relations
from andre.facts.formats.databases.schema import Column, ForeignKey, Table, identifier
from andre.facts.formats.databases.sqlite import SQLiteDatabase, sqlite_connection


def shown(base: FactBase) -> set[str]:
    """All facts, denied ones with a sign."""
    return {
        ("\\+ " if denied else "") + str(atom)
        for key, relation in base.relations.items()
        for atom, denied in zip(base.atoms(*key), relation.column("negative").tolist(), strict=True)
    }


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres_server() as address:
        yield address


@pytest.fixture(scope="module")
def postgres_shop(server: str) -> str:
    import psycopg

    host = server.partition("?host=")[2]
    with psycopg.connect(host=host, user="andre", dbname="postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE shop")
    with psycopg.connect(host=host, user="andre", dbname="shop") as connection:
        fill(connection.execute, blob="BYTEA", mark="%s")
    return server.replace("/postgres?", "/shop?")


@pytest.fixture(params=["sqlite", "duckdb", "postgres"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    if request.param == "postgres":
        address: str = request.getfixturevalue("postgres_shop")
        return address
    return (
        sqlite_shop(tmp_path / "shop.sqlite")
        if request.param == "sqlite"
        else duckdb_shop(tmp_path / "shop.duckdb")
    )


def test_the_shop_is_read_alike_from_every_engine(shop: Path | str) -> None:
    base = read_source(shop)
    assert shown(base) == FACTS
    notes = " ".join(base.notes)
    assert "Voucher has no rows" in notes
    assert "Track.Cover: binary data is left out" in notes
    assert "NULL and empty text are unknown, and nothing is stated of them: " in notes
    assert "rows with NULL where a fact needs a constant are left out: 1 of Log" in notes
    assert "the view Spender states no keys: by its name CustomerId is taken for that of Customer" in notes


def test_tables_and_columns_are_chosen_and_their_names_stay(shop: Path | str) -> None:
    some = read_source(
        shop, selection=Selection(tables=("track", "PlayList*"), columns=("GenreId", "playlisttrack.*"))
    )
    assert shown(some) == {
        fact for fact in FACTS if fact.startswith(("track(", "track_genre(", "playlist_track("))
    }
    keyed = read_source(shop, selection=Selection(tables=("Spender",), keys=("Spender.CustomerId",)))
    assert shown(keyed) == {
        f"{name}(customer_{number}{value})"
        for number in (1, 2)
        for name, value in (("spender", ""), ("spender_bills", ", 1"))
    }
    for wrong, message in (
        (Selection(tables=("Trak",)), "there is no table Trak: did you mean Track?"),
        (Selection(columns=("Track.Nam",)), r"there is no column Track.Nam: did you mean Track.Name"),
        (Selection(keys=("Spender.Id",)), "--key Spender.Id names no column: did you mean"),
        (Selection(joins=("Log.At",)), "--join Log.At joins nothing: write it as in"),
    ):
        with pytest.raises(DataError, match=message):
            read_source(shop, selection=wrong)


def test_nothing_but_a_database_has_tables_to_choose(tmp_path: Path) -> None:
    path = tmp_path / "x.pl"
    path.write_text("p(a).")
    for source in (path, "grandparent"):
        with pytest.raises(DataError, match="tables and columns are chosen from a database"):
            read_source(source, selection=Selection(tables=("p",)))


def _sqlite(path: Path, *statements: str) -> Path:
    connection = sqlite3.connect(path)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return path


def test_keys_and_joins_that_are_not_stated(tmp_path: Path) -> None:
    path = _sqlite(
        tmp_path / "x.sqlite",
        "CREATE TABLE person (id INTEGER, name TEXT, city INTEGER)",
        "CREATE TABLE city (id INTEGER, name TEXT, area INTEGER)",
        "INSERT INTO person VALUES (1, 'ann', 1), (2, 'bob', NULL)",
        "INSERT INTO city VALUES (1, 'bonn', 141)",
    )
    assert shown(read_facts(path)) == {"person(1, ann, 1)", "city(1, bonn, 141)"}
    chosen = Selection(keys=("person.id", "CITY.id"), joins=("person.city=city.id",))
    assert shown(read_facts(path, selection=chosen)) == {
        "person(person_1)", "person(person_2)", "person_name(person_1, ann)", "person_name(person_2, bob)",
        "person_city(person_1, city_1)",
        "city(city_1)", "city_name(city_1, bonn)", "city_area(city_1, 141)",
    }  # fmt: skip


def test_only_tables_without_a_key_have_columns_that_say_something_of_facts(tmp_path: Path) -> None:
    path = _sqlite(
        tmp_path / "x.sqlite",
        "CREATE TABLE takes (who TEXT, course TEXT, mark TEXT, PRIMARY KEY (who, course))",
        "INSERT INTO takes VALUES ('ann', 'law', 'A')",
        "CREATE TABLE lead (name TEXT PRIMARY KEY, probability REAL)",
        "INSERT INTO lead VALUES ('bob', 20)",
        "CREATE VIEW marks AS SELECT mark, count(*) AS times FROM takes GROUP BY mark",
        "CREATE TABLE sure (arg1 TEXT, probability REAL, mark TEXT)",
        "INSERT INTO sure VALUES ('cy', 0.5, 'test')",
    )
    base = read_facts(path)
    assert shown(base) == {
        "takes(ann, law)",
        "takes_mark(ann, law, 'A')",
        "lead(bob)",
        "lead_probability(bob, 20.0)",
        "marks('A', 1)",
        "sure(cy)",
    }
    assert base.relations["sure", 1].probability.tolist() == [0.5]


def test_a_wide_table_without_a_key_says_how_to_name_one(tmp_path: Path) -> None:
    path = _sqlite(
        tmp_path / "x.sqlite", "CREATE TABLE log (a, b, c, d)", "INSERT INTO log VALUES (1, 2, 3, 4)"
    )
    assert list(read_facts(path).notes) == [
        "the table log states no key, so each row is a fact of 4 arguments: "
        "--key log.a would make a relation of each column"
    ]


def test_views_of_a_key_of_several_columns_are_about_its_rows(tmp_path: Path) -> None:
    path = _sqlite(
        tmp_path / "x.sqlite",
        "CREATE TABLE stay (who TEXT, nr INTEGER, ward TEXT, PRIMARY KEY (who, nr))",
        "CREATE TABLE test (id INTEGER PRIMARY KEY, person TEXT, nr INTEGER, value INTEGER, "
        "FOREIGN KEY (person, nr) REFERENCES stay (who, nr))",
        "INSERT INTO stay VALUES ('ann', 1, 'w'), ('bob', 2, 'w')",
        "INSERT INTO test VALUES (1, 'ann', 1, 5), (2, 'ann', 1, 7)",
        "CREATE VIEW tested AS SELECT person, nr, max(value) AS most FROM test GROUP BY 1, 2",
        "CREATE VIEW listed AS SELECT ward, WHO, NR FROM stay",
        "CREATE VIEW counted AS SELECT nr, count(*) AS times FROM stay GROUP BY nr",
    )
    found = shown(read_facts(path))
    assert {
        "tested('stay_ann,1', 7)", "listed(w, 'stay_ann,1')", "listed(w, 'stay_bob,2')",
        "counted(1, 1)", "counted(2, 1)", "test_stay(test_2, 'stay_ann,1')", "stay_nr('stay_bob,2', 2)",
    } <= found  # fmt: skip


def test_foreign_keys_of_binary_data_are_left_out(tmp_path: Path) -> None:
    path = _sqlite(
        tmp_path / "x.sqlite",
        "CREATE TABLE a (id BLOB, nr INTEGER, PRIMARY KEY (id, nr))",
        "CREATE TABLE b (id INTEGER PRIMARY KEY, a BLOB, nr INTEGER, FOREIGN KEY (a, nr) REFERENCES a)",
        "INSERT INTO a VALUES (x'01', 1)",
        "INSERT INTO b VALUES (1, x'01', 1)",
    )
    base = read_facts(path)
    assert {"b(b_1)", "a_nr('a_01,1', 1)"} <= shown(base)
    assert "b.a: binary data is left out" in base.notes


def test_foreign_keys_as_sqlite_takes_them(tmp_path: Path) -> None:
    """Without columns, in other case, to no table, to text that is a number, and to what is no key."""
    path = _sqlite(
        tmp_path / "x.sqlite",
        "CREATE TABLE Person (Id INTEGER PRIMARY KEY, Badge INTEGER UNIQUE)",
        "CREATE TABLE dog (id INTEGER PRIMARY KEY, owner TEXT REFERENCES person, badge INTEGER "
        "REFERENCES PERSON (badge), gone INTEGER REFERENCES nowhere)",
        "INSERT INTO Person VALUES (1, 7)",
        "INSERT INTO dog VALUES (1, '1', 7, 3)",
    )
    assert shown(read_facts(path)) == {
        "person(person_1)", "person_badge(person_1, person_badge_7)",
        "dog(dog_1)", "dog_owner(dog_1, person_1)", "dog_badge(dog_1, person_badge_7)", "dog_gone(dog_1, 3)",
    }  # fmt: skip


def test_cells_that_can_be_no_constant_are_left_out(tmp_path: Path) -> None:
    path = _sqlite(
        tmp_path / "x.sqlite",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, word TEXT, size REAL, data)",
        "INSERT INTO t VALUES (1, CAST(x'ff00' AS TEXT), 9e999, x'00'), (2, 'a' || char(0) || 'b', 1, 'x')",
    )
    base = read_facts(path)
    assert shown(base) == {"t(t_1)", "t(t_2)", "t_size(t_2, 1.0)", "t_data(t_2, x)"}
    assert (
        "t.size: some cells hold numbers without end, which can be no constant, and are left out"
        in base.notes
    )
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, tags VARCHAR[], day DATE, place STRUCT(x INT))"
        )
        connection.execute(
            "INSERT INTO t VALUES (1, ['a', 'b', 'a', ''], '2001-02-03', {x: 1}), (2, [], NULL, NULL), "
            "(3, ['a', NULL], NULL, NULL)"
        )
    base = read_facts(tmp_path / "x.duckdb")
    assert "t_place" not in {name for name, _ in base.relations}
    assert [note for note in base.notes if "can be no constant" in note] == [
        "t.place: some cells hold lists or structures, which can be no constant, and are left out"
    ]
    assert shown(base) == {
        "t(t_1)", "t(t_2)", "t(t_3)", "t_day(t_1, '2001-02-03')",
        "t_tags(t_1, a)", "t_tags(t_1, b)", "t_tags(t_3, a)",
    }  # fmt: skip


def test_decimals_are_never_merged(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    numbers = [Decimal("12345678901234567.1"), Decimal("12345678901234567.2"), Decimal("0.5")]
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (id DECIMAL(20, 0) PRIMARY KEY, size DECIMAL(20, 1))")
        for place, number in enumerate(numbers):
            connection.execute("INSERT INTO t VALUES (?, ?)", [12345678901234567890 + place, number])
    assert {fact for fact in shown(read_facts(path)) if "size" in fact} == {
        "t_size(t_12345678901234567890, '12345678901234567.1')",
        "t_size(t_12345678901234567891, '12345678901234567.2')",
        "t_size(t_12345678901234567892, 0.5)",
    }


def test_a_view_that_cannot_be_run_stands_in_no_ones_way(tmp_path: Path) -> None:
    statements = (
        "CREATE TABLE t (id INTEGER PRIMARY KEY)",
        "INSERT INTO t VALUES (1)",
        "CREATE TABLE gone (id INTEGER)",
        "CREATE VIEW broken AS SELECT id FROM gone",
        "DROP TABLE gone",
    )
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        for statement in statements:
            connection.execute(statement)
    for path in (_sqlite(tmp_path / "x.sqlite", *statements), tmp_path / "x.duckdb"):
        base = read_facts(path)
        assert shown(base) == {"t(t_1)"}
        assert "broken" in " ".join(base.notes)


def test_a_databases_views_reach_no_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("word\nopen\n")
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.execute(f"CREATE VIEW peek AS SELECT * FROM read_csv('{secret}')")
    base = read_facts(tmp_path / "x.duckdb")
    assert shown(base) == {"t(t_1)"}
    assert "peek is left out" in " ".join(base.notes)


def test_schemas_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE SCHEMA old")
        for schema, number in (("main", 1), ("old", 2)):
            connection.execute(f"CREATE TABLE {schema}.item (id INTEGER PRIMARY KEY)")
            link = f"item INTEGER REFERENCES {schema}.item (id)"
            connection.execute(f"CREATE TABLE {schema}.part (id INTEGER PRIMARY KEY, {link})")
            connection.execute(f"INSERT INTO {schema}.item VALUES ({number})")
            connection.execute(f"INSERT INTO {schema}.part VALUES (1, {number})")
    assert shown(read_facts(path)) == {
        "item(item_1)", "part(part_1)", "part_item(part_1, item_1)",
        "old_item(old_item_2)", "old_part(old_part_1)", "old_part_item(old_part_1, old_item_2)",
    }  # fmt: skip
    assert shown(read_facts(path, selection=Selection(tables=("old.*",)))) == {
        "old_item(old_item_2)", "old_part(old_part_1)", "old_part_item(old_part_1, old_item_2)",
    }  # fmt: skip


def test_names_that_would_be_one_are_kept_apart() -> None:
    tables = [
        Table(name, tuple(map(Column, columns)), key=(columns[0],))
        for name, columns in (
            ("Customer", ["id", "Country", "First Name", "first_name"]),
            ("CustomerCountry", ["id", "x"]),
            ("customer_country", ["id"]),
            (";", ["id", "--"]),
        )
    ]
    names = [relation.name for table in plan_relations(tables).tables for relation in table.relations]
    assert len(set(names)) == len(names) == 9
    assert {
        "customer",
        "customer__country",
        '"CustomerCountry"',
        '"customer_country"',
        '";"',
        '";"."--"',
    } <= set(names)


def test_what_a_server_refuses_is_a_sentence(server: str) -> None:
    with pytest.raises(DataError, match=r"cannot be read: .*nowhere"):
        read_facts(server.replace("/postgres?", "/nowhere?"))
    with pytest.raises(DataError, match="has no tables that facts can be read from"):
        read_facts(server.replace("/postgres?", "/template1?"))


def test_columns_of_unusual_types(server: str, tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    """Types that SQLAlchemy does not know, and times of a zone, which DuckDB gives to none but pytz."""
    import psycopg

    moment = "2020-01-01 12:00:00+02"
    with psycopg.connect(host=server.partition("?host=")[2], user="andre", dbname="postgres") as connection:
        connection.execute(
            "CREATE TABLE odd (id INT PRIMARY KEY, place POINT, since TIMESTAMPTZ, price MONEY, tags TEXT[])"
        )
        connection.execute("SET TIME ZONE 'UTC'")
        connection.execute("INSERT INTO odd VALUES (1, '(1,2)', %s, 1234.5, '{x,y}')", [moment])
        connection.commit()
        found = shown(read_source(server, selection=Selection(tables=("odd",))))
        connection.execute("DROP TABLE odd")
    assert {
        "odd_place(odd_1, '(1,2)')", "odd_price(odd_1, 1234.5)", "odd_tags(odd_1, x)", "odd_tags(odd_1, y)"
    } <= found  # fmt: skip
    assert not recwarn.list
    path = tmp_path / "odd.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE odd (id INT PRIMARY KEY, since TIMESTAMPTZ)")
        database.execute("INSERT INTO odd VALUES (1, ?)", [moment])
        database.execute("INSERT INTO odd VALUES (2, 'infinity')")
    assert shown(read_facts(path)) == {
        "odd(odd_1)",
        "odd(odd_2)",
        "odd_since(odd_1, '2020-01-01 10:00:00+00:00')",
        "odd_since(odd_2, infinity)",
    }


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("nosuch://ann:secret@host/x", r"nosuch://ann:\*\*\*@host/x is no database that SQLAlchemy knows"),
        ("postgresql+nosuch://ann:secret@host/x", r"is no database that SQLAlchemy knows"),
        ("postgresql://ann:secret@localhost:1/x", r"://ann:\*\*\*@localhost:1/x cannot be read: .*refused"),
        ("sqlite:///none.sqlite", "there is no file none.sqlite"),
    ],
)
def test_addresses_that_lead_nowhere(address: str, message: str) -> None:
    pytest.importorskip("sqlalchemy")
    with pytest.raises(DataError, match=message) as refused:
        read_source(address)
    assert "sec" not in str(refused.value)


def test_partitions_are_read_with_their_table(server: str) -> None:
    import psycopg

    with psycopg.connect(host=server.partition("?host=")[2], user="andre", dbname="postgres") as connection:
        connection.execute("CREATE TABLE visit (id INT PRIMARY KEY) PARTITION BY RANGE (id)")
        for first in (0, 10):
            connection.execute(
                f"CREATE TABLE visit_{first} PARTITION OF visit FOR VALUES FROM ({first}) TO ({first + 10})"
            )
        connection.execute("INSERT INTO visit VALUES (1), (11)")
        connection.commit()
        found = shown(read_source(server, selection=Selection(tables=("visit*",))))
        connection.execute("DROP TABLE visit")
    assert found == {"visit(visit_1)", "visit(visit_11)"}


@settings(deadline=None, max_examples=40)
@given(
    rows=st.lists(
        st.tuples(st.text("a_,\\1", min_size=1, max_size=3), st.integers(-2, 12)),
        min_size=1, max_size=6, unique=True,
    ),
    draw=st.randoms(use_true_random=False),
    kind=st.sampled_from(["TEXT", "INTEGER"]),
)  # fmt: skip
def test_a_key_of_several_columns_that_others_refer_to_is_one_constant(
    rows: list[tuple[str, int]], draw: Any, kind: str
) -> None:
    """References lead to the row that they name, whatever their columns hold and in whatever order."""
    keys = rows if kind == "TEXT" else sorted({(len(text), number) for text, number in rows})
    links = [(number, *draw.choice(keys)) for number in range(5)]
    with tempfile.TemporaryDirectory() as folder:
        path = _sqlite(
            Path(folder, "x.sqlite"),
            f"CREATE TABLE stay (who {kind}, nr INTEGER, PRIMARY KEY (who, nr))",
            f"CREATE TABLE test (id INTEGER PRIMARY KEY, number INTEGER, person {kind}, note TEXT, "
            "FOREIGN KEY (number, person) REFERENCES stay (nr, who))",
            f"CREATE TABLE ended (who {kind}, nr INTEGER, PRIMARY KEY (nr, who), FOREIGN KEY (who, nr) "
            "REFERENCES stay)",
        )
        connection = sqlite3.connect(path)
        with connection:
            connection.executemany("INSERT INTO stay VALUES (?, ?)", keys)
            connection.executemany("INSERT INTO ended VALUES (?, ?)", keys[:1])
            connection.executemany(
                "INSERT INTO test VALUES (?, ?, ?, ?)",
                [(one, nr, who, f"stay_{who}{',_'[kind == 'INTEGER']}{nr}") for one, who, nr in links],
            )
        connection.close()
        base = read_facts(path)
    parts = [
        {str(one.args[0]): one.args[1].value for one in base.atoms(name, 2)}
        for name in ("stay_who", "stay_nr")
    ]
    stays = {name: (parts[0][name], parts[1][name]) for name in parts[0]}
    assert len(stays) == len(base.relations["stay", 1]) == len(keys)
    assert set(stays.values()) == set(keys)
    found = {str(one.args[0]): stays[str(one.args[1])] for one in base.atoms("test_stay", 2)}
    assert found == {f"test_{one}": (who, nr) for one, who, nr in links}
    assert [stays[str(one.args[0])] for one in base.atoms("ended", 1)] == keys[:1]
    assert not {str(one.args[1]) for one in base.atoms("test_note", 2)} & stays.keys()


def test_passwords_are_hidden() -> None:
    assert (
        without_password("postgresql+psycopg://ann:a:b@c@host:1/x?y")
        == "postgresql+psycopg://ann:***@host:1/x?y"
    )
    for plain in ("postgresql://ann@host/x", "a:b@c", "/a/b:c@d.sqlite", "postgresql://host:5432/x"):
        assert without_password(plain) == plain


def test_a_server_is_only_read(server: str, postgres_shop: str) -> None:
    import psycopg

    host = server.partition("?host=")[2]
    with psycopg.connect(host=host, user="andre", dbname="shop", autocommit=True) as connection:
        connection.execute("CREATE SEQUENCE counted")
        connection.execute("CREATE VIEW counting AS SELECT nextval('counted') AS n")
        try:
            base = read_facts(postgres_shop)
            assert shown(base) == FACTS
            assert "counting is left out" in " ".join(base.notes)
            assert "read-only transaction" in " ".join(base.notes)
        finally:
            connection.execute("DROP VIEW counting; DROP SEQUENCE counted")


# Names of every kind, and what tables of such names hold: the oracle is a dictionary.

_NAMES = st.text(
    st.one_of(
        st.sampled_from("ab_\"';-.%:?$`[]{}()\\ \n"), st.characters(codec="utf-8", exclude_characters="\0")
    ),
    min_size=1,
    max_size=8,
).filter(lambda name: not name.lower().startswith("sqlite_"))


def _distinct(names: list[str]) -> bool:
    # Engines fold case by different rules.
    return len({name.casefold() for name in names}) == len({name.lower() for name in names}) == len(names)


@st.composite
def _databases(draw: st.DrawFn) -> dict[str, dict[str, dict[int, int | str | None]]]:
    """Tables of a key and columns: by table and column the cell of each key."""
    titles = draw(st.lists(_NAMES, min_size=1, max_size=3).filter(_distinct))
    found = {}
    for title in titles:
        columns = draw(st.lists(_NAMES, min_size=2, max_size=4).filter(_distinct))
        keys = draw(st.lists(st.integers(-3, 3), min_size=1, max_size=4, unique=True))
        cells = st.one_of(st.none(), st.sampled_from(["x", "t_1", *(f"{one}_1" for one in titles)]))
        found[title] = {name: {key: draw(cells) for key in keys} for name in columns[1:]}
        found[title][columns[0]] = {key: key for key in keys}
    return found


def _make(execute: Callable[[str, Any], Any], tables: dict[str, Any], mark: str) -> None:
    def quoted(name: str) -> str:
        return identifier(name).replace("%", "%%" if mark == "%s" else "%")

    for title, columns in tables.items():
        *others, key = columns
        chosen = ", ".join(
            [f"{quoted(key)} INTEGER PRIMARY KEY", *(f"{quoted(name)} TEXT" for name in others)]
        )
        execute(f"CREATE TABLE {quoted(title)} ({chosen})", ())
        for number in columns[key]:
            row = (number, *(columns[name][number] for name in others))
            execute(f"INSERT INTO {quoted(title)} VALUES ({', '.join([mark] * len(row))})", row)


def _check(base: FactBase, tables: dict[str, Any]) -> None:
    """Each column is a relation of its own, with the cells that it has, and no two ids are one."""
    plan = {
        table.title: [relation.name for relation in planned.relations]
        for planned in plan_relations(
            [
                Table(title, tuple(Column(name, "other") for name in (key, *others)), key=(key,))
                for title, (*others, key) in tables.items()
            ]
        ).tables
        for table in [planned.table]
    }
    keys: set[str] = set()
    texts: dict[str, str] = {}
    for title, (*others, key) in tables.items():
        own, *rest = plan[title]
        rows = {str(base.constants[code]) for (code,) in base.relations[own, 1].codes.tolist()}
        assert len(rows) == len(tables[title][key])
        assert not rows & keys
        keys |= rows
        for name, relation in zip(others, rest, strict=True):
            wanted = {number: cell for number, cell in tables[title][name].items() if cell is not None}
            found = base.relations.get((relation, 2))
            pairs = [] if found is None else found.codes.tolist()
            assert len(pairs) == len(wanted)
            for one, two in pairs:
                number = int(str(base.constants[one]).rpartition("_")[2])
                assert texts.setdefault(wanted[number], str(base.constants[two])) == base.constants[two]
    # What is text stays what it was, unless it looks like an id; and it never is one.
    assert len(set(texts.values())) == len(texts)
    assert not keys & set(texts.values())
    assert all(text in (cell, f"{cell} (text)") for cell, text in texts.items())


@settings(deadline=None, max_examples=30)
@given(_databases())
def test_any_names_in_sqlite_and_duckdb(tables: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.sqlite")
        connection = sqlite3.connect(path)
        with connection:
            _make(connection.execute, tables, "?")
        connection.close()
        before = hashlib.sha256(path.read_bytes()).digest()
        _check(read_facts(path), tables)
        assert hashlib.sha256(path.read_bytes()).digest() == before
        assert [file.name for file in Path(folder).iterdir()] == ["x.sqlite"]
        with sqlite_connection(path, "ro") as opened:
            assert {table.name for table in SQLiteDatabase("x", opened).tables()} == set(tables)
        other = Path(folder, "x.duckdb")
        with duckdb.connect(str(other)) as database:
            _make(database.execute, tables, "?")
        _check(read_facts(other), tables)


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_databases())
def test_any_names_in_postgres(server: str, tables: dict[str, Any]) -> None:
    import psycopg

    host = server.partition("?host=")[2]
    with psycopg.connect(host=host, user="andre", dbname="postgres", autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        _make(connection.execute, tables, "%s")
    _check(read_facts(server), tables)


@settings(deadline=None, max_examples=100)
@given(st.permutations(range(4)), st.integers(0, 3))
def test_foreign_keys_join_ids_whatever_their_order(order: list[int], root: int) -> None:
    """Tables that share one key through a chain of foreign keys have the ids of its end."""
    names = [f"t{number}" for number in range(4)]
    chain = names[root:] + names[:root]
    tables = {
        name: Table(
            name,
            (Column("id", "integer"),),
            key=("id",),
            foreign_keys=(ForeignKey(("id",), chain[place + 1]),) if place < 3 else (),
        )
        for place, name in enumerate(chain)
    }
    plan = plan_relations([tables[names[number]] for number in order])
    assert {planned.ids["id",].prefix for planned in plan.tables} == {chain[-1]}


def test_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    rows = [(number, f"n{number % 3}") for number in range(20)]
    bases = []
    for name, mixed in (("a", rows), ("b", np.random.default_rng(0).permutation(rows).tolist())):
        connection = sqlite3.connect(tmp_path / f"{name}.sqlite")
        with connection:
            connection.execute("CREATE TABLE t (id INT PRIMARY KEY, word TEXT)")
            connection.executemany("INSERT INTO t VALUES (?, ?)", mixed)
        connection.close()
        bases.append(read_facts(tmp_path / f"{name}.sqlite"))
    assert bases[0] == bases[1]


def test_a_message_of_sqlite_that_is_no_text_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE likes (a, b)")
    connection.commit()
    connection.close()
    data = path.read_bytes()
    assert data.count(b"CREATE TABLE likes") == 1
    path.write_bytes(data.replace(b"CREATE TABLE", b"CREATE TABEL").replace(b"likes", b"li\xefes"))
    with pytest.raises(DataError, match=r"x\.sqlite"):
        read_facts(path)
