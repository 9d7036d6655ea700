"""Methods that extract rules from networks."""

from clausewise.extractors.base import ExtractionWarning, RuleExtractor
from clausewise.extractors.eclaire import ECLAIRE
from clausewise.extractors.extract import extract
from clausewise.extractors.report import ExtractionReport

__all__ = ["ECLAIRE", "ExtractionReport", "ExtractionWarning", "RuleExtractor", "extract"]
