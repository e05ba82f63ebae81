"""Ask whether faults of the pinned packages are known: ``python deploy/audit.py`` (``make audit``).

It ends with 0 where none is known, with 1 where there are some, and with 2 where nobody could be
asked.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PINS = Path(__file__).parent / "requirements.txt"
UNREACHED = ("ConnectionError", "ServiceError", "ConnectTimeout", "NameResolution", "Max retries")


def main() -> int:
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(PINS)]
    command += ["--disable-pip", "--require-hashes", "--progress-spinner", "off"]
    command += ["--vulnerability-service", "osv"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    sys.stdout.write(done.stdout)
    if done.returncode and any(word in done.stderr for word in UNREACHED):
        sys.stderr.write(
            "The list of known faults (osv.dev) cannot be reached from here: nothing was audited. "
            "Call it again with a network.\n"
        )
        return 2
    sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
