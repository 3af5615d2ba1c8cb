/** The fields of what the calls of the Node way, and of connecting, take. */
import type { FieldsOf } from '../../verbs/index.js';
import type { ConnectionOptions, ConnectOptions } from '../connections/connect.js';
import type { ListenOptions } from '../connections/listener.js';
import type { ConnParam } from './parameters.js';

export const CONNECTION_FIELDS: FieldsOf<ConnectionOptions> = {
  privateData: true,
  responderResources: true,
  initiatorDepth: true,
  flowControl: true,
  retryCount: true,
  rnrRetryCount: true,
  qp: true,
  pd: true,
  prepare: true,
  signal: true,
  timeoutMs: true,
};

export const CONNECT_FIELDS: FieldsOf<ConnectOptions> = {
  ...CONNECTION_FIELDS,
  host: true,
  port: true,
  localAddress: true,
  context: true,
  open: true,
};

export const LISTEN_FIELDS: FieldsOf<ListenOptions> = {
  port: true,
  host: true,
  backlog: true,
  signal: true,
  context: true,
  open: true,
};

export const CONN_PARAM_FIELDS: FieldsOf<ConnParam> = {
  privateData: true,
  responderResources: true,
  initiatorDepth: true,
  flowControl: true,
  retryCount: true,
  rnrRetryCount: true,
  srq: true,
  qpNum: true,
  qpType: true,
  qkey: true,
};
