"""A shop of music as a database, for every engine: keys of all kinds, NULL, links, a view and the rest."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import duckdb

#: What each table is created as; {blob} is how an engine calls binary data.
TABLES = {
    "Country": '"Code" VARCHAR(2) PRIMARY KEY, "Name" VARCHAR(40)',
    "Artist": '"ArtistId" INTEGER PRIMARY KEY, "Name" VARCHAR(120)',
    "Album": '"AlbumId" INTEGER PRIMARY KEY, "Title" VARCHAR(160) NOT NULL, '
    '"ArtistId" INTEGER NOT NULL REFERENCES "Artist" ("ArtistId")',
    "Genre": '"GenreId" INTEGER PRIMARY KEY, "Name" VARCHAR(120)',
    "Track": '"TrackId" INTEGER PRIMARY KEY, "Name" VARCHAR(200), '
    '"AlbumId" INTEGER REFERENCES "Album" ("AlbumId"), "GenreId" INTEGER REFERENCES "Genre" ("GenreId"), '
    '"Composer" VARCHAR(220), "Milliseconds" INTEGER, "UnitPrice" NUMERIC(10, 2), "Cover" {blob}',
    "Playlist": '"PlaylistId" INTEGER PRIMARY KEY, "Name" VARCHAR(120)',
    "PlaylistTrack": '"PlaylistId" INTEGER REFERENCES "Playlist" ("PlaylistId"), '
    '"TrackId" INTEGER REFERENCES "Track" ("TrackId"), PRIMARY KEY ("PlaylistId", "TrackId")',
    "Employee": '"EmployeeId" INTEGER PRIMARY KEY, "LastName" VARCHAR(20), '
    '"ReportsTo" INTEGER REFERENCES "Employee" ("EmployeeId"), "BirthDate" DATE, "Active" BOOLEAN',
    "Manager": '"EmployeeId" INTEGER PRIMARY KEY REFERENCES "Employee" ("EmployeeId"), "Budget" INTEGER',
    "Customer": '"CustomerId" INTEGER PRIMARY KEY, "FirstName" VARCHAR(40), '
    '"CountryCode" VARCHAR(2) REFERENCES "Country" ("Code"), '
    '"SupportRepId" INTEGER REFERENCES "Employee" ("EmployeeId")',
    "Invoice": '"InvoiceId" INTEGER PRIMARY KEY, "CustomerId" INTEGER REFERENCES "Customer" ("CustomerId"), '
    '"InvoiceDate" TIMESTAMP',
    "Rating": '"CustomerId" INTEGER REFERENCES "Customer" ("CustomerId"), '
    '"TrackId" INTEGER REFERENCES "Track" ("TrackId"), "Stars" INTEGER, "Kept" BOOLEAN, '
    'PRIMARY KEY ("CustomerId", "TrackId")',
    "Reply": '"ReplyId" INTEGER PRIMARY KEY, "CustomerId" INTEGER, "TrackId" INTEGER, '
    'FOREIGN KEY ("CustomerId", "TrackId") REFERENCES "Rating" ("CustomerId", "TrackId")',
    "Visit": '"CustomerId" INTEGER REFERENCES "Customer" ("CustomerId"), "Day" DATE, '
    '"TrackId" INTEGER REFERENCES "Track" ("TrackId"), PRIMARY KEY ("CustomerId", "Day")',
    "Favourite": '"id" INTEGER PRIMARY KEY, "CustomerId" INTEGER REFERENCES "Customer" ("CustomerId"), '
    '"TrackId" INTEGER REFERENCES "Track" ("TrackId")',
    "Log": '"At" TIMESTAMP, "Word" VARCHAR(20)',
    "Voucher": '"VoucherId" INTEGER PRIMARY KEY, "Amount" INTEGER',
}

ROWS: dict[str, list[tuple[Any, ...]]] = {
    "Country": [("BR", "Brazil"), ("DE", "Germany")],
    "Artist": [(1, "AC/DC"), (2, "Accept"), (3, None)],
    "Album": [(1, "For Those", 1), (2, "Balls to the Wall", 2), (3, "Let There Be Rock", 1)],
    "Genre": [(1, "Rock"), (2, "Jazz")],
    "Track": [
        (1, "Go Down", 3, 1, None, 331180, 0.99, b"\x00\x01"),
        (2, "Dog Eat Dog", 3, 1, "AC/DC", 215196, 1, None),
        (3, "", None, 2, "track_1", 342562, 1.5, b"\xff"),
    ],
    "Playlist": [(1, "Music"), (2, "track_1")],
    "PlaylistTrack": [(1, 1), (1, 2), (2, 3)],
    "Employee": [
        (1, "Adams", None, "1962-02-18", True),
        (2, "Edwards", 1, "1958-12-08", False),
        (3, "Peacock", 2, None, None),
    ],
    "Manager": [(1, 1000), (2, None)],
    "Customer": [(1, "Luis", "BR", 3), (2, "Leonie", "DE", 3), (3, "Anna", None, None)],
    "Invoice": [(1, 1, "2009-01-01 00:00:00"), (2, 2, "2009-01-02 10:30:00")],
    "Rating": [(1, 1, 5, True), (1, 2, None, False), (2, 1, 1, None)],
    "Reply": [(1, 1, 2), (2, None, None)],
    "Visit": [(1, "2009-01-01", None), (1, "2009-01-02", 1)],
    "Favourite": [(10, 1, 1), (11, 2, 1), (12, 2, 3)],
    "Log": [("2009-01-01 00:00:00", "open"), (None, "lost")],
    "Voucher": [],
}

VIEW = (
    'CREATE VIEW "Spender" AS SELECT "CustomerId", count(*) AS "Bills" FROM "Invoice" GROUP BY "CustomerId"'
)

#: What is to be read, as Prolog writes it.
FACTS = {
    "country('BR')", "country('DE')", "country_name('BR', 'Brazil')", "country_name('DE', 'Germany')",
    "artist(artist_1)", "artist(artist_2)", "artist(artist_3)",
    "artist_name(artist_1, 'AC/DC')", "artist_name(artist_2, 'Accept')",
    "album(album_1)", "album(album_2)", "album(album_3)",
    "album_title(album_1, 'For Those')", "album_title(album_2, 'Balls to the Wall')",
    "album_title(album_3, 'Let There Be Rock')",
    "album_artist(album_1, artist_1)", "album_artist(album_2, artist_2)", "album_artist(album_3, artist_1)",
    "genre(genre_1)", "genre(genre_2)", "genre_name(genre_1, 'Rock')", "genre_name(genre_2, 'Jazz')",
    "track(track_1)", "track(track_2)", "track(track_3)",
    "track_name(track_1, 'Go Down')", "track_name(track_2, 'Dog Eat Dog')",
    "track_album(track_1, album_3)", "track_album(track_2, album_3)",
    "track_genre(track_1, genre_1)", "track_genre(track_2, genre_1)", "track_genre(track_3, genre_2)",
    "track_composer(track_2, 'AC/DC')", "track_composer(track_3, 'track_1 (text)')",
    "track_milliseconds(track_1, 331180)", "track_milliseconds(track_2, 215196)",
    "track_milliseconds(track_3, 342562)",
    "track_unit_price(track_1, 0.99)", "track_unit_price(track_2, 1.0)", "track_unit_price(track_3, 1.5)",
    "playlist(playlist_1)", "playlist(playlist_2)",
    "playlist_name(playlist_1, 'Music')", "playlist_name(playlist_2, 'track_1 (text)')",
    "playlist_track(playlist_1, track_1)", "playlist_track(playlist_1, track_2)",
    "playlist_track(playlist_2, track_3)",
    "employee(employee_1)", "employee(employee_2)", "employee(employee_3)",
    "employee_last_name(employee_1, 'Adams')", "employee_last_name(employee_2, 'Edwards')",
    "employee_last_name(employee_3, 'Peacock')",
    "employee_reports_to(employee_2, employee_1)", "employee_reports_to(employee_3, employee_2)",
    "employee_birth_date(employee_1, '1962-02-18')", "employee_birth_date(employee_2, '1958-12-08')",
    "employee_active(employee_1)", "\\+ employee_active(employee_2)",
    "manager(employee_1)", "manager(employee_2)", "manager_budget(employee_1, 1000)",
    "customer(customer_1)", "customer(customer_2)", "customer(customer_3)",
    "customer_first_name(customer_1, 'Luis')", "customer_first_name(customer_2, 'Leonie')",
    "customer_first_name(customer_3, 'Anna')",
    "customer_country_code(customer_1, 'BR')", "customer_country_code(customer_2, 'DE')",
    "customer_support_rep(customer_1, employee_3)", "customer_support_rep(customer_2, employee_3)",
    "invoice(invoice_1)", "invoice(invoice_2)",
    "invoice_customer(invoice_1, customer_1)", "invoice_customer(invoice_2, customer_2)",
    "invoice_invoice_date(invoice_1, '2009-01-01 00:00:00')",
    "invoice_invoice_date(invoice_2, '2009-01-02 10:30:00')",
    "rating(rating_1_1)", "rating(rating_1_2)", "rating(rating_2_1)",
    "rating_customer(rating_1_1, customer_1)", "rating_customer(rating_1_2, customer_1)",
    "rating_customer(rating_2_1, customer_2)",
    "rating_track(rating_1_1, track_1)", "rating_track(rating_1_2, track_2)",
    "rating_track(rating_2_1, track_1)",
    "rating_stars(rating_1_1, 5)", "rating_stars(rating_2_1, 1)",
    "rating_kept(rating_1_1)", "\\+ rating_kept(rating_1_2)",
    "reply(reply_1)", "reply(reply_2)", "reply_rating(reply_1, rating_1_2)",
    "visit(customer_1, '2009-01-01')", "visit(customer_1, '2009-01-02')",
    "visit_track(customer_1, '2009-01-02', track_1)",
    "favourite(customer_1, track_1)", "favourite(customer_2, track_1)", "favourite(customer_2, track_3)",
    "log('2009-01-01 00:00:00', open)",
    "spender(customer_1, 1)", "spender(customer_2, 1)",
}  # fmt: skip


def fill(execute: Any, *, blob: str = "BLOB", mark: str = "?") -> None:
    """Make the shop by a function that runs SQL with values."""
    for name, columns in TABLES.items():
        execute(f'CREATE TABLE "{name}" ({columns.format(blob=blob)})', ())
        for row in ROWS[name]:
            execute(f'INSERT INTO "{name}" VALUES ({", ".join([mark] * len(row))})', row)
    execute(VIEW, ())


def sqlite_shop(path: Path) -> Path:
    connection = sqlite3.connect(path)
    with connection:
        fill(connection.execute)
    connection.close()
    return path


def duckdb_shop(path: Path) -> Path:
    with duckdb.connect(str(path)) as connection:
        fill(connection.execute)
    return path
