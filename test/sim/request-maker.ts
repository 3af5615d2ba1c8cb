import { Mtu, mtuBytes, SendFlags, WcOpcode, WcStatus, WrOpcode } from '../../src/device/ibta/index.js';
import type { SeededRandom } from '../../src/device/link/index.js';
import { ahAttrTo } from '../../src/device/nic/test/qp.js';
import type { SendRequest, Sge } from '../../src/device/nic/test/rings.js';
import { QKEY } from '../../src/device/nic/test/ud.js';
import type { Endpoint } from './endpoint.js';
import { datagram, invalidateMessage, type Message, sendMessage, writeMessage } from './message.js';
import type { Operation } from './operation.js';
import type { Receiver } from './receiver.js';
import { split } from './space.js';
import { type Kind, permissions } from './transport.js';
import type { WindowRequest } from './window-pool.js';
import { makeWrong, type Place } from './wrong-requests.js';

/** How a request is made, without what all requests have. */
interface Made {
  readonly request: Omit<SendRequest, 'wrId' | 'flags'>;
  readonly operation: Omit<Operation, 'wrId' | 'name' | 'signalled' | 'status' | 'fenced' | 'postedUs'>;
  readonly message?: Message;
  /** Flags that it must have. */
  readonly flags?: number;
}

/** Makes up requests, posts them, and says what must come of each. */
export class RequestMaker {
  /** The peer's target memory as all requests posted so far will leave it. */
  readonly #target: Uint8Array;
  readonly #targetView: DataView;

  /** What each request says of where it goes. */
  readonly #way: Partial<SendRequest>;
  readonly #kinds: readonly Kind[];
  /** What the peer had open until a request invalidated its key. */
  readonly #closed: Place[] = [];

  constructor(
    private readonly end: Endpoint,
    private readonly peer: Endpoint,
    private readonly receiver: Receiver,
    private readonly random: SeededRandom,
    private readonly now: () => number,
  ) {
    const { host } = end.memory;
    const { forbidden } = end.plan;
    const omitted = forbidden === undefined ? [] : permissions[forbidden].kinds;
    this.#kinds = end.rules.kinds.filter((kind) => !omitted.includes(kind));
    this.#way = end.rules.datagrams
      ? {
          addressHandle: host.nic.control.createAh(host.pd, ahAttrTo(peer.memory.host.gid)),
          remoteQpn: peer.qp.qpn,
          remoteQkey: QKEY,
        }
      : {};
    this.#target = peer.target.bytes.slice();
    this.#targetView = new DataView(this.#target.buffer);
  }

  /** Posts request number `index`; undefined when there is no room for its result now. */
  post(index: number, signalled: boolean, wrong: boolean): Operation | undefined {
    const { random, end } = this;
    const kind = random.pick(this.#kinds);
    const made = wrong ? this.#makeWrong() : this.#make(kind);
    if (made === undefined) return undefined;
    // The highest bit marks receives.
    const wrId = (BigInt(random.below(2 ** 31)) << 32n) | BigInt(index);
    const asked = signalled || random.chance(0.7);
    let flags = (asked ? SendFlags.SIGNALED : 0) | (made.flags ?? 0);
    if (random.chance(0.15)) flags |= SendFlags.FENCE;
    if (random.chance(0.15)) flags |= SendFlags.SOLICITED;
    const named = end.rules.targetType === undefined ? {} : { srqn: random.pick(this.peer.pools).srqn ?? 0 };
    end.qp.post({
      ...this.#way,
      ...(named.srqn === undefined ? {} : { remoteQpn: named.srqn }),
      ...made.request,
      wrId,
      flags,
    });
    const operation: Operation = {
      status: WcStatus.SUCCESS,
      ...made.operation,
      wrId,
      name: wrong ? 'a wrong request' : kind,
      fenced: (flags & SendFlags.FENCE) !== 0,
      postedUs: this.now(),
      signalled: asked || end.plan.sqSigAll,
    };
    const { message } = made;
    const { datagrams, headerBytes } = end.rules;
    const seen = message && datagrams ? datagram(message, headerBytes) : message;
    this.receiver.expect(operation, seen && { ...seen, ...named });
    return operation;
  }

  #make(kind: Kind): Made | undefined {
    const { end } = this;
    switch (kind) {
      case 'SEND':
      case 'SEND_WITH_IMM':
      case 'SEND_WITH_INV':
        return this.#makeSend(kind);
      case 'RDMA_WRITE':
      case 'RDMA_WRITE_WITH_IMM':
        return this.#makeWrite(kind === 'RDMA_WRITE_WITH_IMM');
      case 'RDMA_READ':
        return this.#makeRead();
      case 'FETCH_ADD':
      case 'CMP_AND_SWP':
        return this.#makeAtomic(kind === 'CMP_AND_SWP');
      case 'SHARED_ADD':
        return this.#makeSharedAdd();
      case 'BIND':
        return this.#aboutWindow(end.windows.bind(), WcOpcode.BIND_MW);
      case 'LOCAL_INV':
        return this.#aboutWindow(end.windows.invalidate(), WcOpcode.LOCAL_INV);
      case 'MISDIRECTED':
        return this.#makeMisdirected();
    }
  }

  #makeSend(kind: 'SEND' | 'SEND_WITH_IMM' | 'SEND_WITH_INV'): Made {
    const { random } = this;
    const { data, payload } = this.#data(this.#length(this.#longestSend));
    const operation = { opcode: WcOpcode.SEND, byteLen: payload.length };
    if (kind === 'SEND') {
      return { request: { opcode: WrOpcode.SEND, ...data }, operation, message: sendMessage(payload) };
    }
    if (kind === 'SEND_WITH_IMM') {
      const imm = random.u32();
      const request = { opcode: WrOpcode.SEND_WITH_IMM, imm, ...data };
      return { request, operation, message: sendMessage(payload, imm) };
    }
    const window = this.peer.windows.close();
    if (window === undefined) return this.#makeSend('SEND');
    const place = { remoteAddr: this.peer.target.addr, rkey: window.rkey };
    this.#closed.push(place);
    const request = { opcode: WrOpcode.SEND_WITH_INV, imm: place.rkey | 0, ...data };
    // READs of that memory must be over.
    return {
      request,
      operation,
      message: invalidateMessage(payload, place.rkey, window.arrived),
      flags: SendFlags.FENCE,
    };
  }

  #aboutWindow(made: WindowRequest | undefined, opcode: WcOpcode): Made | undefined {
    if (made === undefined) return this.#makeSend('SEND');
    return { request: made.request, operation: { opcode, byteLen: 0, done: made.done } };
  }

  /** A place in the peer's target memory, by the key of that or of a window. */
  #targetAt(offset: number): Place {
    const { peer, random } = this;
    const rkey = random.chance(0.5) ? peer.windows.key() : undefined;
    const place = peer.target.at(offset);
    return rkey === undefined ? place : { ...place, rkey };
  }

  get #longestSend(): number {
    const { messageLimit, rules } = this.peer;
    return rules.datagrams ? Math.min(messageLimit, mtuBytes(Mtu.MTU_4096)) : messageLimit;
  }

  #makeWrite(withImm: boolean): Made {
    const { random, peer } = this;
    const { data, payload } = this.#data(this.#length(peer.target.length));
    const byteLen = payload.length;
    const offset = random.between(0, peer.target.length - byteLen);
    this.#target.set(payload, offset);
    // No bytes need no key (protocol/reliable.md 2.8).
    const place = byteLen === 0 ? { rkey: random.u32(), remoteAddr: BigInt(random.u32()) } : this.#targetAt(offset);
    const change = { offset, bytes: payload };
    const operation = { opcode: WcOpcode.RDMA_WRITE, byteLen, change };
    if (!withImm) return { request: { opcode: WrOpcode.RDMA_WRITE, ...data, ...place }, operation };
    const imm = random.u32();
    const request = { opcode: WrOpcode.RDMA_WRITE_WITH_IMM, imm, ...data, ...place };
    return { request, operation, message: writeMessage(change, imm) };
  }

  #makeRead(): Made | undefined {
    const { random, peer, end } = this;
    const fromTarget = random.chance(0.5);
    const region = fromTarget ? peer.target : peer.memory.source;
    const length = Math.min(this.#length(region.length), end.landing.mr.length >> 1);
    const landing = end.landing.take(random, length, end.plan.maxSendSge);
    if (landing === undefined) return undefined;
    const offset = random.between(0, region.length - length);
    const now = fromTarget ? this.#target : peer.memory.sourceCopy;
    return {
      request: {
        opcode: WrOpcode.RDMA_READ,
        sgList: end.landing.sges(landing),
        ...(fromTarget ? this.#targetAt(offset) : region.at(offset)),
      },
      operation: {
        opcode: WcOpcode.RDMA_READ,
        byteLen: length,
        landing,
        content: now.slice(offset, offset + length),
        ...(fromTarget ? { readsTarget: offset } : {}),
      },
    };
  }

  #makeAtomic(swap: boolean): Made | undefined {
    const { random, peer, end } = this;
    const landing = end.landing.take(random, 8, end.plan.maxSendSge);
    if (landing === undefined) return undefined;
    const offset = 8 * random.below(peer.target.length >> 3);
    const content = this.#target.slice(offset, offset + 8);
    const old = this.#targetView.getBigUint64(offset, true);
    const operand = this.#random64();
    const compare = random.chance(0.6) ? old : old ^ (1n << BigInt(random.below(64)));
    const next = swap ? (compare === old ? operand : old) : BigInt.asUintN(64, old + operand);
    this.#targetView.setBigUint64(offset, next, true);
    return {
      request: {
        opcode: swap ? WrOpcode.ATOMIC_CMP_AND_SWP : WrOpcode.ATOMIC_FETCH_AND_ADD,
        sgList: end.landing.sges(landing),
        ...this.#targetAt(offset),
        ...(swap ? { compareAdd: compare, swap: operand } : { compareAdd: operand }),
      },
      operation: {
        opcode: swap ? WcOpcode.COMP_SWAP : WcOpcode.FETCH_ADD,
        byteLen: 8,
        landing,
        content,
        change: { offset, bytes: this.#target.slice(offset, offset + 8) },
      },
    };
  }

  #makeSharedAdd(): Made | undefined {
    const { random, peer, end } = this;
    const landing = end.landing.take(random, 8, end.plan.maxSendSge);
    if (landing === undefined) return undefined;
    return {
      request: {
        opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
        sgList: end.landing.sges(landing),
        ...peer.memory.counter.at(0),
        compareAdd: 1n,
      },
      operation: { opcode: WcOpcode.FETCH_ADD, byteLen: 8, landing, shared: true },
    };
  }

  /** A request of an unreliable service that the peer must drop in silence: it completes well, and nothing comes of it. */
  #makeMisdirected(): Made {
    const { random, peer, end } = this;
    if (end.rules.datagrams) {
      const { data, payload } = this.#data(this.#length(this.#longestSend));
      // The top bit of a Q_Key means another thing.
      const request = { opcode: WrOpcode.SEND, ...data, remoteQkey: QKEY ^ (1 << random.below(31)) };
      return { request, operation: { opcode: WcOpcode.SEND, byteLen: payload.length } };
    }
    const { data, payload } = this.#data(Math.max(1, this.#length(peer.target.length)));
    const wrongKey = { remoteAddr: peer.target.addr, rkey: peer.target.rkey ^ (1 << random.below(32)) };
    const wrongRange = peer.target.at(peer.target.length - payload.length + 1);
    const right = peer.target.at(0);
    const place = random.pick([wrongKey, wrongRange, end.plan.forbidden === 'WRITE' ? right : wrongRange]);
    const request = { opcode: WrOpcode.RDMA_WRITE, ...data, ...place };
    return { request, operation: { opcode: WcOpcode.RDMA_WRITE, byteLen: payload.length } };
  }

  /** A request that must be refused, by this host or by the peer. */
  #makeWrong(): Made & { readonly operation: { readonly status: WcStatus } } {
    const { end, peer, random } = this;
    const { request, status } = makeWrong({
      end,
      peer,
      random,
      closed: this.#closed,
      foreignMemory: end.memory.host.hasForeignMemory,
    });
    return { request, operation: { opcode: WcOpcode.SEND, byteLen: 0, status } };
  }

  /** Data of a SEND or WRITE, from the host's source memory or inline, and the bytes that it comes to. */
  #data(length: number): { data: Pick<SendRequest, 'sgList' | 'inline'>; payload: Uint8Array } {
    const { random, end } = this;
    const { plan, memory } = end;
    if (length <= plan.maxInlineData && random.chance(0.4)) {
      const inline = Uint8Array.from({ length }, () => random.below(256));
      return { data: { inline }, payload: inline };
    }
    const payload = new Uint8Array(length);
    const sgList: Sge[] = [];
    let done = 0;
    for (const part of split(random, length, plan.maxSendSge)) {
      const offset = random.between(0, memory.source.length - part);
      payload.set(memory.sourceCopy.subarray(offset, offset + part), done);
      sgList.push(memory.source.sge(offset, part));
      done += part;
    }
    return { data: { sgList }, payload };
  }

  /** A length that likes the places where one packet becomes two. */
  #length(most: number): number {
    const { random, end } = this;
    const mtu = mtuBytes(end.connection.plan.pathMtu);
    const length = random.pick([
      0,
      1,
      random.below(64),
      mtu - 1,
      mtu,
      mtu + 1,
      random.between(1, 6) * mtu + random.between(-1, 1),
      random.between(0, 4 * mtu),
      random.below(most),
    ]);
    return Math.min(length, most);
  }

  #random64(): bigint {
    return (BigInt(this.random.u32()) << 32n) | BigInt(this.random.u32());
  }
}
