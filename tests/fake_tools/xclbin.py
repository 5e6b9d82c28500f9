"""An xclbin of the stand-ins: well formed, with JSON of its sections and kernels as user metadata.

Two kernels with one id are merged in silence, as the real tools do (mlir-aie #1561).
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from typing import Any

from axlf import unwrap, wrap


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
        kernels = {int(str(key), 0): str(kernel.get("name", "MLIR_AIE")) for key, kernel in self.kernels.items()}
        return wrap(body.encode(), kernels, identity.bytes, 0)


def read(data: bytes) -> Xclbin:
    """Return an xclbin from its file's content."""
    identity, content = unwrap(data)
    body = json.loads(content)
    return Xclbin(body["sections"], body["kernels"], str(uuid.UUID(bytes=identity)))
