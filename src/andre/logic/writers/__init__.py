"""Program files: the formats by name and ending, and reading and writing them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from andre.errors import LogicError
from andre.files import write_whole
from andre.logic.parse import parse_program
from andre.logic.program import Program
from andre.logic.writers.anyburl import to_anyburl
from andre.logic.writers.json import from_json, to_json
from andre.logic.writers.prolog import to_problog, to_prolog
from andre.logic.writers.table import from_csv, to_csv

__all__ = ["PROGRAM_FORMATS", "ProgramFormat", "format_program", "read_program", "write_program"]


@dataclass(frozen=True)
class ProgramFormat:
    """How a program is written to text and read back."""

    name: str
    endings: tuple[str, ...]
    write: Callable[[Program], str]
    read: Callable[[str, str], Program]  #: of a text, and of what error messages call it


def _parse(text: str, source: str) -> Program:
    return parse_program(text, source=source)


#: The formats by name.
PROGRAM_FORMATS = {
    item.name: item
    for item in (
        ProgramFormat("prolog", (".pl", ".prolog", ".pro"), to_prolog, _parse),
        ProgramFormat("problog", (".problog", ".plp"), to_problog, _parse),
        ProgramFormat("anyburl", (".anyburl", ".rules", ".txt"), to_anyburl, _parse),
        ProgramFormat("json", (".json",), to_json, from_json),
        ProgramFormat("csv", (".csv",), to_csv, from_csv),
    )
}
_BY_ENDING = {ending: item for item in PROGRAM_FORMATS.values() for ending in item.endings}


def format_program(program: Program, format: str = "prolog") -> str:
    """A program as text in one of `PROGRAM_FORMATS`."""
    return _named(format).write(program)


def write_program(program: Program, path: str | Path, format: str | None = None) -> None:
    """Write a program to a file, whole or not at all.

    Parameters
    ----------
    path
        The file; one that is there is replaced once the new one is complete.
    format
        prolog, problog, anyburl, json or csv; by the ending of the path if None.

    Raises
    ------
    LogicError
        Where the format cannot hold the program, or the ending names no format.
    """
    path = Path(path)
    chosen = _BY_ENDING.get(path.suffix.lower()) if format is None else _named(format)
    if chosen is None:
        endings = ", ".join(item.endings[0] for item in PROGRAM_FORMATS.values())
        raise LogicError(
            f"the ending of {path.name} names no format: use one of {endings}, or name the format by --to"
        )
    write_whole(path, chosen.write(program))


def read_program(path: str | Path, format: str | None = None) -> Program:
    """Read a program from a file.

    Parameters
    ----------
    path
        The file, in UTF-8; or the folder of a run, which has it as program.pl.
    format
        As for `write_program`; an ending that is not known is read as Prolog,
        ProbLog or AnyBURL, whichever it looks like.

    Raises
    ------
    LogicError
        Naming file and line.
    """
    path = Path(path)
    if (path / "program.pl").is_file():
        path = path / "program.pl"
    elif path.is_dir():
        raise LogicError(f"{path} is a folder without rules, which would be in program.pl: name another")
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LogicError(
            f"{path}, line {line}: this is not UTF-8 but looks like LATIN1: "
            "convert it with iconv -f LATIN1 -t UTF-8"
        ) from None
    if format is None:
        return _BY_ENDING.get(path.suffix.lower(), PROGRAM_FORMATS["prolog"]).read(text, str(path))
    return _named(format).read(text, str(path))


def _named(name: str) -> ProgramFormat:
    if name not in PROGRAM_FORMATS:
        raise LogicError(f"there is no program format {name!r}: choose {', '.join(PROGRAM_FORMATS)}")
    return PROGRAM_FORMATS[name]
