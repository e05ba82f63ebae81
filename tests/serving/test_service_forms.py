"""Forms are taken apart in bounded time, apart from everybody's answers."""

from __future__ import annotations

import threading
from typing import Any

import httpx
import pytest

from labelwise.serving import forms
from labelwise.serving.forms import MOST_HEADER, MOST_PARTS, pairs, uploaded
from labelwise.serving.problems import ProblemError
from labelwise.serving.routes import annif

pytestmark = pytest.mark.xdist_group("serving")

KIND = 'multipart/form-data; boundary="b"'


def part(name: str, content: bytes, filename: str | None = "act.txt", more: str = "") -> bytes:
    named = f'; filename="{filename}"' if filename is not None else ""
    head = f'--b\r\nContent-Disposition: form-data; name="{name}"{named}\r\n{more}\r\n'
    return head.encode() + content + b"\r\n"


END = b"--b--\r\n"


def test_the_file_is_found_among_other_parts() -> None:
    content = b"Article 1\r\n--bb\r\n\x00\xff"
    body = part("note", b"x", None) + part("file", content) + part("file", b"second") + END
    assert uploaded(KIND, body) == ("act.txt", content)


def test_a_file_without_a_name_is_read_by_what_it_holds() -> None:
    assert uploaded(KIND, part("file", b"", "") + END) == ("file", b"")


@pytest.mark.parametrize(
    ("kind", "body", "field", "sentence"),
    [
        (KIND, part("other", b"x") + END, "file", "is missing"),
        (KIND, part("file", b"x", None) + END, "file", "is missing"),
        ("text/plain", b"x", "file", "is missing"),
        ("", b"", "file", "is missing"),
        ("multipart/form-data", b"x", "body", "does not say what stands between"),
        (KIND, b"no parts at all", "body", "cannot be told apart"),
        (KIND, part("x", b"") * (MOST_PARTS + 1) + END, "body", "more than 100 parts"),
        (KIND, part("x", b"", None, f"X: {'z' * MOST_HEADER}\r\n") + END, "body", "cannot be read"),
    ],
)
def test_what_is_no_such_form_is_told_why(
    kind: str, body: bytes, field: str, sentence: str
) -> None:
    with pytest.raises(ProblemError, match=sentence) as caught:
        uploaded(kind, body)
    assert (caught.value.problem.status, caught.value.problem.field) == (422, field)


def test_a_form_of_a_thousand_fields_is_refused() -> None:
    assert pairs(b"text=a+b&limit=3&none=") == {"text": "a b", "limit": "3", "none": ""}
    with pytest.raises(ProblemError, match="more than 100 fields"):
        pairs(b"a=1&" * 1000)


def test_no_form_is_judged_on_the_event_loop(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    where: list[str] = []

    def noted(function: Any) -> Any:
        def run(*given: Any) -> Any:
            where.append(threading.current_thread().name)
            return function(*given)

        return run

    monkeypatch.setattr(forms, "uploaded", noted(forms.uploaded))
    monkeypatch.setattr(annif, "_form", noted(annif._form))
    assert client.post("/v1/parse", files={"file": ("a.txt", b"figs")}).status_code == 200
    answer = client.post("/v1/projects/svm/suggest", data={"text": "figs"})
    assert answer.status_code == 200
    assert len(where) == 2
    assert all(name.startswith("asyncio_") for name in where)
