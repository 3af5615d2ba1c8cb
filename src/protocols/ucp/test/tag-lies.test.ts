import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, simulate } from '../../../entry/sim.js';
import { Engine } from '../../core/index.js';
import { AmHandlers, connectRc, MemoryDomain } from '../uct/index.js';
import type { UcpEndpoint } from '../worker/endpoint.js';
import { UcpWorker } from '../worker/worker.js';
import { AmId, type MessageName, type MessageOf, Messages, UcsStatus } from '../wire/index.js';
import { done, pattern, PORT, until } from './support/transports.js';

const NOTHING = new Uint8Array(0);
const SIZE = 10_000;

/** A worker, and a peer that says what it likes. */
async function lied(sim: Sim, unexpectedBytes = 16 << 20) {
  const [liar, honest] = [sim.host('liar'), sim.host('honest')];
  const worker = new UcpWorker(honest.context, { thresholds: { rndv: SIZE }, unexpectedBytes });
  const accepted = new Promise<UcpEndpoint>((resolve) => worker.listen({ port: PORT }, resolve));
  const domain = new MemoryDomain(Engine.of(liar.context));
  const handlers = new AmHandlers();
  const heard: Uint8Array[] = [];
  for (const id of Object.values(AmId)) handlers.set(id, (bytes) => heard.push(bytes.slice()));
  const transport = await liar.run(() => connectRc({ domain, handlers }, { host: 'honest', port: PORT }));
  const endpoint = await accepted;
  const say = async <Name extends MessageName>(name: Name, message: MessageOf<Name>): Promise<void> => {
    const pack = (into: Uint8Array): number => {
      // The format of a name is that of its messages, which the compiler does not see.
      const format = Messages[name] as unknown as { encode(into: Uint8Array, message: MessageOf<Name>): number };
      return format.encode(into, message);
    };
    await done(sim, transport, () => transport.amBcopy(AmId[name], { pack }));
  };
  const close = (): void => {
    transport.close();
    worker.close();
    domain.engine.close();
    Engine.of(honest.context).close();
  };
  return { worker, endpoint, transport, domain, heard, say, close };
}

type Lied = Awaited<ReturnType<typeof lied>>;

const ask = { epId: 1, requestId: 1 };
const rts = { header: 7n, ...ask, address: 0n, size: SIZE, opcode: 0 } as const;
const rtr = { sendRequestId: 1, receiveRequestId: 9, address: 0n, size: SIZE, offset: 0 };
const bare = { rkey: undefined, userHeader: NOTHING };

/** Has the worker announce a message. @returns its number */
async function announced(sim: Sim, { endpoint, heard, ...rest }: Lied, isSync = false): Promise<number> {
  assert.ok(rest.worker);
  const data = pattern(isSync ? 10 : SIZE);
  const sending = isSync ? endpoint.tagSendSync(data, 7) : endpoint.tagSend(data, 7);
  sending.catch(() => undefined);
  await until(sim, () => heard.length > 0);
  const decoded = isSync ? Messages.EAGER_SYNC_ONLY.decode(heard[0]) : Messages.RNDV_RTS.decode(heard[0]);
  assert.ok(typeof decoded !== 'string');
  return decoded.head.requestId;
}

/** Has the worker ask for a message. @returns by which number */
async function asked(sim: Sim, { worker, heard, say }: Lied): Promise<number> {
  worker.tagReceive(new Uint8Array(SIZE), 7).catch(() => undefined);
  await say('RNDV_RTS', { head: rts, ...bare });
  await until(sim, () => heard.length > 0);
  const decoded = Messages.RNDV_RTR.decode(heard[0]);
  assert.ok(typeof decoded !== 'string');
  return decoded.head.receiveRequestId;
}

const ok = UcsStatus.UCS_OK;

const LIES: Readonly<Record<string, (sim: Sim, made: Lied) => Promise<void>>> = {
  'a message that is announced twice': async (_, { say }) => {
    await say('RNDV_RTS', { head: rts, ...bare });
    await say('RNDV_RTS', { head: rts, ...bare });
  },
  'a message without a number': (_, { say }) => say('RNDV_RTS', { head: { ...rts, requestId: 0 }, ...bare }),
  'an answer to nothing': (_, { say }) => say('RNDV_ATS', { head: { requestId: 5, status: ok }, size: undefined }),
  'an answer that is none': async (sim, made) => {
    const requestId = await announced(sim, made);
    await made.say('RNDV_ATS', { head: { requestId, status: UcsStatus.UCS_INPROGRESS }, size: undefined });
  },
  'an answer about a part': async (sim, made) => {
    const requestId = await announced(sim, made);
    await made.say('RNDV_ATS', { head: { requestId, status: ok }, size: 5 });
  },
  'a question for nothing': (_, { say }) => say('RNDV_RTR', { head: rtr, ...bare }),
  'a question for too much': async (sim, made) => {
    const sendRequestId = await announced(sim, made);
    await made.say('RNDV_RTR', { head: { ...rtr, sendRequestId, size: SIZE + 1 }, ...bare });
  },
  'a question for a part': async (sim, made) => {
    const sendRequestId = await announced(sim, made);
    await made.say('RNDV_RTR', { head: { ...rtr, sendRequestId, offset: 1 }, ...bare });
  },
  'a question that comes twice': async (sim, made) => {
    const sendRequestId = await announced(sim, made);
    await made.say('RNDV_RTR', { head: { ...rtr, sendRequestId }, ...bare });
    await made.say('RNDV_RTR', { head: { ...rtr, sendRequestId }, ...bare });
  },
  'a question for memory that there is not': async (sim, made) => {
    const sendRequestId = await announced(sim, made);
    const rkey = { access: 2, rkey: 0x1234, address: 0n, length: SIZE };
    await made.say('RNDV_RTR', { head: { ...rtr, sendRequestId }, rkey, userHeader: NOTHING });
  },
  'a message in memory that there is not': async (_, { worker, say }) => {
    worker.tagReceive(new Uint8Array(SIZE), 7).catch(() => undefined);
    const rkey = { access: 1, rkey: 0x1234, address: 0n, length: SIZE };
    await say('RNDV_RTS', { head: rts, rkey, userHeader: NOTHING });
  },
  'data for nothing': (_, { say }) => say('RNDV_DATA', { head: { requestId: 5, offset: 0 }, payload: pattern(5) }),
  'data of what was not asked for': async (_, { say }) => {
    await say('RNDV_RTS', { head: rts, ...bare });
    for (let requestId = 1; requestId < 10; requestId += 1)
      await say('RNDV_DATA', { head: { requestId, offset: 0 }, payload: pattern(5) });
  },
  'data from elsewhere on': async (sim, made) => {
    const requestId = await asked(sim, made);
    await made.say('RNDV_DATA', { head: { requestId, offset: 1 }, payload: pattern(5) });
  },
  'data beyond the end': async (sim, made) => {
    const requestId = await asked(sim, made);
    for (let offset = 0; offset <= SIZE; offset += 3000)
      await made.say('RNDV_DATA', { head: { requestId, offset }, payload: pattern(3000) });
  },
  'word that nothing was written': (_, { say }) =>
    say('RNDV_ATP', { head: { requestId: 5, status: ok }, size: undefined }),
  'word that a part was written': async (sim, made) => {
    const requestId = await asked(sim, made);
    await made.say('RNDV_ATP', { head: { requestId, status: ok }, size: 5 });
  },
  'word that the rest of what came in parts was written': async (sim, made) => {
    const requestId = await asked(sim, made);
    await made.say('RNDV_DATA', { head: { requestId, offset: 0 }, payload: pattern(5) });
    await made.say('RNDV_ATP', { head: { requestId, status: ok }, size: undefined });
  },
  'word that nobody has matched': (_, { say }) => say('EAGER_SYNC_ACK', { head: { requestId: 5, status: ok } }),
  'word that somebody has matched in part': async (sim, made) => {
    const requestId = await announced(sim, made, true);
    await made.say('EAGER_SYNC_ACK', { head: { requestId, status: UcsStatus.UCS_INPROGRESS } });
  },
  'a synchronous message without a number': (_, { say }) =>
    say('EAGER_SYNC_ONLY', { head: { tag: 7n, epId: 1, requestId: 0 }, payload: NOTHING }),
};

describe('a peer that lies loses its endpoint, and nobody else does, by', () => {
  for (const [what, lie] of Object.entries(LIES))
    it(what, () =>
      simulate(async (sim) => {
        const made = await lied(sim);
        const { worker, endpoint, transport, close } = made;
        const own = worker.connectToSelf();
        await lie(sim, made);
        await until(sim, () => endpoint.failure !== undefined && transport.failure !== undefined);
        const receiving = worker.tagReceive(new Uint8Array(20_000), 1);
        await own.tagSend(pattern(20_000), 1);
        assert.equal((await receiving).length, 20_000);
        assert.equal(worker.unexpectedBytes, 0);
        close();
      }),
    );

  it('nothing when it takes back what it never said', () =>
    simulate(async (sim) => {
      const { endpoint, say, close } = await lied(sim);
      await say('RNDV_CANCEL', { head: { requestId: 5 } });
      await sim.sleep(1000);
      assert.equal(endpoint.failure, undefined);
      close();
    }));

  it('more messages that are only announced than are kept', () =>
    simulate(async (sim) => {
      const { endpoint, worker, transport, close } = await lied(sim, 50_000);
      let requestId = 0;
      while (endpoint.failure === undefined && requestId < 1000) {
        requestId += 1;
        const head = { ...rts, requestId };
        const pack = (into: Uint8Array): number => Messages.RNDV_RTS.encode(into, { head, ...bare });
        await done(sim, transport, () => transport.amBcopy(AmId.RNDV_RTS, { pack }));
      }
      assert.equal(endpoint.failure?.status, UcsStatus.UCS_ERR_EXCEEDS_LIMIT);
      assert.ok(requestId < 1000);
      await sim.sleep(1000);
      assert.equal(worker.unexpectedBytes, 0);
      close();
    }));
});
