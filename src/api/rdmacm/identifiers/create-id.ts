import { isOneOf, PortSpace, type QpType } from '../../../device/ibta/index.js';
import { type FieldsOf, fieldsProblem, invalid, refuse, show, VerbsError } from '../../verbs/index.js';
import { defaultQpType } from '../addresses/addr-info.js';
import { checkedDevices, choiceFields, type DeviceChoice } from '../addresses/devices.js';
import { devicesOf, queueOf } from '../events/event-channel.js';
import { OwnCmId } from './cm-id.js';
import type { CmId, EventChannel } from '../objects.js';

const CALL = 'rdma_create_id';

/** What `createId` can be asked for. What is not said of devices is as it is in the channel. */
export interface CreateIdOptions extends DeviceChoice {
  /** Anything of the caller's; comes back as `id.context`. */
  readonly context?: unknown;
  /** Default: RC in the port spaces TCP and IB, UD in UDP and IPOIB. XRC_SEND and XRC_RECV need saying. */
  readonly qpType?: QpType;
  /**
   * Milliseconds that a call of a synchronous identifier may take, and of those that come of its requests; then ETIMEDOUT.
   * Whatever was begun goes on. Default: until the connection manager gives up, which may be a minute.
   */
  readonly timeoutMs?: number;
}

const FIELDS: FieldsOf<CreateIdOptions> = { ...choiceFields, context: true, qpType: true, timeoutMs: true };

/**
 * Makes an identifier (`rdma_create_id`).
 *
 * @param channel where its events go. Without one it is synchronous: each call waits for its event, which is then
 *   `id.event`, and throws when that says so
 * @throws VerbsError EINVAL for a port space that does not exist, or a channel that was destroyed
 */
export function createId(channel: EventChannel | undefined, portSpace: PortSpace, options: CreateIdOptions = {}): CmId {
  refuse(CALL, fieldsProblem('options', options, FIELDS));
  if (!isOneOf(PortSpace, portSpace))
    throw new VerbsError(CALL, invalid(`portSpace is ${show(portSpace)}`, 'It is one of PortSpace'));
  if (channel !== undefined) queueOf(channel, CALL);
  const { timeoutMs, context } = options;
  if (timeoutMs !== undefined && (typeof timeoutMs !== 'number' || !(timeoutMs >= 0)))
    throw new VerbsError(CALL, invalid(`timeoutMs is ${show(timeoutMs)}`, 'It is a number of milliseconds'));
  const { contexts, open } = { ...(channel && devicesOf(channel, CALL)), ...options };
  const id = new OwnCmId({
    portSpace,
    qpType: options.qpType ?? defaultQpType(portSpace),
    channel,
    devices: checkedDevices(CALL, { ...(contexts && { contexts }), ...(open && { open }) }),
    timeoutMs,
  });
  id.context = context;
  return id;
}
