"""The command line: `andre COMMAND`."""

from andre.cli import bench, census, facts, predict, programs, report, tables
from andre.cli.app import main

__all__ = ["bench", "census", "facts", "main", "predict", "programs", "report", "tables"]
