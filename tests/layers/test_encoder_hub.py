"""An encoder by its name on the Hub: fetched once, then found without a network."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from encoder_cases import tiny_encoder
from hub_server import serving

from labelwise.errors import LabelwiseError
from labelwise.layers.encoder_files import FILES, find_encoder, read_shape

constants = pytest.importorskip("huggingface_hub.constants", reason="needs labelwise[encoder]")
NAME = "labelwise-tests/tiny"


def test_an_encoder_of_the_hub_is_fetched_once_and_found_without_a_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELWISE_ENCODERS", raising=False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    own = tiny_encoder("bert")
    files = {file: (own / file).read_bytes() for file in FILES}
    others = {"pytorch_model.bin": b"a pickle", "modeling_tiny.py": b"raise SystemExit"}
    with serving() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        hub.repositories[NAME] = [(hashlib.sha1(b"tiny").hexdigest(), files | others)]
        fetched = find_encoder(NAME)
        assert sorted(hub.fetched) == sorted(FILES)
        assert find_encoder(NAME) == fetched
        assert len(hub.fetched) == len(FILES)  # what is there is not fetched again
        with pytest.raises(LabelwiseError, match="the Hugging Face Hub did not give it"):
            find_encoder("labelwise-tests/none")
    # The server is gone.
    again = find_encoder(NAME)
    assert {one.name: one.read_bytes() for one in again.iterdir()} == files
    assert read_shape(again) == read_shape(own)
    with pytest.raises(LabelwiseError, match="there is no encoder 'labelwise-tests/other'"):
        find_encoder("labelwise-tests/other")
