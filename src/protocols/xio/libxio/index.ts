/** The names of libxio.h, over the same sessions: what a program of Accelio's calls, and its callbacks. */
export {
  type XioConnectionParams,
  xioConnect,
  xioDisconnect,
  xioSessionCreate,
  type XioSessionParams,
} from './client.js';
export {
  type XioConnectionAttr,
  xioConnectionIoctl,
  xioModifyConnection,
  xioModifySession,
  xioQueryConnection,
  xioQuerySession,
  type XioSessionAttr,
} from './attributes.js';
export {
  XioConnectionOptname,
  XioMempoolFlag,
  XioMsgDirection,
  XioMsgFlag,
  XioMsgType,
  XioSessionEvent,
  xioSessionEventStr,
  xioStrerror,
} from './constants.js';
export {
  xioContextCreate,
  xioContextDestroy,
  type XioContextParams,
  xioContextPollWait,
  xioContextRunLoop,
  xioContextStopLoop,
} from './context.js';
export type {
  LibxioConnection,
  LibxioContext,
  LibxioManagedRkey,
  LibxioMempool,
  LibxioServer,
  LibxioSession,
  XioRegMem,
} from './handles.js';
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
} from './memory.js';
export {
  xioCancel,
  xioCancelRequest,
  xioReleaseMsg,
  xioReleaseResponse,
  xioSendMsg,
  xioSendRequest,
  xioSendResponse,
} from './messages.js';
export {
  xioLookupRkeyByRequest,
  xioLookupRkeyByResponse,
  xioManagedRkeyUnwrap,
  xioRegisterRemoteRkey,
  xioSendRdma,
  xioUnregisterRemoteKey,
} from './rdma.js';
export { xioAccept, xioBind, type XioBindOptions, xioRedirect, xioReject, xioUnbind } from './server.js';
export { xioConnectionDestroy, xioSessionDestroy } from './session.js';
export type {
  XioAssignment,
  XioInVmsg,
  XioMsg,
  XioNewSessionReq,
  XioNewSessionRsp,
  XioOutVmsg,
  XioRdmaMsg,
  XioRdmaSge,
  XioSessionEventData,
  XioSessionOps,
} from './types.js';
