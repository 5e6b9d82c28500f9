"""Packages as bytes: tar.gz and zip that depend on nothing but their files, and the reading of ones from elsewhere.

Both are written the same on every machine: names in order, one fixed time (1980-01-01, the earliest that zip knows),
no owner, mode 0644, no names or times in the compressor's header. Reading takes nothing else, so that a change is
noticed even where it leaves the files as they are (only the unused bits that end a compressed stream are free).
Formats: POSIX ustar; RFC 1951 and 1952; PKWARE's APPNOTE 6.3.
"""

from __future__ import annotations

import io
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from typing import TYPE_CHECKING

from aiebuild.errors import AieBuildError, Location, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

FORMATS = ("tar.gz", "zip")
LIMIT = 2**31
"""Bytes that the files of a package may have together; more is refused before it fills the memory."""
_TIME = 315532800
"""1980-01-01 in seconds since 1970."""
_MODE = 0o644
_LONGEST_FOLDER, _LONGEST_NAME = 155, 100
"""Characters of a path that a ustar header has room for."""
_GZIP = b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"
"""The header: deflate, no name, no time, best compression, no operating system."""
_ZIP_DATE = 33
"""1980-01-01 as zip counts days."""
_ZIP_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_ZIP_CENTRAL = struct.Struct("<4sHHHHHHIIIHHHHHII")
_ZIP_END = struct.Struct("<4sHHHHIIH")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+,=%-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.+,=%-]*)*")


class PackageError(AieBuildError):
    """A package cannot be made."""


class VerifyError(AieBuildError):
    """A package is not as it was made."""


class VerifyErrors(VerifyError):  # noqa: N818 - the plural says what it is
    """All that is wrong with a package."""

    def __init__(self, errors: Sequence[VerifyError]) -> None:
        super().__init__(errors[0].message, errors[0].where, errors[0].hint)
        self.errors = tuple(errors)

    def __str__(self) -> str:
        """Return one message after the other."""
        return "\n".join(str(error) for error in self.errors)


def pack(files: Mapping[str, bytes], form: str) -> bytes:
    """Return an archive of the files, by their paths in it.

    Args:
        files: contents by path.
        form: `tar.gz` or `zip`.

    Raises:
        PackageError: there is no such format, or a path cannot be in a package.
    """
    if form not in FORMATS:
        raise PackageError(f"there is no package format {form!r}", hint=did_you_mean(form, FORMATS))
    for name in files:
        problem = name_problem(name)
        if problem:
            raise PackageError(problem)
    if sum(map(len, files.values())) > LIMIT:
        raise PackageError(f"the files have more than {LIMIT} bytes together")
    entries = sorted(files.items())
    if form == "zip":
        return _zip([(name, content, _deflate(content)) for name, content in entries])
    text = _tar(entries)
    return _GZIP + _deflate(text) + struct.pack("<II", zlib.crc32(text), len(text) & 0xFFFFFFFF)


def unpack(content: bytes, file: str) -> dict[str, bytes]:
    """Return the files of an archive, by their paths in it.

    Args:
        content: the archive.
        file: its name, for messages.

    Raises:
        VerifyErrors: it is damaged, holds something else than plain files with plain names, or was not written by
            `pack`.
    """
    where = Location(file)
    if content.startswith(_GZIP[:2]):
        problems, files = _unpack_tar(content)
    elif content.startswith(b"PK"):
        problems, files = _unpack_zip(content)
    else:
        problems, files = ["this is not a package: it is neither a tar.gz nor a zip file"], {}
    if problems:
        raise VerifyErrors([VerifyError(problem, where) for problem in problems])
    return files


def name_problem(name: str) -> str:
    """Return why a path cannot be in a package; nothing where it can."""
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        return f"the file {name!r} has an absolute path"
    if ".." in re.split(r"[/\\]", name):
        return f"the path of {name!r} leads out of the package"
    if not _NAME.fullmatch(name):
        return f"{name!r} is not a name for a file of a package"
    folder, _, last = name.rpartition("/")
    if len(folder) > _LONGEST_FOLDER or len(last) > _LONGEST_NAME:
        return f"the path {name!r} is too long for a tar file"
    return ""


def _deflate(content: bytes) -> bytes:
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return compressor.compress(content) + compressor.flush()


def _tar(entries: Iterable[tuple[str, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in entries:
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(content), _TIME, _MODE
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def _zip(entries: Sequence[tuple[str, bytes, bytes]]) -> bytes:
    """Return a zip file of name, content and compressed content of each entry."""
    body, directory = bytearray(), bytearray()
    for name, content, packed in entries:
        raw = name.encode("ascii", "replace")
        common = (20, 0, 8, 0, _ZIP_DATE, zlib.crc32(content), len(packed), len(content), len(raw), 0)
        attributes = (stat.S_IFREG | _MODE) << 16
        directory += _ZIP_CENTRAL.pack(b"PK\1\2", 0x314, *common, 0, 0, 0, attributes, len(body)) + raw
        body += _ZIP_LOCAL.pack(b"PK\3\4", *common) + raw + packed
    end = _ZIP_END.pack(b"PK\5\6", 0, 0, len(entries), len(entries), len(directory), len(body), 0)
    return bytes(body + directory + end)


def _unpack_tar(content: bytes) -> tuple[list[str], dict[str, bytes]]:
    problem, text = _inflate(content)
    if problem:
        return [problem], {}
    try:
        with tarfile.open(fileobj=io.BytesIO(text), mode="r:") as archive:
            members = archive.getmembers()
            problems = list(_member_problems(members))
            found = [(member.name, _body(archive, member)) for member in members if member.isreg()]
    except (tarfile.TarError, OSError, ValueError, EOFError) as error:
        return [f"the tar file in it is damaged ({error})"], {}
    if not problems and _tar(found) != text:
        problems = ["the tar file in it was changed: an owner, a time, a mode, or what lies between the files"]
    if not problems and not content.startswith(_GZIP):
        problems = ["the header of the compressed file was changed"]
    return problems, dict(found)


def _inflate(content: bytes) -> tuple[str, bytes]:
    """Return what is wrong with a gzip file, and what it holds."""
    if len(content) < len(_GZIP) + 8:
        return "the file is cut off", b""
    if content[3]:
        return "the header of the compressed file was changed", b""
    reader = zlib.decompressobj(-15)
    try:
        text = reader.decompress(content[len(_GZIP) :], LIMIT)
    except zlib.error as error:
        return f"the file was changed: it cannot be uncompressed ({error})", b""
    if reader.unconsumed_tail:
        return f"the files in it have more than {LIMIT} bytes together", b""
    if not reader.eof or len(reader.unused_data) < 8:
        return "the file is cut off", b""
    if len(reader.unused_data) > 8:
        return f"{len(reader.unused_data) - 8} bytes follow the package", b""
    if reader.unused_data != struct.pack("<II", zlib.crc32(text), len(text) & 0xFFFFFFFF):
        return "the file was changed: its checksum differs", b""
    return "", text


def _member_problems(members: Iterable[tarfile.TarInfo]) -> Iterator[str]:
    names: set[str] = set()
    for member in members:
        if member.issym() or member.islnk():
            yield f"{member.name!r} is a link to {member.linkname!r}, and a package holds only files"
        elif not member.isreg():
            yield f"{member.name!r} is not a file, and a package holds only files"
        yield from _entry_problems(member.name, names)


def _entry_problems(name: str, names: set[str]) -> Iterator[str]:
    problem = name_problem(name)
    if problem:
        yield problem
    if name in names:
        yield f"the file {name!r} is there twice"
    names.add(name)


def _body(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(member)
    body = b"" if stream is None else stream.read()
    if len(body) != member.size:
        raise EOFError(f"{member.name!r} is cut off")
    return body


def _unpack_zip(content: bytes) -> tuple[list[str], dict[str, bytes]]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except Exception:
        # zipfile follows damaged offsets, and raises whatever happens there.
        return ["the file is cut off, or the directory at its end was changed"], {}
    entries = archive.infolist()
    problems = list(_zip_problems(entries))
    if sum(entry.file_size for entry in entries) > LIMIT:
        return [f"the files in it have more than {LIMIT} bytes together"], {}
    found = []
    for entry in entries:
        problem, body = _zip_body(archive, entry)
        problems += [problem] if problem else []
        found.append((entry.filename, body, _packed(content, entry)))
    if not problems and _zip(found) != content:
        problems = ["the zip file was changed: a time, a mode, a comment, or what lies between the files"]
    return problems, {name: body for name, body, _ in found}


def _zip_problems(entries: Iterable[zipfile.ZipInfo]) -> Iterator[str]:
    names: set[str] = set()
    for entry in entries:
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind == stat.S_IFLNK:
            yield f"{entry.filename!r} is a link, and a package holds only files"
        elif kind not in (0, stat.S_IFREG) or entry.orig_filename.endswith("/"):
            yield f"{entry.filename!r} is not a file, and a package holds only files"
        # `filename` has lost what follows a zero byte, and has the system's separators.
        yield from _entry_problems(entry.orig_filename, names)


def _zip_body(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> tuple[str, bytes]:
    """Return what is wrong with an entry, and its content."""
    try:
        return "", archive.read(entry)
    except Exception as error:
        # The same as above.
        return f"the file {entry.filename!r} was changed ({error})", b""


def _packed(content: bytes, entry: zipfile.ZipInfo) -> bytes:
    """Return an entry's compressed bytes; none where its header is outside of the file."""
    if not 0 <= entry.header_offset <= len(content) - _ZIP_LOCAL.size:
        return b""
    sizes = _ZIP_LOCAL.unpack_from(content, entry.header_offset)[-2:]
    start = entry.header_offset + _ZIP_LOCAL.size + sum(sizes)
    return content[start : start + entry.compress_size]
