"""Reports for the browser: one HTML file with the rules, a sample of rows, and the page that shows them."""

from clausewise.report.html import page
from clausewise.report.number_payload import NumberReportData, number_payload_of
from clausewise.report.payload import ReportData, payload_of, report_data
from clausewise.report.serve import Explorer, explore
from clausewise.report.validation import RowFacts, Validation, validate
from clausewise.report.view import ReportView, show

__all__ = [
    "Explorer",
    "NumberReportData",
    "ReportData",
    "ReportView",
    "RowFacts",
    "Validation",
    "explore",
    "number_payload_of",
    "page",
    "payload_of",
    "report_data",
    "show",
    "validate",
]
