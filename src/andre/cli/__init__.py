"""The command line: `andre COMMAND`."""

from andre.cli.app import main

__all__ = ["main"]
