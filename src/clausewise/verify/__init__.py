"""What holds for a network on all rows of a region: proofs, and attempts to find a counterexample."""

from clausewise.verify.certificate import Certificate, RuleProof
from clausewise.verify.certification import certify
from clausewise.verify.row_proofs import RowProofs

__all__ = ["Certificate", "RowProofs", "RuleProof", "certify"]
