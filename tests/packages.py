"""Builds to be packaged, made of golden files: one with an xclbin and instructions, one for the host."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from aiebuild.manifest import Argument, Check, Checked, Kernel, Sequence
from aiebuild.manifest_request import Product, Request
from aiebuild.manifest_step import Contents, build
from aiebuild.package_builds import Build

GOLDEN = Path(__file__).parent / "golden"
LICENSE = "Do what you like.\n"
ARGUMENTS = (
    Argument("A", "in", "i16", (4096,), 8192, "left matrix"),
    Argument("B", "in", "i16", (4096,), 8192, "right matrix"),
    Argument("C", "out", "i32", (4096,), 16384, "result"),
)
GOOD = Check("host", "npu1_1col", ok=True, outputs=(Checked("sequence", "C", ok=True),))


def npu(arch: str = "aie2", *, xclbin: str = "one", insts: str = "matmul", check: Check | None = GOOD) -> Build:
    """Return a build of `matmul` for an NPU."""
    files = {
        "matmul.xclbin": (GOLDEN / "inspect" / f"{xclbin}.xclbin").read_bytes(),
        "matmul.insts.bin": (GOLDEN / "mlir" / f"{insts}.insts.bin").read_bytes(),
    }
    products = (Product("matmul.xclbin", "xclbin"), Product("matmul.insts.bin", "insts", "sequence"))
    return made(arch, products, files, check, "matmul.insts.bin")


def host(*, check: Check | None = GOOD) -> Build:
    """Return a build of `matmul` for the host."""
    files = {"matmul.cores.py": b"cores\n", "matmul.kernels.zip": b"kernels", "check.py": b"inputs = None\n"}
    kinds = ("cores", "kernels", "reference")
    products = tuple(Product(name, kind) for name, kind in zip(files, kinds, strict=True))
    return made("host", products, files, check, "")


def made(arch: str, products: tuple[Product, ...], files: dict[str, bytes], check: Check | None, insts: str) -> Build:
    """Return the build of these files, with its manifest."""
    device = "npu2_1col" if arch == "aie2p" else "npu1_1col"
    request = Request(
        "matmul", arch, device, products, version="1.0.0", description="C = A x B", parameters={"M": 64, "fast": True}
    )
    sequences = (Sequence("sequence", insts, ARGUMENTS),)
    manifest = build(request, Contents({"designs/matmul/design.yaml": "0" * 64}, files), sequences, check)
    return Build(manifest, files)


def with_kernels(found: Build, *names: str) -> Build:
    """Return the build with other xclbin kernels in its manifest."""
    return replace(found, manifest=replace(found.manifest, kernels=tuple(Kernel(name, "0x1") for name in names)))
