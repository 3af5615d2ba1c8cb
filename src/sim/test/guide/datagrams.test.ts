import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessFlags, alloc, QpState, QpType, WrOpcode } from 'verbena';
import { type SimHost, simulate } from 'verbena/sim';

const QKEY = 0x11111111;
const SLOT_BYTES = 40 + 8;
const COUNT = 20;

/** A UD queue pair of a host, ready to send and to receive. */
function datagramQp({ context }: SimHost) {
  const pd = context.allocPd();
  const cq = context.createCq({ cqe: 2 * COUNT });
  const cap = { maxSendWr: COUNT, maxRecvWr: COUNT, maxSendSge: 1, maxRecvSge: 1 };
  const qp = pd.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq, cap });
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: QKEY });
  qp.modify({ qpState: QpState.RTR });
  qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
  return { pd, cq, qp };
}

test('datagrams overtake each other, and lost ones are not repeated', () =>
  simulate({ conditions: { reordering: 0.3, loss: 0.1 } }, async (sim) => {
    const [server, client] = [sim.host('server'), sim.host('client')];
    const [to, from] = [datagramQp(server), datagramQp(client)];
    const slots = to.pd.regMr(alloc(COUNT * SLOT_BYTES), AccessFlags.LOCAL_WRITE);
    for (let i = 0; i < COUNT; i += 1) to.qp.postRecv({ sgList: [slots.sge(i * SLOT_BYTES, SLOT_BYTES)] });

    const ah = from.pd.createAh({ grh: { dgid: server.context.queryGid(1, 0) } });
    const ud = { ah, remoteQpn: to.qp.qpNum, remoteQkey: QKEY };
    for (let immData = 0; immData < COUNT; immData += 1)
      from.qp.postSend({ opcode: WrOpcode.SEND_WITH_IMM, immData, sgList: [], ud });
    await sim.sleep(1000);

    const arrived = to.cq.poll(COUNT).map(({ immData }) => immData);
    const inOrder = arrived.toSorted((a, b) => a - b);
    assert.notDeepEqual(arrived, inOrder);
    const lost = sim.packets({ where: ({ fate }) => fate.includes('lost') });
    assert.equal(arrived.length, COUNT - lost.length);
    assert.equal(sim.packets({ opcode: 'UD_SEND_ONLY_IMM' }).length, COUNT);
  }));
