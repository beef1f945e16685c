"""Python blocks of a document, to be run as they stand there."""

import re
from pathlib import Path
from typing import Any

_HEADING_OR_BLOCK = re.compile(r"^#+ (.+)$|^```python\n([\s\S]*?)^```$", re.MULTILINE)


def blocks_of(path: Path) -> dict[str, str]:
    """The Python under each heading; where there is more than one block, all of them."""
    found: dict[str, str] = {}
    heading = ""
    for match in _HEADING_OR_BLOCK.finditer(path.read_text()):
        if match[1]:
            heading = match[1]
        else:
            found[heading] = found.get(heading, "") + match[2]
    return found


class Document:
    """Runs the blocks of a document by their headings."""

    def __init__(self, path: Path) -> None:
        self.blocks = blocks_of(path)

    def run(self, heading: str, **names: Any) -> dict[str, Any]:
        """Run the block under this heading with these names defined; all names afterwards."""
        exec(compile(self.blocks[heading], heading, "exec"), names)
        return names
