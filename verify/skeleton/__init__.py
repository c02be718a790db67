"""Sync skeletons: the verifier's second way in. `verify_skeleton` is the entry point; the rest, from the bottom up:

unsupported                     what has no model
walk, counting, closed,         traversal; variables that a role steps, and those that follow from loops; lanes that the
  election                        hardware chooses
place, fenced, reading          which threads execute a statement, behind which fences, and with which values
progressions, rings             the numbers of an index expression; the rings that an array of mbarriers is made of
windows, barriers               which memory and which barrier a statement names
operations, lower, division     a skeleton as a parallel program without a sequential order; roles taken apart for it
cases                           unknown numbers that are the same in the whole run
seen, successive                what an execution shows; lives of mbarriers that the text tells apart
sharing                         named barriers of several teams, told apart
flows, teams, sample, optional  who contributes to the phases of a barrier: together, in turn, or to some phases only
rounds, lives                   mbarriers that end and begin again
numbering                       of which phase every signal and wait is
settle, coverage, together      obligations, and ways to prove them
init, observed, transfers,      what has to be shown, one module per kind of obligation
  flags, leaving, lifetimes,
  places, cells, pool, whole
ranking, rank                   an order of all waits that shows progress
obligations                     all that has to be shown
refute, verdict                 an execution that goes wrong; a proof, or that, or neither
edits                           every systematic edit of the synchronisation
"""
