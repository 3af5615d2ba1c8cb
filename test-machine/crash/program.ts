/** A program of a crash run, as its supervisor sees it. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export class Program {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #lines: Promise<unknown>;
  errors = '';

  /** @param name `server` or `client`. @param onLine is told each line that it says, also those that are read after its end */
  constructor(name: 'server' | 'client', orders: object, onLine: (line: string) => void) {
    const file = fileURLToPath(new URL(`./${name}.js`, import.meta.url));
    this.#child = spawn(process.execPath, [file, JSON.stringify(orders)], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.errors += text));
    const lines = createInterface({ input: this.#child.stdout });
    lines.on('line', onLine);
    this.#lines = once(lines, 'close');
  }

  /** Resolves when it has ended, and all that it has said was told. */
  async ended(): Promise<void> {
    await this.#lines;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended();
  }
}
