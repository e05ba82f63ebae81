"""The callable that Ray Data, Spark and datasets send to workers; docs/scale.md as it runs."""

from __future__ import annotations

import pickle
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelwise import bundle as bundles
from labelwise.bulk import Tagger
from labelwise.corpus.dataset import Dataset
from labelwise.errors import LabelwiseError
from labelwise.methods import get

PAGE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text("utf-8")

TEXTS = [
    "Regulation on the import of citrus fruit. Oranges and lemons may be imported.",
    "Decision on State aid for the production of steel.",
]


@pytest.fixture(scope="module")
def bundle(synthetic: Dataset, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An exact match, which is fitted in no time."""
    method = get("exact-match")()
    method.fit(synthetic.train[:50], synthetic.dev[:10], synthetic.label_space)
    folder = tmp_path_factory.mktemp("bundles") / "exact-match.bundle"
    bundles.save(method, folder)
    return str(folder)


def test_a_batch_of_columns_gets_one_more(bundle: str) -> None:
    tagger = Tagger(bundle, top=3)
    batch = {"text": np.array(TEXTS, dtype=object), "year": np.array([1999, 2001])}
    found = tagger(batch)
    assert list(found) == ["text", "year", "predictions"]
    assert [len(one) for one in found["predictions"]] == [3, 3]
    assert found["predictions"] == tagger.texts(TEXTS)
    assert set(found["predictions"][0][0]) == {"id", "descriptor", "score", "assigned"}


def test_it_says_what_the_model_says(bundle: str) -> None:
    tagger = Tagger(bundle, top=2, threshold="tuned")
    for text, found in zip(TEXTS, tagger.texts(TEXTS), strict=True):
        expected = tagger.model.tag(text, top=2, threshold="tuned")
        assert [one["id"] for one in found] == [tag.id for tag in expected]


def test_what_it_does_not_give_is_told_before_it_travels(bundle: str) -> None:
    with pytest.raises(LabelwiseError, match="in bulk labels have no evidence: ask `tags` of a"):
        Tagger(bundle, evidence=True)
    with pytest.raises(LabelwiseError, match="a list of texts was expected, and this is one text"):
        Tagger(bundle).texts(TEXTS[0])


def test_it_travels_without_its_model(bundle: str) -> None:
    tagger = Tagger(bundle, top=3)
    before = tagger.texts(TEXTS)
    sent = pickle.dumps(tagger)
    assert len(sent) < 500
    assert pickle.loads(sent).texts(TEXTS) == before


def example(heading: str) -> str:
    """The Python below a heading of the page."""
    found = re.search(rf"^### {heading}\n.*?```python\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None, heading
    return found[1]


def run_example(heading: str, bundle: str, tmp_path: Path) -> dict[str, Any]:
    """Run it on two acts, with the small model in place of the shipped one."""
    import pyarrow as pa
    from pyarrow import parquet

    (tmp_path / "acts").mkdir()
    parquet.write_table(pa.table({"text": TEXTS}), tmp_path / "acts" / "0.parquet")
    code = example(heading).replace("eurovoc-en-small", bundle)
    code = code.replace('"acts/', f'"{tmp_path}/acts/').replace('"tags/', f'"{tmp_path}/tags/')
    names: dict[str, Any] = {}
    exec(code, names)
    return names


def tagged(folder: Path) -> list[str]:
    from pyarrow import parquet

    found = parquet.read_table(folder).to_pylist()
    return sorted(one["predictions"][0]["id"] for one in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("heading", "package"),
    [("Ray Data", "ray.data"), ("Spark", "pyspark"), ("datasets", "datasets")],
)
def test_the_lines_of_the_page_run(
    heading: str, package: str, bundle: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra 'bulk'")
    pytest.importorskip(package, reason=f"needs {package}")
    if heading == "Spark":
        if shutil.which("java") is None:
            pytest.skip("Spark needs Java")
        monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # its workers take any python3 else
    run_example(heading, bundle, tmp_path)
    expected = sorted(one[0]["id"] for one in Tagger(bundle).texts(TEXTS))
    assert tagged(tmp_path / "tags") == expected
