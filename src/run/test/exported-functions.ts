/** The functions that libibverbs and librdmacm export, and which of them a program of the tests need not call. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const FOLDERS = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib'];
const LIBRARIES = ['libibverbs.so.1', 'librdmacm.so.1'];
/** The newest versions of symbols that the program knows: those of rdma-core 44. */
const KNOWN = { IBVERBS: [1, 14], RDMACM: [1, 3] } as const;

/** Functions that no program calls, or whose calls never come to a device, and why. */
export const NOT_CALLED: Readonly<Record<string, string>> = {
  ibv_register_driver: 'providers call it',
  ibv_reg_mr_iova2: 'ibv_reg_mr is a macro that becomes it',
  ibv_copy_ah_attr_from_kern: 'no header declares its structure; rdma_init_qp_attr and events call it',
  ibv_copy_path_rec_from_kern: 'no header declares its structure; rdma_query_route calls it',
  ibv_copy_path_rec_to_kern: 'no header declares its structure',
  ibv_copy_qp_attr_from_kern: 'no header declares its structure; rdma_init_qp_attr calls it',
  _ibv_query_gid_ex: 'ibv_query_gid_ex is an inline function that calls it',
  _ibv_query_gid_table: 'ibv_query_gid_table is an inline function that calls it',
  ibv_unimport_dm: 'nothing can be imported: the provider has no import',
  ibv_unimport_mr: 'nothing can be imported: the provider has no import',
  ibv_unimport_pd: 'nothing can be imported: the provider has no import',
};

/** Names of exported functions; undefined where there is no `nm` or no such library. */
export function exportedFunctions(): readonly string[] | undefined {
  const names: string[] = [];
  for (const library of LIBRARIES) {
    const path = FOLDERS.map((folder) => `${folder}/${library}`).find((file) => existsSync(file));
    if (path === undefined) return undefined;
    const { status, stdout } = spawnSync('nm', ['-D', '--defined-only', '--with-symbol-versions', path], {
      encoding: 'utf8',
    });
    if (status !== 0) return undefined;
    // What has the version of providers' private symbols is for providers.
    for (const [, name, family, major, minor] of stdout.matchAll(/ T (\w+)@@?(IBVERBS|RDMACM)_(\d+)\.(\d+)$/gm)) {
      const known = family === 'IBVERBS' ? KNOWN.IBVERBS : KNOWN.RDMACM;
      if (Number(major) === known[0] && Number(minor) <= known[1]) names.push(name);
    }
  }
  return [...new Set(names)];
}
