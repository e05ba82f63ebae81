"""Which language a text is in: told where it is plain, and not guessed where it is not."""

from __future__ import annotations

import doctest
import sys
from collections.abc import Iterator

import pytest

from labelwise.corpus.dataset import Dataset
from labelwise.text import language
from labelwise.text.language import NAMES, language_of, mismatch

# Written for this test: "The duty on oranges and lemons that come from third countries shall be
# fixed every week by the Commission."
DUTIES = {
    "bg": "Митото за портокали и лимони, които идват от трети страни, се определя всяка седмица.",
    "cs": "Clo na pomeranče a citrony, které pocházejí z třetích zemí, stanoví každý týden Komise.",
    "da": "Tolden på appelsiner og citroner, der kommer fra tredjelande, fastsættes hver uge.",
    "de": "Der Zoll auf Orangen und Zitronen aus Drittländern wird jede Woche neu festgesetzt.",
    "el": "Ο δασμός στα πορτοκάλια και τα λεμόνια από τρίτες χώρες καθορίζεται κάθε εβδομάδα.",
    "en": "The duty on oranges and lemons that come from third countries is fixed every week.",
    "es": "El derecho sobre las naranjas y los limones de terceros países se fija cada semana.",
    "fi": "Kolmansista maista tulevien appelsiinien ja sitruunoiden tulli vahvistetaan joskus.",
    "fr": "Le droit sur les oranges et les citrons des pays tiers est fixé chaque semaine.",
    "hu": "A harmadik országokból érkező narancs és citrom vámját minden héten megállapítják.",
    "it": "Il dazio sulle arance e sui limoni che vengono da paesi terzi è fissato ogni settimana.",
    "nl": "Het recht op sinaasappelen en citroenen uit derde landen wordt elke week vastgesteld.",
    "pl": "Cło na pomarańcze i cytryny z państw trzecich ustala się co tydzień przez Komisję.",
    "pt": "O direito sobre as laranjas e os limões de países terceiros é fixado todas as semanas.",
    "ro": "Taxa pentru portocale și lămâi din țări terțe se stabilește în fiecare săptămână.",
    "sv": "Tullen på apelsiner och citroner som kommer från tredjeland fastställs varje vecka.",
}


def test_the_examples_hold() -> None:
    assert doctest.testmod(language).failed == 0


@pytest.mark.parametrize("code", DUTIES)
def test_a_few_sentences_tell_their_language(code: str) -> None:
    assert language_of(f"{DUTIES[code]} " * 3) == code


def test_every_language_of_the_union_has_a_name() -> None:
    assert len(NAMES) == 32
    assert all(code in language.prepared().labels for code in NAMES)


@pytest.mark.parametrize("text", ["", "Article 1", "12 345 678 " * 50, "oranges"])
def test_what_tells_nothing_is_not_guessed(text: str) -> None:
    assert language_of(text) is None


def test_an_english_act_with_a_list_in_other_languages_is_not_called_foreign() -> None:
    lists = " ".join(DUTIES[code] for code in ("el", "bg"))
    text = f"{DUTIES['en']} " * 10 + f"{lists} " * 10
    assert language_of(text) in {"en", None}


def test_only_what_the_model_does_not_read_is_worth_a_word() -> None:
    assert mismatch("de", "en") == "looks like German; the model reads English"
    assert mismatch("en", "en") is mismatch(None, "en") is mismatch("de", None) is None


@pytest.fixture
def without_the_extra(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "py3langid.langid", None)
    language.prepared.cache_clear()
    yield
    language.prepared.cache_clear()


@pytest.mark.usefixtures("without_the_extra")
def test_without_the_extra_nothing_is_told() -> None:
    assert language_of(DUTIES["fr"]) is None


def test_synthetic_acts_are_english(synthetic: Dataset) -> None:
    assert {language_of(act.text) for act in synthetic.dev[:20]} == {"en"}
