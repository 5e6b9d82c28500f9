"""The text of `dense<...>` as bytes."""

from __future__ import annotations

import math

from aiebuild.errors import MlirError
from aiebuild.host import elements
from aiebuild.mlir import attributes


def dense(text: str, shape: tuple[int, ...], element: str) -> str:
    """Return the bytes of a constant in hexadecimal digits; those of one element where all are equal.

    Args:
        text: `dense<[1, 2]> : tensor<2xi32>`, `dense<0> : ...` or `dense<"0x0100...">`; or the part inside.
        shape: the shape of what is filled.
        element: its element type.

    Raises:
        MlirError: the text is no such constant, or has another number of elements.
    """
    body = text.strip()
    if body.startswith("dense_resource"):
        raise MlirError("`dense_resource` constants are not supported on the host", hint="write them as `dense<...>`")
    if body.startswith("dense<"):
        body = body[len("dense<") : body.rindex(">", 0, _type_start(body))].strip()
    return _bytes_of(body, shape, element).hex()


def _type_start(text: str) -> int:
    """Return where the trailing ` : tensor<...>` starts, else the length."""
    found = text.rfind(" : ")
    return found if found >= 0 else len(text)


def _bytes_of(body: str, shape: tuple[int, ...], element: str) -> bytes:
    total = math.prod(shape)
    if body.startswith('"'):
        return _checked(bytes.fromhex(attributes.string(body)[2:]), total, element)
    if not body.startswith("["):
        return elements.encode(body, element) if body else b""
    data = b"".join(elements.encode(leaf, element) for leaf in _leaves(body))
    return _checked(data, total, element)


def _leaves(body: str) -> list[str]:
    found: list[str] = []
    for item in attributes.array(body):
        found.extend(_leaves(item) if item.startswith("[") else [item])
    return found


def _checked(data: bytes, total: int, element: str) -> bytes:
    one = elements.size(element)
    if len(data) not in {one, total * one}:
        raise MlirError(f"the constant has {len(data) // one} elements, {total} are needed")
    if len(data) > one and data == data[:one] * total:
        return data[:one]
    return data
