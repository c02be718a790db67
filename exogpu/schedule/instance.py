"""The bodies of other procedures where statements are proved to do the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from exogpu.ir.index import Cond, Index, Int
from exogpu.ir.instr import BufferInfo
from exogpu.ir.preconditions import is_size
from exogpu.ir.proc import Proc, ScalarArg, SizeArg, TensorArg
from exogpu.ir.stmt import Point, Range, Window
from exogpu.ir.substitute import rename, substitute
from exogpu.ir.terms import add, both, equal
from exogpu.ir.types import Gmem
from exogpu.ir.walk import substitute_cond, substitute_index
from exogpu.schedule.cursor import Where
from exogpu.schedule.errors import Refused, limit
from exogpu.schedule.expr import IndexLike, as_index, words
from exogpu.schedule.match import same_meaning
from exogpu.schedule.paths import Block, Path
from exogpu.schedule.redirect import Dims, Redirect
from exogpu.schedule.windows import WindowLike, as_window
from exogpu.schedule.work import Work, operator


@operator
def replace_by(at: Work, /, where: Where, proc: Proc, **arguments: IndexLike | WindowLike) -> None:
    """Statements as the body of another procedure that is proved to do the same: `replace_by(s, "i", f, n="N // 4",
    x="A[0:4, k]")`.

    A tensor is a window of its shape and type, or by its name a whole buffer, and a scalar the name of one; the
    procedure's preconditions are proved.
    """
    cursor = at.find(where)
    body = _Instance(at, cursor.path, proc, arguments).body()
    same_meaning(at, at.known(cursor.path), cursor.block, body, f"`{proc.name}`", cursor.stmt.span)
    at.splice(cursor.path, cursor.count, body, {(n,): None for n in range(cursor.count)})


@dataclass(frozen=True, slots=True)
class _Instance:
    """A procedure with arguments, in place of the statements at `path`."""

    at: Work
    path: Path
    proc: Proc
    arguments: Mapping[str, IndexLike | WindowLike]

    def body(self) -> Block:
        """Its statements; its preconditions are proved."""
        proc = self.proc
        if proc.barriers or proc.named:
            raise limit(f"`{proc.name}` has barriers", proc.span)
        for name in sorted(self.arguments.keys() ^ {a.name for a in proc.args}):
            raise limit(f"`{proc.name}` has no argument `{name}`, or it is not given", proc.span)
        sizes = {arg.name: self._size(arg) for arg in proc.args if isinstance(arg, SizeArg)}
        facts = self.at.known(self.path)
        for test in self._preconditions(sizes):
            failure = f"a precondition of `{proc.name}` does not always hold: {words(test)}"
            self.at.prove(f"a precondition of `{proc.name}` holds", facts, test, failure)
        # names that clash with none of the procedure at hand, until all arguments are in
        names = {a.name: f"{proc.name}.{a.name}" for a in proc.args}
        body = rename(self.at.copy(proc.body, names), names)
        body = substitute(body, {names[name]: index for name, index in sizes.items()})
        for arg in proc.args:
            match arg:
                case TensorArg(name, dtype, shape):
                    there = tuple(substitute_index(extent, sizes) for extent in shape)
                    body = self._tensor(names[name], name, BufferInfo(dtype, Gmem(), there), body)
                case ScalarArg():
                    body = rename(body, {names[arg.name]: self._scalar(arg)})
                case SizeArg():
                    pass
        return body

    def _size(self, arg: SizeArg) -> Index:
        given = self.arguments[arg.name]
        if isinstance(given, Window):
            raise limit(f"`{arg.name}` is a size, and a window is given", arg.span)
        index = as_index(given)
        self.at.in_scope(index, self.path)
        return index

    def _preconditions(self, sizes: Mapping[str, Index]) -> Iterator[Cond]:
        for index in sizes.values():
            yield is_size(index)
        for require in self.proc.requires:
            yield substitute_cond(require.cond, sizes)

    def _scalar(self, arg: ScalarArg) -> str:
        given = self.arguments[arg.name]
        mine = {a.name for a in self.at.proc.args if isinstance(a, ScalarArg) and a.dtype is arg.dtype}
        if not isinstance(given, str) or given not in mine:
            raise limit(f"`{arg.name}` is a scalar, and no scalar argument of its type is given", arg.span)
        return given

    def _tensor(self, temporary: str, name: str, info: BufferInfo, body: Block) -> Block:
        at, given = self.at, self.arguments[name]
        if isinstance(given, str) and given in at.buffers:
            self._fits(name, info, given, at.buffers[given].shape)
            return rename(body, {temporary: given})
        if not isinstance(given, str | Window):
            raise Refused("schedule.expression", f"`{name}` is a tensor, and no window is given")
        window = as_window(given, at.buffers)
        for d in window.dims:
            at.in_scope(d.index if isinstance(d, Point) else d.lo, self.path)
        self._fits(name, info, window.buffer, tuple(map(Int, window.shape)))

        def dims(given: Dims) -> Dims:
            rest = iter(given)
            return tuple(d if isinstance(d, Point) else _moved(next(rest), d.lo) for d in window.dims)

        return Redirect(temporary, window.buffer, dims, {**at.buffers, temporary: info}, at.buffers).block(body)

    def _fits(self, name: str, info: BufferInfo, given: str, shape: tuple[Index, ...]) -> None:
        """The tensor gets what has its type and shape."""
        dtype = self.at.buffers[given].dtype
        if dtype is not info.dtype:
            raise limit(f"`{name}` holds {info.dtype.value}, and `{given}` {dtype.value}")
        if len(shape) != len(info.shape):
            raise limit(f"`{name}` has {len(info.shape)} dimensions, and {len(shape)} are given")
        goal = both(equal(a, b) for a, b in zip(shape, info.shape, strict=True))
        self.at.prove(f"`{name}` gets its shape", self.at.known(self.path), goal, f"`{name}` has another shape")


def _moved(dim: Point | Range, lo: Index) -> Point | Range:
    if isinstance(dim, Point):
        return Point(add(lo, dim.index))
    return replace(dim, lo=add(lo, dim.lo))
