// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.memory;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Driver;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.net.CellListener;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A cell of a {@link LoopbackWorld}, and its links. On the world's thread, but for {@link #post}. */
final class LoopbackCell implements Driver {
    /** A link between a client's cell and the member's. Both know it by the same number. */
    private static final class Link {
        final long number;
        final LoopbackCell client;
        final LoopbackCell member;

        Link(long number, LoopbackCell client, LoopbackCell member) {
            this.number = number;
            this.client = client;
            this.member = member;
        }
    }

    private static final int BATCH = 64;

    private final LoopbackWorld world;
    private final Cell cell;
    private final CellListener listener;
    private final Consumer<DurableRecord> disk;
    private final ConcurrentLinkedQueue<Input> posted = new ConcurrentLinkedQueue<>();
    private final ArrayDeque<Input> inputs = new ArrayDeque<>();
    private final Map<Long, Link> open = new HashMap<>();
    private final Map<Long, Long> ownNumbers = new HashMap<>();
    private boolean cut;
    private int repliesToDrop;
    private boolean gone;

    /** @param disk gets what the cell forces */
    LoopbackCell(LoopbackWorld world, Cell cell, CellListener listener, Consumer<DurableRecord> disk) {
        this.world = world;
        this.disk = disk;
        this.cell = cell;
        this.listener = listener;
    }

    /** From any thread; whoever posts wakes the world. */
    void post(Input input) {
        posted.add(input);
    }

    long nextDue() {
        return cell.nextDue();
    }

    /** While this is so, nothing arrives from the member or there. */
    void cut(boolean now) {
        cut = now;
    }

    void dropReplies(int count) {
        repliesToDrop = count;
    }

    /** Works on what has come and what is due; false if there is nothing. */
    boolean work() {
        for (Input input = posted.poll(); input != null; input = posted.poll()) {
            inputs.add(input);
        }
        long due = cell.nextDue();
        boolean late = due != Turn.NEVER && due - clock() <= 0;
        if (gone || (inputs.isEmpty() && !late)) {
            return false;
        }
        if (inputs.isEmpty()) {
            cell.input(new Input.Tick(), this);
        }
        for (int i = 0; i < BATCH && !inputs.isEmpty(); i++) {
            cell.input(inputs.removeFirst(), this);
        }
        cell.flush(this);
        world.guarded(() -> listener.turned(cell.sessions()));
        return true;
    }

    /** Goes from the world. */
    void leave(String why) {
        gone = true;
        world.remove(this);
        for (Link link : new ArrayList<>(open.values())) {
            LoopbackCell other = link.client == this ? link.member : link.client;
            other.lose(link, why);
        }
        open.clear();
    }

    private void lose(Link link, String why) {
        Long own = number(link);
        if (own != null && open.remove(own) != null) {
            ownNumbers.remove(link.number);
            inputs.add(new Input.Closed(own, why));
        }
    }

    private @Nullable Long number(Link link) {
        return ownNumbers.get(link.number);
    }

    private void attach(Link link, long own) {
        open.put(own, link);
        ownNumbers.put(link.number, own);
        inputs.add(new Input.Opened(own));
    }

    @Override
    public long clock() {
        return world.nanoTime();
    }

    @Override
    public long random() {
        return ThreadLocalRandom.current().nextLong();
    }

    @Override
    public void dial(long own) {
        LoopbackCell to = world.member();
        if (cut || to == null) {
            inputs.add(new Input.Closed(own, cut ? "the link is cut" : "there is no member"));
            return;
        }
        Link link = new Link(world.nextLink(), this, to);
        attach(link, own);
        to.attach(link, link.number);
    }

    @Override
    public void transmit(long own, Frame frame) {
        Link link = open.get(own);
        if (link == null || link.client.cut) {
            return;
        }
        LoopbackCell other = link.client == this ? link.member : link.client;
        if (other == link.client && other.repliesToDrop > 0) {
            other.repliesToDrop--;
            return;
        }
        Long theirs = other.number(link);
        if (theirs != null) {
            other.inputs.add(new Input.Arrived(theirs, frame));
        }
    }

    @Override
    public void hangUp(long own) {
        Link link = open.remove(own);
        if (link != null) {
            ownNumbers.remove(link.number);
            LoopbackCell other = link.client == this ? link.member : link.client;
            if (!link.client.cut) {
                other.lose(link, "the other side hung up");
            }
        }
    }

    @Override
    public void persist(DurableRecord record, long ticket) {
        disk.accept(record);
        inputs.add(new Input.Forced(ticket));
    }

    @Override
    public void deliver(Notice notice) {
        world.guarded(() -> listener.heard(notice));
    }
}
