"""What is joined is stale when a member is: the digests of its members tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from labelwise import bundle as bundles
from labelwise.corpus.dataset import open_dataset
from labelwise.corpus.synthetic import make_dataset
from labelwise.experiments import trainings
from labelwise.experiments.corpora import Corpus, open_corpus
from labelwise.experiments.joining import member_digests
from labelwise.experiments.staleness import unfinished
from labelwise.experiments.trainings import Folders, Training
from labelwise.methods import get
from labelwise.methods.blend import Blend
from labelwise.methods.svm import SVMSettings


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    make_dataset(tmp_path / "acts", train=30, dev=6, test=6)
    return open_corpus(tmp_path / "acts", (), ())


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path / "results", tmp_path / "bundles")


def wanted(corpus: Corpus, *given: str) -> dict[str, Training]:
    names = ["svm", "lexical", "blend"]
    return {
        one.name: one for one in trainings.trainings(names, range(1), corpus, Path("none"), given)
    }


def finish(one: Training, corpus: Corpus, folders: Folders, **members: dict[str, str]) -> Path:
    """A run as it lies in its place."""
    data = {"fingerprint": corpus.run_fingerprint}
    record: dict[str, Any] = {"data": data, "settings": one.compared, **members}
    file = folders.results / corpus.run_name / one.method / "seed-0.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record))
    return file


def save(
    name: str,
    corpus: Corpus,
    folders: Folders,
    settings: Any = None,
    threshold: float | None = None,
    **card: Any,
) -> None:
    dataset = open_dataset(Path(str(corpus.data)))
    cls = get(name.removesuffix("-0"))
    method = cls(settings or cls.Settings())
    method.fit(dataset.train, dataset.dev, dataset.label_space)
    method.threshold = method.threshold if threshold is None else threshold
    data = {"fingerprint": corpus.run_fingerprint}
    bundles.save(method, folders.bundle(name), card={"data": data, **card})


@pytest.fixture
def finished(corpus: Corpus, folders: Folders, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two members and their blend, all of them finished; the run of the blend."""
    monkeypatch.setattr(Blend, "joined_from", ("svm", "lexical"))
    for name in ("svm-0", "lexical-0"):
        save(name, corpus, folders)
    digests = member_digests([folders.bundle("svm-0"), folders.bundle("lexical-0")])
    assert set(digests) == {"svm-0", "lexical-0"}
    for one in wanted(corpus).values():
        file = finish(one, corpus, folders, **({"members": digests} if one.members else {}))
    assert not unfinished(wanted(corpus), corpus, folders)
    return file


def test_a_member_with_other_settings_makes_the_blend_anew(
    corpus: Corpus, folders: Folders, finished: Path
) -> None:
    assert set(unfinished(wanted(corpus, "C=2.0"), corpus, folders)) == {"svm-0", "blend-0"}


def test_a_member_that_is_another_bundle_now_makes_the_blend_anew(
    corpus: Corpus, folders: Folders, finished: Path
) -> None:
    save("svm-0", corpus, folders, threshold=0.125)
    assert set(unfinished(wanted(corpus), corpus, folders)) == {"blend-0"}


def test_a_member_that_was_trained_again_and_is_the_same_model_changes_nothing(
    corpus: Corpus, folders: Folders, finished: Path
) -> None:
    save("svm-0", corpus, folders, command="labelwise train svm", seconds={"fit": 1.0})
    assert not unfinished(wanted(corpus), corpus, folders)


def test_a_run_that_names_its_members_by_their_whole_bundles_is_finished(
    corpus: Corpus, folders: Folders, finished: Path
) -> None:
    """As all did before."""
    members = {
        name: bundles.describe(folders.bundle(name))["digest"] for name in ("svm-0", "lexical-0")
    }
    finish(wanted(corpus)["blend-0"], corpus, folders, members=members)
    assert not unfinished(wanted(corpus), corpus, folders)


def test_a_run_on_documents_that_have_changed_since_is_not_finished(
    corpus: Corpus, folders: Folders, finished: Path
) -> None:
    run = finished.parents[1] / "lexical" / finished.name
    record = json.loads(run.read_text())
    record["data"]["fingerprint"] = "of before"
    run.write_text(json.dumps(record))
    assert set(unfinished(wanted(corpus), corpus, folders)) == {"lexical-0", "blend-0"}


def test_a_bundle_that_is_gone_has_not_changed(
    corpus: Corpus, folders: Folders, finished: Path
) -> None:
    (folders.bundle("svm-0") / bundles.MANIFEST).unlink()
    assert not unfinished(wanted(corpus), corpus, folders)
    finished.unlink()
    assert set(unfinished(wanted(corpus), corpus, folders)) == {"svm-0", "blend-0"}


def test_the_bundle_of_another_data_set_in_the_place_of_a_members_is_not_joined(
    corpus: Corpus, folders: Folders, finished: Path, tmp_path: Path
) -> None:
    """Two data sets share a folder of bundles: the blend of the one was made of the models of the
    other, or failed."""
    make_dataset(tmp_path / "others", seed=1, train=30, dev=6, test=6)
    others = open_corpus(tmp_path / "others", (), ())
    for name in ("svm-0", "lexical-0"):
        save(name, others, folders)
    assert not unfinished(wanted(corpus), corpus, folders)  # those of before are gone, not changed
    finished.unlink()
    assert set(unfinished(wanted(corpus), corpus, folders)) == {"svm-0", "lexical-0", "blend-0"}


def test_the_bundle_of_other_settings_in_the_place_of_a_members_is_not_joined(
    corpus: Corpus, folders: Folders, finished: Path
) -> None:
    """As where the same folder of bundles served other results."""
    save("svm-0", corpus, folders, SVMSettings(C=2.0))
    assert set(unfinished(wanted(corpus), corpus, folders)) == {"svm-0", "blend-0"}


def test_a_damaged_member_is_trained_again(
    corpus: Corpus, folders: Folders, finished: Path
) -> None:
    (folders.bundle("svm-0") / bundles.MANIFEST).write_bytes(b"{")
    assert set(unfinished(wanted(corpus), corpus, folders)) == {"svm-0", "blend-0"}


@pytest.mark.parametrize("digest", [None, ""])
def test_a_run_without_the_digest_of_a_member_is_joined_anew(
    corpus: Corpus, folders: Folders, finished: Path, digest: str | None
) -> None:
    """Nobody can tell what it was joined from: the ensemble's rows of before its member changed
    stood for those of now."""
    record = json.loads(finished.read_text())
    if digest is None:
        del record["members"]
    else:
        record["members"]["svm-0"] = digest
    finished.write_text(json.dumps(record))
    assert set(unfinished(wanted(corpus), corpus, folders)) == {"blend-0"}
    (folders.bundle("svm-0") / bundles.MANIFEST).unlink()
    assert set(unfinished(wanted(corpus), corpus, folders)) == {"svm-0", "blend-0"}
