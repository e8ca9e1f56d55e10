"""Losses and distances of torch.nn.functional."""

from __future__ import annotations

ROWS: dict[str, str] = {
    "nn.functional.binary_cross_entropy": "(self, target, weight?, size_average=None, reduce=None, "
    "reduction='mean') new BinaryCrossEntropyBackward0 saves self target weight dtype=same shape=loss "
    "function",
    "nn.functional.binary_cross_entropy_with_logits": "(self, target, weight?, size_average=None, "
    "reduce=None, reduction='mean', pos_weight?) new BinaryCrossEntropyWithLogitsBackward0 saves self "
    "target weight pos_weight varies dtype=promote shape=loss function",
    "nn.functional.cosine_embedding_loss": "(input1, input2, target!, margin=0, size_average=None, "
    "reduce=None, reduction='mean') new saves input1@input1|input2 input2@input1|input2 composite "
    "dtype=promote-float shape=loss function",
    "nn.functional.cosine_similarity": "(x1, x2, dim=1, eps=1e-08) new SumBackward1 saves x1@x1 x2@x2 "
    "dtype=promote function",
    "nn.functional.cross_entropy": "(self, target, weight?, size_average=None, ignore_index=-100,"
    " reduce=None, reduction='mean', label_smoothing=0.0) new saves target@self weight@self|target varies"
    " dtype=same shape=loss function",
    "nn.functional.ctc_loss": "(log_probs, targets, input_lengths, target_lengths, blank=0, "
    "reduction='mean', zero_infinity=False) new saves log_probs targets composite dtype=same shape=loss "
    "function",
    "nn.functional.gaussian_nll_loss": "(self, target, var, full=False, eps=1e-06, reduction='mean') new "
    "saves copy composite dtype=promote shape=loss function",
    "nn.functional.hinge_embedding_loss": "(self, target!, margin=1.0, size_average=None, reduce=None, "
    "reduction='mean') new saves copy composite dtype=promote shape=loss function",
    "nn.functional.huber_loss": "(self, target, reduction='mean', delta=1.0, weight?) new HuberLossBackward0 "
    "saves self target dtype=same shape=loss function",
    "nn.functional.kl_div": "(self, target, size_average=None, reduce=None, reduction='mean', "
    "log_target=False) new saves copy composite dtype=promote shape=loss function",
    "nn.functional.l1_loss": "(self, target, size_average=None, reduce=None, reduction='mean', weight?) new "
    "saves copy composite shape=loss function",
    "nn.functional.linear_cross_entropy": "(self, linear_weight, target, *, linear_bias?, weight?,"
    " reduction='mean', ignore_index=None, label_smoothing=0.0, options=None) new saves"
    " weight@self|linear_weight linear_bias@self|linear_weight|linear_bias linear_weight@linear_bias"
    " self@linear_bias target@linear_bias composite frees=no dtype=same shape=loss function",
    "nn.functional.margin_ranking_loss": "(input1, input2, target, margin=0, size_average=None, reduce=None, "
    "reduction='mean') new saves copy composite dtype=promote-float shape=loss function",
    "nn.functional.mse_loss": "(self, target, size_average=None, reduce=None, reduction='mean', weight?) new "
    "MseLossBackward0 saves self target dtype=promote shape=loss function",
    "nn.functional.multi_margin_loss": "(self, target, p=1, margin=1.0, weight?!, size_average=None, "
    "reduce=None, reduction='mean') new MultiMarginLossBackward0 saves self target weight dtype=same "
    "shape=loss function",
    "nn.functional.multilabel_margin_loss": "(self, target, size_average=None, reduce=None, "
    "reduction='mean') new MultilabelMarginLossBackward0 saves self target dtype=same shape=loss function",
    "nn.functional.multilabel_soft_margin_loss": "(self, target, weight?, size_average=None, reduce=None, "
    "reduction='mean') new saves self@self target@self weight@self|target composite dtype=promote function",
    "nn.functional.nll_loss": "(self, target, weight?!, size_average=None, ignore_index=-100, reduce=None, "
    "reduction='mean') new saves self target weight dtype=same shape=loss function",
    "nn.functional.pairwise_distance": "(x1, x2, p=2, eps=1e-06, keepdim=False) new NormBackward1 saves "
    "result function",
    "nn.functional.pdist": "(self, p=2) new PdistBackward0 saves result self dtype=same function",
    "nn.functional.poisson_nll_loss": "(self, target, log_input=True, full=False, size_average=None,"
    " eps=1e-08, reduce=None, reduction='mean') new saves target@self composite dtype=promote-float"
    " shape=loss function",
    "nn.functional.smooth_l1_loss": "(self, target, size_average=None, reduce=None, reduction='mean', "
    "beta=1.0) new SmoothL1LossBackward0 saves self target dtype=promote shape=loss "
    "overloads=beta:nn.functional.smooth_l1_loss.beta function",
    "nn.functional.smooth_l1_loss.beta": "(self, target, size_average=None, reduce=None, reduction='mean', "
    "beta=1.0) new saves copy composite dtype=promote shape=loss function",
    "nn.functional.soft_margin_loss": "(self, target!, size_average=None, reduce=None, reduction='mean') new "
    "SoftMarginLossBackward0 saves self target dtype=same shape=loss function",
    "nn.functional.triplet_margin_loss": "(anchor, positive, negative, margin=1.0, p=2, eps=1e-06, "
    "swap=False, size_average=None, reduce=None, reduction='mean') new saves copy composite function",
    "nn.functional.triplet_margin_with_distance_loss": "(anchor, positive, negative, *, "
    "distance_function=None, margin=1.0, swap=False, reduction='mean') new saves copy composite function",
}
