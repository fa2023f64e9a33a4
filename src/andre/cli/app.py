"""The application: which commands there are, loaded when they are called, and how errors reach a person."""

from __future__ import annotations

import io
import os
import re
import sys
import warnings
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

import andre
from andre.cli.printing import say
from andre.errors import AndreError, AndreWarning, StoppedError

#: Name of a command -> the module of `andre.cli` that has it, and the first sentence of its help.
_COMMANDS = {
    "demo": ("fit", "Learn a built-in task, from rows to rules."),
    "fit": ("fit", "Learn rules that tell the rows of a table apart."),
    "learn": ("learn", "Learn the rules of a relation from facts."),
    "rank": ("rank", "Rank what is missing from a knowledge base, with the reasons."),
    "show": ("show", "Print what a run learned: the rules with their evidence."),
    "report": ("show", "Write a page about a run: one HTML file that needs no network."),
    "predict": ("predict", "Apply what was learned to new rows or facts."),
    "explain": ("predict", "Say why a row has its class, or an atom holds, or which literal is missing."),
    "eval": ("predict", "Judge what was learned by rows with labels, or by facts."),
    "rescore": ("programs", "Count N_b and N_r of old rules on new facts."),
    "diff": ("programs", "Compare the rules of two runs or programs."),
    "merge": ("programs", "Put the rules of several programs together, each once."),
    "facts": ("facts", "Show what facts there are: relations, counts, types."),
    "convert": ("facts", "Write facts, or rules, in another format."),
    "census": ("facts", "Count the examples of a target, and its distinct rows."),
    "tasks": ("facts", "List the built-in tasks, or write the facts of one."),
    "datasets": ("facts", "List the public knowledge bases, or download one."),
}
_EXAMPLES = (
    "andre demo                                        learn a built-in task",
    "andre fit birds.csv --label bird --out run        learn rules from a table",
    "andre learn family.pl --target uncle/2 --out run  define a relation from facts",
    "andre learn graph.tsv --all --out run             rules for every relation of a graph",
    "andre report run --open                           see what was learned, and why",
    "andre predict run new.pl                          apply the rules to new rows or facts",
    "andre explain run new.pl 'uncle(al, bo)'          why an atom holds",
    "andre rank graph.tsv 'works_in(ann, ?)'           candidates by their chance",
    "andre rescore run new.pl                          old rules, new data",
    "andre diff monday.run today.run                   rules gained, lost, changed",
    "andre facts family.pl                             see what a file of facts holds",
    "andre COMMAND --help                              all options, with examples",
    "andre --install-completion                        let the shell complete what you type",
)
_python_shows = warnings.showwarning
_SETTINGS = {"help_option_names": ["-h", "--help"]}

FunctionT = TypeVar("FunctionT", bound=Callable[..., None])


class _Parsing:
    """Leaves words as they are while a shell completes one: converting them would load pydantic."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:
            for param in self.get_params(ctx):  # type: ignore[attr-defined]
                param.process_value = lambda _, value: value
        return super().parse_args(ctx, args)  # type: ignore[misc, no-any-return]


class _Command(_Parsing, TyperCommand):
    """A command with its options, whose help has no types of Python."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [re.sub(r"^{(.*)}", r"\1", piece) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        shown: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
        for param in self.get_params(ctx):
            if record := param.get_help_record(ctx):
                name, says = record
                kind = param.param_type_name
                shown[kind].append((name.partition(" <")[0] if kind == "argument" else name, says))
        for kind, records in shown.items():
            if records:
                with formatter.section(f"{kind.capitalize()}s"):
                    formatter.write_dl(records)


class _Late(TyperCommand):
    """A command's name and first sentence; the rest is loaded when the command is called."""

    def load(self) -> Any:
        """The command itself, as its module makes it."""
        assert self.name is not None
        import_module(f"andre.cli.{_COMMANDS[self.name][0]}")
        return typer.main.get_command(_LOADED[self.name])

    def make_context(self, *args: Any, **settings: Any) -> Any:
        return self.load().make_context(*args, **settings)


class _PipeClosedError(Exception):
    """The reader of standard output has had enough; a name of our own, as click would end with status 1."""


class _Commands(_Parsing, TyperGroup):
    """All commands, none of them loaded."""

    def invoke(self, ctx: Any) -> Any:
        try:
            done = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            raise _PipeClosedError from None
        return done

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called; a file in its place is no command, but what is to be learned from."""
        name = args[0]
        if name not in self.commands and not name.startswith("-") and Path(name).exists():
            raise AndreError(
                f"{name} is no command: andre facts {name} shows what facts it holds, andre learn {name} "
                f"RELATION learns from them, andre fit {name} --label COLUMN learns from rows"
            )
        return super().resolve_command(ctx, args)

    def __init__(self, **settings: Any) -> None:
        commands = {
            name: _Late(name, short_help=says, rich_markup_mode=None) for name, (_, says) in _COMMANDS.items()
        }
        super().__init__(**{**settings, "commands": commands})


def _examples(lines: tuple[str, ...]) -> str | None:
    """The end of a help text, whose lines stay as they are."""
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines))) if lines else None


# Without rich, which takes longer to load than all of the rest, help is plain text.
app = typer.Typer(
    name="andre",
    cls=_Commands,
    help="Learn first-order logic rules by gradient descent: facts and examples in, a logic program out.",
    epilog=_examples(_EXAMPLES),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_SETTINGS,
)
_LOADED: dict[str, typer.Typer] = {}


def command(
    *examples: str, name: str | None = None, learns: bool = False
) -> Callable[[FunctionT], FunctionT]:
    """Make a function the command of its name, with examples at the end of its help.

    One that `learns` needs torch in any case.
    """

    def add(function: FunctionT) -> FunctionT:
        @wraps(function)
        def run(**options: Any) -> None:
            from andre.cli.working import run_command

            run_command(function, learns, options)

        known = name or function.__name__
        made = typer.Typer(
            rich_markup_mode=None,
            pretty_exceptions_enable=False,
            add_completion=False,
            context_settings=_SETTINGS,
        )
        made.command(known, cls=_Command, epilog=_examples(examples))(run)
        _LOADED[known] = made
        return function

    return add


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"andre {andre.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options that come before a command."""


def main() -> None:
    """Run the command line; a user's mistake ends in one sentence on stderr and status 2."""
    warnings.showwarning = _show_warning
    _prepare_output()
    try:
        app()
    except _PipeClosedError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is flushed at the end
        sys.exit(0)
    except (AndreError, OSError) as error:
        say(" ".join(_sentence(error).split()))
        sys.exit(2)
    except StoppedError:
        say("stopped by Ctrl-C before there was a result: nothing is lost but the time")
        sys.exit(130)


def _prepare_output() -> None:
    """Let all be printed, whole, and every name, in escapes where the encoding lacks a letter."""
    if sys.stdout is None:  # it was closed before Python began
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115  (until the end)
    if isinstance(sys.stdout, io.TextIOWrapper):
        if isinstance(sys.stdout.buffer, io.RawIOBase):
            # PYTHONUNBUFFERED is set: what is left of a text when a signal interrupts it would be lost.
            encoding, is_terminal = sys.stdout.encoding, sys.stdout.isatty()
            whole = io.BufferedWriter(sys.stdout.detach())
            sys.stdout = io.TextIOWrapper(whole, encoding, line_buffering=is_terminal)
        sys.stdout.reconfigure(errors="backslashreplace")


def _show_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """A warning of our own as a line, and any other as Python shows it."""
    if issubclass(category, AndreWarning):
        say(message)
    else:
        _python_shows(message, category, *where, **more)


def _sentence(error: AndreError | OSError) -> str:
    """What went wrong, and what to do."""
    if isinstance(error, AndreError):
        return str(error)
    if isinstance(error, FileNotFoundError):
        return f"there is no file {error.filename}: check the path"
    if error.filename is None:
        return f"the system says: {error.strerror or error}"
    # A folder in the place of a file, no permission, a full disk.
    return f"{error.filename} cannot be opened: {error.strerror}"
