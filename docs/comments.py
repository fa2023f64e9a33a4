"""Reads the `#:` comment of a field as its documentation, where it has no other."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any

import griffe


class Comments(griffe.Extension):
    """Gives fields the comment behind them, or the lines of comment above them."""

    def on_attribute_instance(
        self, *, node: ast.AST | griffe.ObjectNode, attr: griffe.Attribute, **options: Any
    ) -> None:
        """Take the comment, where there is one."""
        if attr.docstring is None and isinstance(node, ast.stmt) and isinstance(attr.filepath, Path):
            text = _comment(_lines(attr.filepath), node.lineno, node.end_lineno or node.lineno)
            if text:
                attr.docstring = griffe.Docstring(text, lineno=node.lineno, parent=attr)


@cache
def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _comment(lines: list[str], first: int, last: int) -> str:
    """What is said of a field that stands on these lines, which are counted from 1."""
    for line in lines[first - 1 : last]:
        _, found, said = line.partition("#: ")
        if found:
            return said.strip()
    below = lines[last].strip() if last < len(lines) else ""
    if below.startswith("#: ^"):
        return below.removeprefix("#: ^").strip()
    said_above: list[str] = []
    for line in reversed(lines[: first - 1]):
        if not line.strip().startswith("#: ") or line.strip().startswith("#: ^"):
            break
        said_above.append(line.strip().removeprefix("#: "))
    return " ".join(reversed(said_above))
