import { Command, InvalidArgumentError, Option } from 'commander';
import {
  alloc,
  type CmId,
  createEp,
  getAddrInfo,
  PortSpace,
  QpType,
  SendFlags,
  WrOpcode,
} from '../../../entry/index.js';
import { tool as asTool, ToolError } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import { tellListening } from '../../kit/listening.js';
import { type HostingOptions, wholeNumber, withHosting } from '../../kit/options.js';
import { addressOf } from '../../kit/addresses.js';
import { cmDevices } from '../common/hosting.js';
import { CAP, MESSAGE, MESSAGE_BYTES, patiently, playOut, untilReceived, untilSent } from './message.js';

interface OneMessageFlags extends HostingOptions {
  readonly s?: string;
  readonly p: number;
  readonly c?: Communication;
}

const PORT = 7471;
const SRQN_BYTES = 4;

interface Communication {
  readonly portSpace: PortSpace;
  readonly active: QpType;
  readonly passive: QpType;
}

const RC: Communication = { portSpace: PortSpace.TCP, active: QpType.RC, passive: QpType.RC };
const XRC: Communication = { portSpace: PortSpace.IB, active: QpType.XRC_SEND, passive: QpType.XRC_RECV };

function communication(text: string): Communication {
  const kind = text.charAt(0).toLowerCase();
  if (kind === 'r') return RC;
  if (kind === 'x') return XRC;
  throw new InvalidArgumentError('It is r (RC) or x (XRC).');
}

interface OneMessageTool {
  readonly description: string;
  /** What -s is: a tool without a preset has no -s. */
  readonly address?: { readonly what: string; readonly preset: string };
  readonly isServer?: true;
  /** Whether -c chooses what the connection is made of. */
  readonly hasType?: true;
  readonly examples: string;
  /** What it does with an endpoint. `join` connects or accepts, after what must be there before the peer sends. */
  readonly play: (id: CmId, join: (privateData?: Uint8Array) => void) => Promise<void>;
}

/** Posts the receive request for the peer's message. @returns its memory */
function expectMessage(id: CmId) {
  const memory = id.regMsgs(alloc(MESSAGE_BYTES));
  id.postRecv(0, memory.sge());
  return memory;
}

/** Sends the message, over XRC to the shared receive queue that the server named when it accepted. */
function send(id: CmId): void {
  if (id.qpType !== QpType.XRC_SEND) {
    id.postSend(0, MESSAGE, SendFlags.INLINE);
    return;
  }
  const told = id.event?.param.conn?.privateData ?? new Uint8Array(0);
  if (told.length < SRQN_BYTES) throw new ToolError('The server did not say which shared receive queue it has.');
  const remoteSrqn = new DataView(told.buffer, told.byteOffset).getUint32(0);
  const request = { wrId: 0, opcode: WrOpcode.SEND, sendFlags: SendFlags.INLINE, sgList: [MESSAGE] } as const;
  id.qp?.postSend({ ...request, xrc: { remoteSrqn } });
}

/** What a client is told when it is accepted: the number of the shared receive queue, 0 when there is none. */
function queueNumber(id: CmId): Uint8Array {
  const bytes = new Uint8Array(SRQN_BYTES);
  new DataView(bytes.buffer).setUint32(0, id.srq?.srqNum ?? 0);
  return bytes;
}

const AT_SERVER = { what: 'name or address of the server', preset: '127.0.0.1' };
const ONE_MACHINE = `
Two shells, one machine:
  verbena rdma_server
  verbena rdma_client`;
const ONE_MACHINE_XRC = `
Two shells, one machine:
  verbena rdma_xserver -c x
  verbena rdma_xclient -c x`;

const TOOLS = {
  rdma_client: {
    description:
      'Connect to rdma_server by rdma_cm, send a message, and get one back; speaks with the C tool of that name.',
    address: AT_SERVER,
    examples: `${ONE_MACHINE}

With a host that runs Soft-RoCE and rdma_server (here its address is 192.0.2.7):
  verbena rdma_client -s 192.0.2.7`,
    play: async (id, join) => {
      // Before the connection is there, since the peer answers at once.
      const received = expectMessage(id);
      join();
      send(id);
      await untilSent(id);
      await untilReceived(id);
      id.disconnect();
      received.dereg();
    },
  },
  rdma_server: {
    description:
      'Wait for rdma_client to connect by rdma_cm, take a message, and send one back; speaks with the C tool of that name.',
    address: { what: 'name or address to listen at; 0.0.0.0 is any', preset: '0.0.0.0' },
    isServer: true,
    examples: `${ONE_MACHINE}

For clients on other hosts, at this host's address (here 192.0.2.7):
  verbena rdma_server -s 192.0.2.7`,
    play: async (id, join) => {
      const received = expectMessage(id);
      join();
      await untilReceived(id);
      send(id);
      await untilSent(id);
      id.disconnect();
      received.dereg();
    },
  },
  rdma_xclient: {
    description:
      'Connect to rdma_xserver by rdma_cm over RC or XRC, and send it a message; speaks with the C tool of that name.',
    address: AT_SERVER,
    hasType: true,
    examples: ONE_MACHINE_XRC,
    play: async (id, join) => {
      join();
      send(id);
      await untilSent(id);
      id.disconnect();
    },
  },
  rdma_xserver: {
    description:
      'Wait for rdma_xclient to connect by rdma_cm over RC or XRC, and take its message; speaks with the C tool of that name.',
    isServer: true,
    hasType: true,
    examples: `${ONE_MACHINE_XRC}

For clients on other hosts, at this host's address (here 192.0.2.7):
  verbena rdma_xserver --addr 192.0.2.7`,
    play: async (id, join) => {
      if (id.qpType === QpType.XRC_RECV) id.createSrq(undefined, { maxWr: 1, maxSge: 1 });
      const received = expectMessage(id);
      join(queueNumber(id));
      await untilReceived(id);
      id.disconnect();
      received.dereg();
    },
  },
} as const satisfies Readonly<Record<string, OneMessageTool>>;

async function connect({ play }: OneMessageTool, flags: OneMessageFlags, begun: () => void): Promise<void> {
  const { s: server = AT_SERVER.preset, p: port, c: { portSpace, active: qpType } = RC } = flags;
  const [info] = await getAddrInfo(await addressOf(server), port, { portSpace, qpType });
  // A queue pair that only sends has nothing to receive with.
  const cap = qpType === QpType.XRC_SEND ? { ...CAP, maxRecvWr: 0, maxRecvSge: 0 } : CAP;
  const id = createEp(info, undefined, { cap, sqSigAll: true }, cmDevices(flags));
  try {
    await play(id, () => {
      begun();
      id.connect();
      // Earlier there is no peer to disconnect from, and a call that blocks would keep Ctrl-C waiting.
      endOnInterrupt(() => id.destroyEp());
    });
  } finally {
    id.destroyEp();
  }
}

async function serve({ play }: OneMessageTool, flags: OneMessageFlags, begun: () => void): Promise<void> {
  const { s, p: port, c: { portSpace, passive: qpType } = RC } = flags;
  const address = s === undefined ? undefined : await addressOf(s);
  const [info] = await getAddrInfo(address, port, { passive: true, portSpace, qpType });
  const listenId = createEp(info, undefined, { cap: CAP, sqSigAll: true }, cmDevices(flags));
  try {
    listenId.listen();
    tellListening(listenId.localAddr, address, flags);
    begun();
    const id = await patiently((timeoutMs) => listenId.getRequest(timeoutMs));
    try {
      await play(id, (privateData) => {
        id.accept(privateData === undefined ? {} : { privateData });
        endOnInterrupt(() => id.destroyEp());
      });
    } finally {
      id.destroyEp();
    }
  } finally {
    listenId.destroyEp();
  }
}

export function oneMessageCommand(name: keyof typeof TOOLS): Command {
  const tool: OneMessageTool = TOOLS[name];
  const { description, address, isServer, hasType, examples } = tool;
  const command = new Command(name).description(description);
  if (address !== undefined) command.option('-s <address>', address.what, address.preset);
  command.addOption(new Option('-p <port>', 'port of the server').argParser(wholeNumber(1, 65535)).default(PORT));
  withHosting(command, 'the one that the other addresses call for, else VERBENA_ADDR, or a free loopback address');
  if (hasType === true) {
    const what = 'r: reliable connection (RC); x: extended reliable connection (XRC)';
    command.addOption(new Option('-c <type>', what).argParser(communication).default(RC, 'r'));
  }
  const run = isServer === true ? serve : connect;
  return command
    .addHelpText('after', examples)
    .action(asTool((flags: OneMessageFlags) => playOut(name, (begun) => run(tool, flags, begun))));
}
