// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.reference.ManualTime;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.NodeParts;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.RaisingEngine;
import io.keyway.lock.spi.Request;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A lock by a majority of nodes whose parts are locks of the reference store: time is virtual, and what is told to
 * users waits until the test delivers it.
 */
class MajorityTest extends ReferenceClients {
    private static final Duration TTL = Duration.ofSeconds(8);
    private static final List<String> NODES = List.of("a:1", "b:1", "c:1");
    private static final Logger LOG = Logger.getLogger(ClientLog.class.getName());

    /** The nodes that lose what they have granted, when it is to be renewed. */
    private final Set<String> emptied = new HashSet<>();

    /** The nodes that answer no request. */
    private final Set<String> silent = new HashSet<>();

    /** What has been asked for, and is neither granted nor refused nor withdrawn. */
    private final Set<Request> asked = new HashSet<>();

    private final Queue<Runnable> events = new ArrayDeque<>();
    private final List<String> warnings = new CopyOnWriteArrayList<>();
    private final List<String> infos = new CopyOnWriteArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord record) {
            List<String> lines = record.getLevel().equals(Level.WARNING) ? warnings : infos;
            lines.add(new SimpleFormatter().formatMessage(record));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    /** Whether the time of a grant is over for a thread that asks, as for one that reads the clock late. */
    private boolean late;

    private boolean raiseFails;
    private boolean closing;
    private ManualTime time;
    private EngineClient client;

    /** The store, of which some names are nodes'. */
    private final class Nodes extends ReferenceBackend {
        Nodes(ReferenceWorld world, Set<Feature> features) {
            super(world, time, features, "");
        }

        @Override
        public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
            List<Answer> answers = new ArrayList<>(super.renew(grants, limit));
            for (int i = 0; i < grants.size(); i++) {
                Grant grant = grants.get(i);
                if (NodeParts.node(grant.key().name().value())
                        .filter(emptied::contains)
                        .isPresent()) {
                    release(grant, limit);
                    answers.set(i, Answer.NOT_HELD);
                }
            }
            return answers;
        }
    }

    @BeforeEach
    void open() {
        LOG.addHandler(handler);
        LOG.setLevel(Level.INFO);
        LOG.setUseParentHandlers(false);
        LockClient other = open("other");
        time = time(other);
        ReferenceWorld world = other.unwrap(ReferenceWorld.class);
        Set<Feature> features = EnumSet.copyOf(ReferenceBackend.FEATURES);
        features.addAll(Set.of(Feature.TRANSACTIONS, Feature.NODE_SETS));
        ClientOptions options = ClientOptions.defaults().withName("nodes").withEventExecutor(this::event);
        LockUrl url = LockUrl.parse(manual + "&ttl=" + TTL.toMillis() + "ms");
        OpenRequest request = new OpenRequest(url, options, getClass().getClassLoader(), time);
        Settings settings = Settings.of(request.url(), request.options(), request.time(), request::get);
        StoreEngine engine = new StoreEngine(settings, new Nodes(world, features), new InlineWorkers());
        engine.connect();
        client = EngineClient.open(settings, raising(engine));
    }

    @AfterEach
    void close() {
        deliver();
        closing = true;
        client.close();
        LOG.removeHandler(handler);
        LOG.setLevel(null);
        LOG.setUseParentHandlers(true);
    }

    private LockEngine raising(LockEngine engine) {
        return (LockEngine) Proxy.newProxyInstance(
                LockEngine.class.getClassLoader(), new Class<?>[] {RaisingEngine.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("raise")) {
                        if (raiseFails) {
                            throw new IllegalStateException("raise fails");
                        }
                        // All names have the tokens of one store, which rise.
                        return CompletableFuture.completedStage(true);
                    }
                    if (method.getName().equals("submit")) {
                        Request request = (Request) arguments[0];
                        if (NodeParts.node(request.key().name().value())
                                .filter(silent::contains)
                                .isPresent()) {
                            return null;
                        }
                        asked.add(request);
                        arguments[1] = watched(request, (LockEngine.Sink) arguments[1]);
                    } else if (method.getName().equals("withdraw")) {
                        asked.remove((Request) arguments[arguments.length - 1]);
                    }
                    return invoke(engine, method, arguments);
                });
    }

    /** The grants of that one end when the test says so, and go on when it says otherwise. */
    private LockEngine.Sink watched(Request request, LockEngine.Sink sink) {
        return (LockEngine.Sink) Proxy.newProxyInstance(
                LockEngine.class.getClassLoader(),
                new Class<?>[] {LockEngine.Sink.class},
                (proxy, method, arguments) -> {
                    if (Set.of("granted", "refused", "failed").contains(method.getName())) {
                        asked.remove(request);
                    }
                    if (method.getName().equals("granted")) {
                        LockEngine.Hold hold = (LockEngine.Hold) arguments[0];
                        arguments[0] = Proxy.newProxyInstance(
                                LockEngine.class.getClassLoader(),
                                new Class<?>[] {LockEngine.Hold.class},
                                (held, asked, given) -> late && asked.getName().equals("deadlineNanos")
                                        ? time.nanoTime() - 1
                                        : invoke(hold, asked, given));
                    }
                    return invoke(sink, method, arguments);
                });
    }

    private void event(Runnable task) {
        if (closing) {
            task.run();
        } else {
            events.add(task);
        }
    }

    private void deliver() {
        for (Runnable event = events.poll(); event != null; event = events.poll()) {
            event.run();
        }
    }

    private void passes(Duration by) {
        time.advance(by, this::deliver);
    }

    private LockTransaction holder() throws InterruptedException {
        LockTransaction holder =
                new TransactionView(client.context(), TransactionOptions.defaults(), LockOptions.none());
        holder.lock("x", LockMode.EXCLUSIVE, NODES, NodeRule.MAJORITY);
        passes(Duration.ofSeconds(1));
        assertThat(holder.tokens("x")).containsOnlyKeys(NODES);
        return holder;
    }

    /** Nobody waits for a part that the lock is held without. */
    @Test
    void aLockIsHeldOnBeforeItsTransactionIsNotifiedOfALostPart() throws Exception {
        LockTransaction holder = holder();
        emptied.add("a:1");
        time.advance(TTL.dividedBy(2));
        assertThat(holder.tokens("x")).as("nothing was delivered").containsOnlyKeys("b:1", "c:1");
        holder.cancel("y"); // any step
        holder.ensureHeld();
        assertThat(holder.status()).isEqualTo(Status.HELD);
        holder.close();
    }

    /** A thread that reads the clock late sees a deadline passed, and others do not. */
    @Test
    void aLockThatWasSeenAtTooFewNodesIsLostForAll() throws Exception {
        LockTransaction holder = holder();
        late = true;
        holder.cancel("y"); // any step
        late = false;
        assertThatThrownBy(holder::ensureHeld).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> holder.ensureHeld("x")).isInstanceOf(LeaseLostException.class);
        assertThat(holder.status()).isEqualTo(Status.LOST);
        deliver();
        assertThat(holder.lost().toCompletableFuture()).isDone();
        assertThat(holder.unlock("x")).isEqualTo(ReleaseOutcome.ALREADY_LOST);
        holder.close();
    }

    @Test
    void aLossNamesTheLockAndSaysForHowLongThatWasHeld() throws Exception {
        LockTransaction holder = holder();
        emptied.add("a:1");
        passes(TTL.multipliedBy(2));
        emptied.clear();
        passes(TTL);
        assertThat(holder.tokens("x")).as("it is asked for again").containsOnlyKeys(NODES);
        assertThat(warnings).isEmpty();
        assertThat(infos)
                .isNotEmpty()
                .allSatisfy(line ->
                        assertThat(line).contains("nodes has lost @a:1/x", "holds the lock x on by 2 of 3 nodes"));

        emptied.add("b:1");
        passes(TTL.dividedBy(2));
        holder.ensureHeld();
        emptied.add("a:1");
        passes(TTL.dividedBy(2));
        LeaseLoss loss = holder.lost().toCompletableFuture().join();
        assertThat(loss.heldFor()).isGreaterThan(TTL.multipliedBy(3));
        assertThat(loss.detail()).contains("too few of its nodes are left");
        assertThatThrownBy(holder::ensureHeld)
                .isInstanceOfSatisfying(
                        LeaseLostException.class,
                        lost -> assertThat(lost.name()).contains(LockName.of("x")));
        holder.close();
        assertThat(warnings).hasSize(1);
        assertThat(warnings.get(0)).contains("nodes has lost the lock x ", "too few of its nodes are left");
    }

    /** The thread that waits for it is the one by which futures are completed: nothing is delivered meanwhile. */
    @Test
    void anAcquireAndAReleaseNeedNoEvent() throws Exception {
        DistributedLock lock = client.lock(LockName.of("x"), NodeSet.of(NodeRule.MAJORITY, NODES));
        assertThat(inThread(() -> lock.acquire().release()).get()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(inThread(() -> lock.tryAcquire(TTL).orElseThrow().release()).get())
                .isEqualTo(ReleaseOutcome.RELEASED);
    }

    /** Its caller may ask again at once, and must not find its own request before it. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aTryHasTakenBackWhatItAskedForWhenItSaysFalse(int seconds) throws Exception {
        LockTransaction holder = holder();
        NodeSet nodes = NodeSet.of(NodeRule.MAJORITY, NODES);
        List<Integer> left = new ArrayList<>();
        CompletionStage<Boolean> tried = TransactionLocks.overNodes(
                        client.context(), LockName.of("x"), nodes, LockOptions.none())
                .takeAsync(Duration.ofSeconds(seconds), Optional::isPresent, Runnable::run);
        tried.thenAccept(taken -> left.add(taken ? -1 : asked.size()));
        passes(Duration.ofSeconds(2));
        assertThat(left).containsExactly(0);
        holder.close();
    }

    @Test
    void aTryThatDoesNotWaitEndsWhereNobodyAnswers() {
        silent.addAll(List.of("a:1", "b:1"));
        CompletionStage<Optional<Lease>> tried = client.lock(LockName.of("x"), NodeSet.of(NodeRule.MAJORITY, NODES))
                .tryAcquireAsync(Duration.ZERO);
        passes(Duration.ofSeconds(30));
        assertThat(tried.toCompletableFuture()).isCompletedExceptionally();
        assertThatThrownBy(() -> tried.toCompletableFuture().getNow(Optional.empty()))
                .hasCauseInstanceOf(LockUnavailableException.class);
        assertEmpty(client);
    }

    @Test
    void aLeaseThatIsLostIsToldOnceAndLoggedOnce() throws Exception {
        Lease lease = client.lock(LockName.of("x"), NodeSet.of(NodeRule.MAJORITY, NODES))
                .acquire();
        List<LeaseLoss> losses = new ArrayList<>();
        lease.lost().thenAccept(losses::add);
        passes(Duration.ofSeconds(1));
        emptied.addAll(NODES);
        passes(TTL);
        assertThat(lease.state()).isEqualTo(Lease.State.LOST);
        assertThat(losses).hasSize(1);
        assertThat(losses.get(0).heldFor()).isBetween(Duration.ofSeconds(1), TTL.plusSeconds(1));
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
        deliver();
        assertThat(warnings).hasSize(1);
        assertThat(warnings.get(0)).contains("nodes has lost the lock x ");
    }

    /** What a user waits for fails, too. */
    @Test
    void anEngineThatThrowsOutARaiseKeepsNobodyWaiting() {
        raiseFails = true;
        CompletionStage<Lease> lease = client.lock(LockName.of("x"), NodeSet.of(NodeRule.MAJORITY, NODES))
                .acquireAsync();
        deliver();
        assertThatThrownBy(() -> lease.toCompletableFuture().getNow(null)).hasStackTraceContaining("raise fails");
        passes(Duration.ofSeconds(1));
        assertEmpty(client);
    }
}
