/** Simulations where nobody follows what programs await, as in a page: nothing here imports what is Node's. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { simulate, type Sim, type SimHost, StalledError } from '../../src/sim/index.js';
import {
  alloc,
  connect,
  getDeviceList,
  listen,
  openDevice,
  SendFlags,
  VerbsError,
  WcStatus,
} from '../../src/entry/portable.js';

const PORT = 7174;

/** Has a host take one message of each client. */
function takeMessages(host: SimHost, taken: number[] = []): void {
  void host.listen({ port: PORT }).serve(async (request) => {
    const prepare = { prepare: (id: (typeof request)['id']) => id.postRecv(0n, id.regMsgs(alloc(64)).sge()) };
    const connection = await request.accept(prepare);
    taken.push((await connection.recvComp()).byteLen);
  });
}

function pair(sim: Sim): { readonly server: SimHost; readonly client: SimHost } {
  return { server: sim.host('server'), client: sim.host('client') };
}

async function refusalOf(promise: Promise<unknown>): Promise<VerbsError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof VerbsError);
  return error;
}

describe('a simulation in a page of a browser', () => {
  it('has hosts that connect and listen, before and after what is awaited', () =>
    simulate(async (sim) => {
      const { server, client } = pair(sim);
      const taken: number[] = [];
      takeMessages(server, taken);
      await sim.sleep(10);
      const connection = await client.connect({ host: 'server', port: PORT });
      connection.postSend(0n, connection.regMsgs(alloc(5)).sge(), SendFlags.SIGNALED);
      const { status } = await connection.sendComp();
      await sim.until(() => taken.length > 0);
      assert.deepEqual([status, taken], [WcStatus.SUCCESS, [5]]);
    }));

  it('lets a program connect by name, which is found out while it is awaited', () =>
    simulate(async (sim) => {
      const { server, client } = pair(sim);
      takeMessages(server);
      const connection = await client.run(() => connect({ host: 'server', port: PORT }));
      assert.equal(connection.localAddress.host, client.address);
    }));

  it('has a program know its host until it first awaits something, and says then what to do', () =>
    simulate(async (sim) => {
      const { client } = pair(sim);
      const known = await client.run(() => [openDevice() === client.context, getDeviceList().length]);
      assert.deepEqual(known, [true, 1]);
      for (const call of [() => openDevice(), () => getDeviceList(), () => listen()]) {
        const refused = client.run(async () => {
          await Promise.resolve();
          return call();
        });
        const { errno, message } = await refusalOf(refused);
        assert.equal(errno, 'ENODEV');
        assert.match(message, /knows its host until its first await.*host\.connect.*host\.run/);
      }
    }));

  it('runs what it is told to do later on the host where it was told', () =>
    simulate(async (sim) => {
      const { server, client } = pair(sim);
      const found: boolean[] = [];
      const look = (host: SimHost) => (): void => void found.push(openDevice() === host.context);
      await client.run(() => sim.at(10, look(client)));
      await server.run(() => sim.at(20, look(server)));
      await client.run(() => sim.until(() => openDevice() === client.context && sim.nowUs >= 20));
      assert.deepEqual(found, [true, true]);
    }));

  it('has a program sleep until its host is resumed, and for ever when it crashes', () =>
    simulate(async (sim) => {
      const { server, client } = pair(sim);
      const woken: string[] = [];
      void client.run(() => sim.sleep(10)).then(() => woken.push(`client at ${sim.nowUs}`));
      void server.run(() => sim.sleep(10)).then(() => woken.push('server'));
      client.pause();
      server.crash();
      sim.at(500, () => client.resume());
      await sim.sleep(1000);
      assert.deepEqual(woken, ['client at 500']);
    }));

  it('needs no shared memory, which pages have only when they are isolated from others', () => {
    const program = `
      delete globalThis.SharedArrayBuffer;
      const { simulate } = await import(${JSON.stringify(new URL('../../src/sim/index.js', import.meta.url).href)});
      const { alloc } = await import(${JSON.stringify(new URL('../../src/entry/portable.js', import.meta.url).href)});
      await simulate((sim) => {
        const { context } = sim.host('host');
        context.createCq({ cqe: 1, channel: context.createCompChannel() });
        context.createCompCntr();
        context.allocPd().regMr(alloc(1));
      });`;
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
    assert.equal(stderr, '');
  });

  it('gives up by virtual time', () =>
    simulate(async (sim) => {
      const { client } = pair(sim);
      sim.partition('client');
      const { errno } = await refusalOf(client.connect({ host: 'server', port: PORT, timeoutMs: 700 }));
      assert.deepEqual([errno, Math.round(sim.nowUs / 1000)], ['ETIMEDOUT', 700]);
    }));

  it('says so when nothing is left to happen', async () => {
    const stalled = simulate({ patienceMs: 1 }, (sim) => sim.until(() => false));
    await assert.rejects(stalled, StalledError);
  });

  it('writes no file, and says where packets are', () =>
    simulate((sim) => {
      assert.throws(() => sim.writeCapture('run.pcapng'), /no files in a page of a browser; sim\.packets/);
    }));
});
