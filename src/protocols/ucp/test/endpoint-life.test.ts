import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { Engine } from '../../core/index.js';
import { UcpError } from '../worker/errors.js';
import { UcpWorker } from '../worker/worker.js';
import { UcsStatus } from '../wire/index.js';
import { pattern, PORT, until } from './support/transports.js';
import { ALL_WAYS, connected, connectedByUd, onSelf } from './support/workers.js';

for (const [name, made] of Object.entries<typeof connectedByUd>({ rc: connected, ud: connectedByUd }))
  describe(`an endpoint by ${name}`, () => {
    it('tells once why it has failed, after all that was under way has ended', () =>
      simulate(async (sim) => {
        const { client, server, there, close } = await made(sim);
        const told: string[] = [];
        there.setErrorHandler(({ status }) => told.push(`handler ${status}`));
        const sends = [1, 2].map((tag) =>
          there.tagSendSync(pattern(40_000), tag).catch((error: unknown) => {
            if (error instanceof UcpError) told.push(`send ${error.status}`);
          }),
        );
        await sim.sleep(5);
        server.close();
        await Promise.all(sends);
        await until(sim, () => told.length === 3);
        const reset = UcsStatus.UCS_ERR_CONNECTION_RESET;
        assert.deepEqual(told, [`send ${reset}`, `send ${reset}`, `handler ${reset}`]);
        there.setErrorHandler(() => told.push('again'));
        await assert.rejects(there.tagSend(pattern(1), 1), { status: reset });
        await sim.sleep(10);
        assert.equal(told.length, 3);
        client.close();
        await close();
      }));

    it('tells a handler that comes later than the failure', () =>
      simulate(async (sim) => {
        const { server, there, close } = await made(sim);
        server.close();
        await until(sim, () => there.failure !== undefined);
        const told = await new Promise<UcpError>((resolve) => there.setErrorHandler(resolve));
        assert.equal(told.status, UcsStatus.UCS_ERR_CONNECTION_RESET);
        await close();
      }));

    it('tells nobody that its own end has closed it', () =>
      simulate(async (sim) => {
        const { there, back, close } = await made(sim);
        there.setErrorHandler(() => assert.fail('nobody else did'));
        const reason = new Promise<UcpError>((resolve) => back.setErrorHandler(resolve));
        there.close();
        assert.equal((await reason).status, UcsStatus.UCS_ERR_CONNECTION_RESET);
        await sim.sleep(10);
        await close();
      }));

    it('that is flushed and closed has brought all before it has ended', () =>
      simulate(async (sim) => {
        const { server, there, close } = await made(sim);
        const sizes = [10, 4000, 100, 8000];
        for (const [i, size] of sizes.entries()) await there.tagSend(pattern(size, i), i);
        await there.flushAndClose();
        await there.flushAndClose();
        assert.equal(there.failure?.status, UcsStatus.UCS_ERR_CANCELED);
        for (const [i, size] of sizes.entries()) {
          const buffer = new Uint8Array(size);
          await server.tagReceive(buffer, i);
          assert.deepEqual(buffer, pattern(size, i));
        }
        await close();
      }));

    it('is closed also when its flush takes too long', () =>
      simulate(async (sim) => {
        const { hosts, there, close } = await made(sim);
        await there.tagSend(pattern(10), 1);
        sim.setConditions({ loss: 1 });
        await there.tagSend(pattern(10), 1);
        await assert.rejects(there.flushAndClose({ timeoutMs: 50 }), { errno: 'ETIMEDOUT' });
        assert.equal(there.failure?.status, UcsStatus.UCS_ERR_CANCELED);
        sim.setConditions({ loss: 0 });
        assert.equal(hosts.length, 2);
        await close();
      }));

    it('ends with UCX’s status all that is not done in time', () =>
      simulate(async (sim) => {
        const { client, there, close } = await made(sim);
        const [buffer, options] = [new Uint8Array(1), { timeoutMs: 10 }];
        const late = { name: 'UcpError', status: UcsStatus.UCS_ERR_TIMED_OUT, errno: 'ETIMEDOUT' };
        await assert.rejects(client.tagReceive(buffer, 1, options), late);
        await assert.rejects(client.streamReady(options), late);
        await assert.rejects(there.streamReceive(buffer, options), late);
        await assert.rejects(there.tagSendSync(buffer, 1, options), late);
        await close();
      }));

    it('says by what it leads where', () =>
      simulate(async (sim) => {
        const { there, back, close } = await made(sim);
        const [way, other] = [there.query(), back.query()];
        assert.deepEqual([way.transport, other.transport], [name, name]);
        assert.notEqual(way.localAddress?.host, way.remoteAddress?.host);
        assert.deepEqual([way.localAddress, way.remoteAddress], [other.remoteAddress, other.localAddress]);
        if (name === 'rc') assert.equal(way.remoteAddress?.port, PORT);
        await close();
      }));
  });

describe('an endpoint to itself', () => {
  it('has no addresses', () =>
    simulate((sim) => {
      const { there, close } = onSelf(sim);
      const { transport, capabilities, tagProtocols, ...others } = there.query();
      assert.deepEqual({ transport, others }, { transport: 'self', others: {} });
      assert.ok(capabilities.atomics[4].includes('xor'));
      assert.deepEqual([tagProtocols[0].from, tagProtocols.at(-1)?.to], [0, Infinity]);
      close();
    }));
});

for (const transport of ['rc', 'ud'] as const)
  describe(`a listener for ${transport}`, () => {
    const workers = (sim: Parameters<typeof onSelf>[0]) => {
      const hosts = ['client', 'server'].map((host) => sim.host(host));
      const [client, server] = hosts.map(({ context }) => new UcpWorker(context, { transport }));
      const close = async (): Promise<void> => {
        client.close();
        server.close();
        await sim.sleep(1000);
        for (const { context } of hosts) Engine.of(context).close();
      };
      return { hosts, client, server, close };
    };

    it('has a port of its own when it is given none, and listens until it is closed', () =>
      simulate(async (sim) => {
        const { hosts, client, server, close } = workers(sim);
        const listener = server.listen({}, () => undefined);
        const { host, port } = listener.address;
        assert.ok(port > 0);
        const endpoint = await hosts[0].run(() => client.connect({ host, port }));
        listener.close();
        await assert.rejects(
          hosts[0].run(() => client.connect({ host, port })),
          { name: 'UcpError', status: UcsStatus.UCS_ERR_UNREACHABLE, errno: 'ECONNREFUSED' },
        );
        await endpoint.tagSend(pattern(10), 1);
        await server.tagReceive(new Uint8Array(10), 1);
        assert.deepEqual([client.query().endpoints, client.query().transport], [1, transport]);
        await close();
      }));

    it('is not found in time where no host is, and UCX has a status for that', () =>
      simulate(async (sim) => {
        const { hosts, client, close } = workers(sim);
        await assert.rejects(
          hosts[0].run(() => client.connect({ host: '10.255.255.254', port: PORT, timeoutMs: 100 })),
          { name: 'UcpError', status: UcsStatus.UCS_ERR_TIMED_OUT, errno: 'ETIMEDOUT' },
        );
        await close();
      }));

    it('rejects whom its program does not want, and takes the next', () =>
      simulate(async (sim) => {
        const { hosts, client, server, close } = workers(sim);
        const asked: string[] = [];
        const accept = ({ host }: { host: string }) => {
          asked.push(host);
          return Promise.resolve(asked.length > 1);
        };
        server.listen({ port: PORT, accept }, () => undefined);
        const connect = () => hosts[0].run(() => client.connect({ host: 'server', port: PORT }));
        await assert.rejects(connect(), {
          name: 'UcpError',
          status: UcsStatus.UCS_ERR_REJECTED,
          errno: 'ECONNREFUSED',
        });
        const endpoint = await connect();
        assert.deepEqual(asked, [asked[0], asked[0]]);
        assert.equal(endpoint.query().localAddress?.host, asked[0]);
        await close();
      }));

    it('leaves nothing of those who are connecting when their worker is closed', () =>
      simulate(async (sim) => {
        const { hosts, client, server, close } = workers(sim);
        server.listen({ port: PORT }, () => undefined);
        const connecting = hosts[0].run(() => client.connect({ host: 'server', port: PORT }));
        const refused = assert.rejects(connecting);
        client.close();
        await refused;
        await close();
      }));

    it('listens to a signal once, however many are connecting by it, and no longer than they do', () =>
      simulate(async (sim) => {
        const { hosts, client, server, close } = workers(sim);
        server.listen({ port: PORT }, () => undefined);
        const { signal } = new AbortController();
        const connecting = hosts[0].run(() =>
          Promise.all(Array.from({ length: 12 }, () => client.connect({ host: 'server', port: PORT, signal }))),
        );
        assert.equal(getEventListeners(signal, 'abort').length, 1);
        assert.equal((await connecting).length, 12);
        assert.equal(getEventListeners(signal, 'abort').length, 0);
        await close();
      }));

    it('refuses arguments that are none', () =>
      simulate(async (sim) => {
        const { server, close } = workers(sim);
        // @ts-expect-error what JavaScript allows
        assert.throws(() => server.listen({ accept: true }, () => undefined), { errno: 'EINVAL' });
        // @ts-expect-error what JavaScript allows
        assert.throws(() => server.listen({}), { errno: 'EINVAL' });
        await close();
      }));
  });

describe('an error handler', () => {
  it('is a function', () =>
    simulate(async (sim) => {
      const { there, close } = await ALL_WAYS['rc'](sim);
      // @ts-expect-error what JavaScript allows
      assert.throws(() => there.setErrorHandler('handler'), { errno: 'EINVAL' });
      await close();
    }));
});
