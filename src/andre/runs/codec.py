"""Values as JSON and tensors, and back, by the annotations of their fields.

Dataclasses become objects, tuples lists, and arrays tensors that the JSON names.
What is read is checked against the annotations, part by part, by pydantic. A
class that is saved therefore needs no code of its own.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, TypeAdapter, ValidationError

from andre.model import Settings

#: Arrays by name.
Tensors: TypeAlias = dict[str, NDArray[Any]]


def encode(value: Any, tensors: Tensors, name: str = "value") -> Any:
    """The JSON of a value; its arrays go into `tensors`.

    Parameters
    ----------
    value
        A plain value, an array, a dataclass, `Settings`, or a list, tuple or mapping of these.
    tensors
        Filled with the arrays.
    name
        What the arrays are named after.

    Examples
    --------
    >>> from andre.logic import Atom, parse_atom
    >>> plain = encode(parse_atom("p(X, 3)"), {})
    >>> plain
    {'predicate': 'p', 'args': [{'name': 'X'}, {'value': 3}]}
    >>> print(decode(Atom, plain, {}))
    p(X, 3)
    >>> decode(Atom, {"predicate": 7, "args": []}, {})
    Traceback (most recent call last):
    TypeError: predicate: input should be a valid string
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        return {"array": name} | _store(value, tensors, name)
    torch = sys.modules.get("torch")  # slow to load; without it there is no tensor
    if torch is not None and isinstance(value, torch.Tensor):
        return {"tensor": name} | _store(value.numpy(force=True), tensors, name)
    if isinstance(value, Settings):
        return value.model_dump(mode="json")
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): encode(part, tensors, f"{name}.{key}") for key, part in value.items()}
    return [encode(part, tensors, f"{name}.{place}") for place, part in enumerate(value)]


def decode(kind: Any, plain: Any, tensors: Tensors) -> Any:
    """The value of a type that `encode` wrote.

    Raises
    ------
    TypeError, ValueError, KeyError
        Where a part is missing, unknown or of another type.
    """
    try:
        (value,) = _adapter(kind).validate_python([_with_arrays(plain, tensors)])
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"][1:])) or "value"
        raise TypeError(f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}") from None
    return value


def fingerprint(value: Any) -> str:
    """The SHA-256 of all that a value holds.

    Examples
    --------
    >>> fingerprint({"a": 1, "b": np.arange(3)}) == fingerprint({"b": np.arange(3), "a": 1})
    True
    """
    tensors: Tensors = {}
    digest = hashlib.sha256(json.dumps(encode(value, tensors), sort_keys=True).encode())
    for _, array in sorted(tensors.items()):
        digest.update(array.tobytes())
    return digest.hexdigest()


@cache
def _adapter(kind: Any) -> TypeAdapter[tuple[Any]]:
    # In a tuple, because pydantic takes settings for dataclasses only from around them.
    return TypeAdapter(tuple[kind], config=ConfigDict(extra="forbid", arbitrary_types_allowed=True))


def _store(array: NDArray[Any], tensors: Tensors, name: str) -> dict[str, Any]:
    """Keep an array; integers that are mostly 0, such as codes of rules, are kept by their places."""
    note = {"dtype": str(array.dtype), "shape": list(array.shape)}
    places = np.flatnonzero(array)
    if array.dtype.kind == "i" and len(places) * (places.itemsize + array.itemsize) < array.nbytes:
        tensors[f"{name}.places"], array = places, array.ravel()[places]
    tensors[name] = np.ascontiguousarray(array)
    return note


def _with_arrays(plain: Any, tensors: Tensors) -> Any:
    """JSON with arrays in place of what notes them."""
    if isinstance(plain, list):
        return [_with_arrays(part, tensors) for part in plain]
    if not isinstance(plain, dict):
        return plain
    if plain.keys() == {"array", "dtype", "shape"}:
        return _array(plain["array"], plain, tensors)
    if plain.keys() == {"tensor", "dtype", "shape"}:
        import torch  # noqa: PLC0415  (slow to load)

        return torch.tensor(_array(plain["tensor"], plain, tensors))
    return {key: _with_arrays(part, tensors) for key, part in plain.items()}


def _array(name: str, note: Mapping[str, Any], tensors: Tensors) -> NDArray[Any]:
    array, places = tensors[name], tensors.get(f"{name}.places")
    if places is not None:
        dense = np.zeros(note["shape"], dtype=note["dtype"])
        dense.flat[places] = array
        array = dense
    if [str(array.dtype), list(array.shape)] != [note["dtype"], note["shape"]]:
        raise TypeError(f"{name} has another type or shape")
    return array
