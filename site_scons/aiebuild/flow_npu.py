"""The flow of a design for the NPU as a value: from checked MLIR and objects to xclbin, insts and the other outputs.

insts come from the module alone, one step a sequence, so that an edit of a kernel makes none anew; what configures the
array comes from the module without its sequences, so that an edit of a sequence links no core. Where an option couples
them, the step of the insts has the objects as sources too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aiebuild.flow import Planned, promised, python_step
from aiebuild.mlir.sequence_text import UNNAMED
from aiebuild.npu.job import Job
from aiebuild.npu.run import compiles_cores, shown_commands
from aiebuild.toolchains.aiecc import signature_command
from aiebuild.toolchains.chain import ChainKernel, allocate, with_kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiebuild.flow import DesignPlan
    from aiebuild.toolchains.aiecc_options import AieccOptions
    from aiebuild.toolchains.compiler import Toolchain
    from aiebuild.toolchains.npu import NpuTools
    from aiebuild.toolchains.python import PythonTool

BY_SEQUENCE = ("insts", "elf", "full_elf")
"""Outputs that hold a runtime sequence; all others are made from the module without any."""

INPUT = "input.xclbin"
"""The name of the xclbin that a kernel is added to, in the work folder."""

SUFFIXES = {
    "xclbin": ".xclbin",
    "insts": ".insts.bin",
    "pdi": ".pdi",
    "elf": ".insts.elf",
    "full_elf": ".full.elf",
    "cdo": ".cdo.zip",
    "txn": ".txn.mlir",
    "ctrlpkt": ".ctrlpkt.bin",
    "core_elfs": ".core_elfs.zip",
    "physical_mlir": ".physical.mlir",
}


@dataclass(frozen=True)
class NpuFlow:
    """The tools of the flow, and the threads that one aiecc may use."""

    python: PythonTool
    toolchain: Toolchain
    tools: NpuTools
    root: str
    jobs: int = 0

    def plan(self, plan: DesignPlan) -> tuple[Planned, ...]:
        """Return all steps after the check of the MLIR."""
        return (*self._custom(plan), self._sequences(plan), self._check(plan), *self._artifacts(plan))

    def _custom(self, plan: DesignPlan) -> tuple[Planned, ...]:
        """Return the step that writes a module which is no longer the user's own text, as aiecc takes it."""
        if not has_own_text(plan):
            generic, text = plan.file(".generic.mlir"), plan.file(".custom.mlir")
            step = python_step(plan, self.python, f"custom  {text}", (text,), ("custom", generic, "-o", text))
            return (Planned("AieMlir", step, (generic,)),)
        return ()

    def _sequences(self, plan: DesignPlan) -> Planned:
        names = plan.sequences or (UNNAMED,)
        texts = {name: sequence_text(plan, name) for name in names}
        config, text = plan.file(".config.mlir"), plan.file(".mlir" if has_own_text(plan) else ".custom.mlir")
        words = tuple(word for name, file in texts.items() for word in ("--sequence", name, file))
        step = python_step(
            plan,
            self.python,
            f"split   {text}",
            (config, *texts.values()),
            ("sequences", text, "--config", config, *words),
        )
        return Planned("AieMlir", step, (text, plan.file(".generic.mlir")))

    def _check(self, plan: DesignPlan) -> Planned:
        output, facts = plan.file(".objects.json"), plan.file(".facts.json")
        objects = tuple(word for name, file in plan.links.items() for word in ("--object", name, file))
        made_for = ("--arch", self.toolchain.arch, "--toolchain", self.toolchain.name)
        step = python_step(
            plan,
            self.python,
            f"symbols {output}",
            (output,),
            ("check", "--facts", facts, *objects, *promised(plan), *made_for, "-o", output),
        )
        return Planned("AieMlir", step, (facts, *plan.links.values()))

    def _artifacts(self, plan: DesignPlan) -> list[Planned]:
        steps = []
        for kind in plan.design.outputs:
            if kind not in BY_SEQUENCE:
                steps.append(self._aiecc(plan, kind, plan.file(".config.mlir"), plan.file(SUFFIXES[kind])))
                continue
            names = plan.sequences or (UNNAMED,)
            steps += [self._aiecc(plan, kind, sequence_text(plan, name), artifact(plan, kind, name)) for name in names]
        return steps

    def plan_chain(self, name: str, plans: Sequence[DesignPlan]) -> tuple[Planned, ...]:
        """Return the steps that put the kernels of several designs into one xclbin, one after the other.

        Raises:
            RecipeError: two of them have the same kernel id, kernel name or instance name.
        """
        kernels = allocate(_kernel(plan) for plan in plans)
        steps: list[Planned] = []
        for position, (plan, kernel) in enumerate(zip(plans, kernels, strict=True)):
            last = position == len(plans) - 1
            output = f"{plans[0].output}/{name}{'' if last else f'.{position}'}.xclbin"
            before = steps[-1].step.outputs[0] if steps else ""
            options = with_kernel(plan.design.aiecc, kernel)
            steps.append(self._aiecc(plan, "xclbin", plan.file(".config.mlir"), output, options=options, before=before))
        return tuple(steps)

    def _aiecc(
        self,
        plan: DesignPlan,
        kind: str,
        text: str,
        output: str,
        *,
        options: AieccOptions | None = None,
        before: str = "",
    ) -> Planned:
        """Return the step of one output; `before` is the xclbin that a kernel is added to."""
        tools = self.tools
        said = options or plan.design.aiecc
        if before:
            said = replace(said, xclbin_input=INPUT)
        job = Job(
            aiecc=tools.aiecc,
            kinds=(kind,),
            name=plan.name,
            mlir=text,
            toolchain=self.toolchain.name,
            peano_dir=tools.peano_dir,
            aietools_dir=tools.aietools_dir,
            xclbinutil=tools.xclbinutil,
            aie_opt=tools.aie_opt,
            jobs=self.jobs,
            stable_uuid=plan.design.stable_uuid and kind == "xclbin",
            options=said,
        )
        cores = compiles_cores(job)
        added = {INPUT: before} if before else {}
        if cores:
            job = job.with_links({**plan.links, **added})
        work, made = f"{output}.work", f"{self.root}/{output}"
        shown = shown_commands(job, {kind: made}, f"{self.root}/{work}")
        step = python_step(
            plan,
            self.python,
            f"aiecc   {output}",
            (output,),
            ("aiecc", job.to_json(), "--work", work, "-o", kind, output),
            identity=self._identity(kind, cores=cores),
            signed=(
                signature_command(
                    tools.aiecc.dialect, job.request("/work", {kind: "/made"}), listed=tools.aiecc.listed
                ),
            ),
            shown=shown,
            refused=tools.missing or (NO_XCLBINUTIL if job.stable_uuid and not tools.xclbinutil else ""),
            values=(
                *(plan.name, *(f"{name}={file}" for name, file in job.links.items())),
                *(("stable uuid",) if job.stable_uuid else ()),
            ),
            always=not plan.design.aiecc.is_deterministic,
        )
        sources = (text, plan.file(".objects.json"), *plan.links.values(), *added.values()) if cores else (text,)
        return Planned(_BUILDERS.get(kind, "AieXclbin"), step, sources)

    def _identity(self, kind: str, *, cores: bool) -> str:
        parts = [self.tools.aiecc.identity, self.tools.verifying]
        if cores:
            parts += [self.toolchain.identity, self.tools.packaging]
        elif kind == "elf":
            parts.append(self.tools.packaging)
        return " ".join(parts)


def _kernel(plan: DesignPlan) -> ChainKernel:
    said = plan.design.aiecc
    return ChainKernel(
        design=plan.name,
        kernel_name=said.xclbin_kernel_name,
        instance_name=said.xclbin_instance_name,
        kernel_id=said.xclbin_kernel_id,
        where=plan.design.where,
    )


NO_XCLBINUTIL = (
    "error: stable_uuid=True needs xclbinutil, which is not installed\n  install XRT, or name it: xclbinutil=FILE, "
    "AIE_XCLBINUTIL; what was tried: scons doctor"
)

_BUILDERS = {"insts": "AieInsts", "elf": "AieInsts"}


def has_own_text(plan: DesignPlan) -> bool:
    """Return whether the module is still what the user wrote: nothing was linked into it, nothing cut out."""
    return not plan.imports and not plan.design.outline


def sequence_text(plan: DesignPlan, name: str) -> str:
    """Return the file of the module with one runtime sequence."""
    return plan.file(f".{name}.sequence.mlir")


def artifact(plan: DesignPlan, kind: str, sequence: str) -> str:
    """Return the file of an output that holds a sequence; the name is in it where the contract names sequences."""
    middle = f".{sequence}" if plan.sequences else ""
    return plan.file(f"{middle}{SUFFIXES[kind]}")
