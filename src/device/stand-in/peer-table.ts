import type { Gid } from '../ibta/index.js';

/** Words of a row, which describes one reliable queue pair that may receive. */
export const Row = {
  /** 0: the row is free. */
  QPN: 0,
  DEST_QPN: 1,
  /** The PSN that the responder expects: every packet before it is executed. */
  EXPECTED_PSN: 2,
  /** Messages that the responder has executed, modulo 2^24. */
  MSN: 3,
  /** Bits 7-0: the transport service (`OpcodeService`); 23-8: the P_Key; 26-24: the `rnr_retry` of the peer. */
  FACTS: 4,
  PEER: 5,
  OWN: 9,
  /** Another number each time that the row is written. */
  SERIAL: 13,
  WORDS: 16,
} as const;

/** Words of the header, which lies where row 0 would. Its words {@link Row.EXPECTED_PSN} and {@link Row.MSN} are scratch. */
const Header = { ROWS: 0, VERSION: 1 } as const;

/** An `rnr_retry` without limit (IBTA 9.7.5.2.8). */
export const RNR_RETRY_INFINITE = 7;

/** A queue pair as a row describes it. */
export interface PeerFacts {
  readonly qpn: number;
  readonly destQpn: number;
  readonly service: number;
  readonly pkey: number;
  readonly peer: Gid;
  readonly own: Gid;
}

/** A row, as the stand-in has read it. */
export interface Peer extends PeerFacts {
  /** The first word of the row. */
  readonly row: number;
  readonly rnrRetry: number;
}

function gidAt(words: Int32Array, at: number): Gid {
  return new Uint8Array(words.slice(at, at + 4).buffer);
}

function putGid(words: Int32Array, at: number, gid: Gid): void {
  words.set(new Int32Array(Uint8Array.from(gid).buffer), at);
}

/**
 * The reliable queue pairs of a NIC, in memory that its stand-in reads from another thread.
 *
 * The NIC writes and never reads. A reader may see an old expected PSN. That is harmless: the packets before it are executed,
 * too. A queue pair without a row has row 0, so that the responder stores without a test.
 */
export class PeerTable {
  readonly words: Int32Array;
  /** Called when the first queue pair is entered. */
  onFirst: (() => void) | undefined;
  readonly #capacity: number;
  readonly #free: number[] = [];
  #serial = 0;

  /** @param memory zeroed; {@link bytesFor} says how much. Default: no rows */
  constructor(memory: ArrayBufferLike = new ArrayBuffer(4 * Row.WORDS)) {
    this.words = new Int32Array(memory);
    this.#capacity = this.words.length / Row.WORDS;
  }

  static bytesFor(queuePairs: number): number {
    return 4 * Row.WORDS * (queuePairs + 1);
  }

  /** Enters a queue pair. @returns its row, the index of the first word; 0 when there is no room */
  open(facts: PeerFacts): number {
    const { words } = this;
    let row = this.#free.pop();
    if (row === undefined) {
      const next = words[Header.ROWS] + 1;
      if (next >= this.#capacity) return 0;
      words[Header.ROWS] = next;
      row = next * Row.WORDS;
    }
    this.write(row, facts);
    const { onFirst } = this;
    this.onFirst = undefined;
    onFirst?.();
    return row;
  }

  /** Writes what has changed of a queue pair. */
  write(row: number, { qpn, destQpn, service, pkey, peer, own }: PeerFacts): void {
    if (row === 0) return;
    const { words } = this;
    Atomics.store(words, row + Row.QPN, 0);
    words[row + Row.DEST_QPN] = destQpn;
    words[row + Row.FACTS] = service | (pkey << 8) | (RNR_RETRY_INFINITE << 24);
    putGid(words, row + Row.PEER, peer);
    putGid(words, row + Row.OWN, own);
    words[row + Row.SERIAL] = this.#serial = (this.#serial + 1) | 0;
    Atomics.store(words, row + Row.QPN, qpn);
    Atomics.add(words, Header.VERSION, 1);
  }

  /** Notes how often the peer repeats a request after RNR NAKs. */
  limitRnrRetries(row: number, rnrRetry: number): void {
    if (row === 0) return;
    const { words } = this;
    words[row + Row.FACTS] = (words[row + Row.FACTS] & 0xffffff) | (rnrRetry << 24);
    Atomics.add(words, Header.VERSION, 1);
  }

  /** The queue pair receives nothing more. */
  close(row: number): void {
    if (row === 0) return;
    Atomics.store(this.words, row + Row.QPN, 0);
    Atomics.add(this.words, Header.VERSION, 1);
    this.#free.push(row);
  }
}

/** A table from the reader's side. */
export class PeerReader {
  readonly #peers = new Map<number, Peer>();
  #version = -1;

  constructor(private readonly words: Int32Array) {}

  find(qpn: number): Peer | undefined {
    if (Atomics.load(this.words, Header.VERSION) !== this.#version) this.#read();
    return this.#peers.get(qpn);
  }

  expectedPsn({ row }: Peer): number {
    return Atomics.load(this.words, row + Row.EXPECTED_PSN);
  }

  msn({ row }: Peer): number {
    return Atomics.load(this.words, row + Row.MSN);
  }

  #read(): void {
    const { words } = this;
    this.#version = Atomics.load(words, Header.VERSION);
    const before = new Map(this.#peers);
    this.#peers.clear();
    for (let i = 1; i <= words[Header.ROWS]; i += 1) {
      const row = i * Row.WORDS;
      const qpn = Atomics.load(words, row + Row.QPN);
      if (qpn === 0) continue;
      const facts = words[row + Row.FACTS];
      const known = before.get(qpn);
      const peer: Peer = {
        row,
        qpn,
        destQpn: words[row + Row.DEST_QPN],
        service: facts & 0xff,
        pkey: (facts >>> 8) & 0xffff,
        rnrRetry: facts >>> 24,
        peer: gidAt(words, row + Row.PEER),
        own: gidAt(words, row + Row.OWN),
      };
      this.#peers.set(qpn, known !== undefined && isSame(known, peer) ? known : peer);
    }
  }
}

function isSame(a: Peer, b: Peer): boolean {
  return (
    a.row === b.row &&
    a.destQpn === b.destQpn &&
    a.service === b.service &&
    a.pkey === b.pkey &&
    a.rnrRetry === b.rnrRetry &&
    a.peer.every((byte, i) => byte === b.peer[i]) &&
    a.own.every((byte, i) => byte === b.own[i])
  );
}
