import { Command } from 'commander';
import { alloc, type CmId, createEp, getAddrInfo, PortSpace, SendFlags } from '../../../entry/index.js';
import { addressOf } from '../common/addresses.js';
import { cmDevices } from '../common/hosting.js';
import { tool } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import { tellListening } from '../../kit/listening.js';
import { type OneMessageFlags, withOneMessageFlags } from './flags.js';
import { CAP, MESSAGE, MESSAGE_BYTES, patiently, untilReceived, untilSent } from './message.js';
import { playOut } from './play.js';

/** Takes a message, and sends one back. */
async function answer(id: CmId): Promise<void> {
  const received = id.regMsgs(alloc(MESSAGE_BYTES));
  // Before the connection is there, since the peer sends at once.
  id.postRecv(0, received.sge());
  id.accept();
  endOnInterrupt(() => id.destroyEp());
  await untilReceived(id);
  id.postSend(0, MESSAGE, SendFlags.INLINE);
  await untilSent(id);
  id.disconnect();
  received.dereg();
}

async function serve(flags: OneMessageFlags, begun: () => void): Promise<void> {
  const address = await addressOf(flags.s);
  const [info] = await getAddrInfo(address, flags.p, { passive: true, portSpace: PortSpace.TCP });
  const listenId = createEp(info, undefined, { cap: CAP, sqSigAll: true }, cmDevices(flags));
  try {
    listenId.listen();
    tellListening(listenId.localAddr, address, flags);
    begun();
    const id = await patiently((timeoutMs) => listenId.getRequest(timeoutMs));
    try {
      await answer(id);
    } finally {
      id.destroyEp();
    }
  } finally {
    listenId.destroyEp();
  }
}

export function command(): Command {
  const base = new Command('rdma_server').description(
    'Wait for rdma_client to connect by rdma_cm, take a message, and send one back; speaks with the C tool of that name.',
  );
  return withOneMessageFlags(base, {
    what: 'name or address to listen at; 0.0.0.0 is any',
    preset: '0.0.0.0',
  })
    .addHelpText(
      'after',
      `
Two shells, one machine:
  verbena rdma_server
  verbena rdma_client

For clients on other hosts, at this host's address (here 192.0.2.7):
  verbena rdma_server -s 192.0.2.7`,
    )
    .action(tool((flags: OneMessageFlags) => playOut('rdma_server', (begun) => serve(flags, begun))));
}
