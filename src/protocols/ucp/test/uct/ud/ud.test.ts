import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate, type Sim } from '../../../../../entry/sim.js';
import { Engine } from '../../../../core/index.js';
import { type Endpoint, MemoryDomain, type UdEndpoint, UdInterface } from '../../../uct/index.js';
import { UcsStatus } from '../../../wire/index.js';
import { connectedByUd, done, flushed, pattern, Told, until } from '../../support/transports.js';

const NONE = new Uint8Array(0);
const SECOND = 1_000_000;
const { UCS_OK, UCS_INPROGRESS, UCS_ERR_CANCELED, UCS_ERR_CONNECTION_RESET, UCS_ERR_ENDPOINT_TIMEOUT } = UcsStatus;

/** Sends numbered messages of many lengths, and waits for room where there is none. */
function sendMany(endpoint: Endpoint, count: number): void {
  let next = 0;
  const send = (): UcsStatus => {
    const number = Uint8Array.of(next & 0xff, next >> 8);
    if (next % 3 !== 0) return endpoint.amShort(1, number, pattern(next % 100));
    return endpoint.amBcopy(1, {
      pack: (into) => {
        into.set(number);
        const length = Math.min(into.length - 2, (next * 37) % 4000);
        into.set(pattern(length), 2);
        return 2 + length;
      },
    });
  };
  const retry = (): UcsStatus => {
    for (; next < count; next += 1) {
      const status = send();
      if (status !== UCS_OK) return status;
    }
    return UCS_OK;
  };
  endpoint.pendingAdd({ retry });
}

/** Takes note of the numbers that come, and looks at what is behind them. */
function numbersAt({ handlers }: Pick<UdEndpoint, 'handlers'>): number[] {
  const numbers: number[] = [];
  handlers.set(1, (bytes) => {
    assert.deepEqual(bytes.slice(2), pattern(bytes.length - 2));
    numbers.push(bytes[0] | (bytes[1] << 8));
  });
  return numbers;
}

/** An interface on a host of that name. */
function interfaceOn(sim: Sim, name: string, options: ConstructorParameters<typeof UdInterface>[1] = {}) {
  const host = sim.host(name);
  const domain = new MemoryDomain(new Engine(host.context, { name: 'a test' }));
  const own = new UdInterface(domain, options);
  const close = async (): Promise<void> => {
    await own.close();
    domain.engine.close();
  };
  return { host, domain, own, close };
}

describe('the transport ud', () => {
  it('brings all messages of both ends in their order on a bad network', () =>
    simulate({ seeds: 6 }, async (sim) => {
      sim.setConditions({ loss: 0.05, duplication: 0.05, reordering: 0.1, jitterUs: 20 });
      const { here, there, close } = await connectedByUd(sim);
      const got = [here, there].map(({ endpoint }) => numbersAt(endpoint));
      sendMany(here.endpoint, 400);
      sendMany(there.endpoint, 400);
      await until(sim, () => got.every((numbers) => numbers.length === 400));
      const all = Array.from({ length: 400 }, (_, number) => number);
      assert.deepEqual(got, [all, all]);
      await flushed(sim, here.endpoint);
      await flushed(sim, there.endpoint);
      assert.deepEqual([here.interface.early, there.interface.early], [0, 0]);
      await close();
    }));

  it('sends memory from where it lies as often as it takes, and tells that it is done when the peer has it', () =>
    simulate({ seeds: 4 }, async (sim) => {
      sim.setConditions({ loss: 0.1 });
      const { here, there, close } = await connectedByUd(sim);
      const got: Uint8Array[] = [];
      there.handlers.set(1, (bytes) => got.push(bytes.slice()));
      const memory = here.domain.register(pattern(2000));
      for (let i = 0; i < 50; i += 1) {
        memory.bytes.set(pattern(2000, i));
        const place = { memory, offset: 100, length: 1900 };
        assert.equal(
          await done(sim, here.endpoint, (told) => here.endpoint.amZcopy(1, Uint8Array.of(i), place, told)),
          UCS_OK,
        );
        assert.equal(got.length, i + 1);
        // What is done is not sent again.
        memory.bytes.fill(0);
      }
      for (const [i, bytes] of got.entries()) assert.deepEqual(bytes, Uint8Array.of(i, ...pattern(2000, i).slice(100)));
      memory.deregister();
      await close();
    }));

  it('sends again what is lost, and nothing where nothing is', () =>
    simulate(async (sim) => {
      const { here, there, close } = await connectedByUd(sim);
      const numbers = numbersAt(there.endpoint);
      sendMany(here.endpoint, 1000);
      await until(sim, () => numbers.length === 1000);
      assert.equal(here.interface.statistics.resent + there.interface.statistics.resent, 0);
      sim.drop({ opcode: 'UD_SEND_ONLY', nth: 20 });
      sendMany(here.endpoint, 100);
      await until(sim, () => numbers.length === 1100);
      assert.equal(here.interface.statistics.resent + there.interface.statistics.resent, 1);
      await close();
    }));

  it('connects in spite of losses, once', () =>
    simulate({ seeds: 12 }, async (sim) => {
      sim.setConditions({ loss: 0.3, duplication: 0.2, reordering: 0.2 });
      const { here, there, close } = await connectedByUd(sim);
      await until(sim, () => there.endpoint.isOpen);
      assert.deepEqual([here.interface.endpoints, there.interface.endpoints], [1, 1]);
      await close();
    }));

  it('leads to many peers, and to itself, by one queue pair', () =>
    simulate(async (sim) => {
      const hub = interfaceOn(sim, 'hub');
      const others = Array.from({ length: 8 }, (_, i) => interfaceOn(sim, `peer ${i}`));
      const got: number[][] = [];
      hub.own.onEndpoint = (endpoint) => void got.push(numbersAt(endpoint));
      const all = [...others, hub];
      const endpoints = await Promise.all(all.map(({ host, own }) => host.run(() => own.connect(hub.own.address))));
      for (const endpoint of endpoints) sendMany(endpoint, 100);
      await until(sim, () => got.length === 9 && got.every((numbers) => numbers.length === 100));
      assert.equal(hub.own.endpoints, 10);
      for (const { close } of all) await close();
    }));

  it('tells all that is under way, and all who wait, when the peer has gone', () =>
    simulate(async (sim) => {
      const { here, hosts, close } = await connectedByUd(sim);
      const { endpoint, domain } = here;
      const failures: UcsStatus[] = [];
      endpoint.onFailure = (status) => failures.push(status);
      const memory = domain.register(pattern(64));
      hosts[1].crash();
      const [told, flushTold] = [new Told(), new Told()];
      assert.equal(endpoint.amZcopy(1, NONE, { memory, offset: 0, length: 64 }, told), UCS_INPROGRESS);
      assert.equal(endpoint.flush(flushTold), UCS_INPROGRESS);
      while (endpoint.amShort(1, NONE, NONE) === UCS_OK);
      const retried: UcsStatus[] = [];
      endpoint.pendingAdd({
        retry: () => {
          retried.push(endpoint.amShort(1, NONE, NONE));
          return retried[retried.length - 1];
        },
      });
      await sim.sleep(29 * SECOND);
      assert.deepEqual([told.statuses, failures], [[], []]);
      await sim.sleep(2 * SECOND);
      assert.deepEqual([told.statuses, flushTold.statuses], [[UCS_ERR_ENDPOINT_TIMEOUT], [UCS_ERR_ENDPOINT_TIMEOUT]]);
      assert.deepEqual(failures, [UCS_ERR_ENDPOINT_TIMEOUT]);
      assert.equal(retried[retried.length - 1], UCS_ERR_ENDPOINT_TIMEOUT);
      await sim.sleep(2 * SECOND);
      assert.equal(here.interface.endpoints, 0);
      memory.deregister();
      await close();
    }));

  it('finds out about a peer that has gone also where nothing is sent', () =>
    simulate(async (sim) => {
      const { here, hosts, close } = await connectedByUd(sim);
      await sim.sleep(100 * SECOND);
      assert.equal(here.endpoint.failure, undefined);
      hosts[1].crash();
      await sim.sleep(75 * SECOND);
      assert.equal(here.endpoint.failure, UCS_ERR_ENDPOINT_TIMEOUT);
      await close();
    }));

  it('cancels what is under way when it is closed, and tells the peer', () =>
    simulate(async (sim) => {
      const { here, there, close } = await connectedByUd(sim);
      const memory = here.domain.register(pattern(64));
      const told = new Told();
      assert.equal(here.endpoint.amZcopy(1, NONE, { memory, offset: 0, length: 64 }, told), UCS_INPROGRESS);
      here.endpoint.close();
      here.endpoint.close();
      await until(sim, () => told.statuses.length > 0 && there.endpoint.failure !== undefined);
      assert.deepEqual([told.statuses, there.endpoint.failure], [[UCS_ERR_CANCELED], UCS_ERR_CONNECTION_RESET]);
      assert.equal(here.endpoint.amShort(1, NONE, NONE), UCS_ERR_CANCELED);
      await sim.sleep(1000);
      assert.deepEqual([here.interface.endpoints, there.interface.endpoints], [0, 0]);
      memory.deregister();
      await close();
    }));

  it('tells the peer of an end also where that is lost several times', () =>
    simulate(async (sim) => {
      const { here, there, close } = await connectedByUd(sim);
      sim.cut(['here'], ['there']);
      here.endpoint.close();
      await sim.sleep(200_000);
      assert.equal(there.endpoint.failure, undefined);
      sim.heal();
      await sim.sleep(SECOND);
      assert.equal(there.endpoint.failure, UCS_ERR_CONNECTION_RESET);
      assert.deepEqual([here.interface.endpoints, there.interface.endpoints], [0, 0]);
      await close();
    }));

  it('tells the peers of all its endpoints when the interface is closed', () =>
    simulate(async (sim) => {
      const { here, there, close } = await connectedByUd(sim);
      void here.interface.close();
      await sim.sleep(1000);
      assert.equal(there.endpoint.failure, UCS_ERR_CONNECTION_RESET);
      assert.equal(here.endpoint.failure, UCS_ERR_CANCELED);
      await close();
    }));

  it('hands over what had come before the peer went', () =>
    simulate(async (sim) => {
      const { here, there, close } = await connectedByUd(sim);
      const numbers = numbersAt(there.endpoint);
      sendMany(here.endpoint, 50);
      await flushed(sim, here.endpoint);
      await until(sim, () => numbers.length === 50);
      here.endpoint.close();
      await until(sim, () => there.endpoint.failure !== undefined);
      assert.equal(numbers.length, 50);
      await close();
    }));

  it('gives up to connect where nobody answers, in time or when it is told to, and leaves nothing behind', () =>
    simulate(async (sim) => {
      const one = interfaceOn(sim, 'one');
      const two = interfaceOn(sim, 'two');
      const connect = (options: { timeoutMs?: number; signal?: AbortSignal }) =>
        one.host.run(() => one.own.connect(two.own.address, options));
      await assert.rejects(connect({ timeoutMs: 500 }), { errno: 'ETIMEDOUT' });
      const controller = new AbortController();
      const aborted = connect({ signal: controller.signal });
      controller.abort(new Error('enough'));
      await assert.rejects(aborted, { message: 'enough' });
      assert.equal(one.own.endpoints, 0);
      assert.ok(two.own.statistics.dropped.refused > 2, 'nobody wanted a connection there, and it was asked for again');
      assert.equal(two.own.endpoints, 0);
      await one.close();
      await two.close();
    }));

  it('connects no more than it may', () =>
    simulate(async (sim) => {
      const one = interfaceOn(sim, 'one', { maxEndpoints: 3 });
      const two = interfaceOn(sim, 'two', { maxEndpoints: 2 });
      two.own.onEndpoint = () => undefined;
      const connect = () => one.host.run(() => one.own.connect(two.own.address, { timeoutMs: 200 }));
      await connect();
      await connect();
      await assert.rejects(connect(), { errno: 'ETIMEDOUT' });
      const third = connect();
      await assert.rejects(
        one.host.run(() => one.own.connect(two.own.address)),
        { errno: 'ENOMEM' },
      );
      await assert.rejects(third, { errno: 'ETIMEDOUT' });
      await one.close();
      await two.close();
    }));

  it('takes no numbers that make no sense', () =>
    simulate((sim) => {
      const domain = new MemoryDomain(new Engine(sim.host('one').context, { name: 'a test' }));
      const wrong = [{ window: 1 }, { window: 1026 }, { receives: 0 }, { timeoutMs: 0 }, { maxHalfOpen: 1.5 }] as const;
      for (const options of wrong) assert.throws(() => new UdInterface(domain, options), { errno: 'EINVAL' });
      domain.engine.close();
      return Promise.resolve();
    }));

  it('sends to each peer no more than that can take', () =>
    simulate(async (sim) => {
      const one = interfaceOn(sim, 'one');
      const domain = new MemoryDomain(
        new Engine(sim.host('two', { maxPacketBytes: 1200 }).context, { name: 'a test' }),
      );
      const two = new UdInterface(domain);
      const accepted = new Promise<UdEndpoint>((resolve) => (two.onEndpoint = resolve));
      const endpoint = await one.host.run(() => one.own.connect(two.address));
      const lengths = [endpoint, await accepted].map(({ capabilities }) => capabilities.am.bcopy);
      assert.deepEqual(lengths, [1024 - 8, 1024 - 8]);
      await one.close();
      await two.close();
      domain.engine.close();
    }));
});
