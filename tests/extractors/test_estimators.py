"""All extractors as scikit-learn's own checks see them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from clausewise import ECLAIRE, REMD, DeepRED, Pedagogical, TreeEnsembleRules

WEIGHTS = (
    "weights change the trained network and C5.0's limits, so that a weight of 2 is not the same as two rows"
)


FOREST = "a forest draws rows, so that a weight of 2 is not the same as two rows"


def expected_to_fail(estimator):
    reason = FOREST if isinstance(estimator, TreeEnsembleRules) else WEIGHTS
    return {"check_sample_weight_equivalence_on_dense_data": reason}


@pytest.mark.filterwarnings("ignore::clausewise.ExtractionWarning")
@parametrize_with_checks(
    [
        ECLAIRE(synthetic=0),  # without generated rows, which only take longer
        REMD(max_rules=None),
        DeepRED(max_rules=None),
        Pedagogical(max_rules=None),
        TreeEnsembleRules(max_rules=None),
    ],
    expected_failed_checks=expected_to_fail,
)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)
