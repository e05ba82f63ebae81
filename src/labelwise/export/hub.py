"""Bundles on the Hugging Face Hub: ``hf://owner/name``, or ``hf://owner/name@revision``.

A repository holds the files of a bundle and its card. A revision is a commit, whose hash stands for
every byte of it; what is fetched is checked against the checksums of the bundle besides.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelwise.bundle import MANIFEST, PARTS
from labelwise.errors import LabelwiseError, MissingExtraError

CARD = "README.md"
_PART = r"[\w.-]+"
# Where an address passes through a path, one of its slashes is lost.
_ADDRESS = re.compile(rf"hf:/{{1,2}}({_PART}/{_PART})(?:@({_PART}))?")


@dataclass(frozen=True)
class Address:
    """A repository of the Hub and, where it is pinned, a revision of it."""

    repository: str
    revision: str | None = None

    def __str__(self) -> str:
        return f"hf://{self.repository}" + (f"@{self.revision}" if self.revision else "")

    @classmethod
    def parse(cls, text: str) -> Address:
        """From what people write.

        >>> Address.parse("hf://labelwise/eurovoc-en@0a1b2c3")
        Address(repository='labelwise/eurovoc-en', revision='0a1b2c3')
        """
        found = _ADDRESS.fullmatch(text)
        if found is None:
            raise LabelwiseError(
                f"'{text}' is no address of the Hub: write hf://OWNER/NAME or "
                "hf://OWNER/NAME@REVISION"
            )
        return cls(found[1], found[2])


def is_address(text: str) -> bool:
    return text.startswith("hf:/")


def fetch(address: Address) -> Path:
    """The folder of the bundle, in the Hub's cache; what is there already is not fetched again."""
    hub = _hub()
    try:
        folder = hub.snapshot_download(
            address.repository,
            revision=address.revision,
            allow_patterns=[MANIFEST, *(f"{part}*" for part in PARTS)],
            endpoint=_endpoint(),
        )
    except Exception as error:
        raise LabelwiseError(f"the Hub did not give {address}: {_reason(error)}") from error
    return Path(folder)


def fetched(named: str | Path) -> Path:
    """What an address names, in the Hub's cache; what is no address stays as it is."""
    if not isinstance(named, (str, Path)) or not str(named):
        raise LabelwiseError(f"a model is named by its folder or by a name, not by {named!r}")
    return fetch(Address.parse(str(named))) if is_address(str(named)) else Path(named)


def push(address: Address, files: Mapping[str, Path | bytes], *, private: bool = False) -> Address:
    """One commit with these files and none of an earlier bundle; its address."""
    hub = _hub()
    api = hub.HfApi(endpoint=_endpoint())
    try:
        api.create_repo(address.repository, private=private, exist_ok=True)
        there = api.list_repo_files(address.repository)
        stale = [name for name in there if name.startswith(PARTS) and name not in files]
        done = api.create_commit(
            address.repository,
            [
                *(hub.CommitOperationAdd(name, content) for name, content in files.items()),
                *(hub.CommitOperationDelete(name) for name in stale),
            ],
            commit_message="A bundle of labelwise",
        )
    except Exception as error:
        raise LabelwiseError(f"the Hub did not take {address}: {_reason(error)}") from error
    return Address(address.repository, str(done.oid))


def metadata(name: str, facts: Mapping[str, Any], results: list[dict[str, Any]]) -> str:
    """What stands above a card: YAML that the Hub reads, evaluation results (``model-index``) in
    it."""
    hub = _hub()
    data = hub.ModelCardData(
        model_name=name, eval_results=[hub.EvalResult(**one) for one in results] or None, **facts
    )
    return f"---\n{data.to_yaml().strip()}\n---\n"


def _hub() -> Any:
    try:
        import huggingface_hub
    except ImportError as error:
        raise MissingExtraError("the Hugging Face Hub", "hub") from error
    return huggingface_hub


def _endpoint() -> str | None:
    """Another hub than the public one, as its own programs are told."""
    return os.environ.get("HF_ENDPOINT")


def _reason(error: Exception) -> str:
    return str(error).strip().split("\n")[0] or type(error).__name__
