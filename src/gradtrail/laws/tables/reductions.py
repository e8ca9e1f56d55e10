"""Operations that take many elements to few, sorting and running totals among them."""

from __future__ import annotations

ROWS: dict[str, str] = {
    "all": "(self, dim=None, keepdim=False) plain dtype=bool shape=reduce",
    "amax": "(self, dim=(), keepdim=False) new AmaxBackward0 saves result self dtype=same shape=reduce",
    "amin": "(self, dim=(), keepdim=False) new AminBackward0 saves result self dtype=same shape=reduce",
    "aminmax": "(self, *, dim=None, keepdim=False) new AminmaxBackward0 saves result0 result1 self "
    "outputs=min,max dtype=same shape=reduce",
    "any": "(self, dim=None, keepdim=False) plain dtype=bool shape=reduce",
    "argmax": "(self, dim=None, keepdim=False) plain dtype=int64 shape=reduce",
    "argmin": "(self, dim=None, keepdim=False) plain dtype=int64 shape=reduce",
    "argsort": "(self, dim=-1, descending=False, *, stable=False) plain dtype=int64 shape=same",
    "bincount": "(self, weights?, minlength=0) plain",
    "count_nonzero": "(self, dim=None) plain dtype=int64 shape=reduce",
    "cummax": "(self, dim:) new CummaxBackward0 saves result1 self outputs=values,indices! dtype=same "
    "shape=same",
    "cummin": "(self, dim:) new CumminBackward0 saves result1 self outputs=values,indices! dtype=same "
    "shape=same",
    "cumprod": "(self, dim:, *, dtype=None) new CumprodBackward0 saves result self dtype=sum shape=same",
    "cumsum": "(self, dim:, *, dtype=None) new CumsumBackward0 dtype=sum shape=same",
    "cumulative_trapezoid": "(y, x?, *, dx=1, dim=-1) new composite function",
    "diff": "(self, n=1, dim=-1, prepend?, append?) new SubBackward0 dtype=same",
    "dist": "(self, other, p=2) new DistBackward0 saves other result self shape=scalar",
    "histc": "(self, bins=100, min=0, max=0) plain dtype=same",
    "histogram": "(self, bins, *, weight?, density=False, range=None) new NotImplemented "
    "outputs=hist,bin_edges dtype=same",
    "kthvalue": "(self, k:, dim=-1, keepdim=False) new KthvalueBackward0 saves result1 "
    "outputs=values,indices! dtype=same",
    "logcumsumexp": "(self, dim:) new LogcumsumexpBackward0 saves result self dtype=same shape=same",
    "logsumexp": "(self, dim:, keepdim=False) new LogsumexpBackward0 saves result self dtype=float "
    "shape=reduce",
    "masked.amax": "(self, dim=None, *, keepdim=False, dtype=None, mask?) new AmaxBackward0 saves result"
    " composite dtype=same function",
    "masked.amin": "(self, dim=None, *, keepdim=False, dtype=None, mask?) new AminBackward0 saves result"
    " composite dtype=same function",
    "masked.argmax": "(self, dim=None, *, keepdim=False, dtype=None, mask?) plain dtype=same function",
    "masked.argmin": "(self, dim=None, *, keepdim=False, dtype=None, mask?) plain dtype=same function",
    "masked.cumprod": "(self, dim:, *, dtype=None, mask?) new saves result composite dtype=arg:dtype function",
    "masked.cumsum": "(self, dim:, *, dtype=None, mask?) new saves copy composite dtype=arg:dtype function",
    "masked.log_softmax": "(self, dim:, *, dtype=None, mask?) new LogSoftmaxBackward0 saves result "
    "dtype=same shape=broadcast function",
    "masked.logaddexp": "(self, other, *, dtype=None, input_mask?, other_mask?) new saves copy composite "
    "dtype=promote function",
    "masked.logsumexp": "(self, dim=None, *, keepdim=False, dtype=None, mask?) new saves result composite"
    " shape=reduce function",
    "masked.mean": "(self, dim=None, *, keepdim=False, dtype=None, mask?) new saves copy composite "
    "shape=reduce function",
    "masked.median": "(self, dim=-1, *, keepdim=False, dtype=None, mask?) new saves copy composite "
    "dtype=same function",
    "masked.norm": "(self, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask?) new"
    " LinalgVectorNormBackward0 saves result composite dtype=? function",
    "masked.normalize": "(self, ord:, dim:, *, eps=1e-12, dtype=None, mask?) new DivBackward0 saves self "
    "dtype=same shape=broadcast function",
    "masked.softmax": "(self, dim:, *, dtype=None, mask?) new SoftmaxBackward0 saves result dtype=arg:dtype "
    "shape=broadcast function",
    "masked.softmin": "(self, dim:, *, dtype=None, mask?) new SoftmaxBackward0 saves result dtype=arg:dtype "
    "shape=broadcast function",
    "masked.prod": "(self, dim=None, *, keepdim=False, dtype=None, mask?) maybe-same saves copy composite"
    " same=always dtype=sum function",
    "masked.std": "(self, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask?) new "
    "saves result composite shape=reduce function",
    "masked.sum": "(self, dim=None, *, keepdim=False, dtype=None, mask?) new composite dtype=sum "
    "shape=reduce function",
    "masked.var": "(self, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask?) new "
    "saves copy composite shape=reduce function",
    "max": "(self, dim=None, keepdim=False, other?) new MaxBackward1 saves result self dtype=same "
    "shape=scalar overloads=other:maximum,dim@tensor:maximum,dim:max.dim",
    "max.dim": "(self, dim:, keepdim=False) new MaxBackward0 saves result1 outputs=values,indices! "
    "dtype=same shape=reduce",
    "mean": "(self, dim=None, keepdim=False, *, dtype=None) new MeanBackward dtype=arg:dtype shape=reduce",
    "median": "(self, dim=None, keepdim=False) new MedianBackward0 saves result self dtype=same shape=scalar "
    "overloads=dim:median.dim",
    "median.dim": "(self, dim:, keepdim=False) new MedianBackward1 saves result1 outputs=values,indices! "
    "dtype=same shape=reduce",
    "min": "(self, dim=None, keepdim=False, other?) new MinBackward1 saves result self dtype=same "
    "shape=scalar overloads=other:minimum,dim@tensor:minimum,dim:min.dim",
    "min.dim": "(self, dim:, keepdim=False) new MinBackward0 saves result1 outputs=values,indices! "
    "dtype=same shape=reduce",
    "mode": "(self, dim=-1, keepdim=False) new ModeBackward0 saves result1 outputs=values,indices!"
    " dtype=same",
    "msort": "(self) new SortBackward0 saves copy composite dtype=same shape=same",
    "nanmean": "(self, dim=None, keepdim=False, *, dtype=None) new DivBackward0 saves self dtype=arg:dtype "
    "shape=reduce",
    "nanmedian": "(self, dim=None, keepdim=False) new NanmedianBackward0 saves result self dtype=same "
    "shape=scalar overloads=dim:nanmedian.dim",
    "nanmedian.dim": "(self, dim:, keepdim=False) new NanmedianBackward1 saves result1 "
    "outputs=values,indices! dtype=same shape=reduce",
    "nanquantile": "(self, q, dim=None, keepdim=False, *, interpolation='linear') new SqueezeBackward4"
    " saves copy composite dtype=same",
    "nansum": "(self, dim=None, keepdim=False, *, dtype=None) new NansumBackward0 saves self dtype=sum "
    "shape=reduce",
    "norm": "(self, p='fro', dim=None, keepdim=False, dtype=None) new saves copy composite dtype=real "
    "shape=reduce",
    "prod": "(self, dim=None, keepdim=False, *, dtype=None) new ProdBackward saves result self dtype=sum "
    "shape=reduce",
    "quantile": "(self, q, dim=None, keepdim=False, *, interpolation='linear') new SqueezeBackward4 saves"
    " copy composite dtype=same",
    "sort": "(self, dim=-1, descending=False, *, stable=False) new SortBackward saves result1 "
    "outputs=values,indices! dtype=same shape=same",
    "std": "(self, dim=None, unbiased=True, keepdim=False, *, correction=None) new StdBackward0 saves result "
    "self dtype=real shape=reduce",
    "std_mean": "(self, dim=None, unbiased=True, keepdim=False, *, correction=None) new StdMeanBackward0 "
    "saves result0 self outputs=output0,output1 dtype=real shape=reduce function",
    "sum": "(self, dim=None, keepdim=False, *, dtype=None) new SumBackward dtype=sum shape=reduce",
    "topk": "(self, k:, dim=-1, largest=True, sorted=True) new TopkBackward0 saves result1 "
    "outputs=values,indices! dtype=same",
    "trapezoid": "(y, x?, *, dx=1, dim=-1) new composite function",
    "trapz": "(y, x?, *, dx=1, dim=-1) new composite function",
    "unique": "(self, sorted=True, return_inverse=False, return_counts=False, dim=None) new "
    "gradient=unimplemented dtype=same "
    "overloads=return_inverse@true:unique.several,return_counts@true:unique.several",
    "unique_consecutive": "(self, return_inverse=False, return_counts=False, dim=None) new "
    "UniqueConsecutiveBackward0 gradient=unimplemented dtype=same "
    "overloads=return_inverse@true:unique_consecutive.several,return_counts@true:unique_consecutive.several",
    "var": "(self, dim=None, unbiased=True, keepdim=False, *, correction=None) new VarBackward0 saves self "
    "dtype=real shape=reduce",
    "var_mean": "(self, dim=None, unbiased=True, keepdim=False, *, correction=None) new VarMeanBackward0 "
    "saves self outputs=output0,output1 dtype=real shape=reduce function",
}
