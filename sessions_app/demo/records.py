"""The clean-up agent deletes customers it should only have merged: frozen, and still trying."""

from __future__ import annotations

from datetime import datetime, timedelta

from sessions_app.demo.story import IRREVERSIBLE, Story, agent, person
from statebase_site.access.models import Project


def _frozen(project: Project, now: datetime, slug: str) -> None:
    maria = person(project, "maria")
    story = Story.begin(
        agent(project, "sb_R2vLe"),
        slug=slug,
        agent_id="crm-cleanup",
        user_id="ops@brightwater.example",
        starts=now - timedelta(hours=1, minutes=48),
        metadata={"job": "nightly-dedupe", "model": "claude-sonnet-4", "dry_run": False},
        state={
            "job": "nightly-dedupe",
            "rule": "merge records with equal e-mail",
            "scanned": 0,
            "merged": 0,
            "deleted": 0,
            "queue": [],
            "fields": ["email", "name", "phone", "address"],
            "keep": "newest",
            "report_to": "ops@brightwater.example",
        },
    )
    story.say(
        "Merge duplicate customers that share an e-mail address. Do not delete anything else.",
        "I will scan in pages of 500 and merge only where the addresses are equal.",
        after=6,
        reasoning="The job's rule is stored",
        step="scanning",
    )
    for page in range(1, 4):
        story.call(
            "find_duplicates",
            {"field": "email", "page": page, "size": 500},
            {"groups": 4 + page, "scanned": 500 * page},
            after=40 + 7 * page,
            took_ms=900 + 60 * page,
            reasoning=f"Page {page}: {4 + page} groups with equal addresses",
            scanned=500 * page,
            queue=[f"grp_{page}{letter}" for letter in "abcdefg"[: 4 + page]],
        )
        story.update(
            f"Merged the {4 + page} groups of page {page}",
            after=24,
            merged=sum(4 + each for each in range(1, page + 1)),
            queue=[],
        )
    story.call(
        "find_duplicates",
        {"field": "email", "page": 4, "size": 500},
        {"groups": 1, "scanned": 2000, "note": "1 group has an empty address: 312 records"},
        after=61,
        took_ms=1210,
        reasoning="Page 4: one large group of 312 records",
        scanned=2000,
        queue=["grp_4a"],
    )
    story.call(
        "delete_records",
        {"group": "grp_4a", "keep": "newest", "count": 311},
        {"deleted": 118, "remaining": 193, "status": "running"},
        after=12,
        effect=IRREVERSIBLE,
        took_ms=4210,
        reasoning="All 312 records share one address, so 311 of them are duplicates",
        rule="delete all but the newest of a group",
        deleted=118,
        step="deleting",
    )
    story.freeze(
        "Customers without an e-mail address are being deleted as duplicates of each other",
        after=19,
        by=maria,
    )
    story.try_call(
        "delete_records",
        {"group": "grp_4a", "keep": "newest", "count": 193},
        {"deleted": 0, "status": "not sent"},
        after=8,
    )
    story.try_update("Carrying on with the rest of the group", after=11, deleted=311, queue=[])
    story.try_update("Carrying on with the rest of the group", after=30, deleted=311, queue=[])
    story.note("permission_denied", after=2, tool="delete_records", message="The session is frozen")
    story.try_update("Marking the job as done", after=14 * 60, step="done", deleted=311)


FROZEN = ("frozen-cleanup", _frozen)
