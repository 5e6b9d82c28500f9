"""The flow for the NPU with the tools of this run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiebuild.flow_npu import NpuFlow
    from aiebuild.scons.session import Session
    from aiebuild.scons.words import Configuration
    from aiebuild.toolchains.compiler import Toolchain


def npu_flow(session: Session, configuration: Configuration, toolchain: Toolchain) -> NpuFlow:
    """Return the flow, with warnings of versions that are known not to fit each other."""
    from aiebuild.flow_npu import NpuFlow  # noqa: PLC0415 - the host needs none of it
    from aiebuild.toolchains.known_bad import Versions, warnings  # noqa: PLC0415 - the same

    tools = session.npu_tools(configuration.toolchain, configuration.aiecc_dialect)
    for text in warnings(Versions(dialect=tools.aiecc.dialect, peano=toolchain.version)):
        session.warn(text)
    return NpuFlow(
        python=session.python("npu"),
        toolchain=toolchain,
        tools=tools,
        root=str(session.root),
        jobs=configuration.aiecc_jobs,
    )
