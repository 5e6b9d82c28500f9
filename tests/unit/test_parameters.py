from __future__ import annotations

import copy
import json
import pickle
from typing import TYPE_CHECKING

import pytest
from aiebuild.errors import RecipeError
from aiebuild.parameters import Parameters

if TYPE_CHECKING:
    from aiebuild.expression_tree import Scalar


@pytest.fixture
def p() -> Parameters:
    values: dict[str, Scalar] = {"M": 512, "dtype_in": "i16", "items": 3, "flag": True}
    return Parameters(values, arch="host", device="npu1_1col", design="matmul", mode="debug")


def test_parameters_are_attributes_and_items(p: Parameters) -> None:
    assert (p.M, p["dtype_in"], p.items, p.flag) == (512, "i16", 3, True)


def test_the_configuration_is_there_too_but_not_among_the_parameters(p: Parameters) -> None:
    assert (p.arch, p.device, p.design, p.mode) == ("host", "npu1_1col", "matmul", "debug")
    assert list(p) == ["M", "dtype_in", "items", "flag"]
    assert "arch" not in p
    assert len(p) == 4


def test_an_unknown_name_is_an_error_of_the_recipe_with_the_nearest_one(p: Parameters) -> None:
    for ask in (p.__getattr__, p.__getitem__):
        with pytest.raises(RecipeError) as caught:
            ask("dtype_inn")
        assert str(caught.value) == ("error: design 'matmul' has no parameter 'dtype_inn'\n  did you mean 'dtype_in'?")


def test_python_can_ask_whether_a_name_is_there(p: Parameters) -> None:
    assert hasattr(p, "M")
    assert not hasattr(p, "K")
    assert getattr(p, "K", 7) == 7
    assert "M" in p
    assert "K" not in p


def test_parameters_cannot_be_changed(p: Parameters) -> None:
    with pytest.raises(RecipeError, match="parameters cannot be changed: M is set to 1"):
        p.M = 1
    with pytest.raises(RecipeError, match="parameters cannot be removed: M"):
        del p.M
    p.as_dict()["M"] = 1
    assert p.M == 512


def test_a_parameters_file_gives_the_parameters_back(p: Parameters) -> None:
    record = {"arch": "host", "device": "npu1_1col", "design": "matmul", "mode": "debug", "parameters": p.as_dict()}
    assert Parameters.from_json(record) == p
    assert Parameters.from_json(json.dumps(record)) == p
    assert Parameters.from_json(json.dumps(record).encode()) == p


def test_parameters_can_be_copied_pickled_and_compared(p: Parameters) -> None:
    assert copy.deepcopy(p) == p
    assert pickle.loads(pickle.dumps(p)) == p
    assert hash(copy.copy(p)) == hash(p)
    assert p != Parameters(p.as_dict(), arch="aie2", device="npu1_1col", design="matmul", mode="debug")
    assert repr(p).startswith("Parameters(M=512, dtype_in='i16',")
