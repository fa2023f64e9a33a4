"""Writing programs for people and for other tools, and reading them back."""

from andre.logic.writers.files import FORMATS, format_program, read_program, write_program
from andre.logic.writers.table import to_frame

__all__ = ["FORMATS", "format_program", "read_program", "to_frame", "write_program"]
