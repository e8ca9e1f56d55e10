"""PEFT: the base model is frozen, in place, and what is trained is added to it.

Source: huggingface/peft, src/peft/mapping_func.py (`get_peft_model`) and src/peft/utils/other.py
(`prepare_model_for_kbit_training`, which freezes every parameter).
"""

from __future__ import annotations

from typing import Any

from gradtrail.interp.frames import Frame
from gradtrail.interp.models.handing import frozen_perhaps
from gradtrail.interp.models.registry import calls
from gradtrail.interp.values import UNKNOWN

Args = list[Any]
Keywords = dict[str, Any]


@calls(
    "peft.get_peft_model", "peft.prepare_model_for_kbit_training", "peft.prepare_model_for_int8_training",
    "peft.inject_adapter_in_model", "peft.PeftModel", "peft.PeftModel.from_pretrained",
    "peft.PeftModelForCausalLM", "peft.PeftModelForSequenceClassification",
)  # fmt: skip
def adapted(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    for value in (*args, *keywords.values()):
        frozen_perhaps(m, m.settle(value))
    m.call_unknown(args, keywords)
    return UNKNOWN
