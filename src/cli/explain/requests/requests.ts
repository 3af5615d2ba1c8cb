/** Packets put together to requests. */
import { OpcodeBit } from '../../../device/wire/index.js';
import { has, type SeenPacket, type Sighting } from '../captures/sighting.js';
import { type Answer, AnswerKind, greatest, lowerBound } from './answers.js';

/** A packet of a request, which may have been sent several times. */
export interface Asked {
  readonly packet: SeenPacket;
  /** Counted from the half's first packet, so that they can be compared. */
  readonly place: number;
  /** As the requester sent it, or where that was not captured, as seen elsewhere. */
  readonly sent: Sighting[];
  /** As it reached the responder, if that was captured. */
  readonly arrived: Sighting[];
  /** Of a READ: it asks for the end of what an earlier packet asked for, and so is a repeat each time. */
  readonly again?: true;
}

/** A request: its packets, and how much of the PSN space it takes. */
export interface Request {
  readonly packets: Asked[];
  /** Places of its first and its last PSN; of a READ, that of its last answer. */
  readonly first: number;
  last: number;
  /** Bytes of its data. */
  lengthBytes: number;
}

const LEAST_MTU = 256;

/** What of the answers tells how READs were cut. */
class Pieces {
  readonly #data: readonly Answer[];
  readonly #mtu: number;
  /** Of responses after which more follow. */
  readonly #bytes = new Map<number, number>();
  readonly #ends: readonly number[];

  constructor(asked: readonly Asked[], answers: readonly Answer[]) {
    this.#data = answers.filter(({ kind }) => kind === AnswerKind.DATA);
    for (const { place, ends, payloadBytes } of this.#data) if (!ends) this.#bytes.set(place, payloadBytes);
    this.#ends = [...new Set(this.#data.filter(({ ends }) => ends).map(({ place }) => place))].sort((a, b) => a - b);
    const whole = asked.filter(({ packet }) => has(packet, OpcodeBit.FIRST | OpcodeBit.MIDDLE));
    const bytes = [...whole.map(({ packet }) => packet), ...this.#data].map(({ payloadBytes }) => payloadBytes);
    this.#mtu = greatest([LEAST_MTU, ...bytes]);
  }

  /** Bytes of each answer to the READ that begins at a place. */
  bytesAt(place: number): number {
    return this.#bytes.get(place) ?? this.#mtu;
  }

  /** The place where a READ ends, as its last answer tells, or as long as it must be. */
  end(first: number, lengthBytes: number, before: number): number {
    const found = this.#ends.at(lowerBound(this.#ends, first));
    const pieces = Math.max(1, Math.ceil(lengthBytes / this.bytesAt(first)));
    const end = found !== undefined && found < before ? found : first + pieces - 1;
    return Math.min(end, before - 1);
  }
}

/** Whether a READ asks for the end of what another one has asked for, as who misses an answer in between does. */
function asksForRest({ packet, place }: Asked, { packets, first }: Request, pieces: Pieces): boolean {
  if (!has(packet, OpcodeBit.READ_REQUEST)) return false;
  const { reth } = packet;
  const { reth: whole } = packets[0].packet;
  if (reth === undefined || reth.rkey !== whole?.rkey) return false;
  return (
    reth.va + BigInt(reth.length) === whole.va + BigInt(whole.length) &&
    reth.va - whole.va === BigInt((place - first) * pieces.bytesAt(first))
  );
}

/** Puts packets together. What is missing in between does not matter: a capture may begin anywhere. */
export function requestsOf(asked: readonly Asked[], answers: readonly Answer[]): Request[] {
  const pieces = new Pieces(asked, answers);
  const requests: Request[] = [];
  for (const one of asked) {
    const { packet, place } = one;
    const open = requests.at(-1);
    if (open !== undefined && has(packet, OpcodeBit.MIDDLE | OpcodeBit.LAST)) {
      open.packets.push(one);
      open.last = place;
      if (open.packets[0].packet.reth === undefined) open.lengthBytes += packet.payloadBytes;
    } else if (open !== undefined && asksForRest(one, open, pieces)) {
      open.packets.push({ ...one, again: true });
    } else {
      const lengthBytes = packet.reth?.length ?? (packet.atomicEth === undefined ? packet.payloadBytes : 8);
      requests.push({ packets: [one], first: place, last: place, lengthBytes });
    }
  }
  requests.forEach((request, i) => {
    const { packets, first, lengthBytes } = request;
    if (!has(packets[0].packet, OpcodeBit.READ_REQUEST)) return;
    request.last = pieces.end(first, lengthBytes, i + 1 < requests.length ? requests[i + 1].first : Infinity);
  });
  return requests;
}
