"""A design that depends on one of everything, and the edits that the fast path must notice, or must not mind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING

from projects import Project, add_design, new_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OUTPUT = "build/host/designs/one/npu1_1col"
KERNEL = """\
#include "add.h"
#include "base.h"
#ifndef FLAVOUR
#define FLAVOUR 0
#endif
extern "C" int version_of_add = VERSION + BASE + FLAVOUR;
extern "C" void add_one(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] = x[i] + 1; }
"""
RECIPE = """\
import shared

print("the recipe of {name} is read")
add = env.CoreObject(
    "add", source="#kernels/{{arch}}/add.cc", functions=["add_one"], flags=shared.FLAGS, include_dirs=["#inc", "#alt"]
)
env.Design(mlir="{name}.mlir.j2", link_with=[add], check="check.py")"""
SHARED = """\
import os

FLAGS = ["-O1", "-DFLAVOUR=" + os.environ.get("FLAVOUR", "0")]
"""
CHECK = """\
from pathlib import Path

import helper
import numpy as np


def inputs(p, rng):
    value = int(Path("designs/one/data.txt").read_text())
    return {"X": np.full(32, value + helper.VALUE, dtype=np.int32)}


def reference(p, X):
    return {"Y": X + 1}
"""
WRAPPER = """\
#!/bin/sh
# wrapper {name}
if [ -e meddle ]; then sh ./meddle; rm meddle; fi
exec "{compiler}" "$@"
"""


def whole_project(root: Path) -> Project:
    """Return a project with the design `one`, which has headers, a macro, a check with a module and data."""
    project = new_project(root)
    project.write("kernels/add.cc", KERNEL)
    project.write("alt/add.h", "#define VERSION 1\n")
    project.write("alt/base.h", "#define BASE 10\n")
    project.write("inc/other.h", "#define OTHER 1\n")
    project.write("docs/index.md", "index\n")
    project.write("kernels/host/other.cc", "\n")
    add_design(project, "one", RECIPE.format(name="one"), {"add_one": "add.o"}, check=CHECK)
    template = project.read("designs/one/one.mlir.j2")
    project.write("designs/one/one.mlir.j2", '{% import "note.mlir.j2" as note %}\n// {{ note.text() }}\n' + template)
    project.write("templates/note.mlir.j2", "{% macro text() %}note 1{% endmacro %}\n")
    project.write("designs/one/helper.py", "VALUE = 1\n")
    project.write("designs/one/data.txt", "5\n")
    project.write("site_scons/shared.py", SHARED)
    project.write(".gitignore", "build/\n__pycache__/\n")
    for name in ("a", "b"):
        wrapper(project, name)
    project.variables["CXX"] = str(root / "tools" / "a" / "cxx")
    return project


def wrapper(project: Project, name: str) -> None:
    """Write a compiler: a script that runs this machine's own."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    project.write(f"tools/{name}/cxx", WRAPPER.format(name=name, compiler=compiler)).chmod(0o755)


def sources(project: Project) -> dict[Path, bytes]:
    """Return the files of a project that nothing builds."""
    files = [path for path in project.root.rglob("*") if path.is_file()]
    return {path: path.read_bytes() for path in files if not {"build", ".git", "__pycache__"} & set(path.parts)}


def restore(project: Project, kept: dict[Path, bytes]) -> None:
    """Give a project the sources that it had."""
    for path in sources(project):
        if path not in kept:
            path.unlink()
    for path, content in kept.items():
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)


def status(project: Project, *words: str) -> tuple[bool, list[str]]:
    """Return whether the fast path takes `one` for up to date, and else its reasons."""
    command = "import sys; from aiebuild.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", command, "status", "--json", *(words or ("design=one",))],
        cwd=project.root,
        env=project.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    said = json.loads(done.stdout)
    assert done.returncode == (0 if all(row["fresh"] for row in said) else 1), done.stderr
    return done.returncode == 0, [reason for row in said for reason in row["reasons"]]


def scons_agrees(project: Project) -> bool:
    """Return whether SCons, its graph read, takes `one` for up to date too (`-q` bypasses the fast path)."""
    return project.scons("-q", "design=one").status == 0


def is_never_wrong(project: Project) -> None:
    """Insist that what the fast path takes for up to date is."""
    if status(project)[0]:
        assert scons_agrees(project), "the fast path says up to date, and SCons would build"


def artifacts(project: Project) -> dict[str, bytes]:
    """Return what was built for `one`, by name, without notes about how it was built."""
    files = (project.root / OUTPUT).iterdir()
    return {file.name: file.read_bytes() for file in files if not file.name.endswith((".reads.json", "last-run.json"))}


def record_file(project: Project, design: str = "one") -> Path:
    """Return the file of the only record of a design."""
    (file,) = (project.root / "build/.aiebuild/fresh").glob(f"{design}-host-*.json")
    return file


def rewrite_record(project: Project, change: Callable[[dict[str, object]], None]) -> None:
    """Change a record as a fault of its writer would: the checksum is right."""
    file = record_file(project)
    known = json.loads(file.read_bytes().partition(b"\n")[2])
    change(known)
    text = json.dumps(known).encode()
    file.write_bytes(b"%08x\n" % zlib.crc32(text) + text)


def replace(name: str, old: str, new: str) -> Callable[[Project], None]:
    """Return the edit that writes a file anew, with other text or with the old one, or that finds no such file."""

    def edit(project: Project) -> None:
        if not (project.root / name).exists():
            return
        text = project.read(name)
        project.write(name, text.replace(old, new) if old in text else text.replace(new, old))

    return edit


def same_size_and_time(project: Project) -> None:
    """Edit a header without another size or time of modification."""
    header = project.root / "alt/add.h"
    before = header.stat()
    replace("alt/add.h", "VERSION 1", "VERSION 7")(project)
    os.utime(header, ns=(before.st_atime_ns, before.st_mtime_ns))


def same_size_and_time_by_renaming(project: Project) -> None:
    """Put another file of the same size and time in a header's place."""
    header = next(project.root / name for name in ("alt/base.h", "inc/base.h") if (project.root / name).exists())
    before = header.stat()
    text = "#define BASE 20\n" if "10" in header.read_text() else "#define BASE 10\n"
    aside = project.write("alt/aside", text)
    os.utime(aside, ns=(before.st_atime_ns, before.st_mtime_ns))
    aside.replace(header)


def two_edits_at_once(project: Project) -> None:
    """Edit a header twice within one tick, the second time back to where it was and on."""
    replace("alt/add.h", "VERSION 1", "VERSION 2")(project)
    replace("alt/base.h", "BASE 10", "BASE 30")(project)


def touch(project: Project) -> None:
    """Give a source a new time alone."""
    (project.root / "kernels/add.cc").touch()


def into_the_past(project: Project) -> None:
    """Give a source a time before everything, as after a step of the clock."""
    replace("kernels/add.cc", "version_of_add", "version_no_of_add")(project)
    os.utime(project.root / "kernels/add.cc", (1, 1))


def into_the_future(project: Project) -> None:
    """Give a source a time after everything."""
    replace("kernels/add.cc", "x[i] + 1", "1 + x[i]")(project)
    os.utime(project.root / "kernels/add.cc", (1, 4_000_000_000))


def new_or_gone(name: str, text: str) -> Callable[[Project], None]:
    """Return the edit that adds a file, or removes it where it is there."""

    def edit(project: Project) -> None:
        path = project.root / name
        if path.exists():
            path.unlink()
        else:
            project.write(name, text)

    return edit


def delete(name: str) -> Callable[[Project], None]:
    """Return the edit that removes an output."""
    return lambda project: (project.root / name).unlink(missing_ok=True)


def truncate(name: str) -> Callable[[Project], None]:
    """Return the edit that leaves nothing of an output."""

    def edit(project: Project) -> None:
        (project.root / name).write_bytes(b"")

    return edit


def forget_headers(project: Project) -> None:
    """Remove the records of what compilers read."""
    for file in project.root.glob("build/host/objects/*.reads.json"):
        file.unlink()


def other_compiler(project: Project) -> None:
    """Name the other wrapper."""
    now = project.variables["CXX"]
    project.variables["CXX"] = now.replace("/a/", "/b/") if "/a/" in now else now.replace("/b/", "/a/")


def other_flavour(project: Project) -> None:
    """Give another value to the variable that a module of the recipe asks for."""
    project.variables["FLAVOUR"] = str(1 - int(project.variables.get("FLAVOUR", "0")))


def new_tool_bytes(project: Project) -> None:
    """Change the compiler itself."""
    file = project.variables["CXX"]
    name = "a" if "/a/" in file else "b"
    project.write(f"tools/{name}/cxx", project.read(f"tools/{name}/cxx") + "# upgraded\n")


def came_and_went(*names: str) -> Callable[[Project], None]:
    """Return the edit that leaves the same names in some folders that had others meanwhile, as an editor does."""

    def edit(project: Project) -> None:
        for name in names:
            project.write(name, "meanwhile\n")
            (project.root / name).unlink()

    return edit


def header_moved(project: Project) -> None:
    """Move a header from one include folder to another."""
    names = ("alt/base.h", "inc/base.h")
    here, there = names if (project.root / names[0]).exists() else reversed(names)
    (project.root / here).rename(project.root / there)


SHADOW = "{% macro text() %}shadow{% endmacro %}\n"
NOTICED: dict[str, Callable[[Project], None]] = {
    "a header edited": replace("alt/add.h", "VERSION 1", "VERSION 2"),
    "a header edited, same size and time": same_size_and_time,
    "a header replaced, same size and time": same_size_and_time_by_renaming,
    "two edits within one second": two_edits_at_once,
    "a header moved to another folder": header_moved,
    "a kernel touched": touch,
    "a kernel from the past": into_the_past,
    "a kernel from the future": into_the_future,
    "a kernel for this arch alone": new_or_gone("kernels/host/add.cc", KERNEL + "int mine;\n"),
    "a header that hides another": new_or_gone("inc/add.h", "#define VERSION 50\n"),
    "a header beside the kernel": new_or_gone("kernels/add.h", "#define VERSION 60\n"),
    "a template edited": replace("designs/one/one.mlir.j2", "// {{", "//  {{"),
    "a macro edited": replace("templates/note.mlir.j2", "note 1", "note 2"),
    "a macro that hides another": new_or_gone("designs/one/note.mlir.j2", SHADOW),
    "the check edited": replace("designs/one/check.py", "X + 1", "1 + X"),
    "a module of the check edited": replace("designs/one/helper.py", "VALUE = 1", "VALUE = 2"),
    "a module that hides another": new_or_gone("designs/one/helper/__init__.py", "VALUE = 3\n"),
    "data edited": replace("designs/one/data.txt", "5", "6"),
    "the contract edited": replace("designs/one/design.yaml", "a design of", "one design of"),
    "the recipe edited": replace("designs/one/SConscript", '"#inc", "#alt"', '"#alt", "#inc"'),
    "a module of the recipe edited": replace("site_scons/shared.py", "-O1", "-O2"),
    "SConstruct edited": replace("SConstruct", "Every design", "Each design"),
    "an output deleted": delete(f"{OUTPUT}/one.kernels.zip"),
    "the last output deleted": delete(f"{OUTPUT}/check.json"),
    "an output truncated": truncate(f"{OUTPUT}/one.cores.py"),
    "an output edited": replace(f"{OUTPUT}/one.mlir", "note", "NOTE"),
    "another compiler": other_compiler,
    "a variable of the recipe": other_flavour,
    "the compiler's bytes": new_tool_bytes,
}
"""Edits after which SCons has to be asked, whatever it then says."""

NOT_MINDED: dict[str, Callable[[Project], None]] = {
    "a variable that means nothing": lambda project: project.variables.update(IRRELEVANT=str(len(project.variables))),
    "a file that nobody reads": new_or_gone("docs/notes.md", "notes\n"),
    "a kernel that nobody uses": new_or_gone("docs/unused.cc", "int unused;\n"),
    "another design": new_or_gone("designs/draft/notes.txt", "draft\n"),
    "files that came and went": came_and_went("inc/add.h", ".swap", "designs/one/note.mlir.j2", "helper.py"),
    "what tells of the last run": new_or_gone(f"{OUTPUT}/last-run.json", "{}"),
}
"""Edits after which nothing is to be done, and SCons need not be asked."""
