/** What the tests of this suite have in common; all of it by the public API. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import {
  AccessFlags,
  type Ah,
  alloc,
  type AsyncEvent,
  type Context,
  type Cq,
  type ErrnoName,
  type Mr,
  Mtu,
  type Pd,
  type Qp,
  type QpBase,
  type QpCap,
  type QpInitAttr,
  QpState,
  QpType,
  type RemoteMemory,
  SendFlags,
  type SendWr,
  type Srq,
  VerbsError,
  WcStatus,
  type WorkCompletion,
} from '../../src/entry/index.js';
import type { Provider } from './provider.js';

export const LOCAL_ONLY = AccessFlags.LOCAL_WRITE;
/** What a region, a window or a QP can open to peers. */
export const REMOTE_ACCESS = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;
/** All of that, what it needs locally, and windows. */
export const ALL_ACCESS = AccessFlags.LOCAL_WRITE | REMOTE_ACCESS | AccessFlags.MW_BIND;

/** The Q_Key of all datagram QPs here. */
export const QKEY = 0x1111;
/** A key that no region or window has: keys are random, so that one in four thousand million runs may differ. */
export const BOGUS_KEY = 0xdeadbeef;

/** Long enough for any machine; whoever waits longer has found a bug. */
const PATIENCE_MS = 20_000;

/** Devices of this file: to bring one up takes longer than most tests. */
interface Shared {
  readonly contexts: Context[];
  /** Descriptions whose tests have not ended. */
  users: number;
}

const shared = new Map<Provider, Shared>();

/**
 * Gives the tests of a describe() devices, which are there from its first test on and shared by all of the file: a test
 * must leave them as it found them. Events of earlier tests are gone.
 */
export function useDevices(provider: Provider, count = 2): readonly Context[] {
  const devices = shared.get(provider) ?? { contexts: [], users: 0 };
  shared.set(provider, devices);
  devices.users += 1;
  const mine: Context[] = [];
  before(() => {
    while (devices.contexts.length < count) devices.contexts.push(provider.open());
    mine.push(...devices.contexts.slice(0, count));
    for (const context of mine) pendingEvents(context);
  });
  after(() => {
    devices.users -= 1;
    if (devices.users === 0) for (const context of devices.contexts.splice(0)) context.close();
  });
  return mine;
}

export interface EndOptions {
  /** Default RC. */
  readonly qpType?: QpType;
  /** Bytes of registered memory; default 8192. */
  readonly bytes?: number;
  /** Access of that memory; default all. */
  readonly access?: number;
  readonly cqe?: number;
  readonly cap?: Partial<QpCap>;
  readonly sqSigAll?: boolean;
  readonly srq?: Srq;
  readonly sendOpsFlags?: number;
  /** A domain that somebody else ends; default one of its own. */
  readonly pd?: Pd;
}

/** One end of a connection: what it takes to send and receive. Ends what it has made when it is disposed. */
export class End implements Disposable {
  readonly context: Context;
  readonly pd: Pd;
  readonly mr: Mr;
  readonly cq: Cq;
  readonly qp: Qp;
  readonly #kept: Disposable[] = [];

  constructor(context: Context, options: EndOptions = {}) {
    this.context = context;
    this.pd = options.pd ?? this.keep(context.allocPd());
    this.mr = this.keep(this.pd.regMr(alloc(options.bytes ?? 8192), options.access ?? ALL_ACCESS));
    this.cq = this.keep(context.createCq({ cqe: options.cqe ?? 256 }));
    this.qp = this.keep(this.pd.createQp(this.qpInit(options)));
  }

  /** Has `object` end with this end, before all that was made earlier. */
  keep<T extends Disposable>(object: T): T {
    this.#kept.push(object);
    return object;
  }

  /** Memory of `bytes`, registered in the domain of this end. */
  region(bytes: number, access: number = ALL_ACCESS): Mr {
    return this.keep(this.pd.regMr(alloc(bytes), access));
  }

  /** What `createQp` takes for one more queue pair of this end. */
  qpInit(options: EndOptions = {}): QpInitAttr {
    return {
      qpType: options.qpType ?? QpType.RC,
      sendCq: this.cq,
      recvCq: this.cq,
      cap: { maxSendSge: 4, maxRecvSge: 4, maxInlineData: 64, ...options.cap },
      sqSigAll: options.sqSigAll ?? false,
      ...(options.srq === undefined ? {} : { srq: options.srq }),
      ...(options.sendOpsFlags === undefined ? {} : { sendOpsFlags: options.sendOpsFlags }),
    };
  }

  [Symbol.dispose](): void {
    for (const object of this.#kept.splice(0).reverse()) object[Symbol.dispose]();
  }
}

export interface PathOptions {
  readonly pathMtu?: Mtu;
  readonly qpAccess?: number;
  /** Of the ACK timer, an exponent; default 14, which is 67 ms. For peers that stay silent: 8, about 1 ms. */
  readonly timeout?: number;
  readonly retryCnt?: number;
  readonly rnrRetry?: number;
  /** Code of the time that a peer without a receive request asks for; default 1, 10 µs. */
  readonly minRnrTimer?: number;
  readonly maxRdAtomic?: number;
  readonly sqPsn?: number;
  readonly rqPsn?: number;
}

export interface Target {
  readonly context: Context;
  readonly qpNum: number;
}

export function toInit(qp: QpBase, options: PathOptions = {}): void {
  const base = { qpState: QpState.INIT, pkeyIndex: 0, portNum: 1 };
  if (qp.qpType === QpType.RAW_PACKET) qp.modify({ qpState: QpState.INIT, portNum: 1 });
  else if (qp.qpType === QpType.UD) qp.modify({ ...base, qkey: QKEY });
  else qp.modify({ ...base, qpAccessFlags: options.qpAccess ?? REMOTE_ACCESS });
}

const hasResponder = (type: QpType): boolean => type === QpType.RC || type === QpType.XRC_RECV;
const hasRequester = (type: QpType): boolean => type === QpType.RC || type === QpType.XRC_SEND;

export function toRtr(qp: QpBase, target: Target, options: PathOptions = {}): void {
  qp.modify({
    qpState: QpState.RTR,
    pathMtu: options.pathMtu ?? Mtu.MTU_1024,
    destQpNum: target.qpNum,
    rqPsn: options.rqPsn ?? 0,
    ahAttr: { grh: { dgid: target.context.queryGid(1, 0) } },
    ...(hasResponder(qp.qpType)
      ? { maxDestRdAtomic: options.maxRdAtomic ?? 16, minRnrTimer: options.minRnrTimer ?? 1 }
      : {}),
  });
}

export function toRts(qp: QpBase, options: PathOptions = {}): void {
  const timeout = options.timeout ?? 14;
  qp.modify({
    qpState: QpState.RTS,
    sqPsn: options.sqPsn ?? 0,
    ...(hasRequester(qp.qpType)
      ? {
          timeout,
          retryCnt: options.retryCnt ?? 7,
          rnrRetry: options.rnrRetry ?? 7,
          maxRdAtomic: options.maxRdAtomic ?? 16,
        }
      : {}),
    ...(qp.qpType === QpType.XRC_RECV ? { timeout } : {}),
  });
}

/** RESET to RTS: of a connected type towards `target`, of a datagram type without one. */
export function bringUp(qp: QpBase, target?: Target, options: PathOptions = {}): void {
  toInit(qp, options);
  if (target === undefined) {
    qp.modify({ qpState: QpState.RTR });
    qp.modify({ qpState: QpState.RTS, ...(qp.qpType === QpType.UD ? { sqPsn: options.sqPsn ?? 0 } : {}) });
    return;
  }
  toRtr(qp, target, options);
  toRts(qp, options);
}

export const targetOf = ({ context, qp }: { readonly context: Context; readonly qp: QpBase }): Target => ({
  context,
  qpNum: qp.qpNum,
});

/** Brings two ends up toward each other; datagram ends just up. */
export function joinEnds(local: End, remote: End, mine: PathOptions = {}, theirs: PathOptions = mine): void {
  const datagrams = local.qp.qpType === QpType.UD;
  bringUp(remote.qp, datagrams ? undefined : targetOf(local), theirs);
  bringUp(local.qp, datagrams ? undefined : targetOf(remote), mine);
}

export type PairOptions = EndOptions &
  PathOptions & {
    readonly local?: EndOptions & PathOptions;
    readonly remote?: EndOptions & PathOptions;
  };

/** Two ends that can talk to each other: `local` on the first device, `remote` on the second. */
export class Pair implements Disposable {
  readonly local: End;
  readonly remote: End;

  /** @param contexts one or two devices; with one, it talks to itself */
  constructor(contexts: readonly Context[], options: PairOptions = {}) {
    const mine = { ...options, ...options.local };
    const theirs = { ...options, ...options.remote };
    this.local = new End(contexts[0], mine);
    this.remote = new End(contexts[contexts.length - 1], theirs);
    joinEnds(this.local, this.remote, mine, theirs);
  }

  [Symbol.dispose](): void {
    this.local[Symbol.dispose]();
    this.remote[Symbol.dispose]();
  }
}

/** An address handle from one end to another; it ends with `from`. */
export function handleTo(from: End, to: { readonly context: Context }): Ah {
  return from.keep(from.pd.createAh({ grh: { dgid: to.context.queryGid(1, 0) } }));
}

/** How peers name a region, from `offset` on. */
export function remoteOf(mr: Mr, offset = 0): RemoteMemory {
  return { remoteAddr: mr.iova + BigInt(offset), rkey: mr.rkey };
}

/** Bytes that differ from place to place. */
export function pattern(length: number, salt = 0): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8) * 7 + salt) & 0xff);
}

/** The 8 bytes at `offset`, as atomics see them: in native byte order. */
export function readU64(mr: Mr, offset = 0): bigint {
  return new BigUint64Array(mr.bytes.slice(offset, offset + 8).buffer)[0];
}

export function writeU64(mr: Mr, value: bigint, offset = 0): void {
  mr.bytes.set(new Uint8Array(BigUint64Array.of(value).buffer), offset);
}

/** `LOC_PROT_ERR` and so on, for titles of tests. */
export function statusName(status: WcStatus): string {
  return Object.entries(WcStatus).find(([, value]) => value === status)?.[0] ?? String(status);
}

export function describeCompletion(context: Context, wc: WorkCompletion): string {
  return `wr_id ${wc.wrId} of QP 0x${wc.qpNum.toString(16)}: ${statusName(wc.status)} (${context.explain(wc)})`;
}

/** Polls until `count` completions have come. */
export function pollUntil(cq: Cq, count: number): WorkCompletion[] {
  const completions: WorkCompletion[] = [];
  const begun = performance.now();
  while (completions.length < count) {
    completions.push(...cq.poll(count - completions.length));
    if (performance.now() - begun <= PATIENCE_MS) continue;
    const came = completions.map((wc) => describeCompletion(cq.context, wc)).join('; ');
    throw new Error(`only ${completions.length} of ${count} completions came: ${came}`);
  }
  return completions;
}

export function pollOne(cq: Cq): WorkCompletion {
  return pollUntil(cq, 1)[0];
}

/** Waits for something that no completion tells. */
export function waitUntil(context: Context, what: string, condition: () => boolean): void {
  // Looking at a queue is what moves an inline NIC on.
  using idle = context.createCq({ cqe: 1 });
  const begun = performance.now();
  while (!condition()) {
    idle.poll();
    if (performance.now() - begun > PATIENCE_MS) throw new Error(`it never came that ${what}`);
  }
}

/** Waits until `qp` is in `state`. */
export function waitForState(qp: QpBase, state: QpState): void {
  waitUntil(qp.context, `QP 0x${qp.qpNum.toString(16)} is in state ${state}`, () => qp.query().attr.qpState === state);
}

/** The next asynchronous event. */
export const nextEvent = (context: Context): AsyncEvent => context.getAsyncEvent(PATIENCE_MS);

/** The asynchronous events that are there. */
export function pendingEvents(context: Context): AsyncEvent[] {
  const events: AsyncEvent[] = [];
  for (;;) {
    try {
      events.push(context.getAsyncEvent(0));
    } catch (error) {
      if (error instanceof VerbsError && error.errno === 'ETIMEDOUT') return events;
      throw error;
    }
  }
}

/** Posts `wr`, SIGNALED, and waits for its completion, which must be the next one. */
export function perform(end: End, wr: SendWr): WorkCompletion {
  end.qp.postSend({ ...wr, sendFlags: (wr.sendFlags ?? 0) | SendFlags.SIGNALED });
  return pollOne(end.cq);
}

export function assertStatus(end: { readonly context: Context }, wc: WorkCompletion, status: WcStatus): void {
  if (wc.status === status) return;
  assert.fail(`expected ${statusName(status)}, got ${describeCompletion(end.context, wc)}`);
}

export function assertSuccess(end: { readonly context: Context }, wc: WorkCompletion): void {
  assertStatus(end, wc, WcStatus.SUCCESS);
}

/** That `call` throws a VerbsError with (one of) these errno. */
export function assertErrno(errno: ErrnoName | readonly ErrnoName[], call: () => unknown): void {
  const allowed: readonly ErrnoName[] = typeof errno === 'string' ? [errno] : errno;
  let result: unknown;
  try {
    result = call();
  } catch (error) {
    if (!(error instanceof VerbsError)) throw error;
    assert.ok(allowed.includes(error.errno), `expected ${allowed.join(' or ')}: ${error.message}`);
    return;
  }
  if (typeof result === 'object' && result !== null && Symbol.dispose in result) {
    // What should not have been made must not stand in the way of tests that come after.
    (result as Disposable)[Symbol.dispose](); // an object with that symbol
  }
  assert.fail(`expected ${allowed.join(' or ')}, but the call was accepted`);
}

/** That a queue holds nothing now. */
export function assertEmpty(cq: Cq): void {
  const found = cq.poll();
  assert.deepEqual(
    found.map((wc) => describeCompletion(cq.context, wc)),
    [],
  );
}
