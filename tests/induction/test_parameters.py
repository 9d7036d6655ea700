import pytest

from clausewise import C50Classifier, CARTClassifier
from clausewise.base.parameters import ParameterError
from clausewise.induction import C50Inducer, CARTInducer, RandomForestInducer
from tests.parameters import HOSTILE, check_constraints, check_estimator_constraints, parameter_names


@pytest.mark.parametrize("estimator_class", [C50Classifier, CARTClassifier])
def test_fit_checks_every_parameter_before_any_work(estimator_class):
    check_estimator_constraints(estimator_class)


@pytest.mark.parametrize("inducer_class", [C50Inducer, CARTInducer, RandomForestInducer])
def test_inducers_check_every_parameter_at_construction(inducer_class):
    check_constraints(inducer_class._parameter_constraints, inducer_class)
    for name in parameter_names(inducer_class):
        with pytest.raises(ParameterError, match=rf"^{name} is <object object at .*>; expected .*\.$"):
            inducer_class(**{name: HOSTILE[0]})
