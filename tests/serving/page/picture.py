"""Make the picture of the desk for README: ``python tests/serving/page/picture.py``.

Starts `labelwise serve` with the bundles named, or as it starts by itself, opens the second example
of the page, and writes docs/desk.png.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from page_cases import free_port, line, serving  # noqa: E402

LIT = (1, 2, 3)
ACCEPTED, REJECTED = (1, 2), (4,)


def main(arguments: list[str]) -> None:
    port = free_port()
    out = HERE.parents[2] / "docs" / "desk.png"
    with serving(*arguments, port=port), sync_playwright() as driver:
        chromium = driver.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell"), args=["--no-sandbox"]
        )
        page = chromium.new_page(viewport={"width": 1360, "height": 800})
        page.goto(f"http://127.0.0.1:{port}")
        page.locator("#examples button").nth(1).click()
        page.wait_for_selector(".line")
        for place in LIT:
            line(page, place).locator(".light").click()
            page.wait_for_selector("#lit li.waiting", state="detached")
        for place in ACCEPTED:
            line(page, place).locator(".accept").click()
        for place in REJECTED:
            line(page, place).locator(".reject").click()
        page.wait_for_selector("#progress", state="hidden")
        page.hover("[data-kind=recitals] mark >> nth=1")
        page.wait_for_timeout(400)  # transitions
        page.screenshot(path=out)
        chromium.close()
    Image.open(out).quantize(192).save(out, optimize=True)  # a fifth of the size


if __name__ == "__main__":
    main(sys.argv[1:])
