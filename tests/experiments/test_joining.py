"""The digests of members: one for each, whatever their folders are called."""

from __future__ import annotations

from pathlib import Path

import pytest

import labelwise
from labelwise import bundle as bundles
from labelwise.corpus.dataset import Dataset
from labelwise.experiments.joining import member_digests, model_digest
from labelwise.methods.exact_match import ExactMatch


def saved(folder: Path, data: Dataset, command: str, threshold: float = 0.5) -> Path:
    method = ExactMatch()
    method.fit(data.train[:20], data.dev[:5], data.label_space)
    method.threshold = threshold
    bundles.save(method, folder, card={"command": command})
    return folder


def digest(folder: Path) -> str:
    return model_digest(folder)


def test_a_training_that_gives_the_same_model_has_the_same_digest(
    synthetic: Dataset, tmp_path: Path
) -> None:
    """What was joined from it was stale, and members on a GPU were to be trained again."""
    a = saved(tmp_path / "a.bundle", synthetic, "in a second, by a command")
    b = saved(tmp_path / "b.bundle", synthetic, "in a minute, by another")
    assert bundles.describe(a)["digest"] != bundles.describe(b)["digest"]
    assert model_digest(a) == model_digest(b)
    assert model_digest(a) != model_digest(saved(b, synthetic, "by another", threshold=0.25))


def test_where_the_labels_stand_makes_no_other_member(synthetic: Dataset, tmp_path: Path) -> None:
    """A bundle from before it was kept is the same model."""
    a, b = (saved(tmp_path / name, synthetic, "train") for name in ("a.bundle", "b.bundle"))
    assert synthetic.thesaurus is not None
    places = synthetic.thesaurus.around(synthetic.label_space.ids).to_json()
    bundles.save(bundles.load(b), b, card={"thesaurus": places})
    assert bundles.thesaurus(b) is not None
    assert model_digest(a) == model_digest(b)


def test_members_of_different_names_are_called_by_them(synthetic: Dataset, tmp_path: Path) -> None:
    a, b = (saved(tmp_path / name, synthetic, name) for name in ("svm.bundle", "lexical"))
    assert member_digests([a, b]) == {"svm": digest(a), "lexical": digest(b)}


def test_what_is_joined_and_every_run_of_it_name_the_digests_of_its_members(
    synthetic: Dataset, tmp_path: Path
) -> None:
    members = [saved(tmp_path / name, synthetic, name) for name in ("one.bundle", "other.bundle")]
    digests = member_digests(members)
    data, out = synthetic.paths["train"].parent, tmp_path / "blend.bundle"
    labelwise.join("blend", members, data=data, out=out, results=tmp_path / "joined")
    assert bundles.describe(out)["card"]["digests"] == digests
    measured = labelwise.evaluate(out, data=data, split=["dev"], results=tmp_path / "measured")
    assert measured.members == digests
    for folder in ("joined", "measured"):
        [file] = (tmp_path / folder).rglob("seed-0.json")
        assert labelwise.Run.read(file).members == digests


@pytest.mark.parametrize("changed", [0, 2])
def test_a_change_of_either_of_two_members_with_one_name_is_seen(
    synthetic: Dataset, tmp_path: Path, changed: int
) -> None:
    members = [tmp_path / name for name in ("a/svm.bundle", "lexical.bundle", "b/svm.bundle")]
    for number, member in enumerate(members):
        saved(member, synthetic, "trained", threshold=number / 10)
    before = member_digests(members)
    assert before == {
        "1/svm": digest(members[0]),
        "lexical": digest(members[1]),
        "3/svm": digest(members[2]),
    }
    saved(members[changed], synthetic, "trained again", threshold=0.9)
    after = member_digests(members)
    assert [name for name in before if before[name] != after[name]] == [f"{changed + 1}/svm"]
