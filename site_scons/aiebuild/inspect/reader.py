"""Reading binary files within their bounds: whatever is wrong is said with the byte at which it is."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from aiebuild.errors import AieBuildError, Location


class InspectError(AieBuildError):
    """A file is not what it should be; the message names the byte where that shows."""


@dataclass(frozen=True)
class Data:
    """A file's bytes, or a part of them.

    Args:
        name: the file, for messages.
        content: the bytes of the part.
        start: the part's place in the file.
    """

    name: str
    content: bytes
    start: int = 0

    def __len__(self) -> int:
        return len(self.content)

    def fault(self, offset: int, what: str, hint: str = "") -> InspectError:
        """Return the error of something wrong at an offset of this part."""
        place = self.start + offset
        return InspectError(f"{what}, at byte {place} ({place:#x})", Location(self.name), hint)

    def part(self, offset: int, size: int, what: str) -> Data:
        """Return `size` bytes from `offset` on; `what` says what they are.

        Raises:
            InspectError: the part ends before.
        """
        if offset < 0 or size < 0 or offset + size > len(self.content):
            have = max(len(self.content) - max(offset, 0), 0)
            raise self.fault(offset, f"{what} needs {size} bytes and {have} are there")
        return Data(self.name, self.content[offset : offset + size], self.start + offset)

    def unpack(self, layout: str, offset: int, what: str) -> tuple[Any, ...]:
        """Return the values of a `struct` layout at an offset.

        Raises:
            InspectError: the part ends before.
        """
        return struct.unpack(layout, self.part(offset, struct.calcsize(layout), what).content)

    def array(self, layout: str, offset: int, count: int, what: str) -> list[tuple[Any, ...]]:
        """Return `count` records of a layout, one after the other.

        Raises:
            InspectError: the part ends before, or the count is negative.
        """
        if count < 0:
            raise self.fault(offset, f"{what} has the impossible count {count}")
        return list(struct.iter_unpack(layout, self.part(offset, struct.calcsize(layout) * count, what).content))

    def string(self, offset: int, what: str) -> str:
        """Return the text from an offset up to its zero byte.

        Raises:
            InspectError: the offset is outside, or no zero byte follows.
        """
        end = self.content.find(b"\0", offset) if 0 <= offset < len(self.content) else -1
        if end < 0:
            raise self.fault(offset, f"{what} is not a text that ends with a zero byte")
        return plain(self.content[offset:end])


def plain(raw: bytes) -> str:
    """Return the text of a field of fixed size, up to its first zero byte; foreign bytes are shown as such."""
    return raw.split(b"\0", 1)[0].decode("utf-8", "backslashreplace")
