import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AccessFlags,
  alloc,
  connect as connectByCm,
  type Connection,
  RefusedError,
  SendFlags,
  WcStatus,
  WrOpcode,
} from '../../../../entry/index.js';
import { serve } from '../../index.js';
import {
  decodeLayout,
  decodeRefusal,
  decodeWelcome,
  encodeOffer,
  encodeReaderOffer,
  encodeRequest,
  type Layout,
  NO_QUEUE_PAIRS,
  NO_SESSION,
  Operation,
  REQUEST_HEAD_BYTES,
  ResponseView,
  RefusalCode,
  type SessionId,
  Transport,
} from '../../wire/index.js';
import { Partition, type KeyHash } from '../../store/index.js';
import { simulate, type SimHost } from '../../../../entry/sim.js';
import { newStore, PORT, served, text } from '../support/served.js';

const OFFER = { transport: Transport.RC, window: 4, session: NO_SESSION, epoch: 0, pairs: NO_QUEUE_PAIRS };
const NO_BYTES = new Uint8Array(0);

/** A client that speaks the protocol by itself, and may do what none does. */
class Rogue {
  private constructor(
    readonly host: SimHost,
    readonly connection: Connection,
    readonly session: SessionId,
    readonly epoch: number,
  ) {}

  static async connect(host: SimHost): Promise<Rogue> {
    const cap = { maxSendWr: 4, maxRecvWr: 4 };
    const connection = await host.run(() =>
      connectByCm({ host: 'server', port: PORT, qp: { cap }, privateData: encodeOffer(OFFER) }),
    );
    const welcome = decodeWelcome(connection.privateData);
    assert.ok(typeof welcome !== 'string');
    return new Rogue(host, connection, welcome.session, welcome.epoch);
  }

  door(session = this.session, epoch = this.epoch): Promise<Connection> {
    const privateData = encodeReaderOffer({ session, epoch });
    return this.host.run(() => connectByCm({ host: 'server', port: PORT, privateData }));
  }

  async layout(): Promise<Layout> {
    const { connection, session, epoch } = this;
    const memory = connection.pd.regMr(alloc(512), AccessFlags.LOCAL_WRITE);
    connection.postRecv(1n, memory.sge(256, 256));
    const asked = {
      operation: Operation.LAYOUT,
      key: NO_BYTES,
      value: NO_BYTES,
      remote: undefined,
      ttlMs: 0,
      operand: 0n,
    };
    encodeRequest(memory.bytes, { session, epoch, slot: 0, sequence: 1 }, asked);
    connection.postSend(2n, memory.sge(0, REQUEST_HEAD_BYTES), SendFlags.SIGNALED);
    await connection.sendComp();
    const { byteLen } = await connection.recvComp();
    const answer = new ResponseView();
    assert.equal(answer.look(memory.bytes.subarray(256, 256 + byteLen)), undefined);
    const layout = decodeLayout(answer.value);
    assert.ok(layout !== undefined);
    return layout;
  }
}

/** What becomes of a READ or WRITE of 8 bytes. */
async function attempt(
  connection: Connection,
  opcode: typeof WrOpcode.RDMA_READ | typeof WrOpcode.RDMA_WRITE,
  remoteAddr: bigint,
  rkey: number,
): Promise<WcStatus> {
  const memory = connection.pd.regMr(alloc(8), AccessFlags.LOCAL_WRITE);
  const { qp } = connection;
  qp.postSend({ opcode, sendFlags: SendFlags.SIGNALED, sgList: [memory.sge()], rdma: { remoteAddr, rkey } });
  return (await connection.sendComp()).status;
}

describe('the memory of a store', () => {
  it('is read by the connection that was asked for it, and written by none', () =>
    simulate(async (sim) => {
      const { client: connected } = served(sim, { oneSided: true });
      using honest = await connected('honest');
      await honest.set('a', '1');
      const rogue = await Rogue.connect(sim.host('rogue'));
      const { entries, buckets } = await rogue.layout();
      for (const { addr, rkey } of [entries, buckets]) {
        using reading = await rogue.door();
        assert.equal(await attempt(reading, WrOpcode.RDMA_READ, addr, rkey), WcStatus.SUCCESS);
        assert.equal(await attempt(reading, WrOpcode.RDMA_WRITE, addr, rkey), WcStatus.REM_ACCESS_ERR);
      }
      assert.equal(text(await honest.get('a')), '1');
    }));

  it('has an end and a beginning', () =>
    simulate(async (sim) => {
      served(sim, { oneSided: true });
      const rogue = await Rogue.connect(sim.host('rogue'));
      const { entries, buckets } = await rogue.layout();
      for (const { addr, rkey, bytes } of [entries, buckets])
        for (const at of [addr - 8n, addr + BigInt(bytes) - 4n]) {
          using reading = await rogue.door();
          assert.equal(await attempt(reading, WrOpcode.RDMA_READ, at, rkey), WcStatus.REM_ACCESS_ERR);
        }
    }));

  it('is opened by no other connection, whatever keys that knows, and its own opens nothing else', () =>
    simulate(async (sim) => {
      const { host, client: connected } = served(sim, { oneSided: true });
      const rogue = await Rogue.connect(sim.host('rogue'));
      const { entries } = await rogue.layout();
      assert.equal(
        await attempt(rogue.connection, WrOpcode.RDMA_READ, entries.addr, entries.rkey),
        WcStatus.REM_ACCESS_ERR,
      );
      using other = host.context.allocPd().regMr(alloc(64), AccessFlags.REMOTE_READ);
      const another = await Rogue.connect(sim.host('another'));
      using reading = await another.door();
      assert.equal(await attempt(reading, WrOpcode.RDMA_READ, other.iova, other.rkey), WcStatus.REM_ACCESS_ERR);
      using honest = await connected('honest');
      await honest.set('a', '1');
    }));

  it('is for clients of a session, once each, and as long as that goes on', () =>
    simulate(async (sim) => {
      const { server } = served(sim, { oneSided: true });
      const rogue = await Rogue.connect(sim.host('rogue'));
      const { session, epoch } = rogue;
      const refused = async (door: Promise<Connection>, code: RefusalCode): Promise<void> => {
        const error = await door.then(
          () => assert.fail('it was let in'),
          (reason: unknown) => reason,
        );
        assert.ok(error instanceof RefusedError);
        assert.equal(decodeRefusal(error.privateData)?.code, code);
      };
      await refused(rogue.door({ ...session, low: session.low ^ 1 }), RefusalCode.SESSION);
      await refused(rogue.door(session, epoch ^ 1), RefusalCode.EPOCH);
      const first = await rogue.door();
      const second = await rogue.door();
      await first.closed;
      assert.equal(server.statistics.readers, 1);
      rogue.connection[Symbol.dispose]();
      await second.closed;
      await sim.sleep(1000);
      assert.deepEqual([server.statistics.readers, server.statistics.clients], [0, 0]);
    }));

  it('is not let be read where it is not said, or cannot be', () =>
    simulate(async (sim) => {
      const { host } = served(sim);
      const rogue = await Rogue.connect(sim.host('rogue'));
      await assert.rejects(rogue.door(), RefusedError);
      const hash: KeyHash = { low: 0, high: 0, of: () => undefined };
      const store = new Partition({ mode: 'store', memory: alloc(1 << 16), seed: 1n, hash });
      const where = { port: PORT + 1, context: host.context, oneSided: true };
      assert.throws(() => serve({ ...where, store }), { code: 'EINVAL' });
      // A wrong type, as JavaScript may have it.
      assert.throws(() => serve({ ...where, store: newStore(), oneSided: 'yes' as unknown as boolean }), {
        code: 'EINVAL',
      });
    }));
});
