"""The number by which EUR-Lex knows an act, wherever a file says it."""

from __future__ import annotations

import re
from pathlib import PurePath

from labelwise.corpus.sources import stem

# Sector, year, type, number; then a corrigendum or split number, or a consolidation date.
CELEX = re.compile(
    r"(?<![0-9A-Za-z])[0-9CE](?:19|20)\d\d[A-Z]{1,2}\d{4}(?:R?\(\d\d\))?(?:-\d{8})?(?![0-9A-Za-z])"
)
# The first line of a consolidated text: number, language, date of the version.
_CONSOLIDATED = re.compile(
    r"(?<![0-9A-Za-z])(0(?:19|20)\d\d[A-Z]{1,2}\d{4}(?:R?\(\d\d\))?)\s*[—–-]\s*[A-Z]{2}\s*[—–-]"
    r"\s*(\d\d)\.(\d\d)\.(\d{4})\b"
)
# A corrigendum has a number of its own, which its identifier does not tell.
_ELI = re.compile(r"/eli/(reg|dir|dec|reco)(?:_[a-z_]+)?/(\d{4})/(\d{1,4})(?:/(?!corrigendum)|$)")
_TYPES = {"reg": "R", "dir": "L", "dec": "D", "reco": "H"}
_TITLE_TYPES = (("regulation", "R"), ("directive", "L"), ("decision", "D"))


def celex_in(text: str) -> str | None:
    """The first CELEX number in a text.

    >>> celex_in("https://eur-lex.europa.eu/legal-content/EN/TXT/?uri=CELEX:31990D0097")
    '31990D0097'
    >>> celex_in("CELEX_32016R0679_EN_TXT.html")
    '32016R0679'
    >>> celex_in("02016R0679 — EN — 04.05.2016 — 000.003")
    '02016R0679-20160504'
    """
    if consolidated := _CONSOLIDATED.search(text):
        number, day, month, year = consolidated.groups()
        return f"{number}-{year}{month}{day}"
    found = CELEX.search(text.replace("_", " ").replace("%3A", ":").replace("%3a", ":"))
    return found[0] if found else None


def act_id(id: str) -> str:
    """One way to write the id of an act: a CELEX number in capitals, without what stands around it.

    >>> act_id("CELEX:32016R0679"), act_id(" 32016r0679"), act_id("act-7 ")
    ('32016R0679', '32016R0679', 'act-7')
    """
    own = id.strip()
    number = re.sub(r"(?i)^celex[:_ ]*", "", own).upper()
    return number if CELEX.fullmatch(number) else own


def year_of(id: str) -> int | None:
    """The year in a CELEX number.

    >>> year_of("32010D0395"), year_of("02016R0679-20160504"), year_of("act-7")
    (2010, 2016, None)
    """
    return int(id[1:5]) if CELEX.match(id) else None


def time_of(id: str) -> tuple[int, int, str]:
    """Where an act stands in time, as far as its CELEX number tells: the year, then the number.

    >>> sorted(["32019L0904", "32019R0532", "32016R0679", "act-7"], key=time_of)
    ['act-7', '32016R0679', '32019R0532', '32019L0904']
    """
    number = re.match(r".{5}[A-Z]{1,2}(\d{4})", id) if CELEX.match(id) else None
    return year_of(id) or 0, int(number[1]) if number else 0, id


def celex_from_eli(text: str) -> str | None:
    """The CELEX number of the act that a European Legislation Identifier names.

    >>> celex_from_eli("http://data.europa.eu/eli/dec/2026/454/oj")
    '32026D0454'
    >>> celex_from_eli("http://data.europa.eu/eli/dec/2026/454/corrigendum/2026-03-04/oj")
    """
    found = _ELI.search(text)
    return f"3{found[2]}{_TYPES[found[1]]}{int(found[3]):04d}" if found else None


def celex_from_number(title: str, number: str, year: str) -> str | None:
    """The CELEX number of an act with this title, number and year.

    >>> celex_from_number("COMMISSION REGULATION (EC) No 731/2009", "731", "2009")
    '32009R0731'
    """
    if not (number.isdigit() and len(number) <= 4 and year.isdigit()):
        return None
    full_year = f"19{year}" if len(year) == 2 else year
    lowered = title.lower()
    if lowered.startswith("corrigend"):  # the number is that of the act which it corrects
        return None
    places = [(lowered.find(word), letter) for word, letter in _TITLE_TYPES if word in lowered]
    return f"3{full_year}{min(places)[1]}{int(number):04d}" if places else None


def with_sector(celex: str | None, title: str) -> str | None:
    """The number of a decision, put right where the title shows that no institution took it.

    What the EEA Joint Committee and its like decide belongs to agreements (sector 2). The number
    that the Official Journal gives it stands in square brackets; its ELI is that of a decision.

    >>> with_sector("32024D9265", "DECISION OF THE EEA JOINT COMMITTEE No 9069/2024 [2024/9265]")
    '22024D9265'
    >>> with_sector("32024D9265", "COUNCIL DECISION (CFSP) 2024/9265")
    '32024D9265'
    """
    if celex is None or celex[0] != "3" or celex[5] != "D":
        return celex
    return f"2{celex[1:]}" if f"[{celex[1:5]}/{celex[6:].lstrip('0')}]" in title else celex


def document_id(name: str, *found: str | None) -> str:
    """What the file itself says, else the CELEX number in its name, else its name."""
    return next(filter(None, found), None) or celex_in(PurePath(name).name) or stem(name) or name
