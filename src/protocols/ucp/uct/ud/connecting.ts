import { gidFromIp } from '../../../../device/ibta/index.js';
import { connect, type ConnectionRequest, type ConnectOptions } from '../../../../api/rdmacm/index.js';
import { VerbsError } from '../../../../api/verbs/index.js';
import type { Engine } from '../../../core/index.js';
import type { AmHandlers } from '../endpoint.js';
import { behind, type Words, decodeUdHello, encodeUdHello, UD_HELLO_BYTES } from '../hello.js';
import type { UdEndpoint } from './ud-endpoint.js';
import type { UdInterface } from './ud-interface.js';

export type UdWhere = Pick<ConnectOptions, 'host' | 'port' | 'signal' | 'timeoutMs'>;

/** The queue pair of a connection that brings nothing but what is said while it is made. */
function silentQp({ pd, cq }: Engine) {
  const cap = { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1, maxInlineData: 0 };
  return { pd, qp: { sendCq: cq, recvCq: cq, sqSigAll: true, cap } };
}

/**
 * Connects to an interface that is found by rdma_cm.
 *
 * @throws VerbsError (the promise rejects) EPROTO where the peer speaks something else, otherwise as `connect` of the root and `UdInterface.connect`
 */
export async function connectUd(
  own: UdInterface,
  where: UdWhere,
  handlers: AmHandlers,
  words: Words = {},
): Promise<UdEndpoint> {
  const { engine } = own;
  const number = own.nextConnection();
  const privateData = behind(encodeUdHello({ qpn: own.address.qpn, qkey: 0, connection: number }), words);
  const connection = await connect({ ...where, ...silentQp(engine), context: engine.context, privateData });
  const said = decodeUdHello(connection.privateData);
  const { host } = connection.remoteAddress;
  const others = connection.privateData.subarray(UD_HELLO_BYTES);
  connection[Symbol.dispose]();
  if (typeof said === 'string') throw foreign(said);
  words.onSaid?.(others);
  const { signal, timeoutMs } = where;
  const { qpn, qkey } = said;
  return own.connect({ qpn, qkey, gid: gidFromIp(host) }, { handlers, signal, timeoutMs, connection: number });
}

/**
 * Tells whoever asks where the interface is, and waits until it has connected there.
 *
 * @param signal ends what is done by rdma_cm; the rest ends with the interface
 * @throws VerbsError (the promise rejects) EPROTO where the peer speaks something else, ETIMEDOUT where it says nothing more, otherwise as `ConnectionRequest.accept`
 */
export async function acceptUd(
  own: UdInterface,
  request: ConnectionRequest,
  handlers: AmHandlers,
  words: Words = {},
  signal?: AbortSignal,
): Promise<UdEndpoint> {
  const said = decodeUdHello(request.privateData);
  if (typeof said === 'string') {
    request.reject();
    throw foreign(said);
  }
  // What it sends by datagrams may overtake what makes the connection.
  const expectation = own.expect(said.qpn, said.connection, handlers);
  // It may be abandoned before anybody waits.
  expectation.promise.catch(() => undefined);
  try {
    const { qpn, qkey } = own.address;
    const privateData = behind(encodeUdHello({ qpn, qkey, connection: 0 }), words);
    const connection = await request.accept({ ...silentQp(own.engine), privateData, signal });
    connection[Symbol.dispose]();
  } catch (error) {
    // That it has ended the connection, which has told it all, may come before it says that it has heard.
    const hasHeard = expectation.isSettled || (error instanceof VerbsError && error.errno === 'ECONNRESET');
    if (!hasHeard) expectation.abandon(error);
  }
  return expectation.promise;
}

/** What the program of a worker that connects says; or what is wrong with what it says of itself. */
export function udWordsOf({ privateData }: ConnectionRequest): Uint8Array | string {
  const hello = decodeUdHello(privateData);
  return typeof hello === 'string' ? hello : privateData.subarray(UD_HELLO_BYTES);
}

function foreign(problem: string): VerbsError {
  const message = `what the peer says of itself is wrong: ${problem}`;
  return new VerbsError('ucp', {
    errno: 'EPROTO',
    message,
    advice: 'Is that a worker of this package, that goes by ud?',
  });
}
