"""A new design from a template: files that build and check as they are, and a project around them where there is none.

A template is a folder of `data/new`, laid out as a project; `NAME` stands for the design in names and in texts.
"""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import Location, OptionError, did_you_mean
from aiebuild.files import write_atomically
from aiebuild.options import RESERVED, TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiebuild.options import Request

DATA = Path(__file__).with_name("data") / "new"
DEFAULT = "elementwise"
SCRIPT = "SConstruct"
PROJECT = {SCRIPT: SCRIPT, ".gitignore": "gitignore"}
"""What makes a folder a project, by the files of `data/new/project`; each only where it is not there."""
OWN = ("designs", "kernels", "templates")
"""Folders of a project that hold its own files, and no other projects."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_PLACEHOLDER = "NAME"


@dataclass(frozen=True)
class New:
    """A design that is to be written: the texts of its files and of those that make a folder a project, by path."""

    name: str
    template: str
    files: Mapping[str, str]
    project: Mapping[str, str]

    def write(self, root: Path) -> None:
        """Write all files."""
        for path, text in (*self.project.items(), *self.files.items()):
            write_atomically(root / path, text)

    @property
    def said(self) -> str:
        """What is said of it."""
        lines = [f"{self.name}: a design from the template {self.template}"]
        lines += [f"  {path}" for path in (*self.project, *self.files)]
        lines.append(f"scons design={self.name} builds and checks it; scons describe design={self.name} tells of it")
        return "\n".join(lines)


def asked(request: Request, root: Path) -> list[New]:
    """Return the designs that a command line asks for.

    Raises:
        OptionError: a word is wrong, a name cannot be a design's, or a file is there already.
    """
    if request.verbs != ("new",) or request.targets:
        others = [*(verb for verb in request.verbs if verb != "new"), *request.targets]
        raise OptionError("new stands alone", hint=f"{' '.join(others)}: in a command of its own, once it is written")
    names = request.several("design")
    if not names:
        raise OptionError("new needs a name", hint="new design=NAME [template=...]")
    around = project_around(root)
    if around:
        hint = f"cd {around}; an SConstruct of its own would make this folder a project"
        raise OptionError(f"this folder is within the project in {around}", hint=hint)
    template = request.get("template") or DEFAULT
    for name in request.parameters:
        choices = ("design", "template")
        raise OptionError(f"{name}= means nothing for a new design", hint=did_you_mean(name, choices))
    return [plan(name, template, root) for name in names]


def plan(name: str, template: str, root: Path) -> New:
    """Return a design as it would be written into a folder.

    Raises:
        OptionError: the name cannot be a design's, there is no such template, or a file is there already.
    """
    _refuse_name(name)
    if template not in TEMPLATES:
        raise OptionError(f"there is no template {template!r}", hint=did_you_mean(template, TEMPLATES))
    top = DATA / template
    texts = {path.relative_to(top).as_posix(): path.read_text(encoding="utf-8") for path in _files(top)}
    files = {path.replace(_PLACEHOLDER, name): text.replace(_PLACEHOLDER, name) for path, text in texts.items()}
    for path in sorted(files):
        _refuse_place(root, path)
        if (root / path).exists() or (root / path).is_symlink():
            raise OptionError("this file is there already", Location(path), "nothing was written; choose another name")
    project = {
        path: (DATA / "project" / source).read_text(encoding="utf-8")
        for path, source in PROJECT.items()
        if not (root / path).exists()
    }
    return New(name, template, dict(sorted(files.items())), project if SCRIPT in project else {})


def project_around(folder: Path) -> str:
    """Return the way to the project whose designs or kernels a folder is among; empty where it is a project itself."""
    if (folder / SCRIPT).is_file():
        return ""
    inside = folder.resolve()
    for steps, above in enumerate(inside.parents, 1):
        is_project = (above / SCRIPT).is_file() and (above / "designs").is_dir()
        if is_project and inside.relative_to(above).parts[0] in OWN:
            return "/".join([".."] * steps)
    return ""


def note_on(root: Path) -> str:
    """Return what somebody has to know whose project has a script of its own; empty for one of ours."""
    script = root / SCRIPT
    if not script.is_file() or "aiebuild" in script.read_text(encoding="utf-8", errors="replace"):
        return ""
    return f'the {SCRIPT} here does not use aiebuild; docs/how-it-works.md: env.AieConfiguration("designs/...")'


def _files(top: Path) -> list[Path]:
    return sorted(path for path in top.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _refuse_place(root: Path, path: str) -> None:
    """Refuse a path that goes through something that is no folder."""
    for above in Path(path).parents:
        if (root / above).exists() and not (root / above).is_dir():
            raise OptionError("this is a file, and the design would go below it", Location(str(above)), "move it away")


def _refuse_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        fitting = re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")[:40]
        better = f", such as {fitting}" if _NAME.fullmatch(fitting) else ""
        hint = f"small letters, digits and underscores, a letter first, 40 at most{better}"
        raise OptionError(f"{name!r} cannot be the name of a design", hint=hint)
    if name in RESERVED or keyword.iskeyword(name):
        raise OptionError(f"{name!r} cannot be the name of a design: the word has a meaning", hint="take another one")
