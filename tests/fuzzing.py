"""Valid sources of every kind that is read, and ways to damage them."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import duckdb
from tests.facts.samples import sample_files, sample_name

from andre.cli.show import print_run
from andre.errors import AndreError, MemoryLimitError, OutOfTimeError
from andre.facts import FORMATS, LabelledRows, RawTable, Schema, read_facts
from andre.inference import infer
from andre.limits import Deadline, enforced, limited
from andre.logic import PROGRAM_FORMATS, format_program, parse_atom, parse_program, read_program
from andre.memory import bounded_memory, resident_bytes
from andre.runs import load
from andre.samples import Language

#: What one input may take: CPU seconds, and bytes beyond those that are taken already.
SECONDS, BYTES = 2.0, 1 << 30

# fmt: off
PIECES = [
    b"", b"\0", b"\n", b"\r\n", b"\r", b"\t", b"'", b'"', b"(", b")", b",", b".", b"::", b":-", b"%", b"/*",
    b"*/", b"\\", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"0.5::", b"1.5::", b"#TEST", b"{", b"}", b"[", b"]",
    b"X", b"_", b"nan", b"1e999", b"9" * 5000, b"not ", b"\\+ ", b"pos(", b"\xe2\x80\xa8", b"\xed\xa0\x80",
    b"a" * 300, b"-", b"0", b"1", b"null", b"true", b"1e308", b"[" * 3000, b"(" * 3000, b"=", b";", b"|",
    b"\\xd800\\", b"\x1b[31m", b"inf", b"X1", b"X \\= Y", b"1 < 2", b"<http://x>", b"@prefix", b"'''", b"$",
]
# fmt: on
WRONG: list[Any] = [
    None,
    True,
    -1,
    2.5,
    1e308,
    10**30,
    "",
    "no",
    [],
    [[]],
    {},
    {"no": 1},
    [1, 2],
    "\ud800",
    "NaN",
]

RULES = parse_program(
    "0.9::path(X, Y) :- edge(X, Y), X \\= Y.\npath(X, Y) :- edge(X, Z), \\+ red(Z), path(Z, Y).\n"
    "old(X) :- age(X, Y), Y > 40.5.\n'a b'(x).\n"
)
LANGUAGE = b"""target = "path/2"
variables = 3
relations = ["edge/2", "red/1"]
constants = ["edge/2"]
recursion = true
negation = false
max_body = 3
exclude = ["red(X1)"]
[types]
edge = ["node", "node"]
"""


@dataclass(frozen=True)
class Source:
    """A valid source, how it is read, and what is done with it then."""

    name: str
    path: str  #: what is read, beside the files
    files: Mapping[str, bytes]
    read: Callable[[Path], object]


def table_sources() -> Iterator[Source]:
    """Tables of rows."""
    rows = [(n, (n % 3 and "red") or "dark, blue", f"2024-01-{n + 1:02d}", n % 2 == 0) for n in range(12)]
    lines = ["age,color,since,h", *(f'{a},"{b}",{c},{h}' for a, b, c, h in rows)]

    def read(path: Path) -> object:
        rows = LabelledRows.read(RawTable.read(path), "h")
        return Schema.learn(rows.table).read(rows.table)

    yield Source("table csv", "t.csv", {"t.csv": "\n".join(lines).encode()}, read)
    with duckdb.connect() as connection, contextlib.suppress(OSError):
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            connection.execute("CREATE TABLE t (age INTEGER, color VARCHAR, since DATE, h BOOLEAN)")
            connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
            connection.execute(f"COPY t TO '{folder}/t.parquet' (FORMAT parquet)")
            data = (Path(folder) / "t.parquet").read_bytes()
    yield Source("table parquet", "t.parquet", {"t.parquet": data}, read)


def sources(saved: Mapping[str, Path]) -> list[Source]:
    """All kinds of sources; `saved` are folders of runs."""
    found = [
        Source(name, sample_name(name), sample_files(name), lambda path, name=name: read_facts(path, name))
        for name in FORMATS
    ]
    found += table_sources()
    facts = read_facts_of("edge(a,b). edge(b,c). red(a). age(a,41). path(a,b).")
    for name, form in PROGRAM_FORMATS.items():
        program = RULES if name in ("problog", "json") else parse_program("h(X,Y) :- p(X,Y).")
        text = format_program(program, name).encode()
        ending = form.endings[0]

        def run(path: Path, name: str = name) -> object:
            return infer(read_program(path, name), facts)

        found.append(Source(f"rules {name}", f"r{ending}", {f"r{ending}": text}, run))
    found.append(
        Source("language", "l.toml", {"l.toml": LANGUAGE}, lambda path: Language.from_toml(path).space(facts))
    )
    found.append(
        Source(
            "atom", "a", {"a": b"path('a b', X1)"}, lambda path: parse_atom(path.read_text(errors="replace"))
        )
    )
    for kind, folder in saved.items():
        files = {str(file.relative_to(folder)): file.read_bytes() for file in _files(folder)}
        found.append(Source(f"run {kind}", "", files, _show))
    return found


def _files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def read_facts_of(text: str) -> Any:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.pl"
        path.write_text(text)
        return read_facts(path)


def _show(path: Path) -> object:
    """Open a run, and print it as `andre show` does."""
    run = load(path)
    with contextlib.redirect_stdout(io.StringIO()):
        print_run(run)
        print_run(run, as_json=True)
    return run


def damaged(data: bytes, rng: Random, other: bytes) -> bytes:
    """A file with a few slips."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(7):
            case 0:
                data = data[:at]
            case 1:
                data = data[:at] + data[at + rng.randrange(1, 9) :]
            case 2:
                start = rng.randrange(len(data) + 1)
                data = data[:at] + data[start : start + rng.randrange(1, 60)] + data[at:]
            case 3:
                start = rng.randrange(len(other) + 1)
                data = data[:at] + other[start : start + rng.randrange(1, 60)] + data[at:]
            case 4:
                data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case _:
                data = data[:at] + rng.choice(PIECES) + data[at + rng.randrange(4) :]
    return data


def with_wrong_value(data: bytes, rng: Random) -> bytes:
    """A JSON file with one value exchanged, wherever it lies."""
    whole = json.loads(data)
    inner: Any = whole
    while True:
        if not inner:
            return data
        key = rng.choice(sorted(inner) if isinstance(inner, dict) else range(len(inner)))
        deeper = inner[key]
        if not isinstance(deeper, dict | list) or not deeper or rng.random() < 0.1:
            break
        inner = deeper
    choice = rng.choice([*WRONG, "gone", "other"])
    if choice == "gone":
        del inner[key]
    elif choice == "other":
        siblings = list(inner.values()) if isinstance(inner, dict) else inner
        inner[key] = rng.choice(siblings)
    else:
        inner[key] = choice
    return json.dumps(whole).encode()


def write_damaged(source: Source, others: list[Source], folder: Path, rng: Random) -> Path:
    """Write a source with one damaged file into a folder; gives what is to be read."""
    files = dict(source.files)
    name = rng.choice(sorted(files))
    other = rng.choice(list(rng.choice(others).files.values()))
    if name.endswith(".json") and source.name.startswith("run") and rng.random() < 0.8:
        files[name] = with_wrong_value(files[name], rng)
    elif name.endswith(".safetensors") and rng.random() < 0.8:
        data = damaged(files.pop(name), rng, other)
        digest = hashlib.sha256(data).hexdigest()
        where, _, _ = name.rpartition("/")
        index = f"{where}/run.json".lstrip("/")
        files[index] = json.dumps({**json.loads(files[index]), "tensors": digest}).encode()
        files[f"{where}/run-{digest[:16]}.safetensors".lstrip("/")] = data
    else:
        files[name] = damaged(files[name], rng, other)
    for file, data in files.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder / source.path


def fault_of(source: Source, path: Path) -> str | None:
    """What is wrong with how a damaged source is read; None where it is read or refused as it should be."""
    began = time.process_time()
    try:
        with bounded_memory(resident_bytes() + BYTES), enforced(), limited(Deadline.after(60)):
            source.read(path)
    except MemoryLimitError:
        return "took more than 1 GB"
    except OutOfTimeError:
        return "took more than a minute"
    except AndreError as error:
        if "\n" in str(error).strip() and source.name.startswith("run"):
            return f"said more than one line: {str(error)[:300]}"
    except Exception:
        lines = traceback.format_exc().strip().splitlines()
        return "\n".join(lines[-8:])
    seconds = time.process_time() - began
    return f"took {seconds:.1f} CPU seconds" if seconds > SECONDS else None
