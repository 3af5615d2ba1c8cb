/** Loaded before a program: makes Node one of before 20.15, or 22.0, whose zlib computes no CRC. */
import { createRequire, syncBuiltinESMExports } from 'node:module';

Reflect.deleteProperty(createRequire(import.meta.url)('node:zlib') as object, 'crc32'); // a module is an object
syncBuiltinESMExports();
