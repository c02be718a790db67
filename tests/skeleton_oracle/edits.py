"""Random edits of a program's text: lines taken out, moved, doubled, under other heads; numbers and names changed."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from tests.skeleton_oracle.lines import Block, Line, Path, change, put, walk

NUMBER = re.compile(r"(?<![\w.])\d+")
NAME = re.compile(r"\b[a-z]+\d+\b")


def edited(block: Block, random: Random) -> Block:
    """The program with one edit; maybe the same, maybe not well formed."""
    return random.choice(EDITS)(block, random) if _inside(block) else block


def _inside(block: Block) -> list[tuple[Path, Line]]:
    """Lines of roles, heads of roles left out."""
    return [(p, line) for p, line in walk(block) if len(p) > 2]


def _head(block: Block) -> list[tuple[Path, Line]]:
    return [(p, line) for p, line in walk(block) if len(p) >= 2]


def drop(block: Block, random: Random) -> Block:
    """Without a line and what is in it."""
    path, _ = random.choice(_inside(block))
    return put(block, path)


def double(block: Block, random: Random) -> Block:
    """With a line twice."""
    path, line = random.choice(_inside(block))
    return put(block, path, line, line)


def swap(block: Block, random: Random) -> Block:
    """With a line and the next exchanged."""
    path, _ = random.choice(_inside(block))

    def edit(b: Block, n: int) -> Block:
        return (*b[:n], *b[n + 1 : n + 2], b[n], *b[n + 2 :])

    return change(block, path, edit)


def move(block: Block, random: Random) -> Block:
    """With a line elsewhere, mostly in its role."""
    path, line = random.choice(_inside(block))
    rest = put(block, path)
    near = [p for p, _ in _inside(rest) if p[:2] == path[:2]]
    places = near if near and random.random() < 0.8 else [p for p, _ in _inside(rest)]
    if not places:
        return block
    place = random.choice(places)
    behind = random.random() < 0.5

    def edit(b: Block, n: int) -> Block:
        at = n + behind
        return (*b[:at], line, *b[at:])

    return change(rest, place, edit)


def unwrap(block: Block, random: Random) -> Block:
    """With the lines of a body in place of its head."""
    heads = [(p, line) for p, line in _inside(block) if line.body]
    if not heads:
        return block
    path, line = random.choice(heads)
    return put(block, path, *line.body)


def wrap(block: Block, random: Random) -> Block:
    """With a line under a condition."""
    path, line = random.choice(_inside(block))
    loops = [re.match(r"for (\w+) in", _at(block, path[:k]).text) for k in range(3, len(path))]
    variables = [m.group(1) for m in loops if m]
    heads = ["with elect():", "if tid == 0:", "if n > 1:", "if tid < n:", "if lane < 16:", "if warp == 0:"]
    heads += ['if pred("q", tid):', "if rank == 0:"]
    heads += [f"if {v} < tid:" for v in variables]
    heads += [f"if {v} >= 1:" for v in variables] + [f"if {v} % 2 == 0:" for v in variables]
    heads += [f'if pred("q", {v}):' for v in variables]
    return put(block, path, Line(random.choice(heads), (line,)))


def _at(block: Block, path: Path) -> Line:
    n, *rest = path
    return _at(block[n].body, tuple(rest)) if rest else block[n]


def number(block: Block, random: Random) -> Block:
    """With a number changed."""
    return _text(block, random, NUMBER, lambda text: str(random.choice(_near(int(text)))))


def _near(n: int) -> list[int]:
    return [m for m in {n - 1, n + 1, 0, 1, 2 * n, n // 2} if m >= 0 and m != n]


def name(block: Block, random: Random) -> Block:
    """With one name in place of another of the same kind."""
    known = sorted({m.group() for _, line in walk(block) for m in NAME.finditer(line.text)})

    def other(text: str) -> str:
        kind = text.rstrip("0123456789")
        alike = [k for k in known if k != text and (k.rstrip("0123456789") == kind or {kind} <= {"full", "empty"})]
        return random.choice(alike) if alike else text

    return _text(block, random, NAME, other)


def _text(block: Block, random: Random, what: re.Pattern[str], new: Callable[[str], str]) -> Block:
    places = [(p, line, m) for p, line in _head(block) for m in what.finditer(line.text)]
    if not places:
        return block
    path, line, m = random.choice(places)
    text = line.text[: m.start()] + new(m.group()) + line.text[m.end() :]
    return put(block, path, Line(text, line.body))


REPLACED = (
    (', scope="cluster"', ""),
    ("(everywhere=True)", "()"),
    ("noinc=True", "noinc=False"),
    ("noinc=False", "noinc=True"),
    ("bulk_wait_read", "bulk_wait"),
    ("bulk_wait(", "bulk_wait_read("),
    ("bar_arrive", "bar_sync"),
    ("bar_sync", "bar_arrive"),
    ("arrive(relaxed=True)", "arrive()"),
    ("cluster_arrive()", "cluster_arrive(relaxed=True)"),
    ("1 - rank", "rank"),
    ("rank == 0", "rank == 1"),
    (", 1 - rank)", ", 0)"),
    (", tid]", "]"),
    ("multicast=(0, 1)", "multicast=(0,)"),
    ("multicast=(0, 1)", "multicast=(1,)"),
    (" + 1)", ")"),
    ("wgmma_wait(0)", "wgmma_wait(1)"),
    ("warp_sync()", "cta_sync()"),
    ("cta_sync()", "warp_sync()"),
    ("store(", "load("),
    ("load(", "store("),
    ("with elect():", "if tid == 0:"),
    ("if tid == 0:", "with elect():"),
    ("with elect():", "with elect(any=True):"),
    ("if tid == 0:", "if tid == 31:"),
    ("range(n)", "range(n + 1)"),
    ("range(n)", "range(1, n)"),
    ("range(n)", "range(1, n + 1)"),
    ("range(n + 1)", "range(n)"),
    ("])", "], relaxed=True)"),
    ("])", '], scope="cluster")'),
    ("])", "], count=2)"),
    (", 1)", ", 1, relaxed=True)"),
    (" + 1)", " + 1, relaxed=True)"),
    ("signal(", "signal_add("),
    (", relaxed=True", ""),
    ('fence("gpu")', 'fence("cta")'),
)


def word(block: Block, random: Random) -> Block:
    """With a word or a form changed."""
    found = [(p, line, old, new) for p, line in _head(block) for old, new in REPLACED if old in line.text]
    if not found:
        return block
    path, line, old, new = random.choice(found)
    return put(block, path, Line(line.text.replace(old, new), line.body))


ADDED = (
    "proxy_fence()",
    "warp_sync()",
    "cta_sync()",
    "wgmma_fence()",
    "wgmma_wait(0)",
    "cp_wait_all()",
    "bulk_wait_read(0)",
    'fence("cta")',
    'fence("cluster")',
    "cluster_sync()",
    "exit()",
)


def add(block: Block, random: Random) -> Block:
    """With one more line."""
    path, line = random.choice(_inside(block))
    return put(block, path, Line(random.choice(ADDED)), line)


EDITS = (drop, drop, drop, double, swap, swap, move, move, unwrap, wrap, number, number, number, name, word, word, add)
