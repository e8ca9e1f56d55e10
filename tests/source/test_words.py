"""The byte filter."""

from __future__ import annotations

from gradtrail.source.words import filter_for


def test_a_file_must_say_torch_and_one_of_the_words() -> None:
    may_matter = filter_for([rb"backward", rb"\.numpy\("])
    assert may_matter(b"import torch\nx.numpy()\n")
    assert may_matter(b"loss.backward()\nimport torch\n")
    assert not may_matter(b"import torch\nx.numpyx()\n")
    assert not may_matter(b"loss.backward()\n")


def test_without_words_torch_is_enough() -> None:
    may_matter = filter_for([])
    assert may_matter(b"import torch")
    assert not may_matter(b"import jax")
