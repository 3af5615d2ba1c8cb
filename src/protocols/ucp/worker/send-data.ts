import type { WaitOptions } from '../../core/index.js';
import { packed, UcpTyped } from './datatype.js';
import type { EndpointParts } from './endpoint-parts.js';
import { gathered, type UcpData } from './pieces.js';
import { sendError } from './posted-send.js';

/**
 * The bytes that a program wants to send, in one piece: a copy, unless they are in one already.
 *
 * @param what of which `checkPieces` has nothing to say
 * @throws as `packed`; and as the call does before, where the program has ended the endpoint, or given up, while it packed
 */
export function bytesToSend(
  call: string,
  parts: EndpointParts,
  what: UcpData,
  options: WaitOptions | undefined,
): Uint8Array {
  if (!(what instanceof UcpTyped)) return gathered(what);
  const data = packed(call, what);
  options?.signal?.throwIfAborted();
  if (parts.failure !== undefined) throw sendError(parts, call, parts.failure);
  return data;
}
