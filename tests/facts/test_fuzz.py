"""No bytes make a reader hang, eat memory or raise anything but the library's own error."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.facts.samples import write_sample

from andre.errors import AndreError
from andre.facts import FORMATS, FactBase, read_facts
from andre.facts.formats import format_of

SLOW = settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))

EVERY_FORMAT = pytest.mark.parametrize("name", FORMATS)

# fmt: off
PIECES = st.sampled_from([
    b"", b"\0", b"\n", b"\r\n", b"\r", b"\t", b"'", b'"', b"(", b")", b",", b".", b"::", b":-", b"%", b"/*",
    b"*/", b"\\", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"0.5::", b"1.5::", b"#TEST", b"{", b"}", b"[", b"]",
    b"X", b"_", b"nan", b"1e999", b"9" * 5000, b"not ", b"\\+ ", b"pos(", b"\xe2\x80\xa8", b"\xed\xa0\x80",
    b"a" * 300,
])
# fmt: on
EDITS = st.lists(
    st.tuples(st.integers(0, 10_000), st.integers(0, 5), st.one_of(PIECES, st.binary(max_size=4))),
    min_size=1,
    max_size=6,
)


def mutated(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for place, gone, piece in edits:
        at = place % (len(data) + 1)
        data = data[:at] + piece + data[at + gone :]
    return data


def survives(read: Callable[[], FactBase]) -> None:
    try:
        base = read()
    except AndreError:
        return
    assert len(base) or len(base.rules)


@EVERY_FORMAT
@given(edits=EDITS, which=st.integers(0, 5), cut=st.none() | st.integers(0, 200))
@SLOW
def test_a_damaged_source_is_read_or_refused(
    name: str, edits: list[tuple[int, int, bytes]], which: int, cut: int | None
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_sample(name, Path(folder))
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        file = files[which % len(files)]
        file.write_bytes(mutated(file.read_bytes()[:cut], edits))
        survives(lambda: read_facts(path, name))
        with suppress(AndreError):
            if format_of(path).name != name:  # damaged so that it looks like another format
                survives(lambda: read_facts(path))


@given(
    data=st.binary(max_size=200) | st.lists(PIECES, max_size=20).map(b"".join),
    suffix=st.sampled_from(["", ".txt"]),
)
@SLOW
def test_any_bytes_are_read_or_refused(data: bytes, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"facts{suffix}")
        path.write_bytes(data)
        survives(lambda: read_facts(path))
        for name in FORMATS:
            source = path
            if name in {"popper", "tsv-splits"}:
                source = Path(folder, name)
                shutil.rmtree(source, ignore_errors=True)
                source.mkdir()
                for file in ("bk.pl", "exs.pl", "bias.pl") if name == "popper" else ("train.txt", "test.tsv"):
                    (source / file).write_bytes(data)
            survives(lambda source=source, name=name: read_facts(source, name))  # type: ignore[misc]
