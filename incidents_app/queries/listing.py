"""The incidents of a project as a list: each with what its row shows, and what the list is narrowed by."""

from __future__ import annotations

from django.db.models import Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from incidents_app.enums import ACTIVE, ENDED, Status, StepState
from incidents_app.matrix import MATRIX, Need
from incidents_app.models import AffectedSession, Episode, FollowUp, Incident
from incidents_app.queries.finding import number_in
from statebase_site.access.actor import Actor
from statebase_site.base import clock

_NEVER_OWED = (Status.DECLINED, Status.DUPLICATE)
_WITH_REVIEW = [severity for severity, duties in MATRIX.items() if duties.review == Need.REQUIRED]


def incidents_of(by: Actor) -> QuerySet[Incident]:
    """Every incident of the actor's project."""
    return Incident.objects.filter(project=by.project)


def with_row(incidents: QuerySet[Incident]) -> QuerySet[Incident]:
    """The same with what a row tells besides, all of it read in the one query.

    `session_count`, `first_session` and `first_agent` of the current episode; `has_regressed`: a step of one
    of them no longer holds; `overdue_follow_ups`: how many; `review_is_overdue`.
    """
    sessions = AffectedSession.objects.filter(
        episode__incident=OuterRef("pk"), episode__number=OuterRef("episode_number")
    )
    return incidents.select_related("commander", "duplicate_of").annotate(
        session_count=_count(sessions, "episode"),
        first_session=Subquery(sessions.order_by("pk").values("session_id")[:1]),
        first_agent=Subquery(sessions.order_by("pk").values("agent_id")[:1]),
        has_regressed=Exists(sessions.filter(steps_text__contains=f'"{StepState.REGRESSED}"'))
        & ~Q(status__in=ENDED),
        overdue_follow_ups=_count(_overdue().filter(incident=OuterRef("pk")), "incident"),
        review_is_overdue=Q(review_due__isnull=False, review_due__lt=clock.now()),
    )


def _count(rows: QuerySet, owner: str) -> Coalesce:
    counted = rows.order_by().values(owner).annotate(rows=Count("pk")).values("rows")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def most_urgent(by: Actor, limit: int) -> list[Incident]:
    """The active incidents: the worst first, those in triage last; of one severity the latest first."""
    active = incidents_of(by).filter(status__in=ACTIVE).select_related("commander")
    return list(active.order_by(F("severity").asc(nulls_last=True), "-created_at", "-pk")[:limit])


def matching(incidents: QuerySet[Incident], text: str) -> QuerySet[Incident]:
    """Those whose title or summary holds the text, or whose reference it is."""
    found = Q(title__icontains=text) | Q(summary__icontains=text)
    number = number_in(text)
    return incidents.filter(found if number is None else found | Q(number=number))


def with_overdue_review(incidents: QuerySet[Incident]) -> QuerySet[Incident]:
    """Those whose review was to be approved by now."""
    return incidents.filter(review_due__lt=clock.now())


def with_overdue_follow_up(incidents: QuerySet[Incident]) -> QuerySet[Incident]:
    """Those with a follow-up that was to be done by now."""
    return incidents.filter(Exists(_overdue().filter(incident=OuterRef("pk"))))


def overdue_follow_ups(by: Actor) -> QuerySet[FollowUp]:
    """What was to be done by now in the project, the longest overdue first."""
    return _overdue().filter(incident__project=by.project).select_related("incident").order_by("due", "pk")


def _overdue() -> QuerySet[FollowUp]:
    """A follow-up has all of its day, in UTC; those of declined and merged incidents are nobody's."""
    late = FollowUp.objects.filter(done_at=None, due__lt=clock.now().date())
    return late.exclude(incident__status__in=_NEVER_OWED)


def reviews_owed(by: Actor) -> QuerySet[Incident]:
    """Resolved incidents whose review is still to be approved, the most urgent first, without a date last."""
    unapproved = Episode.objects.filter(
        incident=OuterRef("pk"), number=OuterRef("episode_number"), approved_at=None
    )
    owed = incidents_of(by).filter(Exists(unapproved), status=Status.RESOLVED, peak_severity__in=_WITH_REVIEW)
    return owed.select_related("commander").order_by(F("review_due").asc(nulls_last=True), "pk")
