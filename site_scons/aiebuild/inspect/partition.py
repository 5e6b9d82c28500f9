"""The AIE_PARTITION section of an xclbin: columns, PDIs and their CDO groups.

The structs are `aie_partition`, `aie_partition_info`, `aie_pdi` and `cdo_group` of XRT's `xrt/detail/xclbin.h`, which
asserts their sizes (184, 88, 96 and 96 bytes). Offsets in them count from the start of the section. That an AIE
boot image has a preamble, an image header table and an image header is bootgen's `versal/include`.
"""

from __future__ import annotations

import hashlib
import struct
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiebuild.inspect.reader import Data

PARTITION = 32
"""`AIE_PARTITION` in `axlf_section_kind`."""
_PARTITION = struct.Struct("<B3xII4xQQH6xII72xIII52x")
_PDI = struct.Struct("<16sIIII64x")
_GROUP = struct.Struct("<IB3xQIIII64x")
_TYPES = ("unknown", "primary", "lite", "prepost")
"""`CDO_Type`."""
_PREAMBLE = bytes.fromhex("dd0000004433221188776655ccbbaa99")
"""The first 16 bytes of a boot image without a boot header: bus width detection, as bootgen writes it."""
_IMAGE_HEADER_WORD = len(_PREAMBLE) + 8
"""Where the image header table has the place of the first image header, in words of 4 bytes."""
_REVOKE_ID, _CHECKSUM = 0x08, 0x3C
"""Of an image header: bootgen never sets the first for Versal, so that it holds whatever the memory held; the second
covers it. Two builds of the same inputs were seen to differ in both."""


@dataclass(frozen=True)
class CdoGroup:
    """Configuration for xclbin kernels; ids are hexadecimal texts, as in xclbinutil's JSON."""

    name: str
    type: str
    pdi_id: str
    kernel_ids: tuple[str, ...]
    pre_groups: tuple[int, ...]


@dataclass(frozen=True)
class Pdi:
    """A device image; its offset is that in the file."""

    uuid: str
    offset: int
    size: int
    sha256: str
    groups: tuple[CdoGroup, ...]


@dataclass(frozen=True)
class Partition:
    """The columns that the array's part may begin at, its width, and what it is configured with."""

    name: str
    column_width: int
    start_columns: tuple[int, ...]
    operations_per_cycle: int
    kernel_commit: str
    pdis: tuple[Pdi, ...]


def partition(data: Data) -> Partition:
    """Return what an AIE_PARTITION section says.

    Raises:
        InspectError: it is damaged.
    """
    _, name, operations, _, _, width, columns, columns_at, pdis, pdis_at, commit = data.unpack(
        _PARTITION.format, 0, "the AIE partition"
    )
    return Partition(
        name=data.string(name, "the partition's name"),
        column_width=width,
        start_columns=tuple(value for (value,) in data.array("<H", columns_at, columns, "the start columns")),
        operations_per_cycle=operations,
        kernel_commit=data.string(commit, "the kernels' commit") if commit else "",
        pdis=tuple(_pdi(data, entry) for entry in data.array(_PDI.format, pdis_at, pdis, "the table of PDIs")),
    )


def identity_spans(data: Data) -> Iterator[tuple[int, int, str]]:
    """Yield offset in the file, size and meaning of the bytes of a section that differ from build to build."""
    values = data.unpack(_PARTITION.format, 0, "the AIE partition")
    count, table = values[8], values[9]
    for index, (_, size, offset, *_) in enumerate(data.array(_PDI.format, table, count, "the table of PDIs")):
        yield data.start + table + index * _PDI.size, 16, f"UUID of PDI {index}"
        for place, length, what in image_spans(data.part(offset, size, f"PDI {index}")):
            yield place, length, f"{what} of PDI {index}"


def image_spans(image: Data) -> Iterator[tuple[int, int, str]]:
    """Yield the parts of a boot image that bootgen leaves unset; none of an image of another layout."""
    if len(image) < _IMAGE_HEADER_WORD + 4 or not image.content.startswith(_PREAMBLE):
        return
    (word,) = image.unpack("<I", _IMAGE_HEADER_WORD, "the image header table")
    if word * 4 + _CHECKSUM + 4 > len(image):
        return
    for offset, what in ((_REVOKE_ID, "unset revoke id"), (_CHECKSUM, "checksum over it")):
        yield image.start + word * 4 + offset, 4, f"{what} in the image header"


def _pdi(data: Data, entry: tuple[Any, ...]) -> Pdi:
    """Read an `aie_pdi`."""
    identity, size, offset, groups, groups_at = entry
    image = data.part(offset, size, "a PDI")
    found = data.array(_GROUP.format, groups_at, groups, "the CDO groups")
    return Pdi(
        uuid=str(uuid.UUID(bytes=identity)),
        offset=image.start,
        size=size,
        sha256=hashlib.sha256(image.content).hexdigest(),
        groups=tuple(_group(data, entry) for entry in found),
    )


def _group(data: Data, entry: tuple[Any, ...]) -> CdoGroup:
    """Read a `cdo_group`."""
    name, kind, pdi, ids, ids_at, pre, pre_at = entry
    kernel_ids = data.array("<Q", ids_at, ids, "the kernel ids of a CDO group")
    before = data.array("<I", pre_at, pre, "the groups before a CDO group")
    return CdoGroup(
        name=data.string(name, "the name of a CDO group"),
        type=_TYPES[kind] if kind < len(_TYPES) else str(kind),
        pdi_id=f"{pdi:#x}",
        kernel_ids=tuple(f"{value:#x}" for (value,) in kernel_ids),
        pre_groups=tuple(value for (value,) in before),
    )
