import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { type Mutant, mutate, ROOT, sourceOf } from './mutant.js';
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
  return { ...options, ...alone, incremental: false, declaration: false, sourceMap: false, inlineSourceMap: true };
}

/** Compiles what a mutant makes of its file. @throws Error when it does not match, or is no TypeScript any more */
export function substituteFor(mutant: Mutant): Substitute {
  const text = mutate(mutant, sourceOf(mutant));
  const fileName = fileURLToPath(new URL(mutant.file, ROOT));
  const { outputText, diagnostics = [] } = ts.transpileModule(text, {
    compilerOptions: compilerOptions(),
    fileName,
    reportDiagnostics: true,
  });
  if (diagnostics.length > 0)
    throw new Error(`mutant ${mutant.name}: ${ts.flattenDiagnosticMessageText(diagnostics[0].messageText, '\n')}`);
  const url = new URL(`dist/${mutant.file.replace(/\.ts$/, '.js')}`, ROOT).href;
  return { url, source: `globalThis[${JSON.stringify(LOADED)}] = true;\n${outputText}` };
}
