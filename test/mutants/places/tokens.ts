import ts from 'typescript';

/** A token of TypeScript. Comments and white space are none. */
export interface Token {
  readonly kind: ts.SyntaxKind;
  readonly start: number;
  readonly end: number;
  /** Equal for tokens that mean the same: the quotes of a string do not count. */
  readonly key: string;
}

/** Tokens after which a slash divides. After all others it begins a regular expression. */
const ENDS_OPERAND: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.Identifier,
  ts.SyntaxKind.PrivateIdentifier,
  ts.SyntaxKind.NumericLiteral,
  ts.SyntaxKind.BigIntLiteral,
  ts.SyntaxKind.StringLiteral,
  ts.SyntaxKind.NoSubstitutionTemplateLiteral,
  ts.SyntaxKind.TemplateTail,
  ts.SyntaxKind.CloseParenToken,
  ts.SyntaxKind.CloseBracketToken,
  ts.SyntaxKind.CloseBraceToken,
  ts.SyntaxKind.ThisKeyword,
  ts.SyntaxKind.SuperKeyword,
  ts.SyntaxKind.TrueKeyword,
  ts.SyntaxKind.FalseKeyword,
  ts.SyntaxKind.NullKeyword,
]);

const CLOSES: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.CloseParenToken,
  ts.SyntaxKind.CloseBracketToken,
  ts.SyntaxKind.CloseBraceToken,
]);

export function isName({ kind }: Token): boolean {
  return kind === ts.SyntaxKind.Identifier || kind === ts.SyntaxKind.PrivateIdentifier;
}

/**
 * The tokens of a source file, or of a part of one that need not parse. A comma before a closing bracket is left out: the
 * formatter adds and removes it.
 */
export function tokensOf(text: string): Token[] {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, true, ts.LanguageVariant.Standard, text);
  const tokens: Token[] = [];
  /** For each open brace, whether it belongs to a template. */
  const braces: boolean[] = [];
  let last = ts.SyntaxKind.Unknown;
  for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    const divides = kind === ts.SyntaxKind.SlashToken || kind === ts.SyntaxKind.SlashEqualsToken;
    if (divides && !ENDS_OPERAND.has(last)) kind = scanner.reScanSlashToken();
    if (kind === ts.SyntaxKind.OpenBraceToken) braces.push(false);
    else if (kind === ts.SyntaxKind.TemplateHead) braces.push(true);
    else if (kind === ts.SyntaxKind.CloseBraceToken && braces.pop() === true) {
      kind = scanner.reScanTemplateToken(false);
      if (kind === ts.SyntaxKind.TemplateMiddle) braces.push(true);
    }
    if (CLOSES.has(kind) && last === ts.SyntaxKind.CommaToken) tokens.pop();
    const isString = kind === ts.SyntaxKind.StringLiteral;
    const key = isString ? `'${scanner.getTokenValue()}'` : scanner.getTokenText();
    tokens.push({ kind, start: scanner.getTokenStart(), end: scanner.getTokenEnd(), key });
    last = kind;
  }
  return tokens;
}

/** Where a run of tokens occurs in another: the index of its first token, each time. */
export function occurrences(
  fragment: readonly Token[],
  tokens: readonly Token[],
  isEqual: (wanted: Token, found: Token) => boolean = (wanted, found) => wanted.key === found.key,
): number[] {
  const [first] = fragment;
  const found: number[] = [];
  for (let at = 0; at + fragment.length <= tokens.length; at++)
    if (isEqual(first, tokens[at]) && fragment.every((token, i) => isEqual(token, tokens[at + i]))) found.push(at);
  return found;
}
