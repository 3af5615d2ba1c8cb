import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { type Mutant, mutate, ROOT, sources } from './mutant.js';
import { LOADED, type Substitute } from './substitute.js';

function compilerOptions(): ts.CompilerOptions {
  const path = fileURLToPath(new URL('tsconfig.json', ROOT));
  const read: { config?: unknown } = ts.readConfigFile(path, (file) => readFileSync(file, 'utf8'));
  // It is our own, and the build has read it before.
  const { options } = ts.convertCompilerOptionsFromJson(
    (read.config as { readonly compilerOptions: unknown }).compilerOptions,
    fileURLToPath(ROOT),
  );
  // One file alone does not know of package.json, which says that it is a module.
  const alone = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler };
  return {
    ...options,
    ...alone,
    composite: false,
    incremental: false,
    declaration: false,
    sourceMap: false,
    inlineSourceMap: true,
  };
}

/** Compiles a text in place of a source file. @throws Error when it is no TypeScript */
export function compile(file: string, text: string): Substitute {
  const { outputText, diagnostics = [] } = ts.transpileModule(text, {
    compilerOptions: compilerOptions(),
    fileName: fileURLToPath(new URL(file, ROOT)),
    reportDiagnostics: true,
  });
  if (diagnostics.length > 0)
    throw new Error(`${file}: ${ts.flattenDiagnosticMessageText(diagnostics[0].messageText, '\n')}`);
  const url = new URL(`dist/${file.replace(/\.ts$/, '.js')}`, ROOT).href;
  return { url, source: `globalThis[${JSON.stringify(LOADED)}] = true;\n${outputText}` };
}

/** Compiles what a mutant makes of its file. @throws Error when it does not match, or is no TypeScript any more */
export function substituteFor(mutant: Mutant): Substitute {
  const { file, text } = mutate(mutant);
  return compile(file, text);
}

/** A file as it is: whatever a mutant is found by must not be found with this. */
export function unchanged(file: string): Substitute {
  return compile(file, sources().textOf(file));
}
