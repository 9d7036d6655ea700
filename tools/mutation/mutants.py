"""Small changes of a source file that a test should notice, one at a time.

Comparisons, arithmetic and Boolean operators, integers, truth values, conditions, `not`, `break`, `continue`
and minima are replaced in the text at the positions that `ast` gives, so the rest of the file stays as it is.
"""

import ast
import hashlib
import io
import tokenize
from bisect import bisect_left
from dataclasses import dataclass
from itertools import takewhile

_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
_EXTREMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
_EXTREMES |= {"argmin": "argmax", "argmax": "argmin"}

Position = tuple[int, int]  # line from 1, and column in characters
Edit = tuple[Position, Position, str]  # the text from here to there, on one line, becomes this


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    Attributes
    ----------
    file : str
        Path from the root of the repository.
    line : int
        Where the change is, from 1.
    before, after : str
        That line, without indentation. Lists of equivalent mutants name a mutant by file, before and after.
    kind : str
        What was changed, e.g. `comparison`.
    occurrence : int
        Numbers mutants with the same file, before and after.
    statement : tuple of int
        First and last line of the statement, without its body: a test reaches the mutant if it runs one
        of these.
    source : str
        The whole changed file.
    """

    file: str
    line: int
    before: str
    after: str
    kind: str
    occurrence: int
    statement: tuple[int, int]
    source: str

    @property
    def key(self) -> str:
        """A text that stays the same when other lines of the file change."""
        return f"{self.file}: {self.before} → {self.after} #{self.occurrence}"

    def rank(self, seed: int) -> str:
        """Return a text that puts mutants into a random but reproducible order."""
        return hashlib.sha256(f"{seed} {self.key}".encode()).hexdigest()


def mutants_of(file: str, source: str) -> list[Mutant]:
    """Return all mutants of a source file, in the order of its lines."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    lines = source.splitlines(keepends=True)
    found: list[Mutant] = []
    n_seen: dict[tuple[str, str], int] = {}
    for kind, statement, edits in finder.found:
        changed = _edited(lines, edits)
        line = edits[0][0][0]
        before = lines[line - 1].strip()
        # An edit never adds or removes a line.
        after = changed[line - 1].strip()
        occurrence = n_seen[before, after] = n_seen.get((before, after), 0) + 1
        found.append(Mutant(file, line, before, after, kind, occurrence, statement, "".join(changed)))
    return sorted(found, key=lambda mutant: (mutant.line, mutant.after))


def _edited(lines: list[str], edits: list[Edit]) -> list[str]:
    changed = list(lines)
    for (line, begin), (_, end), text in sorted(edits, reverse=True):
        changed[line - 1] = changed[line - 1][:begin] + text + changed[line - 1][end:]
    return changed


class _Finder(ast.NodeVisitor):
    """Collects the edits of all mutants as (kind, lines of the statement, edits)."""

    def __init__(self, source: str) -> None:
        self.found: list[tuple[str, tuple[int, int], list[Edit]]] = []
        self._lines = source.splitlines(keepends=True)
        self._statement = (1, 1)
        self._depth = 0  # of functions
        self._tokens = [
            token
            for token in tokenize.generate_tokens(io.StringIO(source).readline)
            if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE)
        ]

    # --- Where nothing is changed ---

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            self._statement = (node.lineno, _header_end(node))
        super().visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave text alone, with the expressions in it (Python 3.11 does not know their positions)."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Leave assertions alone: they state what is already known."""

    def visit_Raise(self, node: ast.Raise) -> None:
        """Leave error messages alone."""

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg != "strict":  # zip(strict=True) is an assertion
            self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in (*node.args.defaults, *(value for value in node.args.kw_defaults if value)):
            self.visit(default)
        self._depth += 1
        for statement in node.body:
            self.visit(statement)
        self._depth -= 1

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self._negate(node.test)
        self.generic_visit(node)

    # --- What is changed ---

    def visit_While(self, node: ast.While) -> None:
        if not isinstance(node.test, ast.Constant):
            self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self._negate(condition)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            start = self._position(node)
            self._add("not", [(start, (start[0], start[1] + 3), "")])
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            self._replace_operator("comparison", left, right, *_COMPARISONS[type(operator)])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        is_text = any(_is_text(operand) for operand in (node.left, node.right))
        # Outside functions, | joins types and constraints of parameters.
        is_union = isinstance(node.op, ast.BitOr) and self._depth == 0
        if type(node.op) in _ARITHMETIC and not is_text and not is_union:
            self._replace_operator("arithmetic", node.left, node.right, *_ARITHMETIC[type(node.op)])
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if type(node.op) in _ARITHMETIC and not _is_text(node.value):
            before, after = _ARITHMETIC[type(node.op)]
            self._replace_operator("arithmetic", node.target, node.value, before + "=", after + "=")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        before, after = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._replace_operator("boolean", left, right, before, after)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        start, end = self._position(node), self._end(node)
        if isinstance(node.value, bool):
            self._add("constant", [(start, end, str(not node.value))])
        elif isinstance(node.value, int):
            for changed in (node.value + 1, node.value - 1):
                self._add("constant", [(start, end, str(changed))])

    def visit_Return(self, node: ast.Return) -> None:
        if isinstance(node.value, ast.Constant) and node.value.value is None:
            start, end = self._position(node.value), self._end(node.value)
            self._add("constant", [(start, end, "0")])
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        self._add("loop", [(self._position(node), self._end(node), "continue")])

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add("loop", [(self._position(node), self._end(node), "break")])

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name == "isinstance":
            self.visit(node.args[0])
            return  # the rest is types
        if name in _EXTREMES:
            line, end = self._end(function)
            self._add("extreme", [((line, end - len(name)), (line, end), _EXTREMES[name])])
        self.generic_visit(node)

    # --- Edits ---

    def _add(self, kind: str, edits: list[Edit]) -> None:
        self.found.append((kind, self._statement, edits))

    def _negate(self, condition: ast.expr) -> None:
        if isinstance(condition, ast.Compare) and len(condition.ops) == 1:
            operator = type(condition.ops[0])
            if operator not in (ast.Lt, ast.LtE, ast.Gt, ast.GtE):
                return  # changing the comparison is the same
        if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
            return
        start, end = self._position(condition), self._end(condition)
        self._add("condition", [(start, start, "not ("), (end, end, ")")])

    def _replace_operator(self, kind: str, left: ast.expr, right: ast.expr, before: str, after: str) -> None:
        begin, end = self._end(left), self._position(right)
        words = before.split()
        first = bisect_left(self._tokens, begin, key=lambda token: token.start)
        between = list(takewhile(lambda token: token.end <= end, self._tokens[first:]))
        for place, token in enumerate(between):
            found = between[place : place + len(words)]
            if [word.string for word in found] == words:
                if token.start[0] == found[-1].end[0]:
                    self._add(kind, [(token.start, found[-1].end, after)])
                return
        raise ValueError(f"{before!r} is not between its operands in line {begin[0]}")

    def _position(self, node: ast.expr | ast.stmt) -> Position:
        return self._characters(node.lineno, node.col_offset)

    def _end(self, node: ast.expr | ast.stmt) -> Position:
        if node.end_lineno is None or node.end_col_offset is None:
            raise ValueError("parsed nodes have an end")
        return self._characters(node.end_lineno, node.end_col_offset)

    def _characters(self, line: int, n_bytes: int) -> Position:
        """A position with its column in characters; `ast` counts bytes."""
        return line, len(self._lines[line - 1].encode()[:n_bytes].decode())


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _header_end(statement: ast.stmt) -> int:
    body: list[ast.stmt] = getattr(statement, "body", [])
    if body:
        return max(statement.lineno, body[0].lineno - 1)
    return statement.end_lineno or statement.lineno
