"""Aleph's declarations as a language bias: modes, determinations, and the marks around examples."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from andre.errors import shorten
from andre.facts.bias import Bias
from andre.facts.relation import Key

_DIRECTIVE = re.compile(r":-\s*(?P<name>[a-z]\w*)\s*(?:\((?P<inner>.*)\))?\s*\.\Z", re.DOTALL)
_MODE = re.compile(r"\s*(?:\*|\d+)\s*,\s*(?P<name>[a-z]\w*)\s*(?:\((?P<args>.*)\))?\s*\Z", re.DOTALL)
_ARGUMENT = re.compile(r"(?P<sign>[-+#])\s*\(?\s*(?P<type>[a-z]\w*(?:\([^()]*\))?)\s*\)?\s*(?:,|\Z)\s*")
_DETERMINATION = re.compile(
    r"\s*(?P<head>[a-z]\w*)\s*/\s*(?P<n>\d+)\s*,\s*(?P<body>[a-z]\w*)\s*/\s*(?P<m>\d+)\s*\Z"
)
_SET = re.compile(r"\s*(?P<name>\w+)\s*,\s*(?P<value>.*?)\s*\Z", re.DOTALL)
#: Directives that say where the parts of a file begin and end; examples in in_neg are denied.
_PARTS = {f"{when}_{part}" for when in ("begin", "end") for part in ("bg", "in_pos", "in_neg")}
_IDLE = ("aleph", "aleph_read_all", "read_all", "induce")


@dataclass
class Modes:
    """Collects Aleph's directives, and makes a bias of them.

    Types and directions are those of the modes: `+type` is an input, `-type` an
    output, `#type` a place that may hold a constant, which Prolog finds as it finds an
    output. An argument that one mode gives out and another takes in is an output.

    Examples
    --------
    >>> modes = Modes()
    >>> modes.take(":- modeh(1, east(+train))."), modes.take(":- modeb(*, shape(+car, #shape)).")
    (True, True)
    >>> modes.take(":- set(clauselength, 5).")
    True
    >>> modes.bias.types, modes.bias.places, modes.bias.max_body
    ((('east', ('train',)), ('shape', ('car', 'shape'))), ('shape/2:2',), 4)
    """

    heads: list[Key] = field(default_factory=list)
    bodies: list[Key] = field(default_factory=list)
    signs: dict[Key, list[tuple[tuple[str, str], ...]]] = field(default_factory=dict)  #: of each mode
    determined: list[tuple[Key, Key]] = field(default_factory=list)
    max_body: int | None = None
    denying: bool = False  #: whether facts that come now are negative examples
    remarks: list[str] = field(default_factory=list)

    def take(self, directive: str) -> bool:
        """Take a directive; False if it is not one of Aleph's."""
        match = _DIRECTIVE.match(directive)
        if match is None:
            return False
        name, inner = match["name"], match["inner"] or ""
        if name in _PARTS:
            self.denying = name == "begin_in_neg"
        elif name in ("modeh", "modeb", "mode"):
            self._mode(name, inner, directive)
        elif name == "determination":
            self._determination(inner, directive)
        elif name in ("set", "aleph_set") and (found := _SET.match(inner)):
            self._set(found["name"], found["value"])
        else:
            return name in _IDLE or inner.replace(" ", "") == "library(aleph)"
        return True

    def _mode(self, name: str, inner: str, directive: str) -> None:
        match = _MODE.match(inner)
        arguments = list(_ARGUMENT.finditer(match["args"] or "")) if match else []
        if match is None or sum(len(found[0]) for found in arguments) < len((match["args"] or "").strip()):
            self.remarks.append(
                f"{shorten(directive, 60)} passed over: a mode names one type for each argument"
            )
            return
        key = match["name"], len(arguments)
        kinds = tuple((found["sign"], found["type"].replace(" ", "")) for found in arguments)
        self.signs.setdefault(key, []).append(kinds)
        (self.heads if name == "modeh" else self.bodies).append(key)

    def _determination(self, inner: str, directive: str) -> None:
        if found := _DETERMINATION.match(inner):
            self.determined.append(((found["head"], int(found["n"])), (found["body"], int(found["m"]))))
        else:
            self.remarks.append(f"{shorten(directive, 60)} passed over: it names no relation for bodies")

    def _set(self, name: str, value: str) -> None:
        if name == "clauselength" and value.isdigit():
            self.max_body = max(1, int(value) - 1)
        else:
            self.remarks.append(
                f"set({name}, {shorten(value, 20)}) passed over: no such setting is known here"
            )

    @property
    def bias(self) -> Bias | None:
        """The bias of the declarations; None if there are none."""
        if not (self.signs or self.determined):
            return None
        heads = self.heads or [head for head, _ in self.determined]
        bodies = [body for _, body in self.determined] or self.bodies
        # Of each argument of each predicate, what all modes say of it.
        merged = {key: list(zip(*modes, strict=True)) for key, modes in self.signs.items()}
        types = [(name, tuple(kinds[0][1] for kinds in places)) for (name, _), places in merged.items()]
        return Bias(
            head=tuple(dict.fromkeys(heads)),
            body=tuple(key for key in dict.fromkeys(bodies) if key not in heads),
            max_body=self.max_body,
            types=tuple(types),
            directions=tuple((name, tuple(map(_direction, places))) for (name, _), places in merged.items()),
            enable_recursion=any(key in heads for key in bodies),
            places=tuple(
                f"{name}/{arity}:{position}"
                for (name, arity), places in merged.items()
                for position, kinds in enumerate(places, start=1)
                if any(sign == "#" for sign, _ in kinds)
            ),
        )


def _direction(kinds: tuple[tuple[str, str], ...]) -> str:
    return "in" if all(sign == "+" for sign, _ in kinds) else "out"
