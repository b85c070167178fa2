// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import io.keyway.lock.peer.kernel.Input;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The links between clients and the member, and what happens to frames on them. */
final class SimNet {
    private static final long CONNECT_TIMEOUT = 2 * Nanos.SECOND;
    private static final long RETRANSMISSION = 200 * Nanos.MILLI;

    /** What is wrong with all links of one client, one direction. */
    static final class Condition {
        int cuts;
        long delay;
        int lossPerMille;
        int duplicatePerMille;
        long reordering;
    }

    private final SimWorld world;
    private final Options options;
    private final Noise noise;
    private final List<SimLink> all = new ArrayList<>();
    private final Condition[][] conditions;
    private boolean healed;

    SimNet(SimWorld world, Plan plan) {
        this.world = world;
        this.options = plan.options();
        this.noise = new Noise(options.seed(), options.clients() + 1, plan.mishaps());
        this.conditions = new Condition[options.clients() + 1][2];
        for (Condition[] both : conditions) {
            both[0] = new Condition();
            both[1] = new Condition();
        }
    }

    /** The client at the other end of a member's link. */
    int client(long atMember) {
        return all.get((int) atMember).client.index();
    }

    Noise noise() {
        return noise;
    }

    Condition condition(SimNode client, int direction) {
        return conditions[client.index()][direction];
    }

    void dial(SimNode client, long number) {
        SimNode member = world.node(0);
        SimLink link = new SimLink(client, member, number, all.size(), client.nextOrdinal());
        all.add(link);
        client.links().add(link);
        boolean cut = condition(client, SimLink.TO_MEMBER).cuts > 0 || condition(client, SimLink.TO_CLIENT).cuts > 0;
        if (cut) {
            push(world.now() + CONNECT_TIMEOUT, Event.Kind.CLOSED, link, SimLink.TO_CLIENT, "no answer");
        } else if (!member.alive()) {
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

    void transmit(SimNode from, long number, Object frame) {
        SimLink link = find(from, number);
        if (link == null) {
            return;
        }
        carry(link, from.isMember() ? SimLink.TO_CLIENT : SimLink.TO_MEMBER, frame, false);
    }

    void hangUp(SimNode from, long number) {
        SimLink link = find(from, number);
        if (link != null) {
            hangUp(from, link);
        }
    }

    private void hangUp(SimNode from, SimLink link) {
        from.links().remove(link);
        if (from.isMember()) {
            link.memberOpen = false;
        } else {
            link.clientOpen = false;
        }
        carry(link, from.isMember() ? SimLink.TO_CLIENT : SimLink.TO_MEMBER, "closed", true);
    }

    /** The link that the node knows by that number, if its own end is open. */
    private @Nullable SimLink find(SimNode node, long number) {
        if (node.isMember()) {
            SimLink link = all.get((int) number);
            return link.memberOpen && link.memberIncarnation == node.incarnation() ? link : null;
        }
        List<SimLink> links = node.links();
        for (int i = links.size() - 1; i >= 0; i--) {
            if (links.get(i).atClient == number) {
                return links.get(i);
            }
        }
        return null;
    }

    private void carry(SimLink link, int direction, Object frame, boolean close) {
        if (!close) {
            world.model().sent(link, direction, frame);
        }
        Condition condition = condition(link.client, direction);
        if (condition.cuts > 0) {
            if (options.ordered()) {
                link.stuck(direction).add(new SimLink.Stuck(frame, close));
            }
            boolean oneWay = condition(link.client, 1 - direction).cuts == 0;
            Fault.Kind oneWayCut = direction == SimLink.TO_MEMBER ? Fault.Kind.CUT_TO_MEMBER : Fault.Kind.CUT_TO_CLIENT;
            struck(oneWay ? oneWayCut : Fault.Kind.CUT);
            if (world.tracer() != null) {
                world.tracer().lost(link, direction, frame, options.ordered() ? "held up by a cut" : "cut");
            }
            return;
        }
        long index = ++link.sent[direction];
        int client = link.client.index();
        long draw = noise.draw(client, link.ordinal, direction, index);
        Mishap mishap = null;
        if (!close) {
            mishap = noise.isListed()
                    ? noise.next(client, direction, world.now())
                    : mishap(client, direction, draw, condition);
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

    private @Nullable Mishap mishap(int client, int direction, long draw, Condition condition) {
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
        return new Mishap(world.now(), client, direction, lost && !options.ordered(), doubled, late);
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
        Condition condition = condition(link.client, direction);
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
        Event event = world.heap().push(at, kind, link.to(direction));
        event.incarnation = link.incarnation(direction);
        event.link = link;
        event.what = what;
        event.number = direction;
    }

    /** An event of a link has come to the machine of its node, whether that runs or is paused. True if the process is to see it. */
    boolean reaches(Event event) {
        SimLink link = event.link;
        if (link == null) {
            return true;
        }
        int direction = (int) event.number;
        SimNode node = link.to(direction);
        boolean sameProcess = node.alive() && node.incarnation() == link.incarnation(direction);
        if (event.kind == Event.Kind.OPENED) {
            if (!sameProcess) {
                refuse(link, direction);
                return false;
            }
            if (direction == SimLink.TO_MEMBER) {
                link.memberOpen = true;
                node.links().add(link);
                return true;
            }
            return link.clientOpen;
        }
        if (sameProcess && link.openAt(direction)) {
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

    void opened(Event event, SimLink link) {
        int direction = (int) event.number;
        if (link.openAt(direction)) {
            link.to(direction).input(new Input.Opened(link.number(direction)));
        }
    }

    void closed(Event event, SimLink link) {
        int direction = (int) event.number;
        if (link.openAt(direction)) {
            SimNode node = link.to(direction);
            node.links().remove(link);
            if (direction == SimLink.TO_MEMBER) {
                link.memberOpen = false;
            } else {
                link.clientOpen = false;
            }
            node.input(new Input.Closed(link.number(direction), String.valueOf(event.what)));
        }
    }

    /** All links of a process that ends. Its peers learn of it, if the machine still stands. */
    void dropAll(SimNode node, boolean told) {
        for (SimLink link : new ArrayList<>(node.links())) {
            if (node.isMember()) {
                link.memberOpen = false;
            } else {
                link.clientOpen = false;
            }
            if (told) {
                carry(link, node.isMember() ? SimLink.TO_CLIENT : SimLink.TO_MEMBER, "process ended", true);
            }
        }
        node.links().clear();
    }

    /** Both ends of the client's links see them closed. */
    void reset(SimNode client) {
        for (SimLink link : new ArrayList<>(client.links())) {
            struck(Fault.Kind.RESET);
            if (link.memberOpen) {
                push(world.now(), Event.Kind.CLOSED, link, SimLink.TO_MEMBER, "reset");
            }
            push(world.now(), Event.Kind.CLOSED, link, SimLink.TO_CLIENT, "reset");
        }
    }

    private void struck(Fault.Kind kind) {
        world.goals().reached(kind);
    }

    void cut(SimNode client, int direction, int more) {
        Condition condition = condition(client, direction);
        condition.cuts += more;
        if (condition.cuts == 0) {
            release(client, direction);
        }
    }

    private void release(SimNode client, int direction) {
        for (int i = 0; i < all.size(); i++) {
            SimLink link = all.get(i);
            ArrayDeque<SimLink.Stuck> stuck = link.stuck(direction);
            while (link.client == client && !stuck.isEmpty()) {
                SimLink.Stuck next = stuck.removeFirst();
                carry(link, direction, next.frame(), next.close());
            }
        }
    }

    /** From now on the net only has its latency and jitter. */
    void heal() {
        healed = true;
        for (int i = 1; i < conditions.length; i++) {
            for (int direction = 0; direction < 2; direction++) {
                conditions[i][direction] = new Condition();
                release(world.node(i), direction);
            }
        }
    }
}
