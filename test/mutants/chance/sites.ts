import ts from 'typescript';
import { sources } from '../mutant.js';

/** A place of the source, and what is put there instead. */
export interface Site {
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly from: string;
  readonly to: string;
}

/** Operators and what stands for each: the neighbour that somebody would write by mistake. */
const NEIGHBOURS: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.PlusToken, '-'],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.PlusEqualsToken, '-='],
  [ts.SyntaxKind.MinusEqualsToken, '+='],
  [ts.SyntaxKind.AmpersandToken, '|'],
  [ts.SyntaxKind.BarToken, '&'],
]);

type Change = readonly [node: ts.Node, to: string];

const isAssignment = (kind: ts.SyntaxKind): boolean =>
  kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;

/** What a call or an assignment does may be left out; what the compiler alone reads may not. */
function dropped(node: ts.ExpressionStatement): Change[] {
  let { expression } = node;
  if (ts.isVoidExpression(expression) || ts.isAwaitExpression(expression)) expression = expression.expression;
  if (ts.isCallExpression(expression))
    return expression.expression.kind === ts.SyntaxKind.SuperKeyword ? [] : [[node, ';']];
  const assigns = ts.isBinaryExpression(expression) && isAssignment(expression.operatorToken.kind);
  return assigns || ts.isPostfixUnaryExpression(expression) ? [[node, ';']] : [];
}

function replaced(node: ts.BinaryExpression, source: ts.SourceFile): Change[] {
  const to = NEIGHBOURS.get(node.operatorToken.kind);
  // A sum of texts is a text, whose words no test should hold.
  const holdsText = [node.left, node.right].some(
    (side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side),
  );
  // `x | 0` tells the engine a type and does nothing.
  const isHint = node.operatorToken.kind === ts.SyntaxKind.BarToken && node.right.getText(source) === '0';
  return to === undefined || holdsText || isHint ? [] : [[node.operatorToken, to]];
}

function changesOf(node: ts.Node, source: ts.SourceFile): Change[] {
  if (ts.isExpressionStatement(node)) return dropped(node);
  if (ts.isBinaryExpression(node)) return replaced(node, source);
  if (ts.isIfStatement(node)) return [[node.expression, `!(${node.expression.getText(source)})`]];
  if (ts.isConditionalExpression(node)) return [[node.condition, `!(${node.condition.getText(source)})`]];
  if (ts.isNumericLiteral(node)) return [[node, `(${node.getText(source)} + 1)`]];
  if (ts.isBigIntLiteral(node)) return [[node, `(${node.getText(source)} + 1n)`]];
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [[node, 'false']];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [[node, 'true']];
  return [];
}

/** Types are gone when the program runs, and a property's name is not a number. */
function isOnlyRead(node: ts.Node): boolean {
  return ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
}

export function sitesOf(file: string, text: string): Site[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const sites: Site[] = [];
  const visit = (node: ts.Node): void => {
    if (isOnlyRead(node)) return;
    for (const [changed, to] of changesOf(node, source)) {
      const start = changed.getStart(source);
      const line = source.getLineAndCharacterOfPosition(start).line + 1;
      sites.push({ file, line, start, end: changed.end, from: text.slice(start, changed.end), to });
    }
    ts.forEachChild(node, (child) => {
      if (!(ts.isPropertyAssignment(node) && child === node.name)) visit(child);
    });
  };
  visit(source);
  return sites;
}

export function applied(text: string, { start, end, to }: Site): string {
  return text.slice(0, start) + to + text.slice(end);
}

/** Every site below `src`, but for the tools of the command line: their words and formats are held against the C tools'. */
export function allSites(): Site[] {
  const tree = sources();
  return tree.files.filter((file) => !file.startsWith('src/cli/')).flatMap((file) => sitesOf(file, tree.textOf(file)));
}
