"""Databases as they are: from tables, keys and foreign keys to facts.

- `schema`, `selection`: the schema of a database, and the parts of it that are read
- `relations`: the relations that its tables become, by their keys
- `reading`: the facts of those relations, from any database
- `sqlite`, `duckdb`, `addresses`: SQLite and DuckDB files, and servers by their address
"""
