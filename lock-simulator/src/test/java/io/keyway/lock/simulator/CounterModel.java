// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.counter.CounterAlgorithm;
import io.keyway.lock.peer.counter.CounterMember;
import io.keyway.lock.peer.counter.CounterMessage.Count;
import io.keyway.lock.peer.counter.CounterMessage.Counted;
import io.keyway.lock.peer.counter.CounterMessage.Heard;
import io.keyway.lock.peer.counter.CounterMessage.Stamp;
import io.keyway.lock.peer.counter.CounterMessage.Tally;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView.Restored;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.MemberPromise;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.session.SessionTarget;
import io.keyway.lock.peer.wire.RecordCodec;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The counter of the tests, plugged in as any algorithm is: three members that talk to each other, and clients that
 * count at one of them each.
 *
 * <p>Its oracle: an increment that a client was told of is on the disk of every member, and no member ever forgets it;
 * nobody counts what nobody asked for; what one member says to another arrives once, in order, and never after what its
 * next life says. After the faults, every member counts the same.
 */
final class CounterModel implements Model {
    private static final List<String> IDS = List.of("a", "b", "c");

    private final SimWorld world;
    private final CounterAlgorithm algorithm;
    private final RecordCodec records;
    private final SessionSettings settings;
    /** What each member has forced, as bytes; it outlives the member's lives. */
    private final List<Map<Key, byte[]>> disks = new ArrayList<>();

    private final List<Set<Long>> asked = new ArrayList<>();
    private final Map<Key, Set<Long>> everAsked = new TreeMap<>();
    private final Map<Key, Set<Long>> told = new TreeMap<>();
    private final Map<String, Stamp> heard = new HashMap<>();
    private long increments;

    CounterModel(SimWorld world, CounterAlgorithm algorithm) {
        this.world = world;
        this.algorithm = algorithm;
        this.records = algorithm.records().orElseThrow();
        this.settings =
                Sessions.settings(algorithm.id(), world.options().maxTtl()).among(1, String.join(",", IDS));
        for (int i = 0; i < world.size(); i++) {
            disks.add(new TreeMap<>());
            asked.add(new TreeSet<>());
        }
    }

    static List<Act> acts(Options options) {
        Draws draws = new Draws(options.seed(), 6);
        List<Act> acts = new ArrayList<>();
        for (int i = 0; i < options.acts(); i++) {
            long at = draws.below(options.faultPhase());
            int client = (int) draws.between(1, options.clients());
            acts.add(new Act(at, client, 0, "count", draws.below(options.names()), 0, 0));
        }
        return acts;
    }

    @Override
    public void start(SimNode node) {
        Incarnation self = Sessions.incarnation(node, 0);
        if (!node.isMember()) {
            asked.get(node.slot()).clear();
            ClientSession session = new ClientSession(settings, self, SessionTarget.ONLY_MEMBER, List.of(), 0, 0);
            SimNode member = world.member(node.index() % IDS.size());
            node.open(0, new Cell(algorithm.clientMachines(), session), member);
            return;
        }
        node.disk().start(1, world.options().maxTtl());
        String id = IDS.get(node.slot());
        Membership membership = new Membership(id, IDS, 0, 1, false, 0, Membership.LARGEST_EPOCH - 1);
        MemberSessions sessions =
                new MemberSessions(settings, membership, self, node.disk().startEpoch(), node.clock(), Horizon.NONE);
        node.open(0, new Cell(algorithm.memberMachines(route -> true), sessions.withPeers(false)), null);
        for (byte[] stored : disks.get(node.slot()).values()) {
            DurableRecord record = read(stored);
            node.input(new Input.Command(records.key(record), new Restored(record)));
        }
    }

    private DurableRecord read(byte[] stored) {
        try {
            return records.read(new WireReader(stored));
        } catch (WireException e) {
            throw new IllegalStateException("a record that was written can be read", e);
        }
    }

    @Override
    public void forced(SimNode member, DurableRecord record) {
        if (record instanceof MemberPromise) {
            return;
        }
        WireWriter bytes = new WireWriter(RecordCodec.MAX_BYTES);
        records.write(record, bytes);
        disks.get(member.slot()).put(records.key(record), bytes.toBytes());
    }

    @Override
    public SimNode dials(SimCell cell, long link) {
        String to = ((MemberSessions) cell.cell().sessions()).peers().dials(link);
        return world.member(IDS.indexOf(to));
    }

    @Override
    public void act(SimNode node, Act act) {
        long increment = ++increments;
        Key key = CounterAlgorithm.key("n" + act.name());
        asked.get(node.slot()).add(increment);
        everAsked.computeIfAbsent(key, fresh -> new TreeSet<>()).add(increment);
        node.input(new Input.Command(key, new Count(increment)));
    }

    @Override
    public void wake(SimNode node, long number, Object what) {}

    @Override
    public void notice(SimCell cell, Notice notice) {
        if (notice instanceof Counted counted) {
            asked.get(cell.node().slot()).remove(counted.increment());
            told.computeIfAbsent(counted.key(), fresh -> new TreeSet<>()).add(counted.increment());
            for (int member = 0; member < IDS.size(); member++) {
                if (!onDisk(member, counted.key()).contains(counted.increment())) {
                    throw new Violation("DURABLE", counted + ", and it is not on the disk of " + IDS.get(member));
                }
            }
        } else if (notice instanceof Heard message) {
            inOrder(cell, message);
        }
    }

    private Set<Long> onDisk(int member, Key key) {
        byte[] stored = disks.get(member).get(key);
        return stored == null ? Set.of() : new TreeSet<>(((Tally) read(stored)).increments());
    }

    private void inOrder(SimCell cell, Heard message) {
        String to = cell.node() + "/" + cell.node().incarnation() + message.key() + message.from();
        Stamp next = message.stamp();
        Stamp last = heard.put(to, next);
        boolean goesOn = last != null && next.life() == last.life() && next.period() == last.period();
        boolean begins = last == null
                || next.life() > last.life()
                || (next.life() == last.life() && next.period() > last.period());
        if (goesOn ? next.number() != last.number() + 1 : !begins || next.number() != 1) {
            throw new Violation("ORDER", to + " heard " + next + " after " + last);
        }
    }

    @Override
    public void ended(SimNode node, boolean crash) {
        asked.get(node.slot()).clear();
    }

    @Override
    public long session(SimNode client) {
        return 0;
    }

    @Override
    public List<Oracle> oracles() {
        return List.of(node -> {
            if (node.isMember() && node.alive()) {
                everAsked.keySet().forEach(key -> judge(node, key));
            }
        });
    }

    private void judge(SimNode member, Key key) {
        Set<Long> counts = counted(member, key);
        if (!counts.containsAll(told.getOrDefault(key, Set.of()))) {
            throw new Violation("FORGOTTEN", member + " counts " + counts + " of " + told.get(key));
        }
        if (!everAsked.get(key).containsAll(counts)) {
            throw new Violation("INVENTED", member + " counts " + counts + " of " + everAsked.get(key));
        }
    }

    private static Set<Long> counted(SimNode member, Key key) {
        return member.cell().machine(key) instanceof CounterMember machine ? machine.counted() : Set.of();
    }

    @Override
    public String waiting() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < asked.size(); i++) {
            if (!asked.get(i).isEmpty()) {
                text.append(' ').append(world.bySlot(i)).append(" for ").append(asked.get(i));
            }
        }
        return text.toString();
    }

    @Override
    public String leftOver() {
        for (Key key : everAsked.keySet()) {
            Set<Long> first = counted(world.member(0), key);
            for (int i = 1; i < IDS.size(); i++) {
                Set<Long> other = counted(world.member(i), key);
                if (!other.equals(first)) {
                    return key + ": a counts " + first + ", " + IDS.get(i) + " counts " + other;
                }
            }
        }
        return "";
    }

    @Override
    public long finishWithin() {
        return 4 * world.options().maxTtl() + 20 * Nanos.SECOND;
    }

    @Override
    public long cleanWithin() {
        return 4 * world.options().maxTtl() + 20 * Nanos.SECOND;
    }
}
