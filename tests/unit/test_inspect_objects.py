from __future__ import annotations

import platform
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from aiebuild.inspect import objects
from aiebuild.inspect.objects import Sizes
from aiebuild.inspect.reader import InspectError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path

GXX = shutil.which("g++")
pytestmark = pytest.mark.skipif(GXX is None or platform.system() != "Linux", reason="needs g++ and ar that make ELF")
TEXT = """
extern "C" {
int table[4] = {1, 2, 3, 4};
extern const int fixed[8] = {1, 2, 3, 4, 5, 6, 7, 8};
int empty[100];
void other();
void run(int* p) { *p = table[0]; other(); }
}
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with `k.o`, `other.o` and an archive of both."""
    folder = tmp_path_factory.mktemp("objects")
    compile_cxx(folder, "k", TEXT)
    compile_cxx(folder, "a_name_that_is_long", 'extern "C" void other() {}')
    members = [folder / "k.o", folder / "a_name_that_is_long.o"]
    subprocess.run(["ar", "rcs", folder / "libk.a", *members], check=True)
    return folder


def compile_cxx(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.cc").write_text(text)
    assert GXX is not None
    flags = ["-O1", "-fno-asynchronous-unwind-tables", "-fno-exceptions", "-fcf-protection=none", "-c"]
    subprocess.run([GXX, *flags, folder / f"{name}.cc", "-o", folder / f"{name}.o"], check=True)


def fault(path: Path) -> str:
    """Return the message about a file; where it is good, one like it."""
    try:
        objects.read(path)
    except InspectError as error:
        return error.message
    return "nothing, at byte 0"


def test_an_object_has_symbols_and_sizes(built: Path) -> None:
    found = objects.read(built / "k.o")
    assert (found.kind, found.arch) == ("object", "host")
    assert [symbol.name for symbol in found.defined] == ["empty", "fixed", "run", "table"]
    assert "other" in found.undefined
    assert (found.sizes.constants, found.sizes.data, found.sizes.zeroed) == (32, 16, 400)
    assert 8 <= found.sizes.code <= 100


def test_an_archive_has_the_sizes_of_its_members(built: Path) -> None:
    found = objects.read(built / "libk.a")
    assert [name for name, _ in found.members] == ["k.o", "a_name_that_is_long.o"]
    assert found.members[0][1] == objects.read(built / "k.o")
    assert found.sizes == objects.read(built / "k.o").sizes + objects.read(built / "a_name_that_is_long.o").sizes
    assert "other" not in found.undefined


def test_sizes_add_up() -> None:
    assert Sizes(1, 2, 3, 4) + Sizes(10, 20, 30, 40) == Sizes(11, 22, 33, 44)


def test_damage_is_said_with_its_byte(built: Path, tmp_path: Path) -> None:
    content = (built / "k.o").read_bytes()
    archive = (built / "libk.a").read_bytes()
    cases = {
        content[:30]: "the ELF header needs 52 bytes and 30 are there, at byte 0 (0x0)",
        content[:4] + b"\7" + content[5:]: "the ELF header names no known class and byte order, at byte 4 (0x4)",
        content[:-1]: "a section header needs ",
        archive[:-3]: "a member needs ",
        archive[:8] + b"x" * 60 + archive[68:]: "no member of an archive begins, at byte 8 (0x8)",
    }
    for number, (damaged, message) in enumerate(cases.items()):
        path = tmp_path / f"{number}.o"
        path.write_bytes(damaged)
        with pytest.raises(InspectError) as caught:
            objects.read(path)
        assert caught.value.message.startswith(message)
        assert ", at byte " in caught.value.message


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_nothing_but_our_error_comes_of_damage(built: Path, tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray((built / data.draw(st.sampled_from(["k.o", "libk.a"]))).read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=6)):
        content[place] = data.draw(st.integers(0, 255))
    end = data.draw(st.one_of(st.just(len(content)), st.integers(0, len(content))))
    path = tmp_path / "damaged"
    path.write_bytes(content[:end])
    assert ", at byte " in fault(path)
