"""Skeletons of which the proof has no model, each with the reason that is given."""

from exogpu.skeleton import *


@skeleton
def unknown_trips(tiles: size):
    x = smem()
    with role("all", threads=128):
        for t in range(tiles):
            for k in range(unknown("blocks", t, below=8)):
                load(x)


@skeleton
def trips_of_a_counter(n: size):
    full = mbarrier(count=1)
    with role("all", threads=1):
        c = 0
        for i in range(n):
            if pred("work", i):
                c += 1
        for k in range(c):
            wait(full, parity=1)


@skeleton
def trips_of_the_thread():
    x = smem()
    with role("all", threads=128):
        for k in range(tid):
            load(x)


@skeleton
def barrier_of_two_loops(n: size, m: size):
    with role("all", threads=128):
        for i in range(n):
            for j in range(m):
                bar_sync(1 + i % 2 + 2 * (j % 2), 128)


@skeleton
def value_in_two_places(n: size):
    x = smem(2)
    with role("all", threads=128):
        last = 0
        for i in range(n):
            load(x[last])
            last = i % 2


@skeleton
def barrier_of_many_residues(n: size):
    with role("all", threads=128):
        for i in range(n):
            bar_sync(i % 1_000_000_000, 128)


@skeleton
def one_of_very_many():
    """A number that is the same in the whole run, with more values than can be told apart."""
    b = mbarrier(count=1)
    with role("all", threads=1):
        if unknown("k", below=1_000_000_000) == 3:
            arrive(b)
        else:
            arrive(b)
        wait(b, parity=0)


@skeleton
def many_steps():
    with role("all", threads=1):
        c = 0
        for i in range(1_000_000_000):
            c += 1
        check(c == 1_000_000_000)


@skeleton
def many_arrivals(n: size):
    b = mbarrier(count=1)
    with role("all", threads=1):
        for i in range(1_000_000_000):
            arrive(b)
            wait(b, parity=i)


@skeleton
def lives_with_phases_from_a_size_on(n: size):
    f = mbarrier()
    with role("all", threads=1):
        init(f, 1)
        if n >= 9:
            arrive(f)
            wait(f, parity=0)
        inval(f)
        init(f, 1)
        if n >= 9:
            arrive(f)
            wait(f, parity=0)
        inval(f)


@skeleton
def elected_of_some_lanes():
    """The hardware chooses among lanes that are told apart; nobody knows which of them it takes."""
    x = smem(32)
    with role("all", warps=1):
        if lane < 4:
            with elect(any=True):
                store(x[0])


@skeleton
def elected_of_lanes_that_wait_for_different_values():
    f = flags()
    with role("all", warps=1):
        with elect(any=True):
            signal(f, 1)
        spin(f, tid % 2)


@skeleton
def spin_of_each_lane():
    f = flags()
    with role("writer", threads=1):
        for i in range(32):
            signal(f, i + 1)
    with role("all", warps=1):
        spin(f, tid)


@skeleton
def signal_of_each_lane():
    f = flags()
    with role("all", warps=1):
        signal(f, tid + 1)
    with role("reader", threads=1):
        spin(f, 1)


@skeleton
def elected_that_end():
    """A lane that ends does not execute what names its cell."""
    x = smem(32)
    with role("all", warps=1):
        store(x[tid])
        with elect(any=True):
            exit()
        load(x[tid])


@skeleton
def additions_of_several_ctas_at_the_scope_of_one():
    """They are not atomic to each other: one may be lost (PTX memory model)."""
    cluster(2)
    f = flags()
    with role("all", threads=1):
        signal_add(f, 1, scope="cta")
        spin(f, 2, scope="cta")


@skeleton
def flag_of_a_counter(n: size, m: size):
    f = flags()
    with role("writer", threads=1):
        c = 0
        for t in range(n):
            for k in range(m):
                c += 1
                signal(f, c)
    with role("reader", threads=1):
        d = 0
        for t in range(n):
            for k in range(m):
                d += 1
                spin(f, d)


@skeleton
def flag_of_an_unknown_number(n: size):
    f = flags()
    with role("writer", threads=1):
        for i in range(n):
            signal(f, 4 * i + unknown("more", i, below=4) + 1)
    with role("reader", threads=1):
        for i in range(n):
            spin(f, 4 * i + unknown("more", i, below=4) + 1)


@skeleton
def flag_of_a_counter_under_a_condition(n: size):
    """How far the flag gets depends on data, so does how far those get who wait."""
    f = flags()
    with role("writer", threads=1):
        c = 0
        for i in range(n):
            if pred("work", i):
                c += 1
                signal(f, c)
    with role("reader", threads=1):
        c = 0
        for i in range(n):
            if pred("work", i):
                c += 1
                spin(f, c)


LIMITS = (
    ("the values of a flag follow from a counter or an unknown number", flag_of_a_counter),
    ("the values of a flag follow from a counter or an unknown number", flag_of_an_unknown_number),
    ("the values of a flag follow from a counter or an unknown number", flag_of_a_counter_under_a_condition),
    ("`f` is accessed at the scope of a CTA, and in several CTAs", additions_of_several_ctas_at_the_scope_of_one),
    ("one lane of many is elected and ends, and memory is named by lane", elected_that_end),
    ("each thread signals a value of its own", signal_of_each_lane),
    ("one lane of many is elected, and others are told apart, too", elected_of_lanes_that_wait_for_different_values),
    ("each thread spins for a value of its own", spin_of_each_lane),
    ("one lane of many is elected, and others are told apart, too", elected_of_some_lanes),
    ("the trip count of a loop is an unknown number", unknown_trips),
    ("the trip count of a loop follows from a counter", trips_of_a_counter),
    ("the trip count of a loop depends on the thread", trips_of_the_thread),
    ("which barrier is meant depends on more than one thing", barrier_of_two_loops),
    ("which barrier is meant depends on more than one thing", barrier_of_many_residues),
    ("how many phases a life of `f` has is not seen at a small size", lives_with_phases_from_a_size_on),
    ("`last` gets a value in more than one place", value_in_two_places),
)

ENDLESS = (
    ("PROVED", one_of_very_many),
    ("PROVED", many_steps),
    ("UNKNOWN", many_arrivals),
)
