import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { MAX_BYTES, type RequestWay } from './requester.js';

const PREFIX_BYTES = 4;

/** Takes bodies with their length before them out of what comes in pieces. */
class Frames {
  #prefix: Buffer = Buffer.alloc(0);
  #body: Buffer | undefined;
  #filled = 0;

  constructor(private readonly onBody: (body: Buffer) => void) {}

  take(piece: Buffer): void {
    let rest: Buffer = this.#prefix.length === 0 ? piece : Buffer.concat([this.#prefix, piece]);
    this.#prefix = Buffer.alloc(0);
    while (rest.length > 0) {
      if (this.#body !== undefined) rest = this.#fill(this.#body, rest);
      else if (rest.length < PREFIX_BYTES) {
        this.#prefix = rest;
        return;
      } else rest = this.#begin(rest.readUInt32BE(0), rest.subarray(PREFIX_BYTES));
    }
  }

  #begin(length: number, rest: Buffer): Buffer {
    if (length <= rest.length) {
      // Whole already: it is not copied.
      this.onBody(rest.subarray(0, length));
      return rest.subarray(length);
    }
    this.#body = Buffer.allocUnsafe(length);
    this.#filled = 0;
    return rest;
  }

  #fill(body: Buffer, rest: Buffer): Buffer {
    const taken = rest.copy(body, this.#filled);
    this.#filled += taken;
    if (this.#filled === body.length) {
      this.#body = undefined;
      this.onBody(body);
    }
    return rest.subarray(taken);
  }
}

/** Sends bodies with their length before them; those of one turn of the event loop at once. */
class Sender {
  #isCorked = false;

  constructor(private readonly socket: Socket) {
    socket.setNoDelay(true);
  }

  send(body: Uint8Array): void {
    const { socket } = this;
    if (!this.#isCorked) {
      this.#isCorked = true;
      socket.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        socket.uncork();
      });
    }
    const prefix = Buffer.allocUnsafe(PREFIX_BYTES);
    prefix.writeUInt32BE(body.length);
    socket.write(prefix);
    socket.write(body);
  }
}

export const net: RequestWay = {
  serve: async (address) => {
    const memory = Buffer.alloc(MAX_BYTES);
    const server = createServer((socket) => {
      const sender = new Sender(socket);
      const frames = new Frames(({ length }) => sender.send(memory.subarray(0, length)));
      socket.on('data', (piece: Buffer) => frames.take(piece));
      socket.on('error', () => socket.destroy());
    });
    server.listen({ port: 0, host: address });
    await once(server, 'listening');
    const at = server.address();
    if (at === null || typeof at === 'string') throw new Error('the server has no port');
    return String(at.port);
  },
  connect: async (place, from) => {
    const [host, port] = place.split(':');
    const socket = connect({ host, port: Number(port), localAddress: from });
    await once(socket, 'connect');
    const sender = new Sender(socket);
    // Answers come in the order of the requests.
    const waiting: ((body: Uint8Array) => void)[] = [];
    const frames = new Frames((body) => waiting.shift()?.(body));
    socket.on('data', (piece: Buffer) => frames.take(piece));
    return {
      request: (body) =>
        new Promise((resolve) => {
          waiting.push(resolve);
          sender.send(body);
        }),
    };
  },
};
