/** What the tests of regions, windows and domains have in common beyond `support.ts`; by the public API alone. */
import assert from 'node:assert/strict';
import {
  alloc,
  type Cq,
  incRkey,
  type Mr,
  type Mw,
  type MwBindInfo,
  MwType,
  type Qp,
  QpState,
  QpType,
  type RemoteMemory,
  SendFlags,
  type SendWr,
  type Sge,
  WcStatus,
  wcStatusStr,
  type WorkCompletion,
  WrOpcode,
} from '../../src/entry/index.js';
import {
  ALL_ACCESS,
  assertStatus,
  assertSuccess,
  bringUp,
  type End,
  handleTo,
  type Pair,
  type PathOptions,
  pattern,
  perform,
  pollOne,
  pollUntil,
  QKEY,
  REMOTE_ACCESS,
  targetOf,
} from './support.js';

export const PAGE = 4096;

/** Bytes that UD puts before the message (protocol/packets.md 1.6). */
export const GRH_BYTES = 40;

export const WINDOW_TYPES = [
  ['type 1', MwType.TYPE_1],
  ['type 2', MwType.TYPE_2],
] as const;

type OneSided = (sge: Sge, target: RemoteMemory) => SendWr;

/** Requests that name memory of the peer. Of these all but READ change it. */
export const ONE_SIDED = {
  READ: (sge, rdma) => ({ opcode: WrOpcode.RDMA_READ, sgList: [sge], rdma }),
  WRITE: (sge, rdma) => ({ opcode: WrOpcode.RDMA_WRITE, sgList: [sge], rdma }),
  FETCH_ADD: (sge, target) => ({
    opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
    sgList: [sge],
    atomic: { ...target, compareAdd: 1n },
  }),
  CMP_SWAP: (sge, target) => ({
    opcode: WrOpcode.ATOMIC_CMP_AND_SWP,
    sgList: [sge],
    atomic: { ...target, compareAdd: 0n, swap: 1n },
  }),
} satisfies Record<string, OneSided>;

/** The same as a list of names and requests, for tables. */
export const ONE_SIDED_REQUESTS: readonly (readonly [string, OneSided])[] = Object.entries(ONE_SIDED);

/** READs and writes `bytes` bytes at `target`, from or to the beginning of `mr`. */
export const readOf = (mr: Mr, rdma: RemoteMemory, bytes = 8): SendWr => ONE_SIDED.READ(mr.sge(0, bytes), rdma);
export const writeOf = (mr: Mr, rdma: RemoteMemory, bytes = 8): SendWr => ONE_SIDED.WRITE(mr.sge(0, bytes), rdma);

/** A region in a domain that nothing else of `end` is in. */
export function strangeRegion(end: End, bytes = 64, access: number = ALL_ACCESS): Mr {
  const pd = end.keep(end.context.allocPd());
  return end.keep(pd.regMr(alloc(bytes), access));
}

/** A window, which ends with `end`. */
export const windowOf = (end: End, type: MwType): Mw => end.keep(end.pd.allocMw(type));

/** What a window over all of `mr` is. */
export const wholeOf = (mr: Mr, mwAccessFlags: number = REMOTE_ACCESS): MwBindInfo => ({
  mr,
  addr: mr.iova,
  length: mr.length,
  mwAccessFlags,
});

/** What a window over a piece of `mr` is. */
export const pieceOf = (mr: Mr, offset: number, length: number, mwAccessFlags: number = REMOTE_ACCESS): MwBindInfo => ({
  mr,
  addr: mr.iova + BigInt(offset),
  length,
  mwAccessFlags,
});

/** The request that binds a window of type 2 under `rkey`. */
export const bindRequest = (mw: Mw, rkey: number, bindInfo: MwBindInfo): SendWr => ({
  opcode: WrOpcode.BIND_MW,
  bindMw: { mw, rkey, bindInfo },
});

export interface Bound {
  readonly wc: WorkCompletion;
  /** The window's key, if it went well. */
  readonly rkey: number;
}

/** Binds a window on a queue pair, by the verb or by a request as its type wants it. */
export function bindOn(qp: Qp, mw: Mw, bindInfo: MwBindInfo): Bound {
  if (mw.type === MwType.TYPE_1) {
    qp.bindMw(mw, { sendFlags: SendFlags.SIGNALED, bindInfo });
    return { wc: pollOne(qp.sendCq), rkey: mw.rkey };
  }
  const rkey = incRkey(mw.rkey);
  return { wc: performOn(qp, bindRequest(mw, rkey, bindInfo)), rkey };
}

export const bind = (end: End, mw: Mw, bindInfo: MwBindInfo): Bound => bindOn(end.qp, mw, bindInfo);

/** Binds a new window, which must go well. */
export function openWindow(end: End, type: MwType, bindInfo: MwBindInfo): { readonly mw: Mw; readonly rkey: number } {
  const mw = windowOf(end, type);
  const { wc, rkey } = bind(end, mw, bindInfo);
  assertSuccess(end, wc);
  return { mw, rkey };
}

/** As `perform`, on any queue pair. */
export function performOn(qp: Qp, wr: SendWr): WorkCompletion {
  qp.postSend({ ...wr, sendFlags: (wr.sendFlags ?? 0) | SendFlags.SIGNALED });
  return pollOne(qp.sendCq);
}

/** The completion with that id; those before it are passed over. */
export function completionOf(cq: Cq, wrId: bigint): WorkCompletion {
  for (;;) {
    const wc = pollOne(cq);
    if (wc.wrId === wrId) return wc;
  }
}

/** One more pair of queue pairs in the domains of a pair; they end with it. */
export function secondConnection({ local, remote }: Pair): { readonly here: Qp; readonly there: Qp } {
  const here = local.keep(local.pd.createQp(local.qpInit()));
  const there = remote.keep(remote.pd.createQp(remote.qpInit()));
  bringUp(there, { context: local.context, qpNum: here.qpNum });
  bringUp(here, { context: remote.context, qpNum: there.qpNum });
  return { here, there };
}

/** Takes both queue pairs through RESET to RTS again. */
export function reconnect({ local, remote }: Pair, options: PathOptions = {}): void {
  for (const { qp } of [local, remote]) qp.modify({ qpState: QpState.RESET });
  bringUp(remote.qp, targetOf(local), options);
  bringUp(local.qp, targetOf(remote), options);
}

/** How a message of the connected types or UD goes from one end to the other. */
function sendOf(from: End, to: End, sgList: readonly Sge[]): SendWr {
  if (from.qp.qpType !== QpType.UD) return { opcode: WrOpcode.SEND, sgList };
  const ud = { ah: handleTo(from, to), remoteQpn: to.qp.qpNum, remoteQkey: QKEY };
  return { opcode: WrOpcode.SEND, sgList, ud };
}

/**
 * Sends the first `bytes` of one region into the other, and checks that they arrive.
 *
 * @param salt - of the pattern that is sent
 */
export function sendThrough(from: End, to: End, source: Mr, target: Mr, bytes: number, salt = 0): void {
  const before = to.qp.qpType === QpType.UD ? GRH_BYTES : 0;
  const data = pattern(bytes, salt);
  source.bytes.set(data);
  to.qp.postRecv({ sgList: [target.sge(0, before + bytes)] });
  assertSuccess(from, perform(from, sendOf(from, to, [source.sge(0, bytes)])));
  const received = pollOne(to.cq);
  assertSuccess(to, received);
  assert.equal(received.byteLen, before + bytes);
  assert.deepEqual(target.bytes.subarray(before, before + bytes), data);
}

const ROUNDS = 5;

/** Sends both ways in turn, between regions of either end. */
export function pingPong({ local, remote }: Pair, here: Mr = local.mr, there: Mr = remote.mr, bytes = 1024): void {
  for (let round = 0; round < ROUNDS; round += 1) {
    sendThrough(local, remote, here, there, bytes, 2 * round);
    sendThrough(remote, local, there, here, bytes, 2 * round + 1);
  }
}

/** Writes the first `bytes` of `source` to `target`, whose bytes are `there`, and checks that they are in place. */
export function writeThrough(from: End, source: Mr, target: RemoteMemory, there: Uint8Array, bytes: number): void {
  const data = pattern(bytes, bytes);
  source.bytes.set(data);
  there.fill(0, 0, bytes);
  assertSuccess(from, perform(from, writeOf(source, target, bytes)));
  assert.deepEqual(there.subarray(0, bytes), data);
}

/** Has requests outstanding, up to a number of them, for as long as a test wants. */
export class Stream {
  readonly completions: WorkCompletion[] = [];
  #posted = 0;

  constructor(
    private readonly end: End,
    private readonly depth: number,
    private readonly request: SendWr,
  ) {}

  fill(): void {
    while (this.#posted - this.completions.length < this.depth) {
      this.end.qp.postSend({ ...this.request, wrId: this.#posted, sendFlags: SendFlags.SIGNALED });
      this.#posted += 1;
    }
  }

  /** Keeps requests outstanding until `count` have completed. */
  runUntil(count: number): void {
    while (this.completions.length < count) {
      this.fill();
      this.completions.push(pollOne(this.end.cq));
    }
  }

  /** Waits for what is outstanding; every request must then have completed once, in the order of posting. */
  drain(): void {
    this.completions.push(...pollUntil(this.end.cq, this.#posted - this.completions.length));
    assert.deepEqual(
      this.completions.map(({ wrId }) => wrId),
      Array.from({ length: this.#posted }, (_, i) => BigInt(i)),
    );
  }

  /** That at least `good` requests ended well, then one in `status`, and all behind it were flushed. */
  assertBrokeOff(good: number, status: WcStatus): void {
    const at = this.completions.findIndex((wc) => wc.status !== WcStatus.SUCCESS);
    assert.ok(at >= good, `request ${at} was the first that failed, and ${good} should have ended well`);
    assertStatus(this.end, this.completions[at], status);
    const behind = new Set(this.completions.slice(at + 1).map((wc) => wcStatusStr(wc.status)));
    assert.deepEqual([...behind], [wcStatusStr(WcStatus.WR_FLUSH_ERR)]);
  }
}
