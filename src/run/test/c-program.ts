/** Programs in C of `src/run/test/programs`, compiled where they are needed. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('../../../../src/run/test/programs/', import.meta.url));
const HEADERS: readonly (readonly [header: string, debianPackage: string])[] = [
  ['/usr/include/infiniband/verbs.h', 'libibverbs-dev'],
  ['/usr/include/rdma/rdma_cma.h', 'librdmacm-dev'],
];

/** Why no program can be compiled here: a sentence, or undefined. */
export function compilerProblem(): string | undefined {
  if (spawnSync('gcc', ['--version']).status !== 0) return 'there is no gcc here (Debian: gcc)';
  const missing = HEADERS.find(([header]) => !existsSync(header));
  return missing === undefined ? undefined : `there is no ${missing[0]} here (Debian: ${missing[1]})`;
}

export class CProgram {
  readonly path: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'verbena-c-program-'));

  /** @param name of the source, without `.c`; files `NAME-*.c` belong to it. @throws Error with what the compiler says */
  constructor(name: string) {
    this.path = join(this.#folder, name);
    const sources = readdirSync(SOURCES)
      .filter((file) => file === `${name}.c` || (file.startsWith(`${name}-`) && file.endsWith('.c')))
      .map((file) => `${SOURCES}${file}`);
    const words = ['-O1', '-g', '-Wall', '-o', this.path, ...sources, '-libverbs', '-lrdmacm', '-lpthread'];
    const { status, stderr } = spawnSync('gcc', words, { encoding: 'utf8' });
    if (status === 0) return;
    this.remove();
    throw new Error(`gcc ${name}.c: ${stderr}`);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
