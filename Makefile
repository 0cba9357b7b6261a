# SPDX-License-Identifier: Apache-2.0
# paddock: `make run` shows it at work, `make check` tests it. Both install
# what is missing on Debian 12. `make help` lists the rest.

VERSION = 0.1.0
B       = build

CC      = gcc
CLANG   = clang
export PADDOCK_BUILD = $(B)
Q       = $(if $(V),,@)# V=1 shows the commands
CFLAGS ?= -O2 -g
WARN    = -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes \
          -Wmissing-prototypes -Wvla -Wpointer-arith -Wwrite-strings
HARDEN  = -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIE
BASEFLAGS = -std=gnu17 -D_GNU_SOURCE -DPADDOCK_VERSION='"$(VERSION)"' -I. \
          -I/usr/include/lua5.4 -isystem /usr/include/postgresql $(LLHTTP_CFLAGS)
ALLCFLAGS = $(BASEFLAGS) -MMD -MP $(WARN) $(HARDEN) $(CFLAGS) $(EXTRA_CFLAGS)
ALLLDFLAGS = -pie -Wl,-z,relro,-z,now $(LDFLAGS)

# What each component links. The worker is static: its start is part of every run.
LIBS_SUPERVISOR = -levent_core -lsqlite3 -linih -lnettle -lcap -lpthread
LIBS_PROTO  = -ljson-c -lpcre2-8 -lm
LIBS_IPC    = -lmsgpackc
LIBS_CLI    = -lnettle
LIBS_BROWSER = -levent_core -ljson-c -lmsgpackc -lseccomp
LIBS_EGRESS = -levent_core -ljson-c -lseccomp -lcap -lcares -lssl -lcrypto
LIBS_WORKER = -lseccomp -lcap -llua5.4 -lmsgpackc -lm

# llhttp is a library of its own, or sources that a package installs (Debian's
# node-llhttp); they are foreign, so their warnings are nobody's here.
ifeq ($(shell pkg-config --exists libllhttp 2>/dev/null && echo yes),yes)
LLHTTP_CFLAGS = $(shell pkg-config --cflags libllhttp)
LLHTTP        =
LIBS_LLHTTP   = $(shell pkg-config --libs libllhttp)
else
LLHTTP_SRC    = /usr/share/llhttp
LLHTTP_CFLAGS = -isystem /usr/share/include/llhttp
LLHTTP        = $(B)/lib/llhttp.a
LIBS_LLHTTP   = $(LLHTTP)
endif

# A component is a folder with those below it: main.c is its program, the rest
# an archive.
COMPONENTS = base ipc net proto sandbox worker supervisor browser egress cli
sources  = $(filter-out %/main.c,$(wildcard $(1)/*.c $(1)/*/*.c $(1)/*/*/*.c))
archives = $(foreach r,$(1),$(B)/lib/$(r).a)

PROGRAMS = $(B)/paddockd $(B)/paddock-worker $(B)/paddock-browser $(B)/paddock-egress $(B)/paddock
# T: files or folders below tests/ that are meant alone.
T        = tests
chosen   = $(sort $(shell find $(T) -name '$(1)'))
UNIT     = $(patsubst tests/%.c,$(B)/tests/%,$(call chosen,t_*.c))
FUZZ     = $(patsubst tests/fuzz/fuzz_%.c,%,$(call chosen,fuzz_*.c))
SESSION  = $(filter-out tests/tools/leaks.t,$(call chosen,*.t))

# Packages of templates whose program is compiled.
COMPILED = $(patsubst etc/compiled/%/template.json,$(B)/templates/%/main,$(wildcard etc/compiled/*/template.json))

# What programs find in their cages, beside paddock-worker, which shows it.
MODULES = $(B)/modules/bin/paddock-call $(patsubst etc/%,$(B)/%,$(shell find etc/modules -type f ! -name '*.pyc'))

all: $(PROGRAMS) $(COMPILED) $(MODULES)

# ---- what people use ----

run: deps
	@+$(MAKE) --no-print-directory all
	@echo
	$(B)/paddock run csv_profile -i csv=@etc/examples/weather_stations.csv -i maxDistinct:=3

# Four tests at a time, of four and more lanes: a job that is free takes the
# first lane in which nothing runs. So what measures, or fills a machine, goes on
# one by one in the first lane from the start, and beside it whatever waits more
# than it works and has a server of its own, a lane each, the longest first.
# What looks at what all servers of the machine have is in none: it follows alone,
# leaks.t the last.
LONG    = $(addprefix tests/system/,store/postgres.t redteam/memory.t templates/templates.t store/recovery.t operations/instances.t)
BESIDE  = $(LONG) $(filter-out $(LONG),$(filter $(subst *,%,tests/peers/* \
       $(addprefix tests/system/,cli/cli* http/http_* input/* operations/descriptors.t operations/drain_answers.t operations/in_flight.t \
         operations/loop_guard.t operations/programs_health.t operations/readme.t operations/reload* operations/secrets.t operations/selftest.t operations/start.t \
         operations/tutorial.t requestors/cross_requestor.t requestors/requestors* requestors/silence.t runs/* programs/* residents/* sessions/* store/* \
         tasks/* templates/* cluster/* redteam/lines.t redteam/memory.t redteam/protocol.t redteam/records.t redteam/schemas.t redteam/uploads.t \
         redteam/waiting.t tree/*)),$(SESSION)))
FIRST   = $(filter-out $(BESIDE) tests/system/operations/uids.t,$(SESSION))
comma   = ,
empty   =
LANES   = $(if $(FIRST),seq={$(subst $(empty) $(empty),$(comma),$(FIRST))}) $(patsubst %,seq=%,$(BESIDE) $(UNIT)) seq=$(B)/fuzz/**
# What depends on the store runs a second time, on PostgreSQL, from store/postgres.t;
# PADDOCK_TEST_STORE=postgres has all of a check there. Left out: the files that are of
# something else (browser, input, peers, programs, redteam, requestors, templates and most of
# cli, which meet the store as these do); runs/writes.t and requestors/disk.t, whose faults are of
# SQLite's files; operations, of which chaos.t and soak_kills.t have store/cluster*.t as
# their like; cli/cli_polls.t, 15 s of waiting; runs/recovery.t has store/recovery.t.
# The longest come first.
ON_POSTGRES = $(addprefix tests/system/,operations/instances.t children/journal.t children/usage.t sessions/uploads.t http/http_restart.t tasks/*.t cli/cli_runs.t cli/cli_delete.t cli/cli_retry.t cli/cli_usage.t \
                http/http_artifacts.t requestors/cross_requestor.t store/recorded.t \
                runs/contract.t runs/lifecycle.t runs/promised.t runs/regressions.t runs/retry.t \
                sessions/lists_large.t sessions/notifications.t sessions/resources.t)
export PADDOCK_ON_POSTGRES = $(wildcard $(ON_POSTGRES))
on-postgres:
	@echo $(PADDOCK_ON_POSTGRES)
# One after the other, also by make -j: what is installed first is needed by what is built.
check:
	+@for d in deps-debian $(if $(filter tests tests/peers%,$(T)),deps-peers) \
	    $(if $(filter-out tests/unit% tests/fuzz% tests/peers%,$(T)),deps-browser); do \
	    $(MAKE) --no-print-directory $$d || exit; done
	+@$(MAKE) --no-print-directory all tests
	@tests/tools/in-clean-tmp $(if $(filter postgres,$(PADDOCK_TEST_STORE)),tests/tools/with-postgres) prove -j4 $(LANES:%='--rules=%') $(PROVE) \
	    $(UNIT) $(FUZZ:%=$(B)/fuzz/replay_%) $(SESSION) tests/tools/leaks.t
check-unit:
	+@$(MAKE) check T='tests/unit tests/fuzz'
check-system:
	+@$(MAKE) check T='tests/system tests/peers'

# The index of source files, from the first sentence of each opening comment.
index:
	tests/tools/index > INDEX.md.new && mv INDEX.md.new INDEX.md

# Debian's own kernel, systemd and cgroup v2, with what is shipped, in a virtual machine;
# no part of a check: Debian's packages are fetched, and an emulated processor takes its time.
check-vm: deps-vm all
	prove -v $(PROVE) tests/vm/run

help:
	@echo 'make run     install what is missing, build, profile a CSV file'
	@echo 'make check   install what is missing for tests, build, test'
	@echo 'make check T=tests/system/http    the tests of a folder, or of a file; check-unit, check-system'
	@echo 'make check-vm  boot Debian in a virtual machine, and test there what is installed'
	@echo 'make         build into $(B)/'
	@echo 'make deps-browser  install a Chromium, for paddock-browser'
	@echo 'make bench   measure, as ratios: to a bare fork, the official SDK, bubblewrap, DevTools'
	@echo 'make bench-latency  hold against bounds how long others wait while attacks go on'
	@echo 'make lint    the format, other compilers, and analyzers'
	@echo 'make index   write INDEX.md, the index of source files, from their opening comments'
	@echo 'make fuzz    each target for FUZZ_SECONDS ($(FUZZ_SECONDS))'
	@echo 'make asan    the tests under AddressSanitizer and UBSan'
	@echo 'make check-guard  the tests with a paddockd that ends when its loop does what may take long'
	@echo 'make walk    the files through which a call goes, counted; WALK=--files lists them'
	@echo 'make check-one-machine  the tests on SQLite with a paddockd without supervisor/cluster/ and store/postgres/'
	@echo 'make soak    the long forms of the tests that have one'
	@echo 'make mutate  put in small bugs, one at a time, and see which tests notice'
	@echo 'make mutate-made SEED=7 SAMPLE=200   the same with bugs made from the source'

# ---- what is needed, from Debian's packages ----

DEPS = $(if $(shell command -v $(firstword $(CC))),,gcc) libc6-dev pkg-config \
       libevent-dev libjson-c-dev libmsgpack-dev libseccomp-dev libcap-dev \
       libsqlite3-dev libpq-dev liblua5.4-dev libpcre2-dev libinih-dev uthash-dev \
       nettle-dev libedit-dev libssl-dev libc-ares-dev python3 $(if $(LLHTTP),node-llhttp)
DEPS_CHECK = postgresql-15 perl zsh fish procps util-linux iproute2 diffutils patch python3-pip openssl \
             libtest-json-schema-acceptance-perl libcpanel-json-xs-perl python3-pandas python3-matplotlib python3-pil \
             python3-requests python3-httpx \
             $(if $(and $(shell command -v node),$(shell command -v npm)),,nodejs npm)
DEPS_VM    = mmdebstrap qemu-system-x86 e2fsprogs
DEPS_BENCH = bubblewrap python3-numpy python3-ipykernel
DEPS_LINT  = clang clang-tidy clang-format cppcheck libclang-rt-14-dev

# Quick when nothing is missing: apt-get is not even asked.
define install
	@missing=$$(dpkg-query -W -f '$${Package} $${db:Status-Status}\n' $(1) 2>/dev/null | \
	    awk '$$2 == "installed" {have[$$1]} END {n = split("$(strip $(1))", w, " "); \
	    for (i = 1; i <= n; i++) if (!(w[i] in have)) print w[i]}'); \
	if [ -n "$$missing" ]; then \
	    sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	    echo "installing:" $$missing; \
	    $$sudo apt-get -qq update && \
	    DEBIAN_FRONTEND=noninteractive $$sudo apt-get -qq install -y --no-install-recommends $$missing >/dev/null; \
	fi
endef

deps:
	$(call install,$(DEPS))
deps-check: deps-debian deps-peers deps-browser
deps-debian:
	$(call install,$(DEPS) $(DEPS_CHECK))
deps-browser:
	$(call install,chromium-headless-shell)
deps-vm:
	$(call install,$(DEPS) $(DEPS_VM))
deps-bench: deps-check
	$(call install,$(DEPS_BENCH))
deps-lint:
	$(call install,$(DEPS) $(DEPS_CHECK) $(DEPS_LINT))

# Peers for tests and bench, the official ones and those that people use,
# pinned: programs of npm's, which does not trust the machine's own certificates
# by itself. What they would bring along and the tests never load is overridden
# by an empty package. The whole is put in place at once, the stamp last.
PEERS   = $(abspath $(B)/peers)
NPM_CA := $(wildcard /etc/ssl/certs/ca-certificates.crt)
export PADDOCK_PEERS = $(PEERS)
deps-peers: $(PEERS)/installed
$(PEERS)/installed: tests/peers/package.json tests/peers/package-lock.json | deps-debian
	@echo 'installing the peers into $(B)/peers (680 MB)'
	$(Q)rm -rf $(PEERS).new && mkdir -p $(PEERS).new && cp $^ $(PEERS).new
	$(Q)NODE_EXTRA_CA_CERTS=$${NODE_EXTRA_CA_CERTS:-$(NPM_CA)} npm ci --prefix $(PEERS).new --ignore-scripts \
	    --no-audit --no-fund --fetch-retries=2 >$(PEERS).new/npm.log 2>&1 || { cat $(PEERS).new/npm.log; exit 1; }
	$(Q)rm -rf $(PEERS) && mv $(PEERS).new $(PEERS) && touch $@

# ---- programs ----

$(B)/paddockd: $(B)/obj/supervisor/main.o $(SANITIZED) $(call archives,supervisor proto net ipc base) $(LLHTTP)
	@echo '  LD $@'
	$(Q)$(CC) $(ALLLDFLAGS) -o $@ $(filter-out $(LLHTTP),$^) $(LIBS_LLHTTP) $(LIBS_SUPERVISOR) $(LIBS_PROTO) $(LIBS_IPC)

$(B)/paddock: $(B)/obj/cli/main.o $(SANITIZED) $(call archives,cli proto base)
	@echo '  LD $@'
	$(Q)$(CC) $(ALLLDFLAGS) -o $@ $^ $(LIBS_PROTO) $(LIBS_CLI)

# Room for huge pages, and small variables side by side: see worker/memory.h. The
# file has holes; it is no larger.
ROOMY = -Wl,-z,separate-code -Wl,-z,max-page-size=0x200000 -Wl,--sort-section=alignment
$(B)/tests/unit/worker/t_memory: ALLLDFLAGS += $(ROOMY)
$(B)/tests/unit/supervisor/session/t_alike: ALLLDFLAGS += -Wl,--wrap=store_get_run
$(B)/tests/unit/supervisor/session/result/t_run_pictures: ALLLDFLAGS += -Wl,--wrap=store_read_artifact,--wrap=store_take_bytes
$(B)/tests/unit/worker/t_shim_printed: ALLLDFLAGS += -Wl,--wrap=open,--wrap=pread,--wrap=channel_send_at_once
$(foreach c,worker ipc base,$(B)/obj/$(c)/%.o): HARDEN += -fdata-sections
$(B)/paddock-worker: $(B)/obj/worker/main.o $(call archives,worker sandbox ipc base)
	@echo '  LD $@'
	$(Q)$(CC) -static-pie -Wl,-z,relro,-z,now $(ROOMY) $(LDFLAGS) -o $@ $^ $(LIBS_WORKER)

# Static: it runs whatever libraries there are.
$(B)/templates/%/main: etc/compiled/%/main.c etc/compiled/%/template.json $(wildcard etc/compiled/*/tests/*)
	@mkdir -p $(@D)/tests
	@echo '  CC $<'
	$(Q)cp etc/compiled/$*/template.json $(@D) && cp etc/compiled/$*/tests/* $(@D)/tests
	$(Q)$(CC) -std=gnu17 -static $(WARN) $(CFLAGS) -o $@ $<
	@chmod -R go+rX $(B)/templates

$(B)/paddock-browser: $(B)/obj/browser/main.o $(SANITIZED) $(call archives,browser net sandbox proto ipc base)
	@echo '  LD $@'
	$(Q)$(CC) $(ALLLDFLAGS) -o $@ $^ $(LIBS_BROWSER)

$(B)/paddock-egress: $(B)/obj/egress/main.o $(SANITIZED) $(call archives,egress net sandbox proto ipc base) $(LLHTTP)
	@echo '  LD $@'
	$(Q)$(CC) $(ALLLDFLAGS) -o $@ $(filter-out $(LLHTTP),$^) $(LIBS_LLHTTP) $(LIBS_EGRESS)

# A program by several names, in the cage.
CALL_NAMES = search keep artifact ask progress log
$(B)/modules/bin/paddock-call: $(B)/obj/cli/call/main.o $(call archives,cli proto base)
	@mkdir -p $(@D)
	@echo '  LD $@'
	$(Q)$(CC) $(ALLLDFLAGS) -o $@ $^ $(LIBS_PROTO)
	$(Q)for n in $(CALL_NAMES); do ln -sf paddock-call $(@D)/paddock-$$n || exit 1; done
$(B)/modules/%: etc/modules/%
	@mkdir -p $(@D)
	$(Q)cp $< $@
	@chmod -R go+rX $(B)/modules

define component
$(B)/lib/$(1).a: $(patsubst %.c,$(B)/obj/%.o,$(call sources,$(1)))
	@mkdir -p $$(@D)
	@rm -f $$@
	$$(Q)ar rcs $$@ $$^
endef
$(foreach r,$(COMPONENTS),$(eval $(call component,$(r))))

$(B)/lib/llhttp.a: $(foreach f,api http llhttp,$(B)/obj/llhttp/$(f).o)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)ar rcs $@ $^
$(B)/obj/llhttp/%.o:
	@mkdir -p $(@D)
	@echo '  CC $(LLHTTP_SRC)/$*.c'
	$(Q)$(CC) -w -DLLHTTP_STRICT_MODE=1 $(LLHTTP_CFLAGS) $(HARDEN) $(CFLAGS) -c -o $@ $(LLHTTP_SRC)/$*.c

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	@echo '  CC $<'
	$(Q)$(CC) $(ALLCFLAGS) -c -o $@ $<

# Embedded files; see base/embed.h.
$(B)/obj/supervisor/mcp/tools/contract_tools.o: supervisor/mcp/tools/contract_tools.json
$(B)/obj/supervisor/browser/browser_tools.o: supervisor/browser/browser_tools.json
$(B)/obj/supervisor/mcp/tools/tools.o: supervisor/mcp/tools/handle_schema.json
$(B)/obj/supervisor/packages/templates/manifest_shape.o: etc/template.schema.json
$(B)/obj/supervisor/packages/templates/template_shipped.o: etc/shipped.conf
$(B)/obj/browser/actions/script.o: browser/actions/page.js

# ---- tests ----

# SANITIZED: an object that a sanitized build links everywhere (make asan).

# Tests of the serving side link all of it; the command is another program.
SERVING      = $(filter-out cli,$(COMPONENTS))
LINK_SERVING = -Wl,--start-group $(call archives,$(SERVING)) -Wl,--end-group \
               $(LIBS_LLHTTP) $(LIBS_SUPERVISOR) $(LIBS_PROTO) $(LIBS_EGRESS) $(LIBS_WORKER)

tests: $(UNIT) $(FUZZ:%=$(B)/fuzz/replay_%) $(B)/tests/unit/proto/schema/suite $(if $(filter tests/system/operations/loop_guard.t,$(SESSION)),$(B)/tests/guard/paddockd) \
       $(if $(filter tests/system/cluster/one_machine.t,$(SESSION)),$(B)/tests/one_machine/paddockd)

# Each is linked with the fixtures whose headers it includes.
define fixture
$(patsubst tests/fuzz/fuzz_%,$(B)/fuzz/replay_%,$(patsubst tests/unit/%,$(B)/tests/unit/%,$(basename $(word 1,$(1))))): $(B)/obj/$(basename $(word 2,$(1))).o
endef
$(foreach p,$(shell grep -roE --include='t_*.c' --include='fuzz_*.c' '"tests/unit/.*_fixture\.h"' tests/unit tests/fuzz | tr -d '"'),\
    $(if $(wildcard $(basename $(lastword $(subst :, ,$(p)))).c),$(eval $(call fixture,$(subst :, ,$(p))))))

$(B)/tests/unit/cli/%: $(B)/obj/tests/unit/cli/%.o $(B)/obj/tests/unit/tap.o $(SANITIZED) $(call archives,cli proto base)
	@mkdir -p $(@D)
	@echo '  LD $@'
	$(Q)$(CC) $(ALLLDFLAGS) -o $@ $^ $(LIBS_PROTO) $(LIBS_CLI)

$(B)/tests/unit/%: $(B)/obj/tests/unit/%.o $(B)/obj/tests/unit/tap.o $(SANITIZED) $(call archives,$(SERVING)) $(LLHTTP)
	@mkdir -p $(@D)
	@echo '  LD $@'
	$(Q)$(CC) $(ALLLDFLAGS) -o $@ $(filter %.o,$^) $(LINK_SERVING)

# Each corpus through its target, without a fuzzer.
$(B)/fuzz/replay_%: $(B)/obj/tests/fuzz/fuzz_%.o $(B)/obj/tests/fuzz/replay.o $(B)/obj/tests/unit/tap.o $(call archives,$(SERVING)) $(LLHTTP)
	@mkdir -p $(@D)
	@echo '  LD $@'
	$(Q)$(CC) $(ALLLDFLAGS) -o $@.bin $(filter %.o,$^) $(LINK_SERVING)
	$(Q)printf '#!/bin/sh\nexec %s tests/fuzz/corpus/%s\n' $@.bin $* >$@ && chmod +x $@

# What the command parses.
$(B)/fuzz/replay_cli_%: $(B)/obj/tests/fuzz/fuzz_cli_%.o $(B)/obj/tests/fuzz/replay.o $(B)/obj/tests/unit/tap.o $(call archives,cli proto base)
	@mkdir -p $(@D)
	@echo '  LD $@'
	$(Q)$(CC) $(ALLLDFLAGS) -o $@.bin $^ $(LIBS_PROTO) $(LIBS_CLI)
	$(Q)printf '#!/bin/sh\nexec %s tests/fuzz/corpus/%s\n' $@.bin cli_$* >$@ && chmod +x $@

FUZZ_SECONDS = 600
FUZZ_SOURCES = $(foreach r,$(SERVING),$(call sources,$(r)))
fuzz: deps-lint $(FUZZ:%=fuzz-%)
fuzz-%: $(LLHTTP)
	@mkdir -p $(B)/fuzz/found_$*
	$(CLANG) $(BASEFLAGS) -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	    -o $(B)/fuzz/fuzz_$* tests/fuzz/fuzz_$*.c $(if $(filter cli_%,$*),$(filter-out cli/main.c,$(call sources,cli))) $(wildcard $(patsubst %.h,%.c,$(shell grep -oE 'tests/unit/.*_fixture\.h' tests/fuzz/fuzz_$*.c))) $(FUZZ_SOURCES) $(LIBS_LLHTTP) $(LIBS_SUPERVISOR) $(LIBS_PROTO) $(LIBS_EGRESS) $(LIBS_WORKER)
	$(B)/fuzz/fuzz_$* -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 \
	    -print_final_stats=1 -artifact_prefix=$(B)/fuzz/ $(B)/fuzz/found_$* tests/fuzz/corpus/$*

# The tests with paddockd, paddock-browser and paddock under AddressSanitizer and
# UBSan. Workers are the usual ones: under their filter a sanitizer cannot work.
# Any report fails, whichever process made it, and wherever. ASAN_TESTS: fewer.
# secrets.t looks through all memory, and a sanitizer's shadow is terabytes of it; t_privsep leaks what it makes itself.
ASAN_FLAGS = -fsanitize=address,undefined -fno-sanitize-recover=undefined
# Some warnings see less at -O1, beside what a sanitizer adds: they are wrong.
ASAN_CFLAGS = -O1 -g -fno-omit-frame-pointer -Wno-format-truncation -Wno-maybe-uninitialized
ASAN_TESTS = $(filter-out tests/system/operations/install.t tests/peers/conformance% tests/system/operations/secrets.t,$(SESSION))
REPORTS   := /tmp/paddock-asan.$(shell printf %s '$(CURDIR)/$(B)' | cksum | cut -d' ' -f1)
asan: asan-built
	rm -rf $(REPORTS) && mkdir -m 1777 $(REPORTS)
	PADDOCK_BUILD=$(B)/asan PADDOCK_PATIENCE=$${PADDOCK_PATIENCE:-120} tests/tools/in-clean-tmp prove $(PROVE) \
	    $(patsubst $(B)/tests/%,$(B)/asan/tests/%,$(ASAN_UNIT)) $(ASAN_TESTS); status=$$?; \
	tests/tools/reports $(REPORTS) && rm -rf $(REPORTS) && exit $$status
ASAN_UNIT ?= $(filter-out %/t_privsep %/t_filter_table %/t_sandbox %/t_browser_sandbox %/t_filter %/t_listener %/t_zygote %/t_zygote_report,$(UNIT))
asan-built: deps-check all
	+$(MAKE) B=$(B)/asan CFLAGS='$(ASAN_CFLAGS)' HARDEN='$(ASAN_FLAGS) -fPIE' LDFLAGS='$(ASAN_FLAGS)' \
	    SANITIZED='$(B)/asan/obj/tests/tools/sanitized.o' REPORTS='$(REPORTS)' asan-programs
	cp -r $(B)/paddock-worker $(B)/modules $(B)/templates $(B)/asan
	touch $(B)/asan/paddock-sanitized
asan-programs: $(filter-out %/paddock-worker,$(PROGRAMS)) $(ASAN_UNIT) $(B)/tests/unit/proto/schema/suite
$(B)/obj/tests/tools/sanitized.o: override EXTRA_CFLAGS += -DREPORTS='"$(REPORTS)"'

# The system tests of GUARD_TESTS with a paddockd that ends when its loop calls a file, hashes
# much, waits, or takes long: the same archives, linked with tests/tools/loop_guard.c.
GUARD_TESTS = $(filter-out tests/system/tree/% tests/system/operations/install.t tests/peers/conformance%,$(SESSION))
GUARDED    := /tmp/paddock-guard.$(shell printf %s '$(CURDIR)/$(B)' | cksum | cut -d' ' -f1)
check-guard: guard-built
	rm -rf $(GUARDED) && mkdir -m 1777 $(GUARDED) $(if $(GUARD_GOES_ON),&& touch $(GUARDED)/goes-on)
	PADDOCK_BUILD=$(B)/guard tests/tools/in-clean-tmp prove $(PROVE) $(GUARD_TESTS); status=$$?; \
	tests/tools/guarded $(GUARDED) $(B)/guard/paddockd && rm -rf $(GUARDED) && exit $$status
guard-built: deps-check all tests
	@mkdir -p $(B)/guard
	cp -r $(PROGRAMS) $(B)/modules $(B)/templates $(B)/tests $(B)/guard
	cp -f $(B)/tests/guard/paddockd $(B)/guard
# operations/loop_guard.t has it, too, for a part of those tests.
$(B)/tests/guard/paddockd: $(B)/obj/tests/tools/loop_guard.o $(B)/obj/supervisor/main.o $(call archives,supervisor proto net ipc base) $(LLHTTP)
	@mkdir -p $(@D)
	@echo '  LD $@'
	$(Q)$(CC) $(ALLLDFLAGS) -Wl,--wrap=nofollow_open,--wrap=nofollow_open_here,--wrap=pthread_cond_wait,--wrap=pthread_cond_timedwait -o $@ $(filter-out $(LLHTTP),$^) \
	    $(LIBS_LLHTTP) $(LIBS_SUPERVISOR) $(LIBS_PROTO) $(LIBS_IPC)
# What stands in for the C library's own is declared without its checks.
$(B)/obj/tests/tools/loop_guard.o: override EXTRA_CFLAGS += -DREPORTS='"$(GUARDED)"' -U_FORTIFY_SOURCE -fno-builtin

# The way of a call through the files of supervisor/: a paddockd that records each function
# that it enters, and tests/tools/walk, which counts files and moves.
WALKS := /tmp/paddock-walk.$(shell printf %s '$(CURDIR)/$(B)' | cksum | cut -d' ' -f1)
WALK_CFLAGS = -O1 -g -Wno-format-truncation -Wno-maybe-uninitialized -finstrument-functions \
              -finstrument-functions-exclude-file-list=base/,ipc/,proto/,/usr/
walk: all
	+$(MAKE) B=$(B)/walk CFLAGS='$(WALK_CFLAGS)' HARDEN=-fPIE SANITIZED='$(B)/walk/obj/tests/tools/walk.o' WALKS='$(WALKS)' $(B)/walk/paddockd
	cp -r $(filter-out %/paddockd,$(PROGRAMS)) $(B)/modules $(B)/templates $(B)/walk
	rm -rf $(WALKS) && mkdir -m 1777 $(WALKS)
	PADDOCK_BUILD=$(B)/walk tests/tools/walk $(WALK) $(WALKS); status=$$?; rm -rf $(WALKS); exit $$status
$(B)/obj/tests/tools/walk.o: override EXTRA_CFLAGS += -DWALKS='"$(WALKS)"'

# The system tests of ONE_MACHINE_TESTS, on SQLite, with a paddockd without what exists for
# several machines alone: tests/tools/one_machine.c is linked in place of these folders.
SEVERAL           = supervisor/cluster/% supervisor/store/postgres/% supervisor/store/import/%
ONE_MACHINE_TESTS = $(filter-out tests/system/tree/% tests/system/cluster/% tests/system/operations/install.t tests/peers/conformance%, \
                      $(filter-out $(shell grep -lE 'Postgres|postgres|Cluster;' $(SESSION)),$(SESSION)))
check-one-machine: deps-check all $(B)/tests/one_machine/paddockd
	@mkdir -p $(B)/one_machine
	cp -r $(PROGRAMS) $(B)/modules $(B)/templates $(B)/one_machine
	cp -f $(B)/tests/one_machine/paddockd $(B)/one_machine
	PADDOCK_BUILD=$(B)/one_machine tests/tools/in-clean-tmp prove $(PROVE) $(ONE_MACHINE_TESTS)
# cluster/one_machine.t has it, too, for a part of those tests.
$(B)/tests/one_machine/paddockd: $(B)/obj/tests/tools/one_machine.o $(B)/obj/supervisor/main.o \
  $(patsubst %.c,$(B)/obj/%.o,$(filter-out $(SEVERAL),$(call sources,supervisor))) $(call archives,proto net ipc base) $(LLHTTP)
	@mkdir -p $(@D)
	@echo '  LD $@'
	$(Q)$(CC) $(ALLLDFLAGS) -o $@ $(filter-out $(LLHTTP),$^) $(LIBS_LLHTTP) $(LIBS_SUPERVISOR) $(LIBS_PROTO) $(LIBS_IPC)

# Of three nodes on one database: the time ends it, after more than 100,000 runs.
SOAK_SECONDS = 1800
soak: deps-check all tests asan
	PADDOCK_ROUNDS=50 prove -v tests/system/runs/recovery.t
	PADDOCK_PATIENCE=120 PADDOCK_SOAK='200 2400' prove -v tests/system/http/soak.t
	PADDOCK_PATIENCE=120 PADDOCK_SOAK=1 prove -v tests/system/browser/browser_batch.t
	PADDOCK_PATIENCE=120 PADDOCK_ROUNDS=24 PADDOCK_RUNS=1000 prove -v tests/system/operations/soak_kills.t
	PADDOCK_ROUNDS=20000 prove -v tests/system/redteam/fuzz.t
	PADDOCK_PATIENCE=120 PADDOCK_ROUNDS=5000 prove -v tests/system/redteam/swap.t
	PADDOCK_PATIENCE=120 PADDOCK_ROUNDS=50 prove -v tests/system/redteam/loop.t
	PADDOCK_PATIENCE=300 PADDOCK_RUNS=1000000 PADDOCK_SECONDS=$(SOAK_SECONDS) prove -v tests/system/cluster/storm.t
	PADDOCK_FAULTS=3 $(B)/tests/unit/model/t_lease
	PADDOCK_STEPS=100000 prove -v tests/system/http/http_random.t
	PADDOCK_STEPS=100000 PADDOCK_PATIENCE=120 prove -v tests/system/operations/chaos.t
	PADDOCK_BUILD=$(B)/asan PADDOCK_STEPS=30000 PADDOCK_PATIENCE=120 prove -v tests/system/operations/chaos.t

# Small bugs, put in one at a time; M='sandbox/' tries those alone.
mutate: deps-check all
	tests/mutate/run '$(M)'
# Bugs that are made from the source, and the rate of those that are noticed, by folder.
# CHANGED=REV draws them from the files that changed since.
SEED   = 1
SAMPLE = 200
mutate-made: deps-check all
	tests/mutate/run --made --seed $(SEED) --sample $(SAMPLE) $(CHANGED:%=--changed %) '$(M)'

# Programs; the other files of bench/ are what they share.
BENCH = bench http store browser kept nodes engines files least
bench: deps-bench all $(BENCH:%=$(B)/bench/%)
	@bench/run $(B)
	@bench/latency
# Are pings and short runs of others answered in time, whatever is done to the server?
bench-latency: all
	@bench/latency
$(B)/bench/%: $(B)/obj/bench/%.o $(patsubst %.c,$(B)/obj/%.o,$(filter-out $(BENCH:%=bench/%.c),$(wildcard bench/*.c))) $(call archives,$(SERVING)) $(LLHTTP)
	@mkdir -p $(@D)
	@echo '  LD $@'
	$(Q)$(CC) $(ALLLDFLAGS) -o $@ $(filter %.o,$^) $(LINK_SERVING)
$(B)/bench/least: $(B)/obj/bench/least.o
	@mkdir -p $(@D)
	@echo '  LD $@'
	$(Q)$(CC) -static $(LDFLAGS) -o $@ $<

# ---- lint ----

LINTED  = $(COMPONENTS) tests bench etc/compiled
ALL_C   = $(shell find $(COMPONENTS) -name '*.c')
TESTS_C = $(shell find tests bench etc/compiled -name '*.c')
TIDY  = -*,bugprone-*,cert-*,clang-analyzer-*,-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,-cert-dcl37-c,-cert-dcl51-cpp,-cert-err33-c,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling

# Tests and bench go without six checks: they scan numbers that they or the
# kernel wrote, run commands of their own, fill buffers that they measured,
# multiply small constants, and need not be small.
TIDY_TESTS = $(TIDY),-cert-err34-c,-cert-env33-c,-clang-analyzer-security.insecureAPI.strcpy,-bugprone-not-null-terminated-result,-bugprone-implicit-widening-of-multiplication-result,-clang-analyzer-optin.performance.Padding

# cppcheck reads no system header: what it must know of their macros. It
# takes "template" for C++'s, and the ends of an embedded file for two objects.
CPPCHECK = --include=/usr/include/$(shell $(CC) -dumpmachine)/sys/queue.h \
           --include=tests/tools/cppcheck.h \
           --suppress=CastIntegerToAddressAtReturn --suppress=comparePointers

lint: deps-lint lint-format
	+$(MAKE) B=$(B)/clang CC=$(CLANG) all lint-objects
	+$(MAKE) B=$(B)/analyze EXTRA_CFLAGS=-fanalyzer all lint-objects
	cppcheck --quiet --language=c --std=c17 --enable=warning,performance,portability --inline-suppr \
	    $(CPPCHECK) --error-exitcode=1 -I. $(LINTED)
	printf '%s\n' $(ALL_C) | xargs -P2 -I{} clang-tidy --quiet --checks='$(TIDY)' --warnings-as-errors='*' {} -- $(BASEFLAGS)
	printf '%s\n' $(TESTS_C) | xargs -P2 -I{} clang-tidy --quiet --checks='$(TIDY_TESTS)' --warnings-as-errors='*' {} -- $(BASEFLAGS) -DREPORTS=
lint-format:
	find $(LINTED) -name '*.[ch]' | xargs clang-format --dry-run -Werror
# What is no program of "all", compiled alone: it warns and analyzes as well.
lint-objects: $(TESTS_C:%.c=$(B)/obj/%.o)

clean:
	rm -rf $(B)

-include $(shell find $(B) -path $(B)/vm -prune -o -name '*.d' -type f -print 2>/dev/null)
.SECONDARY:
.PHONY: all run index check on-postgres check-unit check-system check-vm help deps deps-vm deps-check deps-debian deps-peers deps-browser deps-bench deps-lint tests fuzz asan asan-built asan-programs check-guard guard-built soak walk mutate mutate-made bench bench-latency lint lint-format lint-objects clean

# ---- install ----

PREFIX     = /usr
SYSCONFDIR = /etc
BINDIR     = $(PREFIX)/bin
LIBEXECDIR = $(PREFIX)/libexec/paddock
SHAREDIR   = $(PREFIX)/share/paddock
MANDIR     = $(PREFIX)/share/man
DOCDIR     = $(PREFIX)/share/doc/paddock
COMPDIR    = $(PREFIX)/share/bash-completion/completions
FISHDIR    = $(PREFIX)/share/fish/vendor_completions.d
# Where Debian's zsh looks in /usr; elsewhere all do in site-functions.
ZSHDIR     = $(PREFIX)/share/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)
UNITDIR    = $(PREFIX)/lib/systemd/system
D          = $(DESTDIR)
INSTALL    = install

DATA    = $(patsubst etc/%,%,$(wildcard etc/templates/* etc/selftest/*))
MANUALS = $(notdir $(wildcard man/*.[1358]))
DOCS    = README.md TUTORIAL.md SECURITY.md NEWS LICENSE

install: all
	$(INSTALL) -d $(D)$(BINDIR) $(D)$(LIBEXECDIR) $(D)$(SHAREDIR) $(D)$(SYSCONFDIR)/paddock/conf.d \
	    $(D)$(SYSCONFDIR)/paddock/templates $(D)$(UNITDIR) $(D)$(COMPDIR) $(D)$(FISHDIR) $(D)$(ZSHDIR)
	$(INSTALL) -m 755 $(B)/paddock $(B)/paddockd $(D)$(BINDIR)
	$(INSTALL) -m 755 $(B)/paddock-worker $(B)/paddock-browser $(B)/paddock-egress $(D)$(LIBEXECDIR)
	for f in $(patsubst $(B)/%,%,$(MODULES)); do $(INSTALL) -D -m $$(test $${f#modules/bin/} = $$f && echo 644 || echo 755) $(B)/$$f $(D)$(LIBEXECDIR)/$$f || exit 1; done
	for n in $(CALL_NAMES); do ln -sf paddock-call $(D)$(LIBEXECDIR)/modules/bin/paddock-$$n || exit 1; done
	$(INSTALL) -m 644 etc/template.schema.json $(D)$(SHAREDIR)
	cd etc && find $(DATA) -type f ! -perm -u+x -exec $(INSTALL) -D -m 644 {} $(abspath $(D)$(SHAREDIR))/{} \;
	cd etc && find $(DATA) -type f -perm -u+x -exec $(INSTALL) -D -m 755 {} $(abspath $(D)$(SHAREDIR))/{} \;
	test -e $(D)$(SYSCONFDIR)/paddock/paddock.conf || \
	    $(INSTALL) -m 644 etc/paddock.conf $(D)$(SYSCONFDIR)/paddock
	for m in $(MANUALS); do $(INSTALL) -D -m 644 man/$$m $(D)$(MANDIR)/man$${m##*.}/$$m || exit 1; done
	$(INSTALL) -d $(D)$(DOCDIR)/examples/cluster $(D)$(DOCDIR)/examples/codemode
	$(INSTALL) -m 644 $(DOCS) $(D)$(DOCDIR)
	$(INSTALL) -m 644 $(wildcard etc/examples/*.*) $(D)$(DOCDIR)/examples
	$(INSTALL) -m 644 etc/examples/codemode/* $(D)$(DOCDIR)/examples/codemode
	$(INSTALL) -m 644 etc/cluster/* $(D)$(DOCDIR)/examples/cluster
	$(INSTALL) -m 644 etc/completion/paddock.bash $(D)$(COMPDIR)/paddock
	$(INSTALL) -m 644 etc/completion/paddock.fish $(D)$(FISHDIR)/paddock.fish
	$(INSTALL) -m 644 etc/completion/paddock.zsh $(D)$(ZSHDIR)/_paddock
	sed 's,@BINDIR@,$(BINDIR),' etc/paddockd.service >$(D)$(UNITDIR)/paddockd.service
	chmod 644 $(D)$(UNITDIR)/paddockd.service
	$(INSTALL) -m 644 etc/paddockd.socket $(D)$(UNITDIR)

# The operator's files stay: configuration, templates, state.
uninstall:
	rm -f $(D)$(BINDIR)/paddock $(D)$(BINDIR)/paddockd $(D)$(COMPDIR)/paddock \
	    $(D)$(FISHDIR)/paddock.fish $(D)$(ZSHDIR)/_paddock $(D)$(UNITDIR)/paddockd.service $(D)$(UNITDIR)/paddockd.socket \
	    $(foreach m,$(MANUALS),$(D)$(MANDIR)/man$(subst .,,$(suffix $(m)))/$(m))
	rm -rf $(D)$(LIBEXECDIR) $(D)$(SHAREDIR) $(D)$(DOCDIR)
	rmdir $(D)$(SYSCONFDIR)/paddock/conf.d $(D)$(SYSCONFDIR)/paddock/templates 2>/dev/null || true
.PHONY: install uninstall
