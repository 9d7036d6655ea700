"""The rule language: rules as text that people write and `RuleSet.from_text` reads.

    FEATURE age NUMERIC
    FEATURE job CATEGORICAL {cook, nurse, teacher}
    CLASSES {no, yes}
    DEFAULT no
    VOTING confidence

    IF age <= 47 AND job IN {nurse, teacher} THEN yes WITH confidence 0.9, cover 120, correct 112
    IF 17 < age <= 65 THEN no WITH priority
    IF job IS MISSING THEN no

docs/rule-language.md describes it. `tokens.py` splits a text, `premises.py` reads what rules of all kinds
share, `read.py` and `write.py` read and write rules for classes, `document.py` whole rule sets with their
header (`headers.py` has what headers share), and `regression.py` rules for numbers. Every error names the
line and the column and shows the place.

The report's page reads and writes rules too (explorer/src/lib/ruleText/, the same files in TypeScript).
tests/corpus/rule_texts.json holds texts that both must read alike, down to the wording of errors.
"""

from clausewise.rules.text.document import read_ruleset, write_rules, write_ruleset
from clausewise.rules.text.errors import RuleTextError
from clausewise.rules.text.read import read_rules
from clausewise.rules.text.regression import (
    is_for_numbers,
    read_regression,
    read_regression_rules,
    write_regression,
    write_regression_rule,
    write_regression_rules,
)
from clausewise.rules.text.tokens import KEYWORDS
from clausewise.rules.text.vocabulary import Vocabulary, vocabulary_from, vocabulary_of
from clausewise.rules.text.write import write_rule

__all__ = [
    "KEYWORDS",
    "RuleTextError",
    "Vocabulary",
    "is_for_numbers",
    "read_regression",
    "read_regression_rules",
    "read_rules",
    "read_ruleset",
    "vocabulary_from",
    "vocabulary_of",
    "write_regression",
    "write_regression_rule",
    "write_regression_rules",
    "write_rule",
    "write_rules",
    "write_ruleset",
]
