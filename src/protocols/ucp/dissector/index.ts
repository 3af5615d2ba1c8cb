import {
  amount,
  hex,
  type CapturedAccess,
  type CapturedDatagram,
  type CapturedExchange,
  type CapturedMessage,
  type CaptureWay,
  type Dissector,
} from '../../core/index.js';
import { decodeHello, decodeUdHello, FlowBits, HELLO_BYTES, idOf, PURE_GRANT, UD_HELLO_BYTES } from '../uct/index.js';
import { decodeIntroduction } from '../wire/index.js';
import { DatagramFollower } from './datagrams.js';
import { LaneFollower } from './lanes.js';
import { RendezvousFollower } from './rendezvous.js';
import { sentenceOf, type Speaker } from './sentences.js';

/** What UCP says on the wire, for those who read captures: that of this package, and UCX's. */

/** What UCP says on the wire: one for each capture. */
export class UcpDissector implements Dissector {
  readonly name = 'ucp';
  readonly #rendezvous = new RendezvousFollower();
  readonly #lanes = new LaneFollower();
  readonly #datagrams = new DatagramFollower((speaker, id, bytes, way) => this.#sentence(speaker, id, bytes, way));

  get exchanges(): readonly CapturedExchange[] {
    return this.#rendezvous.exchanges;
  }

  hello(privateData: Uint8Array): string | undefined {
    const reliable = decodeHello(privateData);
    if (typeof reliable !== 'string')
      return `rc, window ${reliable.window}, buffers of ${reliable.segmentBytes} B${asked(privateData.subarray(HELLO_BYTES))}`;
    const datagrams = decodeUdHello(privateData);
    if (typeof datagrams === 'string') return undefined;
    const { qpn, qkey } = datagrams;
    // Whoever answers has a key, which is random.
    if (qkey !== 0) return `ud, queue pair ${hex(qpn)}`;
    return `ud, which queue pair?${asked(privateData.subarray(UD_HELLO_BYTES))}`;
  }

  message({ operation, payload, byteLength, way }: CapturedMessage): string | undefined {
    // UCX writes nothing where it wants to know that all before has arrived.
    if (operation === 'WRITE') return byteLength === 0 ? 'WRITE of nothing' : undefined;
    if (payload.length === 0) return byteLength === undefined || byteLength === 0 ? undefined : amount(byteLength);
    const [first] = payload;
    const speaker = this.#lanes.peerOf(way.to) === undefined ? 'ours' : 'UCX';
    if (first === PURE_GRANT && payload.length === 1) return 'grant';
    return `${this.#sentence(speaker, idOf(first), payload.subarray(1), way)}${flowText(first)}`;
  }

  datagram(datagram: CapturedDatagram): string | undefined {
    return this.#datagrams.words(datagram);
  }

  peerOf(end: string): string | undefined {
    return this.#lanes.peerOf(end);
  }

  access(access: CapturedAccess): string | undefined {
    return this.#rendezvous.access(access);
  }

  #sentence(speaker: Speaker, id: number, bytes: Uint8Array, way: CaptureWay): string {
    return sentenceOf(speaker, id, bytes, { way, rendezvous: this.#rendezvous, lanes: this.#lanes });
  }
}

/** What the bits beside an id say. */
function flowText(first: number): string {
  const granted = (first & FlowBits.GRANT) === 0 ? '' : ', grant';
  if ((first & FlowBits.HARD_REQUEST) !== 0) return `${granted}, asks for a grant at once`;
  return (first & FlowBits.SOFT_REQUEST) === 0 ? granted : `${granted}, asks for a grant`;
}

/** For whom somebody asks that has the address of a worker. */
function asked(words: Uint8Array): string {
  const said = decodeIntroduction(words);
  if (typeof said === 'string' || said.meeting === undefined) return '';
  return `, for worker ${hex(said.meeting.toUuid)}`;
}
