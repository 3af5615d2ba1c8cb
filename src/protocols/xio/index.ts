/** Sessions with requests, responses and messages that survive their connections: `verbena/xio`. */
import { rdmaTransport, useTransport } from './transport/index.js';

useTransport(rdmaTransport);

export * from './api.js';
export {
  type DeviceOptions,
  type Scheme,
  XioError,
  type XioErrorOptions,
  XioRejectedError,
} from './transport/index.js';
export { XioStatus, type XioStatusName } from './wire/index.js';
export { connect } from './client/connect.js';
export { listen } from './server/xio-server.js';
export * from './memory-pool.js';
/** The names of libxio.h, over the same sessions: what a program of Accelio's calls, and its callbacks. */
export * from './libxio/client.js';
export * from './libxio/attributes.js';
export * from './libxio/constants.js';
export {
  xioContextCreate,
  xioContextDestroy,
  type XioContextParams,
  xioContextPollWait,
  xioContextRunLoop,
  xioContextStopLoop,
} from './libxio/context.js';
export * from './libxio/handles.js';
export {
  xioMemAlloc,
  xioMemDereg,
  xioMemFree,
  xioMempoolAddSlab,
  xioMempoolAlloc,
  xioMempoolCreate,
  xioMempoolDestroy,
  xioMempoolFree,
  xioMemRegister,
} from './libxio/memory.js';
export {
  xioCancel,
  xioCancelRequest,
  xioReleaseMsg,
  xioReleaseResponse,
  xioSendMsg,
  xioSendRequest,
  xioSendResponse,
} from './libxio/messages.js';
export * from './libxio/rdma.js';
export { xioAccept, xioBind, type XioBindOptions, xioRedirect, xioReject, xioUnbind } from './libxio/server.js';
export { xioConnectionDestroy, xioSessionDestroy } from './libxio/session.js';
export * from './libxio/types.js';
