/** `/dev/infiniband/rdma_cm`: what librdmacm asks of the kernel, done by our connection manager. */
export { execute, HEADER_BYTES, type Outcome } from './execute.js';
export { Ucma } from './ucma.js';
export type { UcmaFile, UcmaFileParts } from './ucma-file.js';
export { RdmaCmFile } from './rdma-cm-file.js';
