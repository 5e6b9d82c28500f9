"""`scons explain`: which steps would run, and why, in the user's words. Nothing is run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiebuild.scons.chains import Chains
from aiebuild.scons.closure import step_of
from aiebuild.scons.reasons import Reason, reasons

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiebuild.scons.session import Session
    from aiebuild.scons.words import DesignNodes
    from aiebuild.step import Step

FORM = 1


@dataclass(frozen=True)
class Explained:
    """A step that would run, with its reasons, or that may run after steps before it, where there are none."""

    step: Step
    why: tuple[Reason, ...]
    after: tuple[str, ...]

    @property
    def label(self) -> str:
        """The step as it is shown when it runs."""
        return " ".join(self.step.label.split())


def explain(design: DesignNodes, session: Session) -> list[Explained]:
    """Return the steps of a design that would run or may run, each after those that it waits for."""
    return _Walk(session).of(design.all)


class _Walk:
    """Goes through a graph from its sources on."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._seen: set[Any] = set()
        self._pending: dict[Any, str] = {}
        self._found: dict[str, Explained] = {}

    def of(self, nodes: Iterable[Any]) -> list[Explained]:
        for node in nodes:
            self._visit(node)
        return list(self._found.values())

    def _visit(self, node: Any) -> None:
        if node in self._seen or not node.has_builder():
            return
        self._seen.add(node)
        for child in node.children():
            self._visit(child)
        step = step_of(node)
        if step is None or step.outputs[0] in self._found:
            return
        for target in node.get_executor().get_all_targets():
            for child in target.children():
                self._visit(child)
        self._judge(node, step)

    def _judge(self, node: Any, step: Step) -> None:
        targets = node.get_executor().get_all_targets()
        why = tuple(reasons(node, self._session, self._pending))
        after = {
            self._pending[child]: None for target in targets for child in target.children() if child in self._pending
        }
        if why or after:
            found = self._found[step.outputs[0]] = Explained(step, why, tuple(after))
            self._pending.update(dict.fromkeys(targets, found.label))


def as_text(design: DesignNodes, found: list[Explained], session: Session) -> str:
    """Return what people read of one design's configuration."""
    if not found:
        return f"{design.name}: nothing to do, {design.output} is up to date"
    chains = Chains(design, session)
    sure = [one for one in found if one.why]
    lines = [f"{design.name}: {_count(len(sure))} would run, {len(found) - len(sure)} more may, in {design.output}"]
    for one in sure:
        lines += _reasons(one, chains)
    lines += [chains.plain(f"  may run, after {', '.join(one.after)}: {one.label}") for one in found if not one.why]
    return "\n".join(lines)


def _count(steps: int) -> str:
    return f"{steps} step{'' if steps == 1 else 's'}"


def _reasons(one: Explained, chains: Chains) -> list[str]:
    ways: dict[str, list[str]] = {}
    for reason in one.why:
        ways.setdefault(" -> ".join(map(chains.short, _chain(reason, one, chains))), []).append(reason.text)
    lines: list[str] = []
    for way, texts in ways.items():
        lines += [chains.plain(f"  {one.label}: {'; '.join(texts)}"), f"    {way}"]
    return lines


def _chain(reason: Reason, one: Explained, chains: Chains) -> list[str]:
    onward = chains.onward(one.step.outputs)
    return onward if not reason.cause or reason.cause in one.step.outputs else [reason.cause, *onward]


def as_json(answers: list[tuple[DesignNodes, list[Explained]]], session: Session) -> str:
    """Return the same for programs: a list with one entry for each configuration."""
    said = [_entry(design, found, Chains(design, session)) for design, found in answers]
    return json.dumps(said, indent=1) + "\n"


def _entry(design: DesignNodes, found: list[Explained], chains: Chains) -> dict[str, Any]:
    return {
        "form": FORM,
        "design": design.name,
        "output": design.output,
        "steps": [
            {
                "step": one.label,
                "outputs": list(one.step.outputs),
                "sure": bool(one.why),
                "why": [
                    {
                        "kind": reason.kind,
                        "cause": reason.cause,
                        "text": reason.text,
                        "chain": _chain(reason, one, chains),
                    }
                    for reason in one.why
                ],
                "after": list(one.after),
            }
            for one in found
        ],
    }
