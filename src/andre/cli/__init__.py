"""The command line: `andre COMMAND`."""

from andre.cli import bench, facts, predict, programs, tables
from andre.cli.app import main

__all__ = ["bench", "facts", "main", "predict", "programs", "tables"]
