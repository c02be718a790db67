"""The table of codes: complete, well-formed, and in step with the codes that the source uses."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from exogpu.codes import Code, all_codes, lookup

ROOT = Path(__file__).resolve().parents[2]
# fmt: off
STABLE = (
    "race.raw", "race.war", "race.waw", "race.async_inflight", "proxy.generic_to_async", "fence.state_space",
    "bar.count", "bar.id_count_mismatch", "bar.divergence", "bar.recycle", "mbar.uninit", "mbar.reinit",
    "mbar.alias", "mbar.init_unordered", "mbar.count", "mbar.tx_bytes", "mbar.parity_alias",
    "mbar.unobserved_phase", "mbar.scope", "mbar.lane_release", "wgmma.reg_fence", "wgmma.reg_inflight",
    "wgmma.convergence", "group.wrong_thread", "group.depth", "cluster.entry", "cluster.exit",
    "cluster.remote_op", "smem.reuse", "setmaxnreg.pool", "deadlock.cycle", "seq.mismatch", "unsupported",
    "unknown",
)
# fmt: on


@pytest.mark.parametrize("name", STABLE)
def test_stable_code_is_explained(name: str) -> None:
    assert lookup(name) is not None


@pytest.mark.parametrize("code", all_codes(), ids=lambda code: str(code.name))
def test_code_is_complete(code: Code) -> None:
    assert not code.meaning.endswith(".") and not code.proved.endswith(".") and code.text.endswith(".")


def test_sections_are_all_read_and_unique() -> None:
    headings = re.findall(r"^## (\S+)$", (ROOT / "exogpu" / "codes.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(headings) == [code.name for code in all_codes()]
    assert len(set(headings)) == len(headings)


def test_unknown_name() -> None:
    assert lookup("no.such_code") is None


def test_every_code_in_the_source_is_in_the_table() -> None:
    """Looks at every string that has the form of a code of a known family, and at the calls of `reject`."""
    used: dict[str, str] = {}
    for room in ("exogpu", "verify", "smt", "codegen"):
        for path in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                used |= dict.fromkeys(_codes(node), f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}")
    assert {name: place for name, place in used.items() if lookup(name) is None} == {}


FAMILIES = "|".join(sorted({code.name.partition(".")[0] for code in all_codes() if "." in code.name}))
CODE = re.compile(rf"({FAMILIES})\.[a-z_0-9]+")


def _codes(node: ast.AST) -> list[str]:
    match node:
        case ast.Call(func=ast.Name("reject"), args=[ast.Constant(str(name)), *_]):
            return [f"lang.{name}"]
        case ast.Constant(str(name)) if CODE.fullmatch(name):
            return [name]
        case _:
            return []
