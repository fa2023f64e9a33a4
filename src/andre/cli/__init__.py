"""The command line, `andre COMMAND`: arguments and printing; what is learned and shown is made elsewhere."""

from andre.cli.app import main

__all__ = ["main"]
