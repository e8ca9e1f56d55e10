"""Matrix products, decompositions, Fourier transforms."""

from __future__ import annotations

ROWS: dict[str, str] = {
    "__rmatmul__": "(self, other) new saves other@self composite dtype=same method",
    "addbmm": "(self, batch1, batch2, *, beta=1, alpha=1) new AddbmmBackward0 saves batch1@batch2 "
    "batch2@batch1 dtype=same",
    "addmm": "(self, mat1, mat2, *, beta=1, alpha=1) new AddmmBackward0 saves mat1@mat2 mat2@mat1 dtype=same",
    "addmv": "(self, mat, vec, *, beta=1, alpha=1) new AddmvBackward0 saves mat@vec vec@mat dtype=same",
    "addr": "(self, vec1, vec2, *, beta=1, alpha=1) new AddrBackward0 saves vec1@vec2 vec2@vec1 "
    "dtype=promote shape=broadcast",
    "baddbmm": "(self, batch1, batch2, *, beta=1, alpha=1) new BaddbmmBackward0 saves batch1@batch2 "
    "batch2@batch1 dtype=same",
    "bmm": "(self, mat2) new BmmBackward0 saves mat2@self self@mat2 dtype=same shape=broadcast",
    "cdist": "(x1, x2, p=2.0, compute_mode='use_mm_for_euclid_dist_if_necessary') new saves result x1 x2 "
    "composite dtype=same function",
    "cholesky": "(self, upper=False) new CholeskyBackward0 saves result dtype=same shape=same",
    "cholesky_inverse": "(self, upper=False) new CholeskyInverseBackward0 saves result self dtype=same "
    "shape=same",
    "cholesky_solve": "(self, input2, upper=False) new CholeskySolveBackward0 saves input2 result self "
    "dtype=same",
    "corrcoef": "(self) new saves copy composite dtype=float",
    "cov": "(self, *, correction=1, fweights?, aweights?) new saves self@aweights fweights@aweights|self"
    " aweights@self|aweights copy composite",
    "cross": "(self, other, dim=None) new LinalgCrossBackward0 saves other@self self@other dtype=same "
    "shape=broadcast",
    "dot": "(self, tensor) new DotBackward0 saves self@tensor tensor@self dtype=same shape=scalar",
    "einsum": "(equation:, operands...*) maybe-view composite dtype=same function",
    "fft.fft": "(self, n=None, dim=-1, norm=None) new composite frees=no dtype=complex function",
    "fft.fft2": "(self, s=None, dim=None, norm=None) new FftC2CBackward0 dtype=complex function",
    "fft.fftn": "(self, s=None, dim=None, norm=None) new FftC2CBackward0 dtype=complex function",
    "fft.fftshift": "(self, dim=None) new RollBackward0 dtype=same shape=same function",
    "fft.hfft": "(self, n=None, dim=-1, norm=None) new FftC2RBackward0 function",
    "fft.hfft2": "(self, s=None, dim=None, norm=None) new FftC2RBackward0 function",
    "fft.hfftn": "(self, s=None, dim=None, norm=None) new FftC2RBackward0 function",
    "fft.ifft": "(self, n=None, dim=-1, norm=None) new composite frees=no dtype=complex function",
    "fft.ifft2": "(self, s=None, dim=None, norm=None) new FftC2CBackward0 dtype=complex function",
    "fft.ifftn": "(self, s=None, dim=None, norm=None) new FftC2CBackward0 dtype=complex function",
    "fft.ifftshift": "(self, dim=None) new RollBackward0 dtype=same shape=same function",
    "fft.ihfft": "(self, n=None, dim=-1, norm=None) new ConjBackward0 saves copy composite dtype=complex "
    "function",
    "fft.ihfft2": "(self, s=None, dim=None, norm=None) new saves copy composite dtype=complex function",
    "fft.ihfftn": "(self, s=None, dim=None, norm=None) new saves copy composite dtype=complex function",
    "fft.irfft": "(self, n=None, dim=-1, norm=None) new FftC2RBackward0 function",
    "fft.irfft2": "(self, s=None, dim=None, norm=None) new FftC2RBackward0 function",
    "fft.irfftn": "(self, s=None, dim=None, norm=None) new FftC2RBackward0 function",
    "fft.rfft": "(self, n=None, dim=-1, norm=None) new FftR2CBackward0 saves copy composite dtype=complex "
    "function",
    "fft.rfft2": "(self, s=None, dim=None, norm=None) new FftR2CBackward0 saves copy composite dtype=complex "
    "function",
    "fft.rfftn": "(self, s=None, dim=None, norm=None) new FftR2CBackward0 saves copy composite dtype=complex "
    "function",
    "geqrf": "(self) new GeqrfBackward0 outputs=a,tau gradient=unimplemented dtype=same shape=same",
    "inner": "(self, other) new saves other@self self@other dtype=promote shape=matmul",
    "istft": "(self, n_fft:, hop_length=None, win_length=None, window?, center=True, normalized=False, "
    "onesided=None, length=None, return_complex=False) new saves copy composite",
    "kron": "(self, other) new UnsafeViewBackward0 saves copy composite dtype=promote",
    "linalg.cholesky": "(self, *, upper=False) new LinalgCholeskyExBackward0 saves result dtype=same "
    "shape=same function",
    "linalg.cholesky_ex": "(self, *, upper=False, check_errors=False) new LinalgCholeskyExBackward0 saves "
    "result0 outputs=L,info! dtype=same shape=same function",
    "linalg.cond": "(self, p=None) new SqueezeBackward1 saves copy composite dtype=real function",
    "linalg.cross": "(self, other, *, dim=-1) new LinalgCrossBackward0 saves other@self self@other "
    "dtype=same shape=broadcast function",
    "linalg.det": "(A) new LinalgDetBackward0 saves A result dtype=same function",
    "linalg.diagonal": "(A, *, offset=0, dim1=-2, dim2=-1) view DiagonalBackward0 dtype=same function",
    "linalg.eig": "(self) new LinalgEigBackward0 outputs=eigenvalues,eigenvectors dtype=complex function",
    "linalg.eigh": "(self, UPLO='L') new LinalgEighBackward0 saves result0 result1 "
    "outputs=eigenvalues,eigenvectors dtype=real function",
    "linalg.eigvals": "(self) new LinalgEigBackward0 saves result dtype=complex function",
    "linalg.eigvalsh": "(self, UPLO='L') new LinalgEighBackward0 saves result dtype=real function",
    "linalg.householder_product": "(self, tau) new LinalgHouseholderProductBackward0 saves result self tau "
    "dtype=same shape=same function",
    "linalg.inv": "(A) new LinalgInvExBackward0 saves result dtype=same shape=same function",
    "linalg.inv_ex": "(A, *, check_errors=False) new LinalgInvExBackward0 saves result0 "
    "outputs=inverse,info! dtype=same shape=same function",
    "linalg.ldl_factor": "(self, *, hermitian=False) new NotImplemented outputs=LD,pivots! dtype=same "
    "shape=same function",
    "linalg.ldl_factor_ex": "(self, *, hermitian=False, check_errors=False) new NotImplemented "
    "outputs=LD,pivots!,info! dtype=same shape=same function",
    "linalg.ldl_solve": "(LD, pivots, B, *, hermitian=False) new NotImplemented dtype=same shape=broadcast "
    "function",
    "linalg.lstsq": "(A, b, rcond=None, *, driver=None) new LinalgLstsqBackward0 saves A b result0 varies "
    "outputs=solution,residuals,rank!,singular_values! dtype=same function",
    "linalg.lu": "(A, *, pivot=True) new saves result0 result1 result2 outputs=P!,L,U dtype=same function",
    "linalg.lu_factor": "(A, *, pivot=True) new LinalgLuFactorExBackward0 saves result0 result1 "
    "outputs=LU,pivots! dtype=same shape=same function",
    "linalg.lu_factor_ex": "(A, *, pivot=True, check_errors=False) new LinalgLuFactorExBackward0 saves "
    "result0 result1 outputs=LU,pivots!,info! dtype=same shape=same function",
    "linalg.lu_solve": "(LU, pivots, B, *, left=True, adjoint=False) new LinalgLuSolveBackward0 saves LU "
    "pivots result dtype=same function",
    "linalg.matrix_norm": "(self, ord='fro', dim=None, keepdim=False, *, dtype=None) new saves result"
    " composite dtype=real shape=reduce function",
    "linalg.matrix_power": "(self, n:) new composite dtype=same shape=same function",
    "linalg.matrix_rank": "(self?, tol?, hermitian=False, input?, *, atol?, rtol?) plain dtype=int64"
    " function",
    "linalg.multi_dot": "(tensors*) new ViewBackward0 saves tensors dtype=same function",
    "linalg.norm": "(self, ord=None, dim=None, keepdim=False, *, dtype=None) new saves copy composite "
    "dtype=real shape=reduce function",
    "linalg.pinv": "(self, rcond?, hermitian=False, *, atol?, rtol?) new LinalgPinvBackward0 saves result "
    "self dtype=same shape=broadcast function",
    "linalg.qr": "(A, mode='reduced') new LinalgQrBackward0 saves result0 result1 outputs=Q,R dtype=same "
    "function",
    "linalg.slogdet": "(A) new LinalgSlogdetBackward0 saves A result0 outputs=sign,logabsdet dtype=same "
    "function",
    "linalg.solve": "(A, B, *, left=True) new LinalgSolveExBackward0 saves A result dtype=same "
    "shape=of-second function",
    "linalg.solve_ex": "(A, B, *, left=True, check_errors=False) new LinalgSolveExBackward0 saves A result0 "
    "outputs=result,info! dtype=same shape=of-second function",
    "linalg.solve_triangular": "(self, B, *, upper:, left=True, unitriangular=False) new "
    "LinalgSolveTriangularBackward0 saves result self dtype=same shape=of-second function",
    "linalg.svd": "(A, full_matrices=True, *, driver=None) new LinalgSvdBackward0 outputs=U,S,Vh saves "
    "result0 result1 result2 dtype=same function",
    "linalg.svdvals": "(A, *, driver=None) new LinalgSvdBackward0 saves result dtype=real function",
    "linalg.tensorinv": "(self, ind=2) new ReshapeAliasBackward0 saves result dtype=same function",
    "linalg.tensorsolve": "(self, other, dims=None) new ViewBackward0 saves result composite dtype=same "
    "function",
    "linalg.vander": "(x, *, N=None) new CatBackward0 saves x dtype=sum function",
    "linalg.vecdot": "(x, y, *, dim=-1) new saves x@y y@x composite dtype=promote function",
    "linalg.vector_norm": "(self, ord=2, dim=None, keepdim=False, *, dtype=None) new "
    "LinalgVectorNormBackward0 saves result self dtype=real shape=reduce function",
    "logdet": "(self) new saves self composite dtype=same",
    "lu": "(self, pivot=True, get_infos=False) new LinalgLuFactorExBackward0 saves result0 result1"
    " outputs=LU,pivots! dtype=same shape=same overloads=get_infos@true:lu.infos",
    "lu_solve": "(self, LU_data, LU_pivots) new LinalgLuSolveBackward0 saves LU_data LU_pivots result "
    "dtype=same shape=same",
    "lu_unpack": "(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True) new outputs=P!,L,U dtype=same "
    "function",
    "matmul": "(self, other) new saves self@other varies dtype=same shape=matmul "
    "overloads=other@matrix:matmul.folded,self@batch:matmul.folded",
    "matrix_exp": "(self) new LinalgMatrixExpBackward0 saves self dtype=same shape=same",
    "mm": "(self, mat2) new MmBackward0 saves mat2@self self@mat2 dtype=same shape=matmul",
    "mv": "(self, vec) new MvBackward0 saves self@vec vec@self dtype=same",
    "ormqr": "(self, input2, input3, left=True, transpose=False) new OrmqrBackward0 saves input2 input3 "
    "result self dtype=same shape=broadcast",
    "outer": "(self, vec2) new MulBackward0 saves self@vec2 vec2@self dtype=promote",
    "pca_lowrank": "(A, q=None, center=True, niter=2) new outputs=U,S,V saves result1 result2 composite "
    "dtype=same function",
    "pinverse": "(self, rcond=1e-15) new LinalgPinvBackward0 saves result self dtype=same shape=same",
    "qr": "(self, some=True) new LinalgQrBackward0 saves result0 result1 outputs=Q,R dtype=same",
    "renorm": "(self, p:, dim:, maxnorm:) new RenormBackward0 saves self dtype=same shape=same",
    "stft": "(self, n_fft:, hop_length=None, win_length=None, window?, center=True, pad_mode='reflect', "
    "normalized=False, onesided=None, return_complex=None) new saves window@self composite frees=no",
    "svd": "(self, some=True, compute_uv=True) new LinalgSvdBackward0 outputs=U,S,V saves result0 result1 "
    "result2 composite dtype=same",
    "svd_lowrank": "(A, q=6, niter=2, M?) new outputs=U,S,V saves A result1 result2 composite dtype=same "
    "function",
    "tensordot": "(a, b, dims=2) new ViewBackward0 saves a@b composite dtype=same function",
    "trace": "(self) new TraceBackward0 dtype=sum shape=scalar",
    "triangular_solve": "(self, A, upper=True, transpose=False, unitriangular=False) new "
    "TriangularSolveBackward0 saves A result0 self outputs=solution,cloned_coefficient dtype=same shape=same",
    "vdot": "(self, other) new VdotBackward0 saves other@self self@other dtype=same shape=scalar",
}
