"""The table of commands within limits: what they read, and what is told of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from andre.facts import RawTable, read_facts
from benchmarks import commands
from benchmarks.commands import Command, bench_commands


def test_a_command_is_held_to_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = "p(a, b). p(b, c). h(a, b).\n"
    case = Command(lambda path: path.write_text(facts), ("learn", "FILE", "--target", "q/1"), ".pl")
    monkeypatch.setattr(commands, "COMMANDS", {"a slip": case})
    report = bench_commands()
    ((name, limit, taken, _, most, megabytes, status, said),) = report.tables[0].rows
    assert (name, limit, most, status) == ("a slip", "10", "1,024", "2")
    assert said == "there is no relation q/1: choose from p/2, h/2"
    assert float(taken) > 0
    assert 50 < float(megabytes.replace(",", "")) < 1024


def test_files_are_as_told(tmp_path: Path) -> None:
    for write in (commands._boolean_csv, commands._numbers_csv):
        write(30, 7, tmp_path / "t.csv")
        table = RawTable.read(tmp_path / "t.csv")
        assert (table.n_rows, len(table.names), table.names[-1]) == (30, 8, "h")
    commands._many_relations(9, tmp_path / "g.tsv")
    assert len(read_facts(tmp_path / "g.tsv").relations) == 9
    commands._few_facts(tmp_path / "f.pl")
    assert len(read_facts(tmp_path / "f.pl").relations) == 3
