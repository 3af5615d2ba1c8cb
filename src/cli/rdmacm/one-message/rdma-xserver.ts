import { Command } from 'commander';
import { alloc, type CmId, createEp, getAddrInfo, QpType } from '../../../entry/index.js';
import { cmDevices } from '../common/hosting.js';
import { tool } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import { tellListening } from '../../kit/listening.js';
import { type Communication, communicationOption, type OneMessageFlags, withOneMessageFlags } from './flags.js';
import { CAP, MESSAGE_BYTES, patiently, untilReceived } from './message.js';
import { playOut } from './play.js';

interface XserverFlags extends Omit<OneMessageFlags, 's'> {
  readonly c: Communication;
}

const SRQN_BYTES = 4;

/** What the client is told when it is accepted: the number of the shared receive queue, 0 when there is none. */
function privateData(id: CmId): Uint8Array {
  const bytes = new Uint8Array(SRQN_BYTES);
  new DataView(bytes.buffer).setUint32(0, id.srq?.srqNum ?? 0);
  return bytes;
}

/** Takes a message. */
async function take(id: CmId): Promise<void> {
  if (id.qpType === QpType.XRC_RECV) id.createSrq(undefined, { maxWr: 1, maxSge: 1 });
  const received = id.regMsgs(alloc(MESSAGE_BYTES));
  id.postRecv(0, received.sge());
  id.accept({ privateData: privateData(id) });
  endOnInterrupt(() => id.destroyEp());
  await untilReceived(id);
  id.disconnect();
  received.dereg();
}

async function serve(flags: XserverFlags, begun: () => void): Promise<void> {
  const { portSpace, passive: qpType } = flags.c;
  const [info] = await getAddrInfo(undefined, flags.p, { passive: true, portSpace, qpType });
  const listenId = createEp(info, undefined, { cap: CAP }, cmDevices(flags));
  try {
    listenId.listen();
    tellListening(listenId.localAddr, undefined, flags);
    begun();
    const id = await patiently((timeoutMs) => listenId.getRequest(timeoutMs));
    try {
      await take(id);
    } finally {
      id.destroyEp();
    }
  } finally {
    listenId.destroyEp();
  }
}

export function command(): Command {
  const base = new Command('rdma_xserver').description(
    'Wait for rdma_xclient to connect by rdma_cm over RC or XRC, and take its message; speaks with the C tool of that name.',
  );
  return withOneMessageFlags(base)
    .addOption(communicationOption())
    .addHelpText(
      'after',
      `
Two shells, one machine:
  verbena rdma_xserver -c x
  verbena rdma_xclient -c x

For clients on other hosts, at this host's address (here 192.0.2.7):
  verbena rdma_xserver --addr 192.0.2.7`,
    )
    .action(tool((flags: XserverFlags) => playOut('rdma_xserver', (begun) => serve(flags, begun))));
}
