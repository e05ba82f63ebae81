"""A bundle: a folder that is a complete saved model, and loads anywhere.

``bundle.json`` names the method, its settings, its threshold, the scale of its unseen labels and
its calibration where it has them, the card (how it was made and how it scored), the versions it was
made with, and the other files with their SHA-256: the arrays, the labels, other values, and the
card's ``thesaurus`` where it has one. Their names hold a piece of their digest, so that a new save
never touches the files of the old one: replacing ``bundle.json`` is the one moment at which the old
model becomes the new one.
Nothing in a bundle is ever executed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import platform
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

import labelwise
from labelwise import methods
from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import BundleError, LabelwiseError
from labelwise.evaluation.calibration import Calibration
from labelwise.evaluation.unseen_scale import UnseenScale
from labelwise.methods.base import Method, Settings, State

FORMAT = 1
MANIFEST = "bundle.json"
PARTS = ("arrays-", "labels-", "values-", "thesaurus-")
"""How the names of the other files begin."""


def save(method: Method, path: str | Path, *, card: Mapping[str, Any] | None = None) -> None:
    """Write a fitted method to a folder; an older bundle there is replaced at the last moment."""
    folder = Path(path)
    state = method.state()
    card = dict(card or {})
    concepts = card.pop("thesaurus", None)
    labels = {
        "fingerprint": method.label_space.fingerprint,
        "labels": method.label_space.to_json(),
    }
    contents = {
        "arrays": (".safetensors", save_arrays(_contiguous(state.arrays))),
        "labels": (".json", _json(labels)),
        "values": (".json", _json(state.values)),
    }
    if concepts is not None:  # there are thousands, and people read the manifest
        contents["thesaurus"] = (".json", _json(concepts))
    files: dict[str, dict[str, Any]] = {
        part: {
            "file": f"{part}-{hashlib.sha256(data).hexdigest()[:12]}{ending}",
            "sha256": hashlib.sha256(data).hexdigest(),
            "bytes": len(data),
        }
        for part, (ending, data) in contents.items()
    }
    manifest = {
        "format": FORMAT,
        "method": method.name,
        "settings": dataclasses.asdict(method.settings),
        "threshold": method.threshold,
        **({"unseen": dataclasses.asdict(method.unseen)} if method.unseen else {}),
        **({"calibration": method.calibration.to_json()} if method.calibration else {}),
        "card": card,
        "versions": {
            "labelwise": labelwise.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
        "files": files,
    }
    manifest["digest"] = _digest(manifest)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _check_is_ours(folder)
        for part, (_, data) in contents.items():
            _write(folder / files[part]["file"], data)
        _write(folder / MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False).encode())
    except OSError as error:
        raise BundleError(f"{folder}: cannot write the bundle: {error.strerror}") from error
    kept = {MANIFEST, *(entry["file"] for entry in files.values())}
    for stale in folder.iterdir():
        if stale.name not in kept and stale.name.startswith(PARTS):
            stale.unlink()


def load(path: str | Path) -> Method:
    """Read a bundle back as a fitted method, refusing anything that is not as it was saved."""
    folder = Path(path)
    manifest = _manifest(folder)
    data = {part: _read_part(folder, entry) for part, entry in manifest["files"].items()}
    labels = json.loads(data["labels"])
    label_space = LabelSpace.from_json(labels["labels"])
    if label_space.fingerprint != labels["fingerprint"]:
        raise BundleError(f"{folder}: the labels are not those that were saved")
    try:
        arrays = load_arrays(data["arrays"])
    except SafetensorError as error:
        raise BundleError(f"{folder}: the arrays cannot be read: {error}") from error
    try:
        cls = methods.get(manifest["method"])
    except LabelwiseError as error:
        raise BundleError(f"{folder}: {error}") from error
    method = cls.restore(
        _settings(folder, cls, manifest["settings"]),
        label_space,
        State(arrays, json.loads(data["values"])),
    )
    method.threshold = float(manifest["threshold"])
    if unseen := manifest.get("unseen"):
        method.unseen = UnseenScale(float(unseen["slope"]), float(unseen["offset"]))
    if calibration := manifest.get("calibration"):
        try:
            method.calibration = Calibration.from_json(calibration)
        except LabelwiseError as error:
            raise BundleError(f"{folder}: {error}") from error
    return method


def describe(path: str | Path) -> dict[str, Any]:
    """What ``bundle.json`` says: method, settings, threshold, card, versions, files. The card's
    thesaurus, which has a file of its own, is in its place."""
    folder = Path(path)
    manifest = _manifest(folder)
    if entry := manifest["files"].get("thesaurus"):
        manifest["card"]["thesaurus"] = json.loads(_read_part(folder, entry))
    return manifest


def name_of(card: Mapping[str, Any], method: str) -> str:
    """What a model is called: a bundle may have a name of its own, else it is its method's."""
    return str(card.get("name", method))


def size_of(path: str | Path) -> int:
    """The bytes of all files of a bundle."""
    return sum(file.stat().st_size for file in Path(path).iterdir())


def _manifest(folder: Path) -> dict[str, Any]:
    if not (folder / MANIFEST).is_file():
        raise BundleError(f"{folder}: this is not a bundle: it has no {MANIFEST}")
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    except (ValueError, OSError) as error:
        raise BundleError(f"{folder / MANIFEST}: cannot be read: {error}") from error
    if not isinstance(manifest, dict) or "format" not in manifest:
        raise BundleError(f"{folder / MANIFEST}: has no format version")
    if manifest["format"] != FORMAT:
        raise BundleError(
            f"{folder}: this bundle has format {manifest['format']}, and labelwise "
            f"{labelwise.__version__} reads format {FORMAT}: train it again, or use the labelwise "
            "that wrote it"
        )
    if manifest.get("digest") != _digest(manifest):
        raise BundleError(f"{folder / MANIFEST}: has been altered since it was saved")
    return manifest


def thesaurus(path: str | Path) -> Thesaurus | None:
    """Where the labels of a bundle stand, if it knows."""
    written = describe(path)["card"].get("thesaurus")
    return Thesaurus.from_json(written) if written else None


def _read_part(folder: Path, entry: Mapping[str, Any]) -> bytes:
    path = folder / Path(entry["file"]).name
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BundleError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) != entry["bytes"]:
        raise BundleError(
            f"{path}: has {len(data):,} bytes instead of {entry['bytes']:,}: the bundle was not "
            "copied whole"
        )
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        raise BundleError(f"{path}: is damaged or has been altered since it was saved")
    return data


def _settings(folder: Path, cls: type[Method], values: Mapping[str, Any]) -> Settings:
    known = {field.name for field in dataclasses.fields(cls.Settings)}
    if unknown := sorted(set(values) - known):
        raise BundleError(
            f"{folder}: {cls.name} has no setting '{unknown[0]}' in labelwise "
            f"{labelwise.__version__}"
        )
    # JSON has lists only; settings are immutable.
    fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    return cls.Settings(**fields)


def _check_is_ours(folder: Path) -> None:
    """Never write among files that are not a bundle's."""
    strange = [
        path.name
        for path in folder.iterdir()
        if path.name != MANIFEST and not path.name.startswith((*PARTS, "."))
    ]
    if strange:
        raise BundleError(
            f"{folder}: holds other files ({strange[0]}): give the bundle a folder of its own"
        )


def _write(path: Path, data: bytes) -> None:
    """Write a whole file or none of it."""
    handle, temporary = tempfile.mkstemp(prefix=".writing-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _contiguous(arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _json(values: Any) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()


def _digest(manifest: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in manifest.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
