"""Databases as they are: from tables, keys and foreign keys to facts.

- `schema`, `selection`: what a database says of itself, and what of it is read
- `relations`: which relations its tables become, by their keys
- `reading`: the facts of those relations, whatever holds the tables
- `sqlite`, `duckdb`, `addresses`: SQLite and DuckDB files, and servers by their address
"""
