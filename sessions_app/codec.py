"""A document's text to stored bytes and back: zstd, alone (a keyframe) or against the text of a keyframe.

What is stored is the exact text, so the bytes come back as they were; a small change costs hundreds of bytes
whatever the size of the document, and reading one takes two bodies at most (design: "Versions", Body).
"""

from collections import OrderedDict
from enum import IntEnum
from threading import Lock, local
from typing import cast

import zstandard

KEYFRAME_EVERY = 64
"""Versions until a new keyframe, counted from the last one: bounds how far a body can drift from it."""

# Measured: level 3 loses matches far back in a keyframe from 1.2 MB on, level 5 in text without structure;
# 4 is faster than 5 and loses none up to 2 MiB. For the largest its tables and window are widened (bytes):
_LEVEL = 4
_LARGE = 1536 * 1024
_WORTH_PREPARING = 32 * 1024  # below it a dictionary is indexed faster than it is looked up
_PREPARED_BYTES = 32 * 1024 * 1024  # that a process keeps of prepared dictionaries: 30 keyframes of 100 KB


class Encoding(IntEnum):
    """How a body was made; the value is stored beside it."""

    KEYFRAME = 1
    AGAINST_KEYFRAME = 2


class BrokenBody(ValueError):
    """A stored body does not decode: it was damaged, or its keyframe was."""


def wants_keyframe(number: int, keyframe_number: int, previous_stored: int, previous_text: int) -> bool:
    """Whether version `number` is to be stored alone.

    So are version 0, the 64th after the last keyframe, and one whose predecessor, stored against the
    keyframe, took more than 5 % of its text and more than half a KiB (below that a keyframe costs more than
    it saves).
    `previous_stored` and `previous_text` are the bytes of the predecessor's body and text.
    """
    if number == 0 or number - keyframe_number >= KEYFRAME_EVERY:
        return True
    return keyframe_number < number - 1 and previous_stored > max(previous_text // 20, 512)


def encode(text: bytes, keyframe: bytes | None) -> tuple[Encoding, bytes]:
    """The body of `text`: stored against the text of its keyframe, or alone where that is None."""
    if keyframe is None:
        return Encoding.KEYFRAME, _compressor().compress(text)
    if len(keyframe) < _WORTH_PREPARING:
        compressor = zstandard.ZstdCompressor(level=_LEVEL, dict_data=_dictionary(keyframe))
    elif len(keyframe) < _LARGE:
        compressor = zstandard.ZstdCompressor(level=_LEVEL, dict_data=_prepared(keyframe))
    else:
        parameters = _wide(len(keyframe))
        compressor = zstandard.ZstdCompressor(compression_params=parameters, dict_data=_prepared(keyframe))
    return Encoding.AGAINST_KEYFRAME, compressor.compress(text)


def decode(encoding: int, body: bytes, keyframe: bytes | None) -> bytes:
    """The text of a body; `keyframe` is the text of the keyframe that it was stored against.

    Raises BrokenBody where the bytes are not what `encode` made.
    """
    try:
        if encoding == Encoding.KEYFRAME:
            return _decompressor().decompress(body)
        if encoding == Encoding.AGAINST_KEYFRAME and keyframe is not None:
            return zstandard.ZstdDecompressor(dict_data=_dictionary(keyframe)).decompress(body)
    except zstandard.ZstdError as fault:
        raise BrokenBody(f"The stored body cannot be read: {fault}.") from fault
    raise BrokenBody(f"The stored body cannot be read: encoding {encoding} without what it needs.")


_mine = local()  # zstd's contexts serve one thread at a time


def _compressor() -> zstandard.ZstdCompressor:
    if not hasattr(_mine, "compressor"):
        _mine.compressor = zstandard.ZstdCompressor(level=_LEVEL)
    return cast(zstandard.ZstdCompressor, _mine.compressor)


def _decompressor() -> zstandard.ZstdDecompressor:
    if not hasattr(_mine, "decompressor"):
        _mine.decompressor = zstandard.ZstdDecompressor()
    return cast(zstandard.ZstdDecompressor, _mine.decompressor)


def _dictionary(keyframe: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(keyframe, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


def _wide(size: int) -> zstandard.ZstdCompressionParameters:
    """Settings for a keyframe of `size` bytes whose window covers it and a text of twice its size."""
    return zstandard.ZstdCompressionParameters.from_level(
        _LEVEL, dict_size=size, window_log=min((3 * size).bit_length(), 27), hash_log=20, chain_log=19
    )


_prepared_ones: OrderedDict[bytes, zstandard.ZstdCompressionDict] = OrderedDict()
_prepared_lock = Lock()


def _prepared(keyframe: bytes) -> zstandard.ZstdCompressionDict:
    """The keyframe as a dictionary, indexed once for all versions stored against it: most of the work."""
    with _prepared_lock:
        found = _prepared_ones.get(keyframe)
        if found is not None:
            _prepared_ones.move_to_end(keyframe)
            return found
    made = _dictionary(keyframe)
    if len(keyframe) < _LARGE:
        made.precompute_compress(level=_LEVEL)
    else:
        made.precompute_compress(compression_params=_wide(len(keyframe)))
    with _prepared_lock:
        _prepared_ones[keyframe] = made
        while sum(map(_prepared_size, _prepared_ones)) > _PREPARED_BYTES:
            _prepared_ones.popitem(last=False)
    return made


def _prepared_size(keyframe: bytes) -> int:
    # Text and tables, about.
    return (
        len(keyframe)
        + (1 if len(keyframe) < 256 * 1024 else 2 if len(keyframe) < _LARGE else 6) * 1024 * 1024
    )
