"""Which language a text is in, as far as a small detector can tell; the extra ``language`` has it.

A model that reads English gives labels to a French act too, and they mean nothing. So whoever tags
is told; without the extra nobody is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from labelwise.text.tokenizer import PATTERN

NAMES = {
    **{"bg": "Bulgarian", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek"},
    **{"en": "English", "es": "Spanish", "et": "Estonian", "fi": "Finnish", "fr": "French"},
    **{"ga": "Irish", "hr": "Croatian", "hu": "Hungarian", "it": "Italian", "lt": "Lithuanian"},
    **{"lv": "Latvian", "mt": "Maltese", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese"},
    **{"ro": "Romanian", "sk": "Slovak", "sl": "Slovenian", "sv": "Swedish"},
    **{"is": "Icelandic", "mk": "Macedonian", "no": "Norwegian", "ru": "Russian"},
    **{"sq": "Albanian", "sr": "Serbian", "tr": "Turkish", "uk": "Ukrainian"},
}
"""Languages that are told apart: those of the Union, and of its neighbours."""

ENGLISH_DATA = ("eurlex57k", "synthetic")
"""Data sets in English, whose models need not say so."""

_STRETCH = 500  # characters that are looked at, at the beginning and in the middle
_FEWEST = 8  # words; fewer tell nothing
_SURE = 0.9


def language_of(text: str) -> str | None:
    """The ISO 639-1 code; None where the text does not tell, or the extra is not installed.

    The middle must not contradict the beginning: an English act may list names in every language.
    """
    middle = max(_STRETCH, len(text) // 2)
    stretches = (text[:_STRETCH], text[middle : middle + _STRETCH])
    told = [one for one in stretches if len(PATTERN.findall(one)) >= _FEWEST]
    detector = prepared() if told else None
    if detector is None:
        return None
    found = [detector.classify(one) for one in told]
    codes = {code for code, sure in found if sure >= _SURE}
    return codes.pop() if len(codes) == 1 and found[0][1] >= _SURE else None


def reads(card: Mapping[str, Any]) -> str | None:
    """The language of a model, by its bundle's card; None where the card does not tell.

    >>> reads({"data": {"name": "eurlex57k+newlaw"}}), reads({"language": "fr"}), reads({})
    ('en', 'fr', None)
    """
    if "language" in card:
        return str(card["language"])
    name = str(card.get("data", {}).get("name", ""))
    return "en" if name.startswith(ENGLISH_DATA) else None


def mismatch(found: str | None, expected: str | None) -> str | None:
    """What to say of a text that the model does not read; None where nothing is wrong.

    >>> mismatch("fr", "en")
    'looks like French; the model reads English'
    """
    if found is None or expected is None or found == expected:
        return None
    return f"looks like {NAMES[found]}; the model reads {NAMES.get(expected, expected)}"


@cache
def prepared() -> Any | None:
    """The detector, which takes a second to load; None without the extra."""
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError:
        return None
    detector = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    detector.set_languages(NAMES)
    return detector
