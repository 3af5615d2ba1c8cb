/**
 * A host of its own: `group-member HOSTING ADDRESS GROUP COUNT` hears a multicast group, says `ready`, and prints a line of
 * JSON for each of COUNT datagrams.
 */
import { gidFromIp, type HostKind, openDevice, WcStatus } from '../../../../entry/index.js';
import { makeBench, makeUd } from '../../../../providers/soft/test/support/queue-pairs.js';

const GRH_BYTES = 40;
const SLOT_BYTES = 512;

const [hosting, address, group, count] = process.argv.slice(2);
// Said by the test that starts it.
const context = openDevice({ host: hosting as HostKind, address });
const bench = makeBench(context);
const qp = makeUd(bench);
qp.attachMcast(gidFromIp(group));
for (let i = 0; i < Number(count); i += 1) qp.postRecv({ wrId: i, sgList: [bench.mr.sge(SLOT_BYTES * i, SLOT_BYTES)] });
console.log('ready');
for (let seen = 0; seen < Number(count);) {
  for (const { status, wrId, byteLen, srcQp } of bench.cq.poll()) {
    const at = SLOT_BYTES * Number(wrId) + GRH_BYTES;
    const text = Buffer.from(bench.mr.bytes.subarray(at, at + byteLen - GRH_BYTES)).toString();
    console.log(JSON.stringify({ ok: status === WcStatus.SUCCESS, text, srcQp }));
    seen += 1;
  }
}
context.close();
