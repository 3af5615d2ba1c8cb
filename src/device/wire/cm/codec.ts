/** Messages of the connection manager as objects, and as the datagrams that carry them. */
import {
  MAD_BASE_VERSION,
  MAD_BYTES,
  MAD_HEADER_BYTES,
  MAD_METHOD_SEND,
  MadClass,
  readMadHeader,
  writeMadHeader,
} from '../mad.js';
import { viewOf } from '../bytes.js';
import { cmLayouts, type CmMessageTable } from './layouts.js';
import { CmAttribute, type CmMessage } from './messages.js';

export const CM_CLASS_VERSION = 2;

/**
 * The message in a management datagram of {@link MAD_BYTES}, whatever comes after it. Reserved bits are left out.
 *
 * @returns a copy that shares no memory with `bytes`; `undefined` when there is no message of ours: another class or
 *   version, a method other than Send, an unknown attribute, too few bytes
 */
export function decodeCmMessage(bytes: Uint8Array, offset = 0): CmMessage | undefined {
  if (bytes.length - offset < MAD_BYTES) return undefined;
  const { baseVersion, mgmtClass, classVersion, method, attributeId } = readMadHeader(bytes, offset);
  if (baseVersion !== MAD_BASE_VERSION || mgmtClass !== MadClass.CM || classVersion !== CM_CLASS_VERSION) {
    return undefined;
  }
  const attribute = Object.values(CmAttribute).find((known) => known === attributeId);
  if (method !== MAD_METHOD_SEND || attribute === undefined) return undefined;
  return cmLayouts[attribute].read(viewOf(bytes), offset + MAD_HEADER_BYTES);
}

/** One function for all messages, so that the compiler sees that a message meets its own layout. */
function write<Attribute extends CmAttribute>(
  bytes: Uint8Array,
  attribute: Attribute,
  message: CmMessageTable[Attribute],
): void {
  cmLayouts[attribute].check(message, '');
  cmLayouts[attribute].write(viewOf(bytes), MAD_HEADER_BYTES, message);
}

/**
 * The datagram of {@link MAD_BYTES} that carries a message. Private data and additional information may be shorter than
 * their fields; zeros follow then.
 *
 * @throws RangeError when a value does not fit into its field
 */
export function encodeCmMessage(message: CmMessage): Uint8Array {
  const bytes = new Uint8Array(MAD_BYTES);
  writeMadHeader(bytes, 0, {
    baseVersion: MAD_BASE_VERSION,
    mgmtClass: MadClass.CM,
    classVersion: CM_CLASS_VERSION,
    method: MAD_METHOD_SEND,
    status: 0,
    classSpecific: 0,
    transactionId: message.transactionId,
    attributeId: message.attribute,
    attributeModifier: 0,
  });
  write(bytes, message.attribute, message);
  return bytes;
}
