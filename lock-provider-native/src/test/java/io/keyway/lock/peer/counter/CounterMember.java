// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.counter;

import io.keyway.lock.peer.counter.CounterAlgorithm.Flaw;
import io.keyway.lock.peer.counter.CounterMessage.Add;
import io.keyway.lock.peer.counter.CounterMessage.Counts;
import io.keyway.lock.peer.counter.CounterMessage.Have;
import io.keyway.lock.peer.counter.CounterMessage.Heard;
import io.keyway.lock.peer.counter.CounterMessage.Stamp;
import io.keyway.lock.peer.counter.CounterMessage.Tally;
import io.keyway.lock.peer.counter.CounterMessage.Tell;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MemberView.Restored;
import io.keyway.lock.peer.kernel.MemberView.SessionEnded;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.PeerView.PeerUp;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One counter at one member.
 *
 * <p>States: the increments that it counts, all of them forced before anybody hears of them; for each other member,
 * those that it has said to have; and the clients that wait for an increment to be everywhere. Messages: {@link
 * CounterMessage}. Invariant: a client hears of an increment when every member of the list has it on disk.
 */
public final class CounterMember implements Machine {
    private final Key key;
    private final Flaw flaw;
    private final TreeSet<Long> counted = new TreeSet<>();
    private final TreeMap<String, TreeSet<Long>> elsewhere = new TreeMap<>();
    private final TreeMap<Long, Peer> waiting = new TreeMap<>();
    /** What was said last to each member. */
    private final TreeMap<String, Stamp> said = new TreeMap<>();

    private boolean watches;

    CounterMember(Key key, Flaw flaw) {
        this.key = key;
        this.flaw = flaw;
    }

    /** What it counts. */
    public Set<Long> counted() {
        return new TreeSet<>(counted);
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {
        watch(turn);
        if (message instanceof Add add) {
            if (!waiting.containsValue(from)) {
                turn.member().await(from, key, turn.member().maxTtl());
            }
            waiting.put(add.increment(), from);
            if (count(List.of(add.increment()), turn)) {
                for (String member : turn.peers().members()) {
                    tell(member, List.of(add.increment()), turn);
                }
            }
            settle(turn);
            return;
        }
        String member = turn.peers().member(from);
        if (message instanceof Tell tell) {
            turn.tell(new Heard(key, member, tell.stamp()));
            count(tell.increments(), turn);
            has(member, tell.increments(), turn);
            if (up(member, turn)) {
                turn.send(from, new Have(key, next(member), tell.increments()));
            }
        } else if (message instanceof Have have) {
            turn.tell(new Heard(key, member, have.stamp()));
            has(member, have.increments(), turn);
        }
    }

    private void watch(Turn turn) {
        if (!watches) {
            watches = true;
            turn.peers().watch(key);
        }
    }

    /** Counts what is new, and forces it; true if there is any. */
    private boolean count(List<Long> increments, Turn turn) {
        if (!counted.addAll(increments)) {
            return false;
        }
        if (flaw != Flaw.FORCES_NOTHING) {
            turn.force(new Tally(key, List.copyOf(counted)));
        }
        return true;
    }

    /** Whether that member is up, and this machine has been told. */
    private boolean up(String member, Turn turn) {
        return said.containsKey(member) && turn.peers().up(member);
    }

    private void tell(String member, List<Long> increments, Turn turn) {
        if (up(member, turn)) {
            turn.peers().send(member, new Tell(key, next(member), increments));
        }
    }

    /** Of a member that is up, which {@link PeerUp} has told. */
    private Stamp next(String member) {
        return said.compute(member, (same, last) -> new Stamp(last.life(), last.period(), last.number() + 1));
    }

    private void has(String member, List<Long> increments, Turn turn) {
        elsewhere.computeIfAbsent(member, fresh -> new TreeSet<>()).addAll(increments);
        settle(turn);
    }

    /** Answers whom every member has satisfied. */
    private void settle(Turn turn) {
        for (Map.Entry<Long, Peer> each : List.copyOf(waiting.entrySet())) {
            if (everywhere(each.getKey(), turn)) {
                waiting.remove(each.getKey());
                turn.send(each.getValue(), new Counts(key, each.getKey(), counted.size()));
                if (!waiting.containsValue(each.getValue())) {
                    turn.member().unawait(each.getValue(), key, turn.member().maxTtl());
                }
            }
        }
    }

    private boolean everywhere(long increment, Turn turn) {
        int missing = 0;
        for (String member : turn.peers().members()) {
            boolean there = member.equals(turn.peers().self())
                    ? counted.contains(increment)
                    : elsewhere.getOrDefault(member, new TreeSet<>()).contains(increment);
            missing += there ? 0 : 1;
        }
        return missing <= (flaw == Flaw.ANSWERS_EARLY ? 1 : 0);
    }

    @Override
    public void called(Call call, Turn turn) {
        if (call instanceof Restored restored) {
            counted.addAll(((Tally) restored.record()).increments());
            watch(turn);
        } else if (call instanceof PeerUp up) {
            Stamp last = said.get(up.member());
            said.put(up.member(), new Stamp(turn.member().epoch(), last == null ? 1 : last.period() + 1, 0));
            if (!counted.isEmpty() && flaw != Flaw.SAYS_ONCE) {
                tell(up.member(), List.copyOf(counted), turn);
            }
        } else if (call instanceof SessionEnded ended) {
            waiting.values().removeIf(ended.peer()::equals);
        }
    }

    @Override
    public void due(int slot, Turn turn) {}

    @Override
    public boolean atRest() {
        return false;
    }

    @Override
    public CounterMember copy() {
        CounterMember copy = new CounterMember(key, flaw);
        copy.counted.addAll(counted);
        elsewhere.forEach((member, has) -> copy.elsewhere.put(member, new TreeSet<>(has)));
        copy.waiting.putAll(waiting);
        copy.said.putAll(said);
        copy.watches = watches;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        out.value(counted).value(elsewhere).value(waiting).value(said).put(watches);
    }
}
