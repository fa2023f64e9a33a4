"""The command line: `andre COMMAND`."""

from andre.cli import bench, census, facts, predict, programs, rank, tables
from andre.cli.app import main

__all__ = ["bench", "census", "facts", "main", "predict", "programs", "rank", "tables"]
