import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Engine, SpareMemory } from '../index.js';
import { connectStream, listenStreams, type RsocketStreamSocket } from '../../rsocket/index.js';
import { type Sim, simulate } from '../../../entry/sim.js';
import { nextStream } from '../../rsocket/test/support/streams.js';

const PORT = 7471;
const BYTES = 65_536;
const SECRET = 0x5a;

describe('memory of connections that have ended', () => {
  it('comes back cleared', () => {
    const spare = new SpareMemory();
    const memory = spare.take(BYTES);
    memory.fill(SECRET);
    spare.give(memory);
    assert.equal(spare.bytes, BYTES);
    const next = spare.take(BYTES);
    assert.equal(next, memory);
    assert.ok(next.every((byte) => byte === 0));
    assert.equal(spare.bytes, 0);
  });

  it('is kept up to a limit', () => {
    const spare = new SpareMemory(2 * BYTES);
    for (let i = 0; i < 3; i += 1) spare.give(new Uint8Array(BYTES));
    assert.equal(spare.bytes, 2 * BYTES);
  });

  it('is never that of another length', () => {
    const spare = new SpareMemory();
    spare.give(new Uint8Array(BYTES));
    assert.equal(spare.take(BYTES / 2).length, BYTES / 2);
    assert.equal(spare.bytes, BYTES);
  });
});

/** Connects, has the server send a block of secret bytes, and gives both ends. */
async function told(sim: Sim): Promise<{ stream: RsocketStreamSocket; engine: Engine; end: () => Promise<void> }> {
  const [server, client] = ['server', 'client'].map(
    (name) => sim.hosts.find((host) => host.name === name) ?? sim.host(name),
  );
  const listener = listenStreams({ port: PORT, context: server.context });
  const accepted = nextStream(listener);
  const stream = await client.run(() => connectStream({ host: 'server', port: PORT }));
  const other = await accepted;
  other.write(new Uint8Array(1000).fill(SECRET));
  await sim.sleep(1000);
  assert.equal(stream.readableBytes, 1000);
  const end = async (): Promise<void> => {
    other.close();
    stream.close();
    listener.close();
    await sim.sleep(10_000_000);
  };
  return { stream, engine: Engine.of(client.context), end };
}

describe('the memory of a stream', () => {
  it('is for the next one, once it has ended', () =>
    simulate(async (sim) => {
      const first = await told(sim);
      first.stream.read(new Uint8Array(1000));
      await first.end();
      const { bytes } = first.engine.spareMemory;
      assert.ok(bytes > 0);
      for (let i = 0; i < 5; i += 1) {
        const next = await told(sim);
        next.stream.read(new Uint8Array(1000));
        await next.end();
        assert.equal(next.engine.spareMemory.bytes, bytes);
      }
    }));

  it('stays its own while its program has a view of it', () =>
    simulate(async (sim) => {
      const first = await told(sim);
      const view = first.stream.peek();
      first.stream.consume(view.length);
      await first.end();
      const next = await told(sim);
      const seen = next.stream.peek();
      assert.notEqual(seen.buffer, view.buffer);
      assert.ok(view.every((byte) => byte === SECRET));
      await next.end();
    }));

  it('stays its own until what has come was read', () =>
    simulate(async (sim) => {
      const first = await told(sim);
      await first.end();
      const before = first.engine.spareMemory.bytes;
      const next = await told(sim);
      next.stream.read(new Uint8Array(1000));
      const into = new Uint8Array(2000);
      assert.equal(first.stream.read(into), 1000);
      assert.ok(into.subarray(0, 1000).every((byte) => byte === SECRET));
      assert.equal(first.stream.read(into), 0);
      await next.end();
      assert.ok(first.engine.spareMemory.bytes > before);
    }));
});
