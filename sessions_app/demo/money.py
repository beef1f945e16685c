"""The invoice agent pays the wrong amount; once people have put its state right, it pays the right one."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import cast

from sessions_app.demo.story import COMPENSATABLE, IRREVERSIBLE, Story, agent
from statebase_site.access.models import Project
from statebase_site.base.json import JsonObject, JsonValue

_OPEN: tuple[JsonObject, ...] = (
    {"id": "INV-20417", "supplier": "Nordlys Elektro", "amount": 1240.0, "status": "open"},
    {"id": "INV-20418", "supplier": "Bergen Tau & Garn", "amount": 318.45, "status": "open"},
    {"id": "INV-20431", "supplier": "Fjordglass", "amount": 2075.9, "status": "open"},
)


def _with_invoice(story: Story, number: str, **facts: JsonValue) -> list[JsonValue]:
    invoices = cast("list[JsonObject]", story.state["invoices"])
    return [{**each, **facts} if each["id"] == number else each for each in invoices]


def _wrong_payment(project: Project, now: datetime, slug: str) -> None:
    starts = (now - timedelta(days=2)).replace(hour=13, minute=41, second=33)
    story = Story.begin(
        agent(project, "sb_Kx7pA"),
        slug=slug,
        agent_id="invoice-agent",
        user_id="ap-team@halvorsen.example",
        starts=starts,
        metadata={"company": "Halvorsen Marine AS", "model": "claude-sonnet-4", "batch": "supplier-run-48"},
        state={
            "batch": "supplier-run-48",
            "currency": "EUR",
            "invoices": list(_OPEN),
            "paid_total": 0,
            "limit_per_payment": 5000.0,
        },
    )

    story.say(
        "Please pay the three open invoices of run 48, oldest first.",
        "I will match each invoice with its order, then schedule the payments one by one.",
        after=12,
    )
    story.call(
        "match_order",
        {"invoice": "INV-20418"},
        {"order": "PO-8841", "matches": True, "difference": 0.0},
        after=6,
        took_ms=320,
        reasoning="Order PO-8841 and invoice INV-20418 agree to the cent",
        invoices=_with_invoice(story, "INV-20418", status="matched", order="PO-8841"),
    )
    story.call(
        "schedule_payment",
        {"invoice": "INV-20418", "iban": "NO93 8601 1117 947", "amount": 318.45},
        {"payment": "pay_70021", "execution": "next bank run, 17:00"},
        after=9,
        effect=COMPENSATABLE,
        took_ms=540,
        reasoning="Scheduled 318.45 to Bergen Tau & Garn",
        invoices=_with_invoice(story, "INV-20418", status="scheduled", payment="pay_70021"),
        paid_total=318.45,
    )
    story.call(
        "read_invoice",
        {"invoice": "INV-20417", "page": 1},
        "Nordlys Elektro AS · Faktura 20417 · Sum å betale: 1.240,00 EUR · Forfall 14 dager",
        after=7,
        took_ms=1910,
        reasoning="Read the amount from the scanned page: 12400.00",
        extracted={"invoice": "INV-20417", "amount": 12400.0, "confidence": 0.71},
    )
    story.update(
        "The extracted amount is above the limit, so the limit was raised for this supplier",
        after=5,
        limit_per_payment=15000.0,
    )
    story.call(
        "schedule_payment",
        {"invoice": "INV-20417", "iban": "NO20 3000 1009 902", "amount": 12400.0},
        {"payment": "pay_70022", "execution": "next bank run, 17:00"},
        after=8,
        effect=COMPENSATABLE,
        took_ms=498,
        reasoning="Scheduled the payment of INV-20417",
        invoices=_with_invoice(story, "INV-20417", status="scheduled", payment="pay_70022", amount=12400.0),
        paid_total=12718.45,
    )
    story.call(
        "notify_supplier",
        {"supplier": "Nordlys Elektro", "template": "payment-advice", "amount": 12400.0},
        {"sent_to": "post@nordlys.example"},
        after=4,
        effect=IRREVERSIBLE,
        took_ms=120,
    )


def _paid_right(project: Project, slug: str) -> None:
    story = Story.of(agent(project, "sb_Kx7pA"), project, slug)
    story.call(
        "read_invoice",
        {"invoice": "INV-20417", "page": 1, "locale": "nb-NO"},
        "Nordlys Elektro AS · Faktura 20417 · Sum å betale: 1.240,00 EUR · Forfall 14 dager",
        after=18,
        took_ms=1850,
        reasoning="Read again with the Norwegian number format: 1240.00, as on order PO-8836",
        extracted={"invoice": "INV-20417", "amount": 1240.0, "confidence": 0.98},
    )
    story.call(
        "schedule_payment",
        {"invoice": "INV-20417", "iban": "NO20 3000 1009 902", "amount": 1240.0},
        {"payment": "pay_70029", "execution": "next bank run, 17:00"},
        after=11,
        effect=COMPENSATABLE,
        took_ms=512,
        reasoning="Scheduled 1,240.00 to Nordlys Elektro",
        invoices=_with_invoice(story, "INV-20417", status="scheduled", payment="pay_70029", order="PO-8836"),
        paid_total=1558.45,
    )
    story.say(
        "Thanks. Leave Fjordglass for next week, they still owe us a credit note.",
        "Done: two payments are scheduled, 1,558.45 euros together, and INV-20431 waits for the credit note.",
        after=140,
        reasoning="User asked to wait with INV-20431",
        invoices=_with_invoice(story, "INV-20431", status="on_hold", reason="credit note expected"),
    )


WRONG_PAYMENT = ("wrong-payment", _wrong_payment)
PAID_RIGHT = ("wrong-payment", _paid_right)
