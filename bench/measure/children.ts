/** Processes that this one has started, so that none outlives it: most of them spin. */
import type { ChildProcess } from 'node:child_process';

const running = new Set<ChildProcess>();

export function adopt(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
}

process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
