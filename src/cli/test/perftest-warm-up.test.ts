import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { clientAt, serverAt } from './pingpong-play.js';
import { type Ended, Tool, run } from './tool.js';
import { freePort } from '../../../test/support/ports.js';

const folder = mkdtempSync(join(tmpdir(), 'verbena-warm-up-'));
after(() => rmSync(folder, { recursive: true }));

const LINE = /^ Warm-up {9}: \d+\[ms\]$/m;

/** Both sides of a test, each practising first. */
async function play(tool: string, game: number, flags: readonly string[], settings = {}): Promise<[Ended, Ended]> {
  const port = String(await freePort());
  const side = [tool, '-p', port, '-n', '100', ...flags];
  const server = new Tool([...side, '--addr', serverAt(game)], settings);
  await server.printed('Waiting for client');
  const client = await run([...side, '--json', '--addr', clientAt(game), serverAt(game)], settings);
  return [await server.ended, client];
}

interface Told {
  readonly test_info: Readonly<Record<string, unknown>>;
  readonly results: { readonly n_iterations: number };
  readonly counters: Readonly<Record<string, number>>;
}

const CASES = [
  ['ib_send_bw', []],
  ['ib_write_bw', ['-b']],
  ['ib_read_bw', ['-e']],
  ['ib_atomic_bw', ['-l', '4']],
  ['ib_send_lat', ['-c', 'UD']],
  ['ib_write_lat', ['-c', 'XRC']],
  ['ib_read_lat', ['-R']],
  ['ib_atomic_lat', ['--host', 'inline']],
] as const;
for (const [game, [tool, flags]] of CASES.entries())
  test(`${[tool, ...flags].join(' ')} practises by itself, says so, and counts nothing of it`, async () => {
    const [server, client] = await play(tool, game, flags);
    assert.deepEqual({ code: server.code, stderr: server.stderr }, { code: 0, stderr: '' });
    assert.match(server.stdout, LINE);
    const { test_info, results, counters } = JSON.parse(client.stdout) as Told;
    assert.ok(Number(test_info['Warm_up_ms']) > 0);
    assert.equal(results.n_iterations, 100);
    // Some packets a message, and not those of thousands of messages.
    const { sent_pkts: sent } = counters;
    assert.ok(sent > 0 && sent < 8000, String(sent));
  });

test('--no-warm-up leaves it out', async () => {
  const [server, client] = await play('ib_send_lat', 20, ['--no-warm-up']);
  assert.doesNotMatch(server.stdout, LINE);
  assert.ok(!('Warm_up_ms' in (JSON.parse(client.stdout) as Told).test_info));
});

test('where packets are recorded, or disturbed by dice, there are none but those of the test', async () => {
  for (const settings of [{ VERBENA_PCAP: join(folder, 'run.pcapng') }, { VERBENA_NETEM: 'loss 0.01% seed 1' }]) {
    const [server] = await play('ib_send_lat', 21, [], settings);
    assert.doesNotMatch(server.stdout, LINE);
  }
});
