"""Values as JSON and tensors, and back, by the annotations of their fields.

Dataclasses become objects, tuples lists, and arrays tensors named by where they
stand. What is read is checked against the annotations part by part. A class that
is saved therefore needs no code of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np
import torch
from numpy.typing import NDArray

from andre.model import Settings

__all__ = ["Tensors", "decode", "encode"]

#: Arrays by name.
Tensors: TypeAlias = dict[str, NDArray[Any]]

#: Makes a value of JSON, tensors, and where in the whole it stands.
_Decoder: TypeAlias = Callable[[Any, Tensors, str], Any]


def encode(value: Any, tensors: Tensors, at: str = "") -> Any:
    """The JSON of a value; its arrays go into `tensors`.

    Parameters
    ----------
    value
        A plain value, an array, a dataclass, `Settings`, or a list, tuple or mapping of these.
    tensors
        Filled with the arrays.
    at
        Where the value stands in the whole, which names its arrays.

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
    TypeError: predicate is no str
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, torch.Tensor):
        value = value.numpy(force=True)
    if isinstance(value, np.ndarray):
        return _encode_array(value, tensors, at)
    if isinstance(value, Settings):
        return value.model_dump(mode="json")
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): encode(part, tensors, _inside(at, key)) for key, part in value.items()}
    return [encode(part, tensors, _inside(at, place)) for place, part in enumerate(value)]


def decode(kind: Any, plain: Any, tensors: Tensors) -> Any:
    """The value of a type that `encode` wrote.

    Raises
    ------
    TypeError, ValueError, KeyError, AndreError
        Where a part is missing, unknown or of another type.
    """
    return _decoder(kind)(plain, tensors, "")


@cache
def _decoder(kind: Any) -> _Decoder:  # noqa: PLR0911 - one line for each kind of type
    """The decoder of a type, put together once."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return partial(_decode_union, [_decoder(part) for part in args])
    if kind is torch.Tensor:
        return lambda plain, tensors, at: torch.tensor(_decode_array(plain, tensors, at))
    if origin is np.ndarray:
        return _decode_array
    if isinstance(kind, type) and issubclass(kind, Settings):
        return lambda plain, tensors, at: kind.read(plain)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return partial(_decode_fields, kind, {field.name: _decoder(hints[field.name]) for field in fields(kind)})
    if origin is Literal:
        return partial(_decode_plain, args.__contains__, f"one of {', '.join(map(str, args))}")
    if origin in (tuple, list):
        repeated = origin is list or args[-1] is Ellipsis
        parts = [_decoder(part) for part in (args[:1] if repeated else args)]
        return partial(_decode_list, origin, parts, repeated)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return partial(_decode_mapping, args[0], _decoder(args[1]))
    accepted = {int, float} if kind is float else {kind}
    return partial(_decode_plain, lambda plain: type(plain) in accepted, kind.__name__)


def _decode_plain(
    fits: Callable[[Any], bool], wanted: str, plain: Any, tensors: Tensors, at: str
) -> Any:
    if not fits(plain):
        raise TypeError(f"{at or 'this'} is no {wanted}")
    return plain


def _decode_union(decoders: list[_Decoder], plain: Any, tensors: Tensors, at: str) -> Any:
    """The value of the first type that fits; if none does, why the first does not."""
    errors = []
    for decoder in decoders:
        try:
            return decoder(plain, tensors, at)
        except (TypeError, ValueError, KeyError) as error:
            errors.append(error)
    raise errors[0]


def _decode_fields(
    kind: Any, decoders: Mapping[str, _Decoder], plain: Any, tensors: Tensors, at: str
) -> Any:
    if not isinstance(plain, dict) or plain.keys() - decoders.keys():
        raise TypeError(f"{at or 'this'} is no {kind.__name__}")
    return kind(**{name: decoders[name](part, tensors, _inside(at, name)) for name, part in plain.items()})


def _decode_list(
    kind: Any, decoders: list[_Decoder], repeated: bool, plain: Any, tensors: Tensors, at: str
) -> Any:
    if not isinstance(plain, list):
        raise TypeError(f"{at or 'this'} is no list")
    parts = enumerate(zip(decoders * len(plain) if repeated else decoders, plain, strict=True))
    return kind(decoder(part, tensors, _inside(at, place)) for place, (decoder, part) in parts)


def _decode_mapping(
    key_kind: Any, decoder: _Decoder, plain: Any, tensors: Tensors, at: str
) -> dict[Any, Any]:
    if not isinstance(plain, dict):
        raise TypeError(f"{at or 'this'} is no mapping")
    return {key_kind(key): decoder(part, tensors, _inside(at, key)) for key, part in plain.items()}


def _encode_array(array: NDArray[Any], tensors: Tensors, at: str) -> dict[str, Any]:
    """Type and shape; integers that are mostly 0, such as codes of rules, are kept by their places."""
    note = {"dtype": str(array.dtype), "shape": list(array.shape)}
    places = np.flatnonzero(array)
    if array.dtype.kind == "i" and len(places) * (places.itemsize + array.itemsize) < array.nbytes:
        tensors[_inside(at, "places")], array = places, array.ravel()[places]
    tensors[at] = np.ascontiguousarray(array)
    return note


def _decode_array(note: Any, tensors: Tensors, at: str) -> NDArray[Any]:
    array, places = tensors[at], tensors.get(_inside(at, "places"))
    if places is not None:
        dense = np.zeros(note["shape"], dtype=note["dtype"])
        dense.flat[places] = array
        array = dense
    if {"dtype": str(array.dtype), "shape": list(array.shape)} != note:
        raise TypeError(f"{at} has another shape or type")
    return array


def _inside(at: str, part: object) -> str:
    return f"{at}.{part}" if at else str(part)
