"""The contract reviewer keeps a whole contract in its state: about 300 KB that hardly change."""

from __future__ import annotations

from datetime import datetime, timedelta

from sessions_app.demo.story import Story, agent
from statebase_site.access.models import Project
from statebase_site.base.json import JsonObject, JsonValue

_PARTS = (
    "Definitions",
    "Scope of services",
    "Service levels",
    "Fees and invoicing",
    "Data protection",
    "Confidentiality",
    "Intellectual property",
    "Warranties",
    "Limitation of liability",
    "Term and termination",
    "Subcontractors",
    "Audit",
    "Governing law",
)
_PARTIES = (
    "the Supplier",
    "the Customer",
    "each party",
    "the Supplier's personnel",
    "a permitted subcontractor",
)
_DUTIES = (
    "shall keep complete records of {thing} for a period of {number} months and hand them over on request",
    "shall notify the other party in writing within {number} business days of becoming aware of {thing}",
    "may not assign, transfer or charge {thing} without prior written consent, which is not to be withheld "
    "unreasonably",
    "warrants that {thing} is free of defects for {number} months from acceptance",
    "shall remedy every fault of {thing} within {number} hours of its report, at no additional charge",
    "shall bear the cost of {thing} up to {number} per cent of the yearly fees",
    "is released from its duties in respect of {thing} for as long as an event outside its control lasts, "
    "but for no more than {number} days",
)
_THINGS = (
    "the monitoring of the berths at Pier {berth}",
    "the personal data listed in Annex {berth}",
    "the sensors delivered under purchase order {berth}-A",
    "the maintenance plan of section {berth}",
    "the remote access described in Schedule {berth}",
    "the acceptance test of milestone {berth}",
)
_CLOSINGS = (
    "This applies to affiliates of that party as well.",
    "Statutory rights that cannot be waived remain untouched.",
    "Where this clause and an annex differ, this clause prevails.",
    "A failure to act on a breach is no waiver of it.",
)
_CLAUSES = 540


def _clause(number: int) -> JsonObject:
    """One clause of the contract; the same number always gives the same words."""
    part = number * len(_PARTS) // _CLAUSES
    sentences = []
    for place in range(3):
        turn = number * 3 + place
        duty = _DUTIES[turn * 5 % len(_DUTIES)].format(
            thing=_THINGS[turn * 7 % len(_THINGS)].format(berth=1 + turn % 29), number=2 + turn * 11 % 58
        )
        who = _PARTIES[turn * 3 % len(_PARTIES)]
        sentences.append(f"{who[0].upper()}{who[1:]} {duty}.")
    return {
        "id": f"{part + 1}.{number + 1}",
        "part": _PARTS[part],
        "page": 3 + number // 9,
        "text": f"{' '.join(sentences)} {_CLOSINGS[number % len(_CLOSINGS)]}",
        "risk": None,
    }


def _long_contract(project: Project, now: datetime, slug: str) -> None:
    starts = (now - timedelta(days=19)).replace(hour=10, minute=15, second=7)
    clauses: list[JsonObject] = [_clause(number) for number in range(_CLAUSES)]
    story = Story.begin(
        agent(project, "sb_D1qGu"),
        slug=slug,
        agent_id="contract-reviewer",
        user_id="legal_priya",
        starts=starts,
        metadata={"matter": "M-2210 Port of Aarhus", "model": "claude-opus-4", "pages": 62},
        state={"document": "Master services agreement, draft 7", "status": "waiting for the text"},
    )

    def rated(ratings: dict[str, str]) -> list[JsonValue]:
        for place, clause in enumerate(clauses):
            if clause["id"] in ratings:
                clauses[place] = {**clause, "risk": ratings[str(clause["id"])]}
        return list(clauses)

    def named(number: int) -> str:
        return str(clauses[number]["id"])

    story.call(
        "extract_text",
        {"file": "msa-draft-7.pdf", "pages": "1-62"},
        {"clauses": _CLAUSES, "pages": 62, "confidence": 0.97},
        after=9,
        took_ms=21400,
        reasoning="Extracted 540 clauses on 62 pages; the text is kept, so that findings can quote it",
        status="reading",
        clauses=list(clauses),
    )
    story.say(
        "What should worry us most in this draft?",
        "I am reading the parts on liability and on termination first.",
        after=55,
    )
    story.update(
        "Liability is capped at a share of the fees, but two clauses take it back",
        after=190,
        clauses=rated({named(342): "high", named(351): "high", named(366): "medium"}),
    )
    story.update(
        "Termination for convenience is one-sided",
        after=140,
        clauses=rated({named(388): "high"}),
        status="first findings",
    )
    story.say(
        "Is the confidentiality part in order?",
        "Yes, with one gap: there is no end date for trade secrets.",
        after=16 * 60,
        reasoning="Read part 6; one gap found",
        clauses=rated({named(221): "medium"}),
    )
    story.update(
        "Priya judged the gap as acceptable",
        after=130,
        clauses=rated({named(221): "accepted"}),
        status="ready for the partner",
    )


LONG_CONTRACT = ("long-contract", _long_contract)
