"""The synthetic corpus: what it holds, that it repeats, and that it tells methods apart."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.document import SECTION_KINDS
from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.synthetic import make_dataset
from labelwise.corpus.synthetic.concepts import build_world
from labelwise.corpus.synthetic.dice import Dice
from labelwise.corpus.synthetic.phrases import SUBJECTS
from labelwise.corpus.thesaurus import Thesaurus, read_thesaurus
from labelwise.errors import LabelwiseError

FILES = {
    *("train.jsonl", "dev.jsonl", "test.jsonl"),
    *("descriptors.json", "thesaurus.ttl", "vectors.txt", "README.txt"),
}
KEYS = [
    *("celex_id", "uri", "type", "concepts", "title"),
    *("header", "recitals", "main_body", "attachments"),
]

Matrix = NDArray[Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("made") / "synthetic"
    make_dataset(made)
    return made


@pytest.fixture(scope="module")
def data(folder: Path) -> Dataset:
    return open_dataset(folder)


@pytest.fixture(scope="module")
def gold(data: Dataset) -> Matrix:
    matrix: Matrix = data.label_space.gold(data.test).toarray()
    return matrix


def digest(folder: Path) -> str:
    lines = [
        f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(folder.iterdir())
    ]
    return "\n".join(lines)


# --- what it holds -----------------------------------------------------------------------------


def test_the_folder_holds_the_data_set_and_says_that_it_is_synthetic(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == FILES
    readme = (folder / "README.txt").read_text("utf-8")
    assert readme.startswith("A SYNTHETIC corpus made by labelwise")
    assert "labelwise data make --out FOLDER --seed 0 --train 2400 --dev 300 --test 300" in readme


def test_acts_have_the_keys_of_eurlex57k_and_ids_that_no_real_act_has(folder: Path) -> None:
    ids = []
    for split, size in (("train", 2400), ("dev", 300), ("test", 300)):
        lines = (folder / f"{split}.jsonl").read_text("utf-8").splitlines()
        acts = [json.loads(line) for line in lines]
        assert len(acts) == size
        assert all(list(act) == KEYS for act in acts)
        assert {act["type"] for act in acts} == {"Regulation", "Decision", "Directive"}
        ids += [act["celex_id"] for act in acts]
        base = "http://example.org/labelwise/synthetic/"
        assert all(act["uri"] == base + act["celex_id"] for act in acts)
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"3(19|20)\d\d[RDL]9\d{3}", id) for id in ids)


def test_every_act_has_all_four_zones_and_several_articles(data: Dataset) -> None:
    for document in (*data.train, *data.dev, *data.test):
        kinds = [section.kind for section in document.sections]
        assert kinds == sorted(kinds, key=SECTION_KINDS.index)
        assert set(kinds) == set(SECTION_KINDS)
        assert kinds.count("article") >= 2
        header, recitals, attachments = (document.sections[i].text for i in (0, 1, -1))
        assert re.search(r"\nTHE (COMMISSION|COUNCIL) OF THE EUROPEAN ", header)
        assert recitals.startswith(",\nHaving regard to the Treaty")
        assert attachments.startswith("Done at ")


def test_no_slot_of_a_phrase_is_left_open(data: Dataset) -> None:
    assert not [d.id for d in data.train if re.search(r"[{}]", d.title + d.text)]


def test_lengths_have_a_median_of_some_hundred_words_and_a_long_tail(data: Dataset) -> None:
    words = np.array([len(document.text.split()) for document in data.train])
    assert 300 <= np.median(words) <= 500
    assert np.percentile(words, 90) >= 2 * np.median(words)
    assert words.max() >= 1500
    assert 80 <= words.min() <= 200


@pytest.mark.parametrize("seed", [0, 5])
def test_labels_fall_into_frequent_few_shot_and_zero_shot_groups(
    tmp_path: Path, seed: int, data: Dataset
) -> None:
    if seed:
        make_dataset(tmp_path / "other", seed=seed)
        data = open_dataset(tmp_path / "other")
    sizes = {group: s.stop - s.start for group, s in data.label_space.groups.items()}
    assert 65 <= sizes["frequent"] <= 100
    assert 100 <= sizes["few"] <= 145
    assert 30 <= sizes["zero"] <= 45


def test_zero_shot_concepts_stand_in_dev_and_test_and_never_in_train(data: Dataset) -> None:
    unseen = {concept.id for concept in build_world().concepts if concept.unseen}
    in_train = {label for document in data.train for label in document.labels}
    assert not unseen & in_train
    in_dev, in_test = (
        {label for document in documents for label in document.labels}
        for documents in (data.dev, data.test)
    )
    assert unseen <= in_dev | in_test
    assert len(unseen & in_test) >= 0.9 * len(unseen)
    # Pairs such as "quota for tuna" are unseen, their parts are not.
    pairs = [c for c in build_world().concepts if c.unseen and c.kind == "compound"]
    assert len(pairs) >= 20
    assert all({*pair.broader, *pair.related} <= in_train for pair in pairs)


def test_label_frequencies_fall_like_zipfs_law_and_acts_have_a_handful(data: Dataset) -> None:
    counts = np.sort(data.label_space.counts)[::-1]
    assert counts[0] >= 4 * counts[60] >= 4 * 40
    assert counts[0] >= 20 * counts[180]
    labels = [len(document.labels) for document in data.train]
    assert 3.5 <= np.mean(labels) <= 5.5
    assert min(labels) >= 1
    assert max(labels) >= 8


def test_labels_that_belong_together_occur_together(data: Dataset) -> None:
    assert data.thesaurus is not None
    together, alone = 0, 0
    counts = Counter(label for document in data.train for label in document.labels)
    for concept in data.thesaurus.concepts.values():
        for broader in concept.broader:
            joint = sum({concept.id, broader} <= set(d.labels) for d in data.train)
            together += joint
            alone += counts[concept.id] * counts[broader] // len(data.train)
    assert together > 5 * alone


# --- the thesaurus -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def thesaurus(folder: Path) -> Thesaurus:
    return read_thesaurus(folder / "thesaurus.ttl")


def test_every_label_has_a_descriptor(data: Dataset, folder: Path, thesaurus: Thesaurus) -> None:
    descriptors = json.loads((folder / "descriptors.json").read_text("utf-8"))
    entry = next(entry for entry in descriptors.values() if entry["label"] == "citrus fruit")
    assert list(entry) == ["concept_id", "label", "alt_labels", "parents"]
    assert entry["alt_labels"] == ["citrus"]
    assert [descriptors[parent]["label"] for parent in entry["parents"]] == ["fruit"]
    for label in data.label_space.labels:
        assert descriptors[label.id]["label"] == label.descriptor != label.id
    assert {id: entry["label"] for id, entry in descriptors.items()} == thesaurus.descriptors
    assert len(set(thesaurus.descriptors.values())) == len(thesaurus.descriptors)


def test_the_skos_file_has_hierarchy_microthesauri_and_domains(
    folder: Path, thesaurus: Thesaurus
) -> None:
    assert thesaurus.notes == ()
    assert len(thesaurus.domains) == 6
    assert len(thesaurus.microthesauri) == 13
    names = {concept.label: concept for concept in thesaurus.concepts.values()}
    concept = names["citrus fruit"]
    assert [broader.label for broader in thesaurus.broader_chain(concept.id)] == ["fruit"]
    assert concept.alt_labels == ("citrus",)
    assert all(c.microthesauri and c.domains for c in thesaurus.concepts.values())
    assert all(
        c.id in thesaurus.concepts[other].related
        for c in thesaurus.concepts.values()
        for other in c.related
    )
    french = read_thesaurus(folder / "thesaurus.ttl", language="fr")
    assert french.descriptors[concept.id] == "agrume"


def test_the_thesaurus_is_the_same_for_every_seed(folder: Path, tmp_path: Path) -> None:
    make_dataset(tmp_path / "other", seed=9, train=5, dev=2, test=2)
    for name in ("descriptors.json", "thesaurus.ttl"):
        assert (tmp_path / "other" / name).read_bytes() == (folder / name).read_bytes()


# --- word vectors ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def vectors(folder: Path) -> dict[str, Matrix]:
    lines = (folder / "vectors.txt").read_text("utf-8").splitlines()
    rows = [line.split(" ") for line in lines]
    assert {len(row) for row in rows} == {51}
    found = {row[0]: np.array(row[1:], dtype=np.float64) for row in rows}
    assert len(found) == len(rows)
    return {word: vector / np.linalg.norm(vector) for word, vector in found.items()}


def test_words_of_one_concept_lie_together_and_those_of_its_kin_less_so(
    vectors: dict[str, Matrix],
) -> None:
    def cosine(one: str, other: str) -> float:
        return float(vectors[one] @ vectors[other])

    assert cosine("oranges", "citrus") > cosine("oranges", "peaches") > cosine("oranges", "whereas")
    words = [(s.group, s.name, w) for s in SUBJECTS for w in s.words if w in vectors]
    pairs = [(a, b) for a in words for b in words if a[2] < b[2]]
    same = [cosine(a[2], b[2]) for a, b in pairs if a[1] == b[1]]
    kin = [cosine(a[2], b[2]) for a, b in pairs if a[0] == b[0] and a[1] != b[1]]
    other = [cosine(a[2], b[2]) for a, b in pairs if a[0] != b[0]]
    assert np.mean(same) > 0.6
    assert 0.6 * np.mean(same) > np.mean(kin) > np.mean(other) + 0.15


def test_every_descriptor_word_has_a_vector(
    thesaurus: Thesaurus, vectors: dict[str, Matrix]
) -> None:
    words = re.findall(r"[^\W\d_]{2,}", " ".join(thesaurus.descriptors.values()).lower())
    assert set(words) <= set(vectors)


# --- it repeats --------------------------------------------------------------------------------


def test_two_processes_with_other_hash_seeds_write_the_same_bytes(tmp_path: Path) -> None:
    digests = []
    for hash_seed in ("1", "271828"):
        made = tmp_path / hash_seed
        command = (
            "import sys; from pathlib import Path; "
            "from labelwise.corpus.synthetic import make_dataset; "
            "make_dataset(Path(sys.argv[1]), seed=3, train=150, dev=40, test=40)"
        )
        subprocess.run(
            [sys.executable, "-c", command, str(made)],
            check=True,
            timeout=600,
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
        )
        digests.append(digest(made))
    assert digests[0] == digests[1]


def test_another_seed_gives_other_acts(tmp_path: Path) -> None:
    for seed in (1, 2):
        make_dataset(tmp_path / str(seed), seed=seed, train=5, dev=2, test=2)
    one, two = ((tmp_path / seed / "train.jsonl").read_text("utf-8") for seed in "12")
    assert not set(one.splitlines()) & set(two.splitlines())


def test_the_dice_fall_the_same_way_in_every_version_of_python() -> None:
    dice = Dice("labelwise")
    assert [dice.below(1000) for _ in range(5)] == [14, 273, 5, 974, 544]
    assert sorted(dice.sample("abcdef", 9)) == list("abcdef")
    assert {dice.weighted("ab", (0.0, 1.0)) for _ in range(50)} == {"b"}
    bells = [dice.bell() for _ in range(2000)]
    assert abs(np.mean(bells)) < 0.1
    assert abs(np.std(bells) - 1) < 0.1


# --- where it may be written -------------------------------------------------------------------


def test_an_earlier_synthetic_corpus_is_replaced(tmp_path: Path) -> None:
    make_dataset(tmp_path, seed=1, train=5, dev=2, test=2)
    make_dataset(tmp_path, seed=2, train=3, dev=2, test=2)
    assert len((tmp_path / "train.jsonl").read_text("utf-8").splitlines()) == 3


def test_a_folder_that_holds_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text("precious")
    with pytest.raises(LabelwiseError, match="holds other files; name a new folder"):
        make_dataset(tmp_path)
    assert (tmp_path / "train.jsonl").read_text() == "precious"


def test_a_file_in_place_of_the_folder_and_an_empty_split_are_named(tmp_path: Path) -> None:
    (tmp_path / "corpus").write_text("a file")
    with pytest.raises(LabelwiseError, match=r"corpus: cannot be used as a folder \(File exists\)"):
        make_dataset(tmp_path / "corpus")
    with pytest.raises(LabelwiseError, match="needs at least one dev act, not 0"):
        make_dataset(tmp_path / "new", dev=0)
    assert not (tmp_path / "new").exists()


# --- it tells methods apart --------------------------------------------------------------------


def recall_at_5(scores: Matrix, gold: Matrix, columns: slice) -> float:
    """The paper's RP@5 within a group."""
    scores, gold = scores[:, columns], gold[:, columns]
    kept = gold.sum(1) > 0
    top = np.argsort(-scores[kept], axis=1, kind="stable")[:, :5]
    hits = np.take_along_axis(gold[kept], top, axis=1).sum(1)
    return float(np.mean(hits / np.minimum(5, gold[kept].sum(1))))


def chance_at_5(gold: Matrix, columns: slice) -> float:
    rounds = [np.random.RandomState(seed).rand(*gold.shape) for seed in range(20)]
    return float(np.mean([recall_at_5(scores, gold, columns) for scores in rounds]))


@pytest.fixture(scope="module")
def verbatim(data: Dataset) -> Matrix:
    """How often each descriptor stands in each test act."""
    names = [label.descriptor.lower() for label in data.label_space.labels]
    texts = [document.text.lower() for document in data.test]
    return np.array(
        [
            [len(re.findall(rf"\b{name}\b", text)) if name in text else 0 for name in names]
            for text in texts
        ]
    )


@pytest.fixture(scope="module")
def svm(data: Dataset) -> Matrix:
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2)
    train = vectorizer.fit_transform([document.text for document in data.train])
    test = vectorizer.transform([document.text for document in data.test])
    labels = data.label_space.gold(data.train).toarray()
    scores = np.full((test.shape[0], labels.shape[1]), -9.0)
    for column in np.flatnonzero(labels.any(0)):
        scores[:, column] = LinearSVC().fit(train, labels[:, column]).decision_function(test)
    return scores


def everything(space: LabelSpace) -> slice:
    return slice(0, len(space))


def test_exact_match_finds_some_labels_and_by_far_not_all(
    data: Dataset, gold: Matrix, verbatim: Matrix
) -> None:
    found = (verbatim > 0) & (gold > 0)
    assert 0.2 < found.sum() / gold.sum() < 0.5  # recall
    assert 0.3 < found.sum() / (verbatim > 0).sum() < 0.7  # precision


def test_learning_beats_exact_match_clearly_and_is_not_perfect(
    data: Dataset, gold: Matrix, verbatim: Matrix, svm: Matrix
) -> None:
    space = data.label_space
    learned, matched = (recall_at_5(s, gold, everything(space)) for s in (svm, verbatim))
    assert 0.72 < learned < 0.9
    assert learned > matched + 0.3
    frequent = space.groups["frequent"]
    assert recall_at_5(svm, gold, frequent) > recall_at_5(verbatim, gold, frequent) + 0.3


def test_learning_says_nothing_about_zero_shot_labels_but_descriptors_do(
    data: Dataset, gold: Matrix, verbatim: Matrix, svm: Matrix, vectors: dict[str, Matrix]
) -> None:
    space, zero = data.label_space, data.label_space.groups["zero"]
    chance = chance_at_5(gold, zero)
    assert recall_at_5(svm, gold, zero) < 2 * chance
    assert recall_at_5(verbatim, gold, zero) > 1.3 * chance
    named = by_vectors(data, vectors)
    assert recall_at_5(named, gold, zero) > 3 * chance
    seen = everything(space)
    assert recall_at_5(named, gold, seen) < recall_at_5(svm, gold, seen) - 0.15


def by_vectors(data: Dataset, vectors: dict[str, Matrix]) -> Matrix:
    """Each label scored by the words of an act that lie near those of its descriptor."""
    labels = np.array(
        [
            np.mean([vectors[w] for w in re.findall(r"[^\W\d_]{2,}", label.descriptor.lower())], 0)
            for label in data.label_space.labels
        ]
    )
    labels /= np.linalg.norm(labels, axis=1, keepdims=True)
    scores = []
    for document in data.test:
        words = sorted(set(re.findall(r"[^\W\d_]{2,}", document.text.lower())) & vectors.keys())
        near = np.array([vectors[word] for word in words]) @ labels.T  # words × labels
        weights = np.exp(8 * near)
        scores.append((weights * near).sum(0) / weights.sum(0))
    return np.array(scores)
