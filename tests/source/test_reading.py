"""Files that Python can read are read as Python reads them; for others one sentence says why not."""

from __future__ import annotations

import builtins
import os
import sys
import tokenize
from pathlib import Path
from typing import Any

import pytest

from gradtrail.source import snippet
from gradtrail.source.reading import Unreadable, decode, read


def reason(path: Path) -> str:
    with pytest.raises(Unreadable) as caught:
        read(str(path))
    assert caught.value.filename == str(path)
    return str(caught.value.reason)


def written(folder: Path, data: bytes, name: str = "a.py") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x = 1\n",
        "x = 'ä'\n".encode(),
        b"\xef\xbb\xbfx = '\xc3\xa4'\n",
        b"\xef\xbb\xbf# coding: utf-8\nx = 1\n",
        b"# -*- coding: latin-1 -*-\nx = '\xe4'\n",
        b"#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n",
        b"\x0c\n# coding=latin-1\nx = '\xe4'\n",
        b"x = 1\n# coding: latin-1\ny = 2\n",
        "# coding: utf-8-unix\nx = 'ä'\n".encode(),
        b"# coding: shift_jis\r\nx = '\x83\x65'\r\n",
        b"x = 1\r# coding: latin-1\r",
    ],
)
def test_the_text_is_what_python_reads(data: bytes, tmp_path: Path) -> None:
    path = written(tmp_path, data)
    with tokenize.open(path) as file:
        expected = file.read()
    source = read(str(path))
    assert source.text.replace("\r\n", "\n").replace("\r", "\n") == expected
    assert source.data == data
    source.parse()


def test_latin_1_without_a_cookie_names_the_byte(tmp_path: Path) -> None:
    said = reason(written(tmp_path, b"import torch\n# caf\xe9\n"))
    assert said == "is not UTF-8: byte 19 (0xe9, line 2) cannot be decoded"


def test_a_wrong_cookie_names_the_encoding_and_the_byte(tmp_path: Path) -> None:
    said = reason(written(tmp_path, b"# coding: ascii\nx = '\xe9'\n"))
    assert said == "is not ascii: byte 22 (0xe9, line 2) cannot be decoded"


def test_a_byte_after_a_mark_is_counted_in_the_file(tmp_path: Path) -> None:
    said = reason(written(tmp_path, b"\xef\xbb\xbfab\xff\n"))
    assert said == "is not UTF-8: byte 6 (0xff, line 1) cannot be decoded"


@pytest.mark.parametrize("name", ["klingon", "rot13", "hex", "base64", "zlib"])
def test_an_encoding_that_is_none(tmp_path: Path, name: str) -> None:
    said = reason(written(tmp_path, f"# coding: {name}\nx = 1\n".encode()))
    assert said == f"declares the encoding {name}, which is not known"


def test_a_mark_and_another_encoding_contradict_each_other(tmp_path: Path) -> None:
    said = reason(written(tmp_path, b"\xef\xbb\xbf# coding: latin-1\n"))
    assert said == "has a UTF-8 byte order mark, yet declares the encoding latin-1"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"x = 1\n\0\n", "is binary: byte 7 is zero"),
        (b"\x7fELF\x02\x01\0\0", "is binary: byte 7 is zero"),
        ("x = 1\n".encode("utf-16"), "is UTF-16, which Python does not read as source"),
    ],
)
def test_binary(tmp_path: Path, data: bytes, said: str) -> None:
    assert reason(written(tmp_path, data)) == said


def test_what_does_not_parse_names_the_line(tmp_path: Path) -> None:
    version = "{}.{}".format(*sys.version_info)
    assert (
        reason(written(tmp_path, b"x = 1\nfor in y:\n"))
        == f"does not parse: line 2: invalid syntax (read as Python {version})"
    )


def test_missing_and_folder(tmp_path: Path) -> None:
    assert reason(tmp_path / "missing.py") == "no such file or folder"
    assert reason(tmp_path) == "is a folder, not a file"


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(Unreadable, match="cannot be read"):
        read("a\0b.py")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_not_permitted(tmp_path: Path) -> None:
    path = written(tmp_path, b"x = 1\n")
    path.chmod(0)
    assert reason(path) == "not permitted to read it"


def test_not_permitted_as_the_system_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, b"x = 1\n")

    def refuse(*arguments: Any, **keywords: Any) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(builtins, "open", refuse)
    assert reason(path) == "not permitted to read it"


def test_a_link_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a.py").symlink_to(tmp_path / "b.py")
    (tmp_path / "b.py").symlink_to(tmp_path / "a.py")
    assert reason(tmp_path / "a.py").startswith("cannot be read: ")


DEEP = {
    "brackets": "x = " + "(" * 1000 + ")" * 1000,
    "lists": "x = " + "[" * 1000 + "]" * 1000,
    "attributes": "x = a" + ".b" * 1000,
    "calls": "x = a" + "()" * 1000,
    "sum": "x = " + "+".join(["a"] * 1000),
    "minus": "x = " + "-" * 1000 + "1",
    "blocks": "".join(" " * depth + "if x:\n" for depth in range(1000)) + " " * 1000 + "pass",
    "branches": "if a: pass\n" + "elif b: pass\n" * 1000,
    "lambda": "x = " + "lambda: " * 1000 + "1",
    "strings": "x = " + "f'{" * 1 + "a" + "}'" * 1,
    "far too deep": "x = a" + ".b" * 100_000,
}


@pytest.mark.parametrize("kind", DEEP)
def test_a_thousand_levels_are_read_or_refused_in_one_sentence(kind: str) -> None:
    try:
        source = snippet.read("deep.py", DEEP[kind].encode())
    except Unreadable as unreadable:
        said = str(unreadable.reason)
        assert said == "is nested too deeply to be parsed" or said.startswith("does not parse: line ")
    else:
        assert source.parse().body


def test_five_megabytes_are_read(tmp_path: Path) -> None:
    data = b"x = torch.randn(3)\n" * (5_000_000 // 19)
    assert len(read(str(written(tmp_path, data))).parse().body) == len(data) // 19


def test_nothing_is_run(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    program = f"open({str(witness)!r}, 'w').write('ran')\nimport this_module_is_hostile\n"
    (tmp_path / "this_module_is_hostile.py").write_text(program)
    read(str(written(tmp_path, program.encode())))
    assert not witness.exists()
    assert "this_module_is_hostile" not in sys.modules


def test_the_encoding_is_kept_for_writing() -> None:
    assert decode("a.py", b"\xef\xbb\xbfx")[1] == "utf-8-sig"
    assert decode("a.py", b"# coding: latin-1\n")[1] == "latin-1"
    assert decode("a.py", b"x")[1] == "utf-8"
