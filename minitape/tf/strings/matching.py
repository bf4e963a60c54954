"""Strings matched by patterns, and numbered by hashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.invalid import invalid
from ...engine.operands import generated, strict
from ...engine.tensor import Tensor, wrap
from . import hashing, patterns
from .values import each, strings_of


@strict
def regex_replace(input: Any, pattern: str, rewrite: str, replace_global: bool = True, name: str | None = None) -> Tensor:
    """What matches the pattern (RE2's syntax) replaced; ``\\1`` is the first group, ``\\0`` all of the match.

    InvalidArgumentError for a pattern that is none.

    >>> import minitape as tf
    >>> tf.strings.regex_replace("a1b22", "[0-9]+", "#").numpy()
    b'a#b#'
    """
    array = strings_of(input, "StaticRegexReplace")
    return each(patterns.replacer(pattern, rewrite, replace_global), array)


@strict
def regex_full_match(input: Any, pattern: str, name: str | None = None) -> Tensor:
    """True where all of the string matches the pattern (RE2's syntax); a bool tensor of the shape of ``input``.

    InvalidArgumentError for a pattern that is none, and for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.strings.regex_full_match(["a1", "b"], "[a-z][0-9]").numpy()
    array([ True, False])
    """
    array = strings_of(input, "StaticRegexFullMatch")
    match = patterns.matcher(pattern)
    return wrap(np.array([match(s) for s in array.reshape(-1)], bool).reshape(array.shape))


def _buckets(op: str, input: Any, num_buckets: int, function: Callable[[bytes], int], label: str = "input") -> Any:
    array = strings_of(input, op)
    if num_buckets < 1:
        raise invalid(
            f"Value for attr 'num_buckets' of {num_buckets} must be at least minimum 1\n\t; NodeDef: {{{{node "
            f"{op}}}}}; Op<name={op}; signature={label}:string -> output:int64; attr=num_buckets:int,min=1>",
            op,
        )
    return wrap(np.array([function(s) % num_buckets for s in array.reshape(-1)], np.int64).reshape(array.shape))


@generated("string_to_hash_bucket_fast")
def to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """FarmHash's 64-bit fingerprint of each string, modulo ``num_buckets``; int64.

    The result has the shape of ``input``. InvalidArgumentError for less than one bucket, and for a tensor that holds no
    strings.

    >>> import minitape as tf
    >>> tf.strings.to_hash_bucket_fast(["a", "b"], 10).numpy()
    array([9, 2])
    """
    return _buckets("StringToHashBucketFast", input, num_buckets, hashing.farm64)


@strict
def to_hash_bucket(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """Another hash (MurmurHash64A) of each string, modulo ``num_buckets``; int64.

    The result has the shape of ``input``. InvalidArgumentError for less than one bucket, and for a tensor that holds no
    strings.

    >>> import minitape as tf
    >>> print(0 <= int(tf.strings.to_hash_bucket('a', 5)) < 5)
    True
    """
    return _buckets("StringToHashBucket", input, num_buckets, hashing.murmur64, "string_tensor")


@generated("string_to_hash_bucket_strong")
def to_hash_bucket_strong(input: Any, num_buckets: int, key: Any, name: str | None = None) -> Tensor:
    """A hash with a key of two integers (SipHash-2-4), modulo ``num_buckets``; int64.

    The result has the shape of ``input``. InvalidArgumentError for a ``key`` of another length, for less than one
    bucket, and for a tensor that holds no strings.

    >>> import minitape as tf
    >>> print(0 <= int(tf.strings.to_hash_bucket_strong('a', 5, [1, 2])) < 5)
    True
    """
    if len(key) != 2:
        raise invalid("Key must have 2 elements", "StringToHashBucketStrong")
    return _buckets(
        "StringToHashBucketStrong", input, num_buckets, lambda s: hashing.sip64(s, int(key[0]), int(key[1]))
    )
