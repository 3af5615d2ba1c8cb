import { type Context, linkLayerStr, mtuBytes, portStateStr, transportTypeStr } from '../../../entry/index.js';
import { gidText, guidText } from '../../kit/addresses.js';

/** What JSON has no form for: numbers of 64 bits, in hex. */
function plain(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `0x${value.toString(16)}` : value;
}

function portFacts(context: Context, portNum: number, verbose: boolean): object {
  const port = context.queryPort(portNum);
  const { lid, smLid, lmc, linkLayer } = port;
  return {
    port: portNum,
    state: portStateStr(port.state),
    maxMtu: mtuBytes(port.maxMtu),
    activeMtu: mtuBytes(port.activeMtu),
    smLid,
    lid,
    lmc,
    linkLayer: linkLayerStr(linkLayer),
    ...(verbose && { attributes: port, speedMbps: context.queryPortSpeed(portNum) * 100 }),
  };
}

/** The facts of `ibv_devinfo --json` for one device; verbose: all attributes as the API has them, and the GIDs. */
export function deviceFacts(context: Context, onlyPort: number | undefined, verbose: boolean): string {
  const { device, address, numCompVectors } = context;
  const attributes = context.queryDeviceEx();
  const { fwVer, nodeGuid, sysImageGuid, vendorId, vendorPartId, hwVer, physPortCnt } = attributes.origAttr;
  const ports = Array.from({ length: physPortCnt }, (_, i) => i + 1).filter((port) => port === (onlyPort ?? port));
  const gids = context.queryGidTable().map(({ gid, ...entry }) => ({ ...entry, gid: gidText(gid) }));
  const facts = {
    device: device.name,
    address,
    transport: transportTypeStr(device.transportType),
    fwVer,
    nodeGuid: guidText(nodeGuid),
    sysImageGuid: guidText(sysImageGuid),
    vendorId,
    vendorPartId,
    hwVer,
    ports: ports.map((portNum) => portFacts(context, portNum, verbose)),
    ...(verbose && { numCompVectors, crc32: context.crc32Source, attributes, gids }),
  };
  return JSON.stringify(facts, plain);
}
