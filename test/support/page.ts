/** Pages of the documentation, and the programs that they show, which must run as they stand. */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export class Page {
  readonly text: string;
  readonly programs: readonly string[];

  constructor(path: string) {
    this.text = readFileSync(join(ROOT, path), 'utf8');
    this.programs = [...this.text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, source]) => source);
  }

  /**
   * Runs one of its programs.
   *
   * @param after what is to happen after it, in the same file: for programs that do not end
   * @returns all that it prints
   */
  run(index: number, after = '', env: NodeJS.ProcessEnv = process.env): { stdout: string; stderr: string } {
    const { outputText } = ts.transpileModule(this.programs[index] + after, {
      compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
    });
    return withFiles([outputText], 'mjs', (files) => {
      const { stdout, stderr } = spawnSync(process.execPath, files, { encoding: 'utf8', env });
      return { stdout, stderr };
    });
  }

  /** What the compiler says of its programs, at its strictest. */
  typeProblems(): (string | ts.DiagnosticMessageChain)[] {
    return withFiles(this.programs, 'mts', (files) => {
      const program = ts.createProgram(files, {
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        target: ts.ScriptTarget.ES2023,
        lib: ['lib.esnext.d.ts'],
        module: ts.ModuleKind.NodeNext,
        moduleResolution: ts.ModuleResolutionKind.NodeNext,
        types: ['node'],
      });
      return ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText);
    });
  }
}

let made = 0;

/** @param use is given the paths of files with these texts, inside the package, so that its name resolves to it */
function withFiles<T>(texts: readonly string[], ending: string, use: (files: string[]) => T): T {
  const files = texts.map((text) => {
    const file = join(ROOT, 'dist', `page-${process.pid}-${made}.${ending}`);
    made += 1;
    writeFileSync(file, text);
    return file;
  });
  try {
    return use(files);
  } finally {
    for (const file of files) rmSync(file);
  }
}
