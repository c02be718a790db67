"""How the operations of index expressions and conditions are written in Python."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

from exogpu.ir.index import CmpOp, IndexOp

OPERATORS: Final[Mapping[type[ast.operator], IndexOp]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
FUNCTIONS: Final[Mapping[str, IndexOp]] = {"min": "min", "max": "max", "ceildiv": "ceildiv"}
COMPARISONS: Final[Mapping[type[ast.cmpop], CmpOp]] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
