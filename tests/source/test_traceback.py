"""Tracebacks as they are pasted: the error, its words, its lines."""

from __future__ import annotations

import pytest

from gradtrail.source.traceback import Frame, plain, read

PLAIN = """\
Traceback (most recent call last):
  File "train.py", line 6, in <module>
    opt = torch.optim.Adam([w], lr=0.01)
          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
ValueError: can't optimize a non-leaf Tensor
"""

WRAPPED = {
    "as it is": PLAIN,
    "colours": PLAIN.replace("ValueError", "\x1b[1;35mValueError\x1b[0m"),
    "colours without their escape": PLAIN.replace("ValueError", "[0;31mValueError[0m"),
    "a rank": "".join(f"[rank0]: {line}\n" for line in PLAIN.splitlines()),
    "torchrun": "".join(f"[default0]:{line}\n" for line in PLAIN.splitlines()),
    "a log": "".join(f"2024-01-02 03:04:05,678 ERROR {line}\n" for line in PLAIN.splitlines()),
    "a cluster": "".join(f"(pid=123) {line}\n" for line in PLAIN.splitlines()),
    "containers": "".join(f"trainer_1  | {line}\n" for line in PLAIN.splitlines()),
    "a quotation": "".join(f"> {line}\n" for line in PLAIN.splitlines()),
    "carriage returns": PLAIN.replace("\n", "\r\n"),
    "a typographic quote": PLAIN.replace("can't", "can’t"),
    "full width": PLAIN.replace("ValueError: ", "ＶａｌｕｅＥｒｒｏｒ： "),
    "a module before the type": PLAIN.replace("ValueError", "builtins.ValueError"),
}


@pytest.mark.parametrize("form", WRAPPED)
def test_what_is_wrapped_around_does_not_matter(form: str) -> None:
    (raised,) = read(WRAPPED[form])
    assert (raised.error, raised.message) == ("ValueError", "can't optimize a non-leaf Tensor")
    assert raised.frames == (Frame("train.py", 6, "<module>", "opt = torch.optim.Adam([w], lr=0.01)"),)


def test_a_notebook() -> None:
    (raised,) = read(
        """\
---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
Cell In[3], line 2
      1 loss = model(x)
----> 2 loss.backward()

File /usr/lib/python3/site-packages/torch/_tensor.py:521, in Tensor.backward(self, gradient)
    520     x = 1
--> 521 torch.autograd.backward(

RuntimeError: grad can be implicitly created only for scalar outputs
"""
    )
    assert raised.frames[0] == Frame("In[3]", 2, "", "loss.backward()")
    assert [frame.row for frame in raised.frames] == [2, 521]


def test_an_old_notebook() -> None:
    (raised,) = read(
        "<ipython-input-5-0ae1> in <module>()\n      1 x = f()\n----> 2 x.numpy()\n\nRuntimeError: no\n"
    )
    assert raised.frames == (Frame("<ipython-input-5-0ae1>", 2, "<module>()", "x.numpy()"),)


def test_a_test_run() -> None:
    (raised,) = read(
        "    def test_a():\n>       x.numpy()\nE       RuntimeError: no\n\ntest_a.py:4: RuntimeError\n"
    )
    assert (raised.error, raised.message) == ("RuntimeError", "no")
    assert raised.frames[-1] == Frame("test_a.py", 4, "", "x.numpy()")


def test_a_chain_of_errors_in_their_order() -> None:
    text = "KeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\n" + PLAIN
    assert [one.error for one in read(text)] == ["KeyError", "ValueError"]


def test_a_message_over_several_lines_and_a_warning() -> None:
    text = "RuntimeError: one of the variables\nneeded for gradient\n\nhelp!\n/a/b.py:7: UserWarning: None of the inputs\n"
    first, second = read(text)
    assert first.message == "one of the variables needed for gradient"
    assert (second.error, second.message, second.frames) == (
        "UserWarning",
        "None of the inputs",
        (Frame("/a/b.py", 7),),
    )


def test_a_text_without_an_error() -> None:
    assert read("it does not work\nplease help") == []
    assert plain("「ｎｕｍｐｙ（）」") == '"numpy()"'
