"""Databases on the command line: what was made of one, and what is learned from it."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.facts.shop import sqlite_shop

from andre.facts import Selection
from andre.runs import FactSource, Origin, load_origin


@pytest.fixture
def fans(tmp_path: Path) -> Path:
    """A shop in which a fan is who bought an album of an artist."""
    draw = random.Random(0)
    path = tmp_path / "shop.sqlite"
    connection = sqlite3.connect(path)
    albums = [(n, None if n == 20 else n % 6 + 1) for n in range(1, 21)]
    bought = sorted({(draw.randint(1, 20), draw.randint(1, 20)) for _ in range(30)})
    fan = sorted({(who, albums[album - 1][1]) for who, album in bought if albums[album - 1][1]})
    with connection:
        connection.executescript(
            """
            CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, loyal BOOLEAN);
            CREATE TABLE artist (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE album (id INTEGER PRIMARY KEY, artist_id INTEGER REFERENCES artist (id));
            CREATE TABLE bought (customer_id INTEGER REFERENCES customer (id),
                album_id INTEGER REFERENCES album (id), PRIMARY KEY (customer_id, album_id));
            CREATE TABLE fan (customer_id INTEGER REFERENCES customer (id),
                artist_id INTEGER REFERENCES artist (id), PRIMARY KEY (customer_id, artist_id));
            """
        )
        many = {who for who, _ in fan}
        rows: dict[str, list[tuple[Any, ...]]] = {
            "customer": [(n, f"c{n}", None if n % 7 == 0 else n in many) for n in range(1, 21)],
            "artist": [(n, f"a{n}") for n in range(1, 7)],
            "album": albums,
            "bought": bought,
            "fan": fan,
        }
        for table, found in rows.items():
            marks = ", ".join("?" * len(found[0]))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", found)
    connection.close()
    return path


def test_facts_shows_what_was_made_of_a_database(andre: Callable[..., Any], tmp_path: Path) -> None:
    path = sqlite_shop(tmp_path / "shop.sqlite")
    done = andre("facts", path)
    assert "employee_reports_to/2\t2\t0\temployee, employee\t" in done.out
    assert "note: Track.Cover: binary data is left out" in done.err
    some = json.loads(andre("facts", path, "--tables", "Track, genre", "--columns", "*.Name", "--json").out)
    assert [relation["name"] for relation in some["relations"]] == [
        "genre",
        "genre_name",
        "track",
        "track_name",
    ]
    refused = andre("facts", path, "--tables", "Trakc")
    assert (refused.status, refused.err) == (2, "andre: there is no table Trakc: did you mean Track?\n")


def test_a_definition_is_learned_applied_and_explained(
    andre: Callable[..., Any], fans: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fans.parent)
    done = andre(
        "learn", "shop.sqlite", "--target", "fan/2", "--tables", "bought,album,fan", "--out", "fan.run"
    )
    assert "fan(X1, X2) :- album_artist(X3, X2), bought(X1, X3)." in done.out
    assert "NULL and empty text are unknown" in done.err
    # The same tables are read again, and those of facts in other formats are no matter.
    derived = andre("predict", "fan.run", "shop.sqlite")
    known = andre("convert", "shop.sqlite", "shop.pl", "--tables", "bought,album")
    assert known.status == 0
    assert sorted(derived.out.split()) == sorted(andre("predict", "fan.run", "shop.pl").out.split())
    assert "1.0000" in andre("eval", "fan.run", "shop.sqlite").out
    origin = load_origin("fan.run")
    assert origin is not None
    assert origin.facts is not None
    assert origin.facts.selection == Selection(tables=("bought", "album", "fan"))


def test_null_is_no_counterexample_of_a_truth_value(andre: Callable[..., Any], fans: Path) -> None:
    done = andre(
        "learn", fans, "--target", "customer_loyal/1", "--set", "singletons=true", "--tables", "customer,fan"
    )
    assert "customer_loyal(X1) :- fan(X1, X2)." in done.out
    connection = sqlite3.connect(fans)
    known = connection.execute("SELECT sum(loyal), sum(NOT loyal) FROM customer").fetchone()
    connection.close()
    assert f"{known[0]} positive and {known[1]} negative examples" in done.err


def test_candidates_are_ranked(andre: Callable[..., Any], fans: Path) -> None:
    done = andre("rank", fans, "fan(customer_1, ?)", "--tables", "bought,album,fan", "--limit", "2")
    assert done.status == 0
    assert done.out.lstrip().startswith("1. fan(customer_1, artist_")


def test_rows_of_a_table_are_told_apart(
    andre: Callable[..., Any], fans: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fans.parent)
    done = andre("fit", "shop.sqlite#album", "--label", "artist_id = artist_1", "--dry-run")
    assert done.status == 0
    assert done.err.startswith("andre: 19 rows, ")  # of one nobody knows the artist
    named = andre("fit", "shop.sqlite", "--tables", "album", "--label", "artist_id = artist_1", "--dry-run")
    assert named == done
    refused = andre("fit", "shop.sqlite", "--label", "loyal")
    assert "has 5 tables (album, artist, bought, customer, fan): name the one to learn from" in refused.err
    assert (
        "there is no table albun: did you mean album or fan?"
        in andre("fit", "shop.sqlite#albun", "--label", "x").err
    )


def test_a_run_keeps_no_password() -> None:
    address = "postgresql://ann:secret@host/shop"
    origin = Origin(("andre", "learn", address), facts=FactSource.of(address))
    assert "secret" not in repr(origin)
    assert origin.line == "andre learn 'postgresql://ann:***@host/shop'"
