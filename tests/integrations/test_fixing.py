"""`gradtrail check --fix`, `--unsafe-fixes` and `--diff` from end to end."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradtrail.findings import repairs
from gradtrail.findings.diagnostic import Fix
from gradtrail.findings.rules.leaf_status import NonLeafInOptimizer
from gradtrail.integrations import fixing
from gradtrail.integrations.command import main
from gradtrail.laws.text import text
from gradtrail.source.place import Edit

Capture = pytest.CaptureFixture[str]

SAFE = """\
import torch

net = torch.nn.Linear(2, 1)
out = net(torch.ones(3, 2))
print(out.numpy())
"""

SAFELY = SAFE.replace("out.numpy()", "out.detach().numpy()")

UNSAFE = """\
import torch

w = torch.randn(10, 1, requires_grad=True)
w = w * 0.01
optimizer = torch.optim.Adam([w], lr=0.01)
"""

UNSAFELY = UNSAFE.replace("w * 0.01", "(w * 0.01).detach().requires_grad_()")


def fixed(path: Path, source: str | bytes, *options: str) -> str:
    """What the file says after `check --fix`."""
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    main(["check", "--fix", *options, str(path)])
    return path.read_bytes().decode()


def test_a_safe_repair_is_made_and_counted(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(SAFE)
    assert main(["check", "--fix", str(path)]) == 0
    assert path.read_text() == SAFELY
    assert capsys.readouterr().out.splitlines() == [
        "Found nothing in 1 file.",
        "1 repaired: 1 numpy-of-tensor-that-requires-grad",
    ]


def test_an_unsafe_repair_waits_for_its_option(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(UNSAFE)
    assert main(["check", "--fix", str(path)]) == 1
    assert path.read_text() == UNSAFE
    told = capsys.readouterr().out
    assert "  fix (unsafe): line 4  w = (w * 0.01).detach().requires_grad_()\n" in told
    assert told.endswith("Fixes: 1 with `--fix --unsafe-fixes`.\n")
    assert main(["check", "--unsafe-fixes", str(path)]) == 1
    assert capsys.readouterr().err == "gradtrail check: --unsafe-fixes counts only with --fix or --diff\n"
    assert main(["check", "--fix", "--unsafe-fixes", str(path)]) == 0
    assert path.read_text() == UNSAFELY


def test_a_diff_changes_nothing(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.py").write_text(SAFE)
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--diff"]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[:3] == ["--- train.py", "+++ train.py", "@@ -2,4 +2,4 @@"]
    assert "-print(out.numpy())\n+print(out.detach().numpy())\n" in out
    assert "1 repaired" in err
    assert (tmp_path / "train.py").read_text() == SAFE
    subprocess.run(["git", "apply", "-p0", "-"], input=out, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "train.py").read_text() == SAFELY


def test_no_diff_where_nothing_can_be_done(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(UNSAFE)
    assert main(["check", "--diff", str(tmp_path)]) == 0
    assert main(["check", "--diff", "--unsafe-fixes", str(tmp_path)]) == 1


def test_a_diff_of_a_file_without_a_last_line_end(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SAFE.rstrip())
    main(["check", "--diff", str(tmp_path)])
    assert capsys.readouterr().out.count("\\ No newline at end of file\n") == 2


@pytest.mark.parametrize(
    ("what", "data"),
    [
        ("a byte order mark", b"\xef\xbb\xbf" + SAFE.encode()),
        ("CRLF", SAFE.replace("\n", "\r\n").encode()),
        ("CR", SAFE.replace("\n", "\r").encode()),
        ("no last line end", SAFE.rstrip().encode()),
        ("wide names", SAFE.replace("print(", "結果 = '\U0001f600'; print(").encode()),
        ("latin-1", ("# coding: latin-1\n" + SAFE.replace("print(", "größe = 1; print(")).encode("latin-1")),
        ("form feeds", SAFE.replace("\nprint", "\n\x0cprint").encode()),
        ("tabs and spaces", SAFE.replace("print", "if True:\n\tprint").replace("out =", "out  = ").encode()),
        ("mixed line ends", SAFE.replace("import torch\n", "import torch\r\n").encode()),
    ],
)
def test_all_else_stays_to_the_byte(what: str, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_bytes(data)
    assert main(["check", "--fix", str(path)]) == 0
    assert path.read_bytes() == data.replace(b"out.numpy()", b"out.detach().numpy()")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("print(out.numpy())", "print(out.detach().numpy())"),
        ("a = 1; print(out.numpy()); b = 2", "a = 1; print(out.detach().numpy()); b = 2"),
        ("if a := out.numpy() is not None: print(a)", "if a := out.detach().numpy() is not None: print(a)"),
        ("print((out * 2).numpy())", "print((out * 2).detach().numpy())"),
        ("print(((out)).numpy())", "print(((out.detach())).numpy())"),
        ("print(\n    out  # all\n    .numpy(),\n)", "print(\n    out.detach()  # all\n    .numpy(),\n)"),
        (
            "print((out\n       .cpu()\n       .numpy()))",
            "print((out.detach()\n       .cpu()\n       .numpy()))",
        ),
        ("print([y for y in [out.numpy()]])", "print([y for y in [out.detach().numpy()]])"),
        ("print(f'{out.numpy()}')", "print(f'{out.detach().numpy()}')"),
        (
            "import numpy as np\nprint(np.array(out))",
            "import numpy as np\nprint(np.array(out.detach().cpu().numpy()))",
        ),
        ("try: print(out.numpy())\nfinally: pass", "try: print(out.detach().numpy())\nfinally: pass"),
        (
            "def show(value=out.numpy()):  # none\n    return value",
            "def show(value=out.detach().numpy()):  # none\n    return value",
        ),
        ("class A:\n\tx = out.numpy()  # kept\n", "class A:\n\tx = out.detach().numpy()  # kept\n"),
    ],
)
def test_odd_layouts(before: str, after: str, tmp_path: Path) -> None:
    source = SAFE.replace("print(out.numpy())", before)
    assert fixed(tmp_path / "train.py", source) == SAFE.replace("print(out.numpy())", after)


def test_several_mistakes_in_one_statement(tmp_path: Path) -> None:
    """torch raises at the first; the second shows when that is mended."""
    source = SAFE + "print(out.numpy(), (out + 1).numpy(), out.numpy())\n"
    assert fixed(tmp_path / "train.py", source) == source.replace("out.numpy", "out.detach().numpy").replace(
        "(out + 1)", "(out + 1).detach()"
    )


def test_the_same_mistake_again_in_its_row(tmp_path: Path) -> None:
    """The second is found once the first is mended; it is not the first one again."""
    mistakes = "import torch\nw = torch.ones(3, requires_grad=True); w.numpy(); print('é', w.numpy())\n"
    assert fixed(tmp_path / "a.py", mistakes) == mistakes.replace("w.numpy()", "w.detach().numpy()")


def test_a_limit_behind_a_mistake_holds_no_repair_up(tmp_path: Path) -> None:
    calls = "".join(f"def f{i + 1}(x):\n    return f{i}(f{i}(x))\n" for i in range(20))
    head = "import torch\nw = torch.ones(3, requires_grad=True)\nw.numpy()\ndef f0(x):\n    return x\n"
    mistake = f"{head}{calls}f20(w)\n"
    assert "w.detach().numpy()" in fixed(tmp_path / "a.py", mistake)


def test_what_follows_from_another_mistake_waits_for_it(tmp_path: Path) -> None:
    source = """\
import torch
net = torch.nn.Linear(2, 1)
labels = torch.zeros(3, 1, dtype=torch.int64)
labels.float()
loss = torch.nn.functional.binary_cross_entropy_with_logits(net(torch.ones(3, 2)), labels)
"""
    after = source.replace("labels.float()", "labels = labels.float()")
    assert fixed(tmp_path / "train.py", source, "--unsafe-fixes") == after


def test_twice_is_once(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    once = fixed(path, SAFE + UNSAFE, "--unsafe-fixes")
    assert fixed(path, once, "--unsafe-fixes") == once


def test_two_files_and_their_counts(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(SAFE)
    (tmp_path / "two.py").write_text(SAFE)
    (tmp_path / "three.py").write_text(UNSAFE)
    assert main(["check", "--fix", "--unsafe-fixes", str(tmp_path)]) == 0
    assert (
        "3 repaired: 2 numpy-of-tensor-that-requires-grad, 1 non-leaf-in-optimizer" in capsys.readouterr().out
    )


def test_only_what_was_named_is_changed(tmp_path: Path) -> None:
    """The fix for a finding in one file may lie in another, which nobody asked to be repaired."""
    (tmp_path / "start.py").write_text(
        "import torch\n\ndef start():\n    w = torch.ones(2, requires_grad=True)\n    return w * 2\n"
    )
    (tmp_path / "train.py").write_text(
        "import torch\nfrom start import start\n\nopt = torch.optim.SGD([*[start()]], lr=0.1)\n"
    )
    before = (tmp_path / "start.py").read_text()
    main(["check", "--fix", "--unsafe-fixes", str(tmp_path / "train.py")])
    assert (tmp_path / "start.py").read_text() == before
    assert main(["check", "--fix", "--unsafe-fixes", str(tmp_path)]) == 0
    assert (tmp_path / "start.py").read_text() != before


def test_standard_input_comes_out_repaired(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    data = SAFE.replace("\n", "\r\n").encode()
    run = subprocess.run(
        [sys.executable, "-m", "gradtrail", "check", "--fix", "-"],
        input=data,
        capture_output=True,
        check=False,
    )
    assert run.returncode == 0
    assert run.stdout == data.replace(b"out.numpy", b"out.detach().numpy")
    assert b"1 repaired" in run.stderr


def test_standard_input_comes_out_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "gradtrail", "check", "--fix", "-"],
        input=UNSAFE.encode(),
        capture_output=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (1, UNSAFE.encode())
    assert b"non-leaf-in-optimizer" in run.stderr


def test_the_json_after_repairs_tells_what_is_left(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SAFE + UNSAFE)
    main(["check", "--fix", "--output-format", "json", str(tmp_path)])
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    (fix,) = finding["fixes"]
    assert fix["applicability"] == "unsafe"
    assert [edit["content"] for edit in fix["edits"]] == ["(", ").detach().requires_grad_()"]


# Writing back


def test_a_link_stays_a_link_and_the_mode_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(SAFE)
    path.chmod(0o750)
    (tmp_path / "link.py").symlink_to(path)
    assert main(["check", "--fix", str(tmp_path / "link.py")]) == 0
    assert (tmp_path / "link.py").is_symlink()
    assert path.read_text() == SAFELY
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    assert sorted(os.listdir(tmp_path)) == ["link.py", "train.py"]


def test_a_file_that_changed_in_the_meantime_is_left(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("new")
    told = fixing.write_back(str(path), b"old", b"repaired")
    assert str(told) == "has changed in the meantime and was not repaired"
    assert path.read_text() == "new"


def test_a_read_only_file_is_told_and_the_rest_is_done(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text(SAFE)
    two.write_text(SAFE)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "one.py")
    assert main(["check", "--fix", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert "one.py: is read-only and was not repaired" in err
    assert "1 repaired: 1 numpy-of-tensor-that-requires-grad" in out
    assert (one.read_text(), two.read_text()) == (SAFE, SAFELY)


def test_a_write_that_fails_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "train.py"
    path.write_text("old")

    def refuse(*names: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    assert str(fixing.write_back(str(path), b"old", b"new")) == "cannot be written: No space left on device"
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["train.py"]


# Fixes that do not do what they say


def with_edit(monkeypatch: pytest.MonkeyPatch, *contents: str) -> None:
    """Let the rule on leaves offer to put each of `contents` in the place of what the optimizer was given."""

    def offered(self: Any, event: Any, found: Any, edit: Any) -> Any:
        for content in contents:
            yield Fix(text("call it"), (Edit(found.place, content),), "safe")

    monkeypatch.setattr(NonLeafInOptimizer, "repairs", offered)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("w)", id="does not parse"),
        pytest.param("w  # still", id="does not parse either"),
        pytest.param("(w)", id="mends nothing"),
        pytest.param("*[]", id="brings another mistake"),
    ],
)
def test_a_fix_that_does_not_help_is_taken_back(
    content: str, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_edit(monkeypatch, content)
    assert fixed(tmp_path / "train.py", UNSAFE) == UNSAFE
    assert "repaired" not in capsys.readouterr().out


def test_the_next_fix_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_edit(monkeypatch, "(w)", "w.detach()")
    assert fixed(tmp_path / "train.py", UNSAFE) == UNSAFE.replace("[w]", "[w.detach()]")


def test_one_bad_fix_does_not_hold_up_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_edit(monkeypatch, "(w)")
    for name in ("a", "c", "d", "e"):
        (tmp_path / f"{name}.py").write_text(SAFE)
    (tmp_path / "b.py").write_text(UNSAFE)
    assert main(["check", "--fix", str(tmp_path)]) == 1
    assert {path.stem for path in tmp_path.iterdir() if path.read_text() == SAFELY} == {"a", "c", "d", "e"}


def test_the_looks_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairs, "MOST_CHECKS", 2)
    source = SAFE + "print(out.numpy())\n" * 5
    assert fixed(tmp_path / "train.py", source).count("detach") == 1


PIECES = st.lists(
    st.sampled_from(
        [
            "print({x}.numpy())",
            "y = {x}.numpy(); z = 1",
            "if 'ü': print(({x} * 2).numpy())",
            "\tif True:\n\t\tprint({x}\n\t\t  .numpy())  # why".replace("\t", "    ").lstrip(),
            "{x}.detach()",
            "{x} = {x} * 2",
            "opt = torch.optim.SGD([{x}], lr=0.1)",
            "{x}.sum().backward()",
            "w -= 0.1 * w.grad",
            "plain = 3  # nothing",
        ]
    ),
    max_size=6,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=PIECES, end=st.sampled_from(["\n", "\r\n"]))
def test_repairs_of_any_program_parse_and_settle(pieces: list[str], end: str, tmp_path: Path) -> None:
    lines = ["import torch", "w = torch.ones(3, requires_grad=True)", "x = w * 2", *pieces]
    source = end.join(line.replace("{x}", "x").replace("\n", end) for line in lines) + end
    once = fixed(tmp_path / "train.py", source, "--unsafe-fixes")
    compile(once, "train.py", "exec")
    assert once.count("\r\n") == (once.count("\n") if end == "\r\n" else 0)
    assert fixed(tmp_path / "train.py", once, "--unsafe-fixes") == once
    kept = [line.strip() for line in io.StringIO(once)]
    assert all(piece in kept for piece in pieces if piece.startswith("plain"))
