"""Text of agents and people within Markdown: shown as it is, never as structure, link or HTML. Pure."""

from __future__ import annotations

import re

from statebase_site.web.wording import hidden_parts

# Where CommonMark or GitHub see more than the character. Inside a word an underscore is one.
_ACTIVE = re.compile(r"[\\`*\[\]<>|~&$@]|(?<![^\W_])_|_(?![^\W_])|#(?=#*$)")
_ADDRESS = re.compile(r"(?i)(://|\bwww\.)")
# What begins a heading, list, underline or table where it begins a line.
_BEGINS_BLOCK = re.compile(r"^(?:[#+=:-]|(\d+)(?=[.)]))")


def line(text: str) -> str:
    """A text in one line, for behind something else: what looks like Markdown or an address stays text."""
    return _escaped(" ".join(text.split()))


def block(text: str, indent: str = "") -> str:
    """A text of some lines as a quotation, each line behind `> `."""
    rows = [_escaped(row.strip()) for row in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    rows = [_BEGINS_BLOCK.sub(_held, row) for row in rows]
    made = []
    for place, row in enumerate(rows):
        goes_on = row and place + 1 < len(rows) and rows[place + 1]
        made.append(f"{indent}> {row}\\" if goes_on else f"{indent}> {row}".rstrip())
    return "\n".join(made)


def code(text: str) -> str:
    """A text as code in a line, whatever it holds."""
    plain = _seen(" ".join(text.split()))
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", plain)), default=0))
    space = " " if plain.startswith("`") or plain.endswith("`") or not plain else ""
    return f"{fence}{space}{plain}{space}{fence}"


def _escaped(text: str) -> str:
    text = _ACTIVE.sub(lambda found: "\\" + found[0], _seen(text))
    return _ADDRESS.sub(lambda found: found[0][:-1] + "\\" + found[0][-1], text)


def _held(found: re.Match[str]) -> str:
    return f"{found[1]}\\" if found[1] else f"\\{found[0]}"


def _seen(text: str) -> str:
    """The text with characters that would not be seen, or would turn it around, as their names."""
    return "".join(f"⟨{part}⟩" if name else part for part, name in hidden_parts(text))
