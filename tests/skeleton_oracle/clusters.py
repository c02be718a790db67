"""Fragments of two CTAs: multicast rings, arrivals and stores in the peer, barriers of the cluster."""

from __future__ import annotations

from tests.skeleton_oracle.lines import Block, Line, lines
from tests.skeleton_oracle.teams import BYTES, Build, Team
from tests.skeleton_oracle.trips import Round, trips


def multicast(b: Build, producer: Team, consumer: Team) -> None:
    """Each CTA loads its half of a slot for both; or the first loads all for both."""
    depth = b.pick((1, 2, 2, 3))
    halves = b.chance(0.6)
    rounds = trips(b, depth)
    full, empty, tile = (b.name(p) for p in ("full", "empty", "tile"))
    scope = ', scope="cluster"'
    each = consumer.threads == 1 or not consumer.warps
    arrivals = consumer.threads if each else consumer.units

    def load(r: Round) -> Block:
        announce = [f"wait({empty}[{r.slot}], parity={r.turn} + 1{scope})", f"arrive({full}[{r.slot}], tx={BYTES})"]
        announce[1:1] = ["proxy_fence(everywhere=True)"]  # in the CTA of the copies, too
        part, size = (f"{tile}[{r.slot}, rank]", BYTES // 2) if halves else (f"{tile}[{r.slot}]", BYTES)
        copy = lines(f"tma_load({part}, {full}[{r.slot}], bytes={size}, multicast=(0, 1))")
        return (*lines(*announce), *(copy if halves else (Line("if rank == 0:", copy),)))

    def use(r: Round) -> Block:
        fence = "proxy_fence(everywhere=True)"
        # CTA 1 waits for its own consumer: nobody gets ahead of that who is told of CTA 0 alone
        free = lines(*(f"arrive(peer({empty}[{r.slot}], {c}){scope})" for c in (1, 0)))
        release = free if each else (*lines("warp_sync()"), Line("with elect():", free))
        return (*lines(f"wait({full}[{r.slot}], parity={r.turn})", f"load({tile}[{r.slot}])", fence), *release)

    producer.body += producer.one(*rounds.loop(b, load, plain=producer.threads > 1 and b.chance(0.9)))
    consumer.body += rounds.loop(b, use)
    b.objects += [
        f"{full} = mbarrier({depth}, count=1)",
        f"{empty} = mbarrier({depth}, count={2 * arrivals})",
        f"{tile} = smem({depth}, 2)" if halves else f"{tile} = smem({depth})",
    ]


def handover(b: Build, sender: Team, receiver: Team) -> None:
    """Stores into the peer's memory, and an arrival there."""
    rounds = trips(b, depth := b.pick((1, 2)))
    full, empty = b.declare("full", f"mbarrier({depth}, count={sender.threads})"), b.name("empty")
    b.objects.append(f"{empty} = mbarrier({depth}, count={receiver.threads})")
    x = b.declare("x", f"smem({depth}, {sender.threads})")
    scope = ', scope="cluster"'

    def send(r: Round) -> Block:
        return lines(
            f"wait({empty}[{r.slot}], parity={r.turn} + 1{scope})",
            f"store(peer({x}[{r.slot}, tid], 1 - rank))",
            f"arrive(peer({full}[{r.slot}], 1 - rank){scope})",
        )

    def receive(r: Round) -> Block:
        return lines(
            f"wait({full}[{r.slot}], parity={r.turn}{scope})",
            f"load({x}[{r.slot}])",
            f"arrive(peer({empty}[{r.slot}], 1 - rank){scope})",
        )

    sender.body += rounds.loop(b, send)
    receiver.body += rounds.loop(b, receive)


def asynchronous(b: Build, team: Team) -> None:
    """st.async into the peer, which announces the bytes; all meet before the next round."""
    full = b.declare("full", "mbarrier(count=1)")
    x = b.declare("x", f"smem({team.threads})")
    i = b.name("i")
    one = lines(f"arrive({full}, tx={4 * team.threads})")
    announce = one if team.threads == 1 else (Line("if tid == 0:", one),)
    body = (
        *announce,
        *lines(
            f"st_async(peer({x}[tid], 1 - rank), peer({full}, 1 - rank), bytes=4)",
            f"wait({full}, parity={i})",
            f"load({x})",
        ),
    )
    if len(b.teams) == 1:
        sync = lines("cluster_sync()") if b.chance(0.6) else lines("cluster_arrive()", "cluster_wait()")
        team.body.append(Line(f"for {i} in range({b.pick(('n', 'n + 1', '3'))}):", (*body, *sync)))
    else:
        team.body += tuple(Line(line.text.replace(i, "0"), line.body) for line in body)


def meetings(b: Build, team: Team) -> None:
    """The peer's memory is written, between meetings of the cluster."""
    x = b.declare("x", f"smem({team.threads})")
    i = b.name("i")
    first, second = (b.pick((("cluster_sync()",), ("cluster_arrive()", "cluster_wait()"))) for _ in range(2))
    write = b.pick((f"store(peer({x}[tid], 1 - rank))", f"store({x}[tid])"))
    read = f"load({x})" if "peer" in write else f"load(peer({x}, 1 - rank))"
    body = lines(write, *first, read, *second)
    rounds = Line(f"for {i} in range({b.pick(('n', 'n', '2 * n', '3'))}):", body)
    team.body += (Line("cluster_sync()"), rounds)
