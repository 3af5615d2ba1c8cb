import { QpType, type ConnParam, type IdQpInitAttr } from '../../index.js';

/** Nothing is sent, so the smallest there is. */
export const QP_INIT: IdQpInitAttr = {
  qpType: QpType.RC,
  cap: { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1 },
};

export const connParam: ConnParam = { responderResources: 1, initiatorDepth: 1 };
