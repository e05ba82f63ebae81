"""Every registered method passes the same suite (tests/conformance.py)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import conformance
import pytest

from labelwise import methods
from labelwise.corpus.dataset import Dataset
from labelwise.methods import Method


@pytest.fixture(scope="module")
def fitted_methods(synthetic: Dataset) -> Callable[[str], Method]:
    """Each method is trained once in a process, when first asked for."""
    trained: dict[str, Method] = {}

    def get(name: str) -> Method:
        if name not in trained:
            trained[name] = conformance.fitted(name, synthetic)
        return trained[name]

    return get


CASES = [
    # All checks of a method run in one process, so that it is trained there once.
    pytest.param(name, check, id=f"{name}-{check.__name__}", marks=pytest.mark.xdist_group(name))
    for name in methods.REGISTRY
    for check in conformance.CHECKS
]


@pytest.mark.parametrize(("name", "check"), CASES)
def test_method(
    name: str,
    check: Callable[..., None],
    fitted_methods: Callable[[str], Method],
    synthetic: Dataset,
    tmp_path: Path,
) -> None:
    arguments = [fitted_methods(name), synthetic, tmp_path]
    check(*arguments[: len(inspect.signature(check).parameters)])


def test_the_registry_is_alphabetical_and_names_its_classes() -> None:
    assert list(methods.REGISTRY) == sorted(methods.REGISTRY)
    for name in methods.REGISTRY:
        assert methods.get(name).name == name


def test_an_unknown_method_is_answered_with_the_known_ones() -> None:
    with pytest.raises(methods.base.LabelwiseError, match="exact-match, "):
        methods.get("perceptron")
