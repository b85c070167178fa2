// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.peer.election.Elections;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.MemberView.Restored;
import io.keyway.lock.peer.kernel.MemberView.Started;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.RpcClient;
import io.keyway.lock.peer.session.RpcFrame;
import io.keyway.lock.peer.session.RpcMember;
import io.keyway.lock.simulator.search.Scope.Ask;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * All turns that the processes of a world ever take, each once. A process in a state that was met before does with the
 * same input what it did then, since its machines are deterministic and know nothing but their state; so a world is a
 * few numbers, and millions of its states share thousands of turns of the machines.
 */
final class Turns {
    /** The clock moves by one unit. */
    static final int TICK = 0;
    /** What is due happens. */
    static final int FIRE = 1;
    /** A session is opened, of that number. */
    static final int OPEN = 2;
    /** A session has ended; at a client 1: the member was restarted. */
    static final int END = 3;
    /** A frame comes: at a member of that session, or of that member; at a client with an echo of that age. */
    static final int FRAME = 4;
    /** A user asks, releases or gives up. */
    static final int ASK = 5;

    static final int RELEASE = 6;
    static final int WITHDRAW = 7;
    /** A member is killed and starts anew. */
    static final int RESTART = 8;
    /** Another member is not heard any more, or again. */
    static final int UNHEARD = 9;

    static final int HEARD = 10;

    private static final int KINDS = 4;
    private static final int ARGUMENTS = 6;
    /** At a member, what stands for another one as the sender. */
    static final int OTHER_MEMBER = 1 << (ARGUMENTS - 1);
    /** In the place of a frame between members: its sender has started anew. */
    static final int STARTED_ANEW = 1 << 20;
    /** An echo that is none. */
    static final int NO_ECHO = (1 << ARGUMENTS) - 1;

    private static final int[] NOTHING = {};

    /** What a turn did. */
    static final class Step {
        private final Turns turns;
        /** The process after it. */
        int next;
        /** By twos: over which session, or to which member, and which frame. */
        int[] sent = NOTHING;

        @Nullable
        String broken;
        /** The token of a use that it began, and whose; 0 if it began none. */
        long token;

        @Nullable
        Ask begun;

        Step(Turns turns) {
            this.turns = turns;
        }

        void sends(long link, RpcFrame frame) {
            int[] more = Arrays.copyOf(sent, sent.length + 2);
            more[sent.length] = RpcMember.isSession(link) ? RpcMember.number(link) : (int) link;
            more[sent.length + 1] = turns.frame(frame);
            sent = more;
        }

        void breaks(String why) {
            broken = broken == null ? why : broken;
        }

        void begins(long given, Ask ask) {
            token = given;
            begun = ask;
        }

        void reaches(CoverageGoal goal) {
            turns.goals.add(goal);
        }
    }

    private final Scope scope;
    private final List<Local> locals = new ArrayList<>();
    private final Map<Long, Integer> known = new HashMap<>();
    private final List<RpcFrame> frames = new ArrayList<>();
    private final Map<RpcFrame, Integer> numbers = new HashMap<>();
    private final LongTable taken = new LongTable(1 << 12);
    private final List<Step> steps = new ArrayList<>();
    final Set<CoverageGoal> goals = new LinkedHashSet<>();

    Turns(Scope scope) {
        this.scope = scope;
        steps.add(new Step(this)); // no turn has the number 0
    }

    int locals() {
        return locals.size();
    }

    int steps() {
        return steps.size() - 1;
    }

    Local local(int number) {
        return locals.get(number);
    }

    MemberLocal member(int number) {
        return (MemberLocal) locals.get(number);
    }

    ClientLocal client(int number) {
        return (ClientLocal) locals.get(number);
    }

    RpcFrame frame(int number) {
        return frames.get(number);
    }

    /** Whether that stands between members and is about elections alone. */
    boolean isOfElections(int number) {
        return number != STARTED_ANEW && frames.get(number).messages().stream().allMatch(Elections::isSaidOf);
    }

    private int frame(RpcFrame frame) {
        return numbers.computeIfAbsent(frame, fresh -> {
            frames.add(fresh);
            return frames.size() - 1;
        });
    }

    private int number(Local local) {
        local.done();
        return known.computeIfAbsent(local.print(), fresh -> {
            locals.add(local);
            return locals.size() - 1;
        });
    }

    // How processes begin

    /** The first life of a member, and what it says. */
    Step newMember(int place) {
        long now = 1_000 * Scope.TTL;
        Step step = new Step(this);
        step.next = begin(new MemberLocal(scope, place, cell(place, 0, Turn.NEVER), now), step);
        return step;
    }

    private Cell cell(int place, int life, long opens) {
        long quarantine = scope.quarantine() * scope.unit();
        RpcMember sessions = new RpcMember(scope.members, place, 1 + life, opens, Scope.TTL, quarantine);
        return new Cell(scope.memberMachines, sessions);
    }

    private int begin(MemberLocal fresh, Step step) {
        Local.World world = new Local.World(fresh, step);
        fresh.records().forEach((key, record) -> world.input(new Input.Command(key, new Restored(record))));
        scope.algorithm.startingMachines().forEach(key -> world.input(new Input.Command(key, new Started())));
        return number(fresh);
    }

    /** The next life of a member, counted from 0. */
    private Step restart(MemberLocal before, int life) {
        long quarantine = scope.quarantine() * scope.unit();
        long opens = quarantine == 0 ? Turn.NEVER : before.now + quarantine;
        Step step = new Step(this);
        step.next = begin(before.restarted(cell(before.member, life, opens)), step);
        return step;
    }

    int newClient(int place) {
        Cell cell = new Cell(scope.clientMachines, new RpcClient());
        return number(new ClientLocal(scope, place, cell, 1_000 * Scope.TTL));
    }

    // Turns

    /** What that process does with that. */
    Step take(int local, int kind, int argument, int frame) {
        long key =
                ((long) (local + 1) << 32) | ((long) frame << (KINDS + ARGUMENTS)) | ((long) argument << KINDS) | kind;
        int number = taken.get(key);
        if (number < 0) {
            steps.add(turn(local, kind, argument, frame));
            number = steps.size() - 1;
            taken.put(key, number);
        }
        return steps.get(number);
    }

    private Step turn(int from, int kind, int argument, int frame) {
        Local before = locals.get(from);
        if (kind == RESTART) {
            return restart((MemberLocal) before, argument);
        }
        Step step = new Step(this);
        if (kind == TICK) {
            Cell older = before.cell.copy();
            if (older.sessions() instanceof RpcClient client) {
                client.stampedAtLeast(before.now + scope.unit() - Scope.TTL / 2);
            }
            step.next = number(before.at(older, before.now + scope.unit()));
            return step;
        }
        Local after = before.at(before.cell.copy(), before.now);
        try {
            Local.World world = new Local.World(after, step);
            if (after instanceof ClientLocal client) {
                turn(client, kind, argument, frame, step, world);
            } else {
                world.input(memberInput(kind, argument, frame));
            }
        } catch (RuntimeException | AssertionError e) {
            step.breaks("a machine fails: " + e);
        }
        step.next = number(after);
        if (after instanceof MemberLocal) {
            String conflict = member(step.next).conflict((MemberLocal) before);
            if (conflict != null) {
                step.breaks(conflict);
            }
        }
        return step;
    }

    private void turn(ClientLocal client, int kind, int argument, int frame, Step step, Local.World world) {
        if (kind == ASK) {
            client.ask(argument, step, world);
        } else if (kind == RELEASE) {
            client.release(argument, world);
        } else if (kind == WITHDRAW) {
            client.withdraw(argument, world);
        } else if (kind == FRAME) {
            long echo = argument == NO_ECHO ? Turn.NEVER : client.now - argument * scope.unit();
            world.input(new Input.Arrived(1, new RpcClient.Echoing(frames.get(frame), echo)));
        } else if (kind == OPEN) {
            world.input(new Input.Opened(RpcMember.session(argument)));
        } else if (kind == END) {
            world.input(new Input.Closed(1, argument == 1 ? "restarted" : "the member has ended the session"));
        } else {
            world.input(new Input.Tick());
        }
    }

    private Input memberInput(int kind, int argument, int frame) {
        return switch (kind) {
            case OPEN -> new Input.Opened(RpcMember.session(argument));
            case END -> new Input.Died(from(argument));
            case UNHEARD -> new Input.Closed(from(argument), "unheard");
            case HEARD -> new Input.Opened(from(argument));
            case FRAME -> new Input.Arrived(from(argument), frames.get(frame));
            default -> new Input.Tick();
        };
    }

    private static long from(int argument) {
        return argument >= OTHER_MEMBER ? RpcMember.MEMBERS + argument - OTHER_MEMBER : RpcMember.session(argument);
    }
}
