"""The coding agent looks for a bug, takes a wrong turn, goes back by itself, and finds it."""

from __future__ import annotations

from datetime import datetime, timedelta

from sessions_app.demo.story import IRREVERSIBLE, Story, agent
from statebase_site.access.models import Project

_FAILURE = """\
FAILED tests/test_schedule.py::test_monthly_on_the_31st - AssertionError: 2 != 3
    def test_monthly_on_the_31st():
        runs = list(monthly(start=date(2025, 1, 31), count=3))
>       assert len(runs) == 3
1 failed, 41 passed in 0.84s"""


def _failing_test(project: Project, now: datetime, slug: str) -> None:
    starts = (now - timedelta(days=4)).replace(hour=19, minute=48, second=41)
    story = Story.begin(
        agent(project, "sb_C5nYt"),
        slug=slug,
        agent_id="coding-agent",
        user_id="dev_lukas",
        starts=starts,
        metadata={"repository": "acme/scheduler", "branch": "fix/monthly-31st", "model": "claude-sonnet-4"},
        state={
            "task": "Monthly jobs that start on the 31st skip short months",
            "cwd": "/workspace/scheduler",
            "open_file": None,
            "edits": {},
            "tests": {"passed": None, "failed": None},
        },
    )
    story.say(
        "Jobs that start on 31 January run in March next, February is left out. Please fix it.",
        "I will reproduce it with a test first, then change the schedule.",
        after=10,
        reasoning="Plan: reproduce, fix, run the whole suite",
        plan=["reproduce", "fix", "run all tests", "push"],
    )
    story.call(
        "run_tests",
        {"command": "pytest -q tests/test_schedule.py"},
        _FAILURE,
        after=24,
        took_ms=1530,
        code=1,
        reasoning="Reproduced: the second run is missing",
        tests={"passed": 41, "failed": 1},
    )
    story.call(
        "open_file",
        {"path": "scheduler/monthly.py", "line": 34},
        "34: def monthly(start, count):\n35:     for n in range(count):\n36:         month = start.month + n",
        after=8,
        took_ms=40,
        reasoning="The loop lives in scheduler/monthly.py",
        open_file="scheduler/monthly.py",
    )
    story.call(
        "edit_file",
        {"path": "scheduler/monthly.py", "replace": "start.day", "with": "min(start.day, 28)"},
        "1 replacement in line 39",
        after=41,
        took_ms=60,
        reasoning="Days after the 28th do not exist in every month, so cap them",
        edits={"scheduler/monthly.py": {"lines": [39], "changes": 1}},
    )
    story.call(
        "run_tests",
        {"command": "pytest -q"},
        "FAILED tests/test_schedule.py::test_end_of_month - assert 28 == 31\n"
        "FAILED tests/test_invoices.py::test_due_dates - assert 28 == 30\n2 failed, 187 passed in 6.12s",
        after=19,
        took_ms=6320,
        code=1,
        reasoning="Two tests fail that passed before: capping at 28 is wrong for long months",
        tests={"passed": 187, "failed": 2},
    )
    story.roll_back(3, "The cap breaks the end of long months; back to the unchanged file", after=16)
    story.call(
        "edit_file",
        {
            "path": "scheduler/monthly.py",
            "replace": "start.day",
            "with": "min(start.day, monthrange(year, month)[1])",
        },
        "1 replacement in line 39, 1 import added in line 3",
        after=58,
        took_ms=70,
        reasoning="Use the real length of each month",
        edits={"scheduler/monthly.py": {"lines": [3, 39], "changes": 2}},
    )
    story.call(
        "run_tests",
        {"command": "pytest -q"},
        "190 passed in 6.08s",
        after=22,
        took_ms=6290,
        reasoning="All green, the new test included",
        tests={"passed": 190, "failed": 0},
    )
    story.call(
        "git_push",
        {"branch": "fix/monthly-31st", "commit": "4be81d0"},
        "branch 'fix/monthly-31st' set up to track 'origin/fix/monthly-31st'",
        after=35,
        effect=IRREVERSIBLE,
        took_ms=2210,
        reasoning="Pushed one commit for review",
        pushed="4be81d0",
        plan=[],
    )
    story.say(
        "Looks good, thank you.",
        "You are welcome. The pull request is open as number 318.",
        after=13 * 3600,
        metadata={"pull_request": 318},
    )


FAILING_TEST = ("coding-failing-test", _failing_test)
