"""How torch has worded its refusals in other releases, and which law an error that somebody pasted speaks of.

The table of `laws.messages` holds the texts of the release that is tested. The rows here are texts of other releases,
read where people have quoted them in public, and patterns for texts whose stable piece alone could be anybody's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from gradtrail.laws import messages
from gradtrail.laws.messages import Message


class Wording(NamedTuple):
    """A text of other releases: a pattern over the folded text, the releases, and where it was read."""

    key: str
    pattern: str
    releases: str
    source: str


_ROWS: tuple[Wording, ...] = (
    Wording("numpy-requires-grad", r"can't call numpy\(\) on variable that requires grad",
            "seen with 1.1 to 1.3, in 2019 and 2020", "pytorch/pytorch#18481"),
    Wording("numpy-requires-grad", r"can't call [`']?numpy\(\)[`']? on tensor that requires grad",
            "seen with 2.3, in 2020 to 2024", "zhuangdizhu/FedGen#15"),
    Wording("numpy-off-cpu", r"can(?:'|no)t convert cuda tensor to numpy", "seen in 2018 to 2021",
            "jcwleo/random-network-distillation-pytorch#14"),
    Wording("numpy-off-cpu", r"can(?:'|no)t convert [\w:]+ device type tensor to numpy", "seen in 2020 to 2025",
            "wengong-jin/hgraph2graph#35"),
    Wording("non-leaf-optimizer", r"can't optimize a non-leaf (?:variable|tensor)",
            "seen with 0.3 to 1.1, in 2018 to 2024", "pytorch/pytorch#4957"),
    Wording("backward-no-grad-fn",
            r"element \d+ of (?:variables|tensors)(?: tuple)? (?:is volatile|does not require grad)",
            "seen with 0.4, in 2018 to 2025", "pytorch/pytorch#8847"),
    Wording("backward-no-grad-fn", r"there are no graph nodes that require computing gradients",
            "seen with 0.1 and 0.2", "caogang/wgan-gp#4"),
    Wording("backward-non-scalar", r"backward should be called only on a scalar \(i\.e\. 1-element tensor\)",
            "seen in January 2017", "pytorch/pytorch#582"),
    Wording("backward-twice", r"trying to backward through the graph a second time", "seen in 2017 to 2025",
            "pytorch/pytorch#30297"),
    Wording("backward-twice", r"but the (?:buffers|saved intermediate results) have already been freed",
            "seen with 1.7, in 2017 to 2023", "JonathonLuiten/instant-nerf-pytorch#2"),
    Wording("retain-grad-of-untracked", r"can't retain_grad on (?:variable|tensor) that has requires_grad=false",
            "seen with 0.2, in 2017 to 2023", "pytorch/pytorch#3890"),
    Wording("flag-of-non-leaf", r"you can only change requires_grad flags of leaf variables",
            "seen with 0.2, in 2017 to 2025", "pytorch/pytorch#3890"),
    Wording("leaf-in-place",
            r"a leaf variable that requires grad (?:is being|has been) used in an in-?place operation",
            "seen with 0.2, in 2017 to 2025", "pytorch/examples#779"),
    Wording("leaf-in-place", r"leaf variable has been moved into the graph interior",
            "seen with 0.4, in 2018 to 2022", "Alex-Fabbri/lang2logic-PyTorch#6"),
    Wording("leaf-in-place", r"leaf variable was used in an in-?place operation", "seen in 2017",
            "pytorch/pytorch#2512"),
    Wording("saved-modified",
            r"one of the variables needed for gradient computation has been modified by an in-?place operation",
            "seen with 0.4 to 1.4, in 2019 to 2025", "pytorch/pytorch#20855"),
    Wording("device-mismatch",
            r"expected object of type (?:variable\[)?torch\."
            r"(?:cuda\.\w+\]? but found type (?:variable\[)?torch\.(?!cuda)"
            r"|(?!cuda)\w+\]? but found type (?:variable\[)?torch\.cuda\.)", "seen with 0.4, in 2018 to 2020",
            "microsoft/singleshotpose#18"),
    Wording("device-mismatch",
            r"expected type torch\.(?:cuda\.\w+ but got torch\.(?!cuda)|(?!cuda)\w+ but got torch\.cuda\.)",
            "seen in 2019 and 2020", "Goingqs/PyramidBox#52"),
    Wording("device-mismatch", r"expected object of backend \w+ but got backend \w+",
            "seen with 1.1 to 1.4, in 2018 to 2023", "inyeoplee77/SAGPool#3"),
    Wording("device-mismatch", r"expected backend (\w+) and dtype \w+ but got backend (?!\1\b)\w+",
            "seen with 1.1, in 2019", "yunjey/pytorch-tutorial#180"),
    Wording("device-mismatch", r"expected object of device type \w+ but got device type \w+",
            "seen with 1.6, in 2019 to 2022", "Nmegha2601/activitygraph_transformer#9"),
    Wording("device-mismatch", r"expected device ([\w:]+)(?: and dtype \w+)? but got device (?!\1(?![\w:]))[\w:]+",
            "seen in 2019 to 2021", "qfgaohao/pytorch-ssd#78"),
    Wording("device-mismatch", r"expected condition, x and y to be on the same device", "seen in 2021 to 2024",
            "harvardnlp/pytorch-struct#121"),
    Wording("device-mismatch", r"expected all tensors to be on the same device", "seen in 2021 to 2025",
            "makaishi2/pytorch_book_info#11"),
    Wording("device-mismatch",
            r"tensor for (?:argument #\d+ '\w+'|'\w+') is on \w+, .{0,120}but expected (?:it|them) to be on \w+",
            "seen in 2021 to 2024", "something678/TodKat#4"),
    Wording("device-mismatch", r"input, output and indices must be on the current device", "seen in 2021 and 2022",
            "yuhaozhang/summarize-radiology-findings#7"),
    Wording("device-mismatch", r"indices should be either on \w+ or on the same device as the indexed tensor",
            "seen in 2022 to 2024", "mlvlab/DAPT#2"),
    Wording("device-mismatch", r"all input tensors must be on the same device", "seen in 2020 and 2021",
            "chenyangh/SemEval2019Task3#11"),
    Wording("device-mismatch", r"expected tensor for argument #\d+ '\w+' to have the same device as tensor for",
            "seen in 2022", "nshaud/DeepHyperX#54"),
    Wording("device-mismatch", r"expected tensor to have (\w+) backend, but got tensor with (?!\1\b)\w+ backend",
            "seen in 2021", "mlverse/tabnet#20"),
    Wording("device-mismatch", r"arguments are located on different gpus", "seen in 2017 to 2021",
            "pytorch/pytorch#1673"),
    Wording("device-mismatch-recurrent", r"input and parameter tensors are not at the same device", "seen in 2022",
            "MarWaltz/TUD_RL#21"),
    Wording("device-mismatch-convolution",
            r"input type \(torch\.cuda\.\w+\) and (?:weight|bias) type \(torch\.(?!cuda)\w+\) should be the same"
            r"|input type \(torch\.(?!cuda)\w+\) and (?:weight|bias) type \(torch\.cuda\.\w+\) should be the same",
            "seen in 2018 to 2022", "sksq96/pytorch-summary#16"),
    Wording("device-mismatch-convolution",
            r"input type \((cuda|cpu|mps)\w+\) and (?:weight|bias) type \((?!\1)(?:cuda|cpu|mps)\w+\)"
            r" should be the same",
            "seen with 0.3, in 2018", "zhanghang1989/PyTorch-Multi-Style-Transfer#11"),
    Wording("device-mismatch-convolution",
            r"input type \(mps\w+\) and (?:weight|bias) type \(torch\.\w+\) should be the same"
            r"|input type \(torch\.\w+\) and (?:weight|bias) type \(mps\w+\) should be the same",
            "seen in 2022 or later", "pytorch/ignite#2977"),
    Wording("device-mismatch-convolution",
            r"input type \(variable\) and weight type \(variable\) should be the same",
            "seen with 0.4.0a0, in 2018", "pytorch/pytorch#5808"),
    Wording("dtype-mismatch-matmul",
            r"input type \([\w.: ]+\) and (?:weight|bias) type \([\w.: ]+\) should be the same",
            "seen in 2017 to 2024", "bitsandbytes-foundation/bitsandbytes#140"),
    Wording("dtype-mismatch-matmul", r"expected object of scalar type (double|float|half|bfloat16) but got scalar type (?!\1)\w+",
            "seen with 1.2, in 2018 to 2022", "pytorch/pytorch#11951"),
    Wording("dtype-mismatch-matmul",
            r"expected object of type (?:variable\[)?torch\.[\w.]+\]? but found type (?:variable\[)?torch\.",
            "seen with 0.4, in 2017 and 2018", "OmidPoursaeed/Generative_Adversarial_Perturbations#2"),
    Wording("dtype-mismatch-matmul",
            r"expected backend (\w+) and dtype (\w+) but got backend \1 and dtype (?!\2\b)\w+",
            "seen with 1.1, in 2019 to 2022", "WongKinYiu/PyTorch_YOLOv4#84"),
    Wording("dtype-mismatch-matmul",
            r"expected device ([\w:]+) and dtype (\w+) but got device \1 and dtype (?!\2\b)\w+",
            "seen with 1.2, in 2021 and 2022", "bubbliiiing/arcface-pytorch#8"),
    Wording("dtype-mismatch-matmul", r"expected (double|float|half|long|int|byte) tensor ?\(got"
            r" (?!\1\b)(?:double|float|half|long|int|byte) tensor\)", "seen in 2017",
            "pytorch/pytorch#2138"),
    Wording("dtype-mismatch-matmul",
            r"expected (?:\w+ )?scalar type (double|float|half|bfloat16) but found (?!\1)\w+", "seen in 2020 to 2026",
            "OUCMachineLearning/OUCML#24"),
    Wording("dtype-mismatch-matmul",
            r"(?:expected )?(?:mat1 and mat2|self and mat2|input and weight|m1 and m2)[\w ]{1,40}same dtype",
            "seen in 2023 to 2025", "zjukg/KoPA#11"),
    Wording("requires-grad-integer",
            r"only tensors of floating point (?:and complex )?dtype can require gradients",
            "seen with 0.4, in 2018 to 2024", "jiasenlu/NeuralBabyTalk#26"),
    Wording("requires-grad-integer", r"data set to a tensor that requires gradients must be floating point",
            "seen in 2026", "Eric-qi/RDO-PTQ#2"),
    Wording("deepcopy-non-leaf",
            r"only (?:variables|tensors) created explicitly by the user \(graph leaves\)"
            r" support the deepcopy protocol",
            "seen in 2017 to 2022", "pytorch/pytorch#1678"),
    Wording("grad-unused",
            r"one of the differentiated (?:variables|tensors) appears to not have been used in the graph",
            "seen in 2017 to 2024", "pytorch/pytorch#1734"),
    Wording("assign-over-parameter", r"cannot assign '[^']*' as parameter '[^']*'",
            "seen with 1.0 to 1.2, in 2018 to 2022", "pytorch/pytorch#44022"),
    Wording("register-parameter", r"cannot assign '[^']*' object to parameter '[^']*'", "seen in 2022 and 2023",
            "cfzd/FcaNet#29"),
    Wording("module-not-initialized",
            r"cannot assign (?:parameters?|module|buffer|parameter) before module\.__init__\(\) call",
            "seen in 2019 to 2026", "sinAshish/Multi-Scale-Attention#14"),
    Wording("optimizer-closure-missing", r"(?:lbfgs\.)?step\(\) missing 1 required positional argument: 'closure'",
            "seen with 1.0 and 1.7, in 2018 to 2025", "pyro-ppl/pyro#1674"),
    Wording("optimizer-not-tensor", r"optimizer can only optimize (?:variables|tensors), but one of the params is",
            "seen in 2024", "zju-bmi-lab/SpikingNeRF#9"),
    Wording("optimizer-bare-tensor",
            r"params argument given to the optimizer should be an iterable of (?:variables|tensors) or dicts",
            "seen in 2024", "KaiyangZhou/Dassl.pytorch#67"),
    Wording("array-times-tensor",
            r"unsupported operand type\(s\) for [^:]{1,12}: '(?:numpy\.ndarray' and '(?:tensor|parameter)|tensor' and"
            r" 'numpy\.ndarray)'", "seen with 1.7, in 2021 and 2024", "pytorch/pytorch#59237"),
    Wording("dtype-mismatch", r"found dtype (\w+) but expected (?!\1)\w+", "seen with 1.8, in 2020 to 2024",
            "Rickyyy-zh/yolov7_3d#8"),
    Wording("dtype-mismatch",
            r"output with backend (\w+) and dtype (\w+) doesn't match the desired backend \1 and dtype (?!\2\b)\w+",
            "seen in 2022", "Jazihars/SuperGlue_PyTorch_MultiGPU_implementation#1"),
    Wording("result-type-cast", r"result type \w+ can't be cast to the desired output type \w+",
            "seen with 1.3, in 2020 to 2025", "AI-secure/DBA#1"),
    Wording("index-dtype", r"tensors used as indices must be (?:long|int)", "seen with 1.4, in 2019 to 2024",
            "INK-USC/RE-Net#29"),
    Wording("index-dtype", r"performing basic indexing on a tensor and encountered an error indexing dim \d+"
            r" with an object of type torch\.", "seen in 2017", "pytorch/pytorch#4219"),
    Wording("index-dtype",
            r"expected tensor for argument #\d+ 'indices' to have (?:scalar type|one of the following scalar types:?)",
            "seen with 1.7, in 2018 to 2025", "THUwangcy/ReChorus#12"),
    Wording("derivative-missing", r"(?:the )?derivative for '?[\w.:]+'? is not implemented", "seen in 2017 to 2024",
            "j96w/DenseFusion#41"),
    Wording("derivative-missing", r"does not support automatic differentiation for outputs with complex dtype",
            "seen in 2021", "pytorch/pytorch#53183"),
    Wording("function-no-backward", r"you must implement the backward function for custom autograd\.function",
            "seen with 1.7, in 2020 to 2023", "PaddlePaddle/PaddleSpatial#306"),
    Wording("function-gradient-count",
            r"function \w+ returned an incorrect number of gradients \(expected \d+, got \d+\)",
            "seen with 0.2 to 2.0, in 2017 to 2024", "1zb/pytorch-image-comp-rnn#5"),
    Wording("function-gradient-shape",
            r"function (?!\w+backward\d|(?:addmm|mm|add|mul|div|sub|conv\w*|broadcast)backward )\w+ returned an invalid"
            r" gradient at index \d+ - got", "seen in 2024 and 2025", "hbb1/2d-gaussian-splatting#43"),
    Wording("device-mismatch",
            r"function \w+ returned an invalid gradient at index \d+ - expected type torch\.(?:cuda\.\w+ but got"
            r" torch\.(?!cuda)|(?!cuda)\w+ but got torch\.cuda)", "seen in 2019 to 2021", "HelenGuohx/logbert#3"),
    Wording("device-mismatch", r"tensor on device [\w:]+ is not on the expected device", "seen in 2023 to 2025",
            "lm-sys/FastChat#580"),
    Wording("nan-gradient", r"function '\w+' returned nan values in its \d+th output", "seen with 1.6, in 2020 to 2025",
            "pytorch/pytorch#51196"),
    Wording("function-legacy", r"legacy autograd function with non-static forward method is deprecated",
            "a warning with 1.2 and 1.3, an error with 1.5", "josipd/torch-two-sample#6"),
    Wording("checkpoint-reentrant-grad", r"checkpointing is not compatible with \.grad\(\)", "seen in 2018 to 2025",
            "kakaobrain/rq-vae-transformer#26"),
    Wording("ddp-unused", r"expected to have finished reduction in the prior iteration before starting a new one",
            "seen in 2020 to 2025", "open-mmlab/mmdetection#2153"),
)  # fmt: skip

_ONLY_BY_PATTERN = frozenset(
    (
        "optimizer-not-iterable", "optimizer-group-without-params", "optimizer-closure-missing", "array-times-tensor",
        "derivative-missing", "requires-grad-integer", "assign-over-parameter", "register-parameter",
        "device-mismatch-convolution", "dtype-mismatch", "dtype-mismatch-matmul", "no-grad-not-called", "dataloader-grad",
        "gradient-missing", "function-gradient-shape", "nan-gradient",
    )
)  # fmt: skip
"""Their stable piece is found in errors of others as well: `KeyError: 'params'`, `'int' object is not iterable`."""

_HEADS = {
    "optimizer-set-in-group": r"optimizer parameters need to be ",
    "numpy-off-cpu": r"can(?:'|no)t convert [\w:]+ ",
    "numpy-sparse": r"can(?:'|no)t convert \w+ ",
    "multi-view-in-place": r"output \d+ of \w+ is a view .{0,120}",
    "no-grad-view-in-place": r"(?:output .{0,80})?a view (?:which )?was created in no_grad mode and ",
    "function-view-in-place": r"output \d+ of \w+ is a view .{0,120}this view ",
    "saved-modified": r"one of the variables needed for gradient computation has been ",
    "out-requires-grad": r"\w+\(\): ",
    "backward-no-grad-fn": r"element \d+ of (?:tensors|variables)(?: tuple)? ",
    "grad-unused": r"the differentiated tensor at index \d+ ",
    "register-non-leaf-parameter": r"cannot assign non-leaf tensor to parameter '[^']*'\. ",
    "result-type-cast": r"result type \w+ ",
    "function-gradient-count": r"function \w+ ",
    "function-gradient-shape": r"function \w+ ",
    "checkpoint-reentrant-grad": r"when use_reentrant=true, ",
}
"""What torch says before the stable piece, where that is not the beginning."""

_TAILS = {"optimizer-two-groups": re.compile(r"(?! *:)")}
"""What may follow a piece that others say as well, in a longer sentence."""

_BEFORE = r"(?:\A|[^\w\s]\s*|[^\x00-\x7f]\s*|\b(?:error|err|message|says|get|got) )"
"""What may stand before a message: nothing, a sign, another script. Behind other words it is somebody's sentence."""

_IN_AN_OPTIMIZER = {
    "optimizer-not-iterable": r"'\w+' object is not iterable",
    "optimizer-group-without-params": r"'?params'?",
}
"""Texts of Python that mean this only when the making of an optimizer raised them."""

_GRAD_MODE = re.compile(
    r"\bwith\b[^#\n]{0,80}\b(?:no_grad|enable_grad|inference_mode|set_grad_enabled)\s*(?:[:,)]|as\b|\Z)"
)
_NO_CONTEXT = re.compile(
    r"\A'type' object does not support the context manager protocol|\A__(?:enter|exit)__\Z"
)
_NO_ATTRIBUTE = re.compile(r"'nonetype' object has no attribute '(\w+)'")
_WORKER_FILE = re.compile(r"torch[\\/]utils[\\/]data[\\/]_utils[\\/]worker\.py")
_OPTIMIZER_FILE = re.compile(r"torch[\\/]optim[\\/](?!lr_scheduler|swa_utils)\w+\.py")
_MAKING = ("__init__", "add_param_group")

_LONGEST = 4_000
"""So much of the beginning and of the end of a text is looked at."""


def fold(text: str) -> str:
    """`text` as it is compared: in small letters, with single spaces, without what Markdown adds."""
    if len(text) > 2 * _LONGEST:
        text = text[:_LONGEST] + " " + text[-_LONGEST:]
    text = " ".join(text.lower().replace("`", "'").split())
    text = re.sub(r"\(\s\)", "()", re.sub(r"\bcant\b", "can't", text))
    text = re.sub(r"(?<!\w)(\*{1,2})(\w[^*]{0,200}\w)\1(?!\w)", r"\2", text)
    return re.sub(r"\s+(?=\()", "", text) if "numpy (" in text else text


class Went(NamedTuple):
    """A line that an error went through: the file, the function, the code."""

    filename: str
    function: str = ""
    code: str = ""


def recognise(error: str, text: str, frames: Sequence[Went] = ()) -> Message | None:
    """The law that an error speaks of, from its type ("" when it is not known) and its text, of any release.

    `frames` are the lines that it went through, the one that raised it last. None for an error that is none of
    autograd's, and for a sentence in which torch's words only occur.
    """
    folded = fold(text)
    if any(_WORKER_FILE.search(one.filename) for one in frames) or "dataloader worker" in folded:
        entry = messages.message("dataloader-grad")
        if fold(entry.piece) in folded and _same_type(error, entry):
            return entry
    for key, piece, head in _pieces():
        entry = messages.message(key)
        told = _tells(folded, piece, head, _TAILS.get(key)) or _is_cut(folded, piece, head)
        if told and _same_type(error, entry):
            return entry
    for pattern, key in _patterns():
        entry = messages.message(key)
        if pattern.search(folded) and _same_type(error, entry):
            return entry
    return _by_its_line(error, folded, frames[-1]) if frames else None


def _tells(folded: str, piece: str, head: re.Pattern[str], tail: re.Pattern[str] | None) -> bool:
    at = folded.find(piece)
    if at < 0 or head.search(folded[:at]) is None:
        return False
    return tail is None or tail.match(folded, at + len(piece)) is not None


def _is_cut(folded: str, piece: str, head: re.Pattern[str]) -> bool:
    """Whether the text ends with dots in the middle of the piece."""
    text = folded.removesuffix("...").rstrip()
    if len(text) == len(folded) or head.pattern != _BEFORE + r"\Z":
        return False
    return len(text) >= _ENOUGH and piece.startswith(text)


_ENOUGH = 20


def _by_its_line(error: str, folded: str, last: Went) -> Message | None:
    """Texts of Python that mean a law of autograd only where a certain line raised them."""
    if _GRAD_MODE.search(last.code) and _NO_CONTEXT.search(folded):
        return messages.message("no-grad-not-called")
    lacking = _NO_ATTRIBUTE.search(folded)
    if lacking and re.search(rf"\.grad\.{lacking[1]}\b", last.code.lower()):
        return messages.message("gradient-missing")
    if (
        _OPTIMIZER_FILE.search(last.filename)
        and last.function.rpartition(".")[2].partition("(")[0] in _MAKING
    ):
        for key, words in _IN_AN_OPTIMIZER.items():
            entry = messages.message(key)
            if _same_type(error, entry) and re.fullmatch(words, folded):
                return entry
    return None


def _same_type(error: str, entry: Message) -> bool:
    return not error or error == entry.error or error in _ALSO.get(entry.key, ())


_ALSO: dict[str, tuple[str, ...]] = {
    "numpy-off-cpu": ("RuntimeError",),
    "module-not-initialized": ("RuntimeError",),
    "no-grad-not-called": ("AttributeError",),
    "requires-grad-integer": ("ValueError",),
    "device-mismatch": ("ValueError", "TypeError"),
    "index-dtype": ("TypeError", "RuntimeError"),
    "function-legacy": ("UserWarning",),
    "function-no-backward": ("RuntimeError",),
}
"""Types under which other releases raise the same refusal."""


@lru_cache(maxsize=1)
def _pieces() -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    """The pieces of today's texts that are nobody else's, the longest first, and what stands before them."""
    rows = [
        (key, fold(messages.message(key).piece), re.compile(_BEFORE + _HEADS.get(key, "") + r"\Z"))
        for key in tuple(messages.keys())
        if key not in _ONLY_BY_PATTERN
    ]
    return tuple(sorted((row for row in rows if row[1]), key=lambda row: (-len(row[1]), row[0])))


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(f"{_BEFORE}(?:{row.pattern})"), row.key) for row in _ROWS)


def wordings() -> tuple[Wording, ...]:
    """The texts of other releases."""
    return _ROWS
