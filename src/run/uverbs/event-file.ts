import { RecordPair } from '../../node/system/index.js';
import { descriptorName } from '../processes/processes.js';

/** Records that wait here once the socket is full: a program that never reads events gets no more. */
const MAX_WAITING = 65536;

/**
 * A file of events: the program reads one record at a time, and finds in its first eight bytes whom it is about. Commands that end
 * an object tell how many events about it the program has read: it waits until it has acknowledged as many.
 */
export class EventFile {
  /** What the kernel calls the program's end, by whatever number it has it. */
  readonly name: string;
  readonly #pair: RecordPair;
  readonly #waiting: Uint8Array[] = [];
  /** Records that were sent, by whom they are about. */
  readonly #sent = new Map<bigint, number>();

  /** @throws SystemCallError when no descriptor is left */
  constructor(recordBytes: number) {
    this.#pair = new RecordPair(recordBytes);
    this.name = descriptorName(process.pid, this.#pair.farFd) ?? '';
  }

  get fd(): number {
    return this.#pair.farFd;
  }

  send(record: Uint8Array): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(record);
    this.flush();
  }

  /** Sends what there was no room for. */
  flush(): void {
    while (this.#waiting.length > 0 && this.#pair.send(this.#waiting[0])) this.#count(this.#waiting.shift(), 1);
  }

  /** Forgets an object. @returns how many events about it the program has read */
  forget(about: bigint): number {
    const kept: Uint8Array[] = [];
    for (let record = this.#pair.takeBack(); record !== undefined; record = this.#pair.takeBack()) {
      this.#count(record, -1);
      kept.push(record);
    }
    this.#waiting.unshift(...kept);
    const others = this.#waiting.filter((record) => subject(record) !== about);
    this.#waiting.splice(0, this.#waiting.length, ...others);
    const read = this.#sent.get(about) ?? 0;
    this.#sent.delete(about);
    this.flush();
    return read;
  }

  close(): void {
    this.#pair.close();
  }

  #count(record: Uint8Array | undefined, change: number): void {
    if (record === undefined) return;
    const about = subject(record);
    this.#sent.set(about, (this.#sent.get(about) ?? 0) + change);
  }
}

function subject(record: Uint8Array): bigint {
  return new DataView(record.buffer, record.byteOffset).getBigUint64(0, true);
}
