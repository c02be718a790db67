"""The words of skeletons as Python objects, so that editors and linters know them; the parser gives them meaning.

`min`, `max`, `range` and `exit` are words too, under Python's own names.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from exogpu.lang.surface import Vocabulary, Word
from exogpu.skeleton.cuda import meant

__all__ = [
    "arrive",
    "bar_arrive",
    "bar_sync",
    "bulk_commit",
    "bulk_wait",
    "bulk_wait_read",
    "ceildiv",
    "check",
    "clc_query",
    "cluster",
    "cluster_arrive",
    "cluster_sync",
    "cluster_wait",
    "cp_arrive",
    "cp_async",
    "cp_commit",
    "cp_wait",
    "cp_wait_all",
    "cta_sync",
    "edit",
    "elect",
    "expect",
    "fence",
    "fence_tensormap",
    "flags",
    "gmem",
    "init",
    "init_fence",
    "inval",
    "lane",
    "launch",
    "load",
    "maxnreg_dec",
    "maxnreg_inc",
    "mbarrier",
    "mma5",
    "mma5_commit",
    "pdl_trigger",
    "pdl_wait",
    "peer",
    "pred",
    "proxy_fence",
    "rank",
    "registers",
    "require",
    "role",
    "signal",
    "signal_add",
    "size",
    "smem",
    "spin",
    "st_async",
    "store",
    "tid",
    "tm_acquire",
    "tm_release",
    "tma_load",
    "tma_reduce",
    "tma_store",
    "tmem_alloc",
    "tmem_cp",
    "tmem_free",
    "tmem_ld",
    "tmem_st",
    "tmem_wait_ld",
    "unknown",
    "update",
    "wait",
    "warp",
    "warp_sync",
    "wgmma",
    "wgmma_commit",
    "wgmma_fence",
    "wgmma_wait",
]

_word = partial(Word, decorator="@skeleton")
_unsupported = partial(_word, about="has no model: the verdict is UNSUPPORTED")

size = _word("size", "the type of a size argument")
require = _word("require", "require(condition): a precondition on the sizes")
cluster = _word("cluster", "cluster(n): the skeleton runs in clusters of n CTAs")
launch = _word("launch", "launch(registers=n): registers per thread at launch")
smem = _word("smem", "x = smem(3, 128): shared memory in cells; at=y[0] lies on top of another object")
gmem = _word("gmem", "y = gmem(n): global memory in cells; result=True: every cell is written by the end")
registers = _word("registers", "a = registers(2): registers of every thread")
mbarrier = _word("mbarrier", "b = mbarrier(3, count=1): mbarriers; without a count, init() initialises them")
flags = _word("flags", "f = flags(4): integers in global memory, 0 at first")
role = _word("role", "with role(name, threads=n) or role(name, warps=n): threads that execute the body; ctas=0")
elect = _word("elect", "with elect(): one thread of each unit; any=True: one that the hardware chooses")
tid: Any = _word("tid", "the thread's number inside its role")
warp: Any = _word("warp", "tid // 32")
lane: Any = _word("lane", "tid % 32")
rank: Any = _word("rank", "the CTA inside its cluster")
pred = _word("pred", "pred(name, ...): an unknown condition that depends on the arguments alone")
unknown = _word("unknown", "unknown(name, ..., below=n): an unknown number that depends on the arguments alone")
peer = _word("peer", "peer(x, c): x in the CTA c of the cluster")
ceildiv = _word("ceildiv", "ceildiv(a, b): a / b rounded up")
load = _word("load", "load(x): ordinary read")
store = _word("store", "store(x): ordinary write")
update = _word("update", "update(x): atomic update")
st_async = _word("st_async", "st_async(peer(x, c), peer(b, c), bytes=n): asynchronous store into a peer's memory")
tma_load = _word("tma_load", "tma_load(x, b, bytes=n): bulk copy into shared memory; multicast=(0, 1), src=y[i]")
tma_store = _word("tma_store", "tma_store(x, y[i]): bulk copy out of shared memory")
tma_reduce = _word("tma_reduce", "tma_reduce(x, y[i]): bulk reduction out of shared memory")
bulk_commit = _word("bulk_commit", "bulk_commit(): closes the thread's bulk group")
bulk_wait = _word("bulk_wait", "bulk_wait(n): until at most n bulk groups are left")
bulk_wait_read = _word("bulk_wait_read", "bulk_wait_read(n): until all but n have read their sources")
cp_async = _word("cp_async", "cp_async(x, y[i]): non-bulk asynchronous copy by every executing thread")
cp_commit = _word("cp_commit", "cp_commit(): closes the thread's cp.async group")
cp_wait = _word("cp_wait", "cp_wait(n): until at most n cp.async groups are left")
cp_wait_all = _word("cp_wait_all", "cp_wait_all(): until all cp.async of the thread have landed")
cp_arrive = _word("cp_arrive", "cp_arrive(b, noinc=True): arrives when the thread's earlier cp.async have landed")
wgmma = _word("wgmma", 'wgmma(acc, x, y, shape="n128"): asynchronous product by a warpgroup')
wgmma_fence = _word("wgmma_fence", "wgmma_fence(): registers may be used by wgmma")
wgmma_commit = _word("wgmma_commit", "wgmma_commit(): closes the wgmma group")
wgmma_wait = _word("wgmma_wait", "wgmma_wait(n): until at most n wgmma groups are left")
init = _word("init", "init(b, n): mbarrier.init with n arrivals")
inval = _word("inval", "inval(b): mbarrier.inval")
arrive = _word("arrive", 'arrive(b, tx=n, count=k, relaxed=True, scope="cluster"): mbarrier.arrive')
expect = _word("expect", "expect(b, n): mbarrier.expect_tx")
wait = _word("wait", 'wait(b, parity, relaxed=True, scope="cluster"): until the phase of this parity is over')
cta_sync = _word("cta_sync", "cta_sync(): all threads of the CTA")
bar_sync = _word("bar_sync", "bar_sync(id, n): named barrier for n threads")
bar_arrive = _word("bar_arrive", "bar_arrive(id, n): arrives on a named barrier without waiting")
warp_sync = _word("warp_sync", "warp_sync(): all lanes of the warp")
cluster_sync = _word("cluster_sync", "cluster_sync(): all threads of the cluster")
cluster_arrive = _word("cluster_arrive", "cluster_arrive(relaxed=True): the first half of cluster_sync")
cluster_wait = _word("cluster_wait", "cluster_wait(): the second half of cluster_sync")
proxy_fence = _word("proxy_fence", "proxy_fence(everywhere=True): generic accesses before, asynchronous ones after")
init_fence = _word("init_fence", "init_fence(): makes the initialisation of mbarriers visible to the cluster")
fence = _word("fence", 'fence("gpu"): fence.acq_rel at a scope')
signal = _word("signal", 'signal(f, v, relaxed=True, scope="gpu"): stores v to a flag')
signal_add = _word("signal_add", 'signal_add(f, v, relaxed=True, scope="gpu"): adds v to a flag')
spin = _word("spin", 'spin(f, v, relaxed=True, scope="gpu"): until the flag is at least v')
maxnreg_inc = _word("maxnreg_inc", "maxnreg_inc(n): setmaxnreg.inc")
maxnreg_dec = _word("maxnreg_dec", "maxnreg_dec(n): setmaxnreg.dec")
check = _word("check", 'check(c, "why"): c holds whenever it is reached')

mma5 = _unsupported("mma5")
mma5_commit = _unsupported("mma5_commit")
tmem_cp = _unsupported("tmem_cp")
tmem_ld = _unsupported("tmem_ld")
tmem_st = _unsupported("tmem_st")
tmem_wait_ld = _unsupported("tmem_wait_ld")
tmem_alloc = _unsupported("tmem_alloc")
tmem_free = _unsupported("tmem_free")
pdl_wait = _unsupported("pdl_wait")
pdl_trigger = _unsupported("pdl_trigger")
clc_query = _unsupported("clc_query")
edit = _unsupported("edit")
tm_release = _unsupported("tm_release")
tm_acquire = _unsupported("tm_acquire")
fence_tensormap = _unsupported("fence_tensormap")

WORDS: dict[str, Word] = {word.name: word for word in tuple(globals().values()) if isinstance(word, Word)}

UNSUPPORTED = frozenset(word.name for word in WORDS.values() if word.about == _unsupported.keywords["about"])
"""Words for features without a model."""

SKELETONS = Vocabulary("skeleton", WORDS, frozenset({"min", "max", "range", "exit"}), {}, meant)
