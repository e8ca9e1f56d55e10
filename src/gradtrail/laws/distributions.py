"""`torch.distributions`: what can draw with a gradient.

Each row is asked of torch by `tests/laws/test_distributions.py`.
"""

from __future__ import annotations

REPARAMETERISED = frozenset(
    (
        "Beta", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet", "Exponential", "FisherSnedecor", "Gamma",
        "GeneralizedPareto", "Gumbel", "HalfCauchy", "HalfNormal", "InverseGamma", "Kumaraswamy", "Laplace",
        "LogNormal", "LogisticNormal", "LowRankMultivariateNormal", "MultivariateNormal", "Normal",
        "OneHotCategoricalStraightThrough", "Pareto", "RelaxedBernoulli", "RelaxedOneHotCategorical", "StudentT",
        "Uniform", "Weibull", "Wishart",
    )
)  # fmt: skip
"""Distributions whose `rsample` gives values with a gradient to the parameters; `sample` of all of them gives none."""

WRAPPING = frozenset(("Independent", "TransformedDistribution"))
"""Distributions that draw as the one they are made of, their first argument, does."""
