"""The command line: `andre COMMAND`."""

from andre.cli import census, facts
from andre.cli.app import main

__all__ = ["census", "facts", "main"]
