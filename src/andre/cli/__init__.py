"""The command line: `andre COMMAND`."""

from andre.cli import bench, facts, programs, tables
from andre.cli.app import main

__all__ = ["bench", "facts", "main", "programs", "tables"]
