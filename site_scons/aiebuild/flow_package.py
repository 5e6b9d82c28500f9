"""The flow of packages: from manifests, artifacts and a licence to one file, or to files in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.errors import RecipeError
from aiebuild.flow import Planned, python_step
from aiebuild.flow_manifest import host_products, npu_products
from aiebuild.manifest import NO_VERSION, package_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiebuild.flow import DesignPlan
    from aiebuild.toolchains.python import PythonTool

HOST = "host"
FOLDER = "dist"


@dataclass(frozen=True)
class Part:
    """What a package holds for one arch: a configuration, and the one on the host whose run it is checked by."""

    arch: str
    plan: DesignPlan
    run: DesignPlan


@dataclass(frozen=True)
class Package:
    """One design for one or several archs, under one licence (a file relative to the project)."""

    parts: tuple[Part, ...]
    licence: str

    @property
    def name(self) -> str:
        """The name of the file, without the format, and of the folder in it."""
        labels = {part.arch: part.plan.configuration for part in self.parts}
        return package_name(self._first.name, self._first.version or NO_VERSION, labels)

    @property
    def _first(self) -> DesignPlan:
        return self.parts[0].plan

    def plan(self, tool: PythonTool, form: str) -> Planned:
        """Return the step that writes the package as one file."""
        output = f"{FOLDER}/{self.name}.{form}"
        words = (*self._words, "--format", form, "-o", output)
        step = python_step(self._first, tool, f"package {output}", (output,), words, is_final=True)
        return Planned("AiePackage", step, self._sources)

    def plan_install(self, tool: PythonTool, prefix: str, build_dir: str) -> Planned:
        """Return the step that writes the package's files into a folder below `prefix`.

        Somebody may have changed what is there, so that it is looked at each time; only what differs is written.
        """
        output = f"{build_dir}/installed/{self.name}.txt"
        words = (*self._words, "--install", prefix, "--list", output)
        step = python_step(
            self._first, tool, f"install {prefix}/{self.name}", (output,), words, always=True, is_final=True
        )
        return Planned("AiePackage", step, self._sources)

    @property
    def _words(self) -> tuple[str, ...]:
        manifests = [part.plan.manifest_file for part in self.parts]
        words = [*manifests, "--license", self.licence]
        for part in self.parts:
            if part.arch != HOST:
                words += ["--checked-by", part.run.manifest_file]
            elif part.plan.design.check:
                check, record = part.plan.beside(part.plan.design.check), f"{part.plan.check_file}.reads.json"
                words += ["--reference", check, "--reference-reads", record]
        return tuple(words)

    @property
    def _sources(self) -> tuple[str, ...]:
        files = [self.licence]
        for part in self.parts:
            products = host_products(part.plan) if part.arch == HOST else npu_products(part.plan)
            files += [part.plan.manifest_file, part.run.manifest_file, *(product.file for product in products)]
            files += [part.plan.beside(str(part.plan.design.check))] if part.arch == HOST else []
        return tuple(dict.fromkeys(files))


def package_of(plans: Mapping[str, DesignPlan], runs: Mapping[str, DesignPlan], licence: str) -> Package:
    """Return the package of a design.

    Args:
        plans: its configurations by arch.
        runs: by arch, the configuration on the host of the same device, mode and parameters.
        licence: the file that says what may be done with it.

    Raises:
        RecipeError: the design has no check, so that nobody knows whether it works.
    """
    parts = tuple(Part(arch, plans[arch], runs[arch]) for arch in sorted(plans))
    for part in parts:
        if not part.run.design.check:
            message = f"{part.plan.name} cannot be packaged: it has no check, and nothing unchecked is"
            raise RecipeError(message, part.plan.design.where, 'Design(..., check="check.py")')
    return Package(parts, licence)
