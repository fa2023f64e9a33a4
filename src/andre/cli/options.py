"""The arguments and options of all commands: one that has the same name means the same everywhere.

`--format` is always that of the input and `--to` that of the output.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from andre.cli.printing import note
from andre.errors import AndreError

if TYPE_CHECKING:
    from collections.abc import Collection

    from andre.facts import FactBase, Selection
    from andre.facts import World as WorldName
    from andre.runs import FactSource

Facts = Annotated[
    str,
    typer.Argument(
        metavar="FACTS",
        help="A file or folder of facts, a database or its address, a built-in task or a public dataset; "
        "- is standard input, in Prolog if no --format is given.",
        show_default=False,
    ),
]
Program = Annotated[
    Path,
    typer.Argument(
        metavar="RUN|PROGRAM",
        help="A folder that `--out` of fit, learn or rank wrote, or rules in Prolog, ProbLog, AnyBURL, "
        "JSON or CSV.",
        show_default=False,
    ),
]
Run = Annotated[
    Path,
    typer.Argument(
        metavar="RUN", help="A folder that `--out` of fit, learn or rank wrote.", show_default=False
    ),
]

Format = Annotated[
    str | None,
    typer.Option("--format", metavar="FORMAT", help="The format of the input, where its name does not tell."),
]
Tables = Annotated[
    list[str] | None,
    typer.Option(
        "--tables", metavar="TABLE,...", help="Of a database, the tables to read, as Track,Invoice*; all."
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="COLUMN,...",
        help="Of a database, the columns to read beside keys, as Track.Name,*.Country; all.",
    ),
]
Keys = Annotated[
    list[str] | None,
    typer.Option(
        "--key", metavar="TABLE.COLUMN", help="The key of a table or view that states none; repeatable."
    ),
]
Joins = Annotated[
    list[str] | None,
    typer.Option(
        "--join",
        metavar="TABLE.COLUMN=TABLE.COLUMN",
        help="A foreign key that the database does not state; repeatable.",
    ),
]
World = Annotated[
    str | None,
    typer.Option(
        "--world",
        metavar="closed|open",
        help="What facts neither state nor deny is false (closed) or unknown (open); by default that of "
        "the run, else closed.",
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="FORMAT",
        help="The format of the output, where its name does not tell; rules may be prolog, problog, "
        "anyburl, json or csv.",
    ),
]
OutRun = Annotated[
    Path | None, typer.Option("--out", metavar="RUN", help="Save what was learned in this folder.")
]
OutFile = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write here, not to standard output.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Phrases = Annotated[
    Path | None,
    typer.Option(
        "--phrases",
        metavar="TOML",
        help='How relations are said in sentences: lines such as uncle = "{1} is an uncle of {2}".',
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result, and errors.")]

Device = Annotated[
    str,
    typer.Option("--device", metavar="DEVICE", help="Where runs train: cpu, cuda, or auto: what is faster."),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed", metavar="N", min=0, help="Of the random numbers: the same seed gives the same result."
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        help="Seconds, reading included, until the best so far is handed back; with several targets, "
        "seconds for reading and for each of them.",
    ),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        "--memory-limit",
        metavar="SIZE",
        help="Memory that the command may take, Python included, with --jobs shared out among the "
        "processes: a number of gigabytes, or such as 500MB.",
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs", metavar="N", min=1, help="Relations worked on at the same time, by as many processes."
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Let the workers of a dask scheduler do it, as tcp://host:8786, instead of --jobs.",
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="auto|clingo|duckdb",
        help="What derives facts: clingo suits small sets of facts, duckdb large ones.",
    ),
]
Preset = Annotated[
    str,
    typer.Option(
        "--preset",
        metavar="default|paper",
        help="default works best; paper follows the paper, to compare with.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any other setting; repeatable."),
]

Mode = Annotated[
    str | None,
    typer.Option(
        "--mode",
        metavar="define|complete",
        help="define: rules read the background alone; complete: they read all known facts.",
    ),
]
Semantics = Annotated[
    str | None,
    typer.Option(
        "--semantics",
        metavar="exists|rows",
        help="What an example is: a head atom (exists) or a grounding of a rule (rows).",
    ),
]
Variables = Annotated[
    int | None,
    typer.Option("--variables", metavar="N", help="How many variables a rule may have; 3 by default."),
]
LanguageFile = Annotated[
    Path | None,
    typer.Option("--language", metavar="TOML", help="A file that says what bodies may hold."),
]
Noise = Annotated[
    str | None,
    typer.Option(
        "--noise",
        metavar="auto|0",
        help="0: the examples are clean, so the shortest program that agrees with all of them is taken.",
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Withhold a program where examples are too few to confirm it.")
]
Invent = Annotated[
    int | None,
    typer.Option(
        "--invent",
        metavar="N",
        min=0,
        help="Invent so many auxiliary predicates at the most; by default where few examples need them.",
    ),
]
Unlabelled = Annotated[
    str | None,
    typer.Option(
        "--unlabelled",
        metavar="auto|false|unknown",
        help="What no example labels: false, as in a closed world; unknown, so that only what is stated to "
        "be true or false teaches; or auto.",
    ),
]
Heads = Annotated[
    int | None,
    typer.Option(
        "--heads",
        metavar="N",
        min=8,
        help="Draw so many head atoms that stand for all of a target: for large graphs.",
    ),
]


def selected(
    tables: list[str] | None = None,
    columns: list[str] | None = None,
    keys: list[str] | None = None,
    joins: list[str] | None = None,
) -> Selection:
    """What of a database is read; several names may stand between commas.

    Examples
    --------
    >>> selected(["Track, Album", "Genre"]).tables
    ('Track', 'Album', 'Genre')
    """
    from andre.facts import Selection

    def names(given: list[str] | None) -> tuple[str, ...]:
        return tuple(name.strip() for text in given or () for name in text.split(",") if name.strip())

    return Selection(names(tables), names(columns), names(keys), names(joins))


def read_in_world(
    source: str,
    format: str | None,
    world: str | None,
    program: Path | None = None,
    selection: Selection | None = None,
) -> FactBase:
    """The facts of a source, in the world that `--world` names, else that of a run, else a closed one.

    What of a database is read is what the run was learned from, unless it is said.
    """
    from andre.facts import is_database, read_source

    learned = None if program is None else _facts_of(program)
    if world is None and learned is not None and (world := learned.world) == "open":
        note([f"the world is open, as {program} was learned in one: --world closed says otherwise"])
    if selection is None and learned is not None and is_database(source, format):
        selection = learned.selection
    # The name of the world is checked there, with a sentence.
    return read_source(*facts_input(source, format), cast("WorldName", world or "closed"), selection)


def _facts_of(program: Path) -> FactSource | None:
    """The facts that a saved run was learned from; None for rules in a file, which know of none."""
    if not program.is_dir():
        return None
    from andre.runs import is_run, load_origin

    origin = load_origin(program) if is_run(program) else None
    return None if origin is None else origin.facts


def facts_input(name: str, format: str | None) -> tuple[str, str | None]:
    """The source of facts and its format; `-` is standard input, which cannot be looked at to tell."""
    return ("/dev/stdin", format or "prolog") if name == "-" else (name, format)


def input_path(name: str) -> str:
    """The path of a table; `-` is standard input."""
    return "/dev/stdin" if name == "-" else name


def memory_bytes(size: str) -> int:
    """Bytes of a size: a number of gigabytes, or a number with its unit.

    Examples
    --------
    >>> memory_bytes("4") == memory_bytes("4GB") == 4 * 2**30
    True
    >>> memory_bytes("500 MB") // 2**20
    500
    """
    units = {"": 2**30, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
    found = re.fullmatch(r"([\d.]+(?:[eE]-?\d+)?)\s*([A-Za-z]*)", size.strip())
    unit = units.get(found[2].upper().replace("IB", "B")) if found else None
    try:
        return int(float(found[1]) * unit) if found and unit else _no_size(size)
    except (ValueError, OverflowError):
        return _no_size(size)


def memory_for(size: str | None, share: float) -> int:
    """Bytes for one large table, of all that a command may take; where that is not said, 4 GB.

    Examples
    --------
    >>> memory_for(None, 0.5) // 2**20, memory_for("1GB", 0.5) // 2**20
    (4096, 512)
    """
    return 4 << 30 if size is None else int(memory_bytes(size) * share)


def _no_size(text: str) -> int:
    raise AndreError(f"--memory-limit {text} is no size: give gigabytes as 4, or a unit as in 500MB")


#: Settings of learning that are lists, even of one.
_LISTS = ("subrules", "certainties", "relations", "exclude", "require", "constants")


def with_settings(
    settings: list[str] | None, lists: Collection[str] = _LISTS, /, **options: Any
) -> dict[str, Any]:
    """Options by name, with those that `--set NAME=VALUE` gave; `lists` names those that are lists.

    Examples
    --------
    >>> with_settings(["steps=300", "subrules=4", "exclude=p(X,Y),q"], seed=1)
    {'seed': 1, 'steps': 300, 'subrules': [4], 'exclude': ['p(X,Y)', 'q']}
    """
    for setting in settings or ():
        name, equals, text = setting.partition("=")
        if not equals:
            raise AndreError(f"--set {setting} sets nothing: write NAME=VALUE, e.g. --set steps=300")
        options[name.strip().replace("-", "_")] = _value(name.strip() in lists, text.strip())
    return options


def _value(is_list: bool, text: str) -> Any:
    """A setting's value as JSON would have it, or else as text; `1,2` is a list, and so is `p(X,Y),q`."""
    if is_list or "," in text:
        inner = text[1:-1] if text[:1] + text[-1:] in {"[]", "()"} else text
        # A comma between brackets is one of an atom.
        return [_plain(piece.strip()) for piece in re.split(r",(?![^(]*\))", inner) if piece.strip()]
    return _plain(text)


def _plain(text: str) -> Any:
    try:
        return json.loads(text.lower() if text.lower() in {"true", "false"} else text)
    except ValueError:
        return None if text.lower() == "none" else text
