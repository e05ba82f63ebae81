"""A model is measured on any labelled file: whatever its labels are, none of them is left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labelwise.corpus.dataset import Dataset
from labelwise.corpus.document import Document, Section
from labelwise.corpus.eurlex57k import record
from labelwise.corpus.labels import GROUPS, LabelSpace
from labelwise.corpus.thesaurus import Concept, Thesaurus
from labelwise.evaluation.calibration import Calibration, Curve
from labelwise.experiments.labelled_file import measure_file, score_file, with_today_s_labels
from labelwise.experiments.sampled import drawn
from labelwise.methods.exact_match import ExactMatch


def act(id: str, text: str, *labels: str) -> Document:
    return Document(id, "", (Section("article", text),), labels)


@pytest.fixture(scope="module")
def match() -> ExactMatch:
    train = [act("1", "Imports of citrus fruit.", "693", "1309")]
    names = {"693": "citrus fruit", "1309": "import"}
    method = ExactMatch()
    method.fit(train, [], LabelSpace.from_documents(train, [], names))
    return method


def test_a_gold_label_that_the_model_does_not_know_is_missed_even_where_all_labels_tie(
    match: ExactMatch, tmp_path: Path
) -> None:
    """Nothing is found in the second act: five labels would have room for all three."""
    acts = [act("2", "On citrus fruit.", "693", "7001"), act("3", "On bicycles.", "7001")]
    file = tmp_path / "acts.jsonl"
    file.write_text("".join(json.dumps(record(one)) + "\n" for one in acts), "utf-8")
    run, _ = measure_file(match, file, thesaurus=None, card={})
    assert run.value("test", "all", "RP@5") == pytest.approx((0.5 + 0) / 2)
    assert run.value("test", "zero", "documents") == 2
    assert run.measures["test"].counts.f1_counts("all")[:, 2].tolist() == [1, 1]


def test_labels_are_cut_at_the_model_s_own_threshold_and_at_none_that_the_file_would_choose(
    match: ExactMatch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "acts.jsonl"
    file.write_text(json.dumps(record(act("2", "On citrus fruit.", "693"))), "utf-8")
    for threshold, f1 in ((0.0, 1.0), (1.0, 0.0)):
        monkeypatch.setattr(match, "threshold", threshold)
        run, _ = measure_file(match, file, thesaurus=None, card={})
        assert run.threshold == threshold
        assert run.value("test", "all", "micro-F1 tuned") == f1


def test_a_run_on_a_file_names_what_the_model_was_joined_from(
    match: ExactMatch, tmp_path: Path
) -> None:
    file = tmp_path / "acts.jsonl"
    file.write_text(json.dumps(record(act("2", "On citrus fruit.", "693"))), "utf-8")
    run, _ = measure_file(match, file, thesaurus=None, card={"digests": {"svm-0": "f00d"}})
    assert run.members == {"svm-0": "f00d"}


def test_on_the_documents_that_it_was_calibrated_on_a_model_is_not_measured_without_a_word(
    match: ExactMatch,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The table says that the threshold of a model was chosen on other documents."""
    even = {group: Curve("as it is") for group in GROUPS}
    record_of_it = "ours-dev/exact-match@acts/calibration-seed-0.json"
    monkeypatch.setattr(match, "calibration", Calibration(even, record=record_of_it))
    for folder, told in (("ours", True), ("theirs", False)):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "dev.jsonl"
        file.write_text(json.dumps(record(act("2", "On citrus fruit.", "693"))), "utf-8")
        measure_file(match, file, thesaurus=None, card={"name": "sure"})
        said = " ".join(capsys.readouterr().err.split())
        assert ("sure was calibrated on ours-dev: what it does to documents" in said) == told


def test_a_gold_label_that_the_thesaurus_does_not_know_stays(match: ExactMatch) -> None:
    thesaurus = Thesaurus.of(
        [Concept("1309", "", "import"), Concept("9", "", "old", replaced_by=("1309",))]
    )
    acts = [act("2", "", "9", "693", "never-heard-of")]
    [today] = with_today_s_labels(acts, match.label_space, thesaurus)
    assert today.labels == ("1309", "693", "never-heard-of")


def test_some_documents_of_a_file_are_drawn_and_not_its_first(synthetic: Dataset) -> None:
    method = ExactMatch()
    method.fit(synthetic.train[:20], synthetic.dev[:5], synthetic.label_space)
    found = score_file(method, synthetic.paths["dev"], thesaurus=None, card={}, most=10)
    ids = [one.id for one in found.documents]
    assert ids == [one.id for one in drawn(synthetic.dev, 10)]
    assert ids != [one.id for one in synthetic.dev[:10]]
    assert len(found.scores) == 10


def test_a_model_that_learned_more_than_its_twin_is_not_measured_without_a_word(
    synthetic: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    """What ships was trained on everything, also on the acts that its twin was measured on."""
    method = ExactMatch()
    method.fit(synthetic.train[:20], synthetic.dev[:5], synthetic.label_space)
    twin = {"name": "ours", "digest": "", "data": {"name": "acts"}}
    card = {"name": "ours", "data": {"name": "acts+late"}, "twin": twin}
    score_file(method, synthetic.paths["dev"], thesaurus=None, card=card)
    said = capsys.readouterr().err
    assert "ours was trained on acts+late, on more than its twin that was measured (acts)" in said
