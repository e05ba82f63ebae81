"""Bundles: complete, checked, never half-written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bundle_cases import contents, rewrite

import labelwise.bundle
from labelwise import bundle, shipped
from labelwise.corpus.document import Document, Section
from labelwise.corpus.labels import GROUPS, LabelSpace
from labelwise.errors import BundleError, LabelwiseError
from labelwise.evaluation.calibration import Calibration, Certificate, Curve
from labelwise.methods.exact_match import ExactMatch
from labelwise.methods.saved_settings import settings_from_json
from labelwise.methods.svm import SVM

ACT = Document("a", "", (Section("article", "The import of citrus fruit."),))


def method(*descriptors: str) -> ExactMatch:
    names = {str(number): name for number, name in enumerate(descriptors)}
    fitted = ExactMatch()
    fitted.fit([ACT], [], LabelSpace.from_counts(dict.fromkeys(names, 1), names))
    return fitted


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    bundle.save(method("import", "citrus fruit"), folder, card={"data": "synthetic"})
    return folder


def test_a_bundle_names_its_labels_and_says_how_it_was_made(saved: Path) -> None:
    loaded = bundle.load(saved)
    assert [label.descriptor for label in loaded.label_space.labels] == ["import", "citrus fruit"]
    np.testing.assert_array_equal(
        loaded.scores([ACT]), method("import", "citrus fruit").scores([ACT])
    )
    described = bundle.describe(saved)
    assert described["method"] == "exact-match"
    assert described["card"] == {"data": "synthetic"}
    assert described["versions"]["labelwise"] == labelwise.__version__


def test_a_bundle_keeps_its_calibration_and_refuses_one_of_another_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calibrated = method("import", "citrus fruit")
    curves = {group: Curve("platt", (0.5, -1.0)) for group in GROUPS}
    calibrated.calibration = Calibration(curves, (Certificate(0.9, 0.4),), "acts/svm/it.json")
    bundle.save(calibrated, tmp_path / "model")
    loaded = bundle.load(tmp_path / "model")
    assert loaded.calibration == calibrated.calibration
    assert loaded.certified(0.9) == 0.4
    np.testing.assert_array_equal(loaded.scores([ACT]), calibrated.scores([ACT]))
    monkeypatch.setattr("labelwise.evaluation.calibration.VERSION", 2)
    with pytest.raises(BundleError, match="model: the calibration has version 1"):
        bundle.load(tmp_path / "model")


@pytest.mark.parametrize("part", ["arrays", "labels", "values"])
def test_a_flipped_byte_is_refused(saved: Path, part: str) -> None:
    [file] = saved.glob(f"{part}-*")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))
    with pytest.raises(BundleError, match=f"{file.name}: is damaged or has been altered"):
        bundle.load(saved)


def test_a_truncated_file_is_refused(saved: Path) -> None:
    [file] = saved.glob("labels-*")
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(BundleError, match="the bundle was not copied whole"):
        bundle.load(saved)


def test_a_missing_file_is_refused(saved: Path) -> None:
    [file] = saved.glob("values-*")
    file.unlink()
    with pytest.raises(BundleError, match=file.name):
        bundle.load(saved)


def test_an_altered_manifest_is_refused(saved: Path) -> None:
    manifest = json.loads((saved / "bundle.json").read_text())
    manifest["threshold"] = 0.01
    (saved / "bundle.json").write_text(json.dumps(manifest))
    with pytest.raises(BundleError, match="has been altered"):
        bundle.load(saved)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"method": "svm"}'])
def test_a_broken_manifest_is_refused(saved: Path, content: str) -> None:
    (saved / "bundle.json").write_text(content)
    with pytest.raises(BundleError, match=r"bundle\.json"):
        bundle.load(saved)


def test_a_manifest_or_a_part_that_is_nested_without_end_is_refused(saved: Path) -> None:
    manifest, _, _ = contents(saved)
    rewrite(saved, manifest)
    deep = "[" * 100_000
    with pytest.raises(BundleError, match="a part is not JSON"):
        bundle._parsed(deep.encode())
    (saved / "bundle.json").write_text(deep)
    with pytest.raises(BundleError, match="cannot be read"):
        bundle.load(saved)


def test_half_a_character_in_a_manifest_is_refused(saved: Path) -> None:
    manifest = (saved / "bundle.json").read_text()
    (saved / "bundle.json").write_text(manifest.replace("synthetic", r"\ud800"))
    with pytest.raises(BundleError, match="half a character"):
        bundle.load(saved)


def test_another_format_version_says_what_to_do(saved: Path) -> None:
    manifest = json.loads((saved / "bundle.json").read_text())
    (saved / "bundle.json").write_text(json.dumps({**manifest, "format": 99}))
    with pytest.raises(BundleError, match=r"has format 99, .* reads format 1: train it again"):
        bundle.load(saved)


def test_a_folder_that_is_no_bundle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"this is not a bundle: it has no bundle\.json"):
        bundle.load(tmp_path)
    (tmp_path / "act.txt").write_text("an act")
    with pytest.raises(BundleError, match=r"act\.txt: this is not a bundle: it is a file, and a"):
        bundle.load(tmp_path / "act.txt")
    with pytest.raises(BundleError, match="no such folder, and the models that ship are eurovoc-e"):
        bundle.load(tmp_path / "eurovok-en")


@pytest.mark.parametrize("name", shipped.NAMES)
def test_a_model_that_ships_is_described_by_its_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert bundle.describe(name)["digest"] == bundle.describe(shipped.path(name))["digest"]
    assert bundle.size_of(name) == bundle.size_of(shipped.path(name))


def test_a_bundle_never_lands_among_other_files(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(BundleError, match=r"holds other files \(thesis.txt\)"):
        bundle.save(method("import"), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("name", ["thesis.txt", "bundle.json"])
def test_a_place_with_other_files_is_refused_before_the_training(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(BundleError, match=rf"holds other files \({name}\)"):
        bundle.check_writable(tmp_path)
    assert (tmp_path / name).read_text() == "{}"


def test_a_save_that_was_killed_or_is_of_another_format_is_replaced(saved: Path) -> None:
    bundle.check_writable(saved)
    manifest = json.loads((saved / "bundle.json").read_text())
    (saved / "bundle.json").write_text(json.dumps({**manifest, "format": 99}))
    bundle.check_writable(saved)
    (saved / "bundle.json").unlink()  # what is written last
    bundle.check_writable(saved)
    bundle.save(method("export"), saved)
    assert [label.descriptor for label in bundle.load(saved).label_space.labels] == ["export"]


def test_a_new_save_replaces_the_old_one_and_leaves_nothing_behind(saved: Path) -> None:
    bundle.save(method("export"), saved)
    assert [label.descriptor for label in bundle.load(saved).label_space.labels] == ["export"]
    assert len(list(saved.iterdir())) == 4


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_an_interrupted_write_leaves_the_old_bundle(
    saved: Path, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, written = labelwise.bundle.write_whole, []

    def cut_off(path: Path, data: bytes) -> None:
        if len(written) == after:
            raise OSError(28, "No space left on device")
        written.append(path)
        write(path, data)

    monkeypatch.setattr(labelwise.bundle, "write_whole", cut_off)
    with pytest.raises(BundleError, match="No space left on device"):
        bundle.save(method("export"), saved)
    loaded = bundle.load(saved)
    assert [label.descriptor for label in loaded.label_space.labels] == ["import", "citrus fruit"]


def test_a_full_disk_leaves_no_folder_where_there_was_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(labelwise.bundle, "write_whole", full)
    with pytest.raises(BundleError, match="No space left on device"):
        bundle.save(method("export"), tmp_path / "new")
    assert not list(tmp_path.iterdir())


WRONG: dict[str, Any] = {
    "threshold": [None, "0.5", True, float("nan"), float("inf")],
    "method": [None, 7, ["svm"], "perceptron"],
    "settings": [None, [], {"seed": "zero"}, {"thesaurus": 5}, {"colour": "red"}],
    "unseen": ["wide", {"slope": 1.0}, {"slope": float("nan"), "offset": 0.0}],
    "card": [None, "a card", []],
    "files": [None, {}, {"arrays": 5}, {"arrays": {"file": 7}}],
}


@pytest.mark.parametrize(("name", "wrong"), [(n, one) for n, some in WRONG.items() for one in some])
def test_a_manifest_with_a_right_digest_and_wrong_contents_is_refused(
    saved: Path, name: str, wrong: Any
) -> None:
    manifest, _, _ = contents(saved)
    rewrite(saved, {**manifest, name: wrong} if name != "files" else manifest)
    if name == "files":
        spoilt = {**manifest, "files": wrong}
        spoilt["digest"] = labelwise.bundle._digest(spoilt)
        (saved / "bundle.json").write_text(json.dumps(spoilt))
    with pytest.raises(BundleError, match=str(saved)):
        bundle.load(saved)


@pytest.mark.parametrize(
    "labels",
    [
        None,
        [["0", "import"]],
        [["0", "import", -1]],
        [["0", "import", 1.5]],
        [[0, "import", 1]],
        [["0", "import", 1], ["0", "export", 1]],
        [["0", "import", 0], ["1", "citrus fruit", 1]],
    ],
)
def test_labels_that_no_label_space_has_are_refused(saved: Path, labels: Any) -> None:
    manifest, _, _ = contents(saved)
    try:
        fingerprint = LabelSpace.from_json(labels).fingerprint
    except (TypeError, ValueError):
        fingerprint = "0"
    rewrite(saved, manifest, labels={"labels": labels, "fingerprint": fingerprint})
    with pytest.raises(BundleError, match="label"):
        bundle.load(saved)


def test_a_setting_without_end_is_refused() -> None:
    with pytest.raises(BundleError, match="'articles_weight' of svm cannot be inf"):
        settings_from_json(SVM, {"articles_weight": float("inf")})


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_scores_that_are_no_numbers_are_told_and_not_given(
    score: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoilt = method("import")
    monkeypatch.setattr(spoilt, "_scores", lambda _: np.full((1, 1), score, dtype=np.float32))
    with pytest.raises(LabelwiseError, match="gives scores that are no numbers"):
        spoilt.scores([ACT])


def test_a_thesaurus_that_is_none_is_refused(saved: Path) -> None:
    manifest, _, _ = contents(saved)
    rewrite(saved, manifest, thesaurus={"concepts": {"1": 5}})
    with pytest.raises(BundleError, match="what was saved as its thesaurus is none"):
        bundle.thesaurus(saved)
