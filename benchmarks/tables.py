"""benchmarks/README.md, made from the files in benchmarks/results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

INTRODUCTION = """# Benchmarks

Side by side with peers, in one run each, on the same documents and threads, every peer in an
environment of its own. This page is made by `make bench` from the files in `results/`; the
machines are shared, so times are shown as ratios to the named peer.
"""


def write_readme(folder: Path) -> None:
    parts = [INTRODUCTION]
    for path in sorted((folder / "results").glob("*.json")):
        parts.append(section(json.loads(path.read_text()), path.name))
    (folder / "README.md").write_text("\n".join(parts))


def section(result: dict[str, Any], name: str) -> str:
    ours, peer = result["rows"].items()
    lines = [
        f"## {result['what']}",
        "",
        f"Data: {result['data']['name']} (fingerprint `{result['data']['fingerprint']}`), "
        f"{result['threads']} threads, median of {result['repeats']}. Peer: `{result['peer']}`. "
        f"From `results/{name}`.",
        "",
        f"| | {ours[0]} | {peer[0]} |",
        "| --- | ---: | ---: |",
    ]
    for key, value in ours[1].items():
        other = peer[1][key]
        if key == "fit seconds":
            lines.append(f"| time to fit | {value / other:.2f} | 1 |")
        elif key == "documents scored a second":
            # The peer turns text into features before it scores; that is in its time to fit.
            how = "documents scored a second, ours from text, theirs from features"
            lines.append(f"| {how} | {value / other:.2f} | 1 |")
        elif key == "peak memory":
            lines.append(f"| {key} | {value / 1e9:.1f} GB | {other / 1e9:.1f} GB |")
        elif key == "columns":
            lines.append(f"| {key} | {value:,.0f} | {other:,.0f} |")
        else:
            lines.append(f"| {key} (test) | {value:.4f} | {other:.4f} |")
    return "\n".join([*lines, ""])
