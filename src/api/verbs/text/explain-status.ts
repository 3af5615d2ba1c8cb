import { WcStatus } from '../../../device/ibta/index.js';
import type { WorkCompletion } from '../work-completion.js';
import { statusAdvice } from './status-advice.js';
import { wcOpcodeStr, wcStatusStr } from './strings.js';

/** The fields of a completion that say what happened. */
export type Explainable = Pick<WorkCompletion, 'status' | 'opcode' | 'vendorErr' | 'byteLen' | 'detail' | 'peer'>;

/** What the status of a completion says on any device. Only the provider knows what `vendorErr` means. */
export function explainStatus({ status, opcode, byteLen, vendorErr }: Explainable): string {
  if (status === WcStatus.SUCCESS) return `success: ${wcOpcodeStr(opcode)} of ${byteLen} bytes`;
  const text = `${wcStatusStr(status)} (status ${status}, vendor error ${vendorErr})`;
  // A number without meaning can come from another maker's adapter.
  return Object.hasOwn(statusAdvice, status) ? `${text}; ${statusAdvice[status]}` : text;
}
