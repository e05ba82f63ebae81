"""A real `labelwise serve` and Debian's Chromium, for the tests of the page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from page_cases import free_port, pasted, serving

from labelwise.corpus.dataset import Dataset

# The shell has no window to draw, and takes half the time.
KINDS = ("chromium-headless-shell", "chromium")
CHROMIUM = os.environ.get("LABELWISE_CHROMIUM") or next(filter(shutil.which, KINDS), KINDS[0])


@pytest.fixture(scope="package")
def service(folders: dict[str, Path], synthetic: Dataset) -> Iterator[str]:
    """The address of a service with a linear model, an exact match and a zero-shot network."""
    port = free_port()
    bundles = [f"{name}={folder}" for name, folder in folders.items()]
    thesaurus = synthetic.paths["train"].parent / "thesaurus.ttl"
    with serving(*bundles, "--thesaurus", str(thesaurus), port=port):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Chromium, once for all tests of this folder; gone before other tests run an event loop."""
    driver = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra dev)")
    if not shutil.which(CHROMIUM):
        pytest.skip(f"needs Chromium: apt-get install {KINDS[0]}, or set LABELWISE_CHROMIUM")
    with driver.sync_playwright() as started:
        found = shutil.which(CHROMIUM)
        chromium = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@dataclass
class Watch:
    """What a page did while it was looked at."""

    hosts: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)


Open = Callable[..., Any]

LATE = float(os.environ.get("LABELWISE_LATE", "0"))
"""Milliseconds by which every answer comes late: what a test takes for granted too early then
fails (`make test-browser-late`)."""


def make_late(context: Any, page: Any) -> None:
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    conditions = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
    session.send("Network.emulateNetworkConditions", {**conditions, "latency": LATE})


@pytest.fixture
def open_page(browser: Any, service: str) -> Iterator[Open]:
    """Open the desk in a fresh profile. Afterwards: no other host was asked, nothing went wrong.

    A test that breaks something on purpose says which errors it expects (`expected`).
    """
    contexts, watches = [], []

    def opened(url: str = service, *, expected: tuple[str, ...] = (), **options: Any) -> Any:
        options = {"viewport": {"width": 1360, "height": 860}, "locale": "en-GB"} | options
        script, waits = options.pop("script", ""), options.pop("waits", "#model option")
        context = browser.new_context(**options)
        context.set_default_timeout(240_000)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        if script:
            context.add_init_script(script)
        watch = Watch()
        page = context.new_page()
        if LATE:
            make_late(context, page)
        page.on("request", lambda request: watch.hosts.add(urlsplit(request.url).netloc))
        page.on("pageerror", lambda error: watch.errors.append(str(error)))
        page.on("dialog", lambda dialog: (watch.errors.append(dialog.message), dialog.dismiss()))
        page.on(
            "console",
            lambda said: said.type in ("error", "warning") and watch.errors.append(said.text),
        )
        contexts.append(context)
        watches.append((watch, urlsplit(url).netloc, expected))
        page.goto(url)
        page.wait_for_selector(waits, state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    for watch, host, expected in watches:
        assert watch.hosts <= {host, ""}, "the page asked another host"
        unexpected = [one for one in watch.errors if not any(part in one for part in expected)]
        assert not unexpected


@pytest.fixture
def page(open_page: Open) -> Any:
    return open_page()


@pytest.fixture(scope="session")
def act_text(synthetic: Dataset) -> str:
    """A synthetic act of about 700 words, as one would paste it."""
    best = min(synthetic.test, key=lambda one: abs(len(one.text.split()) - 700))
    return pasted(best)
