"""``labelwise compact`` and ``labelwise card``: a small model, chosen on dev, and its page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from encoder_cases import frequent_words, tiny_encoder

from labelwise import bundle as bundles
from labelwise.cli import main
from labelwise.corpus.dataset import open_dataset
from labelwise.errors import LabelwiseError
from labelwise.evaluation.runs import Run
from labelwise.experiments import times
from labelwise.experiments.compact import Size, choose
from labelwise.methods import saved_weights


@pytest.fixture(scope="module")
def small(bundle: Path, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small bundle, with its sizes and its run in ``results`` beside it."""
    folder = tmp_path_factory.mktemp("compact")
    asked = ["compact", bundle, "--data", corpus, "--prune", "0.05,0.2", "--max-mb", 1]
    with pytest.raises(SystemExit) as ended:
        main([*map(str, asked), "--out", str(folder / "small"), "--results", f"{folder}/results"])
    assert ended.value.code == 0
    return folder / "small"


def test_of_the_sizes_that_fit_the_best_on_dev_is_written(small: Path, bundle: Path) -> None:
    (written,) = (small.parent / "results").rglob("sizes.json")
    assert written.parent.name == "small"
    told = json.loads(written.read_text("utf-8"))
    assert [one["prune"] for one in told["sizes"]] == [0.05, 0.2]
    assert told["parent"]["bytes"] > told["sizes"][0]["bytes"] > told["sizes"][1]["bytes"]
    assert told["chosen"] == max(told["sizes"], key=lambda one: one["dev"]["all"]["RP@5"])
    assert told["data"]["fingerprint"] == bundles.describe(bundle)["card"]["data"]["fingerprint"]
    assert set(told["seconds"]) == {"load", "first answer", "documents a second"}
    manifest = bundles.describe(small)
    assert manifest["card"]["command"] == told["command"]
    assert manifest["settings"]["prune"] == told["chosen"]["prune"]
    assert sum(file.stat().st_size for file in small.iterdir()) == told["chosen"]["bytes"]
    assert manifest["card"]["name"] == "small"
    assert manifest["card"]["parent"]["digest"] == bundles.describe(bundle)["digest"]


def test_that_a_calibration_is_not_taken_over_is_said(
    labelwise: Callable, bundle: Path, corpus: Path, tmp_path: Path
) -> None:
    sure, small = tmp_path / "sure.bundle", tmp_path / "small.bundle"
    results = ("--results", tmp_path / "results")
    asked = ("calibrate", bundle, "--on", corpus / "dev.jsonl", "--out", sure)
    assert not labelwise(*asked, *results).code
    asked = ("compact", sure, "--data", corpus, "--prune", "0.2", "--out", small)
    called = labelwise(*asked, *results)
    assert called.code == 0
    assert "what sure.bundle was calibrated to is not taken over" in called.err
    assert bundles.load(sure).calibration is not None
    assert bundles.load(small).calibration is None


def test_its_run_stands_under_its_own_name(labelwise: Callable, small: Path, corpus: Path) -> None:
    results = small.parent / "results"
    assert labelwise("evaluate", small, "--data", corpus, "--results", results).code == 0
    run = Run.read(results / corpus.name / "small" / "seed-0.json")
    told = json.loads((results / corpus.name / "small" / "sizes.json").read_text("utf-8"))
    # The figures that chose it are those of the file that was written.
    assert run.value("dev", "all", "RP@5") == told["chosen"]["dev"]["all"]["RP@5"]
    assert run.threshold == pytest.approx(bundles.load(small).threshold)

    asked = ("--data", corpus, "--results", results, "--documents", 4)
    assert labelwise("faithfulness", small, *asked).code == 0
    page = labelwise("card", small, "--results", results).out
    assert "| small, seed 0, test: contribution | " in page
    assert page.startswith("# small\n")
    assert "(chosen)" in page
    assert "| few |" in page
    assert "`labelwise compact`" in page
    out = small.parent / "card.md"
    assert labelwise("card", small, "--results", results, "--out", out).code == 0
    assert out.read_text("utf-8") == page


def test_how_fast_a_model_is_can_be_measured_for_its_card(
    labelwise: Callable, bundle: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    took = {"load": 0.125, "first answer": 2.5, "documents a second": 321.0}
    asked: list[int] = []
    monkeypatch.setattr(times, "timed", lambda _, some: asked.append(len(some)) or took)
    page = ("card", bundle, "--results", tmp_path)
    assert "How fast it is" not in labelwise(*page).out
    timed = labelwise(*page, "--time", corpus / "dev.jsonl").out
    assert "It loads in 0.12 s" in timed
    assert "and scores 321 documents a second" in timed
    assert labelwise(*page).out == timed  # from what was kept
    assert asked == [60]
    record = json.loads((tmp_path / "synthetic" / "svm" / "times.json").read_text("utf-8"))
    assert record["digest"] == bundles.describe(bundle)["digest"]


def test_a_card_without_results_says_where_it_looked_and_not_that_nothing_was_measured(
    labelwise: Callable, bundle: Path, tmp_path: Path
) -> None:
    page = labelwise("card", bundle, "--results", tmp_path).out
    assert f"`{tmp_path.name}` holds no run of " in page
    assert "300 documents" in page


def test_the_small_model_knows_where_its_labels_stand(
    labelwise: Callable, small: Path, act: Path
) -> None:
    thesaurus = bundles.thesaurus(small)
    assert thesaurus is not None
    assert set(bundles.load(small).label_space.ids) <= set(thesaurus.concepts)
    assert not any(one.alt_labels for one in thesaurus.concepts.values())
    (record,) = labelwise("tag", act, "--bundle", small, "--top", 40, "--json").json
    placed = [one for one in record["predictions"] if one["place"]["broader"]]
    assert placed
    for one in placed:
        names = [link["name"] for link in one["place"]["broader"]]
        assert one["place"]["path"] == " › ".join([*names, thesaurus[one["id"]].label])
    table = labelwise("tag", act, "--bundle", small, "--top", 40).out
    assert f"in {placed[0]['place']['broader'][0]['name']}" in table
    shown = labelwise("explain", act, "--bundle", small, "--labels", placed[0]["id"]).out
    assert f"in {placed[0]['place']['broader'][0]['name']}" in shown
    page = small.parent / "page.html"
    labelwise("explain", act, "--bundle", small, "--labels", placed[0]["id"], "--out", page)
    assert 'class="place">in ' in page.read_text("utf-8")


def test_what_cannot_be_done_is_one_sentence(
    labelwise: Callable,
    bundle: Path,
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(given: Path, *options: object) -> str:
        out = tmp_path / "out"
        called = labelwise("compact", given, "--data", corpus, "--out", out, *options)
        assert called.code == 1
        assert not out.exists()
        return called.err

    assert "is a list of numbers" in refused(bundle, "--prune", "small")
    assert "above 0" in refused(bundle, "--prune", "0.1,-1")
    exact = tmp_path / "exact"
    trained = ("train", "exact-match", "--data", corpus, "--out", exact)
    assert labelwise(*trained).code == 0
    assert "exact-match is neither linear nor has an encoder" in refused(exact)
    monkeypatch.delenv("LABELWISE_DATA", raising=False)
    missing = labelwise("compact", bundle, "--out", tmp_path / "out")
    assert "is needed to choose a size on dev" in missing.err
    small = ("--prune", "0.02", "--max-mb", 0.1, "--results", tmp_path / "r")
    assert "none of the sizes fits into 0.1 MB" in refused(bundle, *small)
    assert not (tmp_path / "r").exists()


def test_between_equals_the_smaller_one_is_chosen() -> None:
    size = lambda mb, figure: Size(0.1, 1.1, mb * 10**6, 9, 9, {"all": {"RP@5": figure}})
    large, middle, little = size(30, 0.9), size(20, 0.8), size(10, 0.8)
    assert choose([large, middle, little], 25) == little
    assert choose([large, middle, little], 30) == large
    with pytest.raises(LabelwiseError, match=r"the smallest has 10\.0"):
        choose([large, middle, little], 5)


def test_a_blend_with_an_encoder_is_written_in_eight_bits(
    labelwise: Callable,
    bundle: Path,
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(saved_weights, "LARGE", 500)
    words = frequent_words(one.text for one in open_dataset(corpus).train[:50])
    encoder = tiny_encoder("bert", words)
    short = ("epochs=1", f"encoder={encoder}", "piece_tokens=30", "stride=30", "device=cpu")
    minilm, blend, out = (tmp_path / name for name in ("minilm", "blend", "out"))
    trained = ("train", "minilm-lwan", "--data", corpus, "--out", minilm)
    assert labelwise(*trained, *(part for one in short for part in ("--set", one))).code == 0
    joined = labelwise("join", "blend", bundle, minilm, "--data", corpus, "--out", blend)
    assert joined.code == 0, joined.err
    called = labelwise("compact", blend, "--out", out, "--name", "light", "--json")
    assert called.code == 0, called.err
    assert json.loads(called.out)["MB"] < json.loads(called.out)["MB given"]
    card = bundles.describe(out)["card"]
    assert (card["name"], card["compact"]) == ("light", {"bits": 8})
    assert card["weights"] == bundles.describe(blend)["card"]["weights"]
    test = open_dataset(corpus).test[:5]
    was, now = bundles.load(blend), bundles.load(out)
    assert now.threshold == was.threshold
    assert now.scores(test) == pytest.approx(was.scores(test), abs=0.02)
    tight = labelwise("compact", blend, "--out", tmp_path / "no", "--max-mb", 0.1)
    assert "does not fit into 0.1" in tight.err
