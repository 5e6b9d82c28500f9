"""The flow of a run on this machine: from checked MLIR and objects to a result that is compared with the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.flow import Planned, promised, python_step

if TYPE_CHECKING:
    from aiebuild.flow import DesignPlan
    from aiebuild.toolchains.compiler import Toolchain
    from aiebuild.toolchains.python import PythonTool


def plan_host_run(plan: DesignPlan, host: PythonTool, toolchain: Toolchain) -> tuple[Planned, ...]:
    """Return the steps from checked MLIR and objects to a run on this machine, compared with the reference."""
    generic, facts = plan.file(".generic.mlir"), plan.file(".facts.json")
    cores, kernels = plan.file(".cores.py"), plan.file(".kernels.zip")
    translate = python_step(plan, host, f"cores   {generic}", (cores,), ("translate", generic, "-o", cores))
    objects = tuple(word for name, file in plan.links.items() for word in ("--object", f"{name}={file}"))
    link = python_step(
        plan,
        host,
        f"link    {kernels}",
        (kernels,),
        ("link", "--facts", facts, *objects, *promised(plan), "--cxx", toolchain.compiler, "-o", kernels),
        signed=(("link", facts, *objects, *promised(plan)),),
        identity=toolchain.identity,
    )
    steps = (
        Planned("AieHostRun", translate, (generic,)),
        Planned("AieHostRun", link, (facts, *plan.links.values())),
    )
    if not plan.design.check:
        return steps
    return (*steps, _run(plan, host), *((_trace(plan, host),) if plan.trace else ()))


def _run(plan: DesignPlan, host: PythonTool) -> Planned:
    return _on_the_host(plan, host, "run", f"run     {plan.name} ({plan.output.rpartition('/')[2]})", plan.check_file)


def _trace(plan: DesignPlan, host: PythonTool) -> Planned:
    """Return the step that runs the design once more, to look at: what the run itself is made of stays as it is."""
    return _on_the_host(plan, host, "trace", f"trace   {plan.trace_file}", plan.trace_file)


def _on_the_host(plan: DesignPlan, host: PythonTool, word: str, label: str, result: str) -> Planned:
    check = plan.beside(str(plan.design.check))
    cores, kernels = plan.file(".cores.py"), plan.file(".kernels.zip")
    parameters = plan.file(".parameters.json")
    read = f"{result}.read.json"
    sequences = tuple(word for name in plan.sequences for word in ("--sequence", name))
    arguments = ("--arguments", ",".join(plan.arguments)) if plan.arguments else ()
    step = python_step(
        plan,
        host,
        label,
        (result,),
        (
            *(word, cores, "--kernels", kernels, "--check", check, "--parameters", parameters),
            *(*arguments, *sequences, "--timeout", f"{plan.run_timeout:g}"),
            *("-o", result, "--depfile", read),
        ),
        # Not the time limit: a run that ended well within one limit ended well.
        signed=((word, cores, kernels, check, parameters, *arguments, *sequences),),
        depfile=read,
    )
    return Planned("AieHostRun", step, (cores, kernels, check, parameters))
