/** The names of libxio.h, over the same sessions: what a program of Accelio's calls, and its callbacks. */
export {
  type XioConnectionParams,
  xioConnect,
  xioDisconnect,
  xioSessionCreate,
  type XioSessionParams,
} from './client.js';
export { XioMsgDirection, XioMsgFlag, XioMsgType, XioSessionEvent } from './constants.js';
export {
  xioContextCreate,
  xioContextDestroy,
  type XioContextParams,
  xioContextRunLoop,
  xioContextStopLoop,
} from './context.js';
export type { LibxioConnection, LibxioContext, LibxioServer, LibxioSession } from './handles.js';
export {
  xioCancel,
  xioCancelRequest,
  xioReleaseMsg,
  xioReleaseResponse,
  xioSendMsg,
  xioSendRequest,
  xioSendResponse,
} from './messages.js';
export { xioAccept, xioBind, type XioBindOptions, xioRedirect, xioReject, xioUnbind } from './server.js';
export { xioConnectionDestroy, xioSessionDestroy } from './session.js';
export { xioSessionEventStr, xioStrerror } from './strerror.js';
export type {
  XioAssignment,
  XioInVmsg,
  XioMsg,
  XioNewSessionReq,
  XioNewSessionRsp,
  XioOutVmsg,
  XioSessionEventData,
  XioSessionOps,
} from './types.js';
