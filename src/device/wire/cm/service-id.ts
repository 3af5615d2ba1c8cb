/** The service IDs of rdma_cm: a port space and a port within it (protocol.md 4.5). */
import { PortSpace } from '../../ibta/index.js';

const PORT_BITS = 16n;
const MAX_PORT = 0xffff;

/** A service ID in its two parts. */
export interface RdmaService {
  readonly portSpace: PortSpace;
  /** 0 to 65535. */
  readonly port: number;
}

/**
 * The service ID of a port.
 *
 * @throws RangeError when the port has more than 16 bits
 */
export function serviceId(portSpace: PortSpace, port: number): bigint {
  if (!Number.isInteger(port) || port < 0 || port > MAX_PORT) throw new RangeError(`${port} is not a port: 0 to 65535`);
  return (BigInt(portSpace) << PORT_BITS) | BigInt(port);
}

/** The port space and the port of a service ID; `undefined` when it is none of rdma_cm's. */
export function splitServiceId(id: bigint): RdmaService | undefined {
  const portSpace = Object.values(PortSpace).find((known) => BigInt(known) === id >> PORT_BITS);
  return portSpace && { portSpace, port: Number(id) & MAX_PORT };
}
