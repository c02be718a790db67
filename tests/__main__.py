"""Every check of the project in one command, `python -m tests`: lint, format, types, tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    ("pytest", "-n", "2", "-q"),
)


def main() -> int:
    """Runs every check, the tests last, also after a failure; returns 1 if any failed."""
    status = 0
    for check in CHECKS:
        print("==>", *check, flush=True)
        if subprocess.run([sys.executable, "-m", *check], cwd=ROOT, check=False).returncode != 0:
            print("==> FAILED:", *check, flush=True)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
