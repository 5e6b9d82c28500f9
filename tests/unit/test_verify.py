from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import tarfile
import zipfile
import zlib
from typing import TYPE_CHECKING

import pytest
from aiebuild import inspect, package, package_archive, verify
from aiebuild.inspect import InspectError
from aiebuild.package_archive import VerifyErrors
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from packages import LICENSE, host, npu

if TYPE_CHECKING:
    from pathlib import Path

TOP = "matmul-1.0.0-aie2+host"
FILES = package.contents([npu(), host()], LICENSE)
GOOD = {form: package.pack([npu(), host()], LICENSE, form) for form in package_archive.FORMATS}
Change = dict[str, bytes | None]


def messages(content: bytes) -> list[str]:
    """Return what is wrong with a package."""
    try:
        verify.check(content, "x")
    except VerifyErrors as error:
        return [each.message for each in error.errors]
    return []


def changed(change: Change, *, sums: bool = True, top: str = TOP, form: str = "zip") -> bytes:
    """Return the package with other files, None for one that is left out; with checksums that fit, or the old ones."""
    files = {path: content for path, content in {**FILES, **change}.items() if content is not None}
    if sums and "SHA256SUMS" not in change:
        files["SHA256SUMS"] = package.sums(files)
    return package_archive.pack({f"{top}/{path}": content for path, content in files.items()}, form)


def manifest(**values: object) -> bytes:
    return json.dumps({**npu().manifest.to_record(), **values}).encode()


@pytest.mark.parametrize("form", package_archive.FORMATS)
def test_a_good_package_is_good(form: str) -> None:
    found = verify.check(GOOD[form], "x")
    assert found.name == TOP
    assert found.files == FILES
    assert set(found.manifests) == {"aie2", "host"}


SUMS = FILES["SHA256SUMS"]
RECORD = npu().manifest.to_record()
DAMAGED: dict[str, tuple[Change, bool, str]] = {
    "a file is altered": ({"aie2/matmul.insts.bin": b"x"}, False, "'aie2/matmul.insts.bin' was changed: its checksum"),
    "a file is missing": ({"aie2/matmul.xclbin": None}, False, "the file 'aie2/matmul.xclbin' is missing"),
    "a file is too many": ({"aie2/virus": b""}, False, "the file 'aie2/virus' does not belong in the package"),
    "the licence is missing": ({"LICENSE": None}, False, "LICENSE is missing"),
    "the checksum file is missing": ({"SHA256SUMS": None}, False, "SHA256SUMS is missing"),
    "the checksum file has a foreign line": (
        {"SHA256SUMS": SUMS + b"hello\n"},
        False,
        "line 11 of SHA256SUMS is not a checksum and a path: 'hello'",
    ),
    "the checksum file leads out": (
        {"SHA256SUMS": SUMS + b"0" * 64 + b"  ../x\n"},
        False,
        "line 11 of SHA256SUMS: the path of '../x' leads out of the package",
    ),
    "the checksum file names a file twice": (
        {"SHA256SUMS": SUMS + SUMS[: SUMS.index(b"\n") + 1]},
        False,
        "line 11 of SHA256SUMS: 'LICENSE' is named twice",
    ),
    "the manifest is not JSON": ({"aie2/manifest.json": b"{"}, True, "aie2/manifest.json:1:2: this is not JSON"),
    "the manifest has another form": (
        {"aie2/manifest.json": manifest(archs=1)},
        True,
        "aie2/manifest.json: this is not a manifest: Additional properties",
    ),
    "the manifest is newer": (
        {"aie2/manifest.json": manifest(format=7)},
        True,
        "aie2/manifest.json: this is a manifest of format 7",
    ),
    "the manifest is missing": ({"aie2/manifest.json": None}, True, "the folder 'aie2' has no manifest.json"),
    "the manifest is another arch's": (
        {"aie2/manifest.json": manifest(arch="aie2p")},
        True,
        "the manifest in the folder 'aie2' is for 'aie2p'",
    ),
    "the manifest is another design's": (
        {"aie2/manifest.json": manifest(design="other")},
        True,
        "the manifests are of several designs: matmul 1.0.0, other 1.0.0",
    ),
    "an output is altered and the checksum too": (
        {"host/matmul.cores.py": b"CORES\n"},
        True,
        "host/matmul.cores.py: its content is not the one that the manifest was made of",
    ),
    "an output is longer and the checksum fits": (
        {"host/matmul.cores.py": b"cores and more\n"},
        True,
        "host/matmul.cores.py: it has 15 bytes, the manifest says 6",
    ),
    "an output is missing and the checksum fits": (
        {"host/check.py": None},
        True,
        "the manifest of host names 'check.py', which is missing",
    ),
    "a file is too many and the checksum fits": (
        {"host/more": b""},
        True,
        "the manifest of host does not name the file 'host/more'",
    ),
    "the build was not checked": (
        {"aie2/manifest.json": manifest(check=None)},
        True,
        "aie2/manifest.json: matmul for aie2 has not been checked",
    ),
    "the check failed": (
        {"aie2/manifest.json": manifest(check={**RECORD["check"], "ok": False})},
        True,
        "aie2/manifest.json: the check of matmul for aie2 failed",
    ),
    "the xclbin is none": (
        {"aie2/matmul.xclbin": bytes(len(FILES["aie2/matmul.xclbin"]))},
        True,
        "aie2/matmul.xclbin: this is not an xclbin",
    ),
}


@pytest.mark.parametrize("form", package_archive.FORMATS)
@pytest.mark.parametrize("damage", DAMAGED)
def test_damage_has_its_own_message(damage: str, form: str) -> None:
    change, sums, message = DAMAGED[damage]
    found = messages(changed(change, sums=sums, form=form))
    assert any(message in each for each in found), found


def test_each_damage_has_another_message() -> None:
    said = [message for _, _, message in DAMAGED.values()]
    assert len(said) == len(set(said)) == 21


def test_all_that_is_wrong_is_said_at_once() -> None:
    found = messages(changed({"LICENSE": b"", "load.py": None, "aie2/more": b""}, sums=False))
    assert found == [
        "load.py is missing",
        "the file 'aie2/more' does not belong in the package: SHA256SUMS does not name it",
        "the file 'LICENSE' was changed: its checksum differs",
    ]


def test_the_folder_at_the_top_has_the_packages_name() -> None:
    assert messages(changed({}, top="other")) == [
        f"the folder at the top is called 'other', it should be '{TOP}'",
    ]
    twice = package_archive.pack({"a/x": b"", "b/x": b""}, "zip")
    assert messages(twice) == ["a package has one folder at its top, this one has: a, b"]
    assert messages(package_archive.pack({"a/x": b""}, "zip"))[0] == "README.md is missing"


# The archive itself


def tar(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """Return the good package with further members, compressed as aiebuild does."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, content in sorted(FILES.items()):
            archive.addfile(*member(f"{TOP}/{path}", content))
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return gzip(buffer.getvalue())


def member(name: str, content: bytes = b"", **values: object) -> tuple[tarfile.TarInfo, io.BytesIO]:
    info = tarfile.TarInfo(name)
    info.size, info.mtime = len(content), 315532800
    for key, value in values.items():
        setattr(info, key, value)
    return info, io.BytesIO(content)


def gzip(text: bytes) -> bytes:
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    trailer = struct.pack("<II", zlib.crc32(text), len(text))
    return b"\x1f\x8b\x08\0\0\0\0\0\x02\xff" + compressor.compress(text) + compressor.flush() + trailer


def info(name: str, **values: object) -> tuple[tarfile.TarInfo, bytes]:
    return member(name, b"", **values)[0], b""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (tar(info("/etc/passwd")), "the file '/etc/passwd' has an absolute path"),
        (tar(info(f"{TOP}/../../x")), f"the path of '{TOP}/../../x' leads out of the package"),
        (tar(info(f"{TOP}/l", type=tarfile.SYMTYPE, linkname="/etc")), f"'{TOP}/l' is a link to '/etc', and a package"),
        (tar(info(f"{TOP}/h", type=tarfile.LNKTYPE, linkname="x")), f"'{TOP}/h' is a link to 'x', and a package"),
        (tar(info(f"{TOP}/d", type=tarfile.DIRTYPE)), f"'{TOP}/d' is not a file, and a package holds only files"),
        (tar(info(f"{TOP}/p", type=tarfile.FIFOTYPE)), f"'{TOP}/p' is not a file, and a package holds only files"),
        (tar(info(f"{TOP}/load.py")), f"the file '{TOP}/load.py' is there twice"),
        (tar(info(f"{TOP}/a b")), f"'{TOP}/a b' is not a name for a file of a package"),
        (tar(info(f"{TOP}/z", mtime=1)), "the tar file in it was changed: an owner, a time, a mode"),
        (tar(info(f"{TOP}/z", uname="me")), "the tar file in it was changed: an owner, a time, a mode"),
        (gzip(b"x" * 600), "the tar file in it is damaged"),
        (GOOD["tar.gz"][:-20], "the file is cut off"),
        (GOOD["tar.gz"][:5], "the file is cut off"),
        (GOOD["tar.gz"] + b"more", "4 bytes follow the package"),
        (GOOD["tar.gz"][:-5] + b"x" + GOOD["tar.gz"][-4:], "the file was changed: its checksum differs"),
        (GOOD["tar.gz"][:4] + b"x" + GOOD["tar.gz"][5:], "the header of the compressed file was changed"),
        (b"", "this is not a package: it is neither a tar.gz nor a zip file"),
        (b"hello", "this is not a package: it is neither a tar.gz nor a zip file"),
    ],
)
def test_damage_of_a_tar_has_its_own_message(content: bytes, message: str) -> None:
    assert any(each.startswith(message) for each in messages(content)), messages(content)


def zipped(name: str, content: bytes = b"", **values: object) -> bytes:
    """Return the good package with a further entry."""
    buffer = io.BytesIO(GOOD["zip"])
    entry = zipfile.ZipInfo(name)
    for key, value in values.items():
        setattr(entry, key, value)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(entry, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped("/etc/passwd"), "the file '/etc/passwd' has an absolute path"),
        (zipped(f"{TOP}/../x"), f"the path of '{TOP}/../x' leads out of the package"),
        (zipped(f"{TOP}/..\\x"), f"the path of '{TOP}/..\\\\x' leads out of the package"),
        (zipped(f"{TOP}/l", b"/etc", external_attr=0o120777 << 16), f"'{TOP}/l' is a link, and a package holds"),
        (zipped(f"{TOP}/d/"), f"'{TOP}/d/' is not a file, and a package holds only files"),
        (zipped(f"{TOP}/x"), "the zip file was changed: a time, a mode, a comment"),
        (GOOD["zip"][:-30], "the file is cut off, or the directory at its end was changed"),
        (b"PK" + bytes(100), "the file is cut off, or the directory at its end was changed"),
        (GOOD["zip"][:-2] + b"\3\0me!", "the zip file was changed: a time, a mode, a comment"),
    ],
)
def test_damage_of_a_zip_has_its_own_message(content: bytes, message: str) -> None:
    assert any(each.startswith(message) for each in messages(content)), messages(content)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_is_twice_in_a_zip_is_said() -> None:
    assert f"the file '{TOP}/load.py' is there twice" in messages(zipped(f"{TOP}/load.py", b"other"))


def test_a_package_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_archive, "LIMIT", 1000)
    for content in GOOD.values():
        assert messages(content) == ["the files in it have more than 1000 bytes together"]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(package_archive.FORMATS), st.integers(0, 2**20), st.integers(1, 255))
@example("tar.gz", 8, 1)
@example("tar.gz", 9, 1)
@example("zip", 10, 1)
@example("zip", 79, 1)
def test_any_byte_that_was_changed_is_noticed_or_stands_for_the_same_files(form: str, place: int, change: int) -> None:
    """The last byte of a compressed stream has bits that mean nothing; nothing else may change in silence."""
    content = bytearray(GOOD[form])
    content[place % len(content)] ^= change
    assert messages(bytes(content)) or package_archive.unpack(bytes(content), "x") == package_archive.unpack(
        GOOD[form], "x"
    )


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(package_archive.FORMATS), st.integers(0, 2**20))
def test_any_package_that_is_cut_off_is_noticed(form: str, end: int) -> None:
    assert messages(GOOD[form][: end % len(GOOD[form])])


# The command


@pytest.mark.parametrize("form", package_archive.FORMATS)
def test_the_command_says_good_or_what_is_wrong(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"p.{form}"
    path.write_bytes(GOOD[form])
    assert verify.main([str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: good ({TOP}, 11 files)\n"
    path.write_bytes(GOOD[form][:-1])
    assert verify.main([str(path), str(tmp_path / "none")]) == 1
    said = capsys.readouterr().err
    assert f"{path}: error: the file is cut off" in said
    assert f"{tmp_path / 'none'}: error: cannot be read: No such file or directory" in said


def test_the_digest_of_a_package_depends_on_its_files_only() -> None:
    digests = {hashlib.sha256(changed({"LICENSE": text}, form="tar.gz")).hexdigest() for text in (b"a", b"a", b"b")}
    assert len(digests) == 2


def test_a_folder_is_no_package(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify.main([str(tmp_path)]) == 1
    message = f"{tmp_path}: error: this is a folder, and a package is one file: scons package writes it below dist\n"
    assert capsys.readouterr().err == message


def test_a_pipe_is_no_package(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Reading it would wait for somebody to write into it."""
    os.mkfifo(tmp_path / "pipe")
    assert verify.main([str(tmp_path / "pipe"), "--json"]) == 1
    (answer,) = json.loads(capsys.readouterr().out)
    assert (answer["good"], answer["problems"]) == (
        False,
        ["cannot be read: this is a device or a pipe, not a file"],
    )
    with pytest.raises(InspectError, match="this is a device or a pipe"):
        inspect.text(tmp_path / "pipe")
