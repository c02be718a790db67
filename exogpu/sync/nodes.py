"""The statements of a kernel with what encloses them, and what they do to buffers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod

from exogpu.ir.collective import Collective, inside, whole
from exogpu.ir.index import Index, Int
from exogpu.ir.instr import Group, GroupMember, InOrder, Mode, Proxy
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Alloc, Assign, For, If, InstrCall, Range, Role, Seq, Stmt, Tasks, Threads, Unroll, Window
from exogpu.ir.uses import values
from exogpu.ir.value import Read
from exogpu.ir.walk import children

RoleKey = tuple[str, Index | None]


@dataclass(frozen=True, slots=True)
class Node:
    """A statement, the statements around it (outermost first), and for each of them and itself the block in which it
    stands and the collective that executes it."""

    stmt: Stmt
    parents: tuple[Stmt, ...]
    blocks: tuple[tuple[Stmt, ...], ...]
    collectives: tuple[Collective, ...]

    @property
    def block(self) -> tuple[Stmt, ...]:
        """The statement and its siblings."""
        return self.blocks[-1]

    @property
    def who(self) -> Collective:
        """The threads that execute the statement."""
        return self.collectives[-1]

    @property
    def path(self) -> tuple[Stmt, ...]:
        """From the outermost enclosing statement to the statement itself."""
        return (*self.parents, self.stmt)

    @property
    def role(self) -> RoleKey | None:
        """The role, or unit of one, that executes it; None outside roles."""
        found = [s for s in self.parents if isinstance(s, Role)]
        return (found[-1].name, found[-1].index) if found else None

    @property
    def loop(self) -> For | None:
        """The innermost `seq` loop around it."""
        found = [s for s in self.parents if isinstance(s, For) and isinstance(s.mode, Seq)]
        return found[-1] if found else None

    def within(self, outer: Stmt) -> tuple[Stmt, ...]:
        """The path below an enclosing statement."""
        place = next(n for n, s in enumerate(self.parents) if s is outer)
        return self.path[place + 1 :]


def nodes(proc: Proc) -> list[Node]:
    """Every statement, outer before inner, in the order of the text."""

    def visit(block: tuple[Stmt, ...], outer: Node | None, who: Collective) -> Iterator[Node]:
        for stmt in block:
            around = (outer.path, outer.blocks, outer.collectives) if outer is not None else ((), (), ())
            node = Node(stmt, around[0], (*around[1], block), (*around[2], who))
            yield node
            for inner in children(stmt):
                yield from visit(inner, node, inside(proc.block, who, stmt))

    return list(visit(proc.body, None, whole(proc.block)))


@dataclass(frozen=True, slots=True)
class Touch:
    """One access of a statement to a buffer: how, through which proxy, where along its first dimension, and in which
    commit group; `landing`: an asynchronous copy that completes on a barrier."""

    node: Node
    buffer: str
    mode: Mode
    proxy: Proxy
    first: Index
    group: Group | None = None
    landing: bool = False

    @property
    def asynchronous(self) -> bool:
        """Through the async proxy."""
        return self.proxy is Proxy.ASYNC

    @property
    def call(self) -> InstrCall:
        """The instruction."""
        assert isinstance(self.node.stmt, InstrCall)
        return self.node.stmt


def touches(found: Iterable[Node]) -> list[Touch]:
    """Every access of the statements, in their order."""
    return [touch for node in found for touch in _touches(node)]


def _touches(node: Node) -> Iterator[Touch]:
    match node.stmt:
        case Assign(buffer=buffer, index=index, rhs=rhs):
            for value in values(rhs):
                if isinstance(value, Read) and value.index:
                    yield Touch(node, value.buffer, Mode.READ, Proxy.GENERIC, value.index[0])
            yield Touch(node, buffer, Mode.WRITE, Proxy.GENERIC, index[0])
        case InstrCall(instr=instr) as call:
            group = instr.completion.group if isinstance(instr.completion, GroupMember) else None
            landing = not isinstance(instr.completion, GroupMember | InOrder)
            for f in instr.footprints:
                window = call.operand(f.operand)
                if isinstance(window, Window):
                    yield Touch(node, window.buffer, f.mode, f.proxy, _start(window), group, landing)
        case _:
            return


def _start(window: Window) -> Index:
    first = window.dims[0]
    return first.lo if isinstance(first, Range) else first.index


def allocations(found: Iterable[Node]) -> dict[str, Node]:
    """The allocations by name."""
    return {n.stmt.name: n for n in found if isinstance(n.stmt, Alloc)}


def common(paths: Iterable[tuple[Stmt, ...]]) -> tuple[Stmt, ...]:
    """What enclosing statements all paths share, from the outermost."""
    shared: list[Stmt] = []
    for level in zip(*paths, strict=False):
        if any(s is not level[0] for s in level):
            break
        shared.append(level[0])
    return tuple(shared)


def trips(stmt: Stmt) -> int | None:
    """Iterations of a loop with literal bounds, 1 for what is no loop; None if it is not known."""
    match stmt:
        case For(lo=Int(lo), hi=Int(hi)):
            return hi - lo
        case For() | If():
            return None
        case _:
            return 1


def product(stmts: Iterable[Stmt]) -> int | None:
    """How often all these loops together execute what is in them; None if it is not known."""
    counts = [trips(s) for s in stmts]
    return None if None in counts else prod(c for c in counts if c is not None)


def is_threads(stmt: Stmt) -> bool:
    """A loop over threads."""
    return isinstance(stmt, For) and isinstance(stmt.mode, Threads)


def is_serial(stmt: Stmt) -> bool:
    """A loop in order, or a conditional."""
    return isinstance(stmt, If) or (isinstance(stmt, For) and isinstance(stmt.mode, Seq | Unroll))


def is_tasks(stmt: Stmt) -> bool:
    """A loop over tasks."""
    return isinstance(stmt, For) and isinstance(stmt.mode, Tasks)
