"""The stand-ins' own form of an xclbin: a magic number, 16 bytes of UUID, then JSON with sections and kernels.

Two kernels with one id are merged in silence, as the real tools do (mlir-aie #1561).
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from typing import Any

MAGIC = b"xclbin2\0"


@dataclass
class Xclbin:
    """An xclbin: sections by name, and kernels by id."""

    sections: dict[str, Any] = field(default_factory=dict)
    kernels: dict[str, dict[str, Any]] = field(default_factory=dict)
    uuid: str = ""

    def add_kernel(self, kernel: dict[str, Any]) -> None:
        """Add a kernel; one that has its id already is overwritten in part."""
        self.kernels.setdefault(str(kernel["id"]), {}).update(kernel)

    def to_bytes(self) -> bytes:
        """Return the file's content, with a fresh UUID unless one was set."""
        identity = uuid.UUID(self.uuid) if self.uuid else uuid.uuid4()
        body = json.dumps({"sections": self.sections, "kernels": self.kernels}, sort_keys=True)
        return MAGIC + identity.bytes + body.encode()


def read(data: bytes) -> Xclbin:
    """Return an xclbin from its file's content."""
    if not data.startswith(MAGIC):
        raise ValueError("not an xclbin")
    body = json.loads(data[24:])
    return Xclbin(body["sections"], body["kernels"], str(uuid.UUID(bytes=data[8:24])))
