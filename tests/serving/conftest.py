"""Real services on loopback: one with three small models, and others made to measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from conformance import QUICK
from serving_cases import MODELS, served

from labelwise import bundle
from labelwise.corpus.dataset import Dataset
from labelwise.methods import Method, get
from labelwise.serving.models import Servable


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


class Fitted(dict[str, Method]):
    """Methods, each fitted when a test first asks for it."""

    def __init__(self, data: Dataset) -> None:
        self._data = data

    def __missing__(self, name: str) -> Method:
        cls = get(name)
        self[name] = cls(cls.Settings(**QUICK.get(name, {})))
        self[name].fit(self._data.train, self._data.dev, self._data.label_space)
        return self[name]


@pytest.fixture(scope="session")
def fitted(synthetic: Dataset) -> dict[str, Method]:
    """A linear method, the exact match, and a network that knows labels by their words."""
    return Fitted(synthetic)


@pytest.fixture(scope="session")
def folders(fitted: dict[str, Method], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Their bundles."""
    folder = tmp_path_factory.mktemp("served")
    for name in MODELS:
        bundle.save(fitted[name], folder / f"{name}.bundle", card={"data": {"name": "synthetic"}})
    return {name: folder / f"{name}.bundle" for name in MODELS}


@pytest.fixture
def serve() -> Iterator[Callable[..., httpx.Client]]:
    """Start services for one test."""
    with ExitStack() as stack:
        yield lambda wanted, **options: stack.enter_context(served(wanted, **options))


@pytest.fixture(scope="session")
def client(folders: dict[str, Path], synthetic: Dataset) -> Iterator[httpx.Client]:
    """The service that most tests ask."""
    wanted = [Servable(name, folder) for name, folder in folders.items()]
    with served(wanted, thesaurus=synthetic.paths["train"].parent / "thesaurus.ttl") as client:
        yield client


@pytest.fixture(scope="session")
def act(synthetic: Dataset) -> dict[str, Any]:
    """A synthetic act, in the way that a client sends its sections."""
    document = synthetic.test[0]
    return {
        "sections": [{"kind": one.kind, "text": one.text} for one in document.sections],
        "title": document.title,
    }
