"""A bundle: a folder that is a complete saved model, and loads anywhere.

``bundle.json`` names the method, its settings, its threshold, the scale of its unseen labels and
its calibration where it has them, the card (how it was made and how it scored), the versions it was
made with, and the other files with their SHA-256: the arrays, the labels, other values, and the
card's ``thesaurus`` where it has one. Their names hold a piece of their digest, so that a new save
never touches the files of the old one: replacing ``bundle.json`` is the one moment at which the old
model becomes the new one. Two processes save one after the other, and who reads meanwhile gets
the one or the other.
Nothing in a bundle is ever executed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

import labelwise
from labelwise import methods, shipped
from labelwise.corpus.labels import GROUPS, LabelSpace
from labelwise.corpus.relabelling import date_in
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import BundleError, LabelwiseError, MissingExtraError
from labelwise.evaluation.calibration import Calibration
from labelwise.evaluation.unseen_scale import UnseenScale
from labelwise.files import read_json, write_whole
from labelwise.locks import locked
from labelwise.methods.base import Method, State
from labelwise.methods.saved_settings import settings_from_json
from labelwise.schema import number, value

FORMAT = 1
MANIFEST = "bundle.json"
PARTS = ("arrays-", "labels-", "values-", "thesaurus-")
"""How the names of the other files begin."""
LOCK = ".lock"
WAIT = 60.0
"""Seconds that a save waits for another one: a training is too much to lose."""


def save(
    method: Method, path: str | Path, *, card: Mapping[str, Any] | None = None, half: bool = False
) -> None:
    """Write a fitted method to a folder; an older bundle there is replaced at the last moment.

    ``half``: its weights in half precision, where the method says that they may be.
    """
    folder = Path(path)
    state = method.state()
    if half and method.half_precision:
        state = state.halved()
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
    written = {files[part]["file"]: data for part, (_, data) in contents.items()}
    written[MANIFEST] = json.dumps(manifest, indent=1, ensure_ascii=False).encode()
    busy = f"{folder}: another process is saving a bundle there: choose another name, or wait"
    try:
        with locked(folder / LOCK, busy, wait=WAIT):
            _check_is_ours(folder)
            for name, data in written.items():
                write_whole(folder / name, data)
            for stale in folder.iterdir():
                if stale.name not in written and stale.name.startswith(PARTS):
                    stale.unlink()
    except OSError as error:
        raise BundleError(f"{folder}: cannot write the bundle: {error.strerror}") from error
    finally:
        with suppress(OSError):
            folder.rmdir()  # where nothing could be written to it


def load(path: str | Path) -> Method:
    """Read a bundle back as a fitted method, refusing anything that is not as it was saved, and
    what could not have been saved so. As in all that reads bundles, the name of a model that ships
    stands for its folder."""
    folder = shipped.folder_of(path)
    manifest, data = _read(folder, ("arrays", "labels", "values", "thesaurus"))
    try:
        arrays = load_arrays(data["arrays"])
        cls = methods.get(value(manifest, "method", str))
        method = cls.restore(
            settings_from_json(cls, manifest.get("settings")),
            _label_space(_parsed(data["labels"])),
            State(arrays, _parsed(data["values"])),
        )
        method.threshold = number(manifest, "threshold")
        if unseen := manifest.get("unseen"):
            method.unseen = UnseenScale(number(unseen, "slope"), number(unseen, "offset"))
        if calibration := manifest.get("calibration"):
            method.calibration = Calibration.from_json(calibration)
    except MissingExtraError:
        raise
    except LabelwiseError as error:
        raise BundleError(f"{folder}: {error}") from error
    except SafetensorError as error:
        raise BundleError(f"{folder}: the arrays cannot be read: {error}") from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        # What a method did not think of asking ``schema``. Its checksums are right, so that it was
        # saved by another program, or by a labelwise that had other ideas of the method.
        raise BundleError(
            f"{folder}: what was saved does not make a {manifest.get('method')} "
            f"({type(error).__name__}: {error}): train it again"
        ) from error
    return method


def _label_space(written: Any) -> LabelSpace:
    labels = value(written, "labels", list)
    for one in labels:
        if [type(part) for part in one] != [str, str, int] or one[2] < 0:
            raise BundleError(f"{one!r} is not a label: it has an id, a descriptor and a count")
    space = LabelSpace.from_json(labels)
    if space.fingerprint != value(written, "fingerprint", str):
        raise BundleError("the labels are not those that were saved")
    groups = [GROUPS.index(label.group) for label in space.labels]
    if len(space.index) != len(space) or groups != sorted(groups):
        raise BundleError("the labels are there twice, or not in the order of their groups")
    return space


def describe(path: str | Path) -> dict[str, Any]:
    """What ``bundle.json`` says: method, settings, threshold, card, versions, files. The card's
    thesaurus, which has a file of its own, is in its place."""
    folder = shipped.folder_of(path)
    manifest, data = _read(folder, ("thesaurus",))
    if "thesaurus" in data:
        try:
            manifest["card"]["thesaurus"] = _parsed(data["thesaurus"])
        except BundleError as error:
            raise BundleError(f"{folder}: {error}") from error
    return manifest


def name_of(card: Mapping[str, Any], method: str) -> str:
    """What a model is called: a bundle may have a name of its own, else it is its method's."""
    return str(card.get("name", method))


def as_twin(path: str | Path) -> dict[str, Any]:
    """What a card says of the model that its own was made like: which it is, and its data."""
    manifest = describe(path)
    told = manifest["card"]
    return {
        "name": name_of(told, manifest["method"]),
        "digest": manifest["digest"],
        "data": told.get("data", {}),
    }


def size_of(path: str | Path) -> int:
    """The bytes of all files of a bundle."""
    return sum(file.stat().st_size for file in shipped.folder_of(path).iterdir())


def _manifest(folder: Path) -> dict[str, Any]:
    if not (folder / MANIFEST).is_file():
        raise BundleError(f"{folder}: this is not a bundle: {_missing(folder)}")
    try:
        manifest = read_json((folder / MANIFEST).read_bytes())
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
    try:
        value(manifest, "card", dict)
        files = value(manifest, "files", dict)
        for part in ("arrays", "labels", "values", *files):
            for name, kind in (("file", str), ("sha256", str), ("bytes", int)):
                value(value(files, part, dict), name, kind)
    except BundleError as error:
        raise BundleError(f"{folder / MANIFEST}: {error}") from error
    return manifest


def _missing(folder: Path) -> str:
    if folder.is_dir():
        return f"it has no {MANIFEST}"
    if folder.exists():
        return "it is a file, and a bundle is a folder"
    return f"there is no such folder, and the models that ship are {' and '.join(shipped.NAMES)}"


def _read(folder: Path, wanted: Sequence[str]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest and the wanted parts that it has, all of one save: where another save came
    between the two, it is read again."""
    while True:
        manifest = _manifest(folder)
        try:
            files = {part: manifest["files"][part] for part in wanted if part in manifest["files"]}
            return manifest, {part: _read_part(folder, entry) for part, entry in files.items()}
        except BundleError:
            if _manifest(folder)["digest"] == manifest["digest"]:
                raise


def _parsed(data: bytes) -> Any:
    try:
        return read_json(data)
    except ValueError as error:
        raise BundleError(f"a part is not JSON: {error}") from error


def thesaurus(path: str | Path) -> Thesaurus | None:
    """Where the labels of a bundle stand, if it knows."""
    return thesaurus_in(describe(path)["card"], path)


def thesaurus_in(card: Mapping[str, Any], path: str | Path) -> Thesaurus | None:
    """The same from the card of the bundle, where it was described already."""
    written = card.get("thesaurus")
    try:
        return Thesaurus.from_json(written) if written else None
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise BundleError(
            f"{path}: what was saved as its thesaurus is none ({error}): train it again"
        ) from error


def dated_thesaurus(card: Mapping[str, Any]) -> dict[str, str | None] | None:
    """The name and the date of the thesaurus that the labels are from: the one that the model was
    relabelled to, or trained with. Bundles that are older than this record have it in the name of
    their data; None where the labels are those of the data set."""
    if new := card.get("relabelled"):
        return {"name": new["name"], "date": new["date"]}
    data = card.get("data", {})
    if known := data.get("thesaurus"):
        return dict(known)
    added = str(data.get("name", "")).split("+")[1:]
    named = next((one for one in added if one.startswith("eurovoc")), None)
    return {"name": named, "date": date_in(named)} if named else None


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


def _check_is_ours(folder: Path) -> None:
    """Never write among files that are not a bundle's. One that was saved in part, whose process
    was killed, is a bundle that has no manifest yet."""
    strange = [path.name for path in folder.iterdir() if not _is_ours(path)]
    if strange:
        raise BundleError(
            f"{folder}: holds other files ({strange[0]}): give the bundle a folder of its own"
        )


def _is_ours(path: Path) -> bool:
    if path.name == MANIFEST:  # be it of another format, or damaged
        return b'"format"' in path.read_bytes()
    return path.name.startswith((*PARTS, "."))


def _contiguous(arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _json(values: Any) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()


def _digest(manifest: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in manifest.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def check_writable(out: Path) -> None:
    """Refuse before the training, not after it, where the bundle could not be written."""
    if out.is_file():
        raise LabelwiseError(f"{out} is a file: a bundle is a folder, choose another name")
    if out.is_dir():
        _check_is_ours(out)
    new = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    if not os.access(out, os.W_OK):
        raise LabelwiseError(f"{out} cannot be written to: choose another place for the bundle")
    if new:
        out.rmdir()
