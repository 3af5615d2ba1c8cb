// The compiler: TypeScript's native one. It takes seconds where the one in JavaScript takes half a minute.
import { spawn } from 'node:child_process';
import { at, root } from './build-state.mjs';

const TSC = at('node_modules', 'typescript-native', 'bin', 'tsc');

/** Runs the compiler. Returns whether it found no error, and what it printed. */
export async function compile(args) {
  const child = spawn(process.execPath, [TSC, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  return { ok: code === 0, output };
}
