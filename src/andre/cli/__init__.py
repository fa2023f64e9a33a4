"""The command line: `andre COMMAND`."""

from andre.cli import bench
from andre.cli.app import main

__all__ = ["bench", "main"]
