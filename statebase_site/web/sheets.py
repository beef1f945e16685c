"""Files for a spreadsheet, written line by line, in which no cell is calculated."""

import csv
from collections.abc import Iterable, Iterator

# A cell that begins so is a formula to some spreadsheet, whoever wrote it (OWASP, "CSV Injection"); the wide
# forms are so in East Asian ones. Spaces before it are passed over.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class _Line:
    """A file for the csv module that hands each line straight on."""

    def write(self, line: str) -> str:
        return line


def sheet_lines(rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """One line of CSV a row; each cell is `harmless`."""
    writer = csv.writer(_Line(), quoting=csv.QUOTE_ALL)
    for row in rows:
        yield writer.writerow([harmless(cell) for cell in row])


def harmless(text: str) -> str:
    """The text as no spreadsheet calculates it: with an apostrophe before what would begin a formula."""
    return (
        f"'{text}" if text.startswith(_FORMULA_STARTS) or text.lstrip().startswith(_FORMULA_STARTS) else text
    )
