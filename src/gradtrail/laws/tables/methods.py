"""What Tensor has besides arithmetic: moves and casts, history and flags, storage, conversion to Python."""

from __future__ import annotations

ROWS: dict[str, str] = {
    # moves and casts
    "to": "(self, device=None, dtype=None, non_blocking=False, copy=False, *, memory_format=None)"
    " maybe-same ToCopyBackward0 same=same-device-and-dtype shape=same method"
    " overloads=device@tensor:to.other,"
    "other:to.other",
    "to.other": "(self, other!, non_blocking=False, copy=False, *, memory_format=None)"
    " maybe-same ToCopyBackward0 same=same-device-and-dtype dtype=of-second shape=same method",
    "cpu": "(self, memory_format=None) maybe-same ToCopyBackward0 same=on-cpu dtype=same shape=same method",
    "cuda": "(self, device=None, non_blocking=False, memory_format=None)"
    " maybe-same ToCopyBackward0 same=on-cuda dtype=same shape=same method",
    "type": "(self, dtype=None, non_blocking=False) python method overloads=dtype:type.cast",
    "type.cast": "(self, dtype:, non_blocking=False) maybe-same ToCopyBackward0 same=same-dtype"
    " dtype=arg:dtype"
    " shape=same method",
    "type_as": "(self, other!) maybe-same ToCopyBackward0 same=same-device-and-dtype dtype=of-second"
    " shape=same method",
    "float": "(self, memory_format=None) maybe-same ToCopyBackward0 same=same-dtype dtype=float32"
    " shape=same method",
    "double": "(self, memory_format=None) maybe-same ToCopyBackward0 same=same-dtype dtype=float64"
    " shape=same method",
    "half": "(self, memory_format=None) maybe-same ToCopyBackward0 same=same-dtype dtype=float16 shape=same"
    " method",
    "bfloat16": "(self, memory_format=None) maybe-same ToCopyBackward0 same=same-dtype dtype=bfloat16"
    " shape=same"
    " method",
    "cfloat": "(self, memory_format=None) maybe-same ToCopyBackward0 same=same-dtype dtype=complex64"
    " shape=same"
    " method",
    "cdouble": "(self, memory_format=None) maybe-same ToCopyBackward0 same=same-dtype dtype=complex128"
    " shape=same"
    " method",
    "chalf": "(self, memory_format=None) maybe-same ToCopyBackward0 same=same-dtype dtype=complex32"
    " shape=same"
    " method",
    "long": "(self, memory_format=None) maybe-same same=same-dtype gradient=no dtype=int64 shape=same method",
    "int": "(self, memory_format=None) maybe-same same=same-dtype gradient=no dtype=int32 shape=same method",
    "short": "(self, memory_format=None) maybe-same same=same-dtype gradient=no dtype=int16 shape=same"
    " method",
    "char": "(self, memory_format=None) maybe-same same=same-dtype gradient=no dtype=int8 shape=same method",
    "byte": "(self, memory_format=None) maybe-same same=same-dtype gradient=no dtype=uint8 shape=same method",
    "bool": "(self, memory_format=None) maybe-same same=same-dtype gradient=no dtype=bool shape=same method",
    "contiguous": "(self, memory_format=None) maybe-same CloneBackward0 same=contiguous dtype=same"
    " shape=same method",
    "clone": "(self, *, memory_format=None) new CloneBackward0 dtype=same shape=same",
    "pin_memory": "(self, device=None) maybe-same same=pinned dtype=same shape=same method",
    # history and flags
    "detach": "(self) detached dtype=same shape=same",
    "detach_": "(self) cut dtype=same shape=same",
    "data": "(self) detached dtype=same shape=same attribute",
    "requires_grad_": "(self, requires_grad=True) same dtype=same shape=same method",
    "retain_grad": "(self) none method",
    "backward": "(self, gradient?, retain_graph=None, create_graph=False, inputs=None) none method",
    "register_hook": "(self, hook:) python method",
    "register_post_accumulate_grad_hook": "(self, hook:) python method",
    "reinforce": "(self, reward:) python method",
    "requires_grad": "(self) python attribute",
    "is_leaf": "(self) python attribute",
    "grad_fn": "(self) python attribute",
    "grad_dtype": "(self) python attribute",
    "retains_grad": "(self) python attribute",
    "output_nr": "(self) python attribute",
    # to Python and numpy
    "item": "(self) python method",
    "tolist": "(self) python method",
    "numpy": "(self, *, force=False) python method",
    "__array__": "(self, dtype=None) python method",
    "__float__": "(self) python method",
    "__int__": "(self) python method",
    "__bool__": "(self) python method",
    "__index__": "(self) python method",
    "__complex__": "(self) python method",
    "__len__": "(self) python method",
    "__repr__": "(self) python method",
    "__format__": "(self, format_spec:) python method",
    "__hash__": "(self) python method",
    "__contains__": "(self, element) python method",
    "is_nonzero": "(self) python",
    "equal": "(self, other) python",
    "allclose": "(self, other, rtol=1e-05, atol=1e-08, equal_nan=False) python",
    # sizes, kinds, storage
    "size": "(self, dim=None) python method",
    "shape": "(self) python attribute",
    "dim": "(self) python method",
    "ndim": "(self) python attribute",
    "ndimension": "(self) python method",
    "numel": "(self) python",
    "nelement": "(self) python method",
    "stride": "(self, dim=None) python method",
    "storage_offset": "(self) python method",
    "element_size": "(self) python method",
    "itemsize": "(self) python attribute",
    "nbytes": "(self) python attribute",
    "dim_order": "(self, ambiguity_check=False) python method",
    "dtype": "(self) python attribute",
    "device": "(self) python attribute",
    "layout": "(self) python attribute",
    "name": "(self) python attribute",
    "get_device": "(self) python",
    "data_ptr": "(self) python method",
    "const_data_ptr": "(self) python method",
    "storage": "(self) python method",
    "untyped_storage": "(self) python method",
    "storage_type": "(self) python method",
    "is_contiguous": "(self, memory_format=None) python method",
    "is_complex": "(self) python",
    "is_floating_point": "(self) python",
    "is_signed": "(self) python",
    "is_conj": "(self) python",
    "is_neg": "(self) python",
    "is_inference": "(self) python",
    "is_distributed": "(self) python",
    "is_pinned": "(self, device=None) python method",
    "is_shared": "(self) python method",
    "is_same_size": "(self, other) python",
    "is_set_to": "(self, tensor) python method",
    "is_coalesced": "(self) python method",
    "is_cpu": "(self) python attribute",
    "is_cuda": "(self) python attribute",
    "is_ipu": "(self) python attribute",
    "is_maia": "(self) python attribute",
    "is_meta": "(self) python attribute",
    "is_mkldnn": "(self) python attribute",
    "is_mps": "(self) python attribute",
    "is_mtia": "(self) python attribute",
    "is_nested": "(self) python attribute",
    "is_quantized": "(self) python attribute",
    "is_sparse": "(self) python attribute",
    "is_sparse_csr": "(self) python attribute",
    "is_vulkan": "(self) python attribute",
    "is_xla": "(self) python attribute",
    "is_xpu": "(self) python attribute",
    "sparse_dim": "(self) python method",
    "dense_dim": "(self) python method",
    "share_memory_": "(self) same dtype=same shape=same method",
    # fresh tensors like this one
    "new_tensor": "(self, data:, *, dtype=None, device=None, requires_grad=False) plain dtype=? method",
    "new_zeros": "(self, size..., *, dtype=None, device=None, requires_grad=False)"
    " plain dtype=arg:dtype shape=sizes method",
    "new_ones": "(self, size..., *, dtype=None, device=None, requires_grad=False)"
    " plain dtype=arg:dtype shape=sizes method",
    "new_empty": "(self, size..., *, dtype=None, device=None, requires_grad=False)"
    " plain dtype=arg:dtype shape=sizes method",
    "new_full": "(self, size:, fill_value:, *, dtype=None, device=None, requires_grad=False)"
    " plain dtype=arg:dtype shape=sizes method",
    "new_empty_strided": "(self, size:, stride:, *, dtype=None, device=None, requires_grad=False)"
    " plain dtype=arg:dtype shape=sizes method",
    # written in place
    "__setitem__": "(self, index, value) none writes=self method",
    "copy_": "(self, other, non_blocking=False) written CopyBackwards dtype=same shape=same method",
    "zero_": "(self) written ZeroBackward0 gradient=zero dtype=same shape=same",
    "fill_": "(self, value) written FillBackward dtype=same shape=same",
    "fill_diagonal_": "(self, fill_value:, wrap=False) written CopySlices saves copy dtype=same shape=same"
    " method",
    "normal_": "(self, mean=0, std=1, *, generator=None) written NormalBackward0 gradient=zero dtype=same"
    " shape=same"
    " method",
    "uniform_": "(self, from=0, to=1, *, generator=None) written UniformBackward0 gradient=zero dtype=same"
    " shape=same method",
    "random_": "(self, from=None, to=None, *, generator=None) written RandomBackward gradient=zero dtype=same"
    " shape=same method",
    "bernoulli_": "(self, p=0.5, *, generator=None) written BernoulliBackward gradient=zero dtype=same"
    " shape=same"
    " method",
    "exponential_": "(self, lambd=1, *, generator=None) written ExponentialBackward0 gradient=zero dtype=same"
    " shape=same method",
    "cauchy_": "(self, median=0, sigma=1, *, generator=None) written CauchyBackward0 gradient=zero dtype=same"
    " shape=same method",
    "log_normal_": "(self, mean=1, std=2, *, generator=None) written LogNormalBackward0 gradient=zero"
    " dtype=same"
    " shape=same method",
    "geometric_": "(self, p:, *, generator=None) written GeometricBackward0 gradient=zero dtype=same"
    " shape=same"
    " method",
    "pow_": "(self, exponent) written PowBackward1 saves copy exponent result dtype=same shape=same method"
    " overloads=exponent@number:pow_.number",
    "pow_.number": "(self, exponent:) written PowBackward0 saves copy dtype=same shape=same method",
    "acosh_": "(self) written AcoshBackward1 gradient=unimplemented dtype=same shape=same",
    "asinh_": "(self) written AsinhBackward1 gradient=unimplemented dtype=same shape=same",
    "atanh_": "(self) written AtanhBackward1 gradient=unimplemented dtype=same shape=same",
    "eq_": "(self, other) written EqBackward gradient=zero dtype=same shape=same method",
    "ne_": "(self, other) written NeBackward gradient=zero dtype=same shape=same method",
    "lt_": "(self, other) written LtBackward gradient=zero dtype=same shape=same method",
    "le_": "(self, other) written LeBackward gradient=zero dtype=same shape=same method",
    "gt_": "(self, other) written GtBackward gradient=zero dtype=same shape=same method",
    "ge_": "(self, other) written GeBackward gradient=zero dtype=same shape=same method",
    "polygamma_": "(self, n:) written PolygammaBackward1 saves copy dtype=same shape=same method",
    # seldom seen
    "volatile": "(self) python attribute",
    "as_subclass": "(self, cls:) view AliasBackward0 dtype=same shape=same method",
    "conj_physical_": "(self) written ConjPhysicalBackward1 dtype=same shape=same",
    "apply_": "(self, callable:) same dtype=same shape=same method",
    "map_": "(self, tensor, callable:) same dtype=same shape=same method",
    "map2_": "(self, x, y, callable:) same dtype=same shape=same method",
    "set_": "(self, source?) written NotImplemented dtype=same method",
    "new": "(self, data...) plain method",
    "to_dense": "(self, dtype=None, *, masked_grad=None) maybe-same same=strided shape=same method",
    "to_sparse_csr": "(self, dense_dim=None) new ToSparseCsrBackward0 dtype=same shape=same method",
    "to_sparse_csc": "(self, dense_dim=None) new ToSparseCscBackward0 dtype=same shape=same method",
    "to_sparse_bsr": "(self, blocksize:, dense_dim=None) new ToSparseBsrBackward0 dtype=same shape=same"
    " method",
    "to_sparse_bsc": "(self, blocksize:, dense_dim=None) new ToSparseBscBackward0 dtype=same shape=same"
    " method",
    "to_sparse_coo": "(self) new ToSparseBackward1 dtype=same shape=same method",
}
