import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { compileFunction } from 'node:vm';
import ts from 'typescript';
import * as verbena from '../../../entry/index.js';
import {
  alloc,
  CmEventType,
  type CmId,
  type Connection,
  type FullAddress,
  type Listener,
  PortSpace,
  QpType,
  SendFlags,
  WcStatus,
} from '../../../entry/index.js';
import { type Sim, type SimHost, simulate } from '../../../entry/sim.js';
import { ROOT } from '../../../cli/test/tool.js';

const SERVER = { host: 'server', port: 7174 } as const;

/** The server that docs/guide/start.md shows: all of its first program that comes before the client. */
function readmeServer(log: (line: string) => void): Listener {
  const [program] = /^```ts\n(.*?)^```$/ms.exec(readFileSync(join(ROOT, 'docs', 'guide', 'start.md'), 'utf8')) ?? [''];
  const server = /^async function .*?(?=^await using connection = await connect)/ms.exec(program);
  assert.ok(server, 'the page has a server and then a client');
  const { outputText } = ts.transpileModule(server[0], { compilerOptions: { target: ts.ScriptTarget.ES2023 } });
  const names = Object.keys(verbena);
  // What it returns is the program's listener.
  const run = compileFunction(`${outputText}\nreturn listener;`, ['console', 'AbortSignal', 'Buffer', ...names]) as (
    ...values: unknown[]
  ) => Listener;
  return run({ log }, AbortSignal, Buffer, ...Object.values(verbena));
}

/** An identifier that has asked, with a queue pair that is nobody's, so that its RTU is its program's affair. */
async function ask(host: SimHost, destination: FullAddress, privateData = new Uint8Array(0)): Promise<CmId> {
  const channel = host.createEventChannel();
  const id = host.createId(channel, PortSpace.TCP);
  const events = channel[Symbol.asyncIterator]();
  const expect = async (type: CmEventType): Promise<void> => {
    const { value: event } = await events.next();
    event?.ack();
    assert.equal(event?.event, type);
  };
  id.resolveAddr(destination);
  await expect(CmEventType.ADDR_RESOLVED);
  id.resolveRoute();
  await expect(CmEventType.ROUTE_RESOLVED);
  id.connect({ qpNum: 0x1234, qpType: QpType.RC, privateData });
  return id;
}

/** Asks as a client that does what it should, says hello, and parts. */
async function greet(host: SimHost, { port }: FullAddress): Promise<WcStatus> {
  const connection = await host.connect({ host: 'server', port });
  const mr = connection.regMsgs(alloc(64));
  mr.bytes.set(Buffer.from('hello'));
  connection.postSend(0n, mr.sge(0, 5), SendFlags.SIGNALED);
  const { status } = await connection.sendComp();
  await connection.close();
  return status;
}

const attacks: Readonly<Record<string, (host: SimHost, at: FullAddress, sim: Sim) => Promise<unknown>>> = {
  'takes its request back at once': async (host, at) => (await ask(host, at))[Symbol.dispose](),
  'is gone before it is accepted': async (host, at) => {
    await ask(host, at);
    host.crash();
  },
  'is accepted, and never says that it is ready': (host, at) => ask(host, at),
  'sends private data without sense': (host, at) => ask(host, at, new Uint8Array(56).fill(0xff)),
  'refuses to be accepted': async (host, at, sim) => {
    const id = await ask(host, at);
    await sim.sleep(1000);
    id.reject();
  },
  'parts as soon as it is connected': async (host, { port }) =>
    (await host.connect({ host: 'server', port }))[Symbol.dispose](),
  'is gone as soon as it is connected': async (host, { port }) => {
    await host.connect({ host: 'server', port });
    host.crash();
  },
  'sends more than there is room for': async (host, { port }) => {
    const connection = await host.connect({ host: 'server', port });
    connection.postSend(0n, connection.regMsgs(alloc(4096)).sge(), SendFlags.SIGNALED);
    await connection.sendComp();
  },
};

describe('the server of docs/guide/start.md', () => {
  for (const [what, attack] of Object.entries(attacks))
    it(`survives a client that ${what}, and serves others meanwhile`, () =>
      simulate(async (sim) => {
        const [server, client] = [sim.host('server'), sim.host('client')];
        const lines: string[] = [];
        const listener = await server.run(() => readmeServer((line) => void lines.push(line)));
        for (let i = 0; i < 3; i += 1) {
          await attack(sim.host(`attacker ${i}`), listener.address, sim);
          assert.equal(await greet(client, listener.address), WcStatus.SUCCESS);
        }
        assert.deepEqual(lines, ['hello', 'hello', 'hello']);
      }));
});

/** A server of which one knows when each handler begins, and what became of it. */
async function serving(
  sim: Sim,
  ...args: Parameters<Listener['serve']>
): Promise<Listener & { served: Promise<void> }> {
  return sim.host('server').run(() => {
    const listener = verbena.listen({ port: SERVER.port });
    return Object.assign(listener, { served: listener.serve(...args) });
  });
}

describe('serve', () => {
  it('has clients answered side by side', () =>
    simulate(async (sim) => {
      let let1Go: (() => void) | undefined;
      const held = new Promise<void>((resolve) => (let1Go = resolve));
      let begun = 0;
      const listener = await serving(sim, async (request) => {
        begun += 1;
        if (begun === 1) await held;
        await request.accept();
      });
      const client = sim.host('client');
      const first = client.connect(SERVER);
      await client.connect(SERVER);
      let1Go?.();
      await first;
      listener.close();
      await listener.served;
    }));

  it('rejects what its handler does not answer', () =>
    simulate(async (sim) => {
      await serving(sim, () => undefined);
      await assert.rejects(sim.host('client').connect(SERVER), { errno: 'ECONNREFUSED' });
    }));

  it('rejects requests beyond maxConnections, until there is room again', () =>
    simulate(async (sim) => {
      await serving(sim, async (request) => (await request.accept()).closed, { maxConnections: 1 });
      const client = sim.host('client');
      const first = await client.connect(SERVER);
      await assert.rejects(client.connect(SERVER), { errno: 'ECONNREFUSED' });
      await first.close();
      await client.connect(SERVER);
    }));

  it('ends the connection of a handler that throws, tells what it has thrown, and goes on', () =>
    simulate(async (sim) => {
      const errors: unknown[] = [];
      const onError = (error: unknown): void => void errors.push(error);
      const mistake = new SyntaxError('no JSON');
      const handler = async (request: verbena.ConnectionRequest): Promise<void> => {
        await request.accept();
        throw mistake;
      };
      await serving(sim, handler, { onError });
      const client = sim.host('client');
      const connections: Connection[] = [];
      for (let i = 0; i < 2; i += 1) connections.push(await client.connect(SERVER));
      await Promise.all(connections.map(({ closed }) => closed));
      assert.deepEqual(errors, [mistake, mistake]);
    }));

  it('tells of clients that have gone, too, where that is asked for', () =>
    simulate(async (sim) => {
      let told: ((error: unknown) => void) | undefined;
      const error = new Promise<unknown>((resolve) => (told = resolve));
      const listener = await serving(sim, (request) => request.accept(), { onError: (reason) => told?.(reason) });
      await ask(sim.host('client'), listener.address);
      assert.ok((await error) instanceof verbena.VerbsError);
    }));

  it('resolves when the listener and all handlers have ended', () =>
    simulate(async (sim) => {
      const listener = await serving(sim, async (request) => (await request.accept()).closed);
      const connection = await sim.host('client').connect(SERVER);
      let isOver = false;
      const over = listener.served.then(() => (isOver = true));
      listener.close();
      await sim.sleep(1000);
      assert.equal(isOver, false);
      await connection.close();
      await over;
    }));

  const wrong: readonly [what: string, ...Parameters<Listener['serve']>][] = [
    ['a handler that is none', 5 as never],
    ['options that are none', () => undefined, 5 as never],
    ['onError that is not a function', () => undefined, { onError: 5 as never }],
    ['maxConnections below 1', () => undefined, { maxConnections: 0 }],
  ];
  for (const [what, ...args] of wrong)
    it(`refuses ${what}`, () =>
      simulate(async (sim) => {
        const { served } = await serving(sim, ...args);
        await assert.rejects(served, { errno: 'EINVAL' });
      }));
});
