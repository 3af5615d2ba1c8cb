import { type Ah, type Qp, type RecvWr, SendFlags } from '../../../entry/index.js';
import type { Keys } from '../exchange/keys.js';
import type { Datagrams, QueuePairs } from '../queue-pairs/queue-pairs.js';
import type { Places } from '../queue-pairs/memory.js';
import type { Settings } from '../settings.js';
import { Verb } from '../tests.js';

const ADDED = 1;
const COMPARED = 0;
const SWAPPED = 0;

/** Where the next message of a queue pair leaves from, and where it goes to. */
interface Route {
  readonly qp: Qp;
  readonly from: readonly number[];
  readonly to: readonly (number | bigint)[];
  /** The messages themselves, where they are taken along in the request. */
  readonly inline: readonly Uint8Array[] | undefined;
  readonly keys: Keys;
  readonly ah: Ah | undefined;
  readonly remoteQpn: number;
  readonly remoteQkey: number;
  place: number;
}

/** Has the queue pairs send, or ask: one message of one size after the other, each from the next place. */
export class Posting {
  readonly sizeBytes: number;
  readonly #routes: readonly Route[];
  readonly #lkey: number;
  readonly #places: Places;
  readonly #write: (route: Route) => void;
  readonly #isDatagram: boolean;
  readonly #isXrc: boolean;

  constructor(queuePairs: QueuePairs, settings: Settings, sizeBytes: number) {
    const { memory } = queuePairs;
    const inline = sizeBytes <= settings.inlineBytes;
    this.sizeBytes = sizeBytes;
    this.#lkey = memory.mr.lkey;
    this.#places = settings.test.measure === 'bw' ? memory.places(sizeBytes) : { count: 1, stepBytes: 0 };
    this.#routes = queuePairs.senders.map((qp, qpIndex) => this.#route(queuePairs, qp, qpIndex, inline));
    this.#write = writerOf(settings);
    this.#isDatagram = settings.connection === 'UD';
    this.#isXrc = settings.connection === 'XRC';
  }

  begin(qpIndex: number): void {
    this.#routes[qpIndex].qp.wrStart();
  }

  /** Adds the next message. Its completion, if it has an entry, tells the queue pair. */
  add(qpIndex: number, signaled: boolean): void {
    const route = this.#routes[qpIndex];
    const { qp, place } = route;
    qp.wrId = qpIndex;
    qp.wrFlags = signaled ? SendFlags.SIGNALED : 0;
    this.#write(route);
    if (this.#isDatagram && route.ah !== undefined) qp.wrSetUdAddr(route.ah, route.remoteQpn, route.remoteQkey);
    if (this.#isXrc) qp.wrSetXrcSrqn(route.keys.srqn);
    if (route.inline === undefined) qp.wrSetSge(this.#lkey, route.from[place], this.sizeBytes);
    else qp.wrSetInlineData(route.inline[place]);
    route.place = place + 1 === this.#places.count ? 0 : place + 1;
  }

  end(qpIndex: number): void {
    this.#routes[qpIndex].qp.wrComplete();
  }

  /** {@link begin}, {@link add} and {@link end} of one message with an entry, on the first queue pair. */
  one(): void {
    this.begin(0);
    this.add(0, true);
    this.end(0);
  }

  #route(queuePairs: QueuePairs, qp: Qp, qpIndex: number, inline: boolean): Route {
    const { memory } = queuePairs;
    const { count, stepBytes } = this.#places;
    const keys = queuePairs.remote[queuePairs.arrivalOf(qpIndex)];
    const offsets = Array.from({ length: count }, (_, i) => memory.departures(qpIndex) + i * stepBytes);
    const datagrams: Datagrams | undefined = queuePairs.datagrams.at(qpIndex);
    return {
      qp,
      keys,
      from: offsets.map((offset) => memory.addressOf(offset)),
      to: Array.from({ length: count }, (_, i) => exact(keys.addr + BigInt(i * stepBytes))),
      inline: inline ? offsets.map((offset) => memory.mr.bytes.subarray(offset, offset + this.sizeBytes)) : undefined,
      ah: datagrams?.ah,
      remoteQpn: datagrams?.remoteQpn ?? 0,
      remoteQkey: datagrams?.remoteQkey ?? 0,
      place: 0,
    };
  }
}

/** As a number, which costs less, where it is one. */
function exact(address: bigint): number | bigint {
  return address <= Number.MAX_SAFE_INTEGER ? Number(address) : address;
}

function writerOf({ test, atomicType }: Settings): (route: Route) => void {
  switch (test.verb) {
    case Verb.SEND:
      return ({ qp }) => qp.wrSend();
    case Verb.WRITE:
      return ({ qp, keys, to, place }) => qp.wrRdmaWrite(keys.rkey, to[place]);
    case Verb.READ:
      return ({ qp, keys, to, place }) => qp.wrRdmaRead(keys.rkey, to[place]);
    case Verb.ATOMIC:
      return atomicType === 'CMP_AND_SWAP'
        ? ({ qp, keys, to, place }) => qp.wrAtomicCmpSwp(keys.rkey, to[place], COMPARED, SWAPPED)
        : ({ qp, keys, to, place }) => qp.wrAtomicFetchAdd(keys.rkey, to[place], ADDED);
  }
}

/** What there is to say when messages have another length than was agreed on by the command lines. */
export function sizeNote(cameBytes: number, expectedBytes: number): string {
  return (
    `The peer sends ${cameBytes} bytes where ${expectedBytes} were expected, so what is printed here is wrong: ` +
    'give both sides the same -s, and -a either both or none.\n'
  );
}

/** Has the queue pairs take messages. */
export class Receiving {
  readonly #queuePairs: QueuePairs;
  readonly #sizeBytes: number;
  readonly #lkey: number;
  readonly #addresses: readonly (readonly number[])[];
  readonly #place: Int32Array;
  readonly #headerBytes: number;
  /** By queue pair, where receive requests are posted in lists. */
  readonly #lists: readonly (readonly RecvWr[])[];

  constructor(queuePairs: QueuePairs, settings: Settings, sizeBytes: number) {
    const { memory } = queuePairs;
    const { count, stepBytes } = memory.places(sizeBytes);
    this.#queuePairs = queuePairs;
    this.#headerBytes = memory.headerBytes;
    this.#sizeBytes = memory.headerBytes + sizeBytes;
    this.#lkey = memory.mr.lkey;
    this.#addresses = Array.from({ length: settings.qps }, (_, qpIndex) =>
      Array.from({ length: count }, (_place, i) =>
        memory.addressOf(memory.arrivals(queuePairs.arrivalOf(qpIndex)) + i * stepBytes),
      ),
    );
    this.#place = new Int32Array(settings.qps);
    const { recvPostList } = settings;
    this.#lists = recvPostList === 1 ? [] : this.#addresses.map((places, i) => this.#list(i, places, recvPostList));
  }

  /** The first message has come: tells the user when it is another one than this side expects. */
  look(byteLen: number): void {
    if (byteLen === this.#sizeBytes) return;
    process.stderr.write(sizeNote(byteLen - this.#headerBytes, this.#sizeBytes - this.#headerBytes));
  }

  /**
   * Posts a receive request, or a list of them. The completion of each names the queue pair, which of a shared queue is
   * whose turn it was.
   */
  post(qpIndex: number): void {
    const addresses = this.#addresses[qpIndex];
    const place = this.#place[qpIndex];
    const queue = this.#queuePairs.srq ?? this.#queuePairs.senders[qpIndex];
    if (this.#lists.length > 0) {
      queue.postRecv(this.#lists[qpIndex]);
      return;
    }
    queue.postRecvSge(qpIndex, this.#lkey, addresses[place], this.#sizeBytes);
    this.#place[qpIndex] = place + 1 === addresses.length ? 0 : place + 1;
  }

  #list(qpIndex: number, places: readonly number[], count: number): RecvWr[] {
    const [lkey, length] = [this.#lkey, this.#sizeBytes];
    return Array.from({ length: count }, (_, i) => ({
      wrId: qpIndex,
      sgList: [{ addr: places[i % places.length], length, lkey }],
    }));
  }
}
