/**
 * A `libcuda.so.1` whose device is memory of the process, for machines without a GPU. It shows that calls are made as `cuda.h`
 * declares them, in a context, with memory that is there, and that nothing is left; of what a GPU does it shows nothing. What breaks a
 * rule ends the process.
 *
 * Commands of a stream are carried out late: when their event was asked for some times, or is waited for. `FAKE_CUDA_DEVICES` says how many
 * devices there are, and `FAKE_CUDA_FAILS_AT` from which command on all fails with CUDA_ERROR_ILLEGAL_ADDRESS.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = `
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_READY 600
#define ILLEGAL_ADDRESS 700
#define ASKED_TIMES 3

struct block { struct block *next; char *at; size_t length; int host; int used; };
struct command { struct command *next; int kind; char *to; const char *from; size_t length; uint64_t v[4]; const char *kernel; struct event *event; };
struct event { int left; int recorded; };
struct stream { struct command *first, **last; };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks;
static int retained, streams, events, modules, broken, commands;
static int context_object, module_object;
static __thread int current;

static void die(const char *what) { fprintf(stderr, "fake cuda: %s\\n", what); abort(); }
static void need(int holds, const char *what) { if (!holds) die(what); }
static int number(const char *name, int otherwise) { const char *v = getenv(name); return v ? atoi(v) : otherwise; }
#define ENTER(name) pthread_mutex_lock(&mutex); need(current > 0 && retained > 0, name " without a current context"); \\
  if (broken) { pthread_mutex_unlock(&mutex); return ILLEGAL_ADDRESS; }
#define LEAVE(value) do { int given = (value); pthread_mutex_unlock(&mutex); return given; } while (0)

static struct block *holding(const void *at, size_t length, int host) {
  for (struct block *b = blocks; b; b = b->next)
    if (b->host == host && (char *)at >= b->at && (char *)at + length <= b->at + b->length) return b;
  die(host ? "memory of the processor that was not allocated for it" : "a pointer outside of what was allocated");
  return 0;
}
static int allocate(void **out, size_t length, int host) {
  if (length > (1ull << 40)) return 2;
  struct block *b = calloc(1, sizeof *b);
  if (posix_memalign((void **)&b->at, 4096, length ? length : 1)) die("no memory");
  memset(b->at, 0xee, length);
  b->length = length; b->host = host; b->next = blocks; blocks = b; *out = b->at;
  return 0;
}
static int release(void *at, int host) {
  for (struct block **p = &blocks; *p; p = &(*p)->next) {
    struct block *b = *p;
    if (b->at != at || b->host != host) continue;
    need(b->used == 0, "memory is freed that a command names");
    *p = b->next; memset(b->at, 0xdd, b->length); free(b->at); free(b);
    return 0;
  }
  die("what is freed was not allocated");
  return 1;
}
static void use(struct command *c, int by) {
  if (c->kind == 0) { holding(c->to, c->length, 0)->used += by; holding(c->from, c->length, 1)->used += by; }
  if (c->kind == 1) { holding(c->to, c->length, 1)->used += by; holding(c->from, c->length, 0)->used += by; }
  if (c->kind == 2) holding(c->to, c->length, 0)->used += by;
}
static void kernel(struct command *c) {
  uint64_t *v = c->v;
  if (!strcmp(c->kernel, "fetch_add")) {
    uint64_t *w = (uint64_t *)v[0]; holding(w, 8, 0); need(v[0] % 8 == 0, "a word that is not aligned");
    uint64_t was = *w; *w = was + v[1]; holding((void *)v[2], 8, 0); *(uint64_t *)v[2] = was;
  } else if (!strcmp(c->kernel, "compare_swap")) {
    uint64_t *w = (uint64_t *)v[0]; holding(w, 8, 0); need(v[0] % 8 == 0, "a word that is not aligned");
    uint64_t was = *w; if (was == v[1]) *w = v[2]; holding((void *)v[3], 8, 0); *(uint64_t *)v[3] = was;
  } else if (!strcmp(c->kernel, "first_difference")) {
    size_t threads = c->length; uint64_t *first = (uint64_t *)v[3]; holding(first, 8 * threads, 0);
    const char *a = (char *)v[0], *b = (char *)v[1]; holding(a, v[2], 0); holding(b, v[2], 0);
    for (size_t t = 0; t < threads; t++) {
      uint64_t i = t; while (i < v[2] && a[i] == b[i]) i += threads;
      first[t] = i < v[2] ? i : v[2];
    }
  } else die("a kernel that the module has not");
}
static void run(struct stream *s, struct event *until) {
  while (s->first) {
    struct command *c = s->first;
    s->first = c->next; if (!s->first) s->last = &s->first;
    int end = c->kind == 4 && c->event == until;
    use(c, -1);
    if (c->kind == 0 || c->kind == 1) memcpy(c->to, c->from, c->length);
    if (c->kind == 2) memset(c->to, (int)c->v[0], c->length);
    if (c->kind == 3) kernel(c);
    if (c->kind == 4) c->event->recorded = 2;
    free(c);
    if (end) return;
  }
}
static int push(struct stream *s, struct command c) {
  int at = number("FAKE_CUDA_FAILS_AT", 0);
  if (c.kind != 4 && at > 0 && ++commands >= at) { broken = 1; }
  struct command *made = malloc(sizeof *made);
  *made = c; made->next = 0; use(made, 1); *s->last = made; s->last = &made->next;
  return 0;
}
static struct { struct event *event; struct stream *stream; } places[4096];
static struct stream *stream_of(struct event *e) {
  for (int i = 0; i < 4096; i++) if (places[i].event == e) return places[i].stream;
  die("an event that was not recorded"); return 0;
}

int cuInit(unsigned flags) { need(flags == 0, "flags of cuInit"); return number("FAKE_CUDA_DEVICES", 1) > 0 ? 0 : 100; }
int cuGetErrorName(int error, const char **name) {
  if (error == 2) *name = "CUDA_ERROR_OUT_OF_MEMORY";
  else if (error == ILLEGAL_ADDRESS) *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
  else { *name = 0; return 1; }
  return 0;
}
int cuDeviceGetCount(int *count) { *count = number("FAKE_CUDA_DEVICES", 1); return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = 40 + ordinal; return 0; }
int cuDeviceGetName(char *name, int length, int device) { snprintf(name, length, "no GPU at all %d", device - 40); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { (void)device; *bytes = 1ull << 40; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) {
  need(device >= 40, "a device that there is not");
  pthread_mutex_lock(&mutex); retained++; *context = &context_object; LEAVE(0);
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  need(device >= 40, "a device that there is not");
  pthread_mutex_lock(&mutex);
  need(retained > 0, "a context is released that was not retained");
  if (--retained == 0 && !broken) {
    need(blocks == 0, "memory is left");
    need(streams == 0, "a stream is left");
    need(events == 0, "an event is left");
    need(modules == 0, "a module is left");
  }
  LEAVE(0);
}
int cuCtxPushCurrent_v2(void *context) {
  need(context == &context_object, "a context that there is not");
  current++;
  return broken ? ILLEGAL_ADDRESS : 0;
}
int cuCtxPopCurrent_v2(void **context) { need(current > 0, "no context is current"); current--; *context = &context_object; return 0; }
int cuMemAlloc_v2(void **pointer, size_t length) { ENTER("cuMemAlloc"); LEAVE(allocate(pointer, length, 0)); }
int cuMemFree_v2(void *pointer) { ENTER("cuMemFree"); LEAVE(release(pointer, 0)); }
int cuMemHostAlloc(void **at, size_t length, unsigned flags) { need(flags == 1, "flags of cuMemHostAlloc"); ENTER("cuMemHostAlloc"); LEAVE(allocate(at, length, 1)); }
int cuMemFreeHost(void *at) { ENTER("cuMemFreeHost"); LEAVE(release(at, 1)); }
int cuMemcpyHtoDAsync_v2(char *to, const char *from, size_t length, struct stream *s) {
  ENTER("cuMemcpyHtoDAsync"); LEAVE(push(s, (struct command){ .kind = 0, .to = to, .from = from, .length = length }));
}
int cuMemcpyDtoHAsync_v2(char *to, const char *from, size_t length, struct stream *s) {
  ENTER("cuMemcpyDtoHAsync"); LEAVE(push(s, (struct command){ .kind = 1, .to = to, .from = from, .length = length }));
}
int cuMemsetD8Async(char *to, unsigned char value, size_t length, struct stream *s) {
  ENTER("cuMemsetD8Async"); LEAVE(push(s, (struct command){ .kind = 2, .to = to, .length = length, .v = { value } }));
}
int cuStreamCreate(struct stream **out, unsigned flags) {
  need(flags == 1, "flags of cuStreamCreate"); ENTER("cuStreamCreate");
  struct stream *s = calloc(1, sizeof *s); s->last = &s->first; *out = s; streams++; LEAVE(0);
}
int cuStreamDestroy_v2(struct stream *s) { ENTER("cuStreamDestroy"); run(s, 0); free(s); streams--; LEAVE(0); }
int cuStreamSynchronize(struct stream *s) { ENTER("cuStreamSynchronize"); run(s, 0); LEAVE(0); }
int cuEventCreate(struct event **out, unsigned flags) {
  need(flags == 2, "flags of cuEventCreate"); ENTER("cuEventCreate"); *out = calloc(1, sizeof **out); events++; LEAVE(0);
}
int cuEventRecord(struct event *e, struct stream *s) {
  ENTER("cuEventRecord");
  need(e->recorded != 1, "an event is recorded that is awaited");
  e->recorded = 1; e->left = ASKED_TIMES;
  int i = 0; while (places[i].event != e && places[i].event) i++;
  places[i].event = e; places[i].stream = s;
  LEAVE(push(s, (struct command){ .kind = 4, .event = e }));
}
int cuEventQuery(struct event *e) {
  ENTER("cuEventQuery");
  if (e->recorded == 1 && e->left-- > 0) LEAVE(NOT_READY);
  if (e->recorded == 1) run(stream_of(e), e);
  LEAVE(0);
}
int cuEventSynchronize(struct event *e) { ENTER("cuEventSynchronize"); if (e->recorded == 1) run(stream_of(e), e); LEAVE(0); }
int cuEventDestroy_v2(struct event *e) {
  ENTER("cuEventDestroy"); need(e->recorded != 1, "an event is destroyed that is awaited");
  events--; LEAVE(0);
}
int cuModuleLoadData(void **module, const char *image) {
  ENTER("cuModuleLoadData"); need(strncmp(image, ".version", 8) == 0, "an image that is no PTX");
  *module = &module_object; modules++; LEAVE(0);
}
int cuModuleUnload(void *module) { need(module == &module_object, "a module that there is not"); ENTER("cuModuleUnload"); modules--; LEAVE(0); }
int cuModuleGetFunction(void **function, void *module, const char *name) {
  need(module == &module_object, "a module that there is not"); ENTER("cuModuleGetFunction"); *function = strdup(name); LEAVE(0);
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   struct stream *s, void **parameters, void **extra) {
  need(gy == 1 && gz == 1 && by == 1 && bz == 1 && shared == 0 && extra == 0, "the shape of a launch");
  ENTER("cuLaunchKernel");
  struct command c = { .kind = 3, .kernel = function, .length = (size_t)gx * bx };
  int count = strcmp(function, "fetch_add") ? 4 : 3;
  for (int i = 0; i < count; i++) c.v[i] = *(uint64_t *)parameters[i];
  LEAVE(push(s, c));
}
`;

/** Makes it in a folder, where the dynamic linker finds it by `LD_LIBRARY_PATH`. */
export function makeFakeCuda(folder: string): void {
  const source = join(folder, 'cuda.c');
  writeFileSync(source, SOURCE);
  const library = join(folder, 'libcuda.so.1');
  const words = ['-shared', '-fPIC', '-O1', '-Wall', '-Wno-unused-function', '-o', library, source, '-lpthread'];
  const { status, stderr } = spawnSync('cc', words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the library does not compile: ${stderr}`);
}
