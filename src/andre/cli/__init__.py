"""The command line: `andre COMMAND`."""

from andre.cli import facts, programs
from andre.cli.app import main

__all__ = ["facts", "main", "programs"]
