"""Answers that need the steps of recipes, and run none of them: `explain`, `graph` and `ide`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import SCons.Util

from aiebuild.answer_file import write_answer
from aiebuild.files import write_atomically
from aiebuild.scons import report

if TYPE_CHECKING:
    from aiebuild.scons.project import Project


def explain(project: Project, names: tuple[str, ...]) -> int:
    """Say which steps would run, and why; return the exit status."""
    from aiebuild.scons import explain as explaining  # noqa: PLC0415 - each of these verbs loads its own

    _read(project, names)
    session = project.session
    found = [(design, explaining.explain(design, session)) for design in session.designs]
    target = project.request.get("json")
    if target:
        write_answer(target, explaining.as_json(found, session))
    else:
        report.note("\n".join(explaining.as_text(*one, session) for one in found))
    return 0


def graph(project: Project, names: tuple[str, ...]) -> int:
    """Write the graph: as JSON to the file that was named, else in the form that was asked for beside the build."""
    from aiebuild.graphs import write  # noqa: PLC0415 - each of these verbs loads its own
    from aiebuild.scons import graph as drawing  # noqa: PLC0415 - the same

    named, form = project.request.get("json"), project.request.get("format") or write.DEFAULT
    write.require_form(form)
    _read(project, names)
    title = f"{names[0] if len(names) == 1 else 'designs'}.{'.'.join(project.arches())}"
    found = drawing.graph(project.session, title)
    target = named or f"{project.session.build_dir}/graph/{title}{write.SUFFIXES[form]}"
    if project.writes:
        (write_answer if named else write_atomically)(target, write.written(found, "json" if named else form))
    if not named:
        report.note(f"{title}: {len(found.nodes)} nodes, {len(found.edges)} edges, in {target}")
    return 0


def _read(project: Project, names: tuple[str, ...]) -> None:
    project.read_recipes(names)
    # SCons itself takes these over only after all recipes are read.
    SCons.Util.set_hash_format("sha256")
    project.env.fs.set_max_drift(-1)


def ide(project: Project, names: tuple[str, ...]) -> int:
    """Write the files of editors; a design that is wrong is left out, and said."""
    from aiebuild.ide.tasks import arches  # noqa: PLC0415 - each of these verbs loads its own
    from aiebuild.scons.ide import Writer  # noqa: PLC0415 - the same

    writer = Writer(project.session, writes=project.writes)
    contracts = []
    for name in project.contracts:
        with writer.leaving_out(name):
            contracts.append(project.contract(name))
    asked = project.request
    others = dataclasses.replace(asked, parameters={}, options={**asked.options, "variant": "", "device": ""})
    for known in contracts:
        # What is said of one design is no matter of the other ones, which are in the database all the same.
        project.request = asked if known.name in names else others
        for arch in project.arches():
            if arch in arches(known):
                with writer.leaving_out(known.name):
                    project.read_recipe_of(known.name, arch)
    writer.write(contracts, project.arches())
    report.note("\n".join(writer.said))
    for note in writer.notes:
        project.session.warn(note)
    for error in writer.errors:
        report.tell_error(error)
    return 2 if writer.errors else 0
