"""Renders what a run found: text for people, and the formats that other tools read.

Every renderer is a pure function of a `Run` and returns the whole document as one string.
"""
