import { once } from 'node:events';

/** Where a tool reads and prints: the streams of the process, or those of a test. */
export interface StandardStreams {
  readonly input: AsyncIterable<unknown>;
  /** Resolves when there is room for more. */
  print(text: string): Promise<void>;
  /** Prints to standard error. */
  complain(text: string): void;
}

export const processStreams: StandardStreams = {
  get input() {
    return process.stdin;
  },
  async print(text) {
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  },
  complain(text) {
    process.stderr.write(text);
  },
};
