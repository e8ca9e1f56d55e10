"""The classes of torch.nn: constructor, parameters, buffers, children, and what a forward amounts to.

A row: `(PARAMETERS) KIND [parameters ...] [buffers ...] [children ...] [saves ...] [key=value...]`

    PARAMETERS   of the constructor, written as in `gradtrail.laws.operations`
    KIND         one of `KINDS`
    parameters   `weight:out_features,in_features` (name and shape, an expression of constructor arguments),
                 `bias[bias]` only when the constructor argument `bias` is truthy, `[affine&bias]` when both
                 are;
                 in a name `*` stands for the number of a layer, with `_reverse` after it in the second
                 direction of a bidirectional network
    buffers      likewise
    children     `linear1:Linear`, a submodule and its class
    saves        as in `gradtrail.laws.operations`; names are those of the forward, of parameters, `result`
    key=value    args=input,target          the names of the forward's arguments (`input` when left out)
                 call=nn.functional.relu(input,inplace)   the function that a forward amounts to and what is
                                            passed, in the order of its row's parameters, or `name=value`
                 outputs=output,(h,c)       for several results
                 shape=KEY, frees=yes|no

What is saved follows from the row of the function in `call` when there is one. Checked by
`tests/laws/test_modules.py`, which builds every class and writes inputs, parameters and results in place.
"""

from __future__ import annotations

from gradtrail.laws import operations

KINDS = (
    "layer",
    "activation",
    "normalization",
    "pooling",
    "padding",
    "dropout",
    "container",
    "loss",
    "recurrent",
    "attention",
    "reshaping",
    "base",
)


class ModuleLaw:
    """One class of torch.nn.

    `args`, `keywords`, `required` and `defaults` are the constructor's. `parameters` and `buffers` are
    tuples of (name,
    condition, shape expression). `call` is the dotted path of the function that a forward amounts to ("" for
    a composite), `passes` the pairs (its parameter, the module's name for what is passed: a forward argument,
    a parameter, a buffer, a constructor argument, or "training"). `call_args` names the forward's
    arguments. `inplace` is "inplace" if the constructor has that argument. `saves`, `frees` and
    `exact_saves` are as in
    Operation, in the module's names.
    """

    __slots__ = (
        "args",
        "buffers",
        "call",
        "call_args",
        "children",
        "defaults",
        "exact_saves",
        "frees",
        "gathers",
        "inplace",
        "keywords",
        "kind",
        "name",
        "outputs",
        "parameters",
        "passes",
        "required",
        "saves",
        "shape",
    )

    name: str
    args: tuple[str, ...]
    keywords: tuple[str, ...]
    required: tuple[str, ...]
    defaults: dict[str, object]
    gathers: str
    parameters: tuple[tuple[str, str, str], ...]
    buffers: tuple[tuple[str, str, str], ...]
    children: tuple[tuple[str, str], ...]
    call: str
    passes: tuple[tuple[str, str], ...]
    call_args: tuple[str, ...]
    outputs: str
    inplace: str
    saves: tuple[tuple[str, tuple[str, ...]], ...]
    frees: bool
    exact_saves: bool
    shape: str
    kind: str

    def __repr__(self) -> str:
        """The name and the kind."""
        return f"<ModuleLaw {self.name}: {self.kind}>"


_OLD = "size_average=None, reduce=None, reduction='mean'"
_FACTORY = "device=None, dtype=None"
_NORM = f"eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, {_FACTORY}, *, bias=True"
_INSTANCE = f"eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, {_FACTORY}, *, bias=True"
_AFFINE = "parameters weight[affine]:num_features bias[affine&bias]:num_features"
_RUNNING = (
    "buffers running_mean[track_running_stats]:num_features running_var[track_running_stats]:num_features"
    " num_batches_tracked[track_running_stats]:"
)
_NORM_CALL = "call=nn.functional.batch_norm(input,running_mean,running_var,weight,bias,training,momentum,eps)"
_INSTANCE_CALL = (
    "call=nn.functional.instance_norm(input,running_mean,running_var,weight,bias,momentum=momentum,eps=eps)"
)
_CONV_END = f"groups=1, bias=True, padding_mode='zeros', {_FACTORY}"
_CONV_OPTIONS = f"stride=1, padding=0, dilation=1, {_CONV_END}"
_CONV_TRANSPOSE_OPTIONS = (
    "stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1,"
    f" padding_mode='zeros', {_FACTORY}"
)
_RECURRENT = (
    f"num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, proj_size=0, {_FACTORY}"
)
_RECURRENT_PARAMETERS = (
    "parameters weight_ih_l* weight_hh_l* bias_ih_l*[bias] bias_hh_l*[bias] weight_hr_l*[proj_size]"
)
_TRANSFORMER_LAYER = (
    "dim_feedforward=2048, dropout=0.1, activation=None, layer_norm_eps=1e-05, batch_first=False,"
    f" norm_first=False, bias=True, {_FACTORY}"
)


def _dimensional(row: str, dims: str = "123") -> dict[str, str]:
    """One row for each number of dimensions; `{d}` in it is that number."""
    return {d: row.replace("{d}", d) for d in dims}


def _family(stem: str, row: str, dims: str = "123") -> dict[str, str]:
    return {f"{stem}{d}d": text for d, text in _dimensional(row, dims).items()}


_ROWS: dict[str, str] = {
    # layers
    "Identity": "(args..., kwargs=None) layer shape=same",
    "Linear": f"(in_features:, out_features:, bias=True, {_FACTORY}) layer"
    " parameters weight:out_features,in_features bias[bias]:out_features"
    " call=nn.functional.linear(input,weight,bias) shape=last:out_features",
    "LazyLinear": f"(out_features:, bias=True, {_FACTORY}) layer parameters weight bias[bias]:out_features"
    " call=nn.functional.linear(input,weight,bias) shape=last:out_features",
    "Bilinear": f"(in1_features:, in2_features:, out_features:, bias=True, {_FACTORY}) layer"
    " parameters weight:out_features,in1_features,in2_features bias[bias]:out_features args=input1,input2"
    " call=nn.functional.bilinear(input1,input2,weight,bias) shape=last:out_features",
    "Embedding": "(num_embeddings:, embedding_dim:, padding_idx=None, max_norm=None, norm_type=2.0,"
    f" scale_grad_by_freq=False, sparse=False, _weight=None, _freeze=False, {_FACTORY}) layer"
    " parameters weight:num_embeddings,embedding_dim"
    " call=nn.functional.embedding(input,weight,padding_idx,max_norm,norm_type,scale_grad_by_freq,sparse)"
    " shape=append:embedding_dim",
    "EmbeddingBag": "(num_embeddings:, embedding_dim:, max_norm=None, norm_type=2.0,"
    " scale_grad_by_freq=False,"
    f" mode='mean', sparse=False, _weight=None, include_last_offset=False, padding_idx=None, {_FACTORY})"
    f" layer"
    " parameters weight:num_embeddings,embedding_dim args=input,offsets,per_sample_weights"
    " call=nn.functional.embedding_bag(input,weight,offsets,max_norm,norm_type,scale_grad_by_freq,mode,"
    "sparse,per_sample_weights,include_last_offset,padding_idx)",
    **_family(
        "Conv",
        f"(in_channels:, out_channels:, kernel_size:, {_CONV_OPTIONS}) layer parameters weight"
        " bias[bias]:out_channels"
        " call=nn.functional.conv{d}d(input,weight,bias,stride,padding,dilation,groups)"
        " shape=channels:out_channels",
    ),
    **_family(
        "ConvTranspose",
        f"(in_channels:, out_channels:, kernel_size:, {_CONV_TRANSPOSE_OPTIONS}) layer parameters weight"
        " bias[bias]:out_channels args=input,output_size"
        " call=nn.functional.conv_transpose{d}d(input,weight,bias,stride,padding,output_padding,groups,"
        "dilation) shape=channels:out_channels",
    ),
    **_family(
        "LazyConv",
        f"(out_channels:, kernel_size:, {_CONV_OPTIONS}) layer parameters weight bias[bias]:out_channels"
        " call=nn.functional.conv{d}d(input,weight,bias,stride,padding,dilation,groups)"
        " shape=channels:out_channels",
    ),
    **_family(
        "LazyConvTranspose",
        f"(out_channels:, kernel_size:, {_CONV_TRANSPOSE_OPTIONS}) layer parameters weight"
        " bias[bias]:out_channels args=input,output_size"
        " call=nn.functional.conv_transpose{d}d(input,weight,bias,stride,padding,output_padding,groups,"
        "dilation) shape=channels:out_channels",
    ),
    "Fold": "(output_size:, kernel_size:, dilation=1, padding=0, stride=1) reshaping"
    " call=nn.functional.fold(input,output_size,kernel_size,dilation,padding,stride)",
    "Unfold": "(kernel_size:, dilation=1, padding=0, stride=1) reshaping"
    " call=nn.functional.unfold(input,kernel_size,dilation,padding,stride)",
    "Flatten": "(start_dim=1, end_dim=-1) reshaping call=flatten(input,start_dim,end_dim) shape=flatten",
    "Unflatten": "(dim:, unflattened_size:) reshaping call=unflatten(input,dim,unflattened_size)",
    "ChannelShuffle": "(groups:) reshaping call=nn.functional.channel_shuffle(input,groups) shape=same",
    "PixelShuffle": "(upscale_factor:) reshaping call=nn.functional.pixel_shuffle(input,upscale_factor)",
    "PixelUnshuffle": "(downscale_factor:) reshaping"
    " call=nn.functional.pixel_unshuffle(input,downscale_factor)",
    "Upsample": "(size=None, scale_factor=None, mode='nearest', align_corners=None,"
    " recompute_scale_factor=None)"
    " reshaping"
    " call=nn.functional.interpolate(input,size,scale_factor,mode,align_corners,recompute_scale_factor)",
    "UpsamplingNearest2d": "(size=None, scale_factor=None) reshaping"
    " call=nn.functional.interpolate(input,size,scale_factor)",
    "UpsamplingBilinear2d": "(size=None, scale_factor=None) reshaping"
    " call=nn.functional.interpolate(input,size,scale_factor)",
    "CosineSimilarity": "(dim=1, eps=1e-08) layer args=x1,x2"
    " call=nn.functional.cosine_similarity(x1,x2,dim,eps)",
    "PairwiseDistance": "(p=2.0, eps=1e-06, keepdim=False) layer args=x1,x2"
    " call=nn.functional.pairwise_distance(x1,x2,p,eps,keepdim)",
    # activations
    "CELU": "(alpha=1.0, inplace=False) activation call=nn.functional.celu(input,alpha,inplace) shape=same",
    "ELU": "(alpha=1.0, inplace=False) activation call=nn.functional.elu(input,alpha,inplace) shape=same",
    "GELU": "(approximate='none') activation call=nn.functional.gelu(input,approximate=approximate)"
    " shape=same",
    "GLU": "(dim=-1) activation call=nn.functional.glu(input,dim)",
    "Hardshrink": "(lambd=0.5) activation call=nn.functional.hardshrink(input,lambd) shape=same",
    "Hardsigmoid": "(inplace=False) activation call=nn.functional.hardsigmoid(input,inplace) shape=same",
    "Hardswish": "(inplace=False) activation call=nn.functional.hardswish(input,inplace) shape=same",
    "Hardtanh": "(min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None) activation"
    " call=nn.functional.hardtanh(input,min_val,max_val,inplace) shape=same",
    "LeakyReLU": "(negative_slope=0.01, inplace=False) activation"
    " call=nn.functional.leaky_relu(input,negative_slope,inplace) shape=same",
    "LogSigmoid": "() activation call=nn.functional.logsigmoid(input) shape=same",
    "LogSoftmax": "(dim=None) activation call=nn.functional.log_softmax(input,dim) shape=same",
    "Mish": "(inplace=False) activation call=nn.functional.mish(input,inplace) shape=same",
    "PReLU": f"(num_parameters=1, init=0.25, {_FACTORY}) activation parameters weight:num_parameters"
    " call=nn.functional.prelu(input,weight) shape=same",
    "RReLU": "(lower=0.125, upper=0.3333333333333333, inplace=False) activation"
    " call=nn.functional.rrelu(input,lower,upper,training,inplace) shape=same",
    "ReLU": "(inplace=False) activation call=nn.functional.relu(input,inplace) shape=same",
    "ReLU6": "(inplace=False) activation call=nn.functional.relu6(input,inplace) shape=same",
    "SELU": "(inplace=False) activation call=nn.functional.selu(input,inplace) shape=same",
    "SiLU": "(inplace=False) activation call=nn.functional.silu(input,inplace) shape=same",
    "Sigmoid": "() activation call=sigmoid(input) shape=same",
    "Softmax": "(dim=None) activation call=nn.functional.softmax(input,dim) shape=same",
    "Softmax2d": "() activation call=nn.functional.softmax(input) shape=same",
    "Softmin": "(dim=None) activation call=nn.functional.softmin(input,dim) shape=same",
    "Softplus": "(beta=1.0, threshold=20.0) activation call=nn.functional.softplus(input,beta,threshold)"
    " shape=same",
    "Softshrink": "(lambd=0.5) activation call=nn.functional.softshrink(input,lambd) shape=same",
    "Softsign": "() activation call=nn.functional.softsign(input) shape=same",
    "Tanh": "() activation call=tanh(input) shape=same",
    "Tanhshrink": "() activation call=nn.functional.tanhshrink(input) shape=same",
    "Threshold": "(threshold:, value:, inplace=False) activation"
    " call=nn.functional.threshold(input,threshold,value,inplace) shape=same",
    # normalization
    **_family(
        "BatchNorm", f"(num_features:, {_NORM}) normalization {_AFFINE} {_RUNNING} {_NORM_CALL} shape=same"
    ),
    "SyncBatchNorm": "(num_features:, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True,"
    f" process_group=None, {_FACTORY}, *, bias=True) normalization {_AFFINE} {_RUNNING} {_NORM_CALL}"
    f" shape=same",
    **_family(
        "LazyBatchNorm",
        f"({_NORM}) normalization parameters weight[affine] bias[affine&bias]"
        " buffers running_mean[track_running_stats] running_var[track_running_stats]"
        f" num_batches_tracked[track_running_stats] {_NORM_CALL} shape=same",
    ),
    **_family(
        "InstanceNorm",
        f"(num_features:, {_INSTANCE}) normalization {_AFFINE} {_RUNNING} {_INSTANCE_CALL} shape=same",
    ),
    **_family(
        "LazyInstanceNorm",
        f"({_NORM}) normalization parameters weight[affine] bias[affine&bias]"
        " buffers running_mean[track_running_stats] running_var[track_running_stats]"
        f" num_batches_tracked[track_running_stats] {_INSTANCE_CALL} shape=same",
    ),
    "GroupNorm": f"(num_groups:, num_channels:, eps=1e-05, affine=True, {_FACTORY}, *, bias=True)"
    f" normalization"
    " parameters weight[affine]:num_channels bias[affine&bias]:num_channels"
    " call=nn.functional.group_norm(input,num_groups,weight,bias,eps) shape=same",
    "LayerNorm": f"(normalized_shape:, eps=1e-05, elementwise_affine=True, bias=True, {_FACTORY})"
    f" normalization"
    " parameters weight[elementwise_affine]:normalized_shape bias[elementwise_affine&bias]:normalized_shape"
    " call=nn.functional.layer_norm(input,normalized_shape,weight,bias,eps) shape=same",
    "RMSNorm": f"(normalized_shape:, eps=None, elementwise_affine=True, {_FACTORY}) normalization"
    " parameters weight[elementwise_affine]:normalized_shape"
    " args=x call=nn.functional.rms_norm(x,normalized_shape,weight,eps) shape=same",
    "LocalResponseNorm": "(size:, alpha=0.0001, beta=0.75, k=1.0) normalization"
    " call=nn.functional.local_response_norm(input,size,alpha,beta,k) shape=same",
    "CrossMapLRN2d": "(size:, alpha=0.0001, beta=0.75, k=1) normalization saves input result shape=same",
    # pooling
    **_family(
        "MaxPool",
        "(kernel_size:, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False) pooling"
        " call=nn.functional.max_pool{d}d(input,kernel_size,stride,padding,dilation,ceil_mode,"
        "return_indices)",
    ),
    "AvgPool1d": "(kernel_size:, stride=None, padding=0, ceil_mode=False, count_include_pad=True) pooling"
    " call=nn.functional.avg_pool1d(input,kernel_size,stride,padding,ceil_mode,count_include_pad)",
    **_family(
        "AvgPool",
        "(kernel_size:, stride=None, padding=0, ceil_mode=False, count_include_pad=True,"
        " divisor_override=None)"
        " pooling"
        " call=nn.functional.avg_pool{d}d(input,kernel_size,stride,padding,ceil_mode,count_include_pad,"
        "divisor_override)",
        "23",
    ),
    **_family(
        "AdaptiveAvgPool",
        "(output_size:) pooling call=nn.functional.adaptive_avg_pool{d}d(input,output_size)",
    ),
    **_family(
        "AdaptiveMaxPool",
        "(output_size:, return_indices=False) pooling"
        " call=nn.functional.adaptive_max_pool{d}d(input,output_size,return_indices)",
    ),
    **_family(
        "FractionalMaxPool",
        "(kernel_size:, output_size=None, output_ratio=None, return_indices=False, _random_samples=None)"
        " pooling"
        " buffers _random_samples[_random_samples]"
        " call=nn.functional.fractional_max_pool{d}d(input,kernel_size,output_size,output_ratio,"
        "return_indices)",
        "23",
    ),
    **_family(
        "LPPool",
        "(norm_type:, kernel_size:, stride=None, ceil_mode=False) pooling"
        " call=nn.functional.lp_pool{d}d(input,norm_type,kernel_size,stride,ceil_mode)",
    ),
    **_family(
        "MaxUnpool",
        "(kernel_size:, stride=None, padding=0) pooling args=input,indices,output_size"
        " call=nn.functional.max_unpool{d}d(input,indices,kernel_size,stride,padding,output_size)",
    ),
    # padding
    **_family("ZeroPad", "(padding:) padding call=nn.functional.pad(input,padding)"),
    **_family("ConstantPad", "(padding:, value:) padding call=nn.functional.pad(input,padding,value=value)"),
    **_family("ReflectionPad", "(padding:) padding call=nn.functional.pad(input,padding) saves input"),
    **_family("ReplicationPad", "(padding:) padding call=nn.functional.pad(input,padding) saves input"),
    **_family("CircularPad", "(padding:) padding call=nn.functional.pad(input,padding)"),
    # dropout
    "Dropout": "(p=0.5, inplace=False) dropout call=nn.functional.dropout(input,p,training,inplace)"
    " shape=same",
    **_family(
        "Dropout",
        "(p=0.5, inplace=False) dropout call=nn.functional.dropout{d}d(input,p,training,inplace) shape=same",
    ),
    "AlphaDropout": "(p=0.5, inplace=False) dropout call=nn.functional.alpha_dropout(input,p,training)"
    " shape=same",
    "FeatureAlphaDropout": "(p=0.5, inplace=False) dropout"
    " call=nn.functional.feature_alpha_dropout(input,p,training) shape=same",
    # losses
    "BCELoss": f"(weight=None, {_OLD}) loss buffers weight[weight] args=input,target"
    " call=nn.functional.binary_cross_entropy(input,target,weight,reduction=reduction) shape=loss",
    "BCEWithLogitsLoss": f"(weight=None, {_OLD}, pos_weight=None) loss buffers weight[weight]"
    f" pos_weight[pos_weight]"
    " args=input,target call=nn.functional.binary_cross_entropy_with_logits(input,target,weight,"
    "reduction=reduction,pos_weight=pos_weight) shape=loss",
    "CTCLoss": "(blank=0, reduction='mean', zero_infinity=False) loss"
    " args=log_probs,targets,input_lengths,target_lengths call=nn.functional.ctc_loss(log_probs,targets,"
    "input_lengths,target_lengths,blank,reduction,zero_infinity) shape=loss",
    "CosineEmbeddingLoss": f"(margin=0.0, {_OLD}) loss args=input1,input2,target"
    " call=nn.functional.cosine_embedding_loss(input1,input2,target,margin,reduction=reduction) shape=loss",
    "CrossEntropyLoss": "(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean',"
    " label_smoothing=0.0) loss buffers weight[weight] args=input,target"
    " call=nn.functional.cross_entropy(input,"
    "target,weight,ignore_index=ignore_index,reduction=reduction,label_smoothing=label_smoothing) shape=loss",
    "GaussianNLLLoss": "(*, full=False, eps=1e-06, reduction='mean') loss args=input,target,var"
    " call=nn.functional.gaussian_nll_loss(input,target,var,full,eps,reduction) shape=loss",
    "HingeEmbeddingLoss": f"(margin=1.0, {_OLD}) loss args=input,target"
    " call=nn.functional.hinge_embedding_loss(input,target,margin,reduction=reduction) shape=loss",
    "HuberLoss": "(reduction='mean', delta=1.0) loss args=input,target"
    " call=nn.functional.huber_loss(input,target,reduction,delta) shape=loss",
    "KLDivLoss": f"({_OLD}, log_target=False) loss args=input,target"
    " call=nn.functional.kl_div(input,target,reduction=reduction,log_target=log_target) shape=loss",
    "L1Loss": f"({_OLD}) loss args=input,target call=nn.functional.l1_loss(input,target,reduction=reduction)"
    " shape=loss",
    "MSELoss": f"({_OLD}) loss args=input,target"
    f" call=nn.functional.mse_loss(input,target,reduction=reduction)"
    " shape=loss",
    "MarginRankingLoss": f"(margin=0.0, {_OLD}) loss args=input1,input2,target"
    " call=nn.functional.margin_ranking_loss(input1,input2,target,margin,reduction=reduction) shape=loss",
    "MultiLabelMarginLoss": f"({_OLD}) loss args=input,target"
    " call=nn.functional.multilabel_margin_loss(input,target,reduction=reduction) shape=loss",
    "MultiLabelSoftMarginLoss": f"(weight=None, {_OLD}) loss buffers weight[weight] args=input,target"
    " call=nn.functional.multilabel_soft_margin_loss(input,target,weight,reduction=reduction) shape=loss",
    "MultiMarginLoss": f"(p=1, margin=1.0, weight=None, {_OLD}) loss buffers weight[weight] args=input,target"
    " call=nn.functional.multi_margin_loss(input,target,p,margin,weight,reduction=reduction) shape=loss",
    "NLLLoss": "(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean') loss"
    " buffers weight[weight] args=input,target"
    " call=nn.functional.nll_loss(input,target,weight,ignore_index=ignore_index,reduction=reduction)"
    " shape=loss",
    "NLLLoss2d": "(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean') loss"
    " buffers weight[weight] args=input,target"
    " call=nn.functional.nll_loss(input,target,weight,ignore_index=ignore_index,reduction=reduction)"
    " shape=loss",
    "PoissonNLLLoss": "(log_input=True, full=False, size_average=None, eps=1e-08, reduce=None,"
    " reduction='mean')"
    " loss args=log_input,target call=nn.functional.poisson_nll_loss(log_input,target,reduction=reduction)"
    " shape=loss",
    "SmoothL1Loss": f"({_OLD}, beta=1.0) loss args=input,target"
    " call=nn.functional.smooth_l1_loss(input,target,reduction=reduction,beta=beta) shape=loss",
    "SoftMarginLoss": f"({_OLD}) loss args=input,target"
    " call=nn.functional.soft_margin_loss(input,target,reduction=reduction) shape=loss",
    "TripletMarginLoss": f"(margin=1.0, p=2.0, eps=1e-06, swap=False, {_OLD}) loss"
    f" args=anchor,positive,negative"
    " call=nn.functional.triplet_margin_loss(anchor,positive,negative,margin,p,eps,swap,reduction=reduction)"
    " shape=loss",
    "TripletMarginWithDistanceLoss": "(*, distance_function=None, margin=1.0, swap=False, reduction='mean')"
    " loss"
    " children distance_function:PairwiseDistance args=anchor,positive,negative"
    " call=nn.functional.triplet_margin_with_distance_loss(anchor,positive,negative)"
    " shape=loss",
    "AdaptiveLogSoftmaxWithLoss": "(in_features:, n_classes:, cutoffs:, div_value=4.0, head_bias=False,"
    f" {_FACTORY}) loss children head:Linear tail:ModuleList args=input_,target_ outputs=output,loss"
    " saves composite frees=yes",
    "LinearCrossEntropyLoss": "(in_features:, num_classes:, *, out_features=(), bias=False, device=None,"
    " dtype=None, reduction='mean', weight=None, ignore_index=None, label_smoothing=0.0, options=None) loss"
    " children linear:Linear buffers weight[weight] args=input,target saves composite shape=loss",
    # recurrent
    "RNNBase": f"(mode:, input_size:, hidden_size:, {_RECURRENT}) recurrent {_RECURRENT_PARAMETERS}"
    " args=input,hx outputs=output,h saves composite",
    "RNN": f"(input_size:, hidden_size:, num_layers=1, nonlinearity='tanh', bias=True, batch_first=False,"
    f" dropout=0.0, bidirectional=False, {_FACTORY}) recurrent"
    " parameters weight_ih_l* weight_hh_l* bias_ih_l*[bias] bias_hh_l*[bias]"
    " args=input,hx outputs=output,h saves composite frees=yes",
    "LSTM": f"(input_size:, hidden_size:, {_RECURRENT}) recurrent {_RECURRENT_PARAMETERS}"
    " args=input,hx outputs=output,(h,c) saves composite frees=yes",
    "GRU": f"(input_size:, hidden_size:, num_layers=1, bias=True, batch_first=False, dropout=0.0,"
    f" bidirectional=False, {_FACTORY}) recurrent"
    " parameters weight_ih_l* weight_hh_l* bias_ih_l*[bias] bias_hh_l*[bias]"
    " args=input,hx outputs=output,h saves composite frees=yes",
    "RNNCellBase": f"(input_size:, hidden_size:, bias:, num_chunks:, {_FACTORY}) recurrent"
    " parameters weight_ih weight_hh bias_ih[bias] bias_hh[bias] args=input,hx saves composite",
    "RNNCell": f"(input_size:, hidden_size:, bias=True, nonlinearity='tanh', {_FACTORY}) recurrent"
    " parameters weight_ih:hidden_size,input_size weight_hh:hidden_size,hidden_size bias_ih[bias]:hidden_size"
    " bias_hh[bias]:hidden_size args=input,hx saves composite frees=yes shape=last:hidden_size",
    "LSTMCell": f"(input_size:, hidden_size:, bias=True, {_FACTORY}) recurrent"
    " parameters weight_ih weight_hh bias_ih[bias] bias_hh[bias] args=input,hx outputs=h,c saves composite"
    " frees=yes"
    " shape=last:hidden_size",
    "GRUCell": f"(input_size:, hidden_size:, bias=True, {_FACTORY}) recurrent"
    " parameters weight_ih weight_hh bias_ih[bias] bias_hh[bias] args=input,hx saves composite frees=yes"
    " shape=last:hidden_size",
    # attention
    "MultiheadAttention": "(embed_dim:, num_heads:, dropout=0.0, bias=True, add_bias_kv=False,"
    f" add_zero_attn=False, kdim=None, vdim=None, batch_first=False, {_FACTORY}) attention"
    " parameters in_proj_weight[same-dims] q_proj_weight[other-dims] k_proj_weight[other-dims]"
    " v_proj_weight[other-dims] in_proj_bias[bias] bias_k[add_bias_kv] bias_v[add_bias_kv]"
    " children out_proj:Linear args=query,key,value,key_padding_mask,need_weights,attn_mask,"
    "average_attn_weights,is_causal outputs=output,weights saves composite frees=yes",
    "Transformer": "(d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048,"
    " dropout=0.1, activation=None, custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-05,"
    f" batch_first=False, norm_first=False, bias=True, {_FACTORY}) attention"
    " children encoder:TransformerEncoder decoder:TransformerDecoder args=src,tgt saves composite frees=yes",
    "TransformerEncoder": "(encoder_layer:, num_layers:, norm=None, enable_nested_tensor=True,"
    " mask_check=True)"
    " attention children layers:ModuleList norm:LayerNorm args=src,mask,src_key_padding_mask,is_causal"
    " saves composite frees=yes shape=same",
    "TransformerDecoder": "(decoder_layer:, num_layers:, norm=None) attention"
    " children layers:ModuleList norm:LayerNorm args=tgt,memory saves composite frees=yes shape=same",
    "TransformerEncoderLayer": f"(d_model:, nhead:, {_TRANSFORMER_LAYER}) attention"
    " children self_attn:MultiheadAttention linear1:Linear dropout:Dropout linear2:Linear norm1:LayerNorm"
    " norm2:LayerNorm dropout1:Dropout dropout2:Dropout args=src,src_mask,src_key_padding_mask,is_causal"
    " saves composite frees=yes shape=same",
    "TransformerDecoderLayer": f"(d_model:, nhead:, {_TRANSFORMER_LAYER}) attention"
    " children self_attn:MultiheadAttention multihead_attn:MultiheadAttention linear1:Linear dropout:Dropout"
    " linear2:Linear norm1:LayerNorm norm2:LayerNorm norm3:LayerNorm dropout1:Dropout dropout2:Dropout"
    " dropout3:Dropout args=tgt,memory saves composite frees=yes shape=same",
    # containers
    "Module": "() base",
    "Container": "() base",
    "Sequential": "(args...) container",
    "ModuleList": "(modules=None) container",
    "ModuleDict": "(modules=None) container",
    "ParameterList": "(values=None) container",
    "ParameterDict": "(parameters=None) container",
    "DataParallel": "(module:, device_ids=None, output_device=None, dim=0) container args=inputs",
}

_cache: dict[str, ModuleLaw | None] = {}


def module(name: str) -> ModuleLaw | None:
    """The law of a class of torch.nn by its name ("Linear"), or None when there is none."""
    if name not in _cache:
        row = _ROWS.get(name)
        _cache[name] = None if row is None else parse(name, row)
    return _cache[name]


def names() -> tuple[str, ...]:
    """The names of all classes with a law."""
    return tuple(_ROWS)


def rows() -> dict[str, str]:
    """All rows as they are written."""
    return dict(_ROWS)


def parse(name: str, row: str) -> ModuleLaw:
    """The law that `row` describes. Raises `operations.RowError`, which names the row."""
    end = row.find(")")
    while end != -1 and row[end + 1 : end + 2] not in (" ", ""):
        end = row.find(")", end + 1)
    words = row[end + 1 :].split()
    if end == -1 or not words or words[0] not in KINDS:
        raise operations.RowError(name, f"no kind in {row!r}")
    signature = operations.parse(name, row[: end + 1] + " none")
    result = ModuleLaw()
    result.name, result.kind = name, words[0]
    result.args, result.keywords = signature.args, signature.keywords
    result.required, result.defaults, result.gathers = (
        signature.required,
        signature.defaults,
        signature.gathers,
    )
    result.inplace = "inplace" if "inplace" in signature.args else ""
    _sections(result, row, words[1:])
    return result


def _sections(result: ModuleLaw, row: str, words: list[str]) -> None:
    sections: dict[str, list[str]] = {"parameters": [], "buffers": [], "children": [], "saves": []}
    keys = {"args": "input", "call": "", "outputs": "", "shape": "?", "frees": ""}
    section = ""
    for word in words:
        key, equals, value = word.partition("=")
        if word in sections:
            section = word
        elif equals and key in keys:
            keys[key], section = value, ""
        elif section:
            sections[section].append(word)
        else:
            raise operations.RowError(result.name, f"{word!r} has no meaning in {row!r}")
    result.parameters = tuple(_conditional(word) for word in sections["parameters"])
    result.buffers = tuple(_conditional(word) for word in sections["buffers"])
    result.children = tuple(
        (child, kind) for child, _, kind in (word.partition(":") for word in sections["children"])
    )
    result.call_args = tuple(keys["args"].split(","))
    result.outputs, result.shape = keys["outputs"], keys["shape"]
    _call(result, keys["call"])
    _saves(result, sections["saves"], "saves" in words, keys["frees"])


def _conditional(word: str) -> tuple[str, str, str]:
    """(name, condition, shape) of `bias[affine&bias]:num_features`."""
    head, _, shape = word.partition(":")
    name, _, condition = head.partition("[")
    return name, condition.rstrip("]"), shape


def _call(result: ModuleLaw, call: str) -> None:
    result.call, result.passes = "", ()
    if not call:
        return
    path, _, inside = call.rstrip(")").partition("(")
    target = operations.function("torch." + path)
    if target is None:
        raise operations.RowError(result.name, f"no row for torch.{path}")
    parameters = (*target.args, *target.keywords)
    passes: list[tuple[str, str]] = []
    for index, item in enumerate(inside.split(",")):
        parameter, equals, value = item.partition("=")
        passes.append((parameter, value) if equals else (parameters[index], item))
    for parameter, _ in passes:
        if parameter not in parameters:
            raise operations.RowError(result.name, f"torch.{path} has no parameter {parameter!r}")
    result.call, result.passes = "torch." + path, tuple(passes)


def _saves(result: ModuleLaw, words: list[str], said: bool, frees: str) -> None:
    """What the row says is saved; else what the function in `call` saves, in the module's names."""
    result.exact_saves = "composite" not in words
    if said or not result.call:
        found = [word.partition("@") for word in words if word != "composite"]
        result.saves = tuple((what, tuple(needs.split("|")) if needs else ()) for what, _, needs in found)
        result.frees = bool(result.saves)
    else:
        target = operations.function(result.call)
        assert target is not None
        names = dict(result.passes)
        result.exact_saves = target.exact_saves
        result.saves = tuple(
            (names.get(what, what), tuple(names.get(need, need) for need in needs))
            for what, needs in target.saves
        )
        result.frees = target.frees
    if frees:
        result.frees = frees == "yes"
