"""A well-formed xclbin around the stand-ins' own content, in the layout of `xrt/xclbin.h`.

A USER_METADATA section carries the content; the xclbin kernels are where XRT looks for them: in EMBEDDED_METADATA,
IP_LAYOUT and AIE_PARTITION. The PDI is the digest of the content, so that another design has another one.
"""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MAGIC = b"xclbin2\0"
EMBEDDED_METADATA, IP_LAYOUT, USER_METADATA, AIE_PARTITION = 2, 8, 16, 32
IP_PS_KERNEL = 7
TABLE = 456
"""Where the section headers begin."""
UUID = 416
"""Where the UUID stands."""
ARGUMENTS = (
    ("opcode", 0, "uint64_t", 8, 0x00),
    ("instr", 1, "char *", 8, 0x08),
    ("ninstr", 0, "uint32_t", 4, 0x10),
    *((f"bo{index}", 1, "void*", 8, 0x14 + 8 * index) for index in range(5)),
)


def wrap(content: bytes, kernels: Mapping[int, str], identity: bytes, seconds: int) -> bytes:
    """Return an xclbin.

    Args:
        content: what `unwrap` gives back.
        kernels: names of the xclbin kernels, by id.
        identity: 16 bytes of UUID.
        seconds: the time of the header.
    """
    sections = {
        AIE_PARTITION: partition(content, kernels, identity),
        EMBEDDED_METADATA: metadata(kernels),
        IP_LAYOUT: layout(kernels),
        USER_METADATA: content,
    }
    start = TABLE + 40 * len(sections)
    table, body = b"", b""
    for kind, data in sections.items():
        table += struct.pack("<I16s4xQQ", kind, b"", start + len(body), len(data))
        body += data + bytes(-len(data) % 8)
    header = struct.pack("<8si28s256sQ", MAGIC, -1, b"\xff" * 28, b"\xff" * 256, seconds)
    header += struct.pack("<QQQHBBHH", start + len(body), seconds, 0, 0, 2, 13, 0, 0)
    header += struct.pack("<16s64s16s16sI4x", b"", b"", identity, b"", len(sections))
    return header + table + body


def unwrap(data: bytes) -> tuple[bytes, bytes]:
    """Return the UUID and the content of an xclbin that `wrap` made.

    Raises:
        ValueError: it is none.
    """
    if not data.startswith(MAGIC) or len(data) < TABLE:
        raise ValueError("not an xclbin")
    (count,) = struct.unpack_from("<I", data, 448)
    for index in range(count):
        kind, _, offset, size = struct.unpack_from("<I16s4xQQ", data, TABLE + 40 * index)
        if kind == USER_METADATA:
            return data[UUID : UUID + 16], data[offset : offset + size]
    raise ValueError("not an xclbin of the stand-ins")


def partition(content: bytes, kernels: Mapping[int, str], identity: bytes) -> bytes:
    """Return an AIE_PARTITION section with one PDI."""
    head = 184
    name, columns, image = b"QoS".ljust(8, b"\0"), struct.pack("<4H", 1, 2, 3, 4), hashlib.sha256(content).digest()
    ids = struct.pack(f"<{len(kernels)}Q", *kernels)
    places = [head]
    for part in (name, columns, image, ids):
        places.append(places[-1] + len(part))
    group = struct.pack("<IB3xQIIII64x", places[0], 1, 1, len(kernels), places[3], 0, 0)
    pdi = struct.pack("<16sIIII64x", identity[::-1], len(image), places[2], 1, places[4])
    first = struct.pack("<B3xII4xQQ", 0, places[0], 2048, 0, 0)
    first += struct.pack("<H6xII72xIII52x", 1, 4, places[1], 1, places[4] + len(group), 0)
    return first + name + columns + image + ids + group + pdi


def layout(kernels: Mapping[int, str]) -> bytes:
    """Return an IP_LAYOUT section with an instance of each kernel."""
    entries = [
        struct.pack("<IIQ64s", IP_PS_KERNEL, 1 | number << 16, 2**64 - 1, f"{name}:{name}_0".encode())
        for number, name in kernels.items()
    ]
    return struct.pack("<i4x", len(entries)) + b"".join(entries)


def metadata(kernels: Mapping[int, str]) -> bytes:
    """Return an EMBEDDED_METADATA section: XML, as xclbinutil writes it."""
    arguments = "".join(
        f'<arg name="{name}" addressQualifier="{qualifier}" id="{index}" size="{size:#x}" offset="{offset:#x}"'
        f' hostOffset="0x0" hostSize="{size:#x}" type="{kind}"/>'
        for index, (name, qualifier, kind, size, offset) in enumerate(ARGUMENTS)
    )
    said = "".join(
        f'<kernel name="{name}" language="c" type="dpu"><extended-data subtype="DPU" functional="0"'
        f' dpu_kernel_id="{number:#x}"/>{arguments}<instance name="{name}_0"/></kernel>'
        for number, name in kernels.items()
    )
    return f"<project><platform><device><core>{said}</core></device></platform></project>".encode()
