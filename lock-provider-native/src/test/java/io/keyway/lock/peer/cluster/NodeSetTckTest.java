// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Election;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.process.Patience;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The checks of locks over nodes, on three members, and on transactions that have one defect each. */
@Tag("soak") // on the real clock
class NodeSetTckTest {
    private static final List<String> RULES =
            IntStream.rangeClosed(2101, 2107).mapToObj(rule -> "LK-" + rule).toList();

    /** What is wrong, and the rule whose check finds it. */
    enum Defect {
        NONE("LK-2101"),
        /** Each client asks one node, and another one than the next client. */
        ASKS_ONE_NODE("LK-2101"),
        /** Another list or rule is another lock. */
        FORGETS_THE_SET("LK-2103"),
        /** What is unlocked stays held. */
        KEEPS_THE_NODES("LK-2104"),
        TOKENS_FALL("LK-2105"),
        /** An election at nodes is one at the member that has its name. */
        ELECTS_WITHOUT_NODES("LK-2106"),
        /** Of three nodes the third one is never asked. */
        ASKS_NO_SPARES("LK-2107");

        private final String rule;

        Defect(String rule) {
            this.rule = rule;
        }
    }

    /** In the order in which they were seen first. */
    private static final Map<LockClient, Integer> CLIENTS = new ConcurrentHashMap<>();

    @TempDir
    private Path directory;

    private TestMembers members;

    @BeforeEach
    void start() throws Exception {
        members = new TestMembers(directory, "a", "b", "c");
        List<ClusterMember> all = members.startAll("abc", Duration.ofSeconds(5), true);
        await().atMost(Patience.of(Duration.ofSeconds(60)))
                .until(() -> all.stream().noneMatch(ClusterMember::quarantined));
    }

    @AfterEach
    void endTheMembers() {
        members.close();
    }

    @Test
    void theGoodOnePasses() throws Exception {
        TckResult result = run(Defect.NONE, RULES);
        assertThat(result.with(Verdict.FAIL)).isEmpty();
        assertThat(result.with(Verdict.PASS)).hasSize(8);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void eachDefectIsFound(Defect defect) throws Exception {
        assertThat(run(defect, List.of(defect.rule)).with(Verdict.FAIL))
                .anySatisfy(check -> assertThat(check.rules()).contains(defect.rule));
    }

    private TckResult run(Defect defect, List<String> rules) throws Exception {
        TckSubject subject = TckSubject.of(
                        "lock:native://" + String.join(",", members.ids("abc")) + "/keyway?maxTtl=5s")
                .withTransactions((client, options) -> careless(client, client.transaction(options), defect))
                .withElections((client, name) -> careless(client.election(name), defect));
        return TckRunner.run(
                subject,
                TckConfig.of(Profile.QUICK)
                        .withOnly(rules)
                        .withCheckLimit(Patience.of(Duration.ofSeconds(defect == Defect.NONE ? 60 : 5))));
    }

    private static Election careless(Election good, Defect defect) {
        return (Election) Proxy.newProxyInstance(
                Election.class.getClassLoader(), new Class<?>[] {Election.class}, (proxy, method, given) -> {
                    if (defect == Defect.ELECTS_WITHOUT_NODES
                            && method.getName().equals("at")) {
                        return good;
                    }
                    try {
                        return method.invoke(good, given);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static LockTransaction careless(LockClient client, LockTransaction good, Defect defect) {
        return (LockTransaction) Proxy.newProxyInstance(
                LockTransaction.class.getClassLoader(),
                new Class<?>[] {LockTransaction.class},
                (proxy, method, given) -> {
                    Object[] arguments = given == null ? new Object[0] : given.clone();
                    String name = method.getName();
                    if (name.equals("lockAsync") && arguments[0] instanceof Collection<?> requests) {
                        arguments[0] = requests.stream()
                                .map(each -> spoilt(client, (LockRequest) each, defect))
                                .toList();
                    } else if (defect == Defect.KEEPS_THE_NODES && (name.equals("unlock") || name.equals("close"))) {
                        return null;
                    }
                    try {
                        Object result = method.invoke(good, arguments);
                        return defect == Defect.TOKENS_FALL && result instanceof Map<?, ?> tokens
                                ? fallen(tokens)
                                : result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static Map<Object, Long> fallen(Map<?, ?> tokens) {
        Map<Object, Long> fallen = new TreeMap<>();
        tokens.forEach((node, token) -> fallen.put(node, -(Long) token));
        return fallen;
    }

    private static LockRequest spoilt(LockClient client, LockRequest request, Defect defect) {
        NodeSet set = request.nodes().orElseThrow();
        if (defect == Defect.ASKS_ONE_NODE && set.nodes().size() > 1) {
            CLIENTS.putIfAbsent(client, CLIENTS.size());
            int place = CLIENTS.get(client) % 2;
            return request.at(NodeSet.of(NodeRule.ALL, List.of(set.nodes().get(place))));
        } else if (defect == Defect.ASKS_NO_SPARES && set.rule() == NodeRule.MAJORITY) {
            return request.at(NodeSet.of(NodeRule.ALL, set.nodes().subList(0, set.needed())));
        } else if (defect == Defect.FORGETS_THE_SET) {
            return new LockRequest(LockName.of(request.name() + "-" + set.rule()), request.mode()).at(set);
        }
        return request;
    }
}
