"""The application all commands hang on, and how errors reach a person."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import andre
from andre.errors import AndreError

__all__ = ["app", "fail", "main", "run"]


app = typer.Typer(
    name="andre",
    help="Learn first-order logic rules by gradient descent: facts and examples in, a logic program out.",
    epilog="\n\n".join(  # a blank line between examples, or the help would run them together
        (
            "Examples:",
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
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


def fail(message: str) -> None:
    """Say on stderr, in one line, what went wrong and what to do."""
    typer.echo(f"andre: {' '.join(message.split())}", err=True)


def main() -> None:
    """Run the command line."""
    run(app)


def run(command: typer.Typer) -> None:
    """Run an application; a user's mistake ends in one sentence and status 2."""
    try:
        command()
    except AndreError as error:
        fail(str(error))
        sys.exit(2)
    except FileNotFoundError as error:
        fail(f"there is no file {error.filename}: check the path")
        sys.exit(2)
    except BrokenPipeError:  # the reader of a pipe has had enough
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:  # a folder in the place of a file, no permission, a full disk
        if error.filename is None:
            fail(f"the system says: {error.strerror or error}")
        else:
            fail(f"{error.filename} cannot be opened: {error.strerror}")
        sys.exit(2)
