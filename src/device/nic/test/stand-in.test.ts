import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gidFromIp, ipFromGid, QpState, rnrTimerUs } from '../../ibta/index.js';
import { PeerTable, StandIn, Verdict } from '../../stand-in/index.js';
import {
  Aeth,
  BTH_BYTES,
  CmAttribute,
  createPath,
  crc32,
  decodeCmMessage,
  encodeCmMessage,
  Opcode,
  PacketMeta,
  sealIcrc,
  writeDeth,
} from '../../wire/index.js';
import { Captured, type Crafted, Puppet } from './pair.js';
import type { ConnectOptions } from './qp.js';

const EXPECTED = 0x2000;
const VA = 0x1000n;
const GSI_QKEY = 0x80010000 | 0;

/** A queue pair whose program stands still, what stands in for it, and the peer that a test plays. */
class Stillness {
  readonly #peers = new PeerTable(new SharedArrayBuffer(PeerTable.bytesFor(8)));
  readonly puppet: Puppet;
  readonly answers: Captured[] = [];
  readonly standIn: StandIn;
  nowUs = 0;

  constructor(options: ConnectOptions = {}) {
    this.puppet = new Puppet({ ...options, host: { peers: this.#peers } });
    this.standIn = new StandIn(this.#peers.words, crc32, (to, bytes, lengthBytes) =>
      this.answers.push(new Captured(this.puppet.host1.ip, ipFromGid(to), this.nowUs, bytes.slice(0, lengthBytes))),
    );
    this.standIn.begin();
  }

  take(fields: Omit<Crafted, 'destQp'> & { readonly destQp?: number }, from = this.puppet.peerAddress): Verdict {
    return this.takeBytes(this.puppet.crafted(fields, from), from);
  }

  takeBytes(bytes: Uint8Array, from = this.puppet.peerAddress): Verdict {
    const meta = new PacketMeta();
    meta.source.set(gidFromIp(from));
    meta.destination.set(this.puppet.host1.gid);
    meta.ipId = 0;
    return this.standIn.take(bytes, 0, bytes.length, meta, this.nowUs);
  }

  /** What it answers to packets that come together. */
  answer(...packets: (Omit<Crafted, 'destQp'> & { readonly destQp?: number })[]): Captured[] {
    for (const packet of packets) this.take(packet);
    this.standIn.finish(this.nowUs);
    return this.answers.splice(0);
  }
}

const send = (psn: number): Omit<Crafted, 'destQp'> => ({
  opcode: Opcode.RC_SEND_ONLY,
  psn,
  payload: new Uint8Array(8),
});
const reth = { va: VA, rkey: 1, length: 8 };

describe('a stand-in', () => {
  const requests: Record<string, Omit<Crafted, 'destQp'>> = {
    SEND: send(EXPECTED),
    WRITE: { opcode: Opcode.RC_WRITE_ONLY, psn: EXPECTED, reth, payload: new Uint8Array(8) },
    READ: { opcode: Opcode.RC_READ_REQUEST, psn: EXPECTED, reth },
    atomic: { opcode: Opcode.RC_FETCH_ADD, psn: EXPECTED, atomic: { va: VA, rkey: 1, swapAdd: 1n } },
  };
  for (const [name, packet] of Object.entries(requests))
    it(`answers a ${name} by an RNR NAK of its PSN, and drops it`, () => {
      const still = new Stillness();
      assert.equal(still.take(packet), Verdict.DROP);
      const [{ opcode, psn, destQp, syndrome = 0, to }, ...others] = still.answer();
      assert.deepEqual(
        [opcode, psn, destQp, to],
        [Opcode.RC_ACKNOWLEDGE, EXPECTED, still.puppet.peerQpn, still.puppet.peerAddress],
      );
      assert.equal(syndrome & Aeth.KIND_MASK, Aeth.RNR_NAK);
      assert.deepEqual(others, []);
    });

  it('acknowledges nothing behind a gap', () => {
    const still = new Stillness();
    assert.deepEqual(
      still.answer(send(EXPECTED + 3), send(EXPECTED + 2)).map(({ psn }) => psn),
      [EXPECTED],
    );
  });

  it('answers repeats by the lowest PSN of them, since an answer to that may be missing', () => {
    const still = new Stillness();
    const repeats = [send(EXPECTED - 1), send(EXPECTED - 4), send(EXPECTED + 1)];
    assert.deepEqual(
      still.answer(...repeats).map(({ psn }) => psn),
      [EXPECTED - 4],
    );
  });

  it('follows what the responder has executed', () => {
    const still = new Stillness();
    const { puppet } = still;
    puppet.qp.recv(puppet.host1.mr(8));
    puppet.say(send(EXPECTED));
    assert.deepEqual(
      still.answer(send(EXPECTED + 1)).map(({ psn, msn }) => [psn, msn]),
      [[EXPECTED + 1, 1]],
    );
  });

  it('has peers wait for longer the longer the program stands still', () => {
    const still = new Stillness();
    const waits: number[] = [];
    for (const atUs of [0, 1e6, 2e6, 10e6]) {
      still.nowUs = atUs;
      waits.push(...still.answer(send(EXPECTED)).map(({ syndrome = 0 }) => rnrTimerUs(syndrome & Aeth.VALUE_MASK)));
    }
    assert.deepEqual(waits, [10_240, 81_920, 163_840, 163_840]);
  });

  it('sends one answer for all that was under way when it was sent', () => {
    const still = new Stillness();
    assert.equal(still.answer(send(EXPECTED), send(EXPECTED + 1)).length, 1);
    still.nowUs += 1000;
    assert.equal(still.answer(send(EXPECTED + 2)).length, 0);
  });

  it('spends no more RNR retries than the peer has', () => {
    const still = new Stillness();
    const { puppet } = still;
    puppet.host1.nic.control.limitRnrRetries(puppet.qp.qpn, 2);
    let naks = 0;
    for (; still.nowUs < 20e6; still.nowUs += 100_000) naks += still.answer(send(EXPECTED)).length;
    assert.equal(naks, 2);
  });

  it('leaves requests of a peer without RNR retries to the NIC', () => {
    const still = new Stillness();
    const { puppet } = still;
    puppet.host1.nic.control.limitRnrRetries(puppet.qp.qpn, 0);
    assert.equal(still.take(send(EXPECTED)), Verdict.KEEP);
    assert.deepEqual(still.answer(), []);
  });

  it('expects of a peer without rdma_cm what its own queue pair has', () => {
    const still = new Stillness({ rnrRetry: 0 });
    assert.equal(still.take(send(EXPECTED)), Verdict.KEEP);
  });

  const kept: Record<string, Omit<Crafted, 'destQp'> & { readonly destQp?: number }> = {
    'an acknowledgement': { opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000, aeth: { syndrome: 0x1f, msn: 1 } },
    'a READ response': { opcode: Opcode.RC_READ_RESP_ONLY, psn: 0x1000, aeth: { syndrome: 0x1f, msn: 1 } },
    'a packet of UC': { ...send(EXPECTED), opcode: Opcode.UC_SEND_ONLY },
    'a packet to another queue pair': { ...send(EXPECTED), destQp: 0x99 },
    'a packet of another partition': { ...send(EXPECTED), pkey: 0x8123 },
    'a packet with a wrong ICRC': { ...send(EXPECTED), badIcrc: true },
    'a packet of another version': { ...send(EXPECTED), tver: 1 },
  };
  for (const [name, packet] of Object.entries(kept))
    it(`keeps ${name} for the NIC`, () => {
      const still = new Stillness();
      assert.equal(still.take(packet), Verdict.KEEP);
      assert.deepEqual(still.answer(), []);
    });

  it('keeps a request that does not come from the peer', () => {
    const still = new Stillness();
    still.puppet.network.attach('10.0.0.66');
    assert.equal(still.take(send(EXPECTED), '10.0.0.66'), Verdict.KEEP);
    assert.deepEqual(still.answer(), []);
  });

  it('answers for a queue pair no more once that is in ERR', () => {
    const still = new Stillness();
    still.puppet.qp.modify({ qpState: QpState.ERR });
    assert.equal(still.take(send(EXPECTED)), Verdict.KEEP);
  });

  for (const attribute of [CmAttribute.REQ, CmAttribute.REP])
    it(`asks for patience where a ${attribute === CmAttribute.REQ ? 'REQ' : 'REP'} waits, and keeps that`, () => {
      const still = new Stillness();
      const mad = new Uint8Array(256);
      mad.set([1, 7, 2, 3]);
      mad[17] = attribute;
      mad.set([0, 0, 0, 42], 24);
      mad.set([0, 0, 0, 77], 28);
      const bytes = still.puppet.crafted({ opcode: Opcode.UD_SEND_ONLY, psn: 0, destQp: 1, payload: mad });
      writeDeth(bytes, BTH_BYTES, GSI_QKEY, 1);
      assert.equal(still.takeBytes(sealed(still, bytes)), Verdict.KEEP);
      const [answer] = still.answers;
      const mra = decodeCmMessage(answer.payload);
      assert.ok(mra?.attribute === CmAttribute.MRA);
      const isRequest = attribute === CmAttribute.REQ;
      assert.deepEqual(
        [mra.messageMraed, mra.remoteCommId, mra.localCommId],
        [isRequest ? 0 : 1, 42, isRequest ? 0 : 77],
      );
      assert.equal(encodeCmMessage(mra).length, 256);
    });
});

/** With the ICRC of what it is now. */
function sealed({ puppet }: Stillness, bytes: Uint8Array): Uint8Array {
  const path = createPath({ sgid: gidFromIp(puppet.peerAddress), dgid: puppet.host1.gid });
  sealIcrc(crc32, path, bytes, 0, bytes.length, 0);
  return bytes;
}
