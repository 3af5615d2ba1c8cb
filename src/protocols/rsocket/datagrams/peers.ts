import { type Gid, gidFromIp } from '../../../device/ibta/index.js';
import type { FullAddress } from '../../../api/rdmacm/index.js';
import type { Ah } from '../../../api/verbs/index.js';

/** Whom a program sends to. Beyond that the one that it has not sent to for longest is forgotten, and found again by UDP. */
const MAX_CHOSEN = 1024;
/** Who has been heard of, and was sent nothing. They are apart, so that no stranger has a peer of the program's forgotten. */
const MAX_STRANGERS = 1024;

export class Peer implements FullAddress {
  readonly gid: Gid;
  /** 0 while it is not known. */
  qpn = 0;
  /** An introduction was sent, and is not answered. */
  isAsked = false;
  /** µs of the device's clock from which on it is to be asked again. */
  askAtUs = 0;
  /** Made once it is sent to. */
  ah: Ah | undefined;
  /** Datagrams that the adapter has not sent yet. */
  underWay = 0;
  isForgotten = false;

  constructor(
    readonly host: string,
    readonly port: number,
  ) {
    this.gid = gidFromIp(host);
  }

  /** Lets go of what the device keeps for it, once nothing is under way. */
  tidy(): void {
    if (!this.isForgotten || this.underWay > 0) return;
    this.ah?.[Symbol.dispose]();
    this.ah = undefined;
  }
}

/** Those that a socket knows, by address and port. */
export class Peers {
  readonly #chosen = new Map<string, Peer>();
  readonly #strangers = new Map<string, Peer>();

  find(host: string, port: number): Peer | undefined {
    const key = keyOf(host, port);
    return this.#chosen.get(key) ?? this.#strangers.get(key);
  }

  /** The same to send to. */
  choose(host: string, port: number): Peer {
    const key = keyOf(host, port);
    const peer = this.#chosen.get(key) ?? this.#strangers.get(key) ?? new Peer(host, port);
    this.#strangers.delete(key);
    // The order of the map is that of use.
    this.#chosen.delete(key);
    this.#chosen.set(key, peer);
    forgetFirst(this.#chosen, MAX_CHOSEN);
    return peer;
  }

  /** Somebody whom a packet has come from. */
  meet(host: string, port: number): Peer {
    const known = this.find(host, port);
    if (known !== undefined) return known;
    const peer = new Peer(host, port);
    this.#strangers.set(keyOf(host, port), peer);
    forgetFirst(this.#strangers, MAX_STRANGERS);
    return peer;
  }

  clear(): void {
    forgetFirst(this.#chosen, 0);
    forgetFirst(this.#strangers, 0);
  }
}

function keyOf(host: string, port: number): string {
  return `${host} ${port}`;
}

function forgetFirst(peers: Map<string, Peer>, limit: number): void {
  for (const [key, peer] of peers) {
    if (peers.size <= limit) return;
    peers.delete(key);
    peer.isForgotten = true;
    peer.tidy();
  }
}
