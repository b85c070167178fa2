// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Deadlock;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.TransactionOptions.OnDeadlock;
import io.keyway.lock.spi.Probe;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A request that a transaction can do without is no edge: nobody gives way for a circle through it. */
class SpareRequestsTest {
    private static final LockName OWN = LockName.of("own");
    private static final LockName NODE = LockName.of("@a:1/lock");
    private static final long MILLISECOND = 1_000_000;

    /** Writes down what the agent wants done. */
    private static final class Written implements AgentEffects {
        final List<Probe> probes = new ArrayList<>();
        final List<String> ends = new ArrayList<>();
        final List<Long> wakes = new ArrayList<>();
        long requests = 100;
        /** So many other nodes may be asked instead of NODE. */
        int others;

        @Override
        public long nextRequest() {
            return ++requests;
        }

        @Override
        public void ask(LockName name, LockMode mode, long request) {}

        @Override
        public void release(LockName name, long token) {
            ends.add("surrenders " + name);
        }

        @Override
        public void withdraw(LockName name, long request) {
            ends.add("gives up the place for " + name);
        }

        @Override
        public boolean passOver(LockName name) {
            boolean can = others > 0 && name.equals(NODE);
            others -= can ? 1 : 0;
            return can;
        }

        @Override
        public void probe(LockName name, long request, Probe probe) {
            probes.add(probe);
        }

        @Override
        public void abort(Deadlock deadlock) {
            ends.add("aborted");
        }

        @Override
        public void wakeAt(long nanos) {
            wakes.add(nanos);
        }
    }

    private final Written written = new Written();
    private final Agent agent = new Agent(new Probe.Agent(2, 1), "client", 0, OnDeadlock.SURRENDER, written);
    private long now = MILLISECOND;

    /** It holds a lock that others wait for, and waits at a node. */
    private void waits(boolean spare) {
        agent.asked(OWN, LockMode.EXCLUSIVE, 1, now);
        agent.asked(NODE, LockMode.EXCLUSIVE, 2, now);
        agent.spare(NODE, spare, now);
        agent.granted(OWN, 1, 7, now);
        now += 30 * MILLISECOND;
        agent.due(now);
    }

    private Probe last() {
        return written.probes.get(written.probes.size() - 1);
    }

    /** A search of this agent comes back by the lock that it holds, and then its confirmation. */
    private void comesBack(Probe search) {
        Probe.Edge back = new Probe.Edge(new Probe.Agent(1, 1), "other", OWN, 9, 0, 0, 0);
        Probe arrived = search.arrived(search.edge().to(5, 0)).along(back);
        int before = written.probes.size();
        agent.probed(OWN, 7, 0, arrived, now);
        if (written.probes.size() > before) {
            Probe confirm = last();
            agent.probed(
                    OWN, 7, 0, confirm.on(Probe.Kind.CONFIRM, confirm.path().size() - 1), now);
        }
    }

    @Test
    void aCircleThroughARequestThatIsNeededIsResolved() {
        waits(false);
        comesBack(last());
        assertThat(written.ends).containsExactly("surrenders own");
    }

    @Test
    void noSearchGoesAlongASpareRequest() {
        waits(true);
        assertThat(written.probes).isEmpty();
    }

    @Test
    void nobodyGivesWayForARequestThatHasBecomeSpare() {
        waits(false);
        Probe search = last();
        agent.spare(NODE, true, now);
        comesBack(search);
        assertThat(written.ends).isEmpty();
    }

    /** Who waits for nothing that it needs tells its user, searches for nothing, and is on no circle of others. */
    @Test
    void whoWantsWhatItCanDoWithoutAloneIsComplete() {
        agent.asked(OWN, LockMode.EXCLUSIVE, 1, now);
        agent.granted(OWN, 1, 7, now);
        agent.asked(NODE, LockMode.EXCLUSIVE, 2, now);
        assertThat(agent.isComplete()).isFalse();
        agent.spare(NODE, true, now);
        assertThat(agent.isComplete()).isTrue();
        now += 30 * MILLISECOND;
        agent.due(now);
        Probe.Edge first = new Probe.Edge(new Probe.Agent(1, 1), "other", OWN, 9, 0, 0, 0);
        agent.probed(OWN, 7, 0, round(1, first), now);
        assertThat(written.probes).isEmpty();
        assertThat(agent.granted(NODE, 2, 8, now)).isTrue();
        assertThat(agent.isReported(NODE)).isTrue();
        agent.asked(LockName.of("more"), LockMode.EXCLUSIVE, 3, now);
        assertThat(agent.isComplete()).isFalse();
    }

    /** Who needed nothing for a while searches again when it does: nobody else may search for it. */
    @Test
    void aRequestThatIsNeededAgainIsSearchedFor() {
        waits(true);
        written.wakes.clear();
        agent.due(now);
        assertThat(written.wakes).as("nothing is needed").isEmpty();
        agent.spare(NODE, false, now);
        assertThat(written.wakes).hasSize(1);
        now = written.wakes.get(0);
        agent.due(now);
        comesBack(last());
        assertThat(written.ends).containsExactly("aborted");
    }

    /** What the search saw was another wait than what stands now. */
    @Test
    void norForOneThatWasSpareSinceTheSearchPassed() {
        waits(false);
        Probe search = last();
        agent.spare(NODE, true, now);
        agent.spare(NODE, false, now);
        comesBack(search);
        assertThat(written.ends).isEmpty();

        now += 30 * MILLISECOND;
        agent.due(now);
        comesBack(last());
        assertThat(written.ends).containsExactly("surrenders own");
    }

    /** Its circle is none as long as it has another node to ask. */
    @Test
    void nobodyGivesWayWhileAnotherNodeIsLeft() {
        waits(false);
        written.others = 1;
        comesBack(last());
        assertThat(written.ends).isEmpty();
        assertThat(last().kind()).isEqualTo(Probe.Kind.SEARCH);

        now += 30 * MILLISECOND;
        agent.due(now);
        comesBack(last());
        assertThat(written.ends).containsExactly("surrenders own");
    }

    /** Nor does another one of the circle: the confirmation ends here. */
    @Test
    void whoHasAnotherNodeConfirmsNoCircleOfOthers() {
        agent.asked(NODE, LockMode.EXCLUSIVE, 2, now);
        Probe.Edge first = new Probe.Edge(new Probe.Agent(3, 1), "other", NODE, 9, 0, 0, 0);
        agent.probed(NODE, 0, 2, round(1, first), now);
        Probe confirm = last().on(Probe.Kind.CONFIRM, 0);
        written.others = 1;
        agent.probed(NODE, 0, 2, confirm, now);
        assertThat(last().kind()).isEqualTo(Probe.Kind.SEARCH);
        agent.probed(NODE, 0, 2, confirm, now);
        assertThat(last().kind()).isEqualTo(Probe.Kind.CONFIRM);
    }

    private static Probe round(long round, Probe.Edge first) {
        return new Probe(Probe.Kind.SEARCH, first.waiter(), 0, 0, round, 0, List.of(first));
    }

    /** Of another's search it passes on the confirmation only if it has needed that request since. */
    @Test
    void whoPassesOnConfirmsOnlyWhatItHasNeededSinceTheSearch() {
        agent.asked(NODE, LockMode.EXCLUSIVE, 2, now);
        Probe.Edge first = new Probe.Edge(new Probe.Agent(3, 1), "other", NODE, 9, 0, 0, 0);
        agent.probed(NODE, 0, 2, round(1, first), now);
        Probe passed = last();
        Probe confirm = passed.on(Probe.Kind.CONFIRM, 0);
        agent.probed(NODE, 0, 2, confirm, now);
        assertThat(last().kind()).isEqualTo(Probe.Kind.CONFIRM);

        // The next search may come before the confirmation of this one, where the way around is long.
        agent.spare(NODE, true, now);
        agent.spare(NODE, false, now);
        agent.probed(NODE, 0, 2, round(2, first), now);
        confirm = last().on(Probe.Kind.CONFIRM, 0);
        agent.probed(NODE, 0, 2, round(3, first), now);
        agent.probed(NODE, 0, 2, confirm, now);
        assertThat(last().kind()).isEqualTo(Probe.Kind.CONFIRM);

        int before = written.probes.size();
        agent.spare(NODE, true, now);
        agent.probed(NODE, 0, 2, confirm, now);
        agent.spare(NODE, false, now);
        agent.probed(NODE, 0, 2, confirm, now);
        assertThat(written.probes).hasSize(before);
    }
}
