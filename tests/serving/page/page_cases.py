"""What the tests of the page share: services in processes of their own, and steps of a user."""

from __future__ import annotations

import base64
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving_cases import PATIENCE, wait_until


@contextmanager
def serving(*arguments: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """`labelwise serve` in a process of its own."""
    command = [str(Path(sys.executable).with_name("labelwise")), "serve", *arguments]
    process = subprocess.Popen(
        [*command, "--port", str(port), "--threads", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        wait_until(lambda: process.poll() is not None or ready(port))
        assert process.poll() is None, process.stderr and process.stderr.read().decode()
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/ready").status_code == 200
    except httpx.TransportError:
        return False


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def pasted(document: Any) -> str:
    """The sections with the words that stand between them in an act."""
    lines, article = [], 0
    for section in document.sections:
        if section.kind == "article":
            article += 1
            if article == 1:
                lines.append("HAS ADOPTED THIS DECISION:")
            lines.append(f"Article {article}")
        lines.append(section.text)
    return "\n".join(lines)


def paste(page: Any, text: str) -> None:
    """By the clipboard, as a user does."""
    page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    page.focus("#pasted")
    page.keyboard.press("Control+V")


def tag(page: Any, text: str) -> None:
    """Paste a text and wait for the suggestions."""
    paste(page, text)
    page.click("#suggest")
    page.wait_for_selector(".line")
    page.wait_for_selector("#progress", state="hidden")


def drop(page: Any, name: str, data: bytes) -> None:
    """Drop a file on the page, as a user does with the mouse."""
    drop_all(page, {name: data})


def drop_all(page: Any, files: dict[str, bytes]) -> None:
    """Drop several files at once."""
    page.evaluate(
        """(files) => {
            const carried = new DataTransfer();
            for (const [name, data] of files) {
                const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
                carried.items.add(new File([bytes], name));
            }
            for (const kind of ["dragover", "drop"]) {
                document.body.dispatchEvent(new DragEvent(kind, {
                    dataTransfer: carried, bubbles: true, cancelable: true,
                }));
            }
        }""",
        [[name, base64.b64encode(data).decode()] for name, data in files.items()],
    )


def line(page: Any, place: int = 1) -> Any:
    """The line of this rank."""
    return page.locator(".line").nth(place - 1)


def names(page: Any, chosen: str = ".line .descriptor") -> list[str]:
    """The descriptors that are shown, without their marks."""
    return page.eval_on_selector_all(chosen, "all => all.map((one) => one.firstChild.textContent)")


RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def axe(page: Any) -> list[str]:
    """What the accessibility checker finds wrong, and where."""
    package = pytest.importorskip("axe_playwright_python", reason="needs axe (extra dev)")
    page.evaluate((resources.files(package) / "axe.min.js").read_text("utf-8"))
    found = page.evaluate(
        """(rules) => axe.run(document, {
            runOnly: { type: "tag", values: rules },
            rules: { "label-content-name-mismatch": { enabled: true } },
        })""",
        RULES,
    )
    return [
        f"{rule['id']}: {node['html'][:160]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
