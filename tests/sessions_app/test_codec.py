"""Stored bodies give their text back exactly, and a small change costs little."""

import random
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.codec import KEYFRAME_EVERY, BrokenBody, Encoding, decode, encode, wants_keyframe
from statebase_site.base.json import dumps

pytestmark = pytest.mark.once

LARGEST = 3_200_000


@cache
def letters(size: int, seed: int = 7) -> bytes:
    """Text that zstd cannot shorten much, such as an embedded image."""
    return bytes(
        random.Random(seed).choices(
            b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/", k=size
        )
    )


def large_state(size: int, seed: int = 7) -> dict:
    source = random.Random(seed)
    items = []
    for index in range(size // 150):
        words = " ".join("".join(source.choices("abcdefgh", k=source.randint(2, 8))) for _ in range(15))
        items.append(
            {"id": f"item_{index}", "text": words, "price": source.random(), "sold": source.randint(0, 99)}
        )
    return {"step": 0, "items": items, "owner": None}


@cache
def large_text() -> bytes:
    return dumps(large_state(LARGEST)).encode()


def stored_sizes(state: dict, change, versions: int) -> tuple[int, int]:
    """(bytes of bodies, bytes of texts) of a session that is changed `versions` times; each is read back."""
    keyframe, keyframe_number, stored, size, all_stored, all_text = None, 0, 0, 0, 0, 0
    for number in range(versions):
        if number:
            change(state, number)
        text = dumps(state).encode()
        if wants_keyframe(number, keyframe_number, stored, size):
            encoding, body = encode(text, None)
            assert encoding is Encoding.KEYFRAME
            keyframe, keyframe_number = text, number
        else:
            encoding, body = encode(text, keyframe)
            assert encoding is Encoding.AGAINST_KEYFRAME
        assert decode(encoding, body, keyframe) == text
        stored, size = len(body), len(text)
        all_stored, all_text = all_stored + stored, all_text + size
    return all_stored, all_text


class TestRoundTrip:
    @given(st.binary(), st.binary())
    def test_any_bytes_come_back(self, text, keyframe):
        assert decode(*encode(text, None), None) == text
        assert decode(*encode(text, keyframe), keyframe) == text

    @pytest.mark.parametrize("size", [10, 40_000, 300_000, 1_600_000, 3_000_000])
    @pytest.mark.parametrize("keyframe_size", [10, 40_000, 300_000, 1_600_000, 3_000_000])
    def test_sizes_of_text_and_keyframe_need_not_match(self, size, keyframe_size):
        everything = letters(LARGEST)
        text, keyframe = everything[:size] + b"!", everything[:keyframe_size]
        for _ in range(2):  # the second time with a prepared dictionary
            assert decode(*encode(text, keyframe), keyframe) == text

    def test_threads_do_not_disturb_each_other(self):
        keyframes = [letters(50_000, seed) for seed in range(8)]

        def work(index: int) -> bool:
            keyframe = keyframes[index % 8]
            text = keyframe[: index * 13] + b"changed" + keyframe[index * 13 :]
            alone, against = encode(text, None), encode(text, keyframe)
            return decode(*alone, None) == text == decode(*against, keyframe)

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(work, range(400)))


class TestDamage:
    def test_a_damaged_body_is_named_as_such(self):
        encoding, body = encode(letters(5_000), None)
        for broken in (b"", b"nonsense", body[:-10], body[10:]):
            with pytest.raises(BrokenBody):
                decode(encoding, broken, None)

    def test_a_keyframe_that_is_missing_is_named_as_such(self):
        text = letters(5_000)
        encoding, body = encode(text + b"!", text)
        with pytest.raises(BrokenBody):
            decode(encoding, body, None)
        with pytest.raises(BrokenBody):
            decode(99, body, text)


class TestSizes:
    @pytest.mark.parametrize("size", [100_000, 1_000_000, 2_090_000, LARGEST])
    @pytest.mark.parametrize("where", [0, 0.5, 1])
    def test_a_small_change_costs_hundreds_of_bytes_whatever_the_size(self, size, where):
        for keyframe in (letters(LARGEST)[:size], large_text()[:size]):
            place = int(where * len(keyframe))
            text = keyframe[:place] + b"something else" + keyframe[place + 3 :]
            assert len(encode(text, keyframe)[1]) < 1_500

    def test_one_field_of_a_100_kb_state_costs_under_1_percent(self):
        def change(state, number):
            state["step"] = number

        stored, text = stored_sizes(large_state(100_000), change, 200)
        assert stored < 0.01 * text

    def test_one_field_anywhere_in_a_100_kb_state_costs_under_2_percent(self):
        def change(state, number):
            state["items"][number * 37 % len(state["items"])]["sold"] = number

        stored, text = stored_sizes(large_state(100_000), change, 200)
        assert stored < 0.02 * text

    def test_a_growing_list_costs_under_5_percent(self):
        def change(state, number):
            state["items"].append(
                {"id": f"new_{number}", "text": f"message {number} of the user", "sold": number}
            )

        stored, text = stored_sizes(large_state(100_000), change, 200)
        assert stored < 0.05 * text


class TestKeyframes:
    def test_version_0_is_one(self):
        assert wants_keyframe(0, 0, 0, 0)

    def test_every_64th_is_one_counted_from_the_last(self):
        assert not wants_keyframe(10 + KEYFRAME_EVERY - 1, 10, 100, 100_000)
        assert wants_keyframe(10 + KEYFRAME_EVERY, 10, 100, 100_000)

    def test_one_follows_a_version_that_took_over_5_percent(self):
        assert wants_keyframe(5, 0, 5_001, 100_000)
        assert not wants_keyframe(5, 0, 5_000, 100_000)

    def test_none_follows_a_keyframe_however_large(self):
        assert not wants_keyframe(1, 0, 60_000, 100_000)

    def test_small_states_do_not_pay_for_keyframes(self):
        assert not wants_keyframe(5, 0, 90, 1_000)
