import { ipFromGid } from '../../../device/ibta/index.js';
import { amount, hex, type CapturedDatagram, type CaptureWay } from '../../core/index.js';
import {
  amIdOfWord,
  decodeUcxControl,
  decodeUcxPut,
  decodeUdControl,
  endpointOfWord,
  kindOfWord,
  NO_UD_ENDPOINT,
  UD_HEADER_BYTES,
  udAckPsnAt,
  UdControlType,
  UdFlags,
  UdKind,
  udPsnAt,
  udWordAt,
} from '../wire/index.js';
import { type Speaker } from './sentences.js';

// Datagrams of ud (protocol/ucp.md 9.3). Whose they are is known from the first one on, which asks for a connection and names its sender's queue pair.

/** Whoever floods a capture with requests for connections is forgotten beyond that. */
const MAX_QUEUE_PAIRS = 4096;

type Reader = (speaker: Speaker, id: number, bytes: Uint8Array, way: CaptureWay) => string;

interface Handshake {
  readonly speaker: Speaker;
  readonly words: string;
  /** Of whoever asks. */
  readonly qpn: number | undefined;
}

export class DatagramFollower {
  readonly #speakers = new Map<string, Speaker>();

  constructor(private readonly read: Reader) {}

  /** What a datagram says; undefined where it may be another protocol's. */
  words({ payload, way }: CapturedDatagram): string | undefined {
    if (payload.length < UD_HEADER_BYTES) return undefined;
    const word = udWordAt(payload, 0);
    const body = payload.subarray(UD_HEADER_BYTES);
    const kind = kindOfWord(word);
    const handshake = kind === UdKind.CTL ? handshakeOf(body) : undefined;
    if (handshake !== undefined && isRequest(handshake, word, way)) this.#learn(handshake.speaker, way);
    const speaker = this.#speakers.get(way.from) ?? this.#speakers.get(way.to);
    if (speaker === undefined) return undefined;
    const psn = udPsnAt(payload, 0);
    return `${this.#said(word, body, handshake, speaker, { ...way, psn })} (${numbers(word, psn, udAckPsnAt(payload, 0))})`;
  }

  #said(word: number, body: Uint8Array, handshake: Handshake | undefined, speaker: Speaker, way: CaptureWay): string {
    switch (kindOfWord(word)) {
      case UdKind.AM:
        return this.read(speaker, amIdOfWord(word), body, way);
      case UdKind.CTL:
        return (
          handshake?.words ??
          (way.isCut ? 'handshake, cut by the capture' : `unknown handshake of ${amount(body.length)}`)
        );
      case UdKind.BARE:
        if (body.length > 0) return `unknown datagram with ${amount(body.length)} behind an acknowledgement`;
        return (word & UdFlags.NACK) === 0 ? 'ACK' : 'NACK';
      default:
        return putOf(word, body) ?? `unknown datagram with the flags ${hex(word >>> 24)}`;
    }
  }

  #learn(speaker: Speaker, { from, to }: CaptureWay): void {
    for (const end of [from, to]) {
      if (this.#speakers.has(end)) continue;
      const [oldest] = this.#speakers.keys();
      if (this.#speakers.size >= MAX_QUEUE_PAIRS) this.#speakers.delete(oldest);
      this.#speakers.set(end, speaker);
    }
  }
}

/** Whether it is the first that somebody sends, who names its own queue pair. */
function isRequest({ qpn }: Handshake, word: number, { from }: CaptureWay): boolean {
  return qpn !== undefined && endpointOfWord(word) === NO_UD_ENDPOINT && from.endsWith(` ${hex(qpn)}`);
}

/** `psn 3, ack 2, ACK requested`. */
function numbers(word: number, psn: number, ackPsn: number): string {
  const asks = (word & UdFlags.ACK_REQ) === 0 ? '' : ', ACK requested';
  // The bits above that are an id's where it is an active message.
  const met = kindOfWord(word) !== UdKind.AM && (word & UdFlags.ECN) !== 0 ? ', congestion' : '';
  return `psn ${psn}, ack ${ackPsn}${asks}${met}`;
}

function handshakeOf(body: Uint8Array): Handshake | undefined {
  const ours = decodeUdControl(body);
  if (typeof ours !== 'string') {
    const { type, endpoint } = ours;
    switch (type) {
      case UdControlType.CREQ: {
        const { qpn, connection, gid, segmentBytes } = ours;
        const words = `CREQ ${connection} of ${ipFromGid(gid)}, endpoint ${endpoint}, datagrams up to ${segmentBytes} B`;
        return { speaker: 'ours', qpn, words };
      }
      case UdControlType.CREP: {
        const words = `CREP, endpoint ${endpoint}, datagrams up to ${ours.segmentBytes} B`;
        return { speaker: 'ours', qpn: undefined, words };
      }
      case UdControlType.GONE:
        return { speaker: 'ours', qpn: undefined, words: `GONE, endpoint ${endpoint}` };
    }
  }
  const theirs = decodeUcxControl(body);
  if (typeof theirs === 'string') return undefined;
  const { type, endpoint, host, process } = theirs;
  const sender = `endpoint ${endpoint} of process ${process}${host === '' ? '' : ` at "${host}"`}`;
  if (type === UdControlType.CREP) return { speaker: 'UCX', qpn: undefined, words: `CREP, ${sender}` };
  return { speaker: 'UCX', qpn: theirs.qpn, words: `CREQ ${theirs.connection} of ${theirs.address}, ${sender}` };
}

/** UCX's ud can write to memory; ours has active messages for that. */
function putOf(word: number, body: Uint8Array): string | undefined {
  if ((word & UdFlags.PUT) === 0 || (word & UdFlags.CTL) !== 0) return undefined;
  const said = decodeUcxPut(body);
  return typeof said === 'string' ? undefined : `PUT ${amount(said.length)} at ${hex(said.address)}, by ud itself`;
}
