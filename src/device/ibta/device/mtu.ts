/** The values of `enum ibv_mtu`. */
export const Mtu = { MTU_256: 1, MTU_512: 2, MTU_1024: 3, MTU_2048: 4, MTU_4096: 5 } as const;
export type Mtu = (typeof Mtu)[keyof typeof Mtu];

/** The number of payload bytes that a packet may carry: 256 to 4096. */
export function mtuBytes(mtu: Mtu): number {
  return 128 << mtu;
}

/** The largest MTU whose payload fits in `bytes`, or undefined below 256. */
export function mtuFromBytes(bytes: number): Mtu | undefined {
  if (bytes >= 4096) return Mtu.MTU_4096;
  if (bytes >= 2048) return Mtu.MTU_2048;
  if (bytes >= 1024) return Mtu.MTU_1024;
  if (bytes >= 512) return Mtu.MTU_512;
  if (bytes >= 256) return Mtu.MTU_256;
  return undefined;
}
