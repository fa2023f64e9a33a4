"""The command line: `andre COMMAND`."""

from andre.cli import bench, tables
from andre.cli.app import main

__all__ = ["bench", "main", "tables"]
