import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate, type Sim } from '../../../../entry/sim.js';
import { Engine } from '../../../core/index.js';
import { acceptRc, AmHandlers, connectRc, type Endpoint, MemoryDomain } from '../../uct/index.js';
import { PURE_GRANT } from '../../uct/rc/flow-control.js';
import { decodeHello, encodeHello, HELLO_BYTES } from '../../uct/hello.js';
import { UcsStatus } from '../../wire/index.js';
import { connectedByRc, pattern, PORT, Told, until } from '../support/transports.js';

const NONE = new Uint8Array(0);
const { UCS_OK, UCS_INPROGRESS, UCS_ERR_NO_RESOURCE } = UcsStatus;

/** Sends numbered messages, and waits for room where there is none. */
function sendMany(endpoint: Endpoint, count: number): void {
  let next = 0;
  const retry = (): UcsStatus => {
    while (next < count) {
      const status = endpoint.amShort(1, NONE, Uint8Array.of(next & 0xff, next >> 8));
      if (status !== UCS_OK) return status;
      next += 1;
    }
    return UCS_OK;
  };
  endpoint.pendingAdd({ retry });
}

/** A peer that has said hello, and then says what it is told to. */
async function lying(sim: Sim, bytes: Uint8Array) {
  const [host, peer] = [sim.host('host'), sim.host('peer')];
  const domain = new MemoryDomain(new Engine(host.context, { name: 'a test' }));
  const listener = host.listen({ port: PORT });
  const accepting = listener.next().then((request) => acceptRc({ domain, handlers: new AmHandlers() }, request));
  const privateData = encodeHello({ window: 4, segmentBytes: 4096 });
  const connection = await peer.connect({ host: 'host', port: PORT, privateData });
  const endpoint = await accepting;
  listener.close();
  const failures: UcsStatus[] = [];
  endpoint.onFailure = (status) => failures.push(status);
  using memory = connection.regMsgs(bytes.length > 0 ? bytes : new Uint8Array(1));
  connection.postSend(1, { addr: memory.addr, length: bytes.length, lkey: memory.lkey });
  await until(sim, () => endpoint.failure !== undefined);
  endpoint.close();
  domain.engine.close();
  return failures;
}

describe('the transport rc', () => {
  it('brings all messages of both ends in their order on a bad network, and nobody lacks a buffer', () =>
    simulate({ seeds: 5 }, async (sim) => {
      const { here, there, close, hosts } = await connectedByRc(sim, 5);
      sim.setConditions({ loss: 0.02, duplication: 0.02, reordering: 0.02 });
      const got = [here, there].map(({ handlers }) => {
        const numbers: number[] = [];
        handlers.set(1, ([low, high]) => numbers.push(low | (high << 8)));
        return numbers;
      });
      sendMany(here.endpoint, 300);
      sendMany(there.endpoint, 300);
      await until(sim, () => got.every((numbers) => numbers.length === 300));
      const all = Array.from({ length: 300 }, (_, number) => number);
      assert.deepEqual(got, [all, all]);
      for (const host of hosts) assert.equal(host.counters()['rcvd_rnr_err'] ?? 0, 0);
      close();
    }));

  it('asks for an acknowledgement of few short messages, which nobody waits for', () =>
    simulate(async (sim) => {
      const { here, there, close, hosts } = await connectedByRc(sim);
      let got = 0;
      there.handlers.set(1, () => (got += 1));
      const before = hosts[1].counters()['sent_pkts'];
      sendMany(here.endpoint, 200);
      await until(sim, () => got === 200);
      // One message in seventeen, and grants of room.
      const sent = hosts[1].counters()['sent_pkts'] - before;
      assert.ok(sent < 50, `${sent} packets`);
      close();
    }));

  it('flushes what nobody waits for, also where the peer has gone', () =>
    simulate(async (sim) => {
      const { here, there, close, hosts } = await connectedByRc(sim);
      const bytes = new Uint8Array(8);
      const target = there.domain.register(bytes);
      assert.equal(here.endpoint.putShort(pattern(8), target), UCS_OK);
      const [told, failed] = [new Told(), new Told()];
      assert.equal(here.endpoint.flush(told), UCS_INPROGRESS);
      await until(sim, () => told.statuses.length > 0);
      assert.deepEqual([told.statuses, bytes], [[UCS_OK], pattern(8)]);
      hosts[1].crash();
      assert.equal(here.endpoint.putShort(pattern(8), target), UCS_OK);
      assert.equal(here.endpoint.flush(failed), UCS_INPROGRESS);
      await sim.sleep(60_000_000);
      assert.deepEqual(failed.statuses, [UcsStatus.UCS_ERR_ENDPOINT_TIMEOUT]);
      target.deregister();
      close();
    }));

  it('finds out that the peer has gone by what nobody waits for', () =>
    simulate(async (sim) => {
      const { here, hosts } = await connectedByRc(sim);
      const failures: UcsStatus[] = [];
      here.endpoint.onFailure = (status) => failures.push(status);
      hosts[1].crash();
      assert.equal(here.endpoint.amShort(1, NONE, NONE), UCS_OK);
      await sim.sleep(60_000_000);
      assert.deepEqual(failures, [UcsStatus.UCS_ERR_ENDPOINT_TIMEOUT]);
      here.endpoint.close();
      here.domain.engine.close();
    }));

  it('tells all that is under way, and all who wait, when the peer has gone', () =>
    simulate(async (sim) => {
      const { here, hosts, there } = await connectedByRc(sim);
      const { endpoint, domain } = here;
      const failures: UcsStatus[] = [];
      endpoint.onFailure = (status) => failures.push(status);
      using target = there.domain.register(new Uint8Array(64));
      const memory = domain.register(pattern(64));
      hosts[1].crash();
      const place = { memory, offset: 0, length: 64 };
      const tolds = Array.from({ length: 5 }, () => new Told());
      for (const told of tolds) assert.equal(endpoint.putZcopy(place, target, told), UCS_INPROGRESS);
      const flushTold = new Told();
      assert.equal(endpoint.flush(flushTold), UCS_INPROGRESS);
      const retried: UcsStatus[] = [];
      while (endpoint.amShort(1, NONE, NONE) === UCS_OK);
      const retry = (): UcsStatus => {
        const status = endpoint.amShort(1, NONE, NONE);
        retried.push(status);
        return status;
      };
      endpoint.pendingAdd({ retry });
      await sim.sleep(60_000_000);
      const { UCS_ERR_ENDPOINT_TIMEOUT } = UcsStatus;
      for (const told of [...tolds, flushTold]) assert.deepEqual(told.statuses, [UCS_ERR_ENDPOINT_TIMEOUT]);
      assert.deepEqual(failures, [UCS_ERR_ENDPOINT_TIMEOUT]);
      assert.deepEqual(retried, [UCS_ERR_NO_RESOURCE, UCS_ERR_ENDPOINT_TIMEOUT]);
      assert.equal(endpoint.amShort(1, NONE, NONE), UCS_ERR_ENDPOINT_TIMEOUT);
      memory.deregister();
      endpoint.close();
      domain.engine.close();
    }));

  it('cancels what is under way when it is closed, and tells the peer that it has gone', () =>
    simulate(async (sim) => {
      const { here, there, close } = await connectedByRc(sim);
      const target = there.domain.register(new Uint8Array(64));
      const memory = here.domain.register(pattern(64));
      const told = new Told();
      const place = { memory, offset: 0, length: 64 };
      assert.equal(here.endpoint.putZcopy(place, target, told), UCS_INPROGRESS);
      here.endpoint.close();
      assert.deepEqual(told.statuses, [UcsStatus.UCS_ERR_CANCELED]);
      here.endpoint.close();
      await until(sim, () => there.endpoint.failure !== undefined);
      assert.equal(there.endpoint.failure, UcsStatus.UCS_ERR_CONNECTION_RESET);
      memory.deregister();
      target.deregister();
      close();
    }));

  it('hands over what had come before the peer went', () =>
    simulate(async (sim) => {
      const { here, there, close } = await connectedByRc(sim);
      let count = 0;
      there.handlers.set(1, () => (count += 1));
      const told = new Told();
      for (let i = 0; i < 5; i += 1) here.endpoint.amShort(1, NONE, NONE);
      here.endpoint.flush(told);
      await until(sim, () => told.statuses.length > 0);
      here.endpoint.close();
      await until(sim, () => there.endpoint.failure !== undefined);
      assert.equal(count, 5);
      close();
    }));

  const lies: Record<string, Uint8Array> = {
    'grants what nobody has asked for': Uint8Array.of(PURE_GRANT),
    'asks twice in a message': Uint8Array.of(0x61),
    'sends a message of no bytes': NONE,
    'sends more than the buffers hold': new Uint8Array(5000).fill(1),
  };
  for (const [what, bytes] of Object.entries(lies))
    it(`has nothing to do any more with a peer that ${what}`, () =>
      simulate(async (sim) => {
        assert.deepEqual(await lying(sim, bytes), [UcsStatus.UCS_ERR_IO_ERROR]);
      }));

  it('refuses a peer that speaks something else, and is told so by one', () =>
    simulate(async (sim) => {
      const [host, peer] = [sim.host('host'), sim.host('peer')];
      const own = {
        domain: new MemoryDomain(new Engine(host.context, { name: 'a test' })),
        handlers: new AmHandlers(),
      };
      const listener = host.listen({ port: PORT });
      const accepting = listener.next().then((request) => acceptRc(own, request));
      const refused = peer.connect({ host: 'host', port: PORT, privateData: new Uint8Array(12) });
      await assert.rejects(accepting, { errno: 'EPROTO' });
      await assert.rejects(refused, { errno: 'ECONNREFUSED' });
      listener.close();

      const other = peer.listen({ port: PORT });
      const accepted = other.next().then((request) => request.accept());
      await assert.rejects(
        host.run(() => connectRc(own, { host: 'peer', port: PORT })),
        { errno: 'EPROTO' },
      );
      await accepted;
      other.close();
      own.domain.engine.close();
    }));
});

describe('what an end of rc says of itself', () => {
  const hello = { window: 32, segmentBytes: 4160 };

  it('has these bytes, and is what was said, zeros behind it or not', () => {
    const bytes = encodeHello(hello);
    assert.equal(Buffer.from(bytes).toString('hex'), '56554354' + '01' + '00' + '2000' + '40100000');
    assert.deepEqual(decodeHello(Uint8Array.of(...bytes, 0, 0, 0)), hello);
  });

  const lies: Record<string, readonly [at: number, values: readonly number[], problem: RegExp]> = {
    'by another protocol': [0, [0], /does not speak/],
    'by another version': [4, [2], /version 2/],
    'with what nobody has asked for': [5, [1], /reserved is 1/],
    'with no window': [6, [0, 0], /window is 0/],
    'with a window beyond all measure': [6, [1, 4], /window is 1025/],
    'with buffers too short for any message': [8, [255, 0], /segmentBytes is 255/],
    'with buffers beyond all measure': [8, [1, 0, 1], /segmentBytes is 65537/],
  };
  for (const [what, [at, values, problem]] of Object.entries(lies))
    it(`${what} is refused`, () => {
      const bytes = encodeHello(hello);
      bytes.set(values, at);
      const said = decodeHello(bytes);
      assert.match(typeof said === 'string' ? said : 'it is good', problem);
    });

  it('that is cut is refused', () => {
    for (let length = 0; length < HELLO_BYTES; length += 1)
      assert.equal(typeof decodeHello(encodeHello(hello).subarray(0, length)), 'string');
  });
});
