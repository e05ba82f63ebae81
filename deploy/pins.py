"""Pin what the container installs: ``python deploy/pins.py`` (or ``make pins``).

pip says which versions the package needs under ``constraints.txt``; the index says the SHA-256 of
every file of such a version, so that the pins hold on every platform. A build that the index does
not have (PyTorch's for processors alone, ``+cpu``) is pinned by the file that pip found.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

EXTRAS = "serve,linear,tree,thesaurus,files"
INDEX = "https://pypi.org/simple"
HERE = Path(__file__).parent
HEAD = "# Made by deploy/pins.py: versions and SHA-256 of all that the container installs.\n"

_LINK = re.compile(r'href="[^"#]*/([^"#/]+)#sha256=([0-9a-f]{64})"')


def resolved(*wanted: str) -> dict[str, tuple[str, str]]:
    """By name: the version that pip would install, and the digest of the file it would take."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run"]
        command += ["--ignore-installed", "--report", str(report), "-c", "constraints.txt", *wanted]
        subprocess.run(command, check=True, cwd=HERE.parent)
        found = json.loads(report.read_bytes())["install"]
    return {
        re.sub(r"[-_.]+", "-", one["metadata"]["name"]).lower(): (
            one["metadata"]["version"],
            one["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256", ""),
        )
        for one in found
        if "dir_info" not in one["download_info"]  # labelwise itself
    }


def digests(name: str, version: str) -> list[str]:
    """Of all files of a version, as the index has them."""
    with urllib.request.urlopen(f"{INDEX}/{name}/", timeout=60) as answer:
        page = answer.read().decode()
    exact = re.escape(name).replace(r"\-", "[-_.]+") + "-" + re.escape(version) + r"(-|\.tar|\.zip)"
    return sorted(
        {digest for file, digest in _LINK.findall(page) if re.match(exact, file, re.IGNORECASE)}
    )


def pinned(found: dict[str, tuple[str, str]]) -> str:
    lines = []
    for name, (version, own) in sorted(found.items()):
        known = [own] if "+" in version else digests(name, version)
        if not known:
            raise SystemExit(f"{INDEX} knows no digest of {name} {version}")
        hashes = [f"--hash=sha256:{digest}" for digest in known]
        lines.append(" \\\n    ".join([f"{name}=={version}", *hashes]))
    return HEAD + "\n".join(lines) + "\n"


def main() -> None:
    (HERE / "requirements.txt").write_text(pinned(resolved(f".[{EXTRAS}]")), "utf-8")
    (HERE / "requirements-build.txt").write_text(pinned(resolved("hatchling")), "utf-8")


if __name__ == "__main__":
    main()
