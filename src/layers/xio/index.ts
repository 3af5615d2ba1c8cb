/** Sessions with requests, responses and messages that survive their connections: `verbena/xio`. */
import { rdmaTransport, useTransport } from './transport/index.js';

useTransport(rdmaTransport);

export type {
  Bytes,
  XioAcceptOptions,
  XioConnectOptions,
  XioListenOptions,
  XioMessage,
  XioOptions,
  XioParts,
  XioRequest,
  XioRequestHandler,
  XioRequestOptions,
  XioResponse,
  XioSendOptions,
  XioServer,
  XioSession,
  XioSessionEvents,
  XioStatistics,
} from './api.js';
export { type DeviceOptions, type Scheme, useTransport, XioError, type XioErrorOptions } from './transport/index.js';
export { XioStatus, type XioStatusName } from './wire/index.js';
export { connect } from './client/connect.js';
export { listen } from './server/xio-server.js';
