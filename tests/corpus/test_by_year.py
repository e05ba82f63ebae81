"""A data set split by year: every document once, none newer than what it is measured with."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from labelwise.corpus.by_year import Years, split_by_year, whole_name
from labelwise.corpus.celex import year_of
from labelwise.corpus.dataset import SPLITS, Dataset, open_dataset
from labelwise.corpus.document import Document, Section
from labelwise.corpus.eurlex57k import document, record
from labelwise.corpus.sources import Origin
from labelwise.errors import InputError, LabelwiseError

YEARS = Years(dev=2005, test=2010)


def test_every_document_is_in_one_split_and_unchanged(synthetic: Dataset, tmp_path: Path) -> None:
    counts = split_by_year(synthetic, YEARS, tmp_path / "acts-by-year")
    split = open_dataset(tmp_path / "acts-by-year")
    before = {one.id: one for one in (*synthetic.train, *synthetic.dev, *synthetic.test)}
    after = [one for name in SPLITS for one in getattr(split, name)]
    assert {one.id: one for one in after} == before
    assert len(after) == len(before) == 760
    assert {name: of.total() for name, of in counts.items()} == {
        name: len(getattr(split, name)) for name in SPLITS
    }


def test_what_is_trained_on_is_older_than_dev_and_dev_older_than_test(
    synthetic: Dataset, tmp_path: Path
) -> None:
    split_by_year(synthetic, YEARS, tmp_path)
    split = open_dataset(tmp_path)
    years = {name: [year_of(one.id) or 0 for one in getattr(split, name)] for name in SPLITS}
    assert max(years["train"]) < 2005 <= min(years["dev"])
    assert max(years["dev"]) < 2010 <= min(years["test"])


def test_the_same_documents_give_the_same_files_whatever_split_they_were_in(
    synthetic: Dataset, tmp_path: Path
) -> None:
    split_by_year(synthetic, YEARS, tmp_path / "once")
    split_by_year(open_dataset(tmp_path / "once"), YEARS, tmp_path / "twice")
    split_by_year(open_dataset(tmp_path / "once"), Years(1990, 1995), tmp_path / "other")
    once, twice, other = (open_dataset(tmp_path / name) for name in ("once", "twice", "other"))
    assert once.fingerprint == twice.fingerprint
    assert once.fingerprint not in (synthetic.fingerprint, other.fingerprint)


def test_the_thesaurus_goes_along(synthetic: Dataset, tmp_path: Path) -> None:
    split_by_year(synthetic, YEARS, tmp_path)
    ours = open_dataset(tmp_path).thesaurus
    assert ours is not None
    assert synthetic.thesaurus is not None
    assert ours.descriptors == synthetic.thesaurus.descriptors


def test_an_id_without_a_year_is_named(tmp_path: Path) -> None:
    acts = tmp_path / "acts"
    acts.mkdir()
    for split, id in (("train", "32001R0001"), ("dev", "act-7"), ("test", "32011R0002")):
        line = record(Document(id, "", (Section("article", "Oranges."),), ("693",)))
        (acts / f"{split}.jsonl").write_text(json.dumps(line), "utf-8")
    with pytest.raises(InputError, match="no year in the id 'act-7'"):
        split_by_year(open_dataset(acts), YEARS, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_years_that_leave_a_split_empty_or_a_folder_in_use_are_refused(
    synthetic: Dataset, tmp_path: Path
) -> None:
    with pytest.raises(LabelwiseError, match="no document is left for test: choose other years"):
        split_by_year(synthetic, Years(2005, 2050), tmp_path)
    with pytest.raises(LabelwiseError, match="begin before those of test, not in 2010 and 2010"):
        Years(2010, 2010)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(LabelwiseError, match="holds files already"):
        split_by_year(synthetic, YEARS, tmp_path)


@pytest.mark.parametrize(
    "sections",
    list(
        itertools.product(
            ((), (Section("header", "A title"),)),
            ((), (Section("recitals", ", Whereas"),)),
            ((), (Section("article", "Article 1"), Section("article", "Article 2"))),
            ((), (Section("attachments", "Annex"),)),
        )
    ),
)
def test_a_document_is_read_from_its_record(sections: tuple[tuple[Section, ...], ...]) -> None:
    act = Document("32001R0001", "A title", tuple(itertools.chain(*sections)), ("693", "1309"))
    assert document(record(act), Origin("acts.jsonl", 1)) == act


def test_a_data_set_split_by_year_knows_the_one_it_was_made_from() -> None:
    assert whole_name("eurlex57k-by-year") == "eurlex57k"
    assert whole_name("eurlex57k+newlaw") == "eurlex57k+newlaw"


@pytest.mark.slow
def test_eurlex57k_split_at_2011_and_2013_has_every_document(
    real_data: Path, tmp_path: Path
) -> None:
    counts = split_by_year(open_dataset(real_data), Years(2011, 2013), tmp_path / "by-year")
    assert {name: of.total() for name, of in counts.items()} == {
        "train": 49_389,
        "dev": 3_555,
        "test": 4_056,
    }
