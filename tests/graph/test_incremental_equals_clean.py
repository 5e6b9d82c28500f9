"""F16: after any sequence of edits, the incremental result equals the clean one."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from pathlib import Path

from edits import UNSHRUNK
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from projects import HandMade

FOLDERS = ("src", "inc", "alt")
HEADERS = ("one.h", "two.h")
SOURCES = ("a", "b", "c")
VALUES = st.integers(min_value=1, max_value=4)


class Edits(RuleBasedStateMachine):
    """Edits of a small project; after each one an incremental build is compared with a clean one elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="aiebuild-edits-"))
        self.project = HandMade(self.folder / "project")
        self.order = ["inc", "alt"]
        self.flags: dict[str, list[str]] = {name: [] for name in SOURCES}
        self.members = list(SOURCES)
        for header in HEADERS:
            self._header("alt", header, 1)
        for name in SOURCES:
            self._source(name, "one.h", 1)

    def teardown(self) -> None:
        """Remove the project."""
        shutil.rmtree(self.folder)

    def _header(self, folder: str, name: str, value: int) -> None:
        self.project.write(f"{folder}/{name}", f"#define {name[:3].upper()} {value}\n")

    def _source(self, name: str, header: str, value: int) -> None:
        macro = header[:3].upper()
        text = f'#define WHICH "{header}"\n#include WHICH\nextern "C" int {name}() {{ return {macro} + {value}; }}\n'
        self.project.write(f"src/{name}.cc", text)

    def _script(self) -> None:
        lines = [
            f'{name} = env.AieObject("out/{name}.o", "src/{name}.cc", '
            f"include_dirs={self.order}, flags={self.flags[name]})"
            for name in SOURCES
        ]
        lines.append(f'env.AieArchive("out/lib.a", [{", ".join(self.members)}])')
        self.project.script("\n".join(lines))

    @rule(folder=st.sampled_from(FOLDERS), name=st.sampled_from(HEADERS), value=VALUES)
    def write_header(self, folder: str, name: str, value: int) -> None:
        self._header(folder, name, value)

    @rule(name=st.sampled_from(HEADERS), value=VALUES)
    def write_header_and_set_its_time_back(self, name: str, value: int) -> None:
        before = (self.project.root / "alt" / name).stat()
        self._header("alt", name, value)
        os.utime(self.project.root / "alt" / name, ns=(before.st_atime_ns, before.st_mtime_ns))

    @rule(folder=st.sampled_from(("src", "inc")), name=st.sampled_from(HEADERS))
    def remove_shadowing_header(self, folder: str, name: str) -> None:
        (self.project.root / folder / name).unlink(missing_ok=True)

    @rule(name=st.sampled_from(SOURCES), header=st.sampled_from(HEADERS), value=VALUES)
    def write_source(self, name: str, header: str, value: int) -> None:
        self._source(name, header, value)

    @rule()
    def swap_include_folders(self) -> None:
        self.order.reverse()

    @rule(name=st.sampled_from(SOURCES), flags=st.sampled_from([[], ["-DX=1"], ["-O1"], ["-O0", "-DX=1"]]))
    def set_flags(self, name: str, flags: list[str]) -> None:
        self.flags[name] = flags

    @rule(members=st.permutations(SOURCES), count=st.integers(min_value=1, max_value=3))
    def set_members(self, members: list[str], count: int) -> None:
        self.members = members[:count]

    @rule(name=st.sampled_from(["out/a.o", "out/lib.a", "out/b.o.reads.json"]))
    def remove_output(self, name: str) -> None:
        (self.project.root / name).unlink(missing_ok=True)

    @rule(name=st.sampled_from(SOURCES))
    def fail_once_and_revert(self, name: str) -> None:
        good = self.project.read(f"src/{name}.cc")
        self._script()
        self.project.write(f"src/{name}.cc", "#error on purpose\n")
        assert self.project.scons().status == 2
        self.project.write(f"src/{name}.cc", good)

    @invariant()
    def incremental_equals_clean(self) -> None:
        """Build here and in a fresh copy, and compare every object and the archive byte for byte."""
        self._script()
        self.project.build()
        assert results(self.project.root) == clean_results(sources(self.project.root))
        assert self.project.build().steps == []


def sources(root: Path) -> frozenset[tuple[str, bytes]]:
    """Return names and contents of everything that was not built."""
    files = ((path.relative_to(root), path) for path in root.rglob("*") if path.is_file())
    return frozenset((str(name), path.read_bytes()) for name, path in files if name.parts[0] not in {"out", "build"})


@functools.cache
def clean_results(files: frozenset[tuple[str, bytes]]) -> dict[str, bytes]:
    """Return what a build of these files gives where nothing was built before; edits often lead back to the same."""
    with tempfile.TemporaryDirectory(prefix="aiebuild-clean-") as folder:
        project = HandMade(Path(folder) / "clean")
        for name, content in files:
            project.write(name, content.decode())
        project.build()
        return results(project.root)


def results(root: Path) -> dict[str, bytes]:
    """Return the contents of everything that was built, by name."""
    return {path.name: path.read_bytes() for path in (root / "out").iterdir() if path.suffix in {".o", ".a"}}


TestEdits = Edits.TestCase
TestEdits.settings = settings(
    max_examples=6,
    stateful_step_count=8,
    phases=UNSHRUNK,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
