import assert from 'node:assert/strict';
import { loopback } from '../../../test/support/loopback.js';
import { type Ended, Tool, run } from './tool.js';

// The tools that connect by address and port take the device's ports, of which each address has all. So every test has
// two addresses of its own, and none needs to look for a free port.

/** Where the server of test `n` of a file is, 0 to 99. */
export function serverAt(n: number): string {
  return loopback(2 * n + 1);
}

export function clientAt(n: number): string {
  return loopback(2 * n + 2);
}

/** How a tool is told which side it is. */
export interface Sides {
  readonly tool: string;
  readonly server: (address: string) => readonly string[];
  readonly client: (server: string, client: string) => readonly string[];
  /** What the server prints once clients may come. */
  readonly ready: string;
}

/** Starts the server of test `n`, and returns it once clients may come. */
export async function serve(
  { tool, server, ready }: Sides,
  n: number,
  flags: readonly string[] = [],
  settings?: Readonly<Record<string, string>>,
): Promise<Tool> {
  const started = new Tool([tool, ...server(serverAt(n)), ...flags], settings);
  await started.printed(ready);
  return started;
}

/** The command line of a client of test `n`. */
export function asClient({ tool, client }: Sides, n: number, flags: readonly string[] = []): string[] {
  return [tool, ...client(serverAt(n), clientAt(n)), ...flags];
}

export async function play(
  sides: Sides,
  n: number,
  serverFlags: readonly string[],
  clientFlags: readonly string[] = serverFlags,
): Promise<{ server: Ended; client: Ended }> {
  const server = await serve(sides, n, serverFlags);
  const client = await run(asClient(sides, n, clientFlags));
  return { server: await server.ended, client };
}

export function wentWell(...all: readonly Ended[]): void {
  for (const { code, stdout, stderr } of all) assert.equal(code, 0, `${stdout}\n${stderr}`);
}
