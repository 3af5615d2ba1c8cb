import { createServer, type Server } from 'node:net';
import { countProblem, refuse } from '../../../../api/verbs/index.js';
import type { FullAddress } from '../../../../api/rdmacm/index.js';
import { type Link, type LinkListener, type LinkPlace, XioError } from '../index.js';
import { realClock, requireHost, requireLinkOptions } from './connecting.js';
import { type HalfOpenLimits, HalfOpen } from './half-open.js';
import { SocketStream } from './socket-stream.js';

const CALL = 'listen';
const MAX_PORT = 65_535;
/** Whoever reaches a listener may begin sessions. */
const LOOPBACK = '127.0.0.1';
const LIMITS: HalfOpenLimits = { count: 256, timeMs: 5000 };

/** Listens. */
export async function listen(
  place: LinkPlace,
  onLink: (link: Link) => void,
  limits: HalfOpenLimits = LIMITS,
): Promise<LinkListener> {
  const { host = LOOPBACK, port = 0 } = place;
  requireHost(CALL, 'host', host);
  refuse(CALL, countProblem('port', port, 0, MAX_PORT));
  requireLinkOptions(CALL, place);
  const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new XioError('XIO_E_BIND_FAILED', `cannot listen at ${host}, port ${port}: ${reasonOf(error)}`, {
          cause: error,
        }),
      ),
    );
    server.listen({ host, port }, resolve);
  });
  return new TcpListener(server, new HalfOpen(place, realClock, limits, onLink));
}

function reasonOf(error: Error): string {
  const code = 'code' in error ? String(error.code) : error.message;
  return code === 'EADDRINUSE' ? 'a listener of this or another program has it (EADDRINUSE)' : code;
}

class TcpListener implements LinkListener {
  readonly address: FullAddress;
  readonly closed: Promise<void>;

  constructor(
    private readonly server: Server,
    private readonly halfOpen: HalfOpen,
  ) {
    const address = server.address();
    this.address =
      address === null || typeof address === 'string'
        ? { host: LOOPBACK, port: 0 }
        : { host: address.address, port: address.port };
    this.closed = new Promise((resolve) => server.on('close', resolve));
    // A connection that could not be taken, where the process may open no more files: the others go on.
    server.on('error', () => undefined);
    server.on('connection', (socket) => halfOpen.add(new SocketStream(socket)));
  }

  close(): void {
    this.halfOpen.close();
    this.server.close();
  }

  ref(): void {
    this.server.ref();
  }

  unref(): void {
    this.server.unref();
  }
}
