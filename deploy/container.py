"""Start the container as it is meant to be started, and look: ``make container``.

It takes an image that stands (``podman build -f deploy/Containerfile -t labelwise .``), starts it
as a user without rights on a file system that cannot be written to, has an act tagged over HTTP,
looks from inside at what the process may do, and ends it. Words after ``--`` go to `podman run`,
such as ``-- --runtime runc --network host``; `make container` takes them from the variable PODMAN.
What was found is written to ``benchmarks/results/container.json``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from labelwise.bench.load import free_port
from labelwise.bench.results import machine, write_result

LOCKED = (
    *("--read-only", "--tmpfs", "/tmp", "--cap-drop=all"),
    "--security-opt=no-new-privileges",
)
ACT = "Commission Regulation fixing the import duties on citrus fruit. Oranges and lemons."
TOP = 5
PLACES = ("/", "/etc", "/opt/labelwise", "/usr")
PATIENCE = 900.0
"""Seconds for the service to begin: on a busy machine its imports take minutes."""


def podman(*words: str) -> str:
    done = subprocess.run(["podman", *words], check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"`podman {words[0]}` ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout.strip()


def asked(port: int, path: str, body: bytes | None = None) -> Any:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", body, {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def begun(port: int, name: str) -> float:
    """Wait for the first good answer; the seconds that it took."""
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE:
        try:
            asked(port, "/ready")
            return time.monotonic() - began
        except OSError:
            if name not in podman("ps", "--format", "{{.Names}}").split():
                sys.exit("the container has ended: " + podman("logs", name)[-300:])
            time.sleep(0.5)
    sys.exit(f"the container does not answer within {PATIENCE:g} s")


def inside(name: str, program: str) -> str:
    """What a shell in the container says, with the rights of the service."""
    words = ["podman", "exec", name, "/bin/sh", "-c", program]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    return (done.stdout + done.stderr).strip()


def look(image: str, name: str, more: list[str]) -> dict[str, Any]:
    port = free_port()
    run = ("run", "--detach", "--name", name, *LOCKED, "-p", f"127.0.0.1:{port}:{port}")
    podman(*run, *more, image, "--port", str(port))
    try:
        seconds = begun(port, name)
        tagged = asked(port, "/v1/tag", json.dumps({"text": ACT, "top": TOP}).encode())
        lines = inside(name, "grep -E '^(Uid|CapEff|NoNewPrivs)' /proc/1/status").splitlines()
        rights = {line.split()[0]: line.split()[1] for line in lines}
        outside = inside(name, f"for at in {' '.join(PLACES)}; do touch $at/x; done")
        refused = outside.count("Read-only file system")
        found = len(tagged["predictions"])
        rows = [
            ("user of the service", rights["Uid:"], rights["Uid:"] != "0"),
            ("its capabilities", rights["CapEff:"], int(rights["CapEff:"], 16) == 0),
            ("no new privileges", rights["NoNewPrivs:"], rights["NoNewPrivs:"] == "1"),
            (f"files in {', '.join(PLACES)}", f"{refused} refused", refused == len(PLACES)),
            ("a file in /tmp", inside(name, "touch /tmp/x && echo written"), True),
            ("an act tagged over HTTP", f"{found} concepts", found == TOP),
        ]
        began = time.monotonic()
        podman("stop", "--time", "75", name)
        code = podman("inspect", "--format", "{{.State.ExitCode}}", name)
        took = time.monotonic() - began
        rows.append(("SIGTERM", f"ended with {code} after {took:.1f} s", code == "0"))
    finally:
        subprocess.run(["podman", "rm", "--force", name], check=False, capture_output=True)
    about = json.loads(podman("image", "inspect", image))[0]
    return {
        "what": "The container, locked",
        "text": "The image of `deploy/Containerfile`, started by `podman run "
        f"{' '.join(LOCKED)}`: as a user without rights, on a file system that cannot be written "
        "to but for what lies in memory.",
        "columns": ["looked at", "found", "as it should be"],
        "rows": [
            {"looked at": what, "found": str(found), "as it should be": "yes" if good else "no"}
            for what, found, good in rows
        ],
        "seconds": round(seconds, 1),
        "image": {"created": about["Created"], "bytes": about["Size"], "digest": about["Digest"]},
        "options": more,
        "machine": machine(),
        "versions": {"podman": podman("--version").split()[-1]},
        "command": f"make container PODMAN='{' '.join(more)}'" if more else "make container",
    }


def main() -> int:
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--image", default="labelwise")
    parser.add_argument("--out", type=Path, default=Path("benchmarks"))
    given = parser.parse_args(words[:cut])
    result = look(given.image, f"labelwise-{free_port()}", words[cut + 1 :])
    print(write_result(given.out, "container", result))
    return 0 if all(row["as it should be"] == "yes" for row in result["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())
