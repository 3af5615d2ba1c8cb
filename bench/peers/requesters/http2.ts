import { once } from 'node:events';
import { connect, createServer, type Http2Stream } from 'node:http2';
import { MAX_BYTES, type RequestWay } from './requester.js';

/** The longest body: Node 20 comes to a halt where many streams have more of it. */
const WINDOW_BYTES = 1 << 20;
/** In MB: more than the requests that are under way take. */
const SESSION_MEMORY = { maxSessionMemory: 1000 };
const SETTINGS = {
  initialWindowSize: WINDOW_BYTES,
  maxFrameSize: 1 << 18,
  maxConcurrentStreams: 1024,
  enablePush: false,
};

function bodyOf(stream: Http2Stream, onBody: (body: Buffer) => void): void {
  const pieces: Buffer[] = [];
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  stream.on('end', () => onBody(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)));
}

export const http2: RequestWay = {
  serve: async (address) => {
    const memory = Buffer.alloc(MAX_BYTES);
    const server = createServer({ settings: SETTINGS, ...SESSION_MEMORY });
    server.on('session', (session) => session.setLocalWindowSize(WINDOW_BYTES));
    server.on('stream', (stream) => {
      bodyOf(stream, ({ length }) => {
        stream.respond({ ':status': 200 });
        stream.end(memory.subarray(0, length));
      });
    });
    server.listen({ port: 0, host: address });
    await once(server, 'listening');
    const at = server.address();
    if (at === null || typeof at === 'string') throw new Error('the server has no port');
    return String(at.port);
  },
  connect: async (place) => {
    const session = connect(`http://${place}`, { settings: SETTINGS, ...SESSION_MEMORY });
    await once(session, 'connect');
    session.setLocalWindowSize(WINDOW_BYTES);
    return {
      request: (body) =>
        new Promise((resolve, reject) => {
          const stream = session.request({ ':method': 'POST', ':path': '/' });
          stream.on('error', reject);
          bodyOf(stream, resolve);
          stream.end(body);
        }),
    };
  },
};
