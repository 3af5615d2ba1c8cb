import { psnDiff } from '../../device/ibta/index.js';
import {
  CMA_HEADER_BYTES,
  CmAttribute,
  type CmMessage,
  type CmRep,
  type CmReq,
  OpcodeBit,
  opcodeBits,
  type Packet,
  readCmaHeader,
} from '../../device/wire/index.js';
import type { Dissector } from '../engine/index.js';

/** A packet of a capture. */
export interface CapturedPacket {
  /** Addresses. */
  readonly source: string;
  readonly destination: string;
  readonly packet: Packet;
  /** What the connection manager says in it, if anything. */
  readonly cm: CmMessage | undefined;
}

/** What goes to one end of a connection. */
interface Stream {
  readonly dissector: Dissector;
  /** The first packet of the last message of several. */
  begun: Begun | undefined;
}

/** All packets of a message but the last are as long as the first: so it does not matter which of them a capture has, or how often. */
interface Begun {
  readonly psn: number;
  readonly payloadBytes: number;
  /** The last packet that was seen to end it. */
  endPsn: number | undefined;
}

/** One that was asked for. */
interface Asked {
  readonly dissector: Dissector;
  readonly qpn: number;
}

const NOTHING = new Uint8Array(0);

/** Whoever floods a capture with requests for connections is forgotten beyond that. */
const MAX_ASKED = 4096;

/**
 * Follows the packets of a capture, and says what their protocols mean by them. Protocols are known by what their ends tell each
 * other when they connect, so a capture has to begin before that.
 */
export class Conversations {
  readonly #asked = new Map<string, Asked>();
  /** By address and queue pair. */
  readonly #streams = new Map<string, Stream>();

  constructor(private readonly dissectors: readonly Dissector[]) {}

  /** What the next packet says, beginning with the name of the protocol; undefined where nothing is known of it. */
  next(captured: CapturedPacket): string | undefined {
    const { cm, packet } = captured;
    if (cm === undefined) return packet.deth === undefined ? this.#ofStream(captured) : this.#datagram(captured);
    if (cm.attribute === CmAttribute.REQ) return this.#ask(captured.source, cm);
    return cm.attribute === CmAttribute.REP ? this.#agree(captured, cm) : undefined;
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
    if (!this.#streams.has(`${source} ${localQpn}`)) {
      this.#streams.set(`${source} ${localQpn}`, { dissector, begun: undefined });
      this.#streams.set(`${destination} ${qpn}`, { dissector, begun: undefined });
    }
    return `${dissector.name}: ${words}`;
  }

  #datagram({ source, packet: { bth, payload } }: CapturedPacket): string | undefined {
    if ((opcodeBits[bth.opcode] & OpcodeBit.SEND) === 0) return undefined;
    for (const dissector of this.dissectors) {
      const words = dissector.datagram?.({ source, payload });
      if (words !== undefined) return `${dissector.name}: ${words}`;
    }
    return undefined;
  }

  #ofStream({ destination, packet }: CapturedPacket): string | undefined {
    const { bth, payload, immData } = packet;
    const bits = opcodeBits[bth.opcode];
    if ((bits & (OpcodeBit.SEND | OpcodeBit.WRITE)) === 0) return undefined;
    const stream = this.#streams.get(`${destination} ${bth.destQp}`);
    if (stream === undefined) return undefined;
    const isOnly = (bits & OpcodeBit.ONLY) !== 0;
    if ((bits & OpcodeBit.FIRST) !== 0)
      stream.begun = { psn: bth.psn, payloadBytes: payload.length, endPsn: undefined };
    if (!isOnly && (bits & OpcodeBit.LAST) === 0) return undefined;
    const { dissector } = stream;
    const before = isOnly ? 0 : bytesBefore(stream.begun, bth.psn);
    const words = dissector.message({
      operation: (bits & OpcodeBit.SEND) === 0 ? 'WRITE' : 'SEND',
      immediate: immData,
      byteLength: before === undefined ? undefined : before + payload.length,
      payload: isOnly ? payload : NOTHING,
    });
    return words && `${dissector.name}: ${words}`;
  }
}

/** Bytes of a message before the packet that ends it; undefined when its beginning was not seen. */
function bytesBefore(begun: Begun | undefined, endPsn: number): number | undefined {
  const packets = begun === undefined ? 0 : psnDiff(endPsn, begun.psn);
  if (begun === undefined || packets <= 0 || (begun.endPsn ?? endPsn) !== endPsn) return undefined;
  begun.endPsn = endPsn;
  return packets * begun.payloadBytes;
}
