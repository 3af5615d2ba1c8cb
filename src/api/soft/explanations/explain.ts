import { WcStatus } from '../../../device/ibta/index.js';
import { type Explainable, explainStatus } from '../../verbs/index.js';
import { templateOf } from './templates.js';

/**
 * What a completion of the software NIC says, in a sentence with the numbers, and what to look at next:
 * `retry count exceeded: 7 transmissions of PSN 0x4a31 to 127.0.0.2 QP 0x12, no answer in 0.47 s; is the peer alive …`.
 * `Context.explain` explains those of any device, since what `vendorErr` and `detail` mean is its maker's affair.
 */
export function explain(wc: Explainable): string {
  const template = wc.status === WcStatus.SUCCESS ? undefined : templateOf(wc.vendorErr);
  if (template === undefined) return explainStatus(wc);
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = wc.detail;
  return template({
    opcode: wc.opcode,
    detail: [a >>> 0, b >>> 0, c >>> 0, d >>> 0, e >>> 0, f >>> 0],
    peer: wc.peer,
  });
}
