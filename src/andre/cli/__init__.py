"""The command line: `andre COMMAND`."""

from andre.cli import bench, census, datasets, facts, predict, programs, tables, tasks
from andre.cli.app import main

__all__ = ["bench", "census", "datasets", "facts", "main", "predict", "programs", "tables", "tasks"]
