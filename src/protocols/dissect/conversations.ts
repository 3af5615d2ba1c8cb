import { psnDiff } from '../../device/ibta/index.js';
import {
  CMA_HEADER_BYTES,
  CmAttribute,
  type CmMessage,
  type CmRep,
  type CmReq,
  hex,
  OpcodeBit,
  opcodeBits,
  type Packet,
  readCmaHeader,
} from '../../device/wire/index.js';
import type { CapturedExchange, CaptureWay, Dissector } from '../core/index.js';

export interface CapturedPacket {
  readonly source: string;
  readonly destination: string;
  /** Microseconds since the capture began. */
  readonly timeUs: number;
  readonly packet: Packet;
  /** What the connection manager says in it, if anything. */
  readonly cm: CmMessage | undefined;
  /** Of its payload only the beginning was captured; the others of its bytes are 0. */
  readonly isCut: boolean;
}

interface Stream {
  readonly dissector: Dissector;
  readonly from: string;
  /** The first packet of the last message of several. */
  begun: Begun | undefined;
}

/** All packets of a message but the last are as long as the first: so it does not matter which of them a capture has, or how often. */
interface Begun {
  readonly psn: number;
  readonly payloadBytes: number;
  /** The last packet that was seen to end it. */
  endPsn: number | undefined;
  /** The payloads of its packets, by how far they are from the first. */
  readonly parts: Map<number, Uint8Array>;
  isCut: boolean;
}

interface Asked {
  readonly dissector: Dissector;
  readonly qpn: number;
}

const NOTHING = new Uint8Array(0);

/** Longer messages are not put together. */
const MAX_MESSAGE_BYTES = 65_536;

/** Whoever floods a capture with requests for connections is forgotten beyond that. */
const MAX_ASKED = 4096;

/**
 * Follows the packets of a capture, and says what their protocols mean by them. Protocols are known by what their ends tell each
 * other when they connect, so a capture has to begin before that.
 */
export class Conversations {
  readonly #asked = new Map<string, Asked>();
  readonly #streams = new Map<string, Stream>();

  constructor(private readonly dissectors: readonly Dissector[]) {}

  /**
   * Counts up whenever a packet has said something, by which more may be known of later ones: until then, a queue pair that
   * is not followed ({@link follows}) stays so.
   */
  revision = 0;

  /** Whether packets to a queue pair of a reliable or unreliable connection may mean something. */
  follows(destination: string, qpn: number): boolean {
    const to = nameOf(destination, qpn);
    return (this.#streams.get(to) ?? this.#toldOf(to)) !== undefined;
  }

  /** What the next packet says, beginning with the name of the protocol; undefined where nothing is known of it. */
  next(captured: CapturedPacket): string | undefined {
    const words = this.#wordsOf(captured);
    if (words !== undefined || captured.cm !== undefined) this.revision += 1;
    return words;
  }

  #wordsOf(captured: CapturedPacket): string | undefined {
    const { cm, packet } = captured;
    if (cm === undefined) return packet.deth === undefined ? this.#ofStream(captured) : this.#datagram(captured);
    if (cm.attribute === CmAttribute.REQ) return this.#ask(captured.source, cm);
    return cm.attribute === CmAttribute.REP ? this.#agree(captured, cm) : undefined;
  }

  /** What took several messages, in the order in which it began. */
  get exchanges(): readonly CapturedExchange[] {
    return this.dissectors
      .flatMap(({ name, exchanges = [] }) =>
        exchanges.map(({ timeUs, tookUs, from, to, words }) => ({
          timeUs,
          tookUs,
          from,
          to,
          words: `${name}: ${words}`,
        })),
      )
      .sort((a, b) => a.timeUs - b.timeUs);
  }

  #ask(source: string, { localCommId, localQpn, privateData }: CmReq): string | undefined {
    const said = readCmaHeader(privateData) === undefined ? privateData : privateData.subarray(CMA_HEADER_BYTES);
    for (const dissector of this.dissectors) {
      const words = dissector.hello(said);
      if (words === undefined) continue;
      const [oldest] = this.#asked.keys();
      if (this.#asked.size >= MAX_ASKED) this.#asked.delete(oldest);
      this.#asked.set(`${source} ${localCommId}`, { dissector, qpn: localQpn });
      return `${dissector.name}: ${words}`;
    }
    return undefined;
  }

  #agree({ source, destination }: CapturedPacket, { remoteCommId, localQpn, privateData }: CmRep): string | undefined {
    const asked = this.#asked.get(`${destination} ${remoteCommId}`);
    const words = asked?.dissector.hello(privateData);
    if (asked === undefined || words === undefined) return undefined;
    const { dissector, qpn } = asked;
    // A REP may be there twice.
    const [answering, asking] = [nameOf(source, localQpn), nameOf(destination, qpn)];
    if (!this.#streams.has(answering)) {
      this.#streams.set(answering, { dissector, from: asking, begun: undefined });
      this.#streams.set(asking, { dissector, from: answering, begun: undefined });
    }
    return `${dissector.name}: ${words}`;
  }

  #datagram({
    source,
    destination,
    timeUs,
    isCut,
    packet: { bth, deth, payload },
  }: CapturedPacket): string | undefined {
    if (deth === undefined || (opcodeBits[bth.opcode] & OpcodeBit.SEND) === 0) return undefined;
    const way = {
      timeUs,
      from: nameOf(source, deth.sourceQp),
      to: nameOf(destination, bth.destQp),
      psn: bth.psn,
      isCut,
    };
    for (const dissector of this.dissectors) {
      const words = dissector.datagram?.({ source, payload, way });
      if (words !== undefined) return `${dissector.name}: ${words}`;
    }
    return undefined;
  }

  #toldOf(to: string): Stream | undefined {
    for (const dissector of this.dissectors) {
      const from = dissector.peerOf?.(to);
      if (from === undefined) continue;
      const stream = { dissector, from, begun: undefined };
      this.#streams.set(to, stream);
      return stream;
    }
    return undefined;
  }

  #ofStream({ destination, timeUs, isCut, packet }: CapturedPacket): string | undefined {
    const { bth, payload, immData } = packet;
    const bits = opcodeBits[bth.opcode];
    if ((bits & (OpcodeBit.SEND | OpcodeBit.WRITE | OpcodeBit.READ_REQUEST)) === 0) return undefined;
    const to = nameOf(destination, bth.destQp);
    const stream = this.#streams.get(to) ?? this.#toldOf(to);
    if (stream === undefined) return undefined;
    const { dissector, from } = stream;
    const way = { timeUs, from, to, psn: bth.psn, isCut };
    const used = accessOf(packet, way);
    const use = used && dissector.access?.(used);
    if ((bits & OpcodeBit.READ_REQUEST) !== 0) return use && `${dissector.name}: ${use}`;
    const isOnly = (bits & OpcodeBit.ONLY) !== 0;
    if ((bits & OpcodeBit.FIRST) !== 0) begin(stream, bth.psn, payload.length);
    if (!isOnly) keep(stream.begun, way, payload);
    if (!isOnly && (bits & OpcodeBit.LAST) === 0) return use && `${dissector.name}: ${use}`;
    const before = isOnly ? 0 : bytesBefore(stream.begun, bth.psn);
    const byteLength = before === undefined ? undefined : before + payload.length;
    const words =
      use ??
      dissector.message({
        operation: (bits & OpcodeBit.SEND) === 0 ? 'WRITE' : 'SEND',
        immediate: immData,
        byteLength,
        payload: isOnly ? payload : whole(stream.begun, bth.psn, byteLength),
        way: isOnly ? way : { ...way, isCut: stream.begun?.isCut ?? isCut },
      });
    return words && `${dissector.name}: ${words}`;
  }
}

/** A queue pair. */
function nameOf(address: string, qpn: number): string {
  return `${address} ${hex(qpn)}`;
}

function accessOf({ bth, reth }: Packet, way: CaptureWay) {
  if (reth === undefined) return undefined;
  const operation = (opcodeBits[bth.opcode] & OpcodeBit.READ_REQUEST) === 0 ? ('WRITE' as const) : ('READ' as const);
  return { operation, address: reth.va, length: reth.length, rkey: reth.rkey, way };
}

/** The first packet of several. Where both sides were captured it is there twice, and others in between. */
function begin(stream: Stream, psn: number, payloadBytes: number): void {
  const { begun } = stream;
  if (begun?.psn === psn && begun.payloadBytes === payloadBytes) begun.endPsn = undefined;
  else stream.begun = { psn, payloadBytes, endPsn: undefined, parts: new Map(), isCut: false };
}

function keep(begun: Begun | undefined, { psn, isCut }: CaptureWay, payload: Uint8Array): void {
  if (begun === undefined) return;
  begun.isCut ||= isCut;
  const at = psnDiff(psn, begun.psn);
  if (at >= 0 && at * begun.payloadBytes + payload.length <= MAX_MESSAGE_BYTES) begun.parts.set(at, payload);
}

function whole(begun: Begun | undefined, endPsn: number, byteLength: number | undefined): Uint8Array {
  if (begun === undefined || byteLength === undefined || byteLength > MAX_MESSAGE_BYTES) return NOTHING;
  const bytes = new Uint8Array(byteLength);
  const last = psnDiff(endPsn, begun.psn);
  for (let at = 0; at <= last; at += 1) {
    const part = begun.parts.get(at);
    if (part === undefined || (at < last && part.length !== begun.payloadBytes)) return NOTHING;
    bytes.set(part, at * begun.payloadBytes);
  }
  return bytes;
}

/** Bytes of a message before the packet that ends it; undefined when its beginning was not seen. */
function bytesBefore(begun: Begun | undefined, endPsn: number): number | undefined {
  const packets = begun === undefined ? 0 : psnDiff(endPsn, begun.psn);
  if (begun === undefined || packets <= 0 || (begun.endPsn ?? endPsn) !== endPsn) return undefined;
  begun.endPsn = endPsn;
  return packets * begun.payloadBytes;
}
