import { QpState, WcStatus, WrOpcode } from '../../../src/device/ibta/index.js';
import type { SeededRandom } from '../../../src/device/link/index.js';
import { statusName } from '../../../src/device/nic/test/pair.js';
import type { TestQp } from '../../../src/device/nic/test/qp.js';
import type { Completion, SendRequest, Sge } from '../../../src/device/nic/test/rings.js';
import { check } from '../failure.js';
import type { Area, DeviceHost } from './device-host.js';
import { excuseOf } from './excuse.js';
import type { Kind, LifePlan, LinePlan } from './plan.js';
import { changed, firstWrong, type Request, Slot } from './slot.js';

/** A responder may be silent for 67 ms, and as often again as is tried: longer than any device here takes. */
const TIMEOUT = 14;
const MAX_PIECES = 3;
const WORD_BYTES = 8;
/** The part of the requests that have no byte. */
const EMPTY = 0.03;

const OPCODES: Readonly<Record<Kind, number>> = {
  WRITE: WrOpcode.RDMA_WRITE,
  WRITE_IMM: WrOpcode.RDMA_WRITE_WITH_IMM,
  READ: WrOpcode.RDMA_READ,
  SEND: WrOpcode.SEND,
  FETCH_ADD: WrOpcode.ATOMIC_FETCH_AND_ADD,
  COMPARE_SWAP: WrOpcode.ATOMIC_CMP_AND_SWP,
};

/** One queue pair of each of two hosts, and their memory: a program that makes requests, and a model of what comes of them. */
export class Life {
  readonly local: Area;
  readonly remote: Area;
  hasEnded = false;
  completed = 0;
  /** The status in which it ended early; undefined when it did not. */
  failedIn: WcStatus | undefined;
  /** The program has done something that requests may fail for. */
  hasIntervened = false;
  #posted = 0;
  readonly #slots: readonly Slot[];
  readonly #open = new Map<bigint, Request>();
  /** Messages that are to be received, oldest first. */
  readonly #toReceive: Request[] = [];
  readonly #requester: TestQp;
  readonly #responder: TestQp;
  /** By which the keys of the remote memory are closed, in the midst of what goes on by the others; absent where nobody does that. */
  readonly #destroyed = new Set<TestQp>();

  constructor(
    private readonly line: LinePlan,
    private readonly plan: LifePlan,
    readonly from: DeviceHost,
    readonly to: DeviceHost,
    private readonly random: SeededRandom,
  ) {
    const { memory, slots, slotBytes, pathMtu, depth } = line;
    this.local = from.area(slots * slotBytes, memory !== 'remote');
    this.remote = to.area(slots * slotBytes, memory !== 'local');
    for (const { bytes } of [this.local, this.remote]) fillAtRandom(bytes, random);
    this.#slots = Array.from(
      { length: slots },
      (_, i) => new Slot(i * slotBytes, slotBytes, this.local.bytes, this.remote.bytes),
    );
    const cap = {
      maxSendWr: depth,
      maxRecvWr: depth,
      maxSendSge: MAX_PIECES,
      maxRecvSge: MAX_PIECES,
      maxInlineData: 0,
    };
    const pair = (): readonly [TestQp, TestQp] => {
      const [one, other] = [from.host.qp({ cap }), to.host.qp({ cap })];
      const [psn, otherPsn] = [random.below(2 ** 24), random.below(2 ** 24)];
      const both = { pathMtu, timeout: TIMEOUT };
      one.toRts(other.peer, { ...both, sqPsn: psn, rqPsn: otherPsn });
      other.toRts(one.peer, { ...both, sqPsn: otherPsn, rqPsn: psn });
      return [one, other];
    };
    [this.#requester, this.#responder] = pair();
  }

  get open(): readonly Request[] {
    return [...this.#open.values()];
  }

  get rest(): string {
    const open = [...this.#open.values()].map(({ kind, slot }) => `${kind} at ${slot.at}`);
    return `${this.#posted} of ${this.plan.requests} posted, open: ${open.join(', ')}`;
  }

  /** The program looks at its queues, and posts what it has. @returns whether there was something to do */
  look(): boolean {
    if (this.hasEnded) return false;
    const received = this.#destroyed.has(this.#responder) ? [] : this.#responder.received();
    const sent = this.#requester.sent();
    const before = this.#posted;
    for (const done of received) this.#received(done);
    for (const done of sent) this.#sent(done);
    while (!this.#isDying && this.#posted < this.plan.requests && this.#open.size < this.line.depth) this.#post();
    if (this.#open.size === 0 && (this.#isDying || this.#posted === this.plan.requests)) this.#end();
    return received.length + sent.length + this.#posted - before > 0;
  }

  /** The program does what it had in mind, whatever is under way. */
  intervene(): void {
    const { intervention, where } = this.plan;
    if (this.hasEnded || intervention === undefined) return;
    const isLocal = where === 'local';
    const [area, owner, qp] = isLocal
      ? ([this.local, this.from, this.#requester] as const)
      : ([this.remote, this.to, this.#responder] as const);
    this.hasIntervened = true;
    owner.isDirty = true;
    if (intervention === 'deregister') {
      area.deregister();
      if (this.random.chance(0.5)) area.free();
    } else if (intervention === 'reregister') {
      area.move();
    } else if (intervention === 'error') {
      qp.modify({ qpState: QpState.ERR });
    } else {
      if (intervention === 'reset') qp.modify({ qpState: QpState.RESET });
      else this.#destroy(qp);
      // What was posted is gone without a word.
      if (isLocal) this.#end();
    }
  }

  get #isDying(): boolean {
    return this.failedIn !== undefined || this.hasIntervened;
  }

  #post(): void {
    const { random, line, local, remote } = this;
    const slot = random.pick(this.#slots.filter(({ isBusy }) => !isBusy));
    const kind = random.pick(line.kinds);
    const isAtomic = kind === 'FETCH_ADD' || kind === 'COMPARE_SWAP';
    const lengthBytes = isAtomic ? WORD_BYTES : random.chance(EMPTY) ? 0 : random.between(1, slot.lengthBytes);
    const offset = isAtomic ? 0 : random.below(slot.lengthBytes - lengthBytes + 1);
    const at = slot.at + offset;
    slot.isBusy = true;
    // What moves has to be something new, or nobody would see whether it did.
    const source = kind === 'READ' ? remote : local;
    fillAtRandom(source.bytes.subarray(slot.at, slot.at + slot.lengthBytes), random);
    const own = local.bytes.slice(slot.at, slot.at + slot.lengthBytes);
    const peers = remote.bytes.slice(slot.at, slot.at + slot.lengthBytes);
    [slot.local, slot.remote] = [[own], [peers]];
    const wrId = BigInt((this.#posted += 1));
    const common = { wrId, opcode: OPCODES[kind], sgList: this.#pieces(local, at, lengthBytes, isAtomic) };
    let localAfter: Uint8Array = own;
    let remoteAfter: Uint8Array = peers;
    let more: Partial<SendRequest> = remote.at(at);
    const part = (bytes: Uint8Array): Uint8Array => bytes.subarray(offset, offset + lengthBytes);
    if (isAtomic) {
      const change = this.#atomic(kind, peers);
      localAfter = changed(own, 0, peers.subarray(0, WORD_BYTES));
      remoteAfter = changed(peers, 0, change.word);
      more = { ...more, ...change.request };
    } else if (kind === 'READ') {
      localAfter = changed(own, offset, part(peers));
    } else {
      remoteAfter = changed(peers, offset, part(own));
    }
    const request = { wrId, kind, slot, offset, lengthBytes, localAfter, remoteAfter };
    this.#open.set(wrId, request);
    if (kind === 'SEND' || kind === 'WRITE_IMM') {
      this.#toReceive.push(request);
      this.#responder.postRecv({ wrId, sgList: kind === 'SEND' ? this.#pieces(remote, at, lengthBytes, false) : [] });
      this.to.isDirty = true;
    }
    this.#requester.post(kind === 'SEND' ? common : { ...common, ...more });
    this.from.isDirty = true;
  }

  #pieces(area: Area, at: number, lengthBytes: number, asOne: boolean): Sge[] {
    if (lengthBytes === 0) return [];
    const cuts = asOne
      ? []
      : Array.from({ length: this.random.below(MAX_PIECES) }, () => this.random.below(lengthBytes));
    const borders = [...new Set([0, ...cuts, lengthBytes])].sort((a, b) => a - b);
    return borders.slice(1).map((end, i) => area.sge(at + borders[i], end - borders[i]));
  }

  /** What an atomic asks for, and what the word becomes. */
  #atomic(kind: Kind, before: Uint8Array): { readonly word: Uint8Array; readonly request: Partial<SendRequest> } {
    const found = new DataView(before.buffer, before.byteOffset).getBigUint64(0, true);
    const value = (BigInt(this.random.u32()) << 32n) | BigInt(this.random.u32());
    const word = new Uint8Array(WORD_BYTES);
    const become = (result: bigint): void => new DataView(word.buffer).setBigUint64(0, result, true);
    if (kind === 'FETCH_ADD') {
      become(BigInt.asUintN(64, found + value));
      return { word, request: { compareAdd: value } };
    }
    const compare = this.random.chance(0.7) ? found : value;
    become(compare === found ? value : found);
    return { word, request: { compareAdd: compare, swap: value } };
  }

  #sent({ wrId, status, ...rest }: Completion): void {
    const [[first, request]] = this.#open;
    check(wrId === first, () => `request ${wrId} has completed before request ${first}`);
    this.#open.delete(wrId);
    const { slot, kind, localAfter, remoteAfter } = request;
    slot.isBusy = false;
    const what = `${kind} of ${request.lengthBytes} bytes at ${slot.at + request.offset}`;
    if (status !== WcStatus.SUCCESS) {
      this.#unsure(request);
      if (this.failedIn !== undefined || (this.hasIntervened && status === WcStatus.WR_FLUSH_ERR)) {
        check(status === WcStatus.WR_FLUSH_ERR, () => `${what}: ${statusName(status)} behind an error`);
        this.failedIn ??= status;
        return;
      }
      const excuse = excuseOf(this, request, { status, ...rest });
      check(excuse !== undefined, () => `${what} ended in ${statusName(status)} without a reason`);
      this.failedIn = status;
      return;
    }
    check(this.failedIn === undefined, () => `${what} succeeded behind an error`);
    this.completed += 1;
    [slot.local, slot.remote] = [[localAfter], [remoteAfter]];
    this.#verify(slot, what);
  }

  #received({ wrId, status, byteLen, ...rest }: Completion): void {
    const request = this.#toReceive.shift();
    check(request?.wrId === wrId, () => `receive request ${wrId} has completed before ${request?.wrId}`);
    const { lengthBytes, slot } = request;
    if (status === WcStatus.SUCCESS) {
      check(byteLen === lengthBytes, () => `${byteLen} of ${lengthBytes} bytes were received`);
      const wrong = firstWrong(this.remote.bytes, slot.at, [request.remoteAfter]);
      check(wrong === undefined, () => `byte ${wrong} of a message that was received is wrong`);
      return;
    }
    if (status === WcStatus.WR_FLUSH_ERR) return;
    const excuse = excuseOf(this, request, { status, ...rest });
    check(excuse !== undefined, () => `a message was received in ${statusName(status)} without a reason`);
  }

  /** It may have come to any place. */
  #unsure({ slot, localAfter, remoteAfter }: Request): void {
    slot.local = [...slot.local, localAfter];
    slot.remote = [...slot.remote, remoteAfter];
  }

  #verify(slot: Slot, what: string): void {
    const ends = [
      ['local', this.local, slot.local],
      ['remote', this.remote, slot.remote],
    ] as const;
    for (const [end, { bytes }, candidates] of ends) {
      const wrong = firstWrong(bytes, slot.at, candidates);
      check(wrong === undefined, () => `${what}: ${end} byte ${wrong} is ${wrong === undefined ? '' : bytes[wrong]}`);
    }
  }

  #destroy(qp: TestQp): void {
    if (this.#destroyed.has(qp)) return;
    this.#destroyed.add(qp);
    qp.host.nic.control.destroyQp(qp.qpn);
  }

  /** Ends all that is left, in any order; then memory must be what it has to be. */
  #end(): void {
    this.hasEnded = true;
    for (const request of this.#open.values()) this.#unsure(request);
    const ends = [
      () => this.#destroy(this.#requester),
      () => this.#destroy(this.#responder),
      () => this.local.deregister(),
      () => this.remote.deregister(),
    ];
    while (ends.length > 0) ends.splice(this.random.below(ends.length), 1)[0]();
    const lost = this.from.gpu.isLost || this.to.gpu.isLost;
    if (!lost) for (const slot of this.#slots) this.#verify(slot, 'in the end');
    this.local.free();
    this.remote.free();
    for (const host of [this.from, this.to]) host.isDirty = true;
  }
}

export function fillAtRandom(bytes: Uint8Array, random: SeededRandom): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  for (; at + 4 <= bytes.length; at += 4) view.setUint32(at, random.u32());
  for (; at < bytes.length; at += 1) view.setUint8(at, random.below(256));
}
