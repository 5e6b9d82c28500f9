"""Where the tools of the NPU toolchain are: for each one its own list of places, in order.

The tools are spread over two wheels (`llvm-aie`: Peano; `mlir_aie`: aiecc, llvm-objcopy, headers), an installation
made from source, and Vitis. LLVM's own tools are never taken from PATH: a host LLVM has the same names and cannot
compile for the array. A place that was named and is not there is an error, never passed over.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import ToolchainError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aiebuild.environment import Environment
    from aiebuild.errors import Location

SUFFIXES = ("", ".exe", ".cmd")
"""How a program's file name may end; the latter two are Windows's."""


@dataclass(frozen=True)
class Root:
    """An installation that holds several tools.

    Args:
        name: what people call it.
        option: the explicit option that names its folder.
        variables: environment variables that name its folder; the first that is set counts, and all must exist.
        wheels: names of its folder in `site-packages`.
        advice: how to get it.
    """

    name: str
    option: str
    variables: tuple[str, ...]
    wheels: tuple[str, ...]
    advice: str


PEANO = Root(
    "Peano",
    "peano_dir",
    ("PEANO_INSTALL_DIR",),
    ("llvm-aie",),
    "install the llvm-aie wheel (https://github.com/Xilinx/llvm-aie/releases, nightly) into this Python's environment, "
    "or set PEANO_INSTALL_DIR to its folder (the one that has bin/clang++)",
)
MLIR_AIE = Root(
    "mlir-aie",
    "mlir_aie_dir",
    ("MLIR_AIE_INSTALL_DIR", "MLIR_AIE_DIR"),
    ("mlir_aie",),
    "install the mlir_aie wheel (https://github.com/Xilinx/mlir-aie/releases) into this Python's environment, "
    "or set MLIR_AIE_INSTALL_DIR to its folder (the one that has bin/aiecc)",
)
AIETOOLS = Root(
    "Vitis AIE tools",
    "aietools_dir",
    ("AIETOOLS_ROOT", "AIETOOLS_DIR"),
    (),
    "install Vitis with its AIE tools and set AIETOOLS_ROOT to the folder that has bin/xchesscc",
)
ROOTS = (PEANO, MLIR_AIE, AIETOOLS)


@dataclass(frozen=True)
class Tool:
    """Something that is looked for.

    Args:
        name: the key that it is asked for by.
        purpose: what it is needed for, for the report.
        roots: installations that may have it, in order.
        paths: where it is below an installation, in order; `{name}` of a program has the suffixes of `SUFFIXES`.
        option: the explicit option that names it itself.
        variables: environment variables that name it itself.
        on_path: whether it may come from PATH, last of all.
        is_folder: whether it is a folder rather than a program.
        advice: how to get it, where that is not its first installation's.
    """

    name: str
    purpose: str
    roots: tuple[Root, ...] = ()
    paths: tuple[str, ...] = ()
    option: str = ""
    variables: tuple[str, ...] = ()
    on_path: bool = False
    is_folder: bool = False
    advice: str = ""

    @property
    def hint(self) -> str:
        """How to get it."""
        return self.advice or self.roots[0].advice


XRT = "it comes with XRT (https://github.com/Xilinx/XRT); put it on PATH, or set AIE_XCLBINUTIL to it"
TOOLS = (
    Tool("clang++", "compiles kernels with Peano", (PEANO,), ("bin/clang++",)),
    Tool("llvm-ar", "makes archives", (PEANO, MLIR_AIE), ("bin/llvm-ar",)),
    Tool("llvm-nm", "lists the symbols of objects", (PEANO, MLIR_AIE), ("bin/llvm-nm",)),
    Tool("llvm-objcopy", "renames symbols (symbol_prefix)", (MLIR_AIE, PEANO), ("bin/llvm-objcopy",)),
    Tool("ld.lld", "links the cores, started by aiecc", (PEANO,), ("bin/ld.lld",)),
    Tool(
        "aiecc",
        "makes xclbins, insts and the like",
        (MLIR_AIE,),
        ("bin/aiecc", "bin/aiecc.py"),
        option="aiecc",
        variables=("AIECC_PATH",),
        on_path=True,
    ),
    Tool("aie-opt", "verifies MLIR before aiecc (optional)", (MLIR_AIE,), ("bin/aie-opt",), on_path=True),
    Tool(
        "xclbinutil",
        "makes xclbins, started by aiecc",
        (MLIR_AIE,),
        ("bin/xclbinutil",),
        option="xclbinutil",
        variables=("AIE_XCLBINUTIL",),
        on_path=True,
        advice=XRT,
    ),
    Tool(
        "bootgen",
        "makes PDIs, started by aiecc (optional: recent ones have it built in)",
        (MLIR_AIE,),
        ("bin/bootgen",),
        on_path=True,
    ),
    Tool("xchesscc_wrapper", "compiles kernels with Chess", (MLIR_AIE,), ("bin/xchesscc_wrapper",), on_path=True),
    Tool("aietools", "Chess itself", (AIETOOLS,), (".",), is_folder=True),
    Tool("aie_api", "headers of the AIE API", (MLIR_AIE, PEANO), ("include/aie_api",), is_folder=True),
    Tool("aie_kernels", "kernels that mlir-aie ships", (MLIR_AIE,), ("include/aie_kernels",), is_folder=True),
    Tool("aie_runtime_lib", "tables and startup code", (MLIR_AIE,), ("aie_runtime_lib",), is_folder=True),
    Tool("mlir_aie_python", "Python bindings, for generators", (MLIR_AIE,), ("python",), is_folder=True),
)
BY_NAME = {tool.name: tool for tool in TOOLS}


@dataclass(frozen=True)
class Found:
    """A tool: its absolute path, and which entry of its list it was found by."""

    path: str
    how: str


@dataclass(frozen=True)
class Missing:
    """A tool that is nowhere: every place that was tried, in order, and how to get it."""

    name: str
    tried: tuple[str, ...]
    hint: str

    @property
    def error(self) -> ToolchainError:
        """The error of a step that cannot do without it."""
        return ToolchainError(f"{self.name} is not installed; tried: {'; '.join(self.tried)}", hint=self.hint)


@dataclass(frozen=True)
class Places:
    """Everything that decides where tools are found.

    Args:
        environment: the snapshot of the process's variables; `PATH` and `VIRTUAL_ENV` are read from it too.
        search_path: the running Python's `sys.path`.
        interpreter: the running Python itself.
        options: what was named explicitly, by the names of the options above.
    """

    environment: Environment
    search_path: tuple[str, ...] = ()
    interpreter: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


Entry = tuple[str, Path]
"""A place to look at: how it is said to people, and the path."""


def find(name: str, places: Places) -> Found | Missing:
    """Return where a tool is, or where it was looked for in vain.

    Args:
        name: a name in `TOOLS`.
        places: what decides.

    Raises:
        ToolchainError: an option or variable names a place that does not exist, or an installation that was named
            has not got its main program.
    """
    tool = BY_NAME[name]
    tried: list[str] = []
    for how, path in _entries(tool, places):
        found = _existing(path, tool)
        if found is not None:
            return Found(str(found), how)
        tried.append(f"{how} ({path})")
    if tool.on_path:
        on_path = _on_path(tool, places)
        if on_path is not None:
            return Found(on_path, "PATH")
        tried.append("PATH")
    tried += [f"{variable} (not set)" for variable in _unset(tool, places)]
    return Missing(tool.name, tuple(tried), tool.hint)


def require(name: str, places: Places, where: Location | None = None) -> str:
    """Return the path of a tool.

    Raises:
        ToolchainError: it is nowhere (with all places that were tried), or what `find` raises.
    """
    found = find(name, places)
    if isinstance(found, Found):
        return found.path
    error = found.error
    error.where = where
    raise error


def find_root(root: Root, places: Places) -> Found | Missing:
    """Return the folder of an installation.

    Raises:
        ToolchainError: an option or variable names a folder that does not exist.
    """
    entries = list(_folders(root, places))
    for how, path in entries:
        if path.is_dir():
            return Found(str(path), how)
    tried = [f"{how} ({path})" for how, path in entries] + [f"{variable} (not set)" for variable in root.variables]
    return Missing(root.name, tuple(tried), root.advice)


def _entries(tool: Tool, places: Places) -> Iterator[Entry]:
    """Yield the places of a tool, in order, up to PATH."""
    for how, path in _named(tool.option, tool.variables, places):
        yield how, path
        raise ToolchainError(f"{how} is a folder, not a program", hint=f"it names {tool.name} itself")
    for root in tool.roots:
        for how, folder in _folders(root, places):
            yield from ((how, folder / path) for path in tool.paths)
            _insist(tool, root, how)


def _insist(tool: Tool, root: Root, how: str) -> None:
    """Refuse to look further where the installation that was named lacks the very program that it is named for."""
    named = how.startswith((f"{root.option}=", *(f"{variable}=" for variable in root.variables)))
    if named and (root, tool.name) in ((PEANO, "clang++"), (MLIR_AIE, "aiecc")):
        paths = " or ".join(tool.paths)
        raise ToolchainError(f"{how} has no {paths}", hint="it names the folder that holds bin/")


def _named(option: str, variables: tuple[str, ...], places: Places) -> Iterator[Entry]:
    """Yield the places that an option and variables name.

    Raises:
        ToolchainError: one of them does not exist.
    """
    said = [(option, places.options.get(option, ""))] if option else []
    said += [(variable, places.environment.get(variable)) for variable in variables]
    given = [(name, value) for name, value in said if value]
    for name, value in given:
        if not Path(value).exists():
            raise ToolchainError(
                f"{name}={value} does not exist", hint=f"mend {name}, or unset it to have aiebuild look"
            )
    yield from ((f"{name}={value}", Path(value).absolute()) for name, value in given)


def _folders(root: Root, places: Places) -> Iterator[Entry]:
    """Yield the folders that may be an installation, in order; those of wheels need not exist."""
    yield from _named(root.option, root.variables, places)
    for how, packages in _site_packages(places):
        yield from ((f"wheel in {how}", packages / wheel) for wheel in root.wheels)


def _site_packages(places: Places) -> Iterator[Entry]:
    """Yield the folders of installed packages: the running Python's, then the active virtual environment's."""
    seen: set[Path] = set()
    for folder in places.search_path:
        path = Path(folder)
        if path.name in {"site-packages", "dist-packages"} and path not in seen:
            seen.add(path)
            yield "this Python", path
    active = places.environment.get("VIRTUAL_ENV")
    if not active:
        return
    found = [*sorted(Path(active).glob("lib/python*/site-packages")), Path(active) / "Lib" / "site-packages"]
    yield from (("VIRTUAL_ENV", path) for path in found if path not in seen and path.is_dir())


def _existing(path: Path, tool: Tool) -> Path | None:
    """Return a path as it is on this system; the symbolic links in it are left alone, since tools look beside them."""
    if tool.is_folder:
        return path if path.is_dir() else None
    candidates = (path.with_name(path.name + suffix) for suffix in SUFFIXES)
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _on_path(tool: Tool, places: Places) -> str | None:
    names = [Path(path).name for path in tool.paths]
    path = places.environment.get("PATH")
    found = (shutil.which(name, path=path) for name in names) if path else iter(())
    return next((str(Path(item).absolute()) for item in found if item is not None), None)


def _unset(tool: Tool, places: Places) -> list[str]:
    names = [*tool.variables, *(name for root in tool.roots for name in root.variables)]
    return [name for name in names if not places.environment.get(name)]


def python_interpreter(places: Places) -> Found:
    """Return the Python that has mlir-aie's bindings: of the environment that holds the wheel, else the running one.

    Raises:
        ToolchainError: what `find_root` raises.
    """
    running = Found(places.interpreter, "the running Python")
    root = find_root(MLIR_AIE, places)
    if isinstance(root, Missing) or Path(root.path).parent in {Path(folder) for folder in places.search_path}:
        return running
    prefix = _prefix(Path(root.path))
    names = ("bin/python3", "bin/python", "Scripts/python.exe")
    found = next((prefix / name for name in names if (prefix / name).is_file()), None) if prefix else None
    return running if found is None else Found(str(found), f"the environment of {root.how}")


def _prefix(root: Path) -> Path | None:
    """Return the environment in whose `site-packages` an installation is."""
    found = re.match(r"(.*)/(?:lib/python[\d.]+|Lib)/(?:site|dist)-packages/", root.as_posix() + "/")
    return Path(found[1]) if found is not None else None
