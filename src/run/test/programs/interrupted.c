/*
 * What signals do to calls that wait, under `verbena run` as under Linux. Prints the name of each check that holds.
 * The first argument names one check, or "all".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;
static struct sockaddr_in address = { .sin_family = AF_INET };
static sigjmp_buf back;
static volatile sig_atomic_t signals, jumps;
static pid_t waiter;

static void fault(const char *what)
{
	fprintf(stderr, "FAULT: %s: %s (%d)\n", what, strerror(errno), errno);
	exit(1);
}

static void on_signal(int number)
{
	(void)number;
	signals++;
	if (jumps)
		siglongjmp(back, 1);
}

static void handle(int number, int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };

	sigaction(number, &action, NULL);
}

static void alarm_in_ms(int ms)
{
	struct itimerval timer = { .it_value = { 0, ms * 1000 } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Waits until a thread is blocked in `write`, not in a call that waits for its answer. */
static void until_blocked(pid_t thread)
{
	char path[64], text[64];
	int looks = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/wchan", thread);
	do {
		usleep(1000);
		text[0] = 0;
		file = fopen(path, "r");
		if (file == NULL || fgets(text, sizeof(text), file) == NULL)
			text[0] = 0;
		if (file != NULL)
			fclose(file);
		/* Where the kernel does not tell, some time has to do. */
		if (strcmp(text, "0") == 0 || text[0] == 0) {
			usleep(100000);
			return;
		}
		/* Under a debugger the thread waits for its answer. */
	} while (strstr(text, "sock") == NULL && ++looks < 1000);
}

static void start(void)
{
	channel = rdma_create_event_channel();
	if (channel == NULL || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) != 0)
		fault("a channel");
}

static void resolve(void)
{
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 2000) != 0)
		fault("rdma_resolve_addr");
}

static void take(void)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event) != 0 || event->event != RDMA_CM_EVENT_ADDR_RESOLVED)
		fault("rdma_get_cm_event");
	rdma_ack_cm_event(event);
}

static void finish(void)
{
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
}

static void *take_in_thread(void *unused)
{
	(void)unused;
	waiter = syscall(SYS_gettid);
	take();
	return NULL;
}

static void *interrupted_in_thread(void *unused)
{
	struct rdma_cm_event *event;

	(void)unused;
	waiter = syscall(SYS_gettid);
	if (rdma_get_cm_event(channel, &event) != -1 || errno != EINTR)
		fault("a thread was not interrupted");
	return NULL;
}

static pthread_t thread(void *(*run)(void *))
{
	pthread_t made;

	waiter = 0;
	pthread_create(&made, NULL, run, NULL);
	while (*(volatile pid_t *)&waiter == 0)
		usleep(1000);
	until_blocked(waiter);
	return made;
}

static void eintr(void)
{
	struct rdma_cm_event *event;

	start();
	handle(SIGALRM, 0);
	alarm_in_ms(50);
	if (rdma_get_cm_event(channel, &event) != -1 || errno != EINTR)
		fault("rdma_get_cm_event was not interrupted");
	resolve();
	take();
	finish();
}

static void restart(void)
{
	start();
	handle(SIGALRM, SA_RESTART);
	{
		struct itimerval timer = { { 0, 5000 }, { 0, 5000 } };
		pthread_t waiting = thread(take_in_thread);

		signals = 0;
		setitimer(ITIMER_REAL, &timer, NULL);
		while (signals < 20)
			usleep(5000);
		pthread_kill(waiting, SIGALRM);
		resolve();
		pthread_join(waiting, NULL);
		memset(&timer, 0, sizeof(timer));
		setitimer(ITIMER_REAL, &timer, NULL);
	}
	finish();
}

static __attribute__((noinline)) int words_change(void)
{
	volatile uint64_t words[2048];
	int i, changed = 0;

	for (i = 0; i < 2048; i++)
		words[i] = i;
	resolve();
	usleep(100000);
	for (i = 0; i < 2048; i++)
		changed += words[i] != (uint64_t)i;
	return changed;
}

/* The event comes after the function that waited for it is gone. */
static void jump(void)
{
	struct rdma_cm_event *event;

	start();
	handle(SIGALRM, 0);
	jumps = 1;
	if (sigsetjmp(back, 1) == 0) {
		alarm_in_ms(50);
		rdma_get_cm_event(channel, &event);
		fault("rdma_get_cm_event has returned");
	}
	jumps = 0;
	if (words_change() != 0)
		fault("the stack has changed");
	take();
	finish();
}

static void stop(void)
{
	pid_t child;
	int status;

	child = fork();
	if (child == 0) {
		start();
		pthread_t waiting = thread(take_in_thread);

		kill(getpid(), SIGSTOP);
		resolve();
		pthread_join(waiting, NULL);
		finish();
		exit(0);
	}
	waitpid(child, &status, WUNTRACED);
	if (!WIFSTOPPED(status))
		fault("a child has not stopped");
	kill(child, SIGCONT);
	waitpid(child, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fault("a child that was stopped");
}

static void threads(void)
{
	pthread_t first, second;

	start();
	handle(SIGUSR1, 0);
	first = thread(take_in_thread);
	second = thread(interrupted_in_thread);
	pthread_kill(second, SIGUSR1);
	pthread_join(second, NULL);
	resolve();
	pthread_join(first, NULL);
	finish();
}

static void child_ends(int number)
{
	pid_t child;
	int status;

	child = fork();
	if (child == 0) {
		start();
		handle(SIGALRM, 0);
		alarm_in_ms(1);
		thread(take_in_thread);
		kill(getpid(), number);
		pause();
	}
	waitpid(child, &status, 0);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != number)
		fault("a child that was killed");
}

static void kills(void)
{
	child_ends(SIGKILL);
	child_ends(SIGTERM);
}

static void forks(void)
{
	pthread_t waiting;
	pid_t child;
	int status;

	start();
	waiting = thread(take_in_thread);
	child = fork();
	if (child == 0)
		_exit(7);
	waitpid(child, &status, 0);
	child = vfork();
	if (child == 0)
		_exit(7);
	waitpid(child, &status, 0);
	resolve();
	pthread_join(waiting, NULL);
	finish();
}

/* A thread stays blocked when its channel is closed: the kernel has the file open as long. */
static void closes(void)
{
	pthread_t waiting;

	start();
	handle(SIGUSR1, 0);
	waiting = thread(interrupted_in_thread);
	close(channel->fd);
	usleep(100000);
	pthread_kill(waiting, SIGUSR1);
	pthread_join(waiting, NULL);
}

static void cancels(void)
{
	pthread_t waiting;

	start();
	waiting = thread(take_in_thread);
	pthread_cancel(waiting);
	pthread_join(waiting, NULL);
	resolve();
	take();
	finish();
}

/* Linux interrupts this one itself. */
static void fifo(void)
{
	char path[] = "/tmp/verbena-signals-XXXXXX";

	close(mkstemp(path));
	unlink(path);
	if (mkfifo(path, 0600) != 0)
		fault("mkfifo");
	handle(SIGALRM, 0);
	alarm_in_ms(50);
	if (open(path, O_RDONLY) != -1 || errno != EINTR)
		fault("open of a FIFO was not interrupted");
	alarm_in_ms(50);
	if (creat(path, 0600) != -1 || errno != EINTR)
		fault("creat of a FIFO was not interrupted");
	unlink(path);
}

static const struct {
	const char *name;
	void (*run)(void);
} checks[] = { { "eintr", eintr }, { "restart", restart }, { "jump", jump },	 { "stop", stop },	 { "threads", threads },
	       { "kills", kills }, { "forks", forks },	   { "closes", closes }, { "cancels", cancels }, { "fifo", fifo } };

int main(int argc, char **argv)
{
	unsigned i;

	if (argc < 3)
		return 2;
	inet_pton(AF_INET, argv[2], &address.sin_addr);
	address.sin_port = htons(1);
	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (strcmp(argv[1], "all") != 0 && strcmp(argv[1], checks[i].name) != 0)
			continue;
		checks[i].run();
		printf("%s\n", checks[i].name);
		fflush(stdout);
	}
	return 0;
}
