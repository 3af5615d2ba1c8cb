import type { GatewayStore } from '../../../gateway/index.js';
import { ClientMemory } from '../../../gateway/client-memory.js';
import { ReplyWriter } from '../../../gateway/resp/reply-writer.js';
import { ScanCursors } from '../../../gateway/commands/command.js';
import { Session, type SessionLimits } from '../../../gateway/session.js';

export const LIMITS: SessionLimits = {
  maxArguments: 1000,
  maxArgumentBytes: 4096,
  maxRequestBytes: 8192,
  maxUnderWay: 16,
  maxUnsentBytes: 1000,
};

export const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'latin1');
export const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

export function written(...words: readonly (string | Uint8Array)[]): Uint8Array {
  const parts = words.map((word) => (typeof word === 'string' ? bytesOf(word) : word));
  const strings = parts.flatMap((part) => [bytesOf(`$${part.length}\r\n`), part, bytesOf('\r\n')]);
  return Buffer.concat([bytesOf(`*${parts.length}\r\n`), ...strings]);
}

/** Something that a store was asked, and is still to answer. */
interface Asked {
  readonly what: string;
  readonly answer: () => void;
}

/** A store that answers when it is told to. */
export class SlowStore {
  readonly asked: Asked[] = [];

  /** @param keepsOrder what it says of itself */
  constructor(readonly keepsOrder: boolean) {}

  #later<T>(what: string, result: () => T): Promise<T> {
    return new Promise((resolve) => this.asked.push({ what, answer: () => resolve(result()) }));
  }

  /** What it was asked and has not answered. */
  get open(): readonly string[] {
    return this.asked.map(({ what }) => what);
  }

  /** Answers one, and lets all come of it that does. */
  async answer(at = 0): Promise<void> {
    const [asked] = this.asked.splice(at, 1);
    asked.answer();
    await new Promise(setImmediate);
  }

  #wrong(): never {
    throw new Error('nobody asks for that here');
  }

  get store(): GatewayStore {
    const wrong = (): never => this.#wrong();
    return {
      keepsOrder: this.keepsOrder,
      get: (key) => this.#later(`get ${nameOf(key)}`, () => bytesOf(nameOf(key))),
      set: (key) => this.#later(`set ${nameOf(key)}`, () => 1n),
      entry: (key) => this.#later(`entry ${nameOf(key)}`, () => ({ value: bytesOf('old'), version: 1n })),
      cas: (key) => this.#later(`cas ${nameOf(key)}`, () => 2n),
      has: wrong,
      add: wrong,
      delete: wrong,
      incr: wrong,
      touch: wrong,
      ttl: wrong,
      scanPage: wrong,
      serverStatistics: wrong,
    };
  }
}

function nameOf(key: Uint8Array | string): string {
  return typeof key === 'string' ? key : textOf(key);
}

export class Played {
  readonly session: Session;
  sent = '';
  unsentBytes = 0;
  isReading = true;
  end: 'ended' | 'destroyed' | undefined;
  reads = true;
  readonly totals = { connections: 1, refused: 0, commands: 0, faults: 0, evicted: 0 };

  constructor(store: GatewayStore, limits: Partial<SessionLimits> = {}, memory = new ClientMemory(1 << 20)) {
    const gateway = { port: 6379, startedMs: 0, connections: 1, maxConnections: 10, totals: this.totals };
    const isEnding = (how: 'ended' | 'destroyed') => (): void => void (this.end ??= how);
    const write = (bytes: Uint8Array): void => {
      this.sent += textOf(bytes);
      if (!this.reads) this.unsentBytes += bytes.length;
    };
    const unsent = (): number => this.unsentBytes;
    const wire = {
      get unsentBytes() {
        return unsent();
      },
      write,
      setReading: (isReading: boolean) => void (this.isReading = isReading),
      end: isEnding('ended'),
      destroy: isEnding('destroyed'),
    };
    this.session = new Session(
      { store, id: 7, name: '', gateway, cursors: new ScanCursors() },
      wire,
      { ...LIMITS, ...limits },
      new ReplyWriter(),
      memory,
    );
  }

  /** The client sends that. @returns what has been answered by now, all in all */
  say(...requests: readonly Uint8Array[]): string {
    this.session.onBytes(Buffer.concat(requests));
    return this.sent;
  }

  drain(): void {
    this.unsentBytes = 0;
    this.session.onSent();
  }
}
