import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, simulate } from '../../../entry/sim.js';
import { runtime } from '../../../api/runtime/index.js';
import { Engine } from '../../core/index.js';
import { RsocketError } from '../index.js';
import { connected, Owner, pattern, type StreamPair } from './support/streams.js';

/** How far a stream has ended when its peer dies, from the survivor's point of view. */
const PHASES: Readonly<Record<string, (pair: StreamPair) => void>> = {
  'both directions are open': () => {},
  'this end has ended one direction': ({ atClient }) => atClient.stream.shutdown('write'),
  'this end reads no more': ({ atClient }) => atClient.stream.shutdown('read'),
  'the peer has ended one direction': ({ atServer }) => atServer.stream.shutdown('write'),
  'this end has ended both': ({ atClient }) => atClient.stream.shutdown('both'),
  'this end has closed': ({ atClient }) => atClient.stream.close(),
};

async function leftovers(sim: Sim, { client }: StreamPair): Promise<readonly unknown[]> {
  await sim.sleep(20_000_000);
  return [...Engine.of(client.context).statistics.outstanding];
}

describe('a stream whose peer dies', () => {
  for (const [when, act] of Object.entries(PHASES))
    it(`ends with an error where data is under way and ${when}`, () =>
      simulate(async (sim) => {
        const pair = await connected(sim);
        const { atClient, server, listener } = pair;
        sim.cut(server, pair.client);
        atClient.send(pattern(0, 1000));
        act(pair);
        server.crash();
        await atClient.closed;
        assert.ok(atClient.error instanceof RsocketError, String(atClient.error));
        assert.match(atClient.error.errno, /ETIMEDOUT|ECONNRESET/);
        assert.deepEqual(await leftovers(sim, pair), []);
        listener.close();
      }));

  it('learns of it by a keepalive where nothing is under way', () =>
    simulate(async (sim) => {
      const pair = await connected(sim);
      const { atClient, server } = pair;
      atClient.stream.setKeepAlive(10);
      await sim.sleep(60_000_000);
      assert.equal(atClient.told.includes('closed'), false);
      server.crash();
      await atClient.closed;
      assert.equal(atClient.error instanceof RsocketError && atClient.error.errno, 'ETIMEDOUT');
      assert.deepEqual(await leftovers(sim, pair), []);
    }));

  it('closes within its bound, however little the peer answers', () =>
    simulate(async (sim) => {
      const pair = await connected(sim);
      const { atClient, client, server } = pair;
      atClient.send(pattern(0, 1000));
      sim.partition(client, server);
      const before = sim.nowUs;
      atClient.stream.close(100);
      await atClient.closed;
      assert.ok(sim.nowUs - before < 150_000, `${sim.nowUs - before}`);
      assert.equal(atClient.error instanceof RsocketError && atClient.error.errno, 'ETIMEDOUT');
      assert.deepEqual(await leftovers(sim, pair), []);
    }));

  for (const lingerMs of [100, 60_000])
    it(`closes well within ${lingerMs} ms, where the peer has all that was written`, () =>
      simulate(async (sim) => {
        const pair = await connected(sim);
        const { atClient, client, server } = pair;
        atClient.send(pattern(0, 1000));
        await atClient.until('drained');
        sim.partition(client, server);
        const before = sim.nowUs;
        atClient.stream.close(lingerMs);
        await atClient.closed;
        assert.ok(sim.nowUs - before < 1500 * lingerMs, `${sim.nowUs - before}`);
        assert.equal(atClient.error, undefined);
        assert.deepEqual(await leftovers(sim, pair), []);
      }));

  it('sends nothing more by a keepalive that was taken back', () =>
    simulate(async (sim) => {
      const { atClient, listener } = await connected(sim);
      await sim.sleep(1_000_000);
      atClient.stream.setKeepAlive(1);
      atClient.stream.setKeepAlive(0);
      const before = sim.packets().length;
      await sim.sleep(10_000_000);
      assert.equal(sim.packets().length, before);
      atClient.stream.close();
      listener.close();
    }));
});

describe('a stream whose own device is closed', () => {
  it('ends with ENODEV, and leaves what has come', () =>
    simulate(async (sim) => {
      const { atServer, atClient, client } = await connected(sim);
      atClient.reads = false;
      atServer.send(pattern(0, 100));
      await atClient.until('readable');
      client.context.close();
      await atClient.closed;
      assert.equal(atClient.error instanceof RsocketError && atClient.error.errno, 'ENODEV');
      assert.equal(atClient.stream.readableBytes, 100);
      atClient.readAll();
      assert.equal(atClient.received, 100);
      assert.throws(() => atClient.stream.write(pattern(0, 1)), { errno: 'ENODEV' });
      atClient.stream.close();
      await atServer.closed;
    }));
});

describe('two ends that end a stream at once', () => {
  for (const direction of ['write', 'both'] as const)
    for (const bytes of [0, 1000])
      it(`both have ${bytes} bytes, and no error, by ${direction}`, () =>
        simulate(async (sim) => {
          const pair = await connected(sim);
          const { atClient, atServer, listener } = pair;
          atClient.reads = false;
          atServer.reads = false;
          if (bytes > 0) {
            atClient.send(pattern(0, bytes));
            atServer.send(pattern(0, bytes));
            await sim.sleep(1000);
          }
          atClient.stream.shutdown(direction);
          atServer.stream.shutdown(direction);
          await Promise.all([atClient.closed, atServer.closed]);
          for (const owner of [atClient, atServer]) {
            assert.equal(owner.error, undefined);
            assert.equal(owner.stream.readableBytes, bytes);
          }
          assert.deepEqual(await leftovers(sim, pair), []);
          listener.close();
        }));
});

describe('a stream', () => {
  it('never calls its owner from within a call of the owner', () =>
    simulate(async (sim) => {
      const { atClient, atServer, listener } = await connected(sim);
      let depth = 0;
      const { stream } = atServer;
      const never = (): void => assert.equal(depth, 0);
      const within = (action: () => void): void => {
        depth += 1;
        action();
        depth -= 1;
      };
      const ended = new Promise<void>((resolve) => {
        stream.events = {
          readable: () => {
            never();
            within(() => stream.consume(stream.peek().length));
            if (stream.bytesRead === 10_000) within(() => stream.close(0));
          },
          writable: never,
          drained: never,
          closed: () => {
            never();
            resolve();
          },
        };
      });
      within(() => stream.write(pattern(0, 500_000)));
      atClient.send(pattern(0, 10_000));
      await ended;
      listener.close();
    }));

  it('tells an owner that comes late what happened before', () =>
    simulate(async (sim) => {
      const { atClient, atServer, listener } = await connected(sim);
      atClient.send(pattern(0, 10));
      atClient.stream.close();
      await atServer.closed;
      const late = new Owner(atServer.stream);
      assert.deepEqual(late.told, []);
      assert.equal(atServer.received, 10);
      listener.close();
    }));
});

/** Resolves in the next turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => runtime().nextRound(resolve));
}

describe('what a stream tells its owner', () => {
  it('is closed within the least time that it was given, however often it is closed', () =>
    simulate(async (sim) => {
      const { atClient, client, server } = await connected(sim);
      atClient.send(pattern(0, 1000));
      sim.partition(client, server);
      const before = sim.nowUs;
      atClient.stream.close(100);
      await sim.sleep(50_000);
      atClient.stream.close(1000);
      await atClient.closed;
      assert.ok(sim.nowUs - before < 110_000, `${sim.nowUs - before} µs`);
    }));

  it('is no end of reading with more bytes behind it, where the peer goes on writing', () =>
    simulate(async (sim) => {
      const { atServer, atClient, listener } = await connected(sim);
      atClient.reads = false;
      atServer.send(pattern(0, 1000));
      await atClient.until(() => atClient.stream.readableBytes === 1000);
      atClient.stream.close();
      assert.equal(atClient.stream.isReadEnded, true);
      atServer.send(pattern(1000, 1000));
      await Promise.all([atClient.closed, atServer.closed]);
      assert.equal(atClient.stream.readableBytes, 1000);
      listener.close();
    }));

  it('is drained only where no byte is under way by then', () =>
    simulate(async (sim) => {
      const { atServer, atClient, client, listener } = await connected(sim);
      const { stream } = atClient;
      const underWay: number[] = [];
      stream.events = { ...stream.events, drained: () => underWay.push(stream.unacknowledgedBytes) };
      stream.write(pattern(0, 100));
      const engine = Engine.of(client.context);
      while (stream.unacknowledgedBytes > 0) engine.progress();
      // Before it is told.
      stream.write(pattern(100, 100));
      await turn();
      assert.deepEqual(underWay, []);
      while (stream.unacknowledgedBytes > 0) engine.progress();
      await turn();
      assert.deepEqual(underWay, [0]);
      atServer.stream.close();
      await atClient.closed;
      listener.close();
    }));
});
