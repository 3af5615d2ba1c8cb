import {
  alloc,
  type CmId,
  connect,
  type Connection,
  listen,
  type Mr,
  SendFlags,
  type Sge,
  WcStatus,
} from '../../../src/entry/index.js';
import type { Messenger, Talker } from './messenger.js';

/** The longest message, and how many of each direction there are at a time. */
const MESSAGE_BYTES = 4096;
const DEPTH = 128;

/** The calls of rdma_cm and the verbs, awaited: what a program writes for itself that uses nothing above them. */
class RawTalker implements Talker {
  #sends = 0;

  constructor(
    private readonly connection: Connection,
    private readonly memory: Mr,
  ) {}

  static register(id: CmId): Mr {
    const memory = id.regMsgs(alloc((DEPTH + 1) * MESSAGE_BYTES));
    for (let wrId = 0; wrId < DEPTH; wrId += 1) id.postRecv(wrId, RawTalker.place(memory, wrId));
    return memory;
  }

  /** Where a message arrives; what is sent lies before them. */
  static place(memory: Mr, wrId: number): Sge {
    return memory.sge((wrId + 1) * MESSAGE_BYTES, MESSAGE_BYTES);
  }

  static readonly cap = { maxSendWr: DEPTH, maxRecvWr: DEPTH, maxInlineData: 64 };

  async send(message: Uint8Array): Promise<void> {
    const { connection, memory } = this;
    memory.bytes.set(message);
    this.#sends += 1;
    connection.postSend(this.#sends, memory.sge(0, message.length), SendFlags.SIGNALED);
    const completion = await connection.sendComp();
    if (completion.status !== WcStatus.SUCCESS) throw new Error(connection.qp.context.explain(completion));
  }

  async receive(): Promise<number> {
    const { connection, memory } = this;
    const completion = await connection.recvComp();
    if (completion.status !== WcStatus.SUCCESS) throw new Error(connection.qp.context.explain(completion));
    connection.postRecv(completion.wrId, RawTalker.place(memory, Number(completion.wrId)));
    return completion.byteLen;
  }
}

function prepared(memory: Mr | undefined): Mr {
  if (memory === undefined) throw new Error('nothing was prepared');
  return memory;
}

export const raw: Messenger = {
  serve: (address, onTalker) => {
    const listener = listen({ host: address });
    void listener.serve(async (request) => {
      let memory: Mr | undefined;
      const prepare = (id: CmId): void => void (memory = RawTalker.register(id));
      const connection = await request.accept({ qp: { cap: RawTalker.cap }, prepare });
      onTalker(new RawTalker(connection, prepared(memory)));
      await connection.closed;
    });
    return Promise.resolve(listener.address.port);
  },
  connect: async (address, port, from) => {
    let memory: Mr | undefined;
    const prepare = (id: CmId): void => void (memory = RawTalker.register(id));
    const connection = await connect({ host: address, port, localAddress: from, qp: { cap: RawTalker.cap }, prepare });
    return new RawTalker(connection, prepared(memory));
  },
};
