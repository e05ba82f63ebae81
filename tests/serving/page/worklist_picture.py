"""Make the picture of the worklist: ``python tests/serving/page/worklist_picture.py``.

Starts `labelwise serve --store` with the bundles named, or as it starts by itself, on synthetic
acts of which some are decided, and writes docs/desk-worklist.png.
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


def decide(store: Store, ids: list[str], fingerprint: str) -> None:
    """A day's work: what scores above a half is accepted."""
    for place, who, done in WORK:
        found = store.suggestions(ids[place], fingerprint) or []
        changes = [
            Change(
                "accept",
                Concept(one["id"], one["uri"], one["descriptor"]),
                "model",
                fingerprint,
                one["score"],
                one["rank"],
            )
            for one in found
            if one["score"] > 0.5
        ]
        ends = [Change("done")] if done else [Change("open")]
        store.decide(ids[place], [*changes, *ends], version=0, who=who)


def main(arguments: list[str]) -> None:
    port, out = free_port(), HERE.parents[2] / "docs" / "desk-worklist.png"
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
            page.screenshot(path=out)
            chromium.close()
        database.close()
    Image.open(out).quantize(128).save(out, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
