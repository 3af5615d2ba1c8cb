import {
  amount,
  type CapturedAccess,
  type CapturedExchange,
  type CaptureWay,
  FollowedExchange,
  MAX_EXCHANGES,
  remember,
} from '../../core/index.js';
import { UcsStatus } from '../wire/index.js';
import { statusText } from './lanes.js';

// Messages that are announced, each with all that follows from that (protocol/ucp.md 9.1), put together by what both ends have numbered.

/** READs and WRITEs of one that are told apart. */
const MAX_PIECES = 4096;

export interface Announced {
  readonly requestId: number;
  readonly size: number;
  /** Where it lies, 64 bits; of use to the receiver only if it has a key. */
  readonly address: bigint;
  /** `tag 7`, `AM 3`. */
  readonly what: string;
}

export interface Asked {
  readonly sendRequestId: number;
  readonly receiveRequestId: number;
  readonly address: bigint;
  readonly size: number;
}

interface Memory {
  readonly address: bigint;
  readonly end: bigint;
}

class Rendezvous extends FollowedExchange {
  buffer: Memory | undefined;
  #dataBytes = 0;
  /** READs and WRITEs, by where they begin: their PSNs. */
  readonly #pieces = new Map<bigint, number>();

  constructor(
    way: CaptureWay,
    private readonly announced: Announced,
  ) {
    super(way, `RTS ${amount(announced.size)} ${announced.what}`);
  }

  get memory(): Memory {
    return memoryAt(this.announced);
  }

  protected override stepText(step: string): string {
    return step === 'DATA' && this.#dataBytes > 0 ? `${step} of ${amount(this.#dataBytes)}` : step;
  }

  /** @param end where in the message they end */
  data({ timeUs }: CaptureWay, end: number): void {
    this.step('DATA');
    if (this.tookUs !== undefined) return;
    this.#dataBytes = Math.max(this.#dataBytes, end);
    if (this.#dataBytes >= this.announced.size) this.tookUs = timeUs - this.timeUs;
  }

  /** The packet that fetched or brought what lies there. */
  pieceAt(address: bigint): number | undefined {
    return this.#pieces.get(address);
  }

  piece(name: string, address: bigint, psn: number): void {
    this.step(name);
    if (this.#pieces.size < MAX_PIECES) this.#pieces.set(address, psn);
  }
}

export class RendezvousFollower {
  readonly exchanges: CapturedExchange[] = [];
  /** By the sender's end and its number, and by the receiver's end and its own. */
  readonly #announced = new Map<string, Rendezvous>();
  readonly #asked = new Map<string, Rendezvous>();

  announce(way: CaptureWay, announced: Announced): string {
    const key = `${way.from} ${announced.requestId}`;
    const known = this.#announced.get(key);
    if (known?.psn === way.psn && known.to === way.to) return known.what;
    const rendezvous = new Rendezvous(way, announced);
    remember(this.#announced, key, rendezvous);
    if (this.exchanges.length < MAX_EXCHANGES) this.exchanges.push(rendezvous);
    return rendezvous.what;
  }

  ask(way: CaptureWay, asked: Asked): string {
    const rendezvous = this.#announced.get(`${way.to} ${asked.sendRequestId}`);
    const words = `RTR ${amount(asked.size)}`;
    if (rendezvous === undefined) return words;
    rendezvous.step('RTR');
    rendezvous.buffer = memoryAt(asked);
    remember(this.#asked, `${way.from} ${asked.receiveRequestId}`, rendezvous);
    return `${words} for ${rendezvous.what}`;
  }

  /** The receiver has it, or does without. */
  fetched(way: CaptureWay, requestId: number, status: number): string {
    return ended(this.#announced.get(`${way.to} ${requestId}`), way, 'ATS', status);
  }

  /** The sender has brought it, or has not. */
  put(way: CaptureWay, requestId: number, status: number): string {
    return ended(this.#asked.get(`${way.to} ${requestId}`), way, 'ATP', status);
  }

  data(way: CaptureWay, requestId: number, offset: number, bytes: number): string {
    const words = `DATA ${amount(bytes)} at ${offset}`;
    const rendezvous = this.#asked.get(`${way.to} ${requestId}`);
    if (rendezvous === undefined) return words;
    rendezvous.data(way, offset + bytes);
    return `${words} of ${rendezvous.what}`;
  }

  cancel(way: CaptureWay, requestId: number): string {
    const rendezvous = this.#announced.get(`${way.from} ${requestId}`);
    if (rendezvous === undefined) return 'CANCEL';
    rendezvous.step('CANCEL');
    return `CANCEL ${rendezvous.what}`;
  }

  /** What a READ or a WRITE is for, if it is for one of these. Of several in the same memory it is for the oldest that lacks it. */
  access(access: CapturedAccess): string | undefined {
    const { operation, address, length, way } = access;
    const open = [...this.#announced.values()].filter((rendezvous) => isFor(access, rendezvous));
    const rendezvous =
      open.find((one) => one.pieceAt(address) === way.psn) ??
      open.find((one) => one.pieceAt(address) === undefined) ??
      open.at(0);
    if (rendezvous === undefined) return undefined;
    rendezvous.piece(operation, address, way.psn);
    return `${operation} ${amount(length)} of ${rendezvous.what}`;
  }
}

function isFor({ operation, address, length, way }: CapturedAccess, rendezvous: Rendezvous): boolean {
  const isRead = operation === 'READ';
  const memory = isRead ? rendezvous.memory : rendezvous.buffer;
  const [from, to] = isRead ? [rendezvous.to, rendezvous.from] : [rendezvous.from, rendezvous.to];
  if (rendezvous.tookUs !== undefined || memory === undefined || from !== way.from || to !== way.to) return false;
  return address >= memory.address && address + BigInt(length) <= memory.end;
}

function ended(rendezvous: Rendezvous | undefined, way: CaptureWay, name: string, status: number): string {
  const words = `${name} ${statusText(status)}`;
  if (rendezvous === undefined) return words;
  rendezvous.end(way, status === UcsStatus.UCS_OK ? name : words);
  return `${words}: ${rendezvous.words}`;
}

function memoryAt({ address, size }: { readonly address: bigint; readonly size: number }): Memory {
  return { address, end: address + BigInt(size) };
}
