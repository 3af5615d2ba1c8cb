import { type Gid, PSN_MASK } from '../../ibta/index.js';
import { gidKey } from '../../wire/index.js';
import type { Conversation, KnownConnection } from '../connections/connection-rules.js';

/** Objects that strangers can create, limited in number: a new one beyond the limit replaces the oldest. */
export class OldestFirst<T> {
  readonly #members = new Set<T>();

  constructor(
    private readonly limit: number,
    /** Ends one that is no longer a member. */
    private readonly dismiss: (oldest: T) => void,
  ) {}

  get size(): number {
    return this.#members.size;
  }

  enter(member: T): void {
    this.#members.add(member);
    if (this.#members.size <= this.limit) return;
    const [oldest] = this.#members;
    this.#members.delete(oldest);
    this.dismiss(oldest);
  }

  leave(member: T): void {
    this.#members.delete(member);
  }
}

/** The transaction that a request begins (protocol/connections.md 4.1): 64 bits. */
export function freshTransaction(random: () => number): bigint {
  return (BigInt(random() >>> 0) << 32n) | BigInt(random() >>> 0);
}

/** The first PSN of a direction: 24 bits that nobody can guess. */
export function freshPsn(random: () => number): number {
  return random() & PSN_MASK;
}

/** How connections are found by what messages say. */
export class Directory {
  /** By the communication IDs that we gave. */
  readonly #local = new Map<number, Conversation>();
  /** By the peer's communication ID, channel adapter and address. */
  readonly #remote = new Map<string, KnownConnection>();
  /** By the peer's queue pair, channel adapter and address. */
  readonly #remoteQps = new Map<string, KnownConnection>();
  readonly #qps = new Map<number, KnownConnection>();

  constructor(private readonly random: () => number) {}

  /** Makes a communication ID that nobody can guess, and that was not in use a moment ago. */
  add(owner: Conversation): number {
    for (;;) {
      const id = this.random() >>> 0;
      if (id === 0 || this.#local.has(id)) continue;
      this.#local.set(id, owner);
      return id;
    }
  }

  find(localCommId: number): Conversation | undefined {
    return this.#local.get(localCommId);
  }

  forget(localCommId: number): void {
    this.#local.delete(localCommId);
  }

  get size(): number {
    return this.#local.size;
  }

  /** How many IDs of connections are kept, our own and those of peers. */
  get names(): number {
    return this.#local.size + this.#remote.size + this.#remoteQps.size + this.#qps.size;
  }

  findRemote(commId: number, caGuid: bigint, peer: Gid): KnownConnection | undefined {
    return this.#remote.get(key(commId, caGuid, peer));
  }

  addRemote(connection: KnownConnection, commId: number, caGuid: bigint, peer: Gid): void {
    this.#remote.set(key(commId, caGuid, peer), connection);
  }

  findRemoteQp(qpn: number, caGuid: bigint, peer: Gid): KnownConnection | undefined {
    return this.#remoteQps.get(key(qpn, caGuid, peer));
  }

  addRemoteQp(connection: KnownConnection, qpn: number, caGuid: bigint, peer: Gid): void {
    this.#remoteQps.set(key(qpn, caGuid, peer), connection);
  }

  /** Forgets what the peer calls a connection. */
  forgetRemote(connection: KnownConnection, commId: number, qpn: number, caGuid: bigint, peer: Gid): void {
    const byCommId = key(commId, caGuid, peer);
    const byQp = key(qpn, caGuid, peer);
    if (this.#remote.get(byCommId) === connection) this.#remote.delete(byCommId);
    if (this.#remoteQps.get(byQp) === connection) this.#remoteQps.delete(byQp);
  }

  findQp(qpn: number): KnownConnection | undefined {
    return this.#qps.get(qpn);
  }

  addQp(connection: KnownConnection, qpn: number): void {
    this.#qps.set(qpn, connection);
  }

  forgetQp(connection: KnownConnection, qpn: number): void {
    if (this.#qps.get(qpn) === connection) this.#qps.delete(qpn);
  }
}

/** The address is part of the key, so that no host can occupy another's IDs. */
const key = (number: number, caGuid: bigint, peer: Gid): string => `${number} ${caGuid} ${gidKey(peer)}`;
