import { Command } from 'commander';
import { alloc, createEp, getAddrInfo, PortSpace, SendFlags } from '../../../entry/index.js';
import { addressOf } from '../common/addresses.js';
import { cmDevices } from '../common/hosting.js';
import { tool } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import { LOOPBACK, type OneMessageFlags, withOneMessageFlags } from './flags.js';
import { CAP, MESSAGE, MESSAGE_BYTES, untilReceived, untilSent } from './message.js';
import { playOut } from './play.js';

/** Sends a message, and gets one back. */
async function exchange(flags: OneMessageFlags, begun: () => void): Promise<void> {
  const [info] = await getAddrInfo(await addressOf(flags.s), flags.p, { portSpace: PortSpace.TCP });
  const id = createEp(info, undefined, { cap: CAP, sqSigAll: true }, cmDevices(flags));
  try {
    const received = id.regMsgs(alloc(MESSAGE_BYTES));
    // Before the connection is there, since the peer answers at once.
    id.postRecv(0, received.sge());
    begun();
    id.connect();
    // Earlier there is no peer to take leave of, and a call that blocks would keep Ctrl-C waiting.
    endOnInterrupt(() => id.destroyEp());
    id.postSend(0, MESSAGE, SendFlags.INLINE);
    await untilSent(id);
    await untilReceived(id);
    id.disconnect();
    received.dereg();
  } finally {
    id.destroyEp();
  }
}

export function command(): Command {
  const base = new Command('rdma_client').description(
    'Connect to rdma_server by rdma_cm, send a message, and get one back; speaks with the C tool of that name.',
  );
  return withOneMessageFlags(base, { what: 'name or address of the server', preset: LOOPBACK })
    .addHelpText(
      'after',
      `
Two shells, one machine:
  verbena rdma_server
  verbena rdma_client

With a host that runs Soft-RoCE and rdma_server (here its address is 192.0.2.7):
  verbena rdma_client -s 192.0.2.7`,
    )
    .action(tool((flags: OneMessageFlags) => playOut('rdma_client', (begun) => exchange(flags, begun))));
}
