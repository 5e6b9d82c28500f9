"""The xclbin kernels of an xclbin: EMBEDDED_METADATA (XML), IP_LAYOUT, MEM_TOPOLOGY and CONNECTIVITY.

Structs are `mem_data`, `ip_data` and `connection` of `xrt/xclbin.h`; the bits of `ip_data.properties` for a PS kernel
are those of XRT's `xrt/detail/xclbin.h`, and the XML is what xclbinutil's `KernelUtilities.cxx` writes.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aiebuild.inspect.reader import plain

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from aiebuild.inspect.reader import Data

_MEMORY = struct.Struct("<BB6xQQ16s")
_INSTANCE = struct.Struct("<IIQ64s")
_CONNECTION = struct.Struct("<iii")
_IP_TYPES = ("mb", "kernel", "dnasc", "ddr4_controller", "mem_ddr4", "mem_hbm", "mem_hbm_ecc", "ps_kernel")
_PS_KERNEL = 7
_MEMORY_TYPES = (
    *("ddr3", "ddr4", "dram", "streaming", "preallocated_glob", "are", "hbm", "bram", "uram"),
    *("streaming_connection", "host", "ps_kernel"),
)
_SUBTYPES = ("ps", "dpu")
_QUALIFIERS = ("scalar", "global", "constant", "local", "stream")
"""`addressQualifier` of the XML, as xclbinutil counts them."""


@dataclass(frozen=True)
class Memory:
    """An entry of MEM_TOPOLOGY; the size is in KiB."""

    name: str
    type: str
    used: bool
    size: int
    base_address: int


@dataclass(frozen=True)
class Instance:
    """An entry of IP_LAYOUT: `kernel:instance`; id and subtype are those of a PS kernel."""

    name: str
    type: str
    base_address: int
    id: str = ""
    subtype: str = ""


@dataclass(frozen=True)
class KernelArgument:
    """What XRT passes to an xclbin kernel at an index; offset and size in bytes, memory as MEM_TOPOLOGY names it."""

    index: int
    name: str
    type: str
    qualifier: str
    offset: int
    size: int
    memory: str = ""


@dataclass(frozen=True)
class Kernel:
    """What XRT opens by name. `id` is the `dpu_kernel_id`, a hexadecimal text; empty where there is none."""

    name: str
    type: str
    id: str
    subtype: str
    instances: tuple[str, ...]
    arguments: tuple[KernelArgument, ...]

    @property
    def number(self) -> int | None:
        """The id as a number; None where it is none."""
        try:
            return int(self.id, 0)
        except ValueError:
            return None


def memories(data: Data) -> tuple[Memory, ...]:
    """Return the entries of a MEM_TOPOLOGY section.

    Raises:
        InspectError: it is damaged.
    """
    (count,) = data.unpack("<i", 0, "the memory topology")
    entries = data.array(_MEMORY.format, 8, count, "the table of memories")
    return tuple(
        Memory(plain(tag), _name(_MEMORY_TYPES, kind), bool(used), size, base)
        for kind, used, size, base, tag in entries
    )


def instances(data: Data) -> tuple[Instance, ...]:
    """Return the entries of an IP_LAYOUT section.

    Raises:
        InspectError: it is damaged.
    """
    (count,) = data.unpack("<i", 0, "the IP layout")
    return tuple(_instance(*entry) for entry in data.array(_INSTANCE.format, 8, count, "the table of IPs"))


def kernels(
    metadata: Data, layout: tuple[Instance, ...], memory: tuple[Memory, ...], connectivity: Data | None
) -> tuple[Kernel, ...]:
    """Return the xclbin kernels that the embedded metadata describe, with the memories of their arguments.

    Raises:
        InspectError: a section is damaged.
    """
    found = tuple(_kernel(metadata, element) for element in _elements(metadata))
    return found if connectivity is None else _connected(found, layout, memory, connectivity)


def _instance(kind: int, properties: int, base: int, name: bytes) -> Instance:
    if kind != _PS_KERNEL:
        return Instance(plain(name), _name(_IP_TYPES, kind), base)
    return Instance(
        plain(name), _name(_IP_TYPES, kind), base, f"{properties >> 16 & 0xFFF:#x}", _name(_SUBTYPES, properties & 3)
    )


def _name(names: tuple[str, ...], number: int) -> str:
    return names[number] if number < len(names) else str(number)


def _elements(metadata: Data) -> list[Element]:
    """Return the `kernel` elements of the XML; one that declares entities is refused."""
    from xml.etree import ElementTree as ET  # noqa: PLC0415 - slow to import, and only xclbins need it

    text = metadata.content.rstrip(b"\0")
    if b"<!" in text.replace(b"<!--", b""):
        raise metadata.fault(text.find(b"<!"), "the embedded metadata declare a document type, which no tool writes")
    if not text.strip():
        return []
    try:
        return list(ET.fromstring(text).iter("kernel"))  # noqa: S314 - declarations were refused above
    except (ET.ParseError, ValueError, LookupError) as error:
        line, column = getattr(error, "position", (1, 0))
        offset = sum(len(each) + 1 for each in text.split(b"\n")[: line - 1]) + column
        raise metadata.fault(min(offset, len(text)), f"the embedded metadata are not XML ({error})") from None


def _kernel(metadata: Data, element: Element) -> Kernel:
    extended = element.find("extended-data")
    given = {} if extended is None else extended.attrib
    return Kernel(
        name=element.get("name", ""),
        type=element.get("type", ""),
        id=given.get("dpu_kernel_id", ""),
        subtype=given.get("subtype", ""),
        instances=tuple(each.get("name", "") for each in element.findall("instance")),
        arguments=tuple(_argument(metadata, index, each) for index, each in enumerate(element.findall("arg"))),
    )


def _argument(metadata: Data, index: int, element: Element) -> KernelArgument:
    name = element.get("name", "")
    return KernelArgument(
        index=index,
        name=name,
        type=element.get("type", ""),
        qualifier=_name(_QUALIFIERS, _number(metadata, element, "addressQualifier", name)),
        offset=_number(metadata, element, "offset", name),
        size=_number(metadata, element, "size", name),
    )


def _number(metadata: Data, element: Element, key: str, name: str) -> int:
    text = element.get(key, "0")
    try:
        value = int(text, 0)
    except ValueError:
        value = -1
    if value < 0:
        raise metadata.fault(0, f"the embedded metadata give argument {name!r} the {key} {text!r}")
    return value


def _connected(
    found: tuple[Kernel, ...], layout: tuple[Instance, ...], memory: tuple[Memory, ...], data: Data
) -> tuple[Kernel, ...]:
    """Return the kernels with the memory of each argument that CONNECTIVITY connects."""
    (count,) = data.unpack("<i", 0, "the connectivity")
    known: dict[tuple[str, int], str] = {}
    for position, entry in enumerate(data.array(_CONNECTION.format, 4, count, "the table of connections")):
        argument, instance, place = entry
        if not (0 <= instance < len(layout) and 0 <= place < len(memory)):
            raise data.fault(4 + 12 * position, f"connection {position} names IP {instance} and memory {place}")
        known[layout[instance].name.partition(":")[0], argument] = memory[place].name
    return tuple(
        replace(
            kernel,
            arguments=tuple(
                replace(each, memory=known.get((kernel.name, each.index), "")) for each in kernel.arguments
            ),
        )
        for kernel in found
    )
