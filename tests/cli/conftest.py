"""The command line, run in this process as a user runs it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from andre.cli.app import main


class Done(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def andre(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    # A busy machine shall not make commands say what takes them long.
    monkeypatch.setattr("andre.cli.working._WORTH_TELLING", float("inf"))

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["andre", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        return Done(int(caught.value.code or 0), *capsys.readouterr())

    return run
