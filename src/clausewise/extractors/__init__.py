"""Methods that extract rules from networks."""

from clausewise.extractors.base import ExtractionWarning, RuleExtractor
from clausewise.extractors.eclaire import ECLAIRE
from clausewise.extractors.report import ExtractionReport
from clausewise.extractors.short_form import extract

__all__ = ["ECLAIRE", "ExtractionReport", "ExtractionWarning", "RuleExtractor", "extract"]
