"""Twins for setmaxnreg: registers that are given back only behind a wait for those who get them."""

from exogpu.skeleton import *


def prologue(first=False, cta=True, slots=2):
    """The usual prologue: one thread initialises, all meet, registers move; or the consumer asks for some `first`."""

    @skeleton
    def kernel(n: size):
        launch(registers=168)
        full = mbarrier(slots)
        with role("p", threads=128):
            if tid == 0:
                for s in range(slots):
                    init(full[s], 1)
                init_fence()
            if cta:
                cta_sync()
            else:
                cluster_sync()
            maxnreg_dec(40)
            if tid == 0:
                for s in range(slots):
                    arrive(full[s])
        with role("c", threads=128):
            if first:
                maxnreg_inc(232)
            if cta:
                cta_sync()
            else:
                cluster_sync()
            if not first:
                maxnreg_inc(232)
            for s in range(slots):
                wait(full[s], parity=0)

    return kernel


def third(late):
    """The barrier that is passed before the decrease needs a third role, which hears from the increased one first."""

    @skeleton
    def kernel():
        launch(registers=128)
        done = mbarrier(count=128)
        with role("get", threads=128):
            if late:
                maxnreg_inc(160)
                arrive(done)
                cta_sync()
            else:
                arrive(done)
                cta_sync()
                maxnreg_inc(160)
        with role("give", threads=128):
            cta_sync()
            maxnreg_dec(40)
        with role("other", threads=128):
            if not late:
                cta_sync()
            wait(done, parity=0)
            if late:
                cta_sync()

    return kernel


def twice(between):
    """Two barriers before the decrease; the increase stands between them or behind both."""

    @skeleton
    def kernel():
        launch(registers=128)
        with role("get", threads=128):
            cta_sync()
            if between:
                maxnreg_inc(160)
            cta_sync()
            if not between:
                maxnreg_inc(160)
        with role("give", threads=128):
            cta_sync()
            cta_sync()
            maxnreg_dec(40)

    return kernel


def counted(whole):
    """A named barrier before the decrease, at which the increased warpgroup comes only later: joined or arrived at."""

    @skeleton
    def kernel():
        launch(registers=128)
        with role("get", threads=128):
            cta_sync()
            maxnreg_inc(160)
            bar_sync(1, 256)
        with role("give", threads=128):
            cta_sync()
            if whole:
                bar_arrive(1, 256)
                maxnreg_dec(40)
            else:
                bar_sync(1, 256)
                maxnreg_dec(40)

    return kernel


def waited(before):
    """The increased warpgroup may wait before it asks; not for registers that come only if it has asked."""

    @skeleton
    def kernel():
        launch(registers=128)
        done = mbarrier(count=128)
        with role("get", threads=128):
            if before:
                maxnreg_inc(160)
            arrive(done)
            if not before:
                wait(done, parity=0)
                maxnreg_inc(160)
        with role("give", threads=128):
            if before:
                wait(done, parity=0)
            maxnreg_dec(40)

    return kernel


TWINS = [
    ("progress", prologue(first=True), prologue()),
    ("progress", prologue(first=True, cta=False), prologue(cta=False)),
    ("progress", third(True), third(False)),
    ("progress", twice(True), twice(False)),
    ("progress", counted(False), counted(True)),
    ("progress", waited(True), waited(False)),
]
