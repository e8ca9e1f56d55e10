"""Operations that pick or place elements by index or mask."""

from __future__ import annotations

ROWS: dict[str, str] = {
    "__getitem__": "(self, index*) maybe-view varies frees=no dtype=same method "
    "overloads=index@tensor:__getitem__.tensor,index@advanced:__getitem__.tensor,index@number:__getitem__.number,index@basic:__getitem__.basic",
    "argwhere": "(self) plain dtype=int64",
    "as_strided_scatter": "(self, src, size:, stride:, storage_offset=None) new AsStridedScatterBackward0 "
    "dtype=same shape=same",
    "bucketize": "(self, boundaries, *, out_int32=False, right=False) plain shape=same function",
    "diagonal_scatter": "(self, src, offset=0, dim1=0, dim2=1) new DiagonalScatterBackward0 dtype=same "
    "shape=same",
    "gather": "(self, dim:, index, *, sparse_grad=False) new GatherBackward0 saves index self dtype=same "
    "shape=of-second",
    "index_add": "(self, dim:, index, source, *, alpha=1) new IndexAddBackward0 saves index@source "
    "source@source dtype=same shape=same",
    "index_copy": "(self, dim:, index, source) new IndexCopyBackward0 saves index source@source dtype=same "
    "shape=same",
    "index_fill": "(self, dim:, index, value) new IndexFillBackward saves index composite dtype=same "
    "shape=same",
    "index_put": "(self, indices*, values, accumulate=False) new IndexPutBackward0 saves indices dtype=same "
    "shape=broadcast",
    "index_reduce": "(self, dim:, index, source, reduce:, *, include_self=True) new IndexReduceBackward0 "
    "saves index result self source dtype=same shape=same",
    "index_select": "(self, dim:, index) new IndexSelectBackward0 saves index dtype=same",
    "isin": "(elements?, test_elements?, test_element=None, element=None, *, assume_unique=False, "
    "invert=False) plain dtype=bool shape=same function",
    "masked_fill": "(self, mask, value) new MaskedFillBackward saves mask composite dtype=same "
    "shape=broadcast",
    "masked_scatter": "(self, mask, source) new MaskedScatterBackward0 saves mask dtype=same shape=broadcast",
    "masked_select": "(self, mask) new MaskedSelectBackward0 saves mask self dtype=same",
    "narrow": "(self, dim:, start!, length:) view SliceBackward0 dtype=same shape=narrow",
    "nonzero": "(self, *, as_tuple=False) plain dtype=int64 overloads=as_tuple@true:nonzero.tuple",
    "nonzero_static": "(self, *, size:, fill_value=-1) plain dtype=int64",
    "put": "(self, index, source, accumulate=False) new PutBackward0 saves index source@source dtype=same "
    "shape=same",
    "scatter": "(self, dim:, index, src?, *, value=None, reduce=None) new saves index composite dtype=same "
    "shape=same",
    "scatter_add": "(self, dim:, index, src) new ScatterAddBackward0 saves index@src dtype=same shape=same",
    "scatter_reduce": "(self, dim:, index, src, reduce:, *, include_self=True) new ScatterReduceBackward0 "
    "saves index result self src dtype=same shape=same",
    "searchsorted": "(sorted_sequence, self, *, out_int32=False, right=False, side=None, sorter?) plain "
    "shape=of-second function",
    "select": "(self, dim:, index:) view SelectBackward0 dtype=same shape=select",
    "select_scatter": "(self, src, dim:, index:) new SelectScatterBackward0 dtype=same shape=broadcast",
    "slice_scatter": "(self, src, dim=0, start=None, end=None, step=1) new SliceScatterBackward0 dtype=same "
    "shape=same",
    "take": "(self, index) new TakeBackward0 saves index self dtype=same shape=of-second",
    "take_along_dim": "(self, indices, dim=None) new GatherBackward0 saves self varies dtype=same",
    "unravel_index": "(indices, shape:) plain outputs=many dtype=int64 function",
    "where": "(condition, self?, other?) new WhereBackward0 saves condition shape=broadcast",
}
