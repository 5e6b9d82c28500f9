from __future__ import annotations

import ast
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiebuild import package, package_archive
from aiebuild.errors import AieBuildError
from aiebuild.manifest import Check, Input
from aiebuild.manifest_request import ManifestError
from aiebuild.package import main
from aiebuild.package_archive import PackageError
from aiebuild.package_builds import Build, checked, with_reference
from aiebuild.package_install import install
from packages import LICENSE, host, npu, with_kernels

FORMATS = package_archive.FORMATS


def aie2p() -> Build:
    return npu("aie2p", xclbin="two", insts="rtp.triple")


def write(folder: Path, build: Build) -> Path:
    """Write a build as one leaves it; return its manifest."""
    folder.mkdir(parents=True)
    for name, content in build.files.items():
        (folder / name).write_bytes(content)
    (folder / "manifest.json").write_text(build.manifest.to_json())
    return folder / "manifest.json"


# What is in a package


@pytest.mark.parametrize("form", FORMATS)
def test_a_package_is_the_same_whoever_makes_it_and_when(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "LICENSE").write_text(LICENSE)
    made = []
    for place in ("one", "another/place"):
        path = write(tmp_path / place / "build", npu())
        words = [str(path), "--license", str(tmp_path / "LICENSE"), "--format", form]
        assert main([*words, "--folder", str(tmp_path / place / "dist")]) == 0
        file = tmp_path / place / "dist" / f"matmul-1.0.0-aie2.{form}"
        assert capsys.readouterr().out == f"{file}\n"
        made.append(file.read_bytes())
    assert made[0] == made[1]


def test_the_order_of_the_archs_makes_no_difference() -> None:
    builds = [aie2p(), npu(), host()]
    assert package.name(builds) == "matmul-1.0.0-aie2+aie2p+host"
    assert package.pack(builds, LICENSE, "zip") == package.pack(builds[::-1], LICENSE, "zip")


def test_a_tar_has_no_owner_no_time_and_names_in_order() -> None:
    with tarfile.open(fileobj=io.BytesIO(package.pack([npu()], LICENSE, "tar.gz"))) as archive:
        members = archive.getmembers()
    assert [member.name.partition("/")[2] for member in members] == [
        "LICENSE",
        "README.md",
        "SHA256SUMS",
        "aie2/manifest.json",
        "aie2/matmul.insts.bin",
        "aie2/matmul.xclbin",
        "load.py",
    ]
    said = {(member.uid, member.gid, member.uname, member.gname, member.mtime, member.mode) for member in members}
    assert said == {(0, 0, "", "", 315532800, 0o644)}


def test_a_zip_is_one_that_other_programs_read() -> None:
    with zipfile.ZipFile(io.BytesIO(package.pack([npu()], LICENSE, "zip"))) as archive:
        assert archive.testzip() is None
        assert archive.read("matmul-1.0.0-aie2/LICENSE") == LICENSE.encode()
        assert {(entry.date_time, entry.external_attr >> 16) for entry in archive.infolist()} == {
            ((1980, 1, 1, 0, 0, 0), 0o100644)
        }


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_packed_is_unpacked(form: str) -> None:
    files = {"a/b": b"", "a/c.bin": bytes(range(256)) * 50, "d": b"x"}
    assert package_archive.unpack(package_archive.pack(files, form), "x") == files


def test_the_checksum_file_is_one_for_sha256sum(tmp_path: Path) -> None:
    folder = installed([npu()], tmp_path)
    done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=folder, check=True, capture_output=True, text=True)
    assert len(done.stdout.splitlines()) == 6


def test_only_the_checksum_file_has_the_digest_of_the_xclbin_with_its_uuid() -> None:
    files = package.contents([npu()], LICENSE)
    raw = {line[66:]: line[:64] for line in files["SHA256SUMS"].decode().splitlines()}["aie2/matmul.xclbin"]
    assert raw not in files["aie2/manifest.json"].decode()


def test_the_readme_says_how_to_run_it() -> None:
    text = package.contents([npu(), host()], LICENSE)["README.md"].decode()
    assert text.startswith("# matmul 1.0.0\n\nC = A x B\n")
    assert 'built = load("aie2")' in text
    assert 'kernel = pyxrt.kernel(context, "MLIR_AIE")' in text
    assert "    pyxrt.bo(device, 16384, pyxrt.bo.host_only, kernel.group_id(5)),  # C\n" in text
    assert "buffers[2].sync(pyxrt.xclBOSyncDirection.XCL_BO_SYNC_BO_FROM_DEVICE)" in text
    assert "| C | out | 4096 i32 | 16384 | result |" in text
    assert (
        "python -m aiebuild.host run host/matmul.cores.py --kernels host/matmul.kernels.zip --check host/check.py"
        in text
    )
    assert "--arguments A,B,C -o ../result.json" in text
    code = text.partition("```python\n")[2].partition("```")[0]
    ast.parse(code)


# What is not packaged


@pytest.mark.parametrize(
    ("builds", "message"),
    [
        ([], "a package needs a build"),
        ([npu(check=None)], "matmul for aie2 has not been checked"),
        ([npu(check=Check("host", "npu1_1col", ok=False))], "the check of matmul for aie2 failed"),
        ([npu(), npu()], "two builds are for aie2, and a package has one for each arch"),
        ([npu(), npu("aie2p", insts="rtp.triple")], "aie2p and aie2 have the same xclbin"),
        ([npu("aie2p")], "these are instructions for npu1 (aie2), not for aie2p"),
        ([Build(npu().manifest, {**npu().files, "matmul.insts.bin": b""})], "it has 0 bytes, the manifest says 660"),
        (
            [Build(host().manifest, {**host().files, "matmul.kernels.zip": b"KERNELS"})],
            "host/matmul.kernels.zip: its content is not the one that the manifest was made of",
        ),
        ([with_kernels(npu(), "other")], "it has xclbin kernels that the manifest does not name"),
        ([replace(host(), manifest=replace(host().manifest, outputs=()))], "there is nothing to run in the build of"),
        (
            [npu(), replace(host(), manifest=replace(host().manifest, version="2.0.0"))],
            "matmul 2.0.0 and matmul 1.0.0 cannot be in one package",
        ),
    ],
)
def test_what_must_not_be_deployed_is_not_packaged(builds: list[Build], message: str) -> None:
    with pytest.raises(AieBuildError) as caught:
        package.pack(builds, LICENSE, "zip")
    assert message in caught.value.message


def test_a_damaged_xclbin_is_not_packaged() -> None:
    content = bytearray(npu().files["matmul.xclbin"])
    content[448] = 200
    with pytest.raises(AieBuildError, match="the table of 200 sections needs"):
        package.pack([Build(npu().manifest, {**npu().files, "matmul.xclbin": bytes(content)})], LICENSE, "zip")


def test_an_unknown_format_is_an_error_with_the_nearest_one() -> None:
    with pytest.raises(PackageError) as caught:
        package.pack([npu()], LICENSE, "tar")
    assert caught.value.message == "there is no package format 'tar'"
    assert caught.value.hint == "did you mean 'tar.gz'?"


@pytest.mark.parametrize(
    "name", ["/a", "../a", "a/../b", "a\\b", "C:a", "a b", "", "a//b", ".hidden", "a\0b", "a" * 101]
)
def test_a_path_that_means_something_else_elsewhere_is_not_packed(name: str) -> None:
    with pytest.raises(PackageError):
        package_archive.pack({name: b""}, "zip")


def test_a_package_that_nobody_would_unpack_is_not_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_archive, "LIMIT", 10)
    with pytest.raises(PackageError, match="the files have more than 10 bytes together"):
        package_archive.pack({"a": b"12345", "b": b"123456"}, "zip")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("matmul.xclbin", "matmul.xclbin, which the manifest names, cannot be read: No such file or directory"),
        ("manifest.json", "manifest.json: error: cannot be read: No such file or directory"),
    ],
)
def test_a_missing_file_is_said_and_no_package_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str, message: str
) -> None:
    path = write(tmp_path / "build", npu())
    (tmp_path / "build" / damage).unlink()
    (tmp_path / "LICENSE").write_text(LICENSE)
    assert main([str(path), "--license", str(tmp_path / "LICENSE"), "-o", str(tmp_path / "x.zip")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "x.zip").exists()


def test_an_output_may_lie_elsewhere(tmp_path: Path) -> None:
    path = write(tmp_path / "build", host())
    (tmp_path / "build" / "check.py").rename(tmp_path / "check.py")
    (tmp_path / "LICENSE").write_text(LICENSE)
    words = [str(path), "--license", str(tmp_path / "LICENSE"), "-o", str(tmp_path / "x.tar.gz")]
    assert main(words) == 1
    assert main([*words, "--file", f"check.py={tmp_path / 'check.py'}"]) == 0
    assert (tmp_path / "x.tar.gz").read_bytes() == package.pack([host()], LICENSE, "tar.gz")


# Builds, and the runs that they are checked by


RUN = replace(host().manifest, parameters=npu().manifest.parameters)


def test_a_build_for_the_npu_is_checked_by_the_run_on_the_host() -> None:
    build = npu(check=None)
    assert checked(build, [RUN]).manifest == replace(build.manifest, check=RUN.check)
    assert checked(npu(), []) == npu()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": "2"}, "its version is 2, not 1.0.0"),
        ({"mode": "debug"}, "its mode is debug, not release"),
        ({"parameters": {"M": 32, "fast": True}}, "M=32, not M=64"),
        (
            {"inputs": (Input("designs/matmul/design.yaml", "1" * 64),)},
            "designs/matmul/design.yaml has another content",
        ),
        ({"sequences": ()}, "the arguments of its runtime sequences differ"),
    ],
)
def test_a_run_of_something_else_is_no_check(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(PackageError, match=message):
        checked(npu(check=None), [replace(RUN, **changes)])


def test_a_run_for_another_device_is_no_check() -> None:
    build = npu(check=None)
    assert checked(build, [replace(RUN, device="npu2_1col"), replace(RUN, design="other")]) == build


def test_a_check_comes_along_with_the_modules_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    for name in ("check2.py", "helper.py"):
        (tmp_path / "d" / name).write_text(name)
    record = tmp_path / "reads.json"
    record.write_text('{"files": ["d/helper.py"]}')
    made = with_reference(host(), Path("d/check2.py"), record)
    assert {each.path: each.kind for each in made.manifest.outputs if each.path.endswith("2.py")} == {
        "check2.py": "reference"
    }
    assert made.files["helper.py"] == b"helper.py"
    assert set(made.files) == {each.path for each in made.manifest.outputs}
    record.write_text('{"files": ["elsewhere/helper.py"]}')
    assert with_reference(host(), Path("d/check2.py"), record) == host()


# Installing


def installed(builds: list[Build], prefix: Path) -> Path:
    """Install the package of builds; return its folder."""
    return install(package.contents(builds, LICENSE), prefix / package.name(builds)).folder


def test_installing_puts_the_same_files_into_a_folder(tmp_path: Path) -> None:
    folder = installed([npu(), host()], tmp_path)
    assert folder == tmp_path / "matmul-1.0.0-aie2+host"
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert found == set(package.contents([npu(), host()], LICENSE))


def test_installing_again_removes_what_is_no_longer_there_and_nothing_else(tmp_path: Path) -> None:
    folder = installed([npu()], tmp_path)
    (folder / "mine").write_text("not the package's")
    old = hashlib.sha256(b"of an earlier package").hexdigest()
    (folder / "SHA256SUMS").write_text(
        (folder / "SHA256SUMS").read_text() + f"{old}  aie2/old\n{old}  aie2/edited\n{'0' * 64}  ../out\n"
    )
    (folder / "aie2" / "old").write_text("of an earlier package")
    (folder / "aie2" / "edited").write_text("by somebody")
    (tmp_path / "out").write_text("not the package's")
    files = package.contents([npu()], LICENSE)
    made = install(files, folder)
    assert (made.removed, made.written) == (("aie2/old",), ("SHA256SUMS",))
    assert not (folder / "aie2" / "old").exists()
    assert (folder / "mine").exists()
    assert (folder / "aie2" / "edited").exists()
    assert (tmp_path / "out").exists()
    assert install(files, folder).written == ()


@pytest.mark.parametrize("file", ["", "aie2"])
def test_a_file_in_the_way_of_a_folder_is_named(tmp_path: Path, file: str) -> None:
    folder = tmp_path / "package"
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text("mine")
    with pytest.raises(PackageError, match="this file is in the way of a folder") as caught:
        install(package.contents([npu()], LICENSE), folder)
    assert str(caught.value.where) == str(folder / file)
    assert (folder / file).read_text() == "mine"


def test_a_file_of_somebody_elses_is_not_replaced(tmp_path: Path) -> None:
    files = package.contents([npu()], LICENSE)
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(PackageError, match="this file is in the way, and it is of no package"):
        install(files, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
    (tmp_path / "README.md").unlink()
    install(files, tmp_path)
    (tmp_path / "load.py").write_text("# edited")
    with pytest.raises(PackageError, match="this file was changed since it was installed"):
        install({**files, "new": b""}, tmp_path)
    assert not (tmp_path / "new").exists()
    (tmp_path / "load.py").unlink()
    (tmp_path / "load.py").symlink_to(tmp_path / "mine.py")
    with pytest.raises(PackageError, match=r"load\.py: error: this is a link, and a package's file belongs there"):
        install(files, tmp_path)


def test_an_unchecked_build_is_not_installed(tmp_path: Path) -> None:
    with pytest.raises(ManifestError):
        installed([npu(check=None)], tmp_path / "x")
    assert not (tmp_path / "x").exists()


# The loader


def loaded(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Run a text with the package's own loader, without aiebuild."""
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, '.'); from load import *\n{text}"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_loader_gives_paths_and_arguments(tmp_path: Path) -> None:
    folder = installed([npu(), host()], tmp_path)
    text = """
import json
built = load("aie2")
print(json.dumps([str(built.xclbin), built.kernels, {k: str(v) for k, v in built.insts.items()}, built.arguments()]))
print(load("host").file("kernels"))
"""
    done = loaded(folder, text)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    xclbin, kernels, insts, arguments = json.loads(first)
    assert xclbin == str(folder / "aie2" / "matmul.xclbin")
    assert kernels == ["MLIR_AIE"]
    assert insts == {"sequence": str(folder / "aie2" / "matmul.insts.bin")}
    assert arguments[2] == {
        "name": "C",
        "direction": "out",
        "element": "i32",
        "shape": [4096],
        "bytes": 16384,
        "meaning": "result",
    }
    assert second == str(folder / "host" / "matmul.kernels.zip")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "aie2" / "matmul.xclbin").write_bytes(b"x"), "aie2/matmul.xclbin was changed"),
        (lambda folder: (folder / "LICENSE").unlink(), "LICENSE is missing"),
        (lambda folder: (folder / "aie2" / "further").write_text(""), "aie2/further does not belong here"),
        (lambda folder: (folder / "SHA256SUMS").write_text("what\n"), "SHA256SUMS has a line that is not a checksum"),
        (lambda folder: (folder / "SHA256SUMS").unlink(), "SHA256SUMS cannot be read"),
    ],
)
def test_the_loader_refuses_a_package_that_was_changed(tmp_path: Path, damage: object, message: str) -> None:
    folder = installed([npu()], tmp_path)
    assert callable(damage)
    damage(folder)
    done = loaded(folder, "load()")
    assert done.returncode == 1
    assert message in done.stderr


def test_the_loader_is_a_program_too(tmp_path: Path) -> None:
    folder = installed([npu()], tmp_path)
    for _ in range(2):
        done = subprocess.run([sys.executable, "load.py"], cwd=folder, capture_output=True, text=True, check=True)
        assert done.stdout.startswith("matmul 1.0.0 for aie2 (npu1_1col): good\n")
    (folder / "README.md").write_text("")
    done = subprocess.run([sys.executable, "load.py"], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "error: README.md was changed\n")


def test_the_loader_asks_for_an_arch_where_there_are_several(tmp_path: Path) -> None:
    folder = installed([npu(), host()], tmp_path)
    assert "say for which arch: aie2, host" in loaded(folder, "load()").stderr
    assert "no runtime sequence 'x'; there are: sequence" in loaded(folder, "load('aie2').arguments('x')").stderr


def test_the_loader_needs_no_newer_python_than_it_says_and_only_its_library() -> None:
    tree = ast.parse((package.DATA / "load.py").read_text(), feature_version=(3, 8))
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    modules = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported | modules <= {"__future__", "hashlib", "json", "os", "sys", "pathlib", "typing"}
    newer = {"removeprefix", "removesuffix", "is_relative_to", "with_stem", "hardlink_to", "file_digest"}
    assert not newer & {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
