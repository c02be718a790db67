"""Sync skeletons: the verifier's second way in. `verify_skeleton` is the entry point; the rest, from the bottom up:

walk, place, windows, barriers   what a skeleton's statements name: threads, memory, barriers
operations, lower                a skeleton as a parallel program without a sequential order
sharing                          named barriers of several teams, told apart
numbering                        of which phase every signal and wait is
rank                             an order of all waits that shows progress
obligations                      what has to be shown
verdict                          proof, or an execution that goes wrong
"""
