import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QpState } from '../../../device/ibta/index.js';
import { SeededRandom } from '../../../device/link/index.js';
import type { CmId, Connection, Cq } from '../../../entry/index.js';
import { type Sim, type SimHost, simulate } from '../../../entry/sim.js';
import { type Engine, establish, type Lease, RcEndpoint, type RcState } from '../index.js';
import { twoEngines } from './support/endpoints.js';

const WINDOW = 64;
const SENDS = 16;
const LONG = 1000;
const ORDER: readonly RcState[] = ['connecting', 'open', 'draining', 'closed'];

const queues = (spare = 0) => ({
  owner: 'a peer',
  sends: SENDS,
  receives: WINDOW,
  bufferBytes: 256,
  spare,
  inlineBytes: 8,
  maxSendSge: 1,
});

/** Sends numbers, and records everything that its endpoint reports. */
class Peer extends RcEndpoint<number> {
  readonly heard: number[] = [];
  /** Of each number that was sent, how its request ended. */
  readonly outcomes = new Map<number, 'done' | 'failed'>();
  readonly passed: RcState[] = ['connecting'];
  sent = 0;

  constructor(engine: Engine, id: CmId, spare?: number) {
    super(engine, id, queues(spare));
  }

  begin(connection: Connection): void {
    this.opened();
    this.note();
    this.attach(connection);
  }

  /** @param isAwaited whether its request is signaled, and uses a buffer */
  send(isAwaited: boolean): void {
    if (this.state !== 'open' || this.sends.room === 0) return;
    const lease = isAwaited ? this.sends.lease(LONG) : undefined;
    const qp = this.sends.begin((this.sent += 1), lease, isAwaited);
    if (qp === undefined) return;
    qp.wrSendImm(this.sent);
    if (lease !== undefined) qp.wrSetSge(lease.lkey, lease.addr, 4);
    this.sends.end();
  }

  finish(): void {
    this.drain();
    this.note();
  }

  /** Trusts its peer no more. */
  distrust(): void {
    this.disposeSoon();
    this.note();
  }

  breakQueue(): void {
    if (this.state !== 'closed' && this.qp.state === QpState.RTS) this.qp.modify({ qpState: QpState.ERR });
  }

  override destroyed(): void {
    super.destroyed();
    this.note();
    assert.ok(this.sends.isEmpty, 'no request outlives its queue pair');
  }

  note(): void {
    if (this.passed.at(-1) !== this.state) this.passed.push(this.state);
  }

  onDone(kept: number): void {
    this.#settle(kept, 'done');
  }

  onFailed(kept: number, _: Lease | undefined, cq: Cq | undefined): void {
    assert.equal(cq === undefined, this.state === 'closed', 'a request is lost only with its queue pair');
    this.#settle(kept, 'failed');
    this.finish();
  }

  onRefused(error: Error): void {
    throw error;
  }

  onMessage(slot: number, _: Uint8Array, { immData }: Cq): void {
    if (!this.defer(() => this.#hear(slot, immData))) this.#hear(slot, immData);
  }

  onReceiveError(): void {
    this.finish();
  }

  protected onDisconnected(): void {
    this.finish();
  }

  #hear(slot: number, number: number): void {
    if (!this.isActive) {
      this.receives.release(slot);
      return;
    }
    this.heard.push(number);
    this.receives.giveBack(slot);
  }

  #settle(kept: number, outcome: 'done' | 'failed'): void {
    assert.ok(!this.outcomes.has(kept), 'a request ends once');
    assert.equal(kept, this.outcomes.size + 1, 'requests end in order');
    if (outcome === 'done') assert.ok(![...this.outcomes.values()].includes('failed'), 'none succeeds after a failure');
    this.outcomes.set(kept, outcome);
  }
}

interface Pair {
  readonly ends: readonly [Peer, Peer];
  readonly connections: readonly [Connection, Connection];
}

async function connectPeers(
  [from, to]: readonly [SimHost, SimHost],
  engines: readonly [Engine, Engine],
  early = 0,
): Promise<Pair> {
  const listener = to.listen();
  const { port } = listener.address;
  const accepting = listener.next().then((request) =>
    establish(
      (id) => new Peer(engines[1], id),
      (createQp) => request.accept({ createQp }),
      (end, connection) => {
        end.begin(connection);
        for (let i = 0; i < early; i += 1) end.send(false);
        return { end, connection };
      },
    ),
  );
  const connecting = establish(
    (id) => new Peer(engines[0], id),
    (createQp) => from.connect({ host: to.name, port, createQp }),
    (end, connection) => ({ end, connection }),
  );
  const [client, server] = await Promise.all([connecting, accepting]);
  listener.close();
  return { ends: [client.end, server.end], connections: [client.connection, server.connection] };
}

function check({ ends: [client, server] }: Pair): void {
  for (const [end, peer] of [
    [client, server],
    [server, client],
  ] as const) {
    assert.equal(end.outcomes.size, end.sent, 'every request has ended');
    assert.deepEqual(
      end.passed,
      ORDER.filter((state) => end.passed.includes(state)),
      'states follow their order',
    );
    const numbers = Array.from({ length: end.heard.length }, (_, i) => i + 1);
    assert.deepEqual(end.heard, numbers, 'messages arrive once, in order, without gaps');
    assert.ok(end.heard.length <= peer.sent);
  }
}

/** Connections come and go by every end there is, on a network that loses packets. */
async function play(sim: Sim): Promise<void> {
  const { hosts, engines } = twoEngines(sim);
  const draw = new SeededRandom(sim.seed);
  const random = (below: number): number => draw.u32() % below;
  sim.setConditions({ loss: 0.05, duplication: 0.02, reordering: 0.05 });
  const pairs: Pair[] = [];
  for (let round = 0; round < 6; round += 1) {
    const pair = await connectPeers(hosts, engines, random(3));
    const { ends, connections } = pair;
    pairs.push(pair);
    const close = (which: number): void => {
      connections[which][Symbol.dispose]();
      ends[which].destroyed();
    };
    // The first to close may do so before the client has begun.
    if (random(4) > 0) ends[0].begin(connections[0]);
    for (let step = 0; step < 40; step += 1) {
      const which = random(2);
      const action = random(40);
      if (action === 0) ends[which].finish();
      else if (action === 1) ends[which].breakQueue();
      else if (action === 2) close(which);
      else if (action < 8) await sim.sleep(random(300));
      else ends[which].send(action % 2 === 0);
    }
    if (random(2) === 0) await sim.sleep(50_000);
    for (const which of [0, 1]) close(which);
  }
  pairs.forEach(check);
  for (const engine of engines) {
    assert.equal(engine.pool.leased, 0, 'every buffer is back');
    engine.close();
  }
}

describe('an end of a reliable connection', () => {
  it('passes its states in order, ends each request once and returns every buffer, under loss and kills', () =>
    simulate({ seeds: 20 }, play));

  it('delivers what came before it was open, then what comes later', () =>
    simulate(async (sim) => {
      const { hosts, engines } = twoEngines(sim);
      const { ends, connections } = await connectPeers(hosts, engines, 3);
      const [client, server] = ends;
      await sim.sleep(1000);
      assert.deepEqual([client.state, client.heard], ['connecting', []]);
      client.begin(connections[0]);
      assert.deepEqual(client.heard, [1, 2, 3]);
      server.send(true);
      await sim.sleep(1000);
      assert.deepEqual(client.heard, [1, 2, 3, 4]);
      for (const connection of connections) connection[Symbol.dispose]();
      for (const end of ends) end.destroyed();
    }));

  it('delivers what came before its peer had gone, and drains then', () =>
    simulate(async (sim) => {
      const { hosts, engines } = twoEngines(sim);
      const { ends, connections } = await connectPeers(hosts, engines);
      const [client, server] = ends;
      client.begin(connections[0]);
      server.send(true);
      await sim.sleep(1000);
      server.send(true);
      await sim.sleep(1);
      await connections[1].close();
      server.destroyed();
      await sim.sleep(1000);
      assert.deepEqual([client.heard, client.state], [[1, 2], 'draining']);
      client.destroyed();
    }));

  it('keeps the buffers of its receives until its queue pair is destroyed, where it ends before its connection comes', () =>
    simulate(async (sim) => {
      const { hosts, engines } = twoEngines(sim);
      const { ends, connections } = await connectPeers(hosts, engines);
      const [client, server] = ends;
      client.distrust();
      await sim.sleep(1000);
      assert.deepEqual([client.state, engines[0].pool.leased], ['draining', WINDOW]);
      client.begin(connections[0]);
      server.send(true);
      await sim.sleep(1000);
      assert.deepEqual([client.passed, client.heard], [['connecting', 'draining', 'closed'], []]);
      assert.equal(engines[0].pool.leased, 0);
      connections[1][Symbol.dispose]();
      server.destroyed();
    }));

  it('leaves nothing behind where the pool has no buffers for it', () =>
    simulate(async (sim) => {
      const { hosts, engines } = twoEngines(sim, { poolBytes: 8192 });
      const listener = hosts[1].listen();
      const { host, port } = listener.address;
      const connected = establish(
        (id) => new Peer(engines[0], id, 1),
        (createQp) => hosts[0].connect({ host, port, createQp }),
        (end) => end,
      );
      await assert.rejects(connected, { code: 'ENOMEM', message: /no buffers are left/ });
      listener.close();
      assert.equal(engines[0].pool.leased, 0);
      engines[0].close();
    }));
});
