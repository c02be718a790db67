"""Random small kernels: a ring between a producer warp and a consumer warp, with synchronisation that may be wrong."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

HEADER = """from exogpu.lang import *

@proc
def kernel(T: size, K: size, X: f32[T, {width}] @ GMEM, Y: f32[T, 32] @ GMEM):
    require(T >= 1)
    block(producer=warps(1), consumer=warps(1), persistent=True)
    full = mbarrier(ring={ring}, count=1)
    empty = mbarrier(ring={ring}, count=1)
    for t in tasks(0, T):
"""


@dataclass(frozen=True)
class Recipe:
    """The choices that make one kernel."""

    ring: int
    slots: int
    lag: int
    tma: bool
    tx: int
    fence_producer: bool
    fence_consumer: bool
    await_full: bool
    await_empty: bool
    release: str
    proxy: bool
    drain: int | None
    two_reads: bool

    def source(self) -> str:
        """The kernel's text."""
        lines: list[str] = [HEADER.format(ring=self.ring, width=32)]
        add = lines.append
        add("        for k in seq(0, K):\n")
        add(f"            s: f32[1, 32] @ SMEM(ring={self.slots})\n")
        add("            with role(producer):\n")
        add(
            "                for p in threads(1, unit=warp):\n"
            if not self.tma
            else "                for p in threads(1):\n"
        )
        indent = " " * 20
        if self.await_empty:
            add(f"{indent}Await(empty, lag={self.lag})\n")
        if self.tma:
            add(f"{indent}tma_load(s[:, :], X[t : t + 1, 0:32], full)\n")
            add(f"{indent}Arrive(full, tx={self.tx})\n")
        else:
            add(f"{indent}for l in threads(32):\n{indent}    s[0, l] = X[t, l]\n")
            if self.fence_producer:
                add(f"{indent}Fence()\n")
            add(f"{indent}Arrive(full)\n")
        add("            with role(consumer):\n")
        indent = " " * 16
        if self.await_full:
            add(f"{indent}Await(full)\n")
        if self.release == "early":
            add(f"{indent}Arrive(empty)\n")
        read = "s[0, l] + s[0, 31 - l]" if self.two_reads else "s[0, l]"
        add(f"{indent}for l in threads(32):\n{indent}    Y[t, l] = {read}\n")
        if self.proxy:
            add(f"{indent}fence_proxy_async()\n")
        if self.fence_consumer:
            add(f"{indent}Fence()\n")
        if self.release == "each":
            add(f"{indent}Arrive(empty)\n")
        if self.release == "late":
            add(f"{indent}if k > 0:\n{indent}    Arrive(empty)\n")
        if self.release == "late":
            add("        if K > 0:\n            with role(consumer):\n                Arrive(empty)\n")
        if self.drain is not None:
            add(f"    with role(producer):\n        for p in threads(1, unit={'warp' if not self.tma else 1}):\n")
            add(f"            Await(empty, lag={self.drain})\n")
        return "".join(lines)


RIGHT = Recipe(
    ring=2,
    slots=2,
    lag=2,
    tma=True,
    tx=128,
    fence_producer=True,
    fence_consumer=True,
    await_full=True,
    await_empty=True,
    release="each",
    proxy=True,
    drain=None,
    two_reads=True,
)
"""As it is meant."""


recipes = st.builds(
    Recipe,
    ring=st.integers(1, 3),
    slots=st.integers(1, 3),
    lag=st.integers(0, 4),
    tma=st.booleans(),
    tx=st.sampled_from([128, 128, 128, 64, 256]),
    fence_producer=st.sampled_from([True, True, False]),
    fence_consumer=st.sampled_from([True, True, False]),
    await_full=st.sampled_from([True, True, True, False]),
    await_empty=st.sampled_from([True, True, True, False]),
    release=st.sampled_from(["each", "each", "late", "early", "never"]),
    proxy=st.booleans(),
    drain=st.sampled_from([None, None, 1]),
    two_reads=st.booleans(),
)


SIMT_HEADER = """from exogpu.lang import *

@proc
def kernel(T: size, K: size, X: f32[T, 64] @ GMEM, Y: f32[T, 64] @ GMEM):
    require(T >= 1)
    block(64)
    for t in tasks(0, T):
        s: f32[2, 64] @ SMEM
        r: f32[64, 1] @ RMEM(threads=1)
"""

PLACES = ("i", "63 - i", "(i + 1) % 64", "i // 2", "0")
BUFFERS = ("k % 2", "(k + 1) % 2", "0", "1")
GUARDS = ("", "if k > 0:", "if k + 1 < K:", "if i < 32:", "if i == 0:")


@dataclass(frozen=True)
class Access:
    """One statement of a barrier program: a fence, or a shared-memory write or read by every thread."""

    kind: str
    buffer: str
    place: str
    guard: str


accesses = st.builds(
    Access,
    kind=st.sampled_from(["fence", "fence", "write", "read"]),
    buffer=st.sampled_from(BUFFERS),
    place=st.sampled_from(PLACES),
    guard=st.sampled_from(GUARDS),
)


@dataclass(frozen=True)
class BarrierProgram:
    """Accesses and barriers before, inside and after a loop."""

    before: tuple[Access, ...]
    inside: tuple[Access, ...]
    after: tuple[Access, ...]

    def source(self) -> str:
        """The kernel's text."""
        out = [SIMT_HEADER]
        out += [_statement(a, " " * 8, in_loop=False) for a in self.before]
        out.append("        for k in seq(0, K):\n")
        out += [_statement(a, " " * 12, in_loop=True) for a in self.inside] or [" " * 12 + "Fence()\n"]
        out += [_statement(a, " " * 8, in_loop=False) for a in self.after]
        return "".join(out)


def _statement(a: Access, indent: str, *, in_loop: bool) -> str:
    guard = a.guard if in_loop or "k" not in a.guard else ""
    buffer = a.buffer if in_loop or "k" not in a.buffer else "0"
    if a.kind == "fence":
        if "k" in guard:
            return f"{indent}{guard}\n{indent}    Fence()\n"
        return f"{indent}Fence()\n"
    cell = f"s[{buffer}, {a.place}]"
    body = f"{cell} = r[i, 0]" if a.kind == "write" else f"r[i, 0] = {cell}"
    if not guard:
        return f"{indent}for i in threads(64):\n{indent}    {body}\n"
    return f"{indent}for i in threads(64):\n{indent}    {guard}\n{indent}        {body}\n"


barrier_programs = st.builds(
    BarrierProgram,
    before=st.lists(accesses, max_size=3).map(tuple),
    inside=st.lists(accesses, min_size=1, max_size=5).map(tuple),
    after=st.lists(accesses, max_size=2).map(tuple),
)
