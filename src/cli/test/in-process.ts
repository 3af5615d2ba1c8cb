import { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { dump } from '../dump/command.js';
import { explain } from '../explain/command.js';
import { sentence, ToolError } from '../kit/errors.js';
import type { StandardStreams } from '../kit/output.js';

export interface Printed {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `verbena dump` or `verbena explain` in this process: a process for each call would take a third of a second. */
export async function runTool(
  name: 'dump' | 'explain',
  args: readonly string[],
  input: Uint8Array = new Uint8Array(),
): Promise<Printed> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { verbose: { type: 'boolean', short: 'v' }, json: { type: 'boolean' } },
  });
  let [stdout, stderr] = ['', ''];
  const streams: StandardStreams = {
    input: Readable.from([input]),
    print: (text) => {
      stdout += text;
      return Promise.resolve();
    },
    complain: (text) => {
      stderr += text;
    },
  };
  const call = (): Promise<number> =>
    name === 'dump' ? dump(positionals[0], values, streams) : explain(positionals, values, streams);
  try {
    return { status: await call(), stdout, stderr };
  } catch (error) {
    return { status: error instanceof ToolError ? error.exitCode : 1, stdout, stderr: `${stderr}${sentence(error)}\n` };
  }
}

/** What {@link runTool} prints to standard output. */
export async function printed(name: 'dump' | 'explain', ...args: readonly string[]): Promise<string> {
  return (await runTool(name, args)).stdout;
}
