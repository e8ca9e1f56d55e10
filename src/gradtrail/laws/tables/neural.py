"""What torch.nn.functional has: activations, convolutions, pooling, normalization, dropout, attention."""

from __future__ import annotations

ROWS: dict[str, str] = {
    "grid_sampler_2d": "(self, grid, interpolation_mode:, padding_mode:, align_corners:) new "
    "GridSampler2DBackward0 saves grid self dtype=same function",
    "grid_sampler_3d": "(self, grid, interpolation_mode:, padding_mode:, align_corners:) new "
    "GridSampler3DBackward0 saves grid self dtype=same function",
    "native_batch_norm": "(self, weight?, bias?, running_mean?!, running_var?!, training:, momentum:, eps:) "
    "new NativeBatchNormBackward0 saves result1 result2 running_mean running_var self weight "
    "outputs=output,mean!,invstd! dtype=same shape=same function",
    "native_group_norm": "(self, weight?, bias?, N:, C:, HxW:, group:, eps:) new NativeGroupNormBackward0 "
    "saves result1 result2 self weight composite outputs=output0,output1,output2 dtype=same shape=same "
    "function",
    "native_layer_norm": "(self, normalized_shape:, weight?, bias?, eps:) new NativeLayerNormBackward0 saves "
    "bias result1 result2 self weight composite outputs=output0,output1!,output2! dtype=same "
    "shape=broadcast function",
    "nn.functional.adaptive_avg_pool1d": "(self, output_size...) new SqueezeBackward1 composite dtype=same "
    "function",
    "nn.functional.adaptive_avg_pool2d": "(self, output_size:) new AdaptiveAvgPool2DBackward0 saves self "
    "dtype=same overloads=output_size@ones:nn.functional.adaptive_avg_pool2d.mean function",
    "nn.functional.adaptive_avg_pool2d.mean": "(self, output_size:) new MeanBackward1 dtype=same function",
    "nn.functional.adaptive_avg_pool3d": "(self, output_size:) new composite dtype=same function",
    "nn.functional.adaptive_max_pool1d": "(self, output_size:, return_indices=False) new saves self "
    "composite dtype=same overloads=return_indices@true:nn.functional.adaptive_max_pool1d_with_indices "
    "function",
    "nn.functional.adaptive_max_pool1d_with_indices": "(self, output_size:, return_indices=False) new "
    "outputs=output,indices! saves result1 self composite dtype=same function",
    "nn.functional.adaptive_max_pool2d": "(self, output_size:, return_indices=False) new "
    "AdaptiveMaxPool2DBackward0 saves self copy dtype=same "
    "overloads=return_indices@true:nn.functional.adaptive_max_pool2d_with_indices function",
    "nn.functional.adaptive_max_pool2d_with_indices": "(self, output_size:, return_indices=False) new "
    "AdaptiveMaxPool2DBackward0 outputs=output,indices! saves result1 self dtype=same function",
    "nn.functional.adaptive_max_pool3d": "(self, output_size:, return_indices=False) new "
    "AdaptiveMaxPool3DBackward0 saves self copy dtype=same "
    "overloads=return_indices@true:nn.functional.adaptive_max_pool3d_with_indices function",
    "nn.functional.adaptive_max_pool3d_with_indices": "(self, output_size:, return_indices=False) new "
    "AdaptiveMaxPool3DBackward0 outputs=output,indices! saves result1 self dtype=same function",
    "nn.functional.affine_grid": "(theta, size:, align_corners=None) new AffineGridGeneratorBackward0 "
    "dtype=same function",
    "nn.functional.alpha_dropout": "(self, p=0.5, training=False, inplace=False) maybe-same saves copy "
    "composite same=not-training dtype=same shape=same function",
    "nn.functional.avg_pool1d": "(self, kernel_size:, stride=(), padding=0, ceil_mode=False, "
    "count_include_pad=True) new SqueezeBackward1 saves self dtype=same function",
    "nn.functional.avg_pool2d": "(self, kernel_size:, stride=(), padding=0, ceil_mode=False, "
    "count_include_pad=True, divisor_override=None) new AvgPool2DBackward0 saves self dtype=same function",
    "nn.functional.avg_pool3d": "(self, kernel_size:, stride=(), padding=0, ceil_mode=False, "
    "count_include_pad=True, divisor_override=None) new AvgPool3DBackward0 saves self dtype=same function",
    "nn.functional.batch_norm": "(self, running_mean!, running_var!, weight?, bias?, training=False, "
    "momentum=0.1, eps=1e-05) new NativeBatchNormBackward0 saves running_mean running_var self weight "
    "dtype=same shape=same function",
    "nn.functional.bilinear": "(input1, input2, weight, bias?) new saves input1@input2|weight "
    "input2@input1|weight weight@input1|input2 composite dtype=same function",
    "nn.functional.celu": "(self, alpha=1.0, inplace=False) new CeluBackward0 saves self dtype=same "
    "shape=same function",
    "nn.functional.celu_": "(self, alpha=1.0) written CeluBackward1 saves result dtype=same shape=same "
    "function",
    "nn.functional.channel_shuffle": "(self, groups:) new ChannelShuffleBackward0 dtype=same shape=same "
    "function",
    "nn.functional.conv1d": "(self, weight, bias?, stride=1, padding=0, dilation=1, groups=1) new saves self "
    "weight dtype=same overloads=padding@text:nn.functional.conv1d.text function",
    "nn.functional.conv1d.text": "(self, weight, bias?, stride=1, padding=0, dilation=1, groups=1) new saves "
    "weight varies dtype=same function",
    "nn.functional.conv2d": "(self, weight, bias?, stride=1, padding=0, dilation=1, groups=1) new saves self "
    "weight dtype=same overloads=padding@text:nn.functional.conv2d.text function",
    "nn.functional.conv2d.text": "(self, weight, bias?, stride=1, padding=0, dilation=1, groups=1) new saves "
    "weight varies dtype=same function",
    "nn.functional.conv3d": "(self, weight, bias?, stride=1, padding=0, dilation=1, groups=1) new saves self "
    "weight dtype=same overloads=padding@text:nn.functional.conv3d.text function",
    "nn.functional.conv3d.text": "(self, weight, bias?, stride=1, padding=0, dilation=1, groups=1) new saves "
    "weight varies dtype=same function",
    "nn.functional.conv_tbc": "(self, weight, bias, pad=0) new ConvTbcBackward0 saves bias self weight "
    "dtype=same function",
    "nn.functional.conv_transpose1d": "(self, weight, bias?, stride=1, padding=0, output_padding=0, "
    "groups=1, dilation=1) new saves self weight composite dtype=same function",
    "nn.functional.conv_transpose2d": "(self, weight, bias?, stride=1, padding=0, output_padding=0, "
    "groups=1, dilation=1) new saves self weight composite dtype=same function",
    "nn.functional.conv_transpose3d": "(self, weight, bias?, stride=1, padding=0, output_padding=0, "
    "groups=1, dilation=1) new saves self weight composite dtype=same function",
    "nn.functional.dropout": "(self, p=0.5, training=True, inplace=False) maybe-same MulBackward0 saves copy "
    "same=not-training dtype=same shape=same function",
    "nn.functional.dropout1d": "(self, p=0.5, training=True, inplace=False) maybe-same saves copy composite "
    "same=not-training dtype=same shape=same function",
    "nn.functional.dropout2d": "(self, p=0.5, training=True, inplace=False) maybe-same saves copy composite "
    "same=not-training dtype=same shape=same function",
    "nn.functional.dropout3d": "(self, p=0.5, training=True, inplace=False) maybe-same composite "
    "same=not-training otherwise=maybe-view dtype=same shape=same function",
    "nn.functional.elu": "(self, alpha=1.0, inplace=False) new EluBackward0 saves self dtype=same shape=same "
    "function",
    "nn.functional.elu_": "(self, alpha=1.0) written EluBackward1 saves result dtype=same shape=same"
    " function",
    "nn.functional.embedding": "(self, weight, padding_idx=None, max_norm=None, norm_type=2.0, "
    "scale_grad_by_freq=False, sparse=False) new EmbeddingBackward0 saves self dtype=of-second "
    "shape=embedding overloads=max_norm:nn.functional.embedding.renormalized function",
    "nn.functional.embedding.renormalized": "(self, weight, padding_idx=None, max_norm=None, norm_type=2.0, "
    "scale_grad_by_freq=False, sparse=False) new EmbeddingBackward0 saves self writes=weight "
    "dtype=of-second shape=embedding function",
    "nn.functional.embedding_bag": "(self, weight, offsets?, max_norm=None, norm_type=2, "
    "scale_grad_by_freq=False, mode='mean', sparse=False, per_sample_weights?, include_last_offset=False, "
    "padding_idx=None) new EmbeddingBagBackward0 saves offsets per_sample_weights self "
    "weight@per_sample_weights varies dtype=of-second "
    "overloads=max_norm:nn.functional.embedding_bag.renormalized function",
    "nn.functional.embedding_bag.renormalized": "(self, weight, offsets?, max_norm=None, norm_type=2, "
    "scale_grad_by_freq=False, mode='mean', sparse=False, per_sample_weights?, include_last_offset=False, "
    "padding_idx=None) new EmbeddingBagBackward0 saves offsets per_sample_weights self "
    "weight@per_sample_weights varies writes=weight dtype=of-second function",
    "nn.functional.feature_alpha_dropout": "(self, p=0.5, training=False, inplace=False) maybe-same saves "
    "copy composite same=not-training dtype=same shape=same function",
    "nn.functional.fold": "(self, output_size:, kernel_size:, dilation=1, padding=0, stride=1) new "
    "Col2ImBackward0 dtype=same function",
    "nn.functional.fractional_max_pool2d": "(self, kernel_size:, output_size=None, output_ratio=None, "
    "return_indices=False, _random_samples?) new FractionalMaxPool2DBackward0 saves self copy dtype=same "
    "overloads=return_indices@true:nn.functional.fractional_max_pool2d_with_indices function",
    "nn.functional.fractional_max_pool2d_with_indices": "(self, kernel_size:, output_size=None, "
    "output_ratio=None, return_indices=False, _random_samples?) new FractionalMaxPool2DBackward0 "
    "outputs=output,indices! saves result1 self dtype=same function",
    "nn.functional.fractional_max_pool3d": "(self, kernel_size:, output_size=None, output_ratio=None, "
    "return_indices=False, _random_samples?) new FractionalMaxPool3DBackward0 saves self copy dtype=same "
    "overloads=return_indices@true:nn.functional.fractional_max_pool3d_with_indices function",
    "nn.functional.fractional_max_pool3d_with_indices": "(self, kernel_size:, output_size=None, "
    "output_ratio=None, return_indices=False, _random_samples?) new FractionalMaxPool3DBackward0 "
    "outputs=output,indices! saves result1 self dtype=same function",
    "nn.functional.gelu": "(self, *, approximate='none') new GeluBackward0 saves self dtype=same shape=same "
    "function",
    "nn.functional.glu": "(self, dim=-1) new GluBackward0 saves self dtype=same function",
    "nn.functional.grid_sample": "(self, grid, mode='bilinear', padding_mode='zeros', align_corners=None) "
    "new saves grid self dtype=same function",
    "nn.functional.group_norm": "(self, num_groups:, weight?, bias?, eps=1e-05) new NativeGroupNormBackward0 "
    "saves self weight composite dtype=same shape=same function",
    "nn.functional.gumbel_softmax": "(logits, tau=1, hard=False, eps=1e-10, dim=-1) new saves result "
    "composite dtype=same shape=same function",
    "nn.functional.hardshrink": "(self, lambd=0.5) new HardshrinkBackward0 saves self dtype=same shape=same "
    "function",
    "nn.functional.hardsigmoid": "(self, inplace=False) new HardsigmoidBackward0 saves self dtype=same "
    "shape=same function",
    "nn.functional.hardswish": "(self, inplace=False) new HardswishBackward0 saves self dtype=same "
    "shape=same function",
    "nn.functional.hardtanh": "(self, min_val=-1.0, max_val=1.0, inplace=False) new HardtanhBackward0 saves "
    "self dtype=same shape=same function",
    "nn.functional.instance_norm": "(self, running_mean?, running_var?, weight?, bias?, "
    "use_input_stats=True, momentum=0.1, eps=1e-05) new saves self composite dtype=same shape=same "
    "overloads=running_mean:nn.functional.instance_norm.running function",
    "nn.functional.instance_norm.running": "(self, running_mean?, running_var?, weight?, bias?, "
    "use_input_stats=True, momentum=0.1, eps=1e-05) new saves self composite "
    "writes=running_mean,running_var dtype=same shape=same function",
    "nn.functional.interpolate": "(self, size=None, scale_factor=None, mode='nearest', align_corners=None, "
    "recompute_scale_factor=None, antialias=False) new composite dtype=same function",
    "nn.functional.layer_norm": "(self, normalized_shape:, weight?, bias?, eps=1e-05) new "
    "NativeLayerNormBackward0 saves bias self weight composite dtype=same shape=broadcast function",
    "nn.functional.leaky_relu": "(self, negative_slope=0.01, inplace=False) new LeakyReluBackward0 saves "
    "self dtype=same shape=same function",
    "nn.functional.leaky_relu_": "(self, negative_slope=0.01) written LeakyReluBackward1 saves result "
    "dtype=same shape=same function",
    "nn.functional.linear": "(self, weight, bias?) new saves self@weight weight@self composite dtype=same "
    "shape=linear function",
    "nn.functional.local_response_norm": "(self, size:, alpha=0.0001, beta=0.75, k=1.0) new saves self "
    "composite shape=same function",
    "nn.functional.logsigmoid": "(self) new LogSigmoidBackward0 saves self dtype=same shape=same function",
    "nn.functional.lp_pool1d": "(self, norm_type:, kernel_size:, stride=None, ceil_mode=False) new saves "
    "self composite dtype=same function",
    "nn.functional.lp_pool2d": "(self, norm_type:, kernel_size:, stride=None, ceil_mode=False) new saves "
    "self composite dtype=same function",
    "nn.functional.lp_pool3d": "(self, norm_type:, kernel_size:, stride=None, ceil_mode=False) new saves "
    "self composite dtype=same function",
    "nn.functional.max_pool1d": "(self, kernel_size:, stride=None, padding=0, dilation=1, ceil_mode=False, "
    "return_indices=False) new saves self composite dtype=same "
    "overloads=return_indices@true:nn.functional.max_pool1d_with_indices function",
    "nn.functional.max_pool1d_with_indices": "(self, kernel_size:, stride=None, padding=0, dilation=1, "
    "ceil_mode=False, return_indices=False) new outputs=output,indices! saves result1 self composite "
    "dtype=same function",
    "nn.functional.max_pool2d": "(self, kernel_size:, stride=None, padding=0, dilation=1, ceil_mode=False, "
    "return_indices=False) new MaxPool2DWithIndicesBackward0 saves self copy dtype=same "
    "overloads=return_indices@true:nn.functional.max_pool2d_with_indices function",
    "nn.functional.max_pool2d_with_indices": "(self, kernel_size:, stride=None, padding=0, dilation=1, "
    "ceil_mode=False, return_indices=False) new MaxPool2DWithIndicesBackward0 outputs=output,indices! saves "
    "result1 self dtype=same function",
    "nn.functional.max_pool3d": "(self, kernel_size:, stride=None, padding=0, dilation=1, ceil_mode=False, "
    "return_indices=False) new MaxPool3DWithIndicesBackward0 saves self copy dtype=same "
    "overloads=return_indices@true:nn.functional.max_pool3d_with_indices function",
    "nn.functional.max_pool3d_with_indices": "(self, kernel_size:, stride=None, padding=0, dilation=1, "
    "ceil_mode=False, return_indices=False) new MaxPool3DWithIndicesBackward0 outputs=output,indices! saves "
    "result1 self dtype=same function",
    "nn.functional.max_unpool1d": "(self, indices, kernel_size:, stride=None, padding=0, output_size=None) "
    "new SqueezeBackward1 saves indices dtype=same function",
    "nn.functional.max_unpool2d": "(self, indices, kernel_size:, stride=None, padding=0, output_size=None) "
    "new MaxUnpool2DBackward0 saves indices dtype=same function",
    "nn.functional.max_unpool3d": "(self, indices, kernel_size:, stride=None, padding=0, output_size=None) "
    "new MaxUnpool3DBackward0 saves indices dtype=same function",
    "nn.functional.mish": "(self, inplace=False) new MishBackward0 saves self dtype=same shape=same function",
    "nn.functional.multi_head_attention_forward": "(query, key, value, embed_dim_to_check:, num_heads:, "
    "in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn:, dropout_p:, out_proj_weight,"
    " out_proj_bias, "
    "training=True, key_padding_mask?, need_weights=True, attn_mask?, use_separate_proj_weight=False, "
    "q_proj_weight?, k_proj_weight?, v_proj_weight?, static_k?, static_v?, average_attn_weights=True, "
    "is_causal=False) new saves "
    "out_proj_weight@query|key|value|in_proj_weight|in_proj_bias|bias_k|bias_v|attn_mask key@in_proj_weight "
    "query@in_proj_weight value@in_proj_weight copy composite outputs=output,weights dtype=same shape=same "
    "function",
    "nn.functional.native_channel_shuffle": "(self, groups:) new NotImplemented dtype=same shape=same "
    "function",
    "nn.functional.normalize": "(self, p=2.0, dim=1, eps=1e-12) new DivBackward0 saves self dtype=same "
    "shape=same function",
    "nn.functional.one_hot": "(self, num_classes=-1) plain dtype=same function",
    "nn.functional.pad": "(self, pad:, mode='constant', value=None) new composite dtype=same function",
    "nn.functional.pixel_shuffle": "(self, upscale_factor:) new PixelShuffleBackward0 dtype=same function",
    "nn.functional.pixel_unshuffle": "(self, downscale_factor:) new PixelUnshuffleBackward0 dtype=same "
    "function",
    "nn.functional.prelu": "(self, weight) new PreluKernelBackward0 saves self weight varies dtype=same "
    "shape=same",
    "nn.functional.relu": "(self, inplace=False) new ReluBackward0 saves result dtype=same shape=same "
    "function",
    "nn.functional.relu6": "(self, inplace=False) new HardtanhBackward0 saves self dtype=same shape=same "
    "function",
    "nn.functional.rms_norm": "(self, normalized_shape:, weight?, eps=None) new saves self@self weight@self "
    "copy composite dtype=same shape=same function",
    "nn.functional.rrelu": "(self, lower=0.125, upper=0.3333333333333333, training=False, inplace=False) new "
    "RreluWithNoiseBackward0 saves self dtype=same shape=same function",
    "nn.functional.rrelu_": "(self, lower=0.125, upper=0.3333333333333333, training=False) written saves "
    "result varies dtype=same shape=same function",
    "nn.functional.scaled_dot_product_attention": "(query, key, value, attn_mask?, dropout_p=0.0,"
    " is_causal=False, *, scale=None, enable_gqa=False) new saves value@query|key|attn_mask composite"
    " dtype=same function",
    "nn.functional.selu": "(self, inplace=False) new EluBackward0 saves self dtype=same shape=same function",
    "nn.functional.selu_": "(self) written EluBackward1 saves result dtype=same shape=same function",
    "nn.functional.silu": "(self, inplace=False) new SiluBackward0 saves self dtype=same shape=same function",
    "nn.functional.softmin": "(self, dim=None, _stacklevel=3, dtype=None) new SoftmaxBackward0 saves result "
    "dtype=sum shape=same function",
    "nn.functional.softplus": "(self, beta=1, threshold=20) new SoftplusBackward0 saves self dtype=same "
    "shape=same function",
    "nn.functional.softshrink": "(self, lambd=0.5) new SoftshrinkBackward0 saves self dtype=same shape=same "
    "function",
    "nn.functional.softsign": "(self) new DivBackward0 saves self dtype=float shape=same function",
    "nn.functional.tanhshrink": "(self) new SubBackward0 saves copy composite dtype=float shape=same"
    " function",
    "nn.functional.threshold": "(self, threshold:, value:, inplace=False) new ThresholdBackward0 saves self "
    "dtype=same shape=same function",
    "nn.functional.unfold": "(self, kernel_size:, dilation=1, padding=0, stride=1) new Im2ColBackward0 "
    "dtype=same function",
    "nn.functional.upsample": "(self, size=None, scale_factor=None, mode='nearest', align_corners=None) new "
    "composite dtype=same function",
    "nn.functional.upsample_bilinear": "(self, size=None, scale_factor=None) new UpsampleBilinear2DBackward0 "
    "dtype=same function",
    "nn.functional.upsample_nearest": "(self, size=None, scale_factor=None) new dtype=same function",
    "nn.functional.dropout_": "(self, p=0.5, training=True) written MulBackward0 saves copy dtype=same "
    "shape=same function overloads=training@false:positive",
    "nn.functional.dropout1d_": "(self, p=0.5, training=True) written saves copy composite dtype=same "
    "shape=same function overloads=training@false:positive",
    "nn.functional.dropout2d_": "(self, p=0.5, training=True) written saves copy composite dtype=same "
    "shape=same function overloads=training@false:positive",
    "nn.functional.dropout3d_": "(self, p=0.5, training=True) written saves copy composite dtype=same "
    "shape=same function overloads=training@false:positive",
    "dropout": "(self, p:, train:) maybe-same MulBackward0 saves copy same=not-training dtype=same"
    " shape=same "
    "function",
}
