import { check } from '../../../../../../test/sim/failure.js';

interface Sent {
  readonly bytes: Uint8Array;
  isCertain: boolean;
}

const NOTHING = new Uint8Array(0);

/** How far the stream may have come: to a byte of a part. */
interface Place {
  readonly part: number;
  readonly offset: number;
}

/** One direction between two endpoints: the bytes that were sent, and those that have come, in the order of the calls. */
export class StreamBook {
  readonly #sent: Sent[] = [];
  readonly #received: Uint8Array[] = [];

  constructor(private readonly name: string) {}

  /** @returns its bytes, and what is told when it has ended well */
  send(length: number): { readonly bytes: Uint8Array; readonly done: () => void } {
    const number = this.#sent.length + 1;
    const bytes = new Uint8Array(length).map((_, i) => (number * 151 + i * 7 + (i >> 8) * 13) & 0xff);
    const sent = { bytes, isCertain: false };
    this.#sent.push(sent);
    return { bytes, done: () => void (sent.isCertain = true) };
  }

  /** A receive begins. @returns what is told what it has got */
  receive(): (bytes: Uint8Array) => void {
    const turn = this.#received.push(new Uint8Array(0)) - 1;
    return (bytes) => void (this.#received[turn] = bytes);
  }

  get receivedBytes(): number {
    return this.#received.reduce((sum, { length }) => sum + length, 0);
  }

  /** @param isBroken it may have ended anywhere */
  verify(isBroken: boolean): void {
    const received = Buffer.concat(this.#received);
    let places: readonly Place[] = this.#from({ part: 0, offset: 0 });
    let at = 0;
    while (at < received.length) {
      const length = this.#plainLength(places, received.subarray(at));
      const step = Math.max(1, length);
      const fitting = places.filter(
        ({ part, offset }) => length > 0 || this.#sent.at(part)?.bytes[offset] === received[at],
      );
      check(
        fitting.length > 0,
        () => `${this.name}: byte ${at} of the stream is ${received[at]}, which nobody sent there`,
      );
      places = fitting.flatMap(({ part, offset }) => this.#from({ part, offset: offset + step }));
      at += step;
    }
    const isWhole = places.some(({ part }) => part === this.#sent.length);
    check(isBroken || isWhole, () => `${this.name}: after ${at} bytes the rest never came`);
  }

  /** How many bytes are those of the only place where the stream may be, up to the end of its part. */
  #plainLength(places: readonly Place[], received: Uint8Array): number {
    if (places.length !== 1) return 0;
    const [{ part, offset }] = places;
    const rest = this.#sent.at(part)?.bytes.subarray(offset, offset + received.length) ?? NOTHING;
    return Buffer.compare(rest, received.subarray(0, rest.length)) === 0 ? rest.length : 0;
  }

  /** Where the next byte may be: behind whole parts, and behind those that were given up and may be missing. */
  #from({ part, offset }: Place): Place[] {
    const sent = this.#sent.at(part);
    if (sent === undefined) return [{ part, offset }];
    if (offset === sent.bytes.length) return this.#from({ part: part + 1, offset: 0 });
    if (offset > 0 || sent.isCertain) return [{ part, offset }];
    return [{ part, offset }, ...this.#from({ part: part + 1, offset: 0 })];
  }
}
