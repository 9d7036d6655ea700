"""Plots of rule sets, in the style of scikit-learn's displays.

`VotesDisplay.from_rules(rules, X)` computes and draws; the display keeps the result in `ax_` and `figure_`,
and `plot(ax)` draws it again on other axes. matplotlib is imported only when something is drawn; install it
with `pip install clausewise[plots]`.

Classes differ both in colour (the colour-blind safe palette of Okabe and Ito) and in hatching, so that plots
can be read in greyscale.
"""

from clausewise.plots.agreement import AgreementDisplay
from clausewise.plots.class_agreement import ClassAgreementDisplay
from clausewise.plots.coverage import CoverageDisplay
from clausewise.plots.failure_map import FailureMapDisplay
from clausewise.plots.feature_use import FeatureUseDisplay
from clausewise.plots.frontier import FrontierDisplay
from clausewise.plots.nearness import NearnessDisplay
from clausewise.plots.parity import ParityDisplay
from clausewise.plots.rule_lengths import RuleLengthDisplay
from clausewise.plots.rule_matrix import RuleMatrixDisplay
from clausewise.plots.sums import SumDisplay
from clausewise.plots.votes import VotesDisplay
from clausewise.plots.waterfall import WaterfallDisplay

__all__ = [
    "AgreementDisplay",
    "ClassAgreementDisplay",
    "CoverageDisplay",
    "FailureMapDisplay",
    "FeatureUseDisplay",
    "FrontierDisplay",
    "NearnessDisplay",
    "ParityDisplay",
    "RuleLengthDisplay",
    "RuleMatrixDisplay",
    "SumDisplay",
    "VotesDisplay",
    "WaterfallDisplay",
]
