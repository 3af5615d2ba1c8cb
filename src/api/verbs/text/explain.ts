import { WcStatus } from '../../../device/ibta/index.js';
import type { WorkCompletion } from '../work-completion.js';
import { templateOf } from './explanations.js';
import { statusAdvice } from './status-advice.js';
import { wcOpcodeStr, wcStatusStr } from './strings.js';

/** The fields of a completion that say what happened. */
export type Explainable = Pick<WorkCompletion, 'status' | 'opcode' | 'vendorErr' | 'byteLen' | 'detail' | 'peer'>;

/**
 * What a completion says, in a sentence with the numbers, and what to look at next:
 * `retry count exceeded: 7 transmissions of PSN 0x4a31 to 127.0.0.2 QP 0x12, no answer in 0.47 s; is the peer alive …`.
 */
export function explain(wc: Explainable): string {
  if (wc.status === WcStatus.SUCCESS) return `success: ${wcOpcodeStr(wc.opcode)} of ${wc.byteLen} bytes`;
  const template = templateOf(wc.vendorErr);
  if (template !== undefined) {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = wc.detail;
    return template({
      opcode: wc.opcode,
      detail: [a >>> 0, b >>> 0, c >>> 0, d >>> 0, e >>> 0, f >>> 0],
      peer: wc.peer,
    });
  }
  const status = `${wcStatusStr(wc.status)} (status ${wc.status}, vendor error ${wc.vendorErr})`;
  // A number without meaning can come from another maker's adapter.
  return Object.hasOwn(statusAdvice, wc.status) ? `${status}; ${statusAdvice[wc.status]}` : status;
}
