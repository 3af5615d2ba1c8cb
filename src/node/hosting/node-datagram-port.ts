import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { DatagramPort, DatagramPortOptions } from '../../api/runtime/index.js';

/** Datagrams that wait for the system to take them; more are dropped. */
const MAX_WAITING = 256;

/** Names are no business of a port's: it binds and sends at once, so that whether it is open is known when its constructor returns. */
function addressItself(
  host: string,
  _options: unknown,
  callback: (error: NodeJS.ErrnoException | null, address: string, family: number) => void,
): void {
  callback(null, host, isIPv6(host) ? 6 : 4);
}

/** A UDP port, by Node's own sockets. */
export class NodeDatagramPort implements DatagramPort {
  readonly port: number;
  readonly #socket: Socket;
  #isOpen = true;

  /** @throws Error as `bind` of Node's, with its `code` */
  constructor({ host, port, onDatagram }: DatagramPortOptions) {
    const ipv6 = isIPv6(host);
    const socket = createSocket({ type: ipv6 ? 'udp6' : 'udp4', ipv6Only: ipv6, lookup: addressItself });
    this.#socket = socket;
    const failures: Error[] = [];
    // Stays for life: what a peer's host answers is no error of this one's.
    socket.on('error', (error) => failures.splice(0, 1, error));
    socket.bind({ address: host, port, exclusive: true });
    const failure = failures.at(0);
    if (failure !== undefined) {
      this.close();
      throw failure;
    }
    this.port = socket.address().port;
    socket.on('message', (bytes: Buffer, from: RemoteInfo) => onDatagram(bytes, from.address, from.port));
  }

  send(bytes: Uint8Array, host: string, port: number): void {
    if (!this.#isOpen || this.#socket.getSendQueueCount() >= MAX_WAITING) return;
    this.#socket.send(bytes, port, host, () => undefined);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#socket.close();
  }
}
