import { connect as connectSocket, type Socket } from 'node:net';
import { type Clock, type Link, type LinkOptions, type LinkTarget, XioError } from '../index.js';
import type { XioStatusName } from '../../wire/index.js';
import { Greeting } from './greeting.js';
import { SocketStream } from './socket-stream.js';
import { countProblem, invalid, refuse, show } from '../../../../api/verbs/index.js';
import { MAX_ALONG_BYTES, MAX_BODY_BYTES } from './wire.js';
import { runtime } from '../../../../api/runtime/index.js';

/**
 * Real time. An action comes after the sockets were read: a program that has blocked the event loop finds its timers due before it reads what its
 * peers have sent, and must not take them for silent.
 */
export const realClock: Clock = {
  nowUs: () => performance.now() * 1000,
  timer: (delayMs, action) => afterReading(action, (due) => runtime().timer(delayMs, due)),
  chore: (delayMs, action) => afterReading(action, (due) => runtime().chore(delayMs, due)),
};

function afterReading(action: () => void, start: (due: () => void) => () => void): () => void {
  let isPending = true;
  const stop = start(() => {
    runtime().nextRound(() => {
      if (isPending) action();
    });
  });
  return () => {
    isPending = false;
    stop();
  };
}

/** @throws VerbsError EINVAL for what is no name or address */
export function requireHost(call: string, what: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') return;
  refuse(call, invalid(`${what} is ${show(value)}`, 'It is a name or an address'));
}

/** @throws VerbsError EINVAL */
export function requireLinkOptions(call: string, { inlineBytes, maxBodyBytes }: LinkOptions): void {
  refuse(call, countProblem('inlineBytes', inlineBytes, 0, MAX_ALONG_BYTES));
  refuse(call, countProblem('maxBodyBytes', maxBodyBytes, 0, MAX_BODY_BYTES));
}

const CALL = 'connect';
const MAX_PORT = 65_535;
const REFUSED = 'nobody listens there';

/** What the system's errors mean. */
const STATUSES: Readonly<Partial<Record<string, XioStatusName>>> = {
  ECONNREFUSED: 'XIO_E_SESSION_REFUSED',
  ETIMEDOUT: 'XIO_E_TIMEOUT',
  EHOSTUNREACH: 'XIO_E_UNREACHABLE',
  ENETUNREACH: 'XIO_E_UNREACHABLE',
  EHOSTDOWN: 'XIO_E_UNREACHABLE',
  ENETDOWN: 'XIO_E_UNREACHABLE',
  EADDRNOTAVAIL: 'XIO_E_ADDR_ERROR',
};

/** Makes a link to whoever listens there. */
export async function connect(target: LinkTarget): Promise<Link> {
  const { host, port, localAddress, signal, timeoutMs } = target;
  requireHost(CALL, 'host', host);
  refuse(CALL, countProblem('port', port, 1, MAX_PORT));
  if (localAddress !== undefined) requireHost(CALL, 'localAddress', localAddress);
  requireLinkOptions(CALL, target);
  signal?.throwIfAborted();
  return new Promise<Link>((resolve, reject) => {
    const socket = connectSocket({
      host,
      port,
      ...(localAddress === undefined ? {} : { localAddress }),
      allowHalfOpen: true,
      noDelay: true,
    });
    const over = (): void => {
      forgetTimer();
      signal?.removeEventListener('abort', onAbort);
    };
    const fail = (reason: unknown): void => {
      over();
      // What it says by then is of no interest.
      socket.on('error', () => undefined);
      socket.destroy();
      // A signal's reason is whatever the program has given.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      reject(reason);
    };
    const onAbort = (): void => fail(signal?.reason);
    const forgetTimer = realClock.timer(timeoutMs, () =>
      fail(new XioError('XIO_E_TIMEOUT', `no link within ${timeoutMs} ms`)),
    );
    signal?.addEventListener('abort', onAbort);
    const onError = (error: Error): void => fail(failureOf(error));
    socket.on('error', onError);
    socket.on('connect', () => {
      if (isItself(socket)) {
        fail(new XioError('XIO_E_SESSION_REFUSED', REFUSED));
        return;
      }
      socket.off('error', onError);
      const onLink = (link: Link): void => {
        over();
        resolve(link);
      };
      new Greeting(new SocketStream(socket), target, realClock, { onLink, onFailure: fail });
    });
  });
}

/** The system may choose the very port that is connected to, where nobody listens: that connection leads to itself (RFC 9293 3.5, simultaneous open). */
function isItself({ localPort, remotePort, localAddress, remoteAddress }: Socket): boolean {
  return localPort === remotePort && localAddress === remoteAddress;
}

function failureOf(error: Error): XioError {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // Whatever the resolver says of a name, it has no address for it.
  const isName = 'syscall' in error && error.syscall === 'getaddrinfo';
  const status = isName ? 'XIO_E_ADDR_ERROR' : (STATUSES[code] ?? 'XIO_E_CONNECT_ERROR');
  // A name of several addresses fails by several errors, without a sentence.
  const text = code === 'ECONNREFUSED' ? REFUSED : error.message || code;
  return new XioError(status, text, { cause: error });
}
