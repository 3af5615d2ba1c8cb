import assert from 'node:assert/strict';
import { loopback } from '../../../test/support/loopback.js';
import { type Ended, Tool, run } from './tool.js';
import { freePort } from '../../../test/support/ports.js';

export interface Played {
  readonly server: Ended;
  readonly client: Ended;
}

const addressesOf = (game: number): readonly [string, string] => [loopback(2 * game + 1), loopback(2 * game + 2)];

/** A server that waits for its client, and the words by which one comes. */
export async function served(
  game: number,
  ...flags: readonly string[]
): Promise<{ readonly server: Tool; readonly client: readonly string[] }> {
  const port = String(await freePort());
  const [there, here] = addressesOf(game);
  const server = new Tool(['ucx_perftest', '-p', port, '--addr', there, ...flags]);
  await server.printed('Waiting for connection');
  return { server, client: ['ucx_perftest', '-p', port, '--addr', here, there] };
}

/** Runs a test on loopback, short as it may be. */
export async function playUcx(
  game: number,
  flags: readonly string[],
  settings?: Readonly<Record<string, string>>,
  serverFlags: readonly string[] = [],
): Promise<Played> {
  const { server, client } = await served(game, ...serverFlags);
  const ended = await run([...client, '-n', '40', '-w', '4', ...flags], settings);
  return { server: await server.ended, client: ended };
}

export function finalRow({ code, stdout, stderr }: Ended): number[] {
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  const row = /^Final: +(.*)$/m.exec(stdout)?.[1];
  assert.ok(row !== undefined, stdout);
  return row.split(/ +/).map(Number);
}
