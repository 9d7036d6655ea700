/**
 * The rule language (docs/rule-language.md), as Python's rules/text reads and writes it, in files of the same names.
 * Only rules are read here, not headers. tests/corpus/rule_texts.json holds texts that both must read alike, down to
 * the wording of errors.
 *
 * `IF age <= 47 AND job IN {nurse, teacher} THEN yes WITH confidence 0.9, priority`
 */

export { RuleTextError } from "./errors";
export { readRules } from "./read";
export type { Vocabulary } from "./vocabulary";
export { PremiseReader } from "./premises";
export { writeOrigin, writePremise, writeRule, writeTerm, writeValue } from "./write";
