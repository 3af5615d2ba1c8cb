import type { CapturedExchange, CaptureWay } from './dissector.js';

const KIB = 1024;
const MIB = KIB * KIB;

/** Of those that may still go on, by a protocol. Whoever begins more is followed no further back. */
const MAX_OPEN = 1024;
export const MAX_EXCHANGES = 65_536;

/** `20 B`, `64 KiB`, `1 MiB`. */
export function amount(bytes: number): string {
  if (bytes > 0 && bytes % MIB === 0) return `${bytes / MIB} MiB`;
  return bytes > 0 && bytes % KIB === 0 ? `${bytes / KIB} KiB` : `${bytes} B`;
}

export function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** Several messages that make one thing, while they are seen one after the other. */
export class FollowedExchange implements CapturedExchange {
  readonly timeUs: number;
  readonly from: string;
  readonly to: string;
  readonly psn: number;
  tookUs: number | undefined;
  readonly #steps: string[] = [];

  /** @param what it is, as its first message says */
  constructor(
    { timeUs, from, to, psn }: CaptureWay,
    readonly what: string,
  ) {
    this.timeUs = timeUs;
    this.from = from;
    this.to = to;
    this.psn = psn;
  }

  get words(): string {
    return [this.what, ...this.#steps.map((step) => this.stepText(step))].join(', ');
  }

  /** What happens next. A packet that was sent again, or seen on both sides, is no step. */
  step(name: string): void {
    if (this.tookUs === undefined && !this.#steps.includes(name)) this.#steps.push(name);
  }

  end({ timeUs }: CaptureWay, name: string): void {
    this.step(name);
    this.tookUs ??= timeUs - this.timeUs;
  }

  protected stepText(step: string): string {
    return step;
  }
}

/** Keeps what may go on, by a name, and forgets the oldest where there is too much. */
export function remember<T>(open: Map<string, T>, key: string, one: T): void {
  const [oldest] = open.keys();
  open.delete(key);
  if (open.size >= MAX_OPEN) open.delete(oldest);
  open.set(key, one);
}
