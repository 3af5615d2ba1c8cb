import { PortSpace } from '../../../device/ibta/index.js';

/** Whether queue pairs of a port space exchange datagrams, without a connection. */
export function isDatagram(portSpace: PortSpace): boolean {
  return portSpace === PortSpace.UDP || portSpace === PortSpace.IPOIB;
}
