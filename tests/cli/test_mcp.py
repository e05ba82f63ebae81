"""``labelwise mcp``, asked by the official SDK's own client."""

from __future__ import annotations

import doctest
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest
import written_files
from cellar_server import Server, in_the_place_of_cellar
from mcp import Client, StdioServerParameters

from labelwise import bundle as bundles
from labelwise import model
from labelwise.errors import LabelwiseError
from labelwise.methods import Method
from labelwise.serving import assistant
from labelwise.serving.assistant import Assistant
from labelwise.serving.places import Labels, thesaurus_of

FILES = Path(__file__).parents[1] / "corpus" / "files"
FRENCH = (
    "Le droit sur les oranges et les citrons des pays tiers est fixé chaque semaine. "
    "La Commission publie ce droit au Journal officiel, et les États membres le perçoivent."
)


def test_the_examples_hold() -> None:
    assert doctest.testmod(assistant).failed == 0


def asked(server: Any, question: Callable[[Client], Awaitable[Any]]) -> Any:
    """What a client is answered."""

    async def ask() -> Any:
        async with Client(server) as client:
            return await question(client)

    # In a thread of its own: where a browser is driven in this process, a loop runs in the first.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, ask).result()


def told(server: Any, tool: str, **given: Any) -> dict[str, Any]:
    answer = asked(server, lambda client: client.call_tool(tool, given))
    assert not answer.is_error, answer.content
    # Clients of before structured answers read the same as text.
    assert json.loads(answer.content[0].text) == answer.structured_content
    found: dict[str, Any] = answer.structured_content
    return found


def refused(server: Any, tool: str, **given: Any) -> str:
    answer = asked(server, lambda client: client.call_tool(tool, given))
    assert answer.is_error
    return str(answer.content[0].text)


@pytest.fixture(scope="module")
def method(bundle: Path) -> Method:
    return bundles.load(bundle)


@pytest.fixture
def folder(tmp_path: Path, acts: list[dict[str, Any]]) -> Path:
    """Two files within the folder that is opened, and one beside it."""
    opened = tmp_path / "acts"
    (opened / "sub").mkdir(parents=True)
    (opened / "sub" / "act.docx").write_bytes(written_files.docx(written_files.ACT.splitlines()))
    (opened / "acts.jsonl").write_text("\n".join(json.dumps(one) for one in acts[:2]))
    (tmp_path / "secret.txt").write_text("secret")
    (opened / "link.txt").symlink_to(tmp_path / "secret.txt")
    return opened


@pytest.fixture
def server(bundle: Path, method: Method, folder: Path) -> Any:
    """The server within this process."""
    card = bundles.describe(bundle)["card"]
    labels = Labels(method.label_space, thesaurus_of(method.label_space, card, None))
    return Assistant("svm", method, labels, reads="en", folder=folder).server()


def test_an_assistant_starts_the_command_and_uses_its_tools(
    labelwise: Callable, bundle: Path, act: Path, folder: Path
) -> None:
    """Over standard input and output of a process of its own."""
    program = "from labelwise.cli import main; main()"
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-c", program, "mcp", "--bundle", str(bundle), "--folder", str(act.parent)],
        env=dict(os.environ),
    )

    async def session(client: Client) -> list[Any]:
        tools = (await client.list_tools()).tools
        tagged = await client.call_tool("tag_document", {"file": act.name, "top": 3})
        ids = [one["id"] for one in tagged.structured_content["concepts"]]
        why = await client.call_tool("explain_concepts", {"concepts": ids, "file": act.name})
        return [tools, tagged.structured_content, why.structured_content]

    tools, tagged, why = asked(parameters, session)
    assert [tool.name for tool in tools] == [
        "tag_document",
        "explain_concepts",
        "search_concepts",
        "show_concept",
        "list_files",
    ]
    (same,) = labelwise("tag", act, "--bundle", bundle, "--top", 3, "--json").json
    assert [one["id"] for one in tagged["concepts"]] == [one["id"] for one in same["predictions"]]
    assert tagged["document"] == same["document"]
    assert [one["id"] for one in why["reasons"]] == [one["id"] for one in tagged["concepts"]]
    assert all(one["words"] and one["passages"] for one in why["reasons"])


def test_every_tool_and_parameter_is_described(server: Any) -> None:
    for tool in asked(server, lambda client: client.list_tools()).tools:
        assert len(tool.description) > 40
        assert tool.annotations.read_only_hint
        assert tool.output_schema["type"] == "object"
        for name, schema in tool.input_schema["properties"].items():
            assert "description" in schema or name == "limit", (tool.name, name)


def test_a_text_is_tagged_and_what_speaks_for_it_stands_in_it(server: Any) -> None:
    text = written_files.ACT
    tagged = told(server, "tag_document", text=text, top=2)
    assert tagged["title"].startswith("COMMISSION REGULATION")
    scores = [one["score"] for one in tagged["concepts"]]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 2
    best = tagged["concepts"][0]["id"]
    (reason,) = told(server, "explain_concepts", concepts=[best], text=text)["reasons"]
    assert all(word.lower() in " ".join(text.lower().split()) for word in reason["words"])
    assert 1 <= len(reason["passages"]) <= 3


def test_a_text_that_is_the_name_of_a_file_is_a_text(
    server: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert told(server, "tag_document", text="acts.jsonl", top=1)["words"] == 3


def test_a_text_without_a_word_has_no_concepts(server: Any) -> None:
    assert told(server, "tag_document", text=" ")["concepts"] == []


def test_a_text_in_another_language_is_noted(server: Any) -> None:
    notes = told(server, "tag_document", text=FRENCH)["notes"]
    assert notes == ["the document looks like French; the model reads English"]


def test_files_are_those_of_the_folder_alone(server: Any) -> None:
    files = told(server, "list_files")
    assert "sub/act.docx" in files["files"]
    tagged = told(server, "tag_document", file="sub/act.docx")
    assert tagged["document"] == "act"
    for outside in ("../secret.txt", "/etc/passwd", "link.txt", "absent.txt"):
        assert "is no file of the folder" in refused(server, "tag_document", file=outside)
    assert "holds several documents" in refused(server, "tag_document", file="acts.jsonl")


def test_without_a_folder_no_file_is_read(bundle: Path, method: Method) -> None:
    labels = Labels(method.label_space, thesaurus_of(method.label_space, {}, None))
    bare = Assistant("svm", method, labels).server()
    assert "no folder was opened" in refused(bare, "tag_document", file="act.txt")
    names = [tool.name for tool in asked(bare, lambda client: client.list_tools()).tools]
    assert "list_files" not in names


def test_the_thesaurus_is_searched_and_shown(server: Any, method: Method) -> None:
    label = method.label_space.labels[0]
    found = told(server, "search_concepts", query=label.descriptor[:4], limit=100)
    assert label.id in [one["id"] for one in found["concepts"]]
    assert found["total"] >= len(found["concepts"])
    shown = told(server, "show_concept", id=label.id)
    assert (shown["name"], shown["training_documents"]) == (label.descriptor, label.count)
    assert shown["in_model"]


@pytest.mark.parametrize(
    ("tool", "given", "problem"),
    [
        ("tag_document", {}, "give one of text, act and file"),
        ("tag_document", {"text": "figs", "act": "32016R0679"}, "give one of text, act and file"),
        ("tag_document", {"act": "the GDPR"}, "is no CELEX number, no ELI and no address"),
        ("tag_document", {"text": "figs", "top": 0}, "top"),
        ("explain_concepts", {"text": "figs", "concepts": ["x"]}, "not among the concepts"),
        ("show_concept", {"id": "x"}, "neither the model nor its thesaurus"),
    ],
)
def test_what_cannot_be_answered_is_told_in_a_sentence(
    server: Any, tool: str, given: dict[str, Any], problem: str
) -> None:
    assert problem in refused(server, tool, **given)


@pytest.fixture
def office(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with in_the_place_of_cellar(monkeypatch) as state:
        yield state


def test_an_act_is_fetched_once_for_tags_and_reasons(server: Any, office: Server) -> None:
    text = (FILES / "oj_2024.xhtml").read_bytes()
    office.add("32016R0001", date="2016-01-05", text=text)
    tagged = told(server, "tag_document", act="http://data.europa.eu/eli/reg/2016/1/oj", top=1)
    ids = [one["id"] for one in tagged["concepts"]]
    assert told(server, "explain_concepts", concepts=ids, act="32016R0001")["reasons"]
    assert len(office.requests) == 1
    assert "Cellar has no English text" in refused(server, "tag_document", act="32016R0002")


def test_a_wrong_folder_is_said_before_anything_is_served(labelwise: Callable) -> None:
    called = labelwise("mcp", "--folder", "absent")
    assert called.code == 1
    assert "absent: there is no such folder" in called.err


def test_the_model_is_loaded_by_the_front_door(
    labelwise: Callable, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[Path] = []

    def refuse(named: Path) -> None:
        loaded.append(named)
        raise LabelwiseError("as load says it")

    monkeypatch.setattr(model, "load", refuse)
    assert "as load says it" in labelwise("mcp", "--bundle", bundle).err
    assert loaded == [bundle]


def test_without_the_extra_it_says_what_to_install(
    labelwise: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "labelwise.serving.assistant", None)
    assert "labelwise[mcp]" in labelwise("mcp").err
