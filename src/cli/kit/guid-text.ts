/** A GUID as `ibv_devinfo` and `rdma` write it: `5054:00ff:fe12:3456`. */
export function guidText(guid: bigint): string {
  const digits = guid.toString(16).padStart(16, '0');
  return [0, 4, 8, 12].map((at) => digits.slice(at, at + 4)).join(':');
}
