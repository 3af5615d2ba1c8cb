import { formatGid, type Gid, nameOf, PortState } from '../../device/ibta/index.js';
import type { GuestDevice } from '../launcher/guest-devices.js';
import { type DeviceNode, directory, type Node, type Roots, type Sketch } from './tree.js';

/** As the kernel numbers them: `IB_UVERBS_MAJOR`, `IB_UVERBS_BASE_MINOR`. */
const UVERBS_MAJOR = 231;
const UVERBS_MINOR = 192;
const MISC_MAJOR = 10;
const RDMA_CM_MINOR = 60;
/** What libibverbs reads: the newest it knows of the whole, and the one of rxe's part. */
const UVERBS_ABI = '6';
const RXE_ABI = '1';
const RDMA_CM_ABI = '4';

const UVERBS = '/sys/class/infiniband_verbs';
const INFINIBAND = '/sys/class/infiniband';
const RDMA_CM = '/sys/class/misc/rdma_cm';
const DEVICES = '/dev/infiniband';
/** What a host with RDMA of its own has besides: hidden, since we do not answer for it. */
const HIDDEN = ['/sys/class/infiniband_mad', '/sys/class/infiniband_cm'];

function dev({ major, minor }: DeviceNode): string {
  return `${major}:${minor}`;
}

function uverbsNode(index: number): DeviceNode {
  return { kind: 'device', driver: 'uverbs', index, major: UVERBS_MAJOR, minor: UVERBS_MINOR + index };
}

const rdmaCmNode: DeviceNode = {
  kind: 'device',
  driver: 'rdma_cm',
  index: 0,
  major: MISC_MAJOR,
  minor: RDMA_CM_MINOR,
};

function guidText(guid: bigint): string {
  return (guid.toString(16).padStart(16, '0').match(/.{4}/g) ?? []).join(':');
}

/** Eight groups of four digits, none left out. */
function gidText(gid: Gid): string {
  const hex = [...gid].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return (hex.match(/.{4}/g) ?? []).join(':');
}

function stateText(state: number): string {
  return `${state}: ${nameOf(PortState, state)}`;
}

function portSketch({ context, interfaceName }: GuestDevice): Sketch {
  const { gidTblLen } = context.queryPort(1);
  const table = context.queryGidTable();
  const indices = Array.from({ length: gidTblLen }, (_, index) => index);
  const entries = <T>(value: (index: number) => T): Record<string, T> =>
    Object.fromEntries(indices.map((index) => [String(index), value(index)]));
  const known = new Map(table.map((entry) => [entry.gidIndex, entry]));
  const present = (text: string): Sketch => Object.fromEntries([...known.keys()].map((index) => [String(index), text]));
  return {
    gids: entries((index) => gidText(known.get(index)?.gid ?? new Uint8Array(16))),
    gid_attrs: { types: present('RoCE v2'), ndevs: present(interfaceName) },
    pkeys: { 0: '0xffff' },
    state: () => stateText(context.queryPort(1).state),
    phys_state: () => (context.queryPort(1).state === PortState.ACTIVE ? '5: LinkUp' : '3: Disabled'),
    link_layer: 'Ethernet',
    rate: '25 Gb/sec (1X EDR)',
    lid: '0x0',
    lid_mask_count: '0',
    sm_lid: '0x0',
    sm_sl: '0',
    cap_mask: '0x00890000',
    hw_counters: Object.fromEntries(
      Object.keys(context.counters()).map((name) => [name, () => String(context.counters()[name] ?? 0)]),
    ),
  };
}

function infinibandSketch(device: GuestDevice): Sketch {
  const { nodeGuid, sysImageGuid, fwVer } = device.context.queryDevice();
  return {
    node_type: '1: CA',
    node_guid: guidText(nodeGuid),
    sys_image_guid: guidText(sysImageGuid),
    node_desc: `verbena ${formatGid(device.context.queryGid(1, 0))}`,
    fw_ver: fwVer,
    parent: device.interfaceName,
    // Where an adapter has its interface: rdma_cm's users look there for the address to bind to.
    device: { net: { [device.interfaceName]: {} } },
    ports: { 1: portSketch(device) },
  };
}

/** What programs find of the devices under `/sys` and `/dev`. */
export function deviceTree(devices: readonly GuestDevice[]): Roots {
  const uverbs: Sketch = Object.fromEntries(
    devices.map(({ name }, index) => [
      `uverbs${index}`,
      { ibdev: name, dev: dev(uverbsNode(index)), abi_version: RXE_ABI },
    ]),
  );
  return new Map<string, Node>([
    [UVERBS, directory({ abi_version: UVERBS_ABI, ...uverbs })],
    [INFINIBAND, directory(Object.fromEntries(devices.map((device) => [device.name, infinibandSketch(device)])))],
    [
      DEVICES,
      directory({
        ...Object.fromEntries(devices.map((_, index) => [`uverbs${index}`, uverbsNode(index)])),
        rdma_cm: rdmaCmNode,
      }),
    ],
    [RDMA_CM, directory({ abi_version: RDMA_CM_ABI, dev: dev(rdmaCmNode) })],
    ...HIDDEN.map((path) => [path, directory({})] as const),
  ]);
}
