// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Discovery;
import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.Option;
import io.keyway.lock.Scope;
import io.keyway.lock.spi.Interceptor;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.ProviderInfo;
import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckListener;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckResult.Trouble;
import io.keyway.lock.tck.TckSubject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One run of the TCK: looks at the subject, makes the checks that apply, and gathers what they found. */
public final class Run {
    private static final int FRAMES = 8;

    private final Catalog catalog;
    private final TckSubject subject;
    private final TckConfig config;
    private final TckListener listener;
    private final long begun = System.nanoTime();
    /** Who says that it takes the URL, even if it then cannot open it. */
    private volatile @Nullable ProviderInfo asked;

    private record Opened(
            ProviderInfo info,
            Scope reach,
            boolean overBackend,
            Set<Feature> features,
            Guarantees guarantees,
            Optional<LockUrl> testUrl,
            boolean sharesTestUrl) {}

    /** A run of these checks, as far as the configuration has them, of that subject. */
    public Run(Catalog catalog, TckSubject subject, TckConfig config, TckListener listener) {
        this.catalog = catalog;
        this.subject = subject;
        this.config = config;
        this.listener = listener;
    }

    /** Makes the run. */
    public TckResult run() throws InterruptedException {
        LockUrl url;
        try {
            url = LockUrl.parse(subject.url());
        } catch (InvalidLockUrlException e) {
            return cannotOpen("(no URL)", String.valueOf(e.getMessage()));
        }
        String word = TestPlace.word();
        Opened opened;
        try {
            opened = withinLimit(opening(), () -> look(url, word));
        } catch (CannotOpen e) {
            return cannotOpen(url.toString(), SecretMasker.of(url).text(String.valueOf(e.getMessage())));
        }
        CheckClock clock = subject.advance().<CheckClock>map(VirtualClock::new).orElseGet(RealClock::new);
        RunContext run = new RunContext(
                subject,
                config,
                url,
                opened.features(),
                opened.guarantees(),
                opened.reach(),
                opened.overBackend(),
                opened.info().options().stream().map(Option::name).collect(Collectors.toSet()),
                new TestPlace(url, opened.testUrl(), opened.sharesTestUrl(), subject.loader(), this::left),
                new Links(),
                new AtomicBoolean(),
                clock,
                word);
        List<CheckSpec> specs = catalog.planned(config);
        listener.opened(result(opened, url.toString(), null, List.of()));
        listener.planned(specs.size());
        Map<String, CheckResult> results = new ConcurrentHashMap<>();
        boolean whole;
        try (StallMeter meter = new StallMeter()) {
            whole = runAll(run, specs, meter, results);
        }
        List<CheckResult> inOrder = new ArrayList<>();
        for (CheckSpec spec : specs) {
            CheckResult found = results.get(spec.id());
            if (found != null) {
                inOrder.add(found);
            }
        }
        Trouble trouble = whole ? null : new Trouble(Trouble.Kind.CANCELLED, "the run was cancelled");
        return result(opened, url.toString(), trouble, inOrder);
    }

    /** Returns whether all were made. */
    private boolean runAll(RunContext run, List<CheckSpec> specs, StallMeter meter, Map<String, CheckResult> results) {
        boolean virtual = run.clock().isVirtual();
        List<CheckSpec> beside = new ArrayList<>();
        List<CheckSpec> alone = new ArrayList<>();
        for (CheckSpec spec : specs) {
            (virtual || spec.check().alone() ? alone : beside).add(spec);
        }
        // The longest wait for answers that do not come; one that begins last would be waited for alone.
        beside.sort(
                Comparator.comparing(spec -> !List.of(spec.check().requires()).contains(Requirement.WIRE)));
        // A server that does not come back as it was would be blamed on every check after it.
        alone.sort(Comparator.comparing(spec -> List.of(spec.check().requires()).contains(Requirement.SERVER)));
        ExecutorService pool = Executors.newFixedThreadPool(config.parallel(), daemons());
        try {
            try (HostKeeper keeper = HostKeeper.of(run, beside.isEmpty())) {
                keeper.open();
                List<Future<?>> running = new ArrayList<>();
                for (CheckSpec spec : beside) {
                    running.add(pool.submit(() -> make(run, spec, meter, results)));
                }
                for (Future<?> each : running) {
                    each.get();
                }
            }
            for (CheckSpec spec : alone) {
                if (Thread.currentThread().isInterrupted()) {
                    return false;
                }
                make(run, spec, meter, results);
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException("the TCK itself failed", e.getCause());
        } finally {
            pool.shutdownNow();
        }
    }

    private void left(Optional<LockUrl> place) {
        synchronized (listener) {
            listener.left(place);
        }
    }

    private void make(RunContext run, CheckSpec spec, StallMeter meter, Map<String, CheckResult> results) {
        synchronized (listener) {
            listener.started(spec.id());
        }
        CheckResult result = SecretMasker.of(run.url()).result(new CheckRun(run, spec, meter::worstSince).run());
        results.put(spec.id(), result);
        synchronized (listener) {
            listener.finished(result);
        }
    }

    private static ThreadFactory daemons() {
        return work -> {
            Thread thread = new Thread(work, "tck-checks");
            thread.setDaemon(true);
            return thread;
        };
    }

    // Looking at the subject

    /** Why it cannot be opened. */
    private static final class CannotOpen extends Exception {
        private static final long serialVersionUID = 1L;

        CannotOpen(String message) {
            super(message);
        }
    }

    /** Whether the time of a lease does not pass by itself. */
    private static boolean standsStill(Lease lease) throws InterruptedException {
        CheckClock clock = new RealClock();
        Duration before = lease.remaining();
        for (int i = 0; i < 100; i++) {
            if (!lease.remaining().equals(before)) {
                return false;
            }
            clock.pass(Duration.ofMillis(20));
        }
        return true;
    }

    private TckResult cannotOpen(String url, String why) {
        ProviderInfo found = asked;
        TckResult unopened = TckResult.unopened(url, config);
        return (found == null ? unopened : unopened.by(found))
                .ended(took(), Optional.of(new Trouble(Trouble.Kind.CANNOT_OPEN, why)), List.of());
    }

    /** How long looking at the subject may take. */
    private Duration opening() {
        return Duration.ofMillis((long) (config.checkLimit().toMillis() * config.timeFactor() / 2));
    }

    private Opened look(LockUrl url, String word) throws CannotOpen {
        Discovery found = Locks.discover(subject.loader());
        ProviderInfo info = null;
        Scope reach = Scope.NETWORK;
        LockProvider chosen = null;
        for (LockProvider provider : found.providers()) {
            if (provider.schemes().contains(url.provider())) {
                info = provider.info();
                asked = info;
                chosen = provider;
                reach = provider.scope(url);
            }
        }
        ClientOptions named = ClientOptions.defaults().withName("tck-look");
        try {
            Set<Feature> features = EnumSet.noneOf(Feature.class);
            Guarantees guarantees;
            AtomicBoolean overBackend = new AtomicBoolean();
            Interceptor seen = new Interceptor() {
                @Override
                public LockBackend backend(LockBackend backend) {
                    overBackend.set(true);
                    return backend;
                }
            };
            try (LockClient client = first(url, named, seen)) {
                features.addAll(client.features());
                guarantees = Objects.requireNonNull(client.guarantees(), "guarantees() of the client returned null");
            }
            if (info == null || chosen == null) {
                throw new CannotOpen("no provider says that it takes " + url);
            }
            Duration ttl = RunContext.within(guarantees, Duration.ofSeconds(10));
            ClientOptions terms = named.withDefaults(LockOptions.none().withTtl(ttl));
            try (LockClient client = Locks.open(url, terms, subject.loader())) {
                // The first lock may start a server, which takes its time on a busy machine.
                Optional<Lease> lease = client.lock("tck/look/" + TestPlace.word())
                        .tryAcquire(opening().dividedBy(2));
                if (lease.isPresent() && subject.advance().isEmpty() && standsStill(lease.get())) {
                    throw new CannotOpen("the clock of " + url + " stands still: the TCK moves one only through"
                            + " TckSubject.withAdvance, from a program or LockTck; here, give a URL on the "
                            + "machine's clock");
                }
                lease.ifPresent(Lease::close);
            }
            // The URL's options have been checked by now.
            Optional<LockUrl> testUrl = chosen.testUrl(url, word);
            boolean shared = testUrl.isPresent() && testUrl.equals(chosen.testUrl(url, TestPlace.word()));
            return new Opened(info, reach, overBackend.get(), features, guarantees, testUrl, shared);
        } catch (InterruptedException e) {
            throw new CannotOpen("interrupted while opening " + url);
        } catch (LockException e) {
            throw new CannotOpen(e.getMessage() + failures(found));
        }
    }

    /** A driver may take longer to be loaded than a connection may take to be made. */
    private LockClient first(LockUrl url, ClientOptions named, Interceptor seen) throws CannotOpen {
        try {
            return Locks.open(url, named, subject.loader(), seen);
        } catch (LockUnavailableException e) {
            try {
                return Locks.open(url, named, subject.loader(), seen);
            } catch (LockUnavailableException again) {
                throw new CannotOpen(again.getMessage()
                        + "\n(tried twice; on a slow machine a longer connectTimeout in the URL helps)");
            }
        }
    }

    private static String failures(Discovery found) {
        StringBuilder text = new StringBuilder();
        found.failures()
                .forEach(failure -> text.append("\n  ")
                        .append(failure.source())
                        .append(": ")
                        .append(failure.reason()));
        return text.isEmpty() ? "" : "\nProviders that could not be loaded:" + text;
    }

    private static <T> T withinLimit(Duration limit, Callable<T> call) throws CannotOpen, InterruptedException {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        result.complete(call.call());
                    } catch (Throwable e) {
                        result.completeExceptionally(e);
                    }
                },
                "tck-look");
        thread.setDaemon(true);
        thread.start();
        try {
            return result.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            StringBuilder text = new StringBuilder("opening the URL, taking one lock and closing did not end within "
                    + Expectations.text(limit) + "; it stands at");
            for (StackTraceElement frame : thread.getStackTrace()) {
                text.append("\n    at ").append(frame);
            }
            thread.interrupt();
            throw new CannotOpen(text.toString());
        } catch (ExecutionException e) {
            Throwable cause = Objects.requireNonNullElse(e.getCause(), e);
            if (cause instanceof CannotOpen known) {
                throw known;
            }
            StringBuilder text = new StringBuilder("opening the URL threw " + cause);
            Arrays.stream(cause.getStackTrace())
                    .limit(FRAMES)
                    .forEach(frame -> text.append("\n    at ").append(frame));
            throw new CannotOpen(text.toString());
        }
    }

    private TckResult result(Opened opened, String url, @Nullable Trouble trouble, List<CheckResult> checks) {
        ProviderInfo info = opened.info();
        return new TckResult(
                info.name(),
                info.version(),
                info.apiLevel(),
                TckResult.unopened(url, config).tckVersion(),
                url,
                config.profile(),
                config.seed(),
                config.timeFactor(),
                subject.advance().isPresent(),
                opened.reach(),
                opened.features(),
                Optional.of(opened.guarantees()),
                took(),
                Optional.ofNullable(trouble),
                checks);
    }

    private Duration took() {
        return Duration.ofNanos(System.nanoTime() - begun);
    }
}
