import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, MwType, QpState, Syndrome, WcFlags, WcStatus, WrOpcode } from '../../ibta/index.js';
import { assertCompleted, assertStatuses, Pair, pattern } from './pair.js';
import { UNSIGNALLED } from './qp.js';
import { bind, BINDABLE, incRkey, type TestMw, window } from './windows.js';

/** A pair whose end b has bound a window of type 2 to 64 bytes. */
function start(options: Parameters<Pair['connect']>[0] = {}) {
  const pair = new Pair();
  const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256, timeout: 8, retryCnt: 1 }, ...options });
  const region = pair.b.mr(64, { access: BINDABLE });
  const mw = window(pair.b, MwType.TYPE_2);
  bind(b, mw, region, { flags: UNSIGNALLED });
  pair.drive();
  return { pair, a, b, region, mw };
}

describe('SEND with Invalidate', () => {
  for (const size of [0, 100, 700]) {
    it(`of ${String(size)} bytes tells the receiver which key it closed, and closes it`, () => {
      const { pair, a, b, region, mw } = start();
      const source = pair.a.mrOf(pattern(700));
      const target = pair.b.mr(700);
      const received = b.recv(target);
      const sent = a.send(source, {
        opcode: WrOpcode.SEND_WITH_INV,
        imm: mw.rkey | 0,
        sgList: [source.sge(0, size)],
      });
      pair.drive();
      assertCompleted(a.sent(), [sent]);
      const completions = b.received();
      assertCompleted(completions, [received]);
      assert.equal(completions[0].immData, mw.rkey);
      assert.equal(completions[0].wcFlags & (WcFlags.WITH_INV | WcFlags.WITH_IMM), WcFlags.WITH_INV);
      assert.deepEqual(target.bytes.subarray(0, size), source.bytes.subarray(0, size));

      const write = a.write(source, region, { sgList: [source.sge(0, 8)], rkey: mw.rkey });
      pair.drive();
      assertStatuses(a.sent(), [[write, WcStatus.REM_ACCESS_ERR]]);
      assert.ok(region.bytes.every((byte) => byte === 0));
    });
  }

  it('is written on the wire with the key in the last packet', () => {
    const { pair, a, b, mw } = start();
    const target = pair.b.mr(700);
    b.recv(target);
    a.send(pair.a.mr(300), { opcode: WrOpcode.SEND_WITH_INV, imm: mw.rkey | 0 });
    pair.drive();
    const packets = pair.fromA();
    assert.deepEqual(
      packets.map(({ name }) => name),
      ['RC_SEND_FIRST', 'RC_SEND_LAST_INVALIDATE'],
    );
    assert.equal(Buffer.from(packets[1].bytes).readUInt32BE(12), mw.rkey);
  });

  // protocol/reliable.md 2.3: the receiver ends in ERR with REM_INV_REQ_ERR.
  it('of a key that does not exist ends both sides in error', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { timeout: 8, retryCnt: 1 } });
    const received = b.postRecv();
    const sent = a.post({ opcode: WrOpcode.SEND_WITH_INV, imm: 0x12345600 });
    pair.drive();
    assertStatuses(b.received(), [[received, WcStatus.REM_INV_REQ_ERR]]);
    assert.equal(b.state, QpState.ERR);
    const [completion] = a.sent();
    assert.equal(completion.wrId, sent);
    assert.notEqual(completion.status, WcStatus.SUCCESS);
    assert.equal(a.state, QpState.ERR);
  });

  interface Key {
    readonly rkey: number;
    /** By which it must still work afterwards, if it ever did. */
    readonly opens?: { readonly rkey: number; readonly remoteAddr: bigint };
  }
  type Scene = ReturnType<typeof start>;
  const through = (mw: TestMw, addr: bigint): Key => ({ rkey: mw.rkey, opens: mw.at(addr) });
  const keys: Readonly<Record<string, (scene: Scene) => Key>> = {
    'a region': ({ pair }) => {
      const mr = pair.b.mr(64);
      return { rkey: mr.rkey, opens: mr.at(0) };
    },
    'a region with a window, whose peer has both keys': ({ region }) => ({ rkey: region.rkey }),
    'a region that lets no peer in': ({ pair }) => ({ rkey: pair.b.mr(64, { access: 0 }).rkey }),
    'a region, as its L_Key': ({ pair }) => {
      const mr = pair.b.mr(64);
      return { rkey: mr.lkey, opens: mr.at(0) };
    },
    'a region, with another tag': ({ pair }) => {
      const mr = pair.b.mr(64);
      return { rkey: incRkey(mr.rkey), opens: mr.at(0) };
    },
    'a region of another protection domain': ({ pair }) => ({
      rkey: pair.b.mr(64, { pd: pair.b.nic.control.allocPd() }).rkey,
    }),
    'a window of type 1': ({ pair, b, region }) => {
      const first = window(pair.b, MwType.TYPE_1);
      bind(b, first, region, { flags: UNSIGNALLED });
      pair.drive();
      return through(first, region.addr);
    },
    'a window of another queue pair': ({ pair, region }) => {
      const second = window(pair.b, MwType.TYPE_2);
      bind(pair.connect().b, second, region, { flags: UNSIGNALLED });
      pair.drive();
      return { rkey: second.rkey };
    },
    'a window of another protection domain': ({ pair }) => ({
      rkey: window(pair.b, MwType.TYPE_2, pair.b.nic.control.allocPd()).rkey,
    }),
    'a window, with another tag': ({ mw }) => ({ rkey: incRkey(mw.rkey) }),
    'a window that is free': ({ pair }) => ({ rkey: window(pair.b, MwType.TYPE_2).rkey }),
    nothing: () => ({ rkey: 0x1234_5600 }),
  };
  for (const [name, make] of Object.entries(keys)) {
    it(`of a key of ${name} is refused at both ends, and the key is what it was`, () => {
      const scene = start();
      const { pair, a, b } = scene;
      const { rkey, opens } = make(scene);
      const windows = () => pair.b.nic.memory.holdings;
      const before = windows();
      const received = b.postRecv();
      const sent = a.post({ opcode: WrOpcode.SEND_WITH_INV, imm: rkey | 0 });
      pair.drive();
      const completions = b.received();
      assertStatuses(completions, [[received, WcStatus.REM_INV_REQ_ERR]]);
      assert.deepEqual([completions[0].vendorErr, completions[0].detail[0]], [Syndrome.INVALIDATE_FAILED, rkey | 0]);
      assertStatuses(a.sent(), [[sent, WcStatus.REM_ACCESS_ERR]]);
      assert.deepEqual([a.state, b.state], [QpState.ERR, QpState.ERR]);
      assert.deepEqual(windows(), before);
      if (opens === undefined) return;
      const other = pair.connect();
      const write = other.a.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [pair.a.mr(8).sge()], ...opens });
      pair.drive();
      assertStatuses(other.a.sent(), [[write, WcStatus.SUCCESS]]);
    });
  }
});
