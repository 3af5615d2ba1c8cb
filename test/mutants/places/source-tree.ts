import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { occurrences, type Token, tokensOf } from './tokens.js';

/** A class member as `Class.member`, a class, or a function or variable of a module. */
export interface Declaration {
  readonly name: string;
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

export interface Place {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly declaration: string;
  readonly tokens: readonly Token[];
}

/** Everything that {@link declarationsIn} may name. It finds too much, but misses nothing. */
const DECLARES = /\b(?:class|function\s*\*?|const|let|var)\s+([\w$]+)/g;

function nameOf(name: ts.Node | undefined, source: ts.SourceFile): string | undefined {
  if (name === undefined) return undefined;
  return ts.isStringLiteral(name) ? name.text : name.getText(source);
}

function declarationsIn(file: string, text: string): Declaration[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const declarations: Declaration[] = [];
  const add = (name: string | undefined, node: ts.Node): void => {
    if (name !== undefined) declarations.push({ name, file, start: node.getStart(source), end: node.end });
  };
  for (const statement of source.statements) {
    if (ts.isFunctionDeclaration(statement)) add(nameOf(statement.name, source), statement);
    else if (ts.isVariableStatement(statement))
      for (const { name } of statement.declarationList.declarations) add(nameOf(name, source), statement);
    else if (ts.isClassDeclaration(statement)) {
      const outer = nameOf(statement.name, source);
      add(outer, statement);
      for (const member of statement.members) {
        const inner = ts.isConstructorDeclaration(member) ? 'constructor' : nameOf(member.name, source);
        if (outer !== undefined && inner !== undefined) add(`${outer}.${inner}`, member);
      }
    }
  }
  return declarations;
}

/** The text of every source file, with its tokens and declarations, which are computed when they are needed. */
export class SourceTree {
  readonly #texts: ReadonlyMap<string, string>;
  readonly #tokens = new Map<string, readonly Token[]>();
  readonly #declarations = new Map<string, readonly Declaration[]>();
  #declaring: ReadonlyMap<string, ReadonlySet<string>> | undefined;

  /** @param texts by path from the root of the package */
  constructor(texts: ReadonlyMap<string, string>) {
    this.#texts = texts;
  }

  /** Reads all TypeScript below a folder of the package, but for tests. */
  static read(root: URL, folder: string): SourceTree {
    const files = readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .map((path) => path.replaceAll('\\', '/'))
      .filter((path) => path.endsWith('.ts') && !path.includes('/test/'))
      .map((path) => `${folder}${path}`)
      .sort();
    return new SourceTree(new Map(files.map((file) => [file, readFileSync(new URL(file, root), 'utf8')])));
  }

  get files(): string[] {
    return [...this.#texts.keys()];
  }

  textOf(file: string): string {
    const text = this.#texts.get(file);
    if (text === undefined) throw new Error(`there is no source file ${file}`);
    return text;
  }

  tokensOf(file: string): readonly Token[] {
    const known = this.#tokens.get(file);
    if (known !== undefined) return known;
    const tokens = tokensOf(this.textOf(file));
    this.#tokens.set(file, tokens);
    return tokens;
  }

  /** All declarations of a name, in several files perhaps. With `folder/` before the name, only those below a folder so named. */
  named(path: string): Declaration[] {
    const slash = path.lastIndexOf('/');
    const name = path.slice(slash + 1);
    const files = this.#filesThatDeclare(name.split('.', 1)[0]).filter((file) =>
      `/${file}`.includes(`/${path.slice(0, slash + 1)}`),
    );
    return files.flatMap((file) => this.#declarationsOf(file).filter((declaration) => declaration.name === name));
  }

  placesWithin(
    { file, start, end }: Declaration,
    fragment: readonly Token[],
    isEqual?: (wanted: Token, found: Token) => boolean,
  ): Place[] {
    const tokens = this.tokensOf(file);
    const inside = tokens.filter((token) => token.start >= start && token.end <= end);
    return occurrences(fragment, inside, isEqual).map((at) =>
      this.#placeOf(file, inside.slice(at, at + fragment.length)),
    );
  }

  placesAnywhere(fragment: readonly Token[], isEqual?: (wanted: Token, found: Token) => boolean): Place[] {
    return this.files.flatMap((file) => {
      const tokens = this.tokensOf(file);
      return occurrences(fragment, tokens, isEqual).map((at) =>
        this.#placeOf(file, tokens.slice(at, at + fragment.length)),
      );
    });
  }

  #placeOf(file: string, tokens: readonly Token[]): Place {
    const { start } = tokens[0];
    const { end } = tokens[tokens.length - 1];
    const around = this.#declarationsOf(file).filter((outer) => outer.start <= start && end <= outer.end);
    // Members come after their class.
    const declaration = around.at(-1)?.name ?? '';
    const line = this.textOf(file).slice(0, start).split('\n').length;
    return { file, line, start, end, declaration, tokens };
  }

  #declarationsOf(file: string): readonly Declaration[] {
    const known = this.#declarations.get(file);
    if (known !== undefined) return known;
    const declarations = declarationsIn(file, this.textOf(file));
    this.#declarations.set(file, declarations);
    return declarations;
  }

  #filesThatDeclare(name: string): string[] {
    this.#declaring ??= this.#index();
    return [...(this.#declaring.get(name) ?? [])];
  }

  #index(): Map<string, Set<string>> {
    const index = new Map<string, Set<string>>();
    for (const [file, text] of this.#texts)
      for (const [, name] of text.matchAll(DECLARES)) {
        const files = index.get(name);
        if (files === undefined) index.set(name, new Set([file]));
        else files.add(file);
      }
    return index;
  }
}
