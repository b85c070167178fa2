// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Input;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The links between clients and members, and what happens to frames on them. */
final class SimNet {
    private static final long CONNECT_TIMEOUT = 2 * Nanos.SECOND;
    private static final long RETRANSMISSION = 200 * Nanos.MILLI;

    /** What is wrong with all links from one machine to another, one direction. */
    static final class Condition {
        int cuts;
        long delay;
        int lossPerMille;
        int duplicatePerMille;
        long reordering;

        void clear() {
            cuts = 0;
            delay = 0;
            lossPerMille = 0;
            duplicatePerMille = 0;
            reordering = 0;
        }
    }

    /** Something to be done to one direction between two machines. */
    interface Change {
        void apply(SimNode client, SimNode member, int direction);
    }

    private final SimWorld world;
    private final Options options;
    private final Noise noise;
    private final List<SimLink> all = new ArrayList<>();
    /** By the slot of who dials, the slot of the member, and the direction. */
    private final Condition[][][] conditions;

    private boolean healed;

    SimNet(SimWorld world, Plan plan) {
        this.world = world;
        this.options = plan.options();
        this.noise = new Noise(options.seed(), world, plan.mishaps());
        this.conditions = new Condition[world.size()][world.memberNodes()][2];
        for (Condition[][] from : conditions) {
            for (Condition[] both : from) {
                both[0] = new Condition();
                both[1] = new Condition();
            }
        }
    }

    /** The client at the other end of a member's link. */
    int client(long atMember) {
        return all.get((int) atMember).client.node().index();
    }

    Noise noise() {
        return noise;
    }

    Condition condition(SimNode client, SimNode member, int direction) {
        return conditions[client.slot()][member.slot()][direction];
    }

    /**
     * Every direction between that machine and one other, or all others if that is {@link Fault#ALL}.
     *
     * @param towards {@link SimLink#TO_MEMBER}: what a client sends and what a member is sent; null: both directions
     */
    void each(SimNode node, int other, @Nullable Integer towards, Change change) {
        for (int m = 0; m < world.memberNodes(); m++) {
            SimNode peer = world.member(m);
            if (peer == node || (other != Fault.ALL && other != peer.index())) {
                continue;
            }
            int direction = towards == null ? -1 : node.isMember() ? 1 - towards : towards;
            both(node, peer, direction, change);
        }
        for (int s = 0; node.isMember() && s < world.size(); s++) {
            SimNode client = world.bySlot(s);
            if (client != node && (other == Fault.ALL || other == client.index())) {
                both(client, node, towards == null ? -1 : towards, change);
            }
        }
    }

    private static void both(SimNode client, SimNode member, int direction, Change change) {
        for (int d = 0; d < 2; d++) {
            if (direction < 0 || direction == d) {
                change.apply(client, member, d);
            }
        }
    }

    void dial(SimCell client, long number) {
        SimNode target = client.target();
        SimNode member = target == null ? world.model().dials(client, number) : target;
        int ordinal = client.nextOrdinal();
        Condition[] between = conditions[client.node().slot()][member.slot()];
        SimLink link = new SimLink(client, member, number, all.size(), ordinal, between);
        all.add(link);
        client.links().add(link);
        boolean cut = between[SimLink.TO_MEMBER].cuts > 0 || between[SimLink.TO_CLIENT].cuts > 0;
        if (cut) {
            push(world.now() + CONNECT_TIMEOUT, Event.Kind.CLOSED, link, SimLink.TO_CLIENT, "no answer");
        } else if (link.member == null) {
            push(
                    world.now() + latency(link, SimLink.TO_MEMBER, 0),
                    Event.Kind.CLOSED,
                    link,
                    SimLink.TO_CLIENT,
                    "refused");
        } else {
            long there = world.now() + latency(link, SimLink.TO_MEMBER, 0);
            push(there, Event.Kind.OPENED, link, SimLink.TO_MEMBER, null);
            push(there + latency(link, SimLink.TO_CLIENT, 0), Event.Kind.OPENED, link, SimLink.TO_CLIENT, null);
        }
    }

    void transmit(SimCell from, long number, Object frame) {
        SimLink link = find(from, number);
        if (link != null) {
            carry(link, away(link, from), frame, false);
        }
    }

    /** The direction of what that cell sends. */
    private static int away(SimLink link, SimCell from) {
        return from == link.client ? SimLink.TO_MEMBER : SimLink.TO_CLIENT;
    }

    void hangUp(SimCell from, long number) {
        SimLink link = find(from, number);
        if (link != null) {
            from.links().remove(link);
            int direction = away(link, from);
            link.close(1 - direction);
            carry(link, direction, "closed", true);
        }
    }

    /** The link that the cell knows by that number, if its own end is open. */
    private @Nullable SimLink find(SimCell cell, long number) {
        if (number >= 0 && cell.number() == 0 && cell.node().isMember()) {
            SimLink link = all.get((int) number);
            return link.memberOpen && link.member == cell ? link : null;
        }
        List<SimLink> links = cell.links();
        for (int i = links.size() - 1; i >= 0; i--) {
            if (links.get(i).client == cell && links.get(i).atClient == number) {
                return links.get(i);
            }
        }
        return null;
    }

    private void carry(SimLink link, int direction, Object frame, boolean close) {
        if (!close) {
            world.model().sent(link, direction, frame);
            if (world.tracer() != null) {
                world.tracer().sent(link, direction, frame);
            }
        }
        Condition condition = link.conditions[direction];
        if (condition.cuts > 0) {
            if (options.ordered()) {
                link.stuck(direction).add(new SimLink.Stuck(frame, close));
            }
            boolean oneWay = link.conditions[1 - direction].cuts == 0;
            Fault.Kind oneWayCut = direction == SimLink.TO_MEMBER ? Fault.Kind.CUT_TO_MEMBER : Fault.Kind.CUT_TO_CLIENT;
            struck(oneWay ? oneWayCut : Fault.Kind.CUT);
            if (world.tracer() != null) {
                world.tracer().lost(link, direction, frame, options.ordered() ? "held up by a cut" : "cut");
            }
            return;
        }
        long index = ++link.sent[direction];
        long draw = noise.draw(link, direction, index);
        Mishap mishap = null;
        if (!close) {
            mishap = noise.isListed()
                    ? noise.next(link, direction, world.now())
                    : mishap(link, direction, draw, condition);
        }
        if (mishap != null) {
            noise.met(mishap);
        }
        if (mishap != null && mishap.lost()) {
            struck(Fault.Kind.LOSS);
            if (world.tracer() != null) {
                world.tracer().lost(link, direction, frame, "lost");
            }
            return;
        }
        long late = mishap == null ? 0 : mishap.late();
        Event.Kind kind = close ? Event.Kind.CLOSED : Event.Kind.ARRIVE;
        push(arrival(link, direction, draw, late), kind, link, direction, frame);
        if (mishap != null && mishap.doubled()) {
            struck(Fault.Kind.DUPLICATION);
            push(arrival(link, direction, Draws.of(draw, 2), late), kind, link, direction, frame);
        }
    }

    private @Nullable Mishap mishap(SimLink link, int direction, long draw, Condition condition) {
        if (healed) {
            return null;
        }
        int loss = options.lossPerMille() + condition.lossPerMille;
        boolean lost = loss > 0 && (draw & 0xffff) % 1000 < loss;
        int duplicate = options.duplicatePerMille() + condition.duplicatePerMille;
        boolean doubled = duplicate > 0 && !options.ordered() && (draw >>> 16 & 0xffff) % 1000 < duplicate;
        boolean slow = options.tail() > 0 && (draw >>> 32 & 63) == 0;
        if (!lost && !doubled && !slow) {
            return null;
        }
        long late = slow ? Long.remainderUnsigned(Draws.of(draw, 1), options.tail()) : 0;
        if (lost && options.ordered()) {
            late += RETRANSMISSION;
        }
        return new Mishap(
                world.now(),
                link.client.node().index(),
                link.memberNode.index(),
                direction,
                lost && !options.ordered(),
                doubled,
                late);
    }

    private long arrival(SimLink link, int direction, long draw, long late) {
        long at = world.now() + late + latency(link, direction, draw);
        if (options.ordered()) {
            at = Math.max(at, link.lastArrival[direction] + 1);
        } else if (at < link.lastArrival[direction]) {
            struck(Fault.Kind.REORDERING);
        }
        link.lastArrival[direction] = Math.max(at, link.lastArrival[direction]);
        return at;
    }

    private long latency(SimLink link, int direction, long draw) {
        Condition condition = link.conditions[direction];
        long latency = options.latency() + condition.delay;
        if (condition.delay > 0) {
            struck(Fault.Kind.DELAY);
        }
        if (options.jitter() > 0) {
            latency += (draw >>> 40) % options.jitter();
        }
        if (condition.reordering > 0 && !options.ordered()) {
            latency += Long.remainderUnsigned(Draws.of(draw, 3), condition.reordering);
        }
        return latency;
    }

    private void push(long at, Event.Kind kind, SimLink link, int direction, @Nullable Object what) {
        Event event = world.heap().push(at, kind, link.node(direction));
        event.cell = link.to(direction);
        event.link = link;
        event.what = what;
        event.number = direction;
    }

    /**
     * An event of a link has come to the machine of its node, whether that runs or is paused. True if the process is to
     * see it.
     */
    boolean reaches(Event event) {
        SimLink link = event.link;
        if (link == null) {
            return true;
        }
        int direction = (int) event.number;
        SimCell cell = link.to(direction);
        boolean there = cell != null && cell.alive();
        if (event.kind == Event.Kind.OPENED) {
            if (cell == null || !there) {
                refuse(link, direction);
                return false;
            }
            if (direction == SimLink.TO_MEMBER) {
                link.memberOpen = true;
                cell.links().add(link);
                return true;
            }
            return link.clientOpen;
        }
        if (there && link.openAt(direction)) {
            return true;
        }
        if (event.kind == Event.Kind.ARRIVE) {
            refuse(link, direction);
        }
        return false;
    }

    /** Nobody is there for it: the sender is told that the link is closed. */
    private void refuse(SimLink link, int direction) {
        int back = 1 - direction;
        if (link.openAt(back)) {
            carry(link, back, "reset", true);
        }
    }

    void opened(SimLink link, int direction) {
        SimCell cell = link.to(direction);
        if (cell != null && link.openAt(direction)) {
            cell.input(new Input.Opened(link.number(direction)));
        }
    }

    void closed(SimLink link, int direction, String why) {
        SimCell cell = link.to(direction);
        if (cell != null && link.openAt(direction)) {
            cell.links().remove(link);
            link.close(direction);
            cell.input(new Input.Closed(link.number(direction), why));
        }
    }

    /** All links of a process that ends. Its peers learn of it, if the machine still stands. */
    void dropAll(SimNode node, boolean told) {
        for (SimCell cell : node.cells()) {
            for (SimLink link : new ArrayList<>(cell.links())) {
                int direction = away(link, cell);
                link.close(1 - direction);
                if (told) {
                    carry(link, direction, "process ended", true);
                }
            }
            cell.links().clear();
        }
    }

    /** Both ends of the node's links to that one other, or to all, see them closed. */
    void reset(SimNode node, int other) {
        for (SimCell cell : node.cells()) {
            for (SimLink link : new ArrayList<>(cell.links())) {
                SimNode peer = link.node(away(link, cell));
                if (other != Fault.ALL && other != peer.index()) {
                    continue;
                }
                struck(Fault.Kind.RESET);
                for (int direction = 0; direction < 2; direction++) {
                    if (link.openAt(direction)) {
                        push(world.now(), Event.Kind.CLOSED, link, direction, "reset");
                    }
                }
            }
        }
    }

    private void struck(Fault.Kind kind) {
        world.goals().reached(kind);
    }

    void cut(SimNode client, SimNode member, int direction, int more) {
        Condition condition = condition(client, member, direction);
        condition.cuts += more;
        if (condition.cuts == 0) {
            release(condition, direction);
        }
    }

    /** Whether two members cannot talk to each other, in either direction. */
    boolean isCut(SimNode one, SimNode other) {
        for (int direction = 0; direction < 2; direction++) {
            if (condition(one, other, direction).cuts > 0 || condition(other, one, direction).cuts > 0) {
                return true;
            }
        }
        return false;
    }

    /** What the link held up goes on its way. */
    private void release(Condition condition, int direction) {
        for (int i = 0; i < all.size(); i++) {
            SimLink link = all.get(i);
            ArrayDeque<SimLink.Stuck> stuck = link.stuck(direction);
            while (link.conditions[direction] == condition && !stuck.isEmpty()) {
                SimLink.Stuck next = stuck.removeFirst();
                carry(link, direction, next.frame(), next.close());
            }
        }
    }

    /** From now on the net only has its latency and jitter. */
    void heal() {
        healed = true;
        for (Condition[][] from : conditions) {
            for (Condition[] both : from) {
                for (int direction = 0; direction < 2; direction++) {
                    both[direction].clear();
                    release(both[direction], direction);
                }
            }
        }
    }
}
