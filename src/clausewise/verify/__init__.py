"""What holds for a network on all rows of a region: proofs, and attempts to find a counterexample."""

from clausewise.verify.certificate import Certificate, RuleProof
from clausewise.verify.certification import certify
from clausewise.verify.challenge import Attack, Challenge
from clausewise.verify.challenging import challenge
from clausewise.verify.row_proofs import RowProofs

__all__ = ["Attack", "Certificate", "Challenge", "RowProofs", "RuleProof", "certify", "challenge"]
