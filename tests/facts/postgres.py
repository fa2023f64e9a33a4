"""A PostgreSQL server of the tests' own, where PostgreSQL is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def _program(name: str) -> str | None:
    # Debian keeps those of servers out of the way.
    places = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *places]))


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a server on a socket in a new folder, and give its address; skip where that cannot be."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'andre[databases]'")
    pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed: pip install 'andre[databases]'")
    initdb, pg_ctl = _program("initdb"), _program("pg_ctl")
    if initdb is None or pg_ctl is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    # PostgreSQL refuses to be run by root, and its sockets need a short path.
    as_user: list[str] = []
    folder = Path(tempfile.mkdtemp(prefix="andre-pg-", dir="/tmp"))
    try:
        if os.getuid() == 0:
            if shutil.which("runuser") is None:
                pytest.skip("PostgreSQL does not run as root, and there is no runuser")
            as_user = ["runuser", "-u", "postgres", "--"]
            shutil.chown(folder, "postgres")
        data = str(folder / "data")

        def run(*command: str) -> None:
            done = subprocess.run(
                [*as_user, *command], cwd=folder, capture_output=True, text=True, check=False
            )
            if done.returncode:
                pytest.skip(f"PostgreSQL does not start: {done.stderr.strip() or done.stdout.strip()}")

        run(initdb, "-D", data, "-U", "andre", "-A", "trust", "-N", "-E", "UTF8", "--locale=C.UTF-8")
        settings = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        run(pg_ctl, "-D", data, "-o", settings, "-l", str(folder / "log"), "-w", "start")
        try:
            yield f"postgresql://andre@/postgres?host={folder}"
        finally:
            subprocess.run([*as_user, pg_ctl, "-D", data, "-m", "immediate", "stop"], cwd=folder, check=False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
