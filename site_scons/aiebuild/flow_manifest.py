"""The flow of a configuration's manifest: what was built of what, with which tools, as the last step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from aiebuild import __version__
from aiebuild.flow import Planned, python_step
from aiebuild.manifest_request import Object, Product, Request, Tool
from aiebuild.mlir.sequence_text import UNNAMED
from aiebuild.step import Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aiebuild.flow import DesignPlan
    from aiebuild.toolchains.compiler import Toolchain
    from aiebuild.toolchains.npu import NpuTools
    from aiebuild.toolchains.python import PythonTool

KINDS = {kind: kind for kind in ("xclbin", "insts", "pdi", "txn", "ctrlpkt")} | {
    "elf": "insts-elf",
    "full_elf": "full-elf",
    "physical_mlir": "mlir",
    "cdo": "other",
    "core_elfs": "other",
}
"""What a manifest calls the kinds of outputs."""


def tools_of(toolchain: Toolchain, npu: NpuTools | None) -> tuple[Tool, ...]:
    """Return the tools that took part, with versions and digests."""
    compiler = Tool(name=toolchain.name, version=toolchain.version, digest=toolchain.identity)
    tools = (Tool(name="aiebuild", version=__version__), compiler)
    if npu is None:
        return tools
    aiecc = npu.aiecc
    return (*tools, Tool(name="aiecc", version=aiecc.version, dialect=str(aiecc.dialect), digest=aiecc.identity))


def host_products(plan: DesignPlan) -> tuple[Product, ...]:
    """Return what a run on this machine is made of, and its result."""
    made = [Product(plan.file(".cores.py"), "cores"), Product(plan.file(".kernels.zip"), "kernels")]
    made.append(Product(plan.file(".parameters.json"), "parameters"))
    return (*made, *((Product(plan.check_file, "check"),) if plan.design.check else ()))


def npu_products(plan: DesignPlan) -> tuple[Product, ...]:
    """Return the artifacts for the NPU; those of a runtime sequence name it."""
    from aiebuild.flow_npu import BY_SEQUENCE, SUFFIXES, artifact  # noqa: PLC0415 - the host needs none of it

    made = []
    for kind in plan.design.outputs:
        if kind in BY_SEQUENCE:
            names = plan.sequences or (UNNAMED,)
            made += [Product(artifact(plan, kind, name), KINDS[kind], name) for name in names]
        else:
            made.append(Product(plan.file(SUFFIXES[kind]), KINDS[kind]))
    return tuple(made)


def _is_inside(name: str) -> bool:
    """Return whether a file is the project's: a manifest says nothing of the machine's other folders."""
    return not PurePath(name).is_absolute()


def _shown(name: str) -> str:
    return name if _is_inside(name) else PurePath(name).name


@dataclass(frozen=True)
class Made:
    """What one configuration makes, and of what.

    Attributes:
        products: the outputs that the manifest is about.
        tools: aiebuild, the compiler, and aiecc where it takes part.
        objects: what is linked, with its flags.
        inputs: the project's files that steps are made from.
        reads: the records of what steps have read besides.
    """

    products: tuple[Product, ...]
    tools: tuple[Tool, ...]
    objects: Sequence[Object]
    inputs: Iterable[str]
    reads: tuple[str, ...]


def sources_of(plan: DesignPlan, products: tuple[Product, ...]) -> tuple[str, ...]:
    """Return the files that a manifest is made from, besides its request."""
    files = (plan.file(".generic.mlir"), *(product.file for product in products), *plan.links.values())
    return tuple(dict.fromkeys(files))


def plan_manifest(plan: DesignPlan, tool: PythonTool, made: Made, build_dir: str) -> tuple[Planned, ...]:
    """Return the steps that write what was asked for, and the manifest."""
    asked, output = plan.file(".request.json"), plan.manifest_file
    contract, where = plan.beside("design.yaml"), plan.origin.where
    # A design that is asked for in a foreign `SConstruct` has its recipe there, and need not have a contract.
    named = [*([contract] if plan.folder else []), *([where.file] if where else [])]
    said, values = plan.parameters, dict(plan.parameters["parameters"])  # type: ignore[call-overload] # names and plain values
    derived = {name: values.pop(name) for name in plan.derived}
    request = Request(
        design=plan.name,
        arch=str(said["arch"]),
        device=plan.device,
        outputs=made.products,
        version=plan.version,
        description=plan.description,
        toolchain=made.tools[1].name,
        mode=str(said["mode"]),
        variant=plan.variant or None,
        parameters=values,
        derived=derived,
        configuration=plan.configuration,
        recipe=str(said["design"]),
        arguments=plan.meanings,
        objects=tuple(replace(item, sources=tuple(map(_shown, item.sources))) for item in made.objects),
        tools=made.tools,
        inputs=tuple(sorted(filter(_is_inside, {*named, *made.inputs}))),
    )
    written = Step(
        label=f"write   {asked}",
        commands=(),
        outputs=(asked,),
        text=request.to_json(),
        where=plan.origin.where,
        asked_by=plan.origin.word,
    )
    read = f"{output}.read.json"
    check = ("--check", plan.check_file) if any(product.kind == "check" for product in made.products) else ()
    reads = tuple(word for record in made.reads for word in ("--reads", record))
    step = python_step(
        plan,
        tool,
        f"facts   {output}",
        (output,),
        (
            *(asked, "--module", plan.file(".generic.mlir"), *check, *reads, "--made-in", build_dir),
            *("-o", output, "--depfile", read),
        ),
        depfile=read,
    )
    return (
        Planned("AieText", written, ()),
        Planned("AieMlir", step, (asked, *sources_of(plan, made.products))),
    )
