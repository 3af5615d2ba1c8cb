import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cannotRun } from './support.js';

const SOURCES = fileURLToPath(new URL('../../../../src/run/test/programs/', import.meta.url));

/** A C program of the tests, compiled; or why it cannot be. */
export interface Compiled {
  readonly file: string;
  /** Why its tests are left out, or false. */
  readonly problem: string | false;
  remove(): void;
}

/** Compiles `programs/NAME.c` with libibverbs. */
export function compile(name: string): Compiled {
  const folder = mkdtempSync(join(tmpdir(), 'verbena-c-'));
  const file = join(folder, name);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const none = (problem: string): Compiled => ({ file, problem, remove });
  if (cannotRun !== false) return none(cannotRun);
  const header = spawnSync('gcc', ['-E', '-include', 'infiniband/verbs.h', '-x', 'c', '/dev/null']);
  if (header.status !== 0) return none('there is no gcc with infiniband/verbs.h here (Debian: gcc, libibverbs-dev)');
  const { status, stderr } = spawnSync('gcc', [
    '-Wall',
    '-Werror',
    '-o',
    file,
    join(SOURCES, `${name}.c`),
    '-libverbs',
  ]);
  if (status !== 0) throw new Error(`${name}.c does not compile:\n${String(stderr)}`);
  return { file, problem: false, remove };
}
