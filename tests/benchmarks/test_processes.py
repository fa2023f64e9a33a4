"""Work in processes: pieces that are done are kept, and not done again."""

from __future__ import annotations

from pathlib import Path

from benchmarks.processes import keep_pieces, run_all


def _noted(given: tuple[str, int]) -> int:
    """Counts how often it was called, in a file."""
    path, value = Path(given[0]), given[1]
    path.write_text(path.read_text() + "x")
    return value * value


def test_pieces_that_are_done_are_not_done_again(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    calls.write_text("")
    given = [(str(calls), value) for value in (1, 2, 3)]
    with keep_pieces(tmp_path / "pieces"):
        assert run_all(_noted, given[:2], workers=1) == [1, 4]
        assert run_all(_noted, given, workers=1) == [1, 4, 9]
    assert calls.read_text() == "xxx"
    assert run_all(_noted, given, workers=1) == [1, 4, 9]
    assert calls.read_text() == "xxxxxx"
