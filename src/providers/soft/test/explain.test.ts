import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explain } from '../index.js';
import { type Explainable, formatMicroseconds } from '../../../api/verbs/index.js';
import {
  Errno,
  MwBindReason,
  nameOf,
  QpState,
  Syndrome,
  WcOpcode,
  WcStatus,
  WrOpcode,
  XrcSrqReason,
} from '../../../device/ibta/index.js';

const ADDR_HI = 0x7f3a;
const ADDR_LO = 0x8000_1000 | 0;

function failure(
  status: WcStatus,
  vendorErr: number,
  detail: readonly number[],
  more: Partial<Explainable> = {},
): string {
  return explain({ status, opcode: WcOpcode.SEND, vendorErr, byteLen: 0, detail, peer: '127.0.0.2', ...more });
}

describe('explain', () => {
  it('says what a success was', () => {
    const wc = { status: WcStatus.SUCCESS, opcode: WcOpcode.RECV, vendorErr: 0, byteLen: 64, detail: [] };
    assert.equal(explain(wc), 'success: RECV of 64 bytes');
  });

  it('counts the transmissions that nobody answered', () => {
    assert.equal(
      failure(WcStatus.RETRY_EXC_ERR, Syndrome.RETRY_TIMEOUT, [0x4a31, 7, 470_123, 0x12]),
      'retry count exceeded: 7 transmissions of PSN 0x4a31 to 127.0.0.2 QP 0x12, no answer in 0.47 s; ' +
        'is the peer alive, its QP in RTR or RTS, do destQpNum, PSNs and P_Keys of both fit each other, ' +
        'and do packets get through both ways?',
    );
  });

  it('tells a packet that the peer asks for in vain from a peer that is silent', () => {
    assert.match(
      failure(WcStatus.RETRY_EXC_ERR, Syndrome.RETRY_TIMEOUT, [0x4a31, 120, 33_800, 0x12, 118]),
      /120 transmissions of PSN 0x4a31 .* in 33\.8 ms, which it asked for 118 times \(NAK PSN sequence error\)/,
    );
  });

  it('speaks of no NAKs where none came, however often a packet was sent', () => {
    for (const syndrome of [Syndrome.RETRY_TIMEOUT, Syndrome.RETRY_SEQUENCE])
      assert.doesNotMatch(failure(WcStatus.RETRY_EXC_ERR, syndrome, [0x4a31, 120, 33_800, 0x12]), /NAK|asked/);
  });

  it('does without the peer’s address', () => {
    const wc: Explainable = {
      status: WcStatus.RETRY_EXC_ERR,
      opcode: WcOpcode.SEND,
      vendorErr: Syndrome.RETRY_TIMEOUT,
      byteLen: 0,
      detail: [1, 1, 500, 0x12],
    };
    assert.match(explain(wc), /1 transmission of PSN 0x1 to the peer's QP 0x12, no answer in 500 µs/);
  });

  it('tells a receiver that was not ready from one that did not answer', () => {
    const text = failure(WcStatus.RNR_RETRY_EXC_ERR, Syndrome.RNR_EXCEEDED, [5, 8, 4600, 0x12, 12]);
    assert.match(
      text,
      /^receiver not ready: 8 transmissions of PSN 0x5 to 127\.0\.0\.2 QP 0x12 in 4\.6 ms, 640 µs apart/,
    );
  });

  it('tells what a peer refused, where, and which right it needs', () => {
    const detail = [9, 0xdeadbeef | 0, ADDR_HI, ADDR_LO, 4096, 0x12];
    const text = failure(WcStatus.REM_ACCESS_ERR, Syndrome.REMOTE_ACCESS, detail, { opcode: WcOpcode.RDMA_READ });
    assert.match(text, /127\.0\.0\.2 QP 0x12 refused RDMA_READ of 4096 bytes at 0x7f3a80001000 with rkey 0xdeadbeef/);
    assert.match(text, /with REMOTE_READ,/);
  });

  it('does not ask for rights to memory where a SEND was refused', () => {
    const text = failure(WcStatus.REM_ACCESS_ERR, Syndrome.REMOTE_ACCESS, [9, 0, 0, 0, 64, 0x12]);
    assert.match(text, /refused SEND of 64 bytes \(PSN 0x9\); if it was to invalidate a key/);
  });

  const questions: readonly [WrOpcode, RegExp][] = [
    [WrOpcode.SEND, /receive request that the peer posted long enough/],
    [WrOpcode.RDMA_WRITE_WITH_IMM, /qpAccessFlags have REMOTE_WRITE/],
    [WrOpcode.RDMA_READ, /REMOTE_READ, and is its maxDestRdAtomic/],
    [WrOpcode.ATOMIC_FETCH_AND_ADD, /REMOTE_ATOMIC, is its maxDestRdAtomic/],
    [WrOpcode.FLUSH, /FLUSH_GLOBAL or FLUSH_PERSISTENT, and is its maxDestRdAtomic/],
    [WrOpcode.ATOMIC_WRITE, /REMOTE_WRITE, and is its maxDestRdAtomic/],
  ];
  for (const [opcode, question] of questions) {
    it(`asks what an invalid ${nameOf(WrOpcode, opcode)} calls for`, () => {
      const detail = [9, opcode, 100, 0x12];
      assert.match(failure(WcStatus.REM_INV_REQ_ERR, Syndrome.REMOTE_INVALID_REQUEST, detail), question);
    });
  }

  it('names the piece of local memory that is wrong', () => {
    const detail = [0x500, 1, ADDR_HI, ADDR_LO, 64];
    assert.match(
      failure(WcStatus.LOC_PROT_ERR, Syndrome.LOCAL_KEY_RANGE, detail),
      /sgList\[1\] \(64 bytes at 0x7f3a80001000, lkey 0x500\) is not all inside its region/,
    );
  });

  it('gives the two lengths that do not fit', () => {
    assert.match(
      failure(WcStatus.LOC_LEN_ERR, Syndrome.LOCAL_LENGTH, [128, 64], { opcode: WcOpcode.RECV }),
      /at least 128 bytes came for a receive request of 64 bytes/,
    );
  });

  it('leads from a flushed request to its cause', () => {
    assert.equal(
      failure(WcStatus.WR_FLUSH_ERR, Syndrome.FLUSHED, [QpState.ERR, Syndrome.RETRY_TIMEOUT]),
      'flushed: the QP was in ERR before the request was carried out, after the peer stopped answering; ' +
        'the first completion in error of this QP, or its asynchronous event, says more',
    );
  });

  it('blames nobody for a flush that was asked for', () => {
    assert.match(
      failure(WcStatus.WR_FLUSH_ERR, Syndrome.FLUSHED, [QpState.ERR, Syndrome.NONE]),
      /before the request was carried out, where the program had moved it \(modify\)$/,
    );
  });

  for (const [name, syndrome] of Object.entries(Syndrome)) {
    if (syndrome === Syndrome.NONE) continue;
    it(`has a sentence for ${name}, with or without numbers`, () => {
      for (const detail of [[], [1, 2, 3, 4, 5, 6], [-1, -1, -1, -1, -1, -1]]) {
        const text = failure(WcStatus.GENERAL_ERR, syndrome, detail);
        // Drivers count their errors downwards; all else that there is to tell is no less than 0.
        assert.doesNotMatch(text.replace(/driver gave error -\d+/, ''), /undefined|NaN|-\d|general error/);
        assert.ok(text.length > 40, text);
      }
    });
  }

  it('falls back to the status for vendor errors of other makers', () => {
    assert.equal(
      failure(WcStatus.RNR_RETRY_EXC_ERR, 0x81, []),
      'receiver-not-ready retry count exceeded (status 13, vendor error 129); does the peer post receive requests in time?',
    );
  });

  it('says the status alone when it means nothing', () => {
    // No status has this number; a file or another maker's adapter may show it.
    const text = explain({ status: 99 as WcStatus, opcode: WcOpcode.SEND, vendorErr: 0, byteLen: 0, detail: [] });
    assert.equal(text, 'unknown (99) (status 99, vendor error 0)');
  });

  for (const [name, status] of Object.entries(WcStatus)) {
    if (status === WcStatus.SUCCESS) continue;
    it(`says more than the number of ${name} when nothing else is known`, () => {
      const text = failure(status, 0, []);
      assert.match(text, new RegExp(`\\(status ${status}, vendor error 0\\); .{20}`));
    });
  }

  for (const [name, reason] of Object.entries(MwBindReason)) {
    it(`says why a bind was refused: ${name}`, () => {
      const detail = [0x501, 0x500, ADDR_HI, ADDR_LO, 64, reason];
      const text = failure(WcStatus.MW_BIND_ERR, Syndrome.MW_BIND, detail, { opcode: WcOpcode.BIND_MW });
      assert.match(
        text,
        /window of rkey 0x501 cannot open 64 bytes at 0x7f3a80001000 of the region of lkey 0x500: .{20}/,
      );
      assert.doesNotMatch(text, /do not allow it/);
    });
  }

  const srqReasons: readonly [XrcSrqReason, RegExp][] = [
    [XrcSrqReason.UNKNOWN, /does not exist/],
    [XrcSrqReason.TYPE, /is not of type XRC/],
    [XrcSrqReason.DOMAIN, /another XRC domain/],
  ];
  for (const [reason, words] of srqReasons) {
    it(`says of an SRQ that cannot take an XRC request that it ${words.source}`, () => {
      assert.match(failure(WcStatus.LOC_QP_OP_ERR, Syndrome.XRC_SRQ, [0x33, reason]), words);
    });
  }

  it('names the error with which a link refused a packet', () => {
    const text = failure(WcStatus.GENERAL_ERR, Syndrome.LINK_REFUSED, [1500, Errno.EMSGSIZE]);
    assert.match(text, /refused a packet of 1500 bytes \(EMSGSIZE\)/);
  });
});

describe('formatMicroseconds', () => {
  const times: readonly [number, string][] = [
    [0, '0 µs'],
    [8.192, '8.19 µs'],
    [999, '999 µs'],
    [1000, '1 ms'],
    [12_345, '12.3 ms'],
    [470_000, '0.47 s'],
    [9_960_000, '10 s'],
    [12_345_678, '12 s'],
  ];
  for (const [us, text] of times) it(`writes ${us} µs as ${text}`, () => assert.equal(formatMicroseconds(us), text));
});
