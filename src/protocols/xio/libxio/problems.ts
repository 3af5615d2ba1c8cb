import { callback, fieldsProblem, type FieldsOf, refuse } from '../../../api/verbs/index.js';
import { XioError } from '../transport/index.js';
import type { XioAssignment, XioSessionOps } from './types.js';

const FUNCTION = callback();
const OPS: FieldsOf<XioSessionOps> = {
  onSessionEvent: FUNCTION,
  onNewSession: FUNCTION,
  onSessionEstablished: FUNCTION,
  onMsg: FUNCTION,
  onMsgSendComplete: FUNCTION,
  onOwMsgSendComplete: FUNCTION,
  onMsgDelivered: FUNCTION,
  onRdmaDirectComplete: FUNCTION,
  onMsgError: FUNCTION,
  onCancel: FUNCTION,
  onCancelRequest: FUNCTION,
  assignDataInBuf: FUNCTION,
};

export function wrongState(call: string, sentence: string): XioError {
  return new XioError('XIO_E_STATE', `${call}: ${sentence}`);
}

/** @throws VerbsError EINVAL for what is no such callbacks */
export function checkOps(call: string, ops: XioSessionOps): void {
  refuse(call, fieldsProblem('ops', ops, OPS));
}

/** `assign_data_in_buf`, as sessions ask for memory. */
export function landingOf({ assignDataInBuf }: XioSessionOps, userContext: () => unknown) {
  if (assignDataInBuf === undefined) return undefined;
  return (dataBytes: number, header: Uint8Array): readonly Uint8Array[] | undefined => {
    const assignment: XioAssignment = { header, dataBytes };
    assignDataInBuf(assignment, userContext());
    return assignment.dataIov;
  };
}
