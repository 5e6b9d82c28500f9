"""Verbs that answer and build nothing; each ends the run, but for SCons's own help."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import SCons.Script

from aiebuild import answers, new
from aiebuild.answer_file import write_answer
from aiebuild.scons import report

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiebuild.scons.project import Project


def help_with_designs(project: Project) -> None:
    """Add the parameters of the designs that are named to what `scons -h` says."""
    names = project.names()
    for name in names if project.request.several("design") else ():
        SCons.Script.Help("\n" + answers.describe(project.contract(name), _asked(project)), append=True)


def write_new(project: Project) -> None:
    """Write new designs; under `-n` they are only told of."""
    for design in new.asked(project.request, project.root):
        if not SCons.Script.GetOption("no_exec"):
            design.write(project.root)
        report.note(design.said)
    SCons.Script.Exit(0)


def tell_designs(project: Project) -> None:
    """List or describe designs."""
    contracts = [project.contract(name) for name in project.names()]
    target, verbs = project.request.get("json"), project.request.verbs
    if target:
        write_answer(target, answers.as_json(verbs, contracts, _asked(project)))
    else:
        report.note(answers.answer(verbs, contracts, _asked(project)))
    SCons.Script.Exit(0)


def tell_tools(project: Project) -> None:
    """Say where each tool was found."""
    from aiebuild.toolchains.doctor import inspect  # noqa: PLC0415 - the other verbs do not need it

    found = inspect(project.session.places, project.request.get("aiecc_dialect"))
    target = project.request.get("json")
    if target:
        write_answer(target, json.dumps(found.to_json(), indent=1) + "\n")
    else:
        report.note(found.text())
    SCons.Script.Exit(0)


def tell_of_steps(project: Project) -> None:
    """Answer what needs the steps of the recipes."""
    from aiebuild.scons import planning  # noqa: PLC0415 - the other verbs do not need it

    planned = {"explain": planning.explain, "graph": planning.graph, "ide": planning.ide}
    verb = next(verb for verb in project.request.verbs if verb in planned)
    SCons.Script.Exit(planned[verb](project, project.names()))


def _asked(project: Project) -> answers.Asked:
    return answers.Asked.of(project.request, project.root)


ANSWERS: dict[str, Callable[[Project], None]] = {
    "help": help_with_designs,
    "new": write_new,
    "list": tell_designs,
    "describe": tell_designs,
    "doctor": tell_tools,
    "explain": tell_of_steps,
    "graph": tell_of_steps,
    "ide": tell_of_steps,
}
