"""The intake agent mixes up a dose; a nurse freezes it, has it rolled back, and lets it go on."""

from __future__ import annotations

from datetime import datetime, timedelta

from sessions_app.demo.story import COMPENSATABLE, Story, agent, person
from statebase_site.access.models import Project


def _intake(project: Project, now: datetime, slug: str) -> None:
    nurse = person(project, "amara")
    starts = (now - timedelta(days=6)).replace(hour=8, minute=2, second=19)
    story = Story.begin(
        agent(project, "sb_M8cHz"),
        slug=slug,
        agent_id="medical-intake",
        user_id="patient_70313",
        starts=starts,
        metadata={"clinic": "Hillside", "model": "gpt-4o", "checkpoint": "after every change"},
        state={
            "form": "new-patient",
            "patient": {"initials": "R. S.", "year_of_birth": 1961},
            "allergies": [],
            "medication": [],
            "allergies_verified": False,
            "medication_verified": False,
        },
    )
    story.say(
        "Good morning. I have an appointment at nine and was told to answer some questions first.",
        "Good morning. Only a few: do you have any allergies?",
        after=18,
    )
    story.say(
        "Penicillin. I get a rash.",
        "Thank you, I have noted penicillin with a rash. Do you take any medicine regularly?",
        after=25,
        reasoning="Patient names one allergy",
        allergies=[{"name": "penicillin", "reaction": "rash", "severity": "moderate"}],
    )
    story.update("Patient confirmed the allergy", after=14, allergies_verified=True)
    story.say(
        "Levothyroxine, 50 micrograms in the morning, and something for my blood pressure.",
        "Levothyroxine in the morning, noted. Do you remember the name of the other one?",
        after=38,
        reasoning="Patient takes levothyroxine",
        medication=[{"name": "levothyroxine", "dose": "50 mg", "when": "morning"}],
    )
    story.say(
        "Ramipril, 5 milligrams.",
        "Ramipril 5 mg, noted. Is that all?",
        after=29,
        reasoning="Patient takes ramipril",
        medication=[
            {"name": "levothyroxine", "dose": "50 mg", "when": "morning"},
            {"name": "ramipril", "dose": "5 mg", "when": "morning"},
        ],
    )
    story.call(
        "check_interactions",
        {"medication": ["levothyroxine 50 mg", "ramipril 5 mg"]},
        {"warnings": ["levothyroxine 50 mg: dose is 250 times the usual maximum"]},
        after=7,
        took_ms=880,
        reasoning="The interaction service answers with a warning; the patient's words count",
        medication_verified=True,
    )
    story.freeze("50 micrograms became 50 mg, and the check's warning was passed over", after=96, by=nurse)
    story.try_call("submit_form", {"form": "new-patient"}, {"accepted": False}, after=12)
    story.roll_back(2, "Back to before the medication was written down", after=4 * 60, by=nurse)
    story.resume("Dose units are part of the prompt now; asking again", after=9 * 60, by=nurse)
    story.say(
        "I am back.",
        "Thank you for waiting. Which medicine do you take, and how much, with its unit?",
        after=47,
    )
    story.say(
        "Levothyroxine 50 micrograms and ramipril 5 milligrams, both in the morning.",
        "Levothyroxine 50 µg and ramipril 5 mg, both in the morning: is that right?",
        after=36,
        reasoning="Both doses with the units that the patient said",
        medication=[
            {"name": "levothyroxine", "dose": {"value": 50, "unit": "µg"}, "when": "morning"},
            {"name": "ramipril", "dose": {"value": 5, "unit": "mg"}, "when": "morning"},
        ],
    )
    story.update("Patient confirmed both doses", after=12, medication_verified=True)
    story.call(
        "submit_form",
        {"form": "new-patient"},
        {"accepted": True, "reference": "HS-2231"},
        after=9,
        effect=COMPENSATABLE,
        took_ms=540,
        reasoning="Everything is verified",
        submitted="HS-2231",
    )


INTAKE = ("medical-intake", _intake)
