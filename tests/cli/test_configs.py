"""Settings in TOML files: checked like those of the command line, which wins over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from conformance import QUICK
from encoder_cases import tiny_encoder

from labelwise import bundle as bundles
from labelwise.corpus.dataset import open_dataset
from labelwise.corpus.synthetic import make_dataset
from labelwise.errors import InputError, LabelwiseError
from labelwise.experiments.configs import find_vectors, read_config, settings_from
from labelwise.experiments.settings import typed
from labelwise.methods import REGISTRY, get
from labelwise.methods.bigru_lwan import BigruLwanSettings
from labelwise.text.vector_files import write_vectors
from labelwise.text.vectors import read_vectors

ROOT = Path(__file__).parents[2]


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "bigru-lwan.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_file_sets_what_it_names_and_leaves_the_rest(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        "# tried on dev\nunits = 400\nlearning_rate = 2e-3\nmax_seconds = 'none'\n"
        'learned_vectors = "missing"\nscale_by_length = false\n',
    )
    settings = settings_from(BigruLwanSettings, "bigru-lwan", file)
    assert settings == BigruLwanSettings(
        units=400, learning_rate=2e-3, learned_vectors="missing", max_seconds=None
    )


def test_the_command_line_wins(tmp_path: Path) -> None:
    file = written(tmp_path, "units = 400\ndropout = 0.2\n")
    settings = settings_from(BigruLwanSettings, "bigru-lwan", file, ["units=200", "seed=3"])
    assert (settings.units, settings.dropout, settings.seed) == (200, 0.2, 3)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("unit = 3", r"bigru-lwan\.toml: there is no setting 'unit'; bigru-lwan has these"),
        ("units = 'many'", r"bigru-lwan\.toml: the setting 'units' of bigru-lwan cannot be 'many'"),
        ("dropout = 3.0", r"bigru-lwan\.toml: dropout must be from 0 to below 1, not 3\.0"),
        ("units = \nseed = 1", r"bigru-lwan\.toml: not TOML \(.*line 1"),
        ("[training]\nunits = 3", r"bigru-lwan\.toml, field 'training': a file of settings has"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_the_file(
    tmp_path: Path, text: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        settings_from(BigruLwanSettings, "bigru-lwan", written(tmp_path, text))


def test_a_wrong_assignment_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, "units = 400")
    with pytest.raises(LabelwiseError, match="no setting 'unit'") as caught:
        settings_from(BigruLwanSettings, "bigru-lwan", file, ["unit=3"])
    assert "toml" not in str(caught.value)


def test_a_missing_or_binary_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml: there is no such file of settings"):
        read_config(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"bad\.toml: settings are TOML in UTF-8"):
        read_config(tmp_path / "bad.toml")


def test_vectors_are_found_by_their_bare_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data, configs = tmp_path / "data" / "eurlex57k", tmp_path / "configs"
    for folder in (data, configs, tmp_path / "data" / "vectors"):
        folder.mkdir(parents=True)
    assert find_vectors("glove.txt", data) == "glove.txt"
    beside = tmp_path / "data" / "vectors" / "glove.txt"
    beside.touch()
    assert find_vectors("glove.txt", data) == str(beside)
    assert find_vectors("glove.txt", tmp_path / "data") == str(beside)
    (configs / "glove.txt").touch()
    assert find_vectors("glove.txt", data, configs / "han.toml") == str(configs / "glove.txt")
    assert find_vectors(str(beside), data) == str(beside)


def test_train_takes_a_file_of_settings(
    labelwise: Callable[..., object], corpus: Path, tmp_path: Path
) -> None:
    file = tmp_path / "svm.toml"
    file.write_text("min_count = 4\nC = 2.0\n")
    out = tmp_path / "svm.bundle"
    arguments = ("--data", corpus, "--out", out, "--config", file, "--set", "C=3", "--json")
    assert labelwise("train", "svm", *arguments).code == 0  # type: ignore[attr-defined]
    settings = bundles.describe(out)["settings"]
    assert (settings["min_count"], settings["C"]) == (4, 3.0)


@pytest.fixture(scope="module")
def eurlex57k(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small data set, with files of vectors and encoders beside it as the settings name them."""
    folder = tmp_path_factory.mktemp("all") / "eurlex57k"
    make_dataset(folder, train=40, dev=8, test=8)
    known = read_vectors(folder / "vectors.txt")
    (folder.parent / "vectors").mkdir()
    for name, width in {"glove.6B.100d.eurlex57k.txt.xz": 4, "skipgram-200.txt.xz": 3}.items():
        vectors = type(known)(known.words, known.matrix[:, :width])
        write_vectors(folder.parent / "vectors" / name, vectors)
    (folder.parent / "encoders").mkdir()
    for name, kind in {"all-MiniLM-L6-v2": "bert", "all-mpnet-base-v2": "mpnet"}.items():
        (folder.parent / "encoders" / name).symlink_to(tiny_encoder(kind))
    return folder


SIZES = ("units", "z_units", "filters", "max_tokens", "piece_tokens", "stride", "members")
"""What makes a training long: as in the tests of conformance, where all else is as in the file."""


@pytest.mark.skipif(not (ROOT / "configs").is_dir(), reason="configs/ is not in the package")
@pytest.mark.parametrize("method", REGISTRY)
def test_every_method_is_trained_by_its_file_for_eurlex57k(
    method: str,
    labelwise: Callable[..., object],
    eurlex57k: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch.set_num_threads(1)
    monkeypatch.setenv("LABELWISE_ENCODERS", str(eurlex57k.parent / "encoders"))
    file, cls, out = ROOT / f"configs/eurlex57k/{method}.toml", get(method), tmp_path / "bundle"
    small = {name: value for name, value in QUICK.get(method, {}).items() if name in SIZES}
    small |= {name: 1 for name in ("epochs", "z_epochs") if name in QUICK.get(method, {})}
    sets = [word for name, value in small.items() for word in ("--set", f"{name}={typed(value)}")]
    arguments = ("--data", eurlex57k, "--out", out, "--config", file, *sets, "--json")
    called = labelwise("train", method, *arguments)
    assert called.code == 0, called.err  # type: ignore[attr-defined]
    assert file.read_text("utf-8").startswith("# ")
    asked = asdict(settings_from(cls.Settings, method, file)) | small
    if asked.get("vectors"):
        data = open_dataset(eurlex57k).fingerprint
        joined = tmp_path / "vectors" / data / asked["vectors"]
        assert "+" in joined.name
        assert read_vectors(joined).dim == 7
        asked["vectors"] = str(joined)
    assert bundles.load(out).settings == cls.Settings(**asked)
