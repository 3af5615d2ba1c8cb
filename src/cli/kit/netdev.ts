import { BlockList, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

/** The network interface that an address of this machine belongs to; undefined when there is none. */
export function netdevOf(address: string): string | undefined {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  const found = Object.entries(networkInterfaces()).flatMap(([name, infos = []]) =>
    infos.filter((info) => info.family.toLowerCase() === family).map((info) => ({ name, ...info })),
  );
  const exact = found.find((info) => info.address === address);
  if (exact !== undefined) return exact.name;
  // All of 127.0.0.0/8 is the loopback's, though it lists one of them.
  const wide = found.find(({ cidr, internal }) => {
    if (cidr === null || !internal) return false;
    const [base, bits] = cidr.split('/');
    const subnet = new BlockList();
    subnet.addSubnet(base, Number(bits), family);
    return subnet.check(address, family);
  });
  return wide?.name;
}
