import assert from 'node:assert/strict';
import { clientAt, serverAt } from './pingpong-play.js';
import { type Ended, Tool, run } from './tool.js';
import { freePort } from '../../../test/support/ports.js';

export interface Played {
  readonly server: Ended;
  readonly client: Ended;
}

/** What one side of a test is told beyond what both are. */
export interface Sides {
  readonly server?: readonly string[];
  readonly client?: readonly string[];
}

/** Runs both sides of a test on loopback. By rdma_cm the server is found at its device's address. */
export async function playTest(
  tool: string,
  game: number,
  flags: readonly string[],
  { server: serverFlags = [], client: clientFlags = [] }: Sides = {},
): Promise<Played> {
  const port = String(await freePort());
  // What is measured is not looked at here.
  const common = [tool, '--no-warm-up', '-p', port, ...flags];
  const server = new Tool([...common, '--addr', serverAt(game), ...serverFlags]);
  const isQuiet = ['--json', '--output'].some((flag) => flags.includes(flag) || serverFlags.includes(flag));
  // One that prints nothing before the end is given time by a client that tries again.
  if (!isQuiet) await server.printed('Waiting for client');
  const args = [...common, '--addr', clientAt(game), ...clientFlags, serverAt(game)];
  let client = await run(args);
  while (isQuiet && client.stderr.includes('ECONNREFUSED')) client = await run(args);
  return { server: await server.ended, client };
}

export function rowsOf({ code, stdout, stderr }: Ended): string[][] {
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  const lines = stdout.split('\n');
  const heading = lines.findIndex((line) => line.startsWith(' #bytes'));
  if (heading < 0) return [];
  const rows = lines.slice(heading + 1, lines.lastIndexOf('-'.repeat(87)));
  return rows.map((row) => row.trim().split(/\s+/));
}

/** Checks that a row tells what it should, and figures beside it. */
export function assertRow(row: readonly string[], sizeBytes: number, iterations: number): void {
  const [size, count, ...figures] = row;
  assert.deepEqual([size, count], [String(sizeBytes), String(iterations)]);
  for (const figure of figures) assert.ok(Number(figure) >= 0, figure);
  assert.ok(
    figures.some((figure) => Number(figure) > 0),
    row.join(' '),
  );
}
