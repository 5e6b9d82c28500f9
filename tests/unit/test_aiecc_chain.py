"""Kernels of several designs in one xclbin differ in ids and names: row N13."""

from __future__ import annotations

import pytest
from aiebuild.errors import Location, RecipeError
from aiebuild.toolchains.aiecc_options import AieccOptions
from aiebuild.toolchains.chain import ChainKernel, allocate, check_chain, with_kernel
from hypothesis import given
from hypothesis import strategies as st


def test_n13_one_id_for_two_kernels_is_an_error_that_names_both() -> None:
    first = ChainKernel("add", kernel_id=0x901, where=Location("SConscript", 3))
    second = ChainKernel("mul", kernel_id=0x901, where=Location("SConscript", 4))
    (error,) = check_chain([first, second])
    assert str(error).startswith("SConscript:4: error: mul has the kernel id 0x901, which add has too at SConscript:3")
    with pytest.raises(RecipeError):
        allocate([first, second])


@pytest.mark.parametrize("field", ["kernel_name", "instance_name"])
def test_n13_one_name_for_two_kernels_is_an_error(field: str) -> None:
    kernels = [ChainKernel(design, **{field: "K"}) for design in ("a", "b")]  # type: ignore[arg-type]
    (error,) = check_chain(kernels)
    assert f"b has the {field.replace('_', ' ')} 'K', which a has too" in error.message


def test_an_id_that_does_not_fit_is_an_error() -> None:
    (error,) = check_chain([ChainKernel("a", kernel_id=0x10000)])
    assert "out of range" in error.message
    assert "0xffff" in error.hint


def test_a_chain_of_one_keeps_aieccs_own_names() -> None:
    (kernel,) = allocate([ChainKernel("a")])
    assert (kernel.kernel_name, kernel.instance_name, kernel.kernel_id) == ("MLIR_AIE", "MLIRAIE", 0x901)


def test_free_ids_and_names_are_given_in_order() -> None:
    kernels = allocate(
        [ChainKernel("a"), ChainKernel("b", kernel_id=0x901), ChainKernel("c", kernel_name="MLIR_AIE_a")]
    )
    assert [kernel.kernel_id for kernel in kernels] == [0x902, 0x901, 0x903]
    assert [kernel.kernel_name for kernel in kernels] == ["MLIR_AIE_a_2", "MLIR_AIE_b", "MLIR_AIE_a"]


KERNELS = st.builds(
    ChainKernel,
    design=st.sampled_from(["a", "b", "c"]),
    kernel_id=st.none() | st.integers(0x8FE, 0x904),
    kernel_name=st.none() | st.sampled_from(["MLIR_AIE", "MLIR_AIE_a", "MLIR_AIE_a_2"]),
)


@given(st.lists(KERNELS, max_size=6))
def test_what_is_allocated_passes_the_check_and_keeps_what_was_said(kernels: list[ChainKernel]) -> None:
    if check_chain(kernels):
        return
    done = allocate(kernels)
    assert check_chain(done) == []
    assert all(kernel.kernel_id and kernel.kernel_name and kernel.instance_name for kernel in done)
    assert all(k.kernel_id in {None, d.kernel_id} for k, d in zip(kernels, done, strict=True))


def test_a_design_is_told_what_it_is_called() -> None:
    (kernel,) = allocate([ChainKernel("a")])
    options = with_kernel(AieccOptions(opt_level=1), kernel)
    assert options == AieccOptions(
        opt_level=1, xclbin_kernel_name="MLIR_AIE", xclbin_instance_name="MLIRAIE", xclbin_kernel_id=0x901
    )
