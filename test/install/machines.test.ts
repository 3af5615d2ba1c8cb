import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { namespaceProblem } from '../../src/node/links/test/namespace.js';
import { loopback } from '../support/loopback.js';
import { type Installation, installed } from './installation.js';
import { type Machine, MACHINES, RESTRICTED, type Way } from './machines.js';

const MIB = 4;
const noNamespaces = namespaceProblem();
const noMounts =
  noNamespaces !== false
    ? noNamespaces
    : spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'none', '/dev/shm'])
        .status !== 0 && 'nothing can be mounted here';

/** Runs `verbena` as a user of that machine does. */
async function run(machine: Machine, installation: Installation, args: readonly string[]) {
  const { env = {}, flags = [], before } = machine;
  const command = [process.execPath, ...flags, installation.tool, ...args];
  const shell = ['unshare', '--user', '--map-root-user', '--mount', '--net', 'sh', '-c'];
  const [file, ...rest] =
    before === undefined ? command : [...shell, `ip link set lo up && ${before} && exec "$0" "$@"`, ...command];
  const inherited = Object.entries(process.env).filter(([name]) => !/^(VERBENA_|NODE_OPTIONS$)/.test(name));
  const child = spawn(file, rest, {
    cwd: installation.folder,
    env: { ...Object.fromEntries(inherited), VERBENA_TEST_PACKAGE: installation.package, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

function wayOf({ link_local_sent_packets: local = 0, link_send_calls: calls, link_sent_packets: sent }: Counters): Way {
  if (local > 0) return 'memory';
  assert.ok(sent > 0);
  return calls === undefined ? 'dgram' : 'udp';
}

interface Counters {
  readonly link_sent_packets: number;
  readonly link_send_calls?: number;
  readonly link_local_sent_packets?: number;
}

for (const [index, machine] of MACHINES.entries()) {
  const { name, lacking, before, way, warns } = machine;
  test(`a file arrives whole on a machine ${name}`, { skip: before !== undefined && noMounts }, async () => {
    const installation = installed(lacking);
    const ends = ['--from', loopback(2 * index + 1), '--to', loopback(2 * index + 2)];
    const { code, stdout, stderr } = await run(machine, installation, [
      'transfer',
      '--size',
      `${MIB}`,
      '--json',
      ...ends,
    ]);
    assert.deepEqual({ code, warned: stderr !== '' }, { code: 0, warned: warns !== undefined }, stderr);
    if (warns !== undefined) assert.match(stderr, warns);
    // That is what `transfer --json` prints, once the receiver has compared the hashes.
    const { bytes, sender } = JSON.parse(stdout) as { bytes: number; sender: { counters: Counters } };
    assert.equal(bytes, MIB << 20);
    assert.equal(wayOf(sender.counters), way);
  });
}

test('a program that may start no threads is told what it needs', async () => {
  const machine = { name: '', flags: RESTRICTED, way: 'dgram' } as const;
  const { code, stderr } = await run(machine, installed(), ['ibv_devinfo']);
  assert.equal(code, 1);
  assert.match(stderr, /ibv_open_device: Node may start no thread .+ \(EACCES\)\. Give it --allow-worker too; .+\n$/);
});
