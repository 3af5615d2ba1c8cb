/*
 * Makes every call of libibverbs and librdmacm in a loop while a timer interrupts them with signals, and checks them:
 *
 *   signals INTERVAL_US restart|interrupt SECONDS [real|prof|nested [SECTION]]
 *
 * With "nested" a second timer interrupts handlers, which run on a stack of their own.
 *
 * - A call that Linux never interrupts must not return EINTR. A call that waits may, without SA_RESTART.
 * - A call that fails does so for the same reason as in the first pass, which no signal interrupts.
 * - As many requests complete as were posted, also those that the handler posts. Each event arrives once, data arrives
 *   unchanged, an atomic takes effect once.
 * - Nothing writes to the stack of a function that has returned.
 *
 * Prints counts and the names of all functions called, and exits with 1 at the first fault.
 */
#include "signals.h"
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int restarts, prof;
long calls, interrupted, posted, completed, connections;
struct ibv_context *device;
union ibv_gid gid;

static volatile sig_atomic_t signals, jump;
static __thread volatile sig_atomic_t depth;
static sigjmp_buf back;
static const char *last = "none";
static int is_signalled;

#define NAMES 400
static char names[NAMES][48];
static int count_of_names;
static int naming;

void note(const char *what)
{
	const char *assigned = strstr(what, " = ");
	char name[48];
	int i;

	if (assigned != NULL && assigned < strchr(what, '('))
		what = assigned + 3;
	for (i = 0; i < 47 && what[i] != 0 && what[i] != '('; i++)
		name[i] = what[i];
	name[i] = 0;
	while (__atomic_exchange_n(&naming, 1, __ATOMIC_ACQUIRE))
		;
	for (i = 0; i < count_of_names && strcmp(names[i], name) != 0; i++)
		;
	if (i == count_of_names && i < NAMES)
		strcpy(names[count_of_names++], name);
	__atomic_store_n(&naming, 0, __ATOMIC_RELEASE);
}

void fault(const char *what, int error)
{
	fprintf(stderr, "FAULT: %s: %s (%d); the last call was %s; %d signals, %ld calls\n", what, strerror(error), error, last,
		(int)signals, calls);
	_exit(1);
}

static void on_signal(int number)
{
	struct stat facts;
	int before = errno;

	(void)number;
	/* A call of the handler that is answered like those of the program. */
	if (signals % 16 == 0)
		stat("/sys/class/infiniband", &facts);
	/* A handler that another handler has interrupted must finish. */
	depth++;
	handler_turn();
	signals++;
	depth--;
	if (jump && depth == 0) {
		jump = 0;
		siglongjmp(back, 1);
	}
	errno = before;
}

/* Fills the stack below the caller, where the frames of the last call were, and looks whether anything writes there. */
static __attribute__((noinline)) void look_below(void)
{
	volatile uint64_t words[1024];
	int i;

	for (i = 0; i < 1024; i++)
		words[i] = 0x5a5aa5a5c3c33c3cULL + i;
	for (i = 0; i < 1024; i++)
		if (words[i] != 0x5a5aa5a5c3c33c3cULL + i)
			fault("the stack below has changed", 0);
}

void done(const char *what)
{
	volatile int i;

	last = what;
	__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	/* That timer runs only while the program does. */
	for (i = 0; prof && is_signalled && i < 100000; i++)
		;
	look_below();
}

static void mask(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGPROF);
	pthread_sigmask(how, &set, NULL);
}

void block_signals(void)
{
	mask(SIG_BLOCK);
}

void unblock_signals(void)
{
	mask(SIG_UNBLOCK);
}

void hold_signals(void)
{
	if (!restarts)
		block_signals();
}

void release_signals(void)
{
	if (!restarts)
		unblock_signals();
}

void jump_out_of(void (*call)(void *), void *argument)
{
	/* That timer does not run while a call waits. */
	if (!is_signalled || prof)
		return;
	if (sigsetjmp(back, 1) == 0) {
		jump = 1;
		call(argument);
		fault("a call that waits has returned", errno);
	}
	done("siglongjmp");
}

static void files(void)
{
	char text[64];
	struct stat facts;
	struct dirent *entry;
	DIR *folder;
	int fd, entries = 0;

	ZERO(stat("/sys/class/infiniband/rxe0", &facts));
	ZERO(access("/sys/class/infiniband_verbs/uverbs0/ibdev", R_OK));
	fd = open("/sys/class/infiniband/rxe0/node_type", O_RDONLY | O_CLOEXEC);
	done("open");
	if (fd < 0)
		fault("open of node_type", errno);
	if (read(fd, text, sizeof(text)) <= 0)
		fault("read of node_type", errno);
	close(fd);
	MADE(folder, opendir("/sys/class/infiniband"));
	while ((entry = readdir(folder)) != NULL)
		if (strncmp(entry->d_name, "rxe", 3) == 0)
			entries++;
	ZERO(closedir(folder));
	if (entries != 1)
		fault("readdir has not found the one device", entries);
}

static void nest(struct sigaction *action, long interval_us)
{
	static char memory[1 << 16];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
	struct itimerspec often = { { 0, interval_us * 617 }, { 0, interval_us * 617 } };
	timer_t timer;

	action->sa_flags |= SA_ONSTACK;
	if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGALRM, action, NULL) != 0 || sigaction(SIGUSR2, action, NULL) != 0 ||
	    timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &often, NULL) != 0)
		fault("a second timer", errno);
}


static const struct {
	const char *name;
	void (*run)(void);
} sections[] = {
	{ "files", files },
	{ "control", control },
	{ "refusals", refusals },
	{ "texts", texts },
	{ "traffic", traffic },
	{ "device_events", device_events },
	{ "extended", extended },
	{ "connection", connection },
	{ "waiting", waiting },
	{ "leaving", leaving },
	{ "external", external },
	{ "datagrams", datagrams },
	{ "endpoints", endpoints },
	{ "sockets", sockets },
};

static void pass(const char *only)
{
	unsigned i;

	ZERO(ibv_query_gid(device, 1, 0, &gid));
	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (only == NULL || strcmp(only, sections[i].name) == 0)
			sections[i].run();
}

static void set_timer(long interval_us)
{
	struct itimerval timer = { { 0, interval_us }, { 0, interval_us } };

	setitimer(prof ? ITIMER_PROF : ITIMER_REAL, &timer, NULL);
	is_signalled = interval_us > 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct ibv_device **list;
	const char *only = argc > 5 ? argv[5] : NULL;
	struct timespec now;
	time_t end;
	int i;

	if (argc < 4)
		return 2;
	restarts = strcmp(argv[2], "restart") == 0;
	prof = argc > 4 && strcmp(argv[4], "prof") == 0;
	action.sa_flags = restarts ? SA_RESTART : 0;
	sigaction(prof ? SIGPROF : SIGALRM, &action, NULL);
	MADE(list, ibv_get_device_list(NULL));
	if (list[0] == NULL)
		fault("no device", errno);
	MADE(device, ibv_open_device(list[0]));
	PLAIN(ibv_free_device_list(list));
	pass(only);
	handler_start();
	set_timer(atoi(argv[1]));
	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + atoi(argv[3]);
	if (argc > 4 && strcmp(argv[4], "nested") == 0)
		nest(&action, atoi(argv[1]));
	do {
		pass(only);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end);
	set_timer(0);
	signal(SIGUSR2, SIG_IGN);
	handler_end();
	ZERO(ibv_close_device(device));
	if (posted != completed)
		fault("not as many completions as requests", 0);
	printf("%ld calls, %d signals, %ld waiting calls interrupted, %ld requests posted, %ld completed, %ld of handlers, %ld connections\n",
	       calls, (int)signals, interrupted, posted, completed, handler_requests(), connections);
	printf("called:");
	for (i = 0; i < count_of_names; i++)
		printf(" %s", names[i]);
	printf("\n");
	return 0;
}
