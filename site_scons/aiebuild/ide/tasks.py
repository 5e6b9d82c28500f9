"""`.vscode/tasks.json`: a task for each design and arch, the default build task, checks and packages.

The form is VS Code's schema 2.0.0 of tasks.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from aiebuild import devices, options
from aiebuild.ide import jsonc, marked, problems
from aiebuild.ide.jsonc import JsoncError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiebuild.contract import Contract
    from aiebuild.ide.jsonc import Document, Value

FILE = ".vscode/tasks.json"
VERSION = "2.0.0"
EMPTY = '{\n  "version": "2.0.0",\n  "tasks": []\n}\n'

Task = dict[str, Any]


def arches(contract: Contract) -> tuple[str, ...]:
    """Return what a design can be built for: the host, and the arch of each of its devices."""
    own = {devices.find(name).arch for name in contract.devices}
    return tuple(arch for arch in options.ARCHES if arch == "host" or arch in own)


def tasks(contracts: Sequence[Contract], command: tuple[str, ...]) -> list[Task]:
    """Return the tasks of a project; `command` is what starts SCons."""
    found = [
        _task("build all", command, (), {"kind": "build", "isDefault": True}),
        _task("check all", command, ("check",), {"kind": "test", "isDefault": True}),
    ]
    verbs = {verb.name for verb in options.VERBS}
    for contract in contracts:
        found += _of_design(contract, command, packages="package" in verbs)
    return found


def _of_design(contract: Contract, command: tuple[str, ...], *, packages: bool) -> Iterator[Task]:
    name = contract.name
    for arch in arches(contract):
        yield _task(f"build {name} ({arch})", command, (f"design={name}", f"arch={arch}"), "build")
    yield _task(f"check {name}", command, ("check", f"design={name}"), "test")
    for arch in arches(contract) if packages else ():
        yield _task(f"package {name} ({arch})", command, ("package", f"design={name}", f"arch={arch}"), "none")


def _task(label: str, command: tuple[str, ...], words: tuple[str, ...], group: object) -> Task:
    return {
        "label": f"aiebuild: {label}",
        "type": "process",
        "command": command[0],
        # Plain lines: a status line that is drawn over and over is nothing to search for problems.
        "args": [*command[1:], "--no-progress", *words],
        "options": {"cwd": "${workspaceFolder}"},
        **({} if group == "none" else {"group": group}),
        "problemMatcher": problems.matchers(),
    }


def merge(text: str, wanted: list[Task], file: str = FILE) -> tuple[str, list[str]]:
    """Return the text of `tasks.json` with our tasks, and notes on what of ours gives way to the user's own.

    Raises:
        JsoncError: the text is not JSON with comments, or not of this form.
    """
    document = _with_list(text, file)
    root = marked.root(document, file)
    version = root.get("version")
    if version is not None and version.plain() != VERSION:
        where = jsonc.location(document.text, version.start, file)
        raise JsoncError(f"the version of these tasks is not {VERSION}", where, "VS Code can convert old tasks")
    found = _list(root, document, file)
    own = [member.value.plain() for member in marked.others(document, found, file)]
    kept, notes = _giving_way(wanted, [task for task in own if isinstance(task, dict)], file)
    return marked.put(document, found, [_written(task) for task in kept], file), notes


def _with_list(text: str, file: str) -> Document:
    """Return the document with a version and a list of tasks, which are added where they are missing."""
    document = marked.opened(text, EMPTY, file)
    for key, value in (("version", f'"{VERSION}"'), ("tasks", "[]")):
        root = marked.root(document, file)
        if root.get(key) is None:
            document = jsonc.read(marked.add(document, root, f'"{key}": {value}'), file)
    return document


def _list(root: Value, document: Document, file: str) -> Value:
    found = root.get("tasks")
    if found is None or found.kind != "array":
        at = found.start if found else 0
        raise JsoncError("`tasks` is not a list", jsonc.location(document.text, at, file), '"tasks": [...]')
    return found


def _giving_way(wanted: list[Task], own: list[Task], file: str) -> tuple[list[Task], list[str]]:
    """Leave out tasks whose labels the user has, and do not be the default where the user's own task is."""
    labels = {task.get("label") for task in own}
    defaults = {
        group.get("kind") for task in own if isinstance(group := task.get("group"), dict) and _is_default(group)
    }
    kept = [
        {**task, "group": task["group"]["kind"]}
        if isinstance(task.get("group"), dict) and task["group"]["kind"] in defaults
        else task
        for task in wanted
        if task["label"] not in labels
    ]
    taken = [task["label"] for task in wanted if task["label"] in labels]
    return kept, [f"{file}: your own task {label!r} is kept in place of ours" for label in taken]


def _is_default(group: dict[str, Any]) -> bool:
    return bool(group.get("isDefault"))


def _written(task: Task) -> str:
    """Return a task as JSON, a line for each member and each problem matcher."""
    lines = [f'  "{key}": {json.dumps(value)}' for key, value in task.items() if key != "problemMatcher"]
    matchers = ",\n".join(f"    {json.dumps(each)}" for each in task["problemMatcher"])
    return "{\n" + ",\n".join([*lines, f'  "problemMatcher": [\n{matchers}\n  ]']) + "\n}"
