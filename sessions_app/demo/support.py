"""The support agent: once all goes well, once it calls the same tool again and again."""

from __future__ import annotations

from datetime import datetime, timedelta

from sessions_app.demo.story import COMPENSATABLE, IRREVERSIBLE, Story, agent
from statebase_site.access.models import Project


def _all_well(project: Project, now: datetime, slug: str) -> None:
    starts = (now - timedelta(days=27)).replace(hour=16, minute=3, second=52)
    story = Story.begin(
        agent(project, "sb_T4mWd"),
        slug=slug,
        agent_id="support-agent",
        user_id="user_1187",
        starts=starts,
        metadata={"channel": "e-mail", "model": "gpt-4o-mini", "language": "ar"},
        state={"ticket": "T-55120", "customer": "ليلى حداد", "topic": None, "sentiment": "neutral"},
    )
    story.say(
        "مرحباً، وصلني المصباح مكسوراً. رقم الطلب 88213.",
        "أعتذر عن ذلك يا ليلى. سأتحقق من الطلب 88213 فوراً.",
        after=45,
        reasoning="Customer reports a broken lamp in order 88213",
        topic="damaged on arrival",
        order="88213",
    )
    story.call(
        "get_order",
        {"order": "88213"},
        {"item": "Desk lamp Arco, brass", "price_eur": 79.0, "delivered": True, "carrier": "DHL"},
        after=4,
        took_ms=190,
        reasoning="The order is found and was delivered two days ago",
        item={"name": "Desk lamp Arco, brass", "price_eur": 79.0},
    )
    story.say(
        "هل يمكنكم إرسال واحد جديد؟",
        "نعم، سنرسل مصباحاً جديداً اليوم ولا حاجة لإعادة القديم 🙂",
        after=120,
        reasoning="A replacement is within policy: under 100 euros, first claim of this customer",
        resolution="replacement",
    )
    story.call(
        "create_shipment",
        {"order": "88213", "reason": "replacement", "return_label": False},
        {"shipment": "SH-30991", "arrives": "in 2 days"},
        after=6,
        effect=COMPENSATABLE,
        took_ms=730,
        reasoning="Replacement is on its way",
        shipment="SH-30991",
        sentiment="relieved",
    )
    story.say("شكراً جزيلاً!", "على الرحب والسعة!", after=41 * 60)
    story.update("Closed after the customer's thanks", after=5, status="closed")


def _loop(project: Project, now: datetime, slug: str) -> None:
    story = Story.begin(
        agent(project, "sb_T4mWd"),
        slug=slug,
        agent_id="support-agent",
        user_id="user_3052",
        starts=now - timedelta(hours=5, minutes=12),
        metadata={"channel": "chat", "model": "gpt-4o-mini", "language": "en"},
        state={"ticket": "T-61877", "customer": "Daniel Okafor", "topic": None, "attempts": 0},
    )
    story.say(
        "I was charged twice for my subscription this month, 14.90 each.",
        "I am sorry about that, Daniel. I will look at your payments.",
        after=20,
        reasoning="Customer says he was charged twice",
        topic="double charge",
    )
    story.call(
        "list_charges",
        {"customer": "cus_Okafor_81", "days": 31},
        [{"id": "ch_8812", "amount": 14.9, "day": 3}, {"id": "ch_8815", "amount": 14.9, "day": 3}],
        after=5,
        took_ms=260,
        reasoning="Two charges of 14.90 on the same day: the second one is to be refunded",
        charges=["ch_8812", "ch_8815"],
        to_refund="ch_8815",
    )
    story.say(
        "Please refund the second one.",
        "I am refunding charge ch_8815 now; it takes three to five days to show.",
        after=33,
        reasoning="Customer agreed to the refund",
        step="refunding",
    )
    for attempt in range(1, 6):
        story.call(
            "refund_charge",
            {"charge": "ch_8815", "amount": 14.9, "currency": "EUR"},
            {"error": "charge_disputed", "message": "A disputed charge cannot be refunded."},
            after=4 + 3 * attempt,
            effect=IRREVERSIBLE,
            took_ms=340 + 11 * attempt,
            code=409,
            reasoning="The refund failed, trying again",
            attempts=attempt,
            last_error="charge_disputed",
        )
        story.note(
            "tool_call.failed", after=0.2, tool="refund_charge", error="charge_disputed", attempt=attempt
        )
    story.roll_back(3, "Stuck: the same call failed five times with the same answer", after=9)
    story.update(
        "Automatic escalation after five failed attempts: a disputed charge needs a person",
        after=2,
        escalated_to_human=True,
        reason="Agent stuck in loop",
    )
    story.note("session.escalated", after=0.5, queue="billing", priority="normal")
    story.say(
        "Hello? Is it done?",
        "Your bank has opened a dispute for this charge, so my colleagues in billing have the case now. "
        "They will write to you today.",
        after=26,
    )


ALL_WELL = ("support-all-well", _all_well)
LOOP = ("support-loop", _loop)
