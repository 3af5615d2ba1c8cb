import { CmEventType, Errno, type ErrnoName, type RejectReason } from '../../../device/ibta/index.js';
import { VerbsError, type Problem } from '../../verbs/index.js';
import { cmEventStr, rejectReasonStr } from '../text.js';
import type { CmEvent } from '../objects.js';

/** The peer refused the connection: ECONNREFUSED. */
export class RefusedError extends VerbsError {
  override readonly name = 'RefusedError';
  /** Why. CONSUMER_DEFINED when its program did. */
  readonly reason: RejectReason;
  /** No field, which all that shows errors would show byte by byte. */
  readonly #privateData: Uint8Array;

  constructor(call: string, reason: RejectReason, privateData: Uint8Array, why?: Pick<Problem, 'message' | 'advice'>) {
    const message = `the peer refused the connection: ${rejectReasonStr(reason)}`;
    super(call, { errno: 'ECONNREFUSED', message, advice: '', ...why });
    this.reason = reason;
    this.#privateData = privateData;
  }

  /** What its program said, with zeros at its end. */
  get privateData(): Uint8Array {
    return this.#privateData;
  }
}

const names = new Map<number, ErrnoName>();
// The names are the keys of that very table.
for (const [name, value] of Object.entries(Errno)) names.set(value, name as ErrnoName);

const ADVICE: ReadonlyMap<CmEventType, string> = new Map([
  [CmEventType.UNREACHABLE, 'Is a device up at that address, and does its program listen?'],
  [CmEventType.DEVICE_REMOVAL, 'Make another identifier'],
]);

function sentence(event: CmEvent): string {
  const name = cmEventStr(event.event);
  if (event.event === CmEventType.UNREACHABLE && event.status === -Errno.ETIMEDOUT)
    return `the peer does not answer (${name})`;
  if (event.event === CmEventType.DEVICE_REMOVAL) return `the device is gone (${name})`;
  return `${name} came, status ${event.status}`;
}

/** The error that an event means to a caller of that C name; undefined when it is none. */
export function eventError(call: string, event: CmEvent): VerbsError | undefined {
  const { status } = event;
  if (event.event === CmEventType.REJECTED && event.error === undefined) {
    const { privateData } = event.param.conn ?? event.param.ud ?? { privateData: new Uint8Array(0) };
    // What a peer sends may be any number, and has a text nevertheless.
    return new RefusedError(call, status as RejectReason, privateData);
  }
  // It comes without a status, and nothing good comes after it.
  const isLoss = event.event === CmEventType.DEVICE_REMOVAL;
  if (status === 0 && !isLoss) return undefined;
  if (event.error !== undefined) return event.error;
  const errno = status > 0 ? 'ECONNREFUSED' : isLoss ? 'EIO' : (names.get(-status) ?? 'EIO');
  return new VerbsError(call, { errno, message: sentence(event), advice: ADVICE.get(event.event) ?? '' });
}

/** The same, for a caller that waited for another event than this one. */
export function unexpectedEvent(call: string, event: CmEvent): VerbsError {
  const error = eventError(call, event);
  if (error !== undefined) return error;
  const parted = event.event === CmEventType.DISCONNECTED;
  const message = parted ? 'the peer came and went at once' : `${cmEventStr(event.event)} came`;
  return new VerbsError(call, { errno: parted ? 'ECONNRESET' : 'EIO', message, advice: '' });
}
