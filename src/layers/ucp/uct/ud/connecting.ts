import { gidFromIp } from '../../../../device/ibta/index.js';
import { connect, type ConnectionRequest, type ConnectOptions } from '../../../../api/rdmacm/index.js';
import { VerbsError } from '../../../../api/verbs/index.js';
import type { Engine } from '../../../engine/index.js';
import type { AmHandlers } from '../am-handlers.js';
import { ASKING, decodeUdHello, encodeUdHello } from './hello.js';
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
export async function connectUd(own: UdInterface, where: UdWhere, handlers: AmHandlers): Promise<UdEndpoint> {
  const { engine } = own;
  const privateData = encodeUdHello(ASKING);
  const connection = await connect({ ...where, ...silentQp(engine), context: engine.context, privateData });
  const said = decodeUdHello(connection.privateData);
  const { host } = connection.remoteAddress;
  connection[Symbol.dispose]();
  if (typeof said === 'string') throw foreign(said);
  const { signal, timeoutMs } = where;
  return own.connect({ ...said, gid: gidFromIp(host) }, { handlers, signal, timeoutMs });
}

/**
 * Tells whoever asks where the interface is.
 *
 * @throws VerbsError (the promise rejects) EPROTO where the peer speaks something else, otherwise as `ConnectionRequest.accept`
 */
export async function introduceUd(own: UdInterface, request: ConnectionRequest): Promise<void> {
  const said = decodeUdHello(request.privateData);
  if (typeof said === 'string') {
    request.reject();
    throw foreign(said);
  }
  const privateData = encodeUdHello(own.address);
  const connection = await request.accept({ ...silentQp(own.engine), privateData });
  connection[Symbol.dispose]();
}

function foreign(problem: string): VerbsError {
  const message = `what the peer says of itself is wrong: ${problem}`;
  return new VerbsError('ucp', {
    errno: 'EPROTO',
    message,
    advice: 'Is that a worker of this package, that goes by ud?',
  });
}
