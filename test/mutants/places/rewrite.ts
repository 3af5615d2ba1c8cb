import ts from 'typescript';

/** Properties of a rule and their new values. */
export type Changes = Readonly<Record<string, string>>;

function literal(text: string): string {
  if (text.includes('\n')) return `\`${text.replace(/[\\`]|\$\{/g, (found) => `\\${found}`)}\``;
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  return `${quote}${text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`)}${quote}`;
}

function propertyOf(rule: ts.ObjectLiteralExpression, name: string): ts.PropertyAssignment | undefined {
  return rule.properties
    .filter(ts.isPropertyAssignment)
    .find((property) => ts.isIdentifier(property.name) && property.name.text === name);
}

function isNamed(rule: ts.ObjectLiteralExpression, name: string): boolean {
  const value = propertyOf(rule, 'name')?.initializer;
  return value !== undefined && ts.isStringLiteral(value) && value.text === name;
}

/** Changes a rule in the text of a table. The formatter has to run afterwards. @returns undefined when it is not in the table */
export function rewriteRule(table: string, name: string, changes: Changes): string | undefined {
  const source = ts.createSourceFile('table.ts', table, ts.ScriptTarget.Latest, true);
  const find = (node: ts.Node): ts.ObjectLiteralExpression | undefined =>
    ts.isObjectLiteralExpression(node) && isNamed(node, name) ? node : ts.forEachChild(node, find);
  const rule = find(source);
  if (rule === undefined) return undefined;
  let text = table;
  const edits = Object.entries(changes).map(([property, value]) => {
    const node = propertyOf(rule, property);
    if (node === undefined) throw new Error(`the rule ${name} has no property '${property}'`);
    return { node, value };
  });
  // From the end, so that positions before an edit stay right.
  for (const { node, value } of edits.sort((a, b) => b.node.pos - a.node.pos))
    text = text.slice(0, node.initializer.getStart(source)) + literal(value) + text.slice(node.end);
  return text;
}
