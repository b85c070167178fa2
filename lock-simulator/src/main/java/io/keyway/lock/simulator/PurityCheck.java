// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Driver;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.StateEncoder;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Runs one turn on a cell and on its copy: both must say the same and end in the same state, and neither may touch the
 * other. What fails here has hidden state, iterates in hash order, reads a clock of its own, or shares a part with its
 * copy.
 */
final class PurityCheck {
    private static final String NAME = "purity";

    private static final int LOOKS_BEFORE = 4;

    private final Model model;
    private final StateEncoder canon = new StateEncoder(0);
    private int checks;

    PurityCheck(Model model) {
        this.model = model;
    }

    /**
     * One turn of the cell, twice; without an input a flush. The outputs of the first go to the driver; the model does
     * not look at the second.
     */
    void run(Cell cell, @Nullable Input input, Driver driver) {
        long now = driver.clock();
        boolean looks = checks++ % LOOKS_BEFORE == 0;
        long before = looks ? fingerprint(cell, now) : 0;
        Cell copy = cell.copy();
        Recorder original = new Recorder(driver);
        turn(cell, input, original);
        if (looks) {
            same(
                    "a copy is another state, or a turn of the original changed it",
                    before,
                    fingerprint(copy, now),
                    input);
        }
        Replayer again = new Replayer(original);
        model.mute(true);
        turn(copy, input, again);
        model.mute(false);
        if (!alike(original.outputs, again.outputs)) {
            throw new Violation(
                    NAME, "after " + input + " the cell said " + original.outputs + " and its copy " + again.outputs);
        }
        same("cell and copy went different ways", fingerprint(cell, now), fingerprint(copy, now), input);
        if (cell.nextDue() != copy.nextDue()) {
            throw new Violation(NAME, "after " + input + " the timers differ");
        }
    }

    private long fingerprint(Cell cell, long now) {
        cell.encode(canon.again(now));
        return canon.fingerprint();
    }

    private static void turn(Cell cell, @Nullable Input input, Driver driver) {
        if (input == null) {
            cell.flush(driver);
        } else {
            cell.input(input, driver);
        }
    }

    private static void same(String what, long expected, long actual, @Nullable Input input) {
        if (expected != actual) {
            throw new Violation(NAME, what + ", at " + (input == null ? "a flush" : input));
        }
    }

    /** Equal, but for words that are published to user threads: cell and copy each have their own. */
    private static boolean alike(@Nullable Object one, @Nullable Object other) {
        if (Objects.equals(one, other)) {
            return true;
        }
        if (one == null || other == null || one.getClass() != other.getClass()) {
            return false;
        }
        if (one instanceof List<?> ones && other instanceof List<?> others) {
            if (ones.size() != others.size()) {
                return false;
            }
            for (int i = 0; i < ones.size(); i++) {
                if (!alike(ones.get(i), others.get(i))) {
                    return false;
                }
            }
            return true;
        }
        if (!one.getClass().isRecord()) {
            return !(one instanceof Number
                    || one instanceof Enum<?>
                    || one instanceof CharSequence
                    || one instanceof Boolean
                    || one instanceof Frame);
        }
        try {
            for (Method part : PARTS.get(one.getClass())) {
                if (!alike(part.invoke(one), part.invoke(other))) {
                    return false;
                }
            }
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("a record can be read", e);
        }
        return true;
    }

    private static final ClassValue<List<Method>> PARTS = new ClassValue<>() {
        @Override
        protected List<Method> computeValue(Class<?> type) {
            List<Method> parts = new ArrayList<>();
            for (RecordComponent component : type.getRecordComponents()) {
                component.getAccessor().setAccessible(true);
                parts.add(component.getAccessor());
            }
            return parts;
        }
    };

    private record Output(
            String verb, long number, @Nullable Object what) {}

    private static final class Recorder implements Driver {
        private final Driver driver;
        final List<Output> outputs = new ArrayList<>();
        final List<Long> clocks = new ArrayList<>();
        final List<Long> randoms = new ArrayList<>();
        final List<Long> logicalClocks = new ArrayList<>();

        Recorder(Driver driver) {
            this.driver = driver;
        }

        @Override
        public long clock() {
            long clock = driver.clock();
            clocks.add(clock);
            return clock;
        }

        @Override
        public long random() {
            long random = driver.random();
            randoms.add(random);
            return random;
        }

        @Override
        public void dial(long link) {
            outputs.add(new Output("dial", link, null));
            driver.dial(link);
        }

        @Override
        public void transmit(long link, Frame frame) {
            outputs.add(new Output("transmit", link, frame));
            driver.transmit(link, frame);
        }

        @Override
        public void hangUp(long link) {
            outputs.add(new Output("hangUp", link, null));
            driver.hangUp(link);
        }

        @Override
        public void persist(DurableRecord record, long ticket) {
            outputs.add(new Output("persist", ticket, record));
            driver.persist(record, ticket);
        }

        @Override
        public void deliver(Notice notice) {
            outputs.add(new Output("deliver", 0, notice));
            driver.deliver(notice);
        }

        @Override
        public long logicalClock() {
            long clock = driver.logicalClock();
            logicalClocks.add(clock);
            return clock;
        }

        @Override
        public void heardClock(long logicalClock) {
            outputs.add(new Output("heardClock", logicalClock, null));
            driver.heardClock(logicalClock);
        }

        @Override
        public void reached(CoverageGoal goal) {
            driver.reached(goal);
        }
    }

    private static final class Replayer implements Driver {
        private final Recorder recorder;
        final List<Output> outputs = new ArrayList<>();
        private int clocks;
        private int randoms;
        private int logicalClocks;

        Replayer(Recorder recorder) {
            this.recorder = recorder;
        }

        @Override
        public long clock() {
            if (clocks == recorder.clocks.size()) {
                throw new Violation(NAME, "the copy read its clock more often");
            }
            return recorder.clocks.get(clocks++);
        }

        @Override
        public long random() {
            if (randoms == recorder.randoms.size()) {
                throw new Violation(NAME, "the copy drew more random numbers");
            }
            return recorder.randoms.get(randoms++);
        }

        @Override
        public void dial(long link) {
            outputs.add(new Output("dial", link, null));
        }

        @Override
        public void transmit(long link, Frame frame) {
            outputs.add(new Output("transmit", link, frame));
        }

        @Override
        public void hangUp(long link) {
            outputs.add(new Output("hangUp", link, null));
        }

        @Override
        public void persist(DurableRecord record, long ticket) {
            outputs.add(new Output("persist", ticket, record));
        }

        @Override
        public long logicalClock() {
            if (logicalClocks == recorder.logicalClocks.size()) {
                throw new Violation(NAME, "the copy showed its clock more often");
            }
            return recorder.logicalClocks.get(logicalClocks++);
        }

        @Override
        public void heardClock(long logicalClock) {
            outputs.add(new Output("heardClock", logicalClock, null));
        }

        @Override
        public void deliver(Notice notice) {
            outputs.add(new Output("deliver", 0, notice));
        }
    }
}
