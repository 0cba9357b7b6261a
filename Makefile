# paddock: `make run` shows it at work, `make check` tests it; both install
# what is missing on Debian 12. `make help` lists the rest.

VERSION = 0.1.0
B       = build

CC      = gcc
CFLAGS ?= -O2 -g
WARN    = -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes \
          -Wmissing-prototypes -Wvla -Wpointer-arith -Wwrite-strings
HARDEN  = -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIE
ALLCFLAGS = -std=gnu17 -D_GNU_SOURCE -DPADDOCK_VERSION='"$(VERSION)"' -I. \
          -MMD -MP $(WARN) $(HARDEN) $(CFLAGS) $(EXTRA_CFLAGS)
ALLLDFLAGS = -pie -Wl,-z,relro,-z,now $(LDFLAGS)

# What each room links. The worker is static: its start is part of each run.
LIBS_SUPERVISOR = -levent_core -lsqlite3 -linih -lcrypto -lpthread
LIBS_PROTO  = -ljson-c -lpcre2-8 -lm
LIBS_IPC    = -lmsgpackc
LIBS_WORKER = -lseccomp -lcap -llua5.4 -lmsgpackc -lm
LUA_CFLAGS  = -I/usr/include/lua5.4

# A room is a folder; main.c and cli's are programs, the rest an archive.
objects = $(patsubst %.c,$(B)/obj/%.o,$(filter-out %/main.c,$(wildcard $(1)/*.c)))
archive = $(B)/lib/$(1).a
ROOMS   = base ipc proto sandbox worker supervisor cli

PROGRAMS = $(B)/paddockd $(B)/paddock-worker $(B)/paddock

all: $(PROGRAMS)

$(B)/paddockd: $(B)/obj/supervisor/main.o $(foreach r,supervisor proto ipc base,$(B)/lib/$(r).a)
	$(CC) $(ALLLDFLAGS) -o $@ $^ $(LIBS_SUPERVISOR) $(LIBS_PROTO) $(LIBS_IPC)

$(B)/paddock: $(B)/obj/cli/main.o $(foreach r,cli proto base,$(B)/lib/$(r).a)
	$(CC) $(ALLLDFLAGS) -o $@ $^ $(LIBS_PROTO)

$(B)/paddock-worker: $(B)/obj/worker/main.o $(foreach r,worker sandbox ipc base,$(B)/lib/$(r).a)
	$(CC) -static-pie -Wl,-z,relro,-z,now $(LDFLAGS) -o $@ $^ $(LIBS_WORKER)

define room
$(B)/lib/$(1).a: $(call objects,$(1))
	@mkdir -p $$(@D)
	@rm -f $$@
	ar rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call room,$(r))))

$(B)/obj/worker/%.o: ALLCFLAGS += $(LUA_CFLAGS)
$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALLCFLAGS) -c -o $@ $<

# Unit tests: one program a file, linked with every room.
UNIT  = $(patsubst tests/t_%.c,$(B)/tests/t_%,$(wildcard tests/t_*.c))
$(B)/tests/t_%: $(B)/obj/tests/t_%.o $(foreach r,$(ROOMS),$(B)/lib/$(r).a)
	@mkdir -p $(@D)
	$(CC) $(ALLLDFLAGS) -o $@ $< -Wl,--start-group $(foreach r,$(ROOMS),$(B)/lib/$(r).a) -Wl,--end-group \
	    $(LIBS_SUPERVISOR) $(LIBS_PROTO) $(LIBS_WORKER)

clean:
	rm -rf $(B)

-include $(shell find $(B) -name '*.d' 2>/dev/null)
.SECONDARY:
.PHONY: all clean
