/**
 * What lets librdmacm's sockets for datagrams run on RoCE: the address handle that they make for themselves has no GRH, which kernels refuse
 * there (protocol/rsockets.md 5.5). A library that is loaded before it gives them one, with the adapter's own address.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
struct route { uint8_t dgid[16]; uint32_t flow_label; uint8_t sgid_index, hop_limit, traffic_class, unused; };
struct attr { struct route grh; uint16_t dlid; uint8_t sl, path_bits, static_rate, is_global, port_num; };
struct pd { void *context; };

void *ibv_create_ah(struct pd *pd, const struct attr *asked)
{
  void *(*create)(struct pd *, const struct attr *) = dlvsym(RTLD_NEXT, "ibv_create_ah", "IBVERBS_1.1");
  int (*query_gid)(void *, uint8_t, int, void *) = dlvsym(RTLD_NEXT, "ibv_query_gid", "IBVERBS_1.1");
  struct attr attr = *asked;
  if (!attr.is_global) {
    attr.is_global = 1;
    attr.grh.hop_limit = 64;
    query_gid(pd->context, 1, 0, attr.grh.dgid);
  }
  return create(pd, &attr);
}
`;

/** Why that library cannot be made here, or false. */
export const withoutCompiler: string | false =
  spawnSync('cc', ['--version']).status === 0 ? false : 'there is no C compiler here';

/** Makes it in a folder. @returns its path */
export function grhLibrary(folder: string): string {
  const [source, library] = [join(folder, 'grh.c'), join(folder, 'grh.so')];
  writeFileSync(source, SOURCE);
  const { status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the library does not compile: ${stderr}`);
  return library;
}
