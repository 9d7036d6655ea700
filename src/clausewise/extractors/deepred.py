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
    """

    method = "DeepRED*"

    def _run(self, extraction: TermwiseExtraction) -> ExtractionResult:
        return extraction.merging_at_the_end()
