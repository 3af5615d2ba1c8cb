import { fieldsProblem, type FieldsOf, invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';
import { XioError } from '../transport/index.js';
import type { XioAssignment, XioSessionOps } from './types.js';

const OPS: FieldsOf<XioSessionOps> = {
  onSessionEvent: true,
  onNewSession: true,
  onSessionEstablished: true,
  onMsg: true,
  onMsgSendComplete: true,
  onOwMsgSendComplete: true,
  onMsgDelivered: true,
  onRdmaDirectComplete: true,
  onMsgError: true,
  onCancel: true,
  onCancelRequest: true,
  assignDataInBuf: true,
};

export function wrongState(call: string, sentence: string): XioError {
  return new XioError('XIO_E_STATE', `${call}: ${sentence}`);
}

/** @throws VerbsError EINVAL for what is no such callbacks */
export function checkOps(call: string, ops: XioSessionOps): void {
  refuse(call, fieldsProblem('ops', ops, OPS));
  for (const [name, value] of Object.entries(ops)) {
    const given: unknown = value;
    if (given !== undefined && typeof given !== 'function')
      throw new VerbsError(call, invalid(`${name} is ${show(given)}`, 'It is a function'));
  }
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
