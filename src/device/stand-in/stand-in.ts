import { type Gid, PSN_MASK, psnDiff, psnNext, rnrTimerUs } from '../ibta/index.js';
import {
  Aeth,
  BTH_BYTES,
  bthDestQp,
  bthPadCount,
  bthPkey,
  bthPsn,
  bthTver,
  CmAttribute,
  type CmMra,
  createPath,
  type Crc32,
  decodeCmMessage,
  dethOffset,
  dethQkey,
  dethSourceQp,
  encodeCmMessage,
  HeaderBytes,
  ICRC_BYTES,
  IcrcVerifier,
  isMulticastGid,
  MAD_BYTES,
  Opcode,
  OpcodeBit,
  opcodeBits,
  opcodeHeaderBytes,
  OpcodeService,
  type PacketMeta,
  type Path,
  sealIcrc,
  writeAeth,
  writeBth,
  writeDeth,
} from '../wire/index.js';
import { type Peer, PeerReader, RNR_RETRY_INFINITE } from './peer-table.js';

/** What becomes of a packet. */
export const Verdict = {
  /** The NIC takes it when the program continues. */
  KEEP: 0,
  /** Its sender is told to send it again, and the packet is dropped. */
  DROP: 1,
} as const;
export type Verdict = (typeof Verdict)[keyof typeof Verdict];

/** Sends an answer, from its BTH to its ICRC, to the NIC at an address. `bytes` is scratch afterwards. */
export type SendAnswer = (to: Gid, bytes: Uint8Array, lengthBytes: number) => void;

const GSI_QPN = 1;
const GSI_QKEY = 0x80010000 | 0;
const DEFAULT_PKEY = 0xffff;
/** Exponent of the time that an MRA asks for: 9 s. A REQ that finds no room here is repeated after it. */
const SERVICE_TIMEOUT = 21;

/** Timer codes of RNR NAKs without a limit: 10 to 164 ms. */
const CODES = [20, 22, 24, 26, 28] as const;
/** A peer waits for at most this part of the time for which the program has stood still. */
const PART = 8;
/** Packets that were under way when an RNR NAK left draw no other one. */
const QUIET_US = 5000;
/** The longest timer, 655 ms: of an RNR NAK to a peer that repeats a request only so many times. */
const LONGEST_CODE = 0;

const ACK_BYTES = BTH_BYTES + HeaderBytes.AETH + ICRC_BYTES;

/** What a peer was told while the program stands still. */
interface Told {
  readonly peer: Peer;
  readonly path: Path;
  sinceUs: number;
  untilUs: number;
  naks: number;
  /** The lowest PSN that came since the last answer; -1: none. */
  lowestPsn: number;
}

/**
 * Answers for a NIC whose thread stands still. It changes nothing of the NIC, and knows of it only the {@link PeerTable}.
 *
 * A reliable request gets an RNR NAK, as network adapters answer while they page memory in: the peer waits, uses none of its
 * retries, and sends the request again. The NAK has the expected PSN, or the PSN of the request where that is a repeat. It so
 * acknowledges nothing that the NIC has not executed. An RNR NAK that arrives after a real acknowledgement is of a PSN that the
 * peer no longer waits for, and the peer ignores it.
 *
 * A REQ or REP of the connection manager gets an MRA. All packets but reliable requests are kept for the NIC.
 */
export class StandIn {
  /** RNR NAKs and MRAs that it has sent. */
  rnrNaks = 0;
  mras = 0;
  readonly #reader: PeerReader;
  readonly #verifier: IcrcVerifier;
  readonly #told = new Map<Peer, Told>();
  readonly #due: Told[] = [];
  readonly #bytes = new Uint8Array(BTH_BYTES + HeaderBytes.DETH + MAD_BYTES + ICRC_BYTES);
  #gsiPsn = 0;

  constructor(
    table: Int32Array,
    private readonly crc32: Crc32,
    private readonly send: SendAnswer,
  ) {
    this.#reader = new PeerReader(table);
    this.#verifier = new IcrcVerifier(crc32);
  }

  /** The NIC stands still, and did not before. */
  begin(): void {
    this.#told.clear();
  }

  /** Takes a packet, BTH to ICRC. What it is answered leaves with {@link finish}. */
  take(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta, nowUs: number): Verdict {
    if (lengthBytes < BTH_BYTES + ICRC_BYTES || (lengthBytes & 3) !== 0) return Verdict.KEEP;
    const opcode = bytes[offset];
    const qpn = bthDestQp(bytes, offset);
    const smallest = opcodeHeaderBytes[opcode] + bthPadCount(bytes, offset) + ICRC_BYTES;
    if (bthTver(bytes, offset) !== 0 || lengthBytes < smallest || isMulticastGid(meta.destination)) return Verdict.KEEP;
    if (qpn === GSI_QPN) {
      this.#takeManagement(bytes, offset, lengthBytes, meta);
      return Verdict.KEEP;
    }
    const service = opcode >>> 5;
    if (service !== OpcodeService.RC && service !== OpcodeService.XRC) return Verdict.KEEP;
    if ((opcodeBits[opcode] & OpcodeBit.REQUEST) === 0) return Verdict.KEEP;
    const peer = this.#reader.find(qpn);
    if (peer === undefined || peer.service !== service || !isFrom(peer, meta)) return Verdict.KEEP;
    if (((bthPkey(bytes, offset) ^ peer.pkey) & 0x7fff) !== 0) return Verdict.KEEP;
    // An RNR NAK would end a connection whose peer repeats nothing.
    if (peer.rnrRetry === 0) return Verdict.KEEP;
    if (this.#verifier.verify(bytes, offset, lengthBytes, meta) < 0) return Verdict.KEEP;
    const told = this.#toldTo(peer, nowUs);
    const psn = bthPsn(bytes, offset);
    if (told.lowestPsn < 0) this.#due.push(told);
    if (told.lowestPsn < 0 || psnDiff(psn, told.lowestPsn) < 0) told.lowestPsn = psn;
    return Verdict.DROP;
  }

  /** Sends the answers to what was taken since the last call. */
  finish(nowUs: number): void {
    for (const told of this.#due) {
      this.#answer(told, nowUs);
      told.lowestPsn = -1;
    }
    this.#due.length = 0;
  }

  #toldTo(peer: Peer, nowUs: number): Told {
    let told = this.#told.get(peer);
    if (told === undefined) {
      const path = createPath({ sgid: peer.own, dgid: peer.peer });
      told = { peer, path, sinceUs: nowUs, untilUs: -Infinity, naks: 0, lowestPsn: -1 };
      this.#told.set(peer, told);
    }
    return told;
  }

  #answer(told: Told, nowUs: number): void {
    const { peer, path, naks, lowestPsn } = told;
    const isLimited = peer.rnrRetry < RNR_RETRY_INFINITE;
    if (nowUs < told.untilUs || (isLimited && naks >= peer.rnrRetry)) return;
    const code = isLimited ? LONGEST_CODE : codeFor(nowUs - told.sinceUs);
    // A peer that counts waits for long, and what it sends meanwhile was under way before.
    told.untilUs = nowUs + (isLimited ? rnrTimerUs(code) / 2 : QUIET_US);
    told.naks += 1;
    this.rnrNaks += 1;
    const expected = this.#reader.expectedPsn(peer);
    const psn = psnDiff(lowestPsn, expected) < 0 ? lowestPsn : expected;
    const bytes = this.#bytes;
    const opcode = peer.service === OpcodeService.XRC ? Opcode.XRC_ACKNOWLEDGE : Opcode.RC_ACKNOWLEDGE;
    writeBth(bytes, 0, opcode, 0, 0, 0, peer.pkey, peer.destQpn, psn);
    writeAeth(bytes, BTH_BYTES, Aeth.RNR_NAK | code, this.#reader.msn(peer));
    this.#seal(path, ACK_BYTES);
  }

  /** The program of a REQ's or REP's sender would else see its request time out. */
  #takeManagement(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta): void {
    if (bytes[offset] !== Opcode.UD_SEND_ONLY) return;
    const header = opcodeHeaderBytes[Opcode.UD_SEND_ONLY];
    if (lengthBytes - header - ICRC_BYTES !== MAD_BYTES) return;
    const deth = offset + dethOffset[Opcode.UD_SEND_ONLY];
    if (dethQkey(bytes, deth) !== GSI_QKEY || dethSourceQp(bytes, deth) !== GSI_QPN) return;
    if (this.#verifier.verify(bytes, offset, lengthBytes, meta) < 0) return;
    const mra = requestForPatience(bytes.subarray(offset + header, offset + header + MAD_BYTES));
    if (mra === undefined) return;
    const path = createPath({ sgid: meta.destination.slice(), dgid: meta.source.slice() });
    const answer = this.#bytes;
    writeBth(answer, 0, Opcode.UD_SEND_ONLY, 0, 0, 0, DEFAULT_PKEY, GSI_QPN, this.#gsiPsn);
    this.#gsiPsn = psnNext(this.#gsiPsn) & PSN_MASK;
    writeDeth(answer, dethOffset[Opcode.UD_SEND_ONLY], GSI_QKEY, GSI_QPN);
    answer.set(encodeCmMessage(mra), header);
    this.mras += 1;
    this.#seal(path, header + MAD_BYTES + ICRC_BYTES);
  }

  #seal(path: Path, lengthBytes: number): void {
    sealIcrc(this.crc32, path, this.#bytes, 0, lengthBytes, 0);
    this.send(path.dgid, this.#bytes, lengthBytes);
  }
}

function isFrom({ peer }: Peer, { source }: PacketMeta): boolean {
  return peer.every((byte, i) => byte === source[i]);
}

function codeFor(stoodStillUs: number): number {
  let best: number = CODES[0];
  for (const code of CODES) if (rnrTimerUs(code) * PART <= stoodStillUs) best = code;
  return best;
}

/** The MRA that answers a message; undefined for one that gets none. */
function requestForPatience(mad: Uint8Array): CmMra | undefined {
  const message = decodeCmMessage(mad);
  if (message === undefined) return undefined;
  const { attribute, transactionId } = message;
  if (attribute !== CmAttribute.REQ && attribute !== CmAttribute.REP) return undefined;
  return {
    attribute: CmAttribute.MRA,
    transactionId,
    // The answerer of a REQ has no number before it answers: nobody looks at that of an MRA to a REQ.
    localCommId: attribute === CmAttribute.REP ? message.remoteCommId : 0,
    remoteCommId: message.localCommId,
    messageMraed: attribute === CmAttribute.REQ ? 0 : 1,
    serviceTimeout: SERVICE_TIMEOUT,
    privateData: new Uint8Array(0),
  };
}
