"""DeepRED*: rules by term-wise substitution, merged at the end."""

from clausewise.extractors.rem_d import TermwiseExtractor
from clausewise.extractors.result import ExtractionResult
from clausewise.extractors.term_substitution import TermwiseExtraction


class DeepRED(TermwiseExtractor):
    """DeepRED*: as REM-D, but all rule sets are learnt first and merged at the end.

    Premises over the layer before are learnt for every term of every rule set, down to the inputs, before any
    product is formed. That is more than REM-D learns, which skips the terms that a product drops. The star
    stands for C5.0 (or CART) instead of DeepRED's C4.5.

    Parameters
    ----------
    network, min_cases, …
        As for `REMD`.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import DeepRED
    >>> from clausewise.networks import ArrayNetwork
    >>> network = ArrayNetwork(  # good where max(income - 6, 0) > 4 * max(debt - 4, 0) + 0.5
    ...     [[[1, 0], [0, 1]], [[0, 1], [0, -4]]],
    ...     [[-6, -4], [0, -0.5]],
    ...     classes=["bad", "good"],
    ...     feature_names=["income", "debt"],
    ... )
    >>> X = np.random.default_rng(0).uniform(0, 10, (300, 2))
    >>> model = DeepRED(network, max_rules=None).fit(X)  # all rules, as in the paper
    >>> print(model.rules_[0])
    IF income ≤ 6.5 THEN bad   (confidence 0.99, covers 181)
    >>> model.rules_[0].origin.clause
    'hidden 1[0] ≤ 0.5'
    >>> round(model.fidelity(X), 2)
    1.0
    """

    method = "DeepRED*"

    def _run(self, extraction: TermwiseExtraction) -> ExtractionResult:
        return extraction.merging_at_the_end()
