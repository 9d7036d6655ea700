/**
 * Finds plain objects that are used as maps. A key from the data may be `constructor` or `__proto__`, which every plain
 * object has; `Map` and `Set` have no such keys.
 *
 * Forbidden, by the types of the compiler:
 * - a type with keys that are not listed: `Record<string, …>`, `{ [key: string]: … }`, `{ [K in string]: … }`;
 * - `object[key]`, `{ [key]: … }` and `key in object` where the key is any text, not one of listed literals;
 * - `for … in`, and functions that make or change objects by key: `Object.fromEntries`, `Object.groupBy`,
 *   `Object.assign`, `Reflect.get`, `Reflect.set` and the like.
 *
 * Checks the project of ../tsconfig.json, or of the one given, and prints `file:line:column: problem` per finding.
 */

import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { SyntaxKind } from "typescript/unstable/ast";
import { API, TypeFlags } from "typescript/unstable/sync";

const CONFIG = fileURLToPath(new URL("../tsconfig.json", import.meta.url));
const BY_KEY = new Map([
  ["Object", new Set(["assign", "create", "defineProperties", "defineProperty", "fromEntries", "groupBy"])],
  ["Reflect", new Set(["defineProperty", "deleteProperty", "get", "has", "set"])],
]);
/** Keys that are listed; numbers and symbols, which are not names from the data. */
const SAFE_KEYS = TypeFlags.StringLiteral | TypeFlags.NumberLike | TypeFlags.ESSymbolLike;
const WRAPPERS = new Set([SyntaxKind.AsExpression, SyntaxKind.NonNullExpression, SyntaxKind.ParenthesizedExpression, SyntaxKind.TypeAssertionExpression]);

const config = resolve(process.argv[2] ?? CONFIG);
const api = new API();
const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
if (project === undefined) throw new Error(`${config} is not a project.`);
const { program, checker } = project;
const files = program.getSourceFileNames().filter((name) => !/[\\/]node_modules[\\/]/.test(name) && !name.endsWith(".d.ts"));
const found = files.flatMap((name) => problemsIn(program.getSourceFile(name)));
api.close();
if (files.length === 0) throw new Error(`${config} has no source files.`);
for (const { file, position, problem } of found) {
  const { line, character } = file.getLineAndCharacterOfPosition(position);
  console.log(`${relative(process.cwd(), file.fileName)}:${line + 1}:${character + 1}: ${problem}; use a Map`);
}
process.exitCode = found.length > 0 ? 1 : 0;

function problemsIn(file) {
  const problems = [];
  const visit = (node) => {
    const problem = problemOf(node);
    if (problem !== null) problems.push({ file, position: node.getStart(file), problem });
    node.forEachChild(visit);
  };
  visit(file);
  return problems;
}

function problemOf(node) {
  switch (node.kind) {
    case SyntaxKind.IndexSignature:
      return "an index signature makes an object a map";
    case SyntaxKind.MappedType:
      return isListed(checker.getTypeFromTypeNode(node.typeParameter.constraint)) ? null : "a mapped type over all keys makes an object a map";
    case SyntaxKind.TypeReference:
      return node.typeName.text === "Record" && !isListed(checker.getTypeFromTypeNode(node.typeArguments[0])) ? "a Record of all keys is a map" : null;
    case SyntaxKind.ElementAccessExpression:
      return isListedKey(node.argumentExpression) ? null : "an object is read by a key that may be any text";
    case SyntaxKind.ComputedPropertyName:
      return isListedKey(node.expression) ? null : "a property is named by a key that may be any text";
    case SyntaxKind.BinaryExpression:
      if (node.operatorToken.kind !== SyntaxKind.InKeyword) return null;
      return isListedKey(node.left) ? null : "a key that may be any text is looked up in an object";
    case SyntaxKind.ForInStatement:
      return "for … in walks over an object as over a map";
    case SyntaxKind.PropertyAccessExpression:
      return isByKey(node) ? `${node.expression.text}.${node.name.text} uses an object as a map` : null;
    default:
      return null;
  }
}

/** Whether all keys of a type are known to the compiler. */
function isListed(type) {
  if (type === undefined) return false;
  if (type.isUnionType()) return type.getTypes().every(isListed);
  if (type.flags & SAFE_KEYS) return true;
  if (type.isTypeParameter() || type.isIndexType() || type.isIndexedAccessType()) {
    const constraint = checker.getBaseConstraintOfType(type);
    return constraint !== undefined && constraint.id !== type.id && isListed(constraint);
  }
  return false;
}

/** The same of an expression. A cast (`key as "a" | "b"`) does not count: it proves nothing. */
function isListedKey(expression) {
  let bare = expression;
  while (WRAPPERS.has(bare.kind)) bare = bare.expression;
  return isListed(checker.getTypeAtLocation(bare));
}

function isByKey({ expression, name }) {
  return expression.kind === SyntaxKind.Identifier && BY_KEY.get(expression.text)?.has(name.text) === true;
}
