/** The exported API as the compiler knows it: which names there are, and what members. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** What programs import: `verbena`, `verbena/rsocket`. */
export type Module = 'index' | 'rsocket';

/** The declarations of what was compiled along with this file. */
function declarationsOf(module: Module): string {
  return fileURLToPath(new URL(`../../src/entry/${module}.d.ts`, import.meta.url));
}

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  lib: ['lib.es5.d.ts', 'lib.es2015.iterable.d.ts', 'lib.esnext.disposable.d.ts'],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: [],
  strict: true,
  skipLibCheck: true,
};

export interface Found {
  /** Where it is declared. Whatever inherits or maps it finds the same. */
  readonly declarations: readonly string[];
  /** The names of its parameters as one writes them, `(memory, access?)`, when it is a function or method. */
  readonly parameters: string | undefined;
}

export interface Face {
  readonly exports: readonly string[];
  /** What `Pd.regMr` or `FlushRequest.flush.length` names. */
  find(path: string): Found | undefined;
  /** Names of the members of an export: of a const object, an interface, a class, or any shape of a union. */
  members(name: string): readonly string[];
}

class CompiledFace implements Face {
  readonly #checker: ts.TypeChecker;
  readonly #symbols: ReadonlyMap<string, ts.Symbol>;

  constructor(program: ts.Program, file: string) {
    this.#checker = program.getTypeChecker();
    const source = program.getSourceFile(file);
    const module = source === undefined ? undefined : this.#checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${file} is no module: compile first`);
    const symbols = this.#checker.getExportsOfModule(module);
    this.#symbols = new Map(symbols.map((symbol) => [symbol.name, this.#original(symbol)]));
  }

  get exports(): readonly string[] {
    return [...this.#symbols.keys()];
  }

  find(path: string): Found | undefined {
    const [name, ...rest] = path.split('.');
    const symbol = this.#symbols.get(name);
    if (symbol === undefined) return undefined;
    if (rest.length === 0) return this.#found([symbol]);
    let types = this.#typesOf(symbol);
    let found: readonly ts.Symbol[] = [];
    for (const member of rest) {
      found = this.#properties(types, member);
      types = found.map((property) => this.#checker.getNonNullableType(this.#checker.getTypeOfSymbol(property)));
    }
    return found.length === 0 ? undefined : this.#found(found);
  }

  members(name: string): readonly string[] {
    const symbol = this.#symbols.get(name);
    if (symbol === undefined) return [];
    const properties = this.#typesOf(symbol).flatMap((type) =>
      this.#shapes(type).flatMap((shape) => this.#ownOf(shape)),
    );
    return [...new Set(properties)];
  }

  #original(symbol: ts.Symbol): ts.Symbol {
    return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : this.#checker.getAliasedSymbol(symbol);
  }

  /** A const object stands for its keys; the type beside it is only the union of its values. */
  #typesOf(symbol: ts.Symbol): ts.Type[] {
    if ((symbol.flags & ts.SymbolFlags.Variable) !== 0) return [this.#checker.getTypeOfSymbol(symbol)];
    if ((symbol.flags & ts.SymbolFlags.Type) !== 0) return [this.#checker.getDeclaredTypeOfSymbol(symbol)];
    return [];
  }

  #shapes(type: ts.Type): readonly ts.Type[] {
    return type.isUnion() ? type.types : [type];
  }

  /** Members of objects that this package declares; those of numbers and arrays are not its own. */
  #ownOf(type: ts.Type): readonly string[] {
    return this.#checker
      .getPropertiesOfType(type)
      .filter(({ name, declarations = [] }) => !/^(__)?[#@]/.test(name) && declarations.some(isOurs))
      .filter(({ declarations = [] }) => declarations.some(isPublic))
      .filter((property) => !this.#isAbsent(property))
      .map(({ name }) => name);
  }

  /** The member of that name in every shape that has it, and in what a shape extends. */
  #properties(types: readonly ts.Type[], name: string): readonly ts.Symbol[] {
    return types
      .flatMap((type) => this.#shapes(type))
      .flatMap((shape) => [shape, ...(shape.isClassOrInterface() ? this.#checker.getBaseTypes(shape) : [])])
      .map((shape) => this.#checker.getPropertyOfType(shape, name))
      .filter((property) => property !== undefined)
      .filter((property) => !this.#isAbsent(property));
  }

  /** `sgList?: undefined` says that a shape has no such member. */
  #isAbsent(property: ts.Symbol): boolean {
    return (this.#checker.getTypeOfSymbol(property).flags & ts.TypeFlags.Undefined) !== 0;
  }

  #found(symbols: readonly ts.Symbol[]): Found {
    const places = symbols
      .flatMap(({ declarations = [] }) => declarations)
      .map((node) => `${node.getSourceFile().fileName}:${node.pos}`);
    const type = this.#checker.getNonNullableType(this.#checker.getTypeOfSymbol(symbols[0]));
    // Of several the last is the most general.
    const signature = type.getCallSignatures().at(-1);
    return { declarations: places, parameters: signature && this.#parametersOf(signature) };
  }

  #parametersOf(signature: ts.Signature): string {
    const names = signature.parameters.map((parameter) => {
      const node = parameter.valueDeclaration;
      const optional = node !== undefined && ts.isParameter(node) && this.#checker.isOptionalParameter(node);
      // One that is taken apart where it is declared has no name of its own.
      const name =
        node !== undefined && ts.isParameter(node) && !ts.isIdentifier(node.name) ? 'options' : parameter.name;
      return optional ? `${name}?` : name;
    });
    return `(${names.join(', ')})`;
  }
}

const isOurs = (node: ts.Node): boolean => !/[\\/]node_modules[\\/]/.test(node.getSourceFile().fileName);

const isPublic = (node: ts.Declaration): boolean =>
  (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.NonPublicAccessibilityModifier) === 0;

/** Reads the declarations; takes a second or so. */
export function loadFace(name: Module = 'index'): Face {
  const file = declarationsOf(name);
  const host = ts.createCompilerHost(OPTIONS);
  // What the declarations take from Node is of no interest here, and reading it would take longer than all the rest.
  host.resolveModuleNameLiterals = (literals, containing) =>
    literals.map(({ text }) =>
      text.startsWith('.') ? ts.resolveModuleName(text, containing, OPTIONS, host) : { resolvedModule: undefined },
    );
  return new CompiledFace(ts.createProgram([file], OPTIONS, host), file);
}
