# SPDX-License-Identifier: Apache-2.0
"""AES against FIPS 197, Milenage against the published sets of test data (3GPP TS 35.207 and 35.208)."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from weir.ims.aes import Aes128
from weir.ims.milenage import Milenage, synchronized, vector
from weir.ims.subscribers import FIELDS, read, written


class Set(NamedTuple):
    """In hex, as they are published."""

    key: str
    rand: str
    sqn: str
    amf: str
    op: str
    opc: str
    f1: str
    f1_star: str
    f2: str
    f3: str
    f4: str
    f5: str
    f5_star: str


SETS = [
    Set(
        "465b5ce8b199b49faa5f0a2ee238a6bc", "23553cbe9637a89d218ae64dae47bf35", "ff9bb4d0b607", "b9b9",
        "cdc202d5123e20f62b6d676ac72cb318", "cd63cb71954a9f4e48a5994e37a02baf",
        "4a9ffac354dfafb3", "01cfaf9ec4e871e9", "a54211d5e3ba50bf",
        "b40ba9a3c58b2a05bbf0d987b21bf8cb", "f769bcd751044604127672711c6d3441",
        "aa689c648370", "451e8beca43b",
    ),
    Set(
        "0396eb317b6d1c36f19c1c84cd6ffd16", "c00d603103dcee52c4478119494202e8", "fd8eef40df7d", "af17",
        "ff53bade17df5d4e793073ce9d7579fa", "53c15671c60a4b731c55b4a441c0bde2",
        "5df5b31807e258b0", "a8c016e51ef4a343", "d3a628ed988620f0",
        "58c433ff7a7082acd424220f2b67c556", "21a8c1f929702adb3e738488b9f5c5da",
        "c47783995f72", "30f1197061c1",
    ),
    Set(
        "fec86ba6eb707ed08905757b1bb44b8f", "9f7c8d021accf4db213ccff0c7f71a6a", "9d0277595ffc", "725c",
        "dbc59adcb6f9a0ef735477b7fadf8374", "1006020f0a478bf6b699f15c062e42b3",
        "9cabc3e99baf7281", "95814ba2b3044324", "8011c48c0c214ed2",
        "5dbdbb2954e8f3cde665b046179a5098", "59a92d3b476a0443487055cf88b2307b",
        "33484dc2136b", "deacdd848cc6",
    ),
    Set(
        "9e5944aea94b81165c82fbf9f32db751", "ce83dbc54ac0274a157c17f80d017bd6", "0b604a81eca8", "9e09",
        "223014c5806694c007ca1eeef57f004f", "a64a507ae1a2a98bb88eb4210135dc87",
        "74a58220cba84c49", "ac2cc74a96871837", "f365cd683cd92e96",
        "e203edb3971574f5a94b0d61b816345d", "0c4524adeac041c4dd830d20854fc46b",
        "f0b9c08ad02e", "6085a86c6f63",
    ),
    Set(
        "4ab1deb05ca6ceb051fc98e77d026a84", "74b0cd6031a1c8339b2b6ce2b8c4a186", "e880a1b580b6", "9f07",
        "2d16c5cd1fdf6b22383584e3bef2a8d8", "dcf07cbd51855290b92a07a9891e523e",
        "49e785dd12626ef2", "9e85790336bb3fa2", "5860fc1bce351e7e",
        "7657766b373d1c2138f307e3de9242f9", "1c42e960d89b8fa99f2744e0708ccb53",
        "31e11a609118", "fe2555e54aa9",
    ),
]  # fmt: skip
RAW = bytes.fromhex


def test_a_block_is_encrypted_as_fips_197_has_it() -> None:
    cipher = Aes128(RAW("000102030405060708090a0b0c0d0e0f"))
    assert (
        cipher.encrypted(RAW("00112233445566778899aabbccddeeff")).hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"
    )
    with pytest.raises(ValueError, match="15 bytes"):
        Aes128(bytes(15))


@pytest.mark.parametrize("known", SETS, ids=lambda one: one.key[:4])
def test_all_functions_give_what_was_published(known: Set) -> None:
    made = Milenage.of(RAW(known.key), RAW(known.op))
    assert made.operator.hex() == known.opc
    rand = RAW(known.rand)
    assert [one.hex() for one in made.f1(rand, RAW(known.sqn), RAW(known.amf))] == [known.f1, known.f1_star]
    assert [one.hex() for one in made.f2345(rand)] == [known.f2, known.f3, known.f4, known.f5]
    assert made.f5_star(rand).hex() == known.f5_star


def test_a_vector_hides_its_number_and_names_the_network() -> None:
    known = SETS[0]
    made = vector(
        Milenage.of(RAW(known.key), RAW(known.op)), RAW(known.rand), int(known.sqn, 16), RAW(known.amf)
    )
    hidden = int.from_bytes(made.autn[:6], "big") ^ int(known.f5, 16)
    assert f"{hidden:012x}" == known.sqn
    assert made.autn[6:].hex() == known.amf + known.f1
    assert made.xres.hex() == known.f2


def test_a_subscribers_numbers_grow_and_no_response_has_a_zero_byte() -> None:
    rows = [("1@t", "sip:1@t", "61" * 16, "62" * 16, "8000")]
    (one,) = read(written(rows))
    numbers = iter(range(100_000))
    seen = [one.vector(lambda: next(numbers).to_bytes(16, "big")) for _ in range(100)]
    assert all(0 not in made.xres for made in seen)
    assert next(numbers) > 100  # some had one, and were made anew
    assert one.sqn == 100 * 32


def test_a_file_of_subscribers_with_other_fields_is_refused() -> None:
    with pytest.raises(ValueError, match=f"expected .*{FIELDS[0]}"):
        read("name,key\n1,2\n")


@pytest.mark.parametrize("known", SETS, ids=lambda one: one.key[:4])
def test_a_subscriber_s_number_is_taken_from_what_only_it_can_have_said(known: Set) -> None:
    made, rand, number = Milenage(RAW(known.key), RAW(known.opc)), RAW(known.rand), RAW(known.sqn)
    hidden = (int(known.sqn, 16) ^ int(known.f5_star, 16)).to_bytes(6, "big")
    _, mac = made.f1(rand, number, bytes(2))
    assert synchronized(made, rand, hidden + mac) == int(known.sqn, 16)
    assert synchronized(made, rand, hidden + bytes(8)) is None
    assert synchronized(made, bytes(16), hidden + mac) is None
