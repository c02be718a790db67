"""Calls spread over processes: results in order, the first error is the caller's, nothing outlives the caller."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Generic, TypeVar

from exogpu.diagnostics import InternalError

T = TypeVar("T")


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def spread(calls: Sequence[Callable[[], T]], jobs: int) -> Generator[T, None, None]:
    """The results of `calls` in order, worked out by at most `jobs` processes (this one alone if that is 1).

    Workers are forked, so only results are pickled. Closing the iterator ends them.
    """
    jobs = min(jobs, len(calls))
    if jobs <= 1:
        yield from (call() for call in calls)
        return
    crew = [_Worker(calls) for _ in range(jobs)]
    try:
        yield from _collect(crew, len(calls))
    finally:
        for worker in crew:
            worker.end()


def _collect(crew: Sequence[_Worker[T]], count: int) -> Iterator[T]:
    """Hands out indices in order; a result or error waits until all before it are there."""
    pending = iter(range(count))
    ready: dict[int, _Outcome[T]] = {}
    for worker in crew:
        worker.start(next(pending))
    for wanted in range(count):
        while wanted not in ready:
            for connection in wait([w.connection for w in crew if w.busy]):
                worker = next(w for w in crew if w.connection is connection)
                index, outcome = worker.finish()
                ready[index] = outcome
                following = next(pending, None)
                if following is not None:
                    worker.start(following)
        yield ready.pop(wanted).value()


@dataclass(frozen=True, slots=True)
class _Outcome(Generic[T]):
    """What a call returned, or the error that it raised."""

    results: tuple[T, ...]
    error: Exception | None = None

    def value(self) -> T:
        if self.error is not None:
            raise self.error
        return self.results[0]


class _Worker(Generic[T]):
    """A forked process that carries out the calls whose indices it is sent."""

    def __init__(self, calls: Sequence[Callable[[], T]]) -> None:
        forking = multiprocessing.get_context("fork")
        self.connection, theirs = forking.Pipe()
        self.process = forking.Process(target=_serve, args=(calls, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.busy = False

    def start(self, index: int) -> None:
        """Gives it the next call."""
        self.connection.send(index)
        self.busy = True

    def finish(self) -> tuple[int, _Outcome[T]]:
        """Index and outcome of its call."""
        self.busy = False
        try:
            received: tuple[int, _Outcome[T]] = self.connection.recv()
        except EOFError:
            self.process.join()
            raise InternalError(f"a worker process ended with status {self.process.exitcode}") from None
        return received

    def end(self) -> None:
        """Ends the process, whatever it is doing."""
        self.connection.close()
        self.process.terminate()
        self.process.join()


def _serve(calls: Sequence[Callable[[], object]], connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's, which then ends its workers
    while True:
        try:
            index = connection.recv()
        except EOFError:
            return
        connection.send((index, _outcome(calls[index])))


def _outcome(call: Callable[[], T]) -> _Outcome[T]:
    try:
        return _Outcome((call(),))
    except Exception as error:
        return _Outcome((), _portable(error))


def _portable(error: Exception) -> Exception:
    """The error as it can cross processes, with the place where it was raised."""
    trace = traceback.format_exc()
    try:
        copy: Exception = pickle.loads(pickle.dumps(error))
    except Exception:
        return InternalError(trace)
    copy.add_note(trace)
    return copy
