import type { FullAddress, SocketAddress } from '../../../api/rdmacm/index.js';
import type { Context } from '../../../api/verbs/index.js';
import type { Arrival, DatagramSocket } from './datagram-socket.js';
import type { Peer } from './peers.js';

/** What a program's socket for datagrams has below it: a queue pair, or one on each device. */
export type Datagrams = Pick<
  DatagramSocket,
  'localAddress' | 'only' | 'canSend' | 'isIdle' | 'next' | 'consume' | 'peer' | 'send' | 'close'
>;

/** The devices of a program, as a wildcard address stands for them. */
export interface Devices {
  /** The device that packets to a host leave from. @throws VerbsError ENODEV, EHOSTUNREACH */
  toward(host: string): Context;
  /** A socket on a device, at the port of the others. @throws VerbsError EADDRINUSE */
  open(context: Context): DatagramSocket;
}

/** A socket for datagrams that is bound to a wildcard address: at the same port of every device of the program. */
export class WildcardSockets implements Datagrams {
  #only: Peer | undefined;
  /** Of what {@link next} has shown. */
  #shown: DatagramSocket | undefined;
  readonly #ofPeer = new WeakMap<Peer, DatagramSocket>();
  readonly #sockets: DatagramSocket[];

  /** @param first the socket on the device that stands for the program itself */
  constructor(
    private readonly first: DatagramSocket,
    others: readonly DatagramSocket[],
    private readonly wildcard: string,
    private readonly devices: Devices,
  ) {
    this.#sockets = [first, ...others];
  }

  /** Of one device its address, of several the wildcard. */
  get localAddress(): FullAddress {
    const { localAddress } = this.first;
    return this.#sockets.length === 1 ? localAddress : { host: this.wildcard, port: localAddress.port };
  }

  get only(): Peer | undefined {
    return this.#only;
  }

  set only(peer: Peer | undefined) {
    this.#only = peer;
    for (const socket of this.#sockets) socket.only = peer;
  }

  get canSend(): boolean {
    return this.#sockets.some(({ canSend }) => canSend);
  }

  get isIdle(): boolean {
    return this.#sockets.every(({ isIdle }) => isIdle);
  }

  get next(): Arrival | undefined {
    this.#shown ??= this.#sockets.find(({ next }) => next !== undefined);
    return this.#shown?.next;
  }

  /** The next is of another device, where one has any: so none is starved. */
  consume(): void {
    const read = this.#shown;
    this.#shown = undefined;
    if (read === undefined) return;
    read.consume();
    this.#sockets.push(...this.#sockets.splice(this.#sockets.indexOf(read), 1));
  }

  peer(call: string, address: SocketAddress): Peer {
    const { host = '', port = 0 } = address;
    const socket = this.#toward(host, port);
    const peer = socket.peer(call, address);
    this.#ofPeer.set(peer, socket);
    return peer;
  }

  send(call: string, peer: Peer, pieces: readonly Uint8Array[]): boolean {
    return (this.#ofPeer.get(peer) ?? this.first).send(call, peer, pieces);
  }

  /** The program has opened one more device. */
  addDevice(context: Context): void {
    if (this.#sockets.some((socket) => socket.context === context)) return;
    const socket = this.devices.open(context);
    socket.only = this.#only;
    this.#sockets.push(socket);
  }

  /** A device is gone. @returns whether no other is left */
  lost(): boolean {
    const left = this.#sockets.filter(({ isClosed }) => !isClosed);
    this.#sockets.splice(0, Infinity, ...left);
    if (this.#shown?.isClosed === true) this.#shown = undefined;
    return left.length === 0;
  }

  close(): void {
    for (const socket of this.#sockets) socket.close();
  }

  /** The socket that has heard of somebody, or from whose device packets to it leave. */
  #toward(host: string, port: number): DatagramSocket {
    if (this.#sockets.length === 1) return this.#sockets[0];
    const known = this.#sockets.find((socket) => socket.knows(host, port));
    if (known !== undefined) return known;
    const context = this.devices.toward(host);
    return this.#sockets.find((socket) => socket.context === context) ?? this.first;
  }
}
