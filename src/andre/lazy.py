"""Packages whose modules are loaded when one of their names is first used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def lazily(package: str, contents: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """A package's `__getattr__`, which imports a module when one of its names is first used.

    Parameters
    ----------
    package
        The package's `__name__`.
    contents
        The names that each module provides, by its full name; a submodule may provide itself.

    Examples
    --------
    >>> lazily("tools", {"math": ("pi", "tau")})("tau") > 6
    True
    >>> lazily("tools", {})("pi")
    Traceback (most recent call last):
    AttributeError: module 'tools' has no attribute 'pi'
    """
    module_of = {name: module for module, names in contents.items() for name in names}

    def load(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(module_of[name])
        return module if module_of[name] == f"{package}.{name}" else getattr(module, name)

    return load
