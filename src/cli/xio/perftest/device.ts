import {
  CmEventType,
  type Context,
  createEventChannel,
  createId,
  openDevice,
  PortSpace,
} from '../../../entry/index.js';
import { adviceOn } from '../../rdmacm/common/event-text.js';
import { cmDevices } from '../../rdmacm/common/hosting.js';
import { attempt, ToolError } from '../../kit/errors.js';
import { openOptions } from '../../kit/options.js';
import type { XioPerfFlags } from './flags.js';

const RESOLVE_MS = 2000;

/** Threads share a NIC that has one of its own. @throws ToolError when it is to be inline */
function inThread(flags: XioPerfFlags): XioPerfFlags {
  const host = flags.host ?? process.env['VERBENA_HOST'];
  if (host === 'inline')
    throw new ToolError(
      'Threads share a NIC that runs in a thread of its own, not one that is inline: leave that out.',
    );
  return { ...flags, host: 'thread' };
}

export async function deviceToward(host: string, flags: XioPerfFlags): Promise<Context> {
  const channel = createEventChannel(cmDevices(inThread(flags)));
  const id = createId(channel, PortSpace.TCP);
  try {
    attempt("Couldn't find the way to the server", () =>
      id.resolveAddr({ host, port: flags.p }, { timeoutMs: RESOLVE_MS }),
    );
    const { value: event } = await channel[Symbol.asyncIterator]().next();
    if (event === undefined) throw new ToolError('The device is gone.');
    event.ack();
    const { verbs } = id;
    if (event.event === CmEventType.ADDR_RESOLVED && verbs !== undefined) return verbs;
    throw new ToolError(`Couldn't find the way to the server. ${adviceOn(event)}`);
  } finally {
    id.destroy();
    channel.destroy();
  }
}

export function deviceForThreads(flags: XioPerfFlags): Context {
  return attempt("Couldn't open the device", () => openDevice(openOptions(inThread(flags))));
}
