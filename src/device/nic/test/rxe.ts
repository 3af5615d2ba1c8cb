import { psnAdd, psnDiff } from '../../ibta/index.js';
import type { SimulatedLink, SimulatedNetworkOptions } from '../../link/simulated/index.js';
import {
  Aeth,
  atomicEthOffset,
  atomicEthRkey,
  atomicEthVaHi,
  atomicEthVaLo,
  crc32,
  createPath,
  getU32,
  IcrcVerifier,
  NakCode,
  Opcode,
  OpcodeBit,
  opcodeBits,
  type PacketMeta,
  sealIcrc,
} from '../../wire/index.js';
import type { TestHost } from './host.js';
import { Captured, craft, type Crafted } from './packets.js';
import type { Peer } from './qp.js';
import { join64 } from './rings.js';
import { World } from './world.js';

const ACK = Aeth.ACK | 0x1f;
const MASK64 = 2n ** 64n - 1n;
const STARTS = OpcodeBit.FIRST | OpcodeBit.ONLY;
const ENDS = OpcodeBit.LAST | OpcodeBit.ONLY;

/** What is remembered of a READ or an atomic. */
interface Resource {
  readonly kind: 'read' | 'atomic';
  readonly firstPsn: number;
  readonly lastPsn: number;
  /** Where the READ, or its last repeat, began. */
  va: bigint;
  readonly length: number;
  /** What the atomic found. */
  readonly found: bigint;
}

export interface RxeOptions {
  readonly psn: number;
  readonly mtuBytes: number;
  /** READs and atomics that it remembers. */
  readonly depth: number;
  readonly memoryBytes: number;
}

/**
 * A responder that answers as Linux's Soft-RoCE does (`rdma_rxe` of 6.1), where that is stricter than ours or otherwise: what a
 * requester may count on is what this one does. It has one region of memory, which may be used for anything, and takes SENDs of
 * any length.
 *
 * * A gap is told of once. Until it is filled, nothing more is said of it.
 * * A repeated READ may ask for less than before, and never again for more: where it began is where it begins from then on.
 *   What begins earlier is dropped without a word.
 * * The answers to a repeat that does not begin with the first packet have the opcodes MIDDLE and LAST.
 * * A repeated SEND or WRITE is acknowledged by the PSN of the last packet executed that was not of a READ.
 * * What was not remembered is dropped without a word.
 * * A READ of a region that is gone ends the queue pair, also when the READ was answered before (seen with 6.12).
 */
export class RxeResponder {
  readonly qpn = 0x000011;
  readonly rkey = 0x1234;
  readonly va = 0x7f12_3456_7000n;
  readonly memory: Uint8Array;
  readonly received: Uint8Array[] = [];
  credits = 0;
  /** Duplicates that were dropped without an answer. */
  dropped = 0;
  hasEnded = false;

  readonly #verifier = new IcrcVerifier(crc32);
  readonly #depth: number;
  readonly #mtuBytes: number;
  #psn: number;
  #ackPsn: number;
  #msn = 0;
  #toldOfGap = false;
  #resources: (Resource | undefined)[];
  #nextResource = 0;
  #message: Uint8Array[] = [];
  #writeAt = 0;
  #registered = true;

  constructor(
    private readonly link: SimulatedLink,
    private readonly requester: () => { readonly address: string; readonly peer: Peer },
    options: RxeOptions,
  ) {
    this.memory = new Uint8Array(options.memoryBytes);
    this.#psn = options.psn;
    this.#ackPsn = options.psn;
    this.#mtuBytes = options.mtuBytes;
    this.#depth = options.depth;
    this.#resources = new Array<Resource | undefined>(options.depth).fill(undefined);
  }

  get peer(): Peer {
    return { gid: this.link.gid, qpn: this.qpn };
  }

  get view(): DataView {
    return new DataView(this.memory.buffer);
  }

  /** The part of its memory that begins at `offset`, as a requester names it. */
  at(offset: number): { remoteAddr: bigint; rkey: number } {
    return { remoteAddr: this.va + BigInt(offset), rkey: this.rkey };
  }

  /** The next READ is refused, also one that repeats another, and ends the queue pair. */
  deregister(): void {
    this.#registered = false;
  }

  turn(): void {
    this.link.receive(this, Infinity);
    this.link.flush();
  }

  receive(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta): void {
    if (this.#verifier.verify(bytes, offset, lengthBytes, meta) < 0) return;
    const packet = new Captured('', '', 0, bytes.slice(offset, offset + lengthBytes));
    if (!packet.isRequest || this.hasEnded) return;
    if (!this.#registered && (opcodeBits[packet.opcode] & OpcodeBit.READ_REQUEST) !== 0) {
      this.hasEnded = true;
      this.#acknowledge(Aeth.NAK | NakCode.REMOTE_ACCESS_ERROR, packet.psn);
      return;
    }
    const distance = psnDiff(packet.psn, this.#psn);
    if (distance > 0) this.#onGap();
    else if (distance < 0) this.#onDuplicate(packet);
    else this.#onRequest(packet);
  }

  #onGap(): void {
    if (this.#toldOfGap) return;
    this.#toldOfGap = true;
    this.#acknowledge(Aeth.NAK | NakCode.PSN_SEQUENCE_ERROR, this.#psn);
  }

  #onRequest(packet: Captured): void {
    this.#toldOfGap = false;
    const bits = opcodeBits[packet.opcode];
    if ((bits & OpcodeBit.SEND) !== 0) this.#onSend(packet, bits);
    else if ((bits & OpcodeBit.WRITE) !== 0) this.#onWrite(packet, bits);
    else if ((bits & OpcodeBit.READ_REQUEST) !== 0) this.#onRead(packet);
    else if ((bits & OpcodeBit.ATOMIC) !== 0) this.#onAtomic(packet);
  }

  #onSend(packet: Captured, bits: number): void {
    if ((bits & STARTS) !== 0) {
      if (this.credits === 0) {
        this.#acknowledge(Aeth.RNR_NAK | 1, packet.psn);
        return;
      }
      this.credits -= 1;
      this.#message = [];
    }
    this.#message.push(packet.payload);
    if ((bits & ENDS) !== 0) this.received.push(Uint8Array.from(this.#message.flatMap((part) => [...part])));
    this.#executed(packet, (bits & ENDS) !== 0);
  }

  #onWrite(packet: Captured, bits: number): void {
    if (packet.reth !== undefined) this.#writeAt = Number(packet.reth.va - this.va);
    this.memory.set(packet.payload, this.#writeAt);
    this.#writeAt += packet.payload.length;
    this.#executed(packet, (bits & ENDS) !== 0);
  }

  #executed(packet: Captured, ends: boolean): void {
    if (ends) this.#msn += 1;
    this.#psn = psnAdd(packet.psn, 1);
    this.#ackPsn = this.#psn;
    if (packet.ackRequest) this.#acknowledge(ACK, packet.psn);
  }

  #onRead({ reth, psn }: Captured): void {
    if (reth === undefined) return;
    const packets = Math.max(1, Math.ceil(reth.length / this.#mtuBytes));
    const { va, length } = reth;
    this.#remember({ kind: 'read', firstPsn: psn, lastPsn: psnAdd(psn, packets - 1), va, length, found: 0n });
    this.#msn += 1;
    this.#answerRead(psn, va, length, true);
    this.#psn = psnAdd(psn, packets);
  }

  #onAtomic({ bytes, opcode, psn }: Captured): void {
    const at = atomicEthOffset[opcode];
    if (atomicEthRkey(bytes, at) >>> 0 !== this.rkey) return;
    const offset = Number(join64(atomicEthVaHi(bytes, at), atomicEthVaLo(bytes, at)) - this.va);
    const swapAdd = join64(getU32(bytes, at + 12), getU32(bytes, at + 16));
    const compare = join64(getU32(bytes, at + 20), getU32(bytes, at + 24));
    const found = this.view.getBigUint64(offset, true);
    const swaps = opcode === Opcode.RC_COMPARE_SWAP;
    if (!swaps || found === compare) this.view.setBigUint64(offset, swaps ? swapAdd : (found + swapAdd) & MASK64, true);
    this.#remember({ kind: 'atomic', firstPsn: psn, lastPsn: psn, va: 0n, length: 8, found });
    this.#msn += 1;
    this.#psn = psnAdd(psn, 1);
    this.#ackPsn = this.#psn;
    this.#answerAtomic(psn, found);
  }

  #remember(resource: Resource): void {
    this.#resources[this.#nextResource] = resource;
    this.#nextResource = (this.#nextResource + 1) % this.#depth;
  }

  #onDuplicate(packet: Captured): void {
    const { psn, reth } = packet;
    const bits = opcodeBits[packet.opcode];
    if ((bits & (OpcodeBit.SEND | OpcodeBit.WRITE)) !== 0) {
      this.#acknowledge(ACK, psnAdd(this.#ackPsn, -1));
      return;
    }
    const resource = this.#resources.find(
      (known) => known !== undefined && psnDiff(psn, known.firstPsn) >= 0 && psnDiff(psn, known.lastPsn) <= 0,
    );
    if (resource?.kind === 'atomic' && (bits & OpcodeBit.ATOMIC) !== 0) {
      this.#answerAtomic(psn, resource.found);
      return;
    }
    const length = reth?.length ?? 0;
    const end = (reth?.va ?? 0n) + BigInt(length);
    if (
      resource?.kind !== 'read' ||
      reth === undefined ||
      reth.va < resource.va ||
      length > resource.length ||
      end > resource.va + BigInt(resource.length)
    ) {
      this.dropped += 1;
      return;
    }
    resource.va = reth.va;
    this.#answerRead(psn, reth.va, length, psn === resource.firstPsn);
  }

  #answerRead(psn: number, va: bigint, length: number, fromTheFirst: boolean): void {
    const packets = Math.max(1, Math.ceil(length / this.#mtuBytes));
    const { RC_READ_RESP_FIRST, RC_READ_RESP_MIDDLE, RC_READ_RESP_LAST, RC_READ_RESP_ONLY } = Opcode;
    for (let i = 0; i < packets; i += 1) {
      const begin = Number(va - this.va) + i * this.#mtuBytes;
      const first = i === 0 && fromTheFirst;
      const last = i === packets - 1;
      this.#say({
        opcode: first
          ? last
            ? RC_READ_RESP_ONLY
            : RC_READ_RESP_FIRST
          : last
            ? RC_READ_RESP_LAST
            : RC_READ_RESP_MIDDLE,
        psn: psnAdd(psn, i),
        aeth: { syndrome: ACK, msn: this.#msn },
        payload: this.memory.slice(begin, begin + Math.min(this.#mtuBytes, length - i * this.#mtuBytes)),
      });
    }
  }

  #answerAtomic(psn: number, found: bigint): void {
    this.#say({ opcode: Opcode.RC_ATOMIC_ACKNOWLEDGE, psn, aeth: { syndrome: ACK, msn: this.#msn }, atomicAck: found });
  }

  #acknowledge(syndrome: number, psn: number): void {
    this.#say({ opcode: Opcode.RC_ACKNOWLEDGE, psn, aeth: { syndrome, msn: this.#msn } });
  }

  #say({ aeth, ...fields }: Omit<Crafted, 'destQp'>): void {
    const { sink, address, gid } = this.link;
    const { address: to, peer } = this.requester();
    const { RC_READ_RESP_MIDDLE } = Opcode;
    const withAeth = fields.opcode === RC_READ_RESP_MIDDLE || aeth === undefined ? {} : { aeth };
    const bytes = craft(address, to, { destQp: peer.qpn, ...fields, ...withAeth });
    const path = createPath({ sgid: gid, dgid: peer.gid });
    let at = sink.reserve(path, bytes.length);
    if (at < 0) {
      this.link.flush();
      at = sink.reserve(path, bytes.length);
    }
    sink.bytes.set(bytes, at);
    sealIcrc(crc32, path, sink.bytes, at, bytes.length, sink.ipId);
    sink.commit();
  }
}

/** A host of ours, and one that answers as rxe does. */
export class RxeWorld extends World {
  readonly host1: TestHost;
  readonly rxe: RxeResponder;
  readonly #link: SimulatedLink;

  constructor(
    options: RxeOptions,
    network: Partial<SimulatedNetworkOptions> & { readonly capture?: boolean } = {},
    private readonly qpn: () => number,
  ) {
    super(network);
    this.host1 = this.host('10.0.0.1');
    this.#link = this.network.attach('10.0.0.2');
    const { ip: address, gid } = this.host1;
    this.rxe = new RxeResponder(this.#link, () => ({ address, peer: { gid, qpn: this.qpn() } }), options);
  }

  protected override turnOnce(): void {
    super.turnOnce();
    this.rxe.turn();
  }

  override nextUs(): number {
    return this.#link.waiting > 0 ? this.nowUs : super.nextUs();
  }
}
