"""The geometry of the rail: in order, without overlap, and bounded."""

from datetime import UTC, datetime, timedelta
from itertools import combinations, pairwise

import pytest

from sessions_app.models import StateVersion
from sessions_app.queries import LiveRange
from sessions_app.time_machine.entries import entries, silence_in_words, spans
from sessions_app.time_machine.page import window
from sessions_app.time_machine.rail import WIDTH, Branch, Group, Refused, Scene, draw, groups

pytestmark = pytest.mark.once

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def version(number, *, kind="update", frozen=False, minutes=None, restored_from=None):
    return StateVersion(
        number=number,
        kind=kind,
        frozen=frozen,
        restored_from=restored_from,
        first_paths_text='["/frozen"]' if frozen else '["/a"]',
        created_at=NOON + timedelta(minutes=number if minutes is None else minutes),
    )


def scene(count, **more):
    rows = [version(number) for number in range(count)]
    shown = entries(rows, [LiveRange(0, count - 1)])
    return Scene(entries=shown, selected=count - 1, head=count - 1, **more)


@pytest.mark.parametrize("count", [1, 2, 9, 40])
def test_marks_go_from_left_to_right_with_room_between(count):
    rail = draw(scene(count))
    xs = [mark.x for mark in rail.marks]
    assert len(xs) == count
    assert all(right - left >= 25 for left, right in pairwise(xs))
    assert xs[0] > 0
    assert xs[-1] < rail.width
    assert rail.cursor_x == xs[-1]


def test_a_short_session_fits_on_the_page():
    assert draw(scene(25)).width <= WIDTH + 1


def test_a_group_covers_the_versions_that_are_not_drawn():
    found = groups(0, 999, [3, 500], 6)
    assert found[0].first == 0
    assert found[-1].last == 999
    assert all(left.last + 1 == right.first for left, right in pairwise(found))
    assert sum(group.rollbacks for group in found) == 2
    assert groups(5, 4, [], 6) == []
    assert len(groups(0, 2, [], 6)) == 3


def test_labels_do_not_run_into_each_other():
    rows = [version(number) for number in range(99_980, 100_000)]
    shown = entries(rows, [LiveRange(0, 100_000)])[1:]
    rail = draw(
        Scene(
            entries=shown,
            selected=99_991,
            head=100_000,
            before=[Group(0, 99_980)],
            after=[Group(100_000, 100_000)],
        )
    )
    labelled = [mark.x for mark in rail.marks if mark.labelled]
    assert all(right - left >= 6 * 6.5 for left, right in pairwise(labelled))


def test_the_words_of_a_silence_give_way_to_version_numbers():
    def drawn(count, first=0):
        rows = [version(first + number, minutes=number * 8) for number in range(count)]
        return draw(Scene(entries=entries(rows, [LiveRange(0, 9_999)])[1:], selected=first + 1, head=9_999))

    roomy, packed = drawn(6), drawn(41, first=1_000)
    assert [pause.words for pause in roomy.pauses if pause.labelled] == ["8 min"] * 5
    assert len(packed.pauses) == 40  # the dots and their title stay
    for pause in packed.pauses:
        near = min(abs(pause.x - mark.x) for mark in packed.marks if mark.labelled)
        assert not pause.labelled or near > 6.7 * (len(pause.words) + len("v1000")) / 2


def test_labels_of_arcs_over_one_another_stand_apart():
    targets = {8: 5, 9: 4, 10: 8}
    rows = [version(number) for number in range(8)]
    rows += [version(number, kind="rollback", restored_from=target) for number, target in targets.items()]
    shown = entries(rows, [LiveRange(10, 10), LiveRange(8, 8), LiveRange(0, 5)])
    rail = draw(Scene(entries=shown, selected=10, head=10, targets=targets, has_rollbacks=True))
    labels = [(arc.label_x, arc.label_y) for arc in rail.arcs if arc.labelled]
    assert len(labels) == 3
    for (x, y), (other_x, other_y) in combinations(labels, 2):
        assert abs(x - other_x) > 6.7 * len("restores v4") or abs(y - other_y) > 11


def test_a_freeze_is_a_band_until_its_resume():
    rows = [version(0), version(1, frozen=True), version(2, frozen=True), version(3), version(4)]
    shown = entries(rows, [LiveRange(0, 4)])
    assert [entry.mark for entry in shown] == ["update", "freeze", "update", "resume", "update"]
    rail = draw(Scene(entries=shown, selected=0, head=4, refused=[Refused(2, 7)]))
    (band,) = rail.bands
    xs = {mark.entry.number: mark.x for mark in rail.marks}
    (cross,) = rail.crosses
    assert xs[0] < band.x1 < xs[1]
    assert xs[2] < cross.label_x < band.x2 < xs[3]
    assert (cross.count, len(cross.xs)) == (7, 3)


def test_a_rollback_has_an_arc_even_to_a_version_in_a_group():
    rows = [version(number) for number in range(9)] + [version(9, kind="rollback", restored_from=2)]
    ranges = [LiveRange(9, 9), LiveRange(0, 2)]
    shown = entries(rows, ranges)
    rail = draw(Scene(entries=shown, selected=9, head=9, targets={9: 2}, has_rollbacks=True))
    assert [(arc.number, arc.target) for arc in rail.arcs] == [(9, 2)]
    assert [entry.number for entry in shown if entry.undone] == [3, 4, 5, 6, 7, 8]
    assert [line.undone for line in rail.lines] == [False, False, True, True, True, True, True, True, True]
    late = draw(
        Scene(entries=shown[5:], selected=9, head=9, before=[Group(0, 4)], targets={9: 2}, has_rollbacks=True)
    )
    assert len(late.arcs) == 1
    assert late.cursor_x == late.marks[-1].x


def test_a_mere_freeze_is_not_undone_by_a_rollback():
    rows = [
        version(0),
        version(1),
        version(2, frozen=True),
        version(3, kind="rollback", restored_from=0, frozen=True),
    ]
    shown = entries(rows, [LiveRange(3, 3), LiveRange(0, 0)])
    assert [entry.undone for entry in shown] == [False, True, False, False]


def test_many_forks_of_one_version_are_one_branch():
    rail = draw(scene(5, branches=[Branch(1, ("sess_a",)), Branch(2, tuple("abc"))], has_forks=True))
    assert [branch.branch.label for branch in rail.branches] == ["sess_a", "3 forks"]
    assert all(branch.y < rail.height for branch in rail.branches)


def test_a_version_that_is_not_drawn_has_no_cursor():
    shown = scene(5)
    assert draw(Scene(entries=shown.entries[:3], selected=4, head=4, after=[Group(3, 4)])).cursor_x is None


@pytest.mark.parametrize(
    ("numbers", "words"),
    [([], ""), ([3], "v3"), ([4, 3], "v3, v4"), ([1, 2, 3, 5], "v1–v3, v5")],
)
def test_version_numbers_in_words(numbers, words):
    assert spans(numbers) == words


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(7, "7 min"), (60, "1 h"), (200, "3 h 20 min"), (2 * 1440 + 61, "2 d 1 h"), (1440, "1 d")],
)
def test_silence_in_words(minutes, words):
    assert silence_in_words(timedelta(minutes=minutes)) == words


def test_five_minutes_are_no_silence_yet():
    rows = [version(0, minutes=0), version(1, minutes=5), version(2, minutes=10.1)]
    assert [entry.idle is not None for entry in entries(rows, [LiveRange(0, 2)])] == [False, False, True]


@pytest.mark.parametrize("head", [0, 59, 60, 61, 119, 2000])
def test_the_window_holds_the_version_and_stays_within_the_session(head):
    for number in {0, head // 2, head}:
        first, last = window(number, head, whole=60, block=30, round_=15)
        assert 0 <= first <= number <= last <= head
        assert last - first < 60


def test_the_window_stands_still_while_the_cursor_moves_in_its_block():
    assert {window(number, 2000, whole=60, block=30, round_=15) for number in range(90, 120)} == {(75, 134)}
