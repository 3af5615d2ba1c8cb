import { Command } from 'commander';
import { type CmId, createEp, getAddrInfo, QpType, SendFlags, WrOpcode } from '../../../entry/index.js';
import { addressOf } from '../common/addresses.js';
import { cmDevices } from '../common/hosting.js';
import { tool, ToolError } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import {
  type Communication,
  communicationOption,
  LOOPBACK,
  type OneMessageFlags,
  withOneMessageFlags,
} from './flags.js';
import { CAP, MESSAGE, untilSent } from './message.js';
import { playOut } from './play.js';

interface XclientFlags extends OneMessageFlags {
  readonly c: Communication;
}

const SRQN_BYTES = 4;

/** Sends the message, over XRC to the shared receive queue that the server named when it accepted. */
function send(id: CmId): void {
  if (id.qpType !== QpType.XRC_SEND) {
    id.postSend(0, MESSAGE, SendFlags.INLINE);
    return;
  }
  const told = id.event?.param.conn?.privateData ?? new Uint8Array(0);
  if (told.length < SRQN_BYTES) throw new ToolError('The server did not say which shared receive queue it has.');
  const remoteSrqn = new DataView(told.buffer, told.byteOffset).getUint32(0);
  id.qp?.postSend({
    wrId: 0,
    opcode: WrOpcode.SEND,
    sendFlags: SendFlags.INLINE,
    sgList: [MESSAGE],
    xrc: { remoteSrqn },
  });
}

async function exchange(flags: XclientFlags, begun: () => void): Promise<void> {
  const { portSpace, active: qpType } = flags.c;
  const [info] = await getAddrInfo(await addressOf(flags.s), flags.p, { portSpace, qpType });
  // A queue pair that only sends has nothing to receive with.
  const cap = qpType === QpType.XRC_SEND ? { ...CAP, maxRecvWr: 0, maxRecvSge: 0 } : CAP;
  const id = createEp(info, undefined, { cap, sqSigAll: true }, cmDevices(flags));
  try {
    begun();
    id.connect();
    // Earlier there is no peer to take leave of, and a call that blocks would keep Ctrl-C waiting.
    endOnInterrupt(() => id.destroyEp());
    send(id);
    await untilSent(id);
    id.disconnect();
  } finally {
    id.destroyEp();
  }
}

export function command(): Command {
  const base = new Command('rdma_xclient').description(
    'Connect to rdma_xserver by rdma_cm over RC or XRC, and send it a message; speaks with the C tool of that name.',
  );
  return withOneMessageFlags(base, { what: 'name or address of the server', preset: LOOPBACK })
    .addOption(communicationOption())
    .addHelpText(
      'after',
      `
Two shells, one machine:
  verbena rdma_xserver -c x
  verbena rdma_xclient -c x`,
    )
    .action(tool((flags: XclientFlags) => playOut('rdma_xclient', (begun) => exchange(flags, begun))));
}
