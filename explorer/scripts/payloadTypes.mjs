/**
 * Writes the TypeScript types of a report's payload, from the JSON schemas that the Python package ships, to
 * src/payload.generated.ts, or to the path given.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const PACKAGE = new URL("../../src/clausewise/", import.meta.url);
const TARGET = fileURLToPath(new URL("../src/payload.generated.ts", import.meta.url));
const BANNER = `/*
 * Types of the JSON in a report. Written by scripts/payloadTypes.mjs from the schemas in src/clausewise/report
 * (payload, number_payload) and src/clausewise/io (rules, numbers): change these, then run \`npm run types\`.
 */`;

/** Names for the parts of a rule file, whose schema titles are prose. */
const RULE_FILE_NAMES = { feature: "FeatureEntry", rule: "RuleEntry", term: "TermEntry", change: "ChangeEntry", scalar: "Scalar" };
const NUMBER_RULE_FILE_NAMES = { rule: "NumberRuleEntry", linear: "LinearEntry" };

const payload = readSchema("report/payload.schema.json");
const numberPayload = readSchema("report/number_payload.schema.json");
const ruleFile = readSchema("io/rules.schema.json");
const numberRuleFile = readSchema("io/numbers.schema.json");
ruleFile.title = "RuleFile";
for (const [name, title] of Object.entries(RULE_FILE_NAMES)) ruleFile.$defs[name].title = title;
numberRuleFile.title = "NumberRuleFile";
for (const [name, title] of Object.entries(NUMBER_RULE_FILE_NAMES)) numberRuleFile.$defs[name].title = title;
const BY_ID = [payload, numberPayload, ruleFile, numberRuleFile];

const either = { description: "The JSON in a report, on rules for classes or for numbers.", oneOf: [{ $ref: payload.$id }, { $ref: numberPayload.$id }] };
const types = await compile(either, "AnyPayload", {
  bannerComment: BANNER,
  ignoreMinAndMaxItems: true,
  style: { printWidth: 120 },
  // Schemas name each other by their $id.
  $refOptions: { resolve: { schemas: { order: 1, canRead: true, read: ({ url }) => readById(url) } } },
});
writeFileSync(process.argv[2] ?? TARGET, types);

function readById(url) {
  const found = BY_ID.find(({ $id }) => url.endsWith($id));
  if (found === undefined) throw new Error(`The payload's schema refers to ${url}, which is not known here.`);
  return JSON.stringify(found);
}

function readSchema(path) {
  // A description beside a $ref would become a type of its own; inside allOf it is a comment on the property.
  const apart = (_, value) => (value?.$ref !== undefined && value.description !== undefined ? described(value) : value);
  return JSON.parse(readFileSync(new URL(path, PACKAGE), "utf8"), apart);
}

function described({ $ref, description }) {
  return { description, allOf: [{ $ref }] };
}
