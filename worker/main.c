/* paddock-worker: the zygote of the supervisor's workers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/crew.h"
#include "worker/zygote.h"

#define EXIT_USAGE 2

static int socket_option(int option)
{
	int value = -1;
	socklen_t len = sizeof(value);

	if (getsockopt(CREW_CONTROL_FD, SOL_SOCKET, option, &value, &len) != 0)
		return -1;
	return value;
}

/* Nothing that we were told by the environment is a worker's to read. */
static void wipe_environment(void)
{
	for (char **e = environ; e != NULL && *e != NULL; e++)
		memset(*e, 0, strlen(*e));
	clearenv();
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		puts("paddock-worker " PADDOCK_VERSION);
		return EXIT_SUCCESS;
	}
	if (argc > 1) {
		fprintf(stderr,
			"paddock-worker: unknown argument '%s': it takes "
			"none but --version\n",
			argv[1]);
		return EXIT_USAGE;
	}
	if (socket_option(SO_DOMAIN) != AF_UNIX ||
	    socket_option(SO_TYPE) != SOCK_SEQPACKET) {
		fprintf(
		    stderr,
		    "paddock-worker: descriptor %d is not a control socket: "
		    "only paddockd starts this program\n",
		    CREW_CONTROL_FD);
		return EXIT_USAGE;
	}
	wipe_environment();
	_exit(zygote_run()); /* no stdio to flush, nothing to finalize */
}
