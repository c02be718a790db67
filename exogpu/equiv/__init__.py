"""Equivalence of two procedures: that their sequential meanings are the same for all sizes. `equivalent` is the way in;
the rest, from the bottom up:

ranges, normal          index expressions and conditions in a normal form
conditions              questions about conditions, put to the solver
flat                    a procedure as a list of assignments, with the loops and conditions around each
symbolic                what an element holds, as an expression over what the arguments held
reach                   the last assignment to an element before a point: guessed, and proved
cases, sums, same       values without choices; sums matched term by term; whether two values are equal
bounds, arguments       that both have a meaning, and for the same arguments
prove                   all of it, tensor by tensor
sizes, effort, exact, trial
                        runs at small sizes that show a difference
result                  what comes out
"""
