/** Pairs of rproxy, as users start them. */
import assert from 'node:assert/strict';
import { loopback } from '../../../../test/support/loopback.js';
import { type Ended, Tool } from '../tool.js';
import { freePort } from '../../../../test/support/ports.js';

export interface Pair {
  readonly port: number;
  /** Ends both as Ctrl-C does, the one that listens for programs first. */
  end(): Promise<{ readonly near: Ended; readonly far: Ended }>;
  readonly near: Tool;
  readonly far: Tool;
}

const RDMA_PORT = 7471;

/** Has what connects to `port` reach the TCP port `to`, across a network of two devices. @param game of the file, from 0 on */
export async function startPair(game: number, to: number, flags: readonly string[] = []): Promise<Pair> {
  const [there, here] = [loopback(2 * game + 1), loopback(2 * game + 2)];
  const port = await freePort();
  const far = new Tool(['rproxy', '--listen', `rdma:${RDMA_PORT}`, '--to', `tcp:${to}`, '--addr', there, ...flags]);
  await far.printed(`rdma:${there}:${RDMA_PORT}`);
  const near = new Tool([
    'rproxy',
    '--listen',
    `tcp:${port}`,
    '--to',
    `rdma:${there}:${RDMA_PORT}`,
    '--addr',
    here,
    ...flags,
  ]);
  await near.printed(`tcp:127.0.0.1:${port}`);
  const end = async (): Promise<{ near: Ended; far: Ended }> => {
    near.child.kill('SIGINT');
    const first = await near.ended;
    far.child.kill('SIGINT');
    return { near: first, far: await far.ended };
  };
  return { port, near, far, end };
}

/** The lines of `--json`. */
export function eventsOf({ stdout }: Ended): Record<string, unknown>[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

export function ended({ code, stderr }: Ended): void {
  assert.deepEqual({ code, stderr }, { code: 130, stderr: '' });
}
