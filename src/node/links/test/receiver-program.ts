/**
 * A host of its own: `node receiver-program.js ADDRESS COUNT [GROUP...]` joins the groups, says `ready`, and prints each of
 * COUNT packets as a line of JSON.
 */
import { gidFromIp } from '../../../device/ibta/index.js';
import { UdpLink } from '../index.js';
import { receiveAll, verifiedId } from './udp-helpers.js';

const [address, count, ...groups] = process.argv.slice(2);
const link = UdpLink.open({ address });
for (const group of groups) link.joinGroup(gidFromIp(group));
console.log('ready');
for (const packet of receiveAll(link, Number(count))) {
  const { bytes, source, destination, hopLimit, trafficClass, flowLabel } = packet;
  const ipId = verifiedId(packet);
  console.log(JSON.stringify({ length: bytes.length, source, destination, hopLimit, trafficClass, flowLabel, ipId }));
}
link.close();
