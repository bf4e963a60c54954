"""64-bit hashes of strings, bit by bit those of TensorFlow: FarmHash (na), MurmurHash64A and SipHash-2-4."""

from __future__ import annotations

from struct import unpack_from

MASK = (1 << 64) - 1
K0, K1, K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def _u64(s: bytes, at: int) -> int:
    return unpack_from("<Q", s, at)[0]


def _u32(s: bytes, at: int) -> int:
    return unpack_from("<I", s, at)[0]


def _turn(v: int, by: int) -> int:
    """Rotates to the right."""
    return ((v >> by) | (v << (64 - by))) & MASK if by else v


def _mix(v: int) -> int:
    return v ^ (v >> 47)


def _pair(u: int, v: int, by: int) -> int:
    """Two numbers as one."""
    a = ((u ^ v) * by) & MASK
    a ^= a >> 47
    b = ((v ^ a) * by) & MASK
    b ^= b >> 47
    return (b * by) & MASK


def _up_to_16(s: bytes) -> int:
    n = len(s)
    if n >= 8:
        by = K2 + n * 2
        a, b = (_u64(s, 0) + K2) & MASK, _u64(s, n - 8)
        c = (_turn(b, 37) * by + a) & MASK
        d = ((_turn(a, 25) + b) * by) & MASK
        return _pair(c, d, by)
    if n >= 4:
        by = K2 + n * 2
        return _pair((n + (_u32(s, 0) << 3)) & MASK, _u32(s, n - 4), by)
    if n > 0:
        y = s[0] + (s[n >> 1] << 8)
        z = n + (s[n - 1] << 2)
        return (_mix(((y * K2) ^ (z * K0)) & MASK) * K2) & MASK
    return K2


def _up_to_32(s: bytes) -> int:
    n = len(s)
    by = (K2 + n * 2) & MASK
    a, b = (_u64(s, 0) * K1) & MASK, _u64(s, 8)
    c, d = (_u64(s, n - 8) * by) & MASK, (_u64(s, n - 16) * K2) & MASK
    return _pair((_turn((a + b) & MASK, 43) + _turn(c, 30) + d) & MASK, (a + _turn((b + K2) & MASK, 18) + c) & MASK, by)


def _up_to_64(s: bytes) -> int:
    n = len(s)
    by = (K2 + n * 2) & MASK
    a, b = (_u64(s, 0) * K2) & MASK, _u64(s, 8)
    c, d = (_u64(s, n - 8) * by) & MASK, (_u64(s, n - 16) * K2) & MASK
    y = (_turn((a + b) & MASK, 43) + _turn(c, 30) + d) & MASK
    z = _pair(y, (a + _turn((b + K2) & MASK, 18) + c) & MASK, by)
    e, f = (_u64(s, 16) * by) & MASK, _u64(s, 24)
    g, h = ((y + _u64(s, n - 32)) * by) & MASK, ((z + _u64(s, n - 24)) * by) & MASK
    return _pair((_turn((e + f) & MASK, 43) + _turn(g, 30) + h) & MASK, (e + _turn((f + a) & MASK, 18) + g) & MASK, by)


def _weak(s: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """32 bytes and two seeds as two numbers."""
    w, x, y, z = (_u64(s, at + 8 * i) for i in range(4))
    a = (a + w) & MASK
    b = _turn((b + a + z) & MASK, 21)
    c = a
    a = (a + x + y) & MASK
    b = (b + _turn(a, 44)) & MASK
    return (a + z) & MASK, (b + c) & MASK


def farm64(s: bytes) -> int:
    """FarmHash's fingerprint.

    >>> farm64(b"a") % 10, farm64(b"hello") % 100
    (9, 96)
    """
    n = len(s)
    if n <= 16:
        return _up_to_16(s)
    if n <= 32:
        return _up_to_32(s)
    if n <= 64:
        return _up_to_64(s)
    x = 81
    y = (81 * K1 + 113) & MASK
    z = (_mix((y * K2 + 113) & MASK) * K2) & MASK
    v, w = (0, 0), (0, 0)
    x = (x * K2 + _u64(s, 0)) & MASK
    end = ((n - 1) // 64) * 64
    for at in range(0, end, 64):
        x = (_turn((x + y + v[0] + _u64(s, at + 8)) & MASK, 37) * K1) & MASK
        y = (_turn((y + v[1] + _u64(s, at + 48)) & MASK, 42) * K1) & MASK
        x ^= w[1]
        y = (y + v[0] + _u64(s, at + 40)) & MASK
        z = (_turn((z + w[0]) & MASK, 33) * K1) & MASK
        v = _weak(s, at, (v[1] * K1) & MASK, (x + w[0]) & MASK)
        w = _weak(s, at + 32, (z + w[1]) & MASK, (y + _u64(s, at + 16)) & MASK)
        z, x = x, z
    by = (K1 + ((z & 0xFF) << 1)) & MASK
    at = n - 64
    w = ((w[0] + ((n - 1) & 63)) & MASK, w[1])
    v = ((v[0] + w[0]) & MASK, v[1])
    w = ((w[0] + v[0]) & MASK, w[1])
    x = (_turn((x + y + v[0] + _u64(s, at + 8)) & MASK, 37) * by) & MASK
    y = (_turn((y + v[1] + _u64(s, at + 48)) & MASK, 42) * by) & MASK
    x ^= (w[1] * 9) & MASK
    y = (y + v[0] * 9 + _u64(s, at + 40)) & MASK
    z = (_turn((z + w[0]) & MASK, 33) * by) & MASK
    v = _weak(s, at, (v[1] * by) & MASK, (x + w[0]) & MASK)
    w = _weak(s, at + 32, (z + w[1]) & MASK, (y + _u64(s, at + 16)) & MASK)
    z, x = x, z
    first = (_pair(v[0], w[0], by) + _mix(y) * K0 + z) & MASK
    return _pair(first, (_pair(v[1], w[1], by) + x) & MASK, by)


def murmur64(s: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """MurmurHash64A.

    >>> murmur64(b"a") % 10
    8
    """
    by = 0xC6A4A7935BD1E995
    h = seed ^ ((len(s) * by) & MASK)
    whole = len(s) // 8 * 8
    for at in range(0, whole, 8):
        k = (_u64(s, at) * by) & MASK
        k = ((k ^ (k >> 47)) * by) & MASK
        h = ((h ^ k) * by) & MASK
    if whole < len(s):
        h = ((h ^ int.from_bytes(s[whole:], "little")) * by) & MASK
    h = ((h ^ (h >> 47)) * by) & MASK
    return h ^ (h >> 47)


def sip64(s: bytes, key0: int, key1: int) -> int:
    """SipHash with two rounds for each word and four at the end.

    >>> sip64(b"a", 1, 2) % 10
    6
    """
    v = [key0 ^ 0x736F6D6570736575, key1 ^ 0x646F72616E646F6D, key0 ^ 0x6C7967656E657261, key1 ^ 0x7465646279746573]

    def rounds(count: int) -> None:
        for _ in range(count):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = _turn(v[1], 64 - 13) ^ v[0]
            v[0] = _turn(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = _turn(v[3], 64 - 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = _turn(v[3], 64 - 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = _turn(v[1], 64 - 17) ^ v[2]
            v[2] = _turn(v[2], 32)

    padded = s + bytes(7 - len(s) % 8) + bytes([len(s) & 0xFF])
    for at in range(0, len(padded), 8):
        word = _u64(padded, at)
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]
