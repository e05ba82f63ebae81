"""An act by its name: a CELEX number, an ELI or an address of EUR-Lex, and its text from Cellar.

An address that somebody gives is never asked: the number is taken from it, and the public content
service is asked for that number alone.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from labelwise.corpus import cellar
from labelwise.corpus.celex import CELEX, celex_from_eli, celex_in
from labelwise.corpus.cellar_service import NoTextError, Read, Service, read_file, text_of
from labelwise.corpus.document import Document
from labelwise.corpus.download import DownloadError
from labelwise.corpus.polite import Polite
from labelwise.errors import InputError

LONGEST = 500
"""Characters of a name; EUR-Lex has no longer addresses of acts."""

_ADDRESS = re.compile(r"(?:https?:/+)?(?:www\.)?(?:eur-lex|data|publications)\.europa\.eu/", re.I)
_ELI = re.compile(r"/?eli/[a-z_]+/\d{4}/", re.I)
_DATED = re.compile(r"/(\d{4})-(\d\d)-(\d\d)(?:/|$)")


class UnknownActError(InputError):
    """A name that is none of an act, or of one without an English text."""


def named_act(given: str) -> str | None:
    """The CELEX number of the act that is named; None for anything that is no such name.

    >>> named_act("32016R0679"), named_act("eli/reg/2016/679/oj"), named_act("act.txt")
    ('32016R0679', '32016R0679', None)
    >>> named_act("https://eur-lex.europa.eu/legal-content/EN/TXT/?uri=celex%3A32016R0679")
    '32016R0679'
    >>> named_act("http://data.europa.eu/eli/reg/2016/679/2016-05-04")
    '02016R0679-20160504'
    """
    given = given.strip()
    if len(given) > LONGEST:
        return None
    number = given.upper().removeprefix("CELEX:").strip()
    if CELEX.fullmatch(number):
        return number
    if not (_ADDRESS.match(given) or _ELI.match(given)):
        return None
    address = unquote(given)
    if (celex := celex_from_eli("/" + address.lower())) is not None:
        dated = _DATED.search(address)
        return f"0{celex[1:]}-{''.join(dated.groups())}" if dated else celex
    if (celex := celex_in(address.upper())) is not None:
        return celex
    raise UnknownActError(
        "names no act by its CELEX number or ELI: give such as 32016R0679, which EUR-Lex shows "
        "beside the title",
        file=given,
    )


def asked_once() -> Polite:
    """How the content service is asked while somebody waits for one act."""
    return Polite(rate=2.0, timeout=30.0, attempts=2, pause=1.0)


def fetch_act(
    celex: str, polite: Polite, *, service: Service | None = None, read: Read = read_file
) -> Document:
    """The English text of an act. ``read`` makes documents of a file that came."""
    try:
        return text_of(celex, service or cellar.SERVICE, polite, read)
    except NoTextError as error:
        raise UnknownActError(
            f"cannot be fetched: {error}; check the number", file=celex
        ) from error
    except DownloadError as error:
        raise DownloadError(
            f"{celex} could not be fetched from the Publications Office ({error}): without a "
            "network, give the file of the act"
        ) from error
