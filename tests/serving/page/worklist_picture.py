"""Make the pictures of a worklist: ``python tests/serving/page/worklist_picture.py``.

Starts `labelwise serve --store` with the bundles named, or as it starts by itself, on synthetic
acts of which some are decided, and writes docs/desk-worklist.png and docs/desk-agreement.png.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import httpx
from PIL import Image
from playwright.sync_api import sync_playwright

from labelwise.corpus.dataset import open_dataset
from labelwise.corpus.synthetic import make_dataset
from labelwise.desk.database import Database
from labelwise.desk.people import People
from labelwise.desk.records import Change, Concept
from labelwise.desk.store import Store

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from page_cases import free_port, serving  # noqa: E402
from serving_cases import wait_until  # noqa: E402

WORK = ((0, "Ana", True), (1, "Ben", True), (2, "Ben", False), (3, "Ana", True), (4, "Ana", False))
"""Which acts were decided, by whom, and whether they are done."""

LOOKED_AT, ACCEPTED, SECOND_ACCEPTED = 8, 0.3, 0.6
"""Suggestions that are decided on, and the scores from which on two readers accept them."""


def decide(store: Store, ids: list[str], fingerprint: str) -> None:
    """A day's work; what Ana has done, Ben reads a second time."""
    for place, who, done in WORK:
        _read(store, ids[place], fingerprint, who, done=done, least=ACCEPTED)
    for place, who, done in WORK:
        if who == "Ana" and done:
            _read(
                store, ids[place], fingerprint, "Ben", done=True, least=SECOND_ACCEPTED, reading=2
            )


def _read(
    store: Store,
    act: str,
    fingerprint: str,
    who: str,
    *,
    done: bool,
    least: float,
    reading: int = 1,
) -> None:
    changes = [
        Change(
            "accept" if one["score"] > least else "reject",
            Concept(one["id"], one["uri"], one["descriptor"]),
            "model",
            fingerprint,
            one["score"],
            one["rank"],
        )
        for one in (store.suggestions(act, fingerprint) or [])[:LOOKED_AT]
    ]
    added = Change("add", Concept("1309", "http://eurovoc.europa.eu/1309", "import"), "model")
    ends = [Change("done")] if done else []
    store.decide(act, [Change("open")], version=0, who=who, reading=reading)
    store.decide(act, [*changes, added, *ends], version=1, who=who, reading=reading)


def main(arguments: list[str]) -> None:
    port, docs = free_port(), HERE.parents[2] / "docs"
    pictures = [docs / "desk-worklist.png", docs / "desk-agreement.png"]
    address = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder = Path(name)
        make_dataset(folder / "synthetic", seed=3, train=30, dev=5, test=40)
        documents = list(open_dataset(folder / "synthetic").test)
        database = Database(str(folder / "desk.sqlite"))
        store = Store(database)
        store.add([(one, len(one.text.split())) for one in documents], source="acts", who="Ana")
        token = People(database).add("Ana", "reviewer")
        with serving(*arguments, "--store", str(folder / "desk.sqlite"), port=port):
            models = httpx.get(f"{address}/v1/models").json()["models"]
            fingerprint = models[0]["fingerprint"]
            wait_until(lambda: store.unread(fingerprint) is None, 240)
            decide(store, [one.id for one in documents], fingerprint)
            chromium = driver.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = chromium.new_page(viewport={"width": 1360, "height": 640}, locale="en-GB")
            page.goto(address)
            page.fill("#token", token)
            page.click("#signin-form button")
            page.wait_for_selector("#acts tr")
            page.screenshot(path=pictures[0])
            page.set_viewport_size({"width": 1360, "height": 900})
            page.goto(f"{address}/#/agreement")
            page.wait_for_selector("#agreement .tile")
            page.screenshot(path=pictures[1])
            chromium.close()
        database.close()
    for picture in pictures:
        Image.open(picture).quantize(128).save(picture, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
