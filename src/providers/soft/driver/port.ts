import { type Gid, GidType, type PortAttr } from '../../../device/ibta/index.js';
import { DEFAULT_LIMITS, type PortStatus } from '../../../device/nic/index.js';
import { type GidEntry, invalid, refuse, VerbsError } from '../../../api/verbs/index.js';
import { activeMtu } from '../../../device/adapter/index.js';
import type { ContextBase } from './context-base.js';
import { PORT_NUM, PORT_SPEED, portAttr } from './device-facts.js';

/** What programs can ask of the port. Its tables may change at any time, so the NIC is asked each time. */
export class SoftPort {
  constructor(private readonly context: ContextBase) {}

  attributes(portNum: number): PortAttr {
    const status = this.#status('ibv_query_port', portNum);
    return portAttr(activeMtu(this.context.adapter.maxPacketBytes), DEFAULT_LIMITS, status);
  }

  speed(portNum: number): number {
    this.check('ibv_query_port_speed', portNum);
    return PORT_SPEED;
  }

  gidEntry(call: string, portNum: number, index: number): GidEntry {
    const { gids } = this.#status(call, portNum);
    const advice = `The table has ${gids.length} entries; queryGidTable lists those that are not empty`;
    if (!Number.isInteger(index) || index < 0 || index >= gids.length)
      refuse(call, invalid(`there is no GID index ${String(index)}`, advice));
    const gid = gids[index];
    if (gid === undefined)
      throw new VerbsError(call, { errno: 'ENODATA', message: `GID index ${index} is empty`, advice });
    return entry(gid, index);
  }

  gidTable(call: string, portNum: number): readonly GidEntry[] {
    const { gids } = this.#status(call, portNum);
    return gids.flatMap((gid, index) => (gid === undefined ? [] : [entry(gid, index)]));
  }

  pkey(portNum: number, index: number): number {
    const { pkeys } = this.#status('ibv_query_pkey', portNum);
    if (!Number.isInteger(index) || index < 0 || index >= pkeys.length)
      refuse(
        'ibv_query_pkey',
        invalid(`P_Key index ${String(index)} is empty`, `The table has ${pkeys.length} entries, from index 0 on`),
      );
    return pkeys[index];
  }

  pkeyIndex(portNum: number, pkey: number): number {
    const { pkeys } = this.#status('ibv_get_pkey_index', portNum);
    const index = pkeys.indexOf(pkey);
    if (index < 0)
      refuse(
        'ibv_get_pkey_index',
        invalid(
          `P_Key ${String(pkey)} is not in the table`,
          `It holds ${pkeys.map((own) => `0x${own.toString(16)}`).join(', ')}`,
        ),
      );
    return index;
  }

  /** @throws VerbsError EINVAL when there is no such port */
  check(call: string, portNum: number): void {
    this.context.requireAlive(call);
    if (portNum !== PORT_NUM)
      refuse(call, invalid(`there is no port ${String(portNum)}`, `This device has port ${PORT_NUM}`));
  }

  #status(call: string, portNum: number): PortStatus {
    this.check(call, portNum);
    return this.context.command(call, 'queryPort', undefined);
  }
}

function entry(gid: Gid, gidIndex: number): GidEntry {
  return { gid: Uint8Array.from(gid), gidIndex, portNum: PORT_NUM, gidType: GidType.ROCE_V2 };
}
