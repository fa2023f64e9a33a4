"""Commands as they are typed, run in this process, where torch is loaded already."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path

import pytest

from andre.cli.app import main


def run_line(line: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a line that begins with `andre`, and give what it prints; `> FILE` writes that to a file."""
    command, _, file = line.partition(" > ")
    words = shlex.split(re.split(r"\s#", command)[0])  # a # within a word names a table
    assert words[0] == "andre", f"only andre is run, not {words[0]}"
    monkeypatch.setattr(sys, "argv", words)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code, f"{line}: {err.getvalue()}"
    if file:
        Path(file.partition("#")[0].strip()).write_text(out.getvalue())
    return out.getvalue()
