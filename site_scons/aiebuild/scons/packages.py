"""Planning what the verbs `package` and `install` ask for: nodes from the configurations of a design."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import SCons.Node

from aiebuild.errors import OptionError
from aiebuild.files import in_the_way
from aiebuild.flow_package import FOLDER, package_of
from aiebuild.options import FORMATS
from aiebuild.scons.builders import add_planned
from aiebuild.scons.closure import walk
from aiebuild.scons.session import project_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiebuild.flow import DesignPlan
    from aiebuild.options import Request
    from aiebuild.scons.words import DesignNodes

LICENCES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "LICENCE.txt", "LICENCE.md", "COPYING", "COPYING.txt")
"""Names under which projects keep their licence, the usual one first."""

PACKAGE, INSTALL = "package", "install"


def licence_of(folder: str, root: Path) -> str:
    """Return the licence of a design: the file beside its recipe, else that of the project.

    Raises:
        OptionError: there is none.
    """
    for place in (root / folder, root):
        for name in LICENCES:
            if (place / name).is_file():
                return project_path(place / name, root)
    hint = f"write LICENSE in the project's folder, or in {folder}: what others may do with the package"
    raise OptionError("there is no licence to put into the package", hint=hint)


def plan_packages(
    env: Any, request: Request, planned: Mapping[str, list[DesignNodes]], runs: Mapping[str, list[DesignNodes]]
) -> list[Any]:
    """Return the nodes that the request's verbs ask for, of one contract's designs.

    Args:
        env: an environment with the session.
        request: the command line.
        planned: the designs of the recipe, by arch.
        runs: by arch, the same designs on the host with the same device, mode and parameters.

    Raises:
        OptionError: `install` has no prefix, or there is no licence.
        RecipeError: a design has no check.
    """
    session = env["AIE_SESSION"]
    if PACKAGE in request.verbs and (session.root / FOLDER).exists() and not (session.root / FOLDER).is_dir():
        raise OptionError(f"{FOLDER} is a file, and packages go into a folder of that name", hint="move it away")
    tool = session.python(PACKAGE)
    nodes = []
    for position in range(min(map(len, planned.values()))):
        plans = {arch: _plan(made[position]) for arch, made in planned.items()}
        licence = licence_of(next(iter(plans.values())).folder, session.root)
        package = package_of(plans, {arch: _plan(made[position]) for arch, made in runs.items()}, licence)
        if PACKAGE in request.verbs:
            made = add_planned(env, package.plan(tool, request.get("format") or FORMATS[0]))
            session.packages += made
            nodes += made
        if INSTALL in request.verbs:
            prefix = _prefix(request, session.root)
            nodes += add_planned(env, package.plan_install(tool, prefix, session.build_dir))
            session.installed.append(f"{prefix}/{package.name}")
    return nodes


def _plan(nodes: DesignNodes) -> DesignPlan:
    assert nodes.plan is not None, "the word Design plans what it returns"
    return nodes.plan


def _prefix(request: Request, root: Path) -> str:
    prefix = request.get("prefix")
    if not prefix:
        raise OptionError("install needs a folder", hint="scons install design=NAME prefix=DIR")
    file = in_the_way(root / prefix)
    if file is not None:
        name = project_path(file, root)
        raise OptionError(f"prefix={prefix} cannot be a folder: {name} is a file", hint="another folder: prefix=DIR")
    return prefix.rstrip("/") or "/"


def withdraw(session: Any) -> list[str]:
    """Remove packages of an earlier state of a design whose build has failed now; return their names.

    Those that a failure keeps SCons from looking at stay: nothing that they are made of has failed.
    """
    removed = []
    for node in session.packages:
        path = Path(str(node.get_abspath()))
        if path.is_file() and any(each.get_state() == SCons.Node.failed for each in walk([node])):
            path.unlink()
            removed.append(project_path(path, session.root))
    return removed
