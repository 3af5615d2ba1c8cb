import { type Gid, gidsEqual } from '../../ibta/index.js';
import type { KnownConnection } from './connection-rules.js';
import type { Directory } from '../tables/directory.js';

/** What a connection knows of its peer, by which it is found. */
export class Peer {
  #met = false;
  #commId = 0;
  #qpn = 0;
  #caGuid = 0n;
  /** By which way its last message came. */
  way = 0;

  constructor(
    private readonly connection: KnownConnection,
    private readonly directory: Directory,
    private readonly gid: Gid,
  ) {}

  /** Whether it has said what it calls the connection. */
  get isMet(): boolean {
    return this.#met;
  }

  /** What it calls the connection; 0 before it has said so. */
  get commId(): number {
    return this.#commId;
  }

  isAt(gid: Gid): boolean {
    return gidsEqual(gid, this.gid);
  }

  /** Whether a message names the connection as the peer does; before its first message nobody knows. */
  isNamed(commId: number): boolean {
    return !this.#met || this.#commId === commId;
  }

  /** The connection that has this queue pair of it, as far as we know. */
  ownerOf(qpn: number, caGuid: bigint): KnownConnection | undefined {
    return this.directory.findRemoteQp(qpn, caGuid, this.gid);
  }

  meet(commId: number, qpn: number, caGuid: bigint): void {
    this.#met = true;
    this.#commId = commId;
    this.#qpn = qpn;
    this.#caGuid = caGuid;
    this.directory.addRemote(this.connection, commId, caGuid, this.gid);
    this.directory.addRemoteQp(this.connection, qpn, caGuid, this.gid);
  }

  forget(): void {
    this.directory.forgetRemote(this.connection, this.#commId, this.#qpn, this.#caGuid, this.gid);
  }
}
