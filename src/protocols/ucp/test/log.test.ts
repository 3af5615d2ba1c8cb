import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runtime, useRuntime } from '../../../api/runtime/index.js';
import { type Sim, simulate } from '../../../entry/sim.js';
import { nodeRuntime } from '../../../node/hosting/node-runtime.js';
import type { UcpConfig } from '../config/settings.js';
import { UcpWorker } from '../worker/worker.js';
import { pattern, PORT, until } from './support/transports.js';
import { connected, onSelf } from './support/workers.js';

/** Lines without their times, names of devices and numbers of ports. */
const bare = (lines: readonly string[]): string[] =>
  lines.map((line) => line.replace(/^\[\d+\.\d{6}\] \[\w+\] UCX {2}/, '').replace(/port \d+/g, 'port N'));

/** Two workers, and what both say together. */
async function said(sim: Sim, config: UcpConfig, unexpectedBytes?: number) {
  const lines: string[] = [];
  return { lines, ...(await connected(sim, { config, unexpectedBytes, log: (line) => lines.push(line) })) };
}

describe('the log of a worker', () => {
  it('is a line for each thing that is said, whatever a name contains', () =>
    simulate((sim) => {
      const lines: string[] = [];
      const options = { name: 'a\n[0] b', config: { LOG_LEVEL: 'info' }, log: (line: string) => lines.push(line) };
      new UcpWorker(sim.host('alone').context, options).close();
      return Promise.resolve().then(() => {
        assert.equal(lines.length, 2);
        for (const line of lines) assert.match(line, /^\[[^\n]*a\\x0a\[0\] b[^\n]*$/);
      });
    }));

  it('says nothing unless it is asked', () =>
    simulate(async (sim) => {
      const { lines, there, server, close } = await said(sim, {});
      const receiving = server.tagReceive(new Uint8Array(50_000), 1);
      await there.tagSend(pattern(50_000), 1);
      await receiving;
      close();
      assert.deepEqual(lines, []);
    }));

  it('says at info what becomes of workers and endpoints, and of messages nothing', () =>
    simulate(async (sim) => {
      const { lines, hosts, there, back, server, close } = await said(sim, { LOG_LEVEL: 'info' });
      const receiving = server.tagReceive(new Uint8Array(50_000), 1);
      await there.tagSend(pattern(50_000), 1);
      await receiving;
      const [here, far] = hosts.map(({ context }) => context.address);
      there.close();
      await until(sim, () => back.failure !== undefined);
      close();
      await Promise.resolve();
      const made = hosts.map(({ context }) => `INFO  worker made: rc by ${context.device.name} at ${context.address}`);
      assert.deepEqual(bare(lines).slice(0, 2), made);
      const all = bare(lines);
      for (const line of [
        `INFO  listens at ${far} port N`,
        `INFO  endpoint 1: connected by rc from ${here} port N to ${far} port N`,
        `INFO  endpoint 1: accepted by rc from ${far} port N to ${here} port N`,
        'INFO  endpoint 1: failed with UCS_ERR_CONNECTION_RESET',
      ])
        assert.equal(all.filter((other) => other === line).length, 1, `${line} in ${all.join('\n')}`);
      for (const line of ['INFO  endpoint 1: closed', 'INFO  worker closed'])
        assert.equal(all.filter((other) => other === line).length, 2, line);
      assert.equal(all.length, 10);
    }));

  it('says at info why an endpoint could not be made', () =>
    simulate(async (sim) => {
      const { lines, hosts, client, close } = await said(sim, { LOG_LEVEL: 'info' });
      await assert.rejects(hosts[0].run(() => client.connect({ host: 'server', port: PORT + 1 })));
      assert.equal(
        bare(lines).filter((line) => /^INFO {2}endpoint \d+: not connected: \w*Error: /.test(line)).length,
        1,
      );
      close();
    }));

  it('says at debug how each rendezvous goes', () =>
    simulate(async (sim) => {
      const { lines, there, server, close } = await said(sim, { LOG_LEVEL: 'debug' });
      const receiving = server.tagReceive(new Uint8Array(50_000), 1);
      await there.tagSend(pattern(50_000), 1);
      await receiving;
      close();
      assert.deepEqual(
        bare(lines).filter((line) => line.startsWith('DEBUG')),
        [
          'DEBUG endpoint 1: rendezvous 2: 50000 bytes go by rendezvous get zcopy',
          "DEBUG endpoint 1: rendezvous 2: 50000 bytes are announced, as the peer's 2",
          'DEBUG endpoint 1: rendezvous 2: wanted, and read',
          'DEBUG endpoint 1: rendezvous 2: received, with UCS_OK',
          'DEBUG endpoint 1: rendezvous 2: sent, with UCS_OK',
        ],
      );
    }));

  it('says why nothing of a peer counts any more, which has sent more than is kept', () =>
    simulate(async (sim) => {
      const { lines, there, back, close } = await said(sim, { LOG_LEVEL: 'trace' }, 1000);
      for (let i = 0; i < 20; i += 1) there.tagSend(pattern(100), 1).catch(() => undefined);
      await until(sim, () => back.failure !== undefined);
      await sim.sleep(10);
      const why = 'nobody has asked for a message of 100 bytes';
      const all = bare(lines).filter((line) => line.includes(why));
      assert.deepEqual(
        all.map((line) => line.replace(/: nobody .*/, '')),
        [
          'DEBUG endpoint 1: nothing of the peer counts any more',
          'INFO  endpoint 1: failed with UCS_ERR_EXCEEDS_LIMIT',
        ],
      );
      close();
    }));

  it('says by PROTO_INFO which protocols an endpoint has, once, whatever its level', () =>
    simulate(async (sim) => {
      const lines: string[] = [];
      const { there, close } = onSelf(sim, {
        config: { PROTO_INFO: 'y', LOG_LEVEL: 'fatal' },
        log: (line) => lines.push(line),
      });
      await there.tagSend(pattern(8), 1);
      const ranges = there.query().tagProtocols;
      const expected = ranges.map(({ protocol, from, to, why }) => {
        assert.ok(there.explain(from).includes(protocol));
        return `PROTO endpoint 1: tag_send ${from}..${to === Infinity ? 'inf' : to} ${protocol}: ${why}`;
      });
      assert.deepEqual(bare(lines), expected);
      close();
    }));

  it('begins its lines with the time of the device, and with who speaks', () =>
    simulate(async (sim) => {
      const lines: string[] = [];
      const { context } = sim.host('alone');
      await sim.sleep(1_500_000);
      const log = (line: string) => lines.push(line);
      const worker = new UcpWorker(context, { name: 'left', config: { LOG_LEVEL: 'INFO' }, log });
      worker.close();
      await Promise.resolve();
      assert.match(lines[0], new RegExp(`^\\[1\\.5\\d{5}\\] \\[${context.device.name} left\\] UCX {2}INFO {2}worker`));
    }));

  it('may be given to a program that closes what it is about', () =>
    simulate(async (sim) => {
      let closes = 0;
      const worker: UcpWorker = new UcpWorker(sim.host('alone').context, {
        config: { LOG_LEVEL: 'info' },
        log: (line) => {
          if (!line.includes('connected')) return;
          closes += 1;
          worker.close();
        },
      });
      const endpoint = worker.connectToSelf();
      await Promise.resolve();
      assert.equal(closes, 1);
      await assert.rejects(endpoint.tagSend(pattern(8), 1), { status: -16 });
    }));

  it('ends with a warning when the program that takes it throws, and nothing else does', async () => {
    const before = runtime();
    const warnings: string[] = [];
    useRuntime({ ...before, warn: (problem) => void warnings.push(String(problem)) });
    try {
      await simulate(async (sim) => {
        const log = (): void => {
          throw new Error('full');
        };
        const { client, there, close } = onSelf(sim, { config: { LOG_LEVEL: 'debug' }, log });
        const receiving = client.tagReceive(new Uint8Array(8), 1);
        await there.tagSend(pattern(8), 1);
        await receiving;
        close();
        await Promise.resolve();
      });
    } finally {
      useRuntime(before);
    }
    assert.deepEqual(warnings, ['verbena/ucp: the log ends here: Error: full']);
  });
});

describe('the file of a log', () => {
  async function within(play: (folder: string, sim: Sim) => void): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'verbena-log-'));
    const before = runtime();
    useRuntime(nodeRuntime);
    try {
      await simulate((sim) => {
        play(folder, sim);
        return Promise.resolve();
      });
    } finally {
      useRuntime(before);
      rmSync(folder, { recursive: true });
    }
  }

  it('is added to, by its name with process and host', () =>
    within((folder, sim) => {
      const { context } = sim.host('alone');
      const config = { LOG_LEVEL: 'info', LOG_FILE: join(folder, '%p-%h.log') };
      for (let i = 0; i < 2; i += 1) new UcpWorker(context, { config }).close();
      const lines = readFileSync(join(folder, `${process.pid}-${hostname()}.log`), 'utf8').split('\n');
      assert.equal(lines.length, 5);
      assert.match(lines[3], /worker closed$/);
    }));

  it('is not made where nothing is to be said', () =>
    within((folder, sim) => {
      const LOG_FILE = join(folder, 'none.log');
      new UcpWorker(sim.host('alone').context, { config: { LOG_FILE } }).close();
      assert.throws(() => readFileSync(LOG_FILE), { code: 'ENOENT' });
    }));

  it('that cannot be written is refused when the worker is made', () =>
    within((folder, sim) => {
      const config = { LOG_LEVEL: 'info', LOG_FILE: join(folder, 'missing', 'a.log') };
      assert.throws(() => new UcpWorker(sim.host('alone').context, { config }), {
        errno: 'EINVAL',
        message: /LOG_FILE is '.*a\.log'.*ENOENT/s,
      });
    }));
});
