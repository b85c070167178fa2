// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.trace;

import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.session.SessionFrame.Data;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Probe;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Frames and messages in words: what stands in them, without what proves anything and without metadata. */
public final class FrameText {
    /** Components of messages that are nanoseconds. */
    private static final Set<String> TIMES =
            Set.of("ttl", "waited", "patience", "atLeast", "limit", "quarantine", "nanos", "left");

    /** Components that are of interest to the two ends alone. */
    private static final Set<String> LEFT_OUT =
            Set.of("key", "patience", "limit", "wantPlace", "perResource", "capacity", "query", "life");

    /** Numbers of requests above this are those of questions. */
    private static final long QUESTIONS = 1L << 61;

    /** So many messages of a frame are written out. */
    private static final int WRITTEN_OUT = 8;
    /** Separates names in a field; no name has it. */
    private static final String BETWEEN = "\u001f";

    private static final Map<Class<?>, RecordComponent[]> COMPONENTS = new ConcurrentHashMap<>();

    private FrameText() {}

    /** That frame, in one line without control characters. */
    public static String of(SessionFrame frame) {
        if (frame instanceof Data data) {
            return of(data);
        } else if (frame instanceof Hello hello) {
            return "Hello attempt=" + hello.attempt() + (hello.resume() == null ? "" : " resumes");
        } else if (frame instanceof Welcome welcome) {
            return "Welcome session=" + welcome.session() + " epoch=" + welcome.epoch()
                    + time("quarantine", welcome.quarantine());
        } else if (frame instanceof Refuse refuse) {
            return "Refuse " + refuse.code() + " " + refuse.field();
        }
        return frame.getClass().getSimpleName();
    }

    private static String of(Data data) {
        List<Message> messages = data.messages();
        StringBuilder text = new StringBuilder(messages.isEmpty() ? "heartbeat" : "");
        for (int i = 0; i < Math.min(messages.size(), WRITTEN_OUT); i++) {
            text.append(i == 0 ? "" : "; ").append(of(messages.get(i)));
        }
        if (messages.size() > WRITTEN_OUT) {
            text.append("; and ").append(messages.size() - WRITTEN_OUT).append(" more");
        }
        return text.append(" (session ")
                .append(data.session())
                .append(", seq ")
                .append(data.seq())
                .append(", ack ")
                .append(data.ack())
                .append(')')
                .toString();
    }

    /** A message by its type, its lock, and those of its fields that say something. */
    public static String of(Message message) {
        String lock = name(message.key().id());
        return message.getClass().getSimpleName() + (lock.isEmpty() ? "" : " " + lock) + fields(message);
    }

    private static String fields(Object of) {
        StringBuilder text = new StringBuilder();
        for (RecordComponent each : components(of)) {
            text.append(field(each.getName(), value(each, of)));
        }
        return text.toString();
    }

    private static String field(String name, Object value) {
        if (name.equals("quiet") && value instanceof Long quiet) {
            return quiet < 0
                    ? ""
                    : quiet == 0
                            ? " soft"
                            : " soft after " + Duration.ofNanos(quiet).toMillis() + "ms";
        } else if (LEFT_OUT.contains(name) || saysNothing(name, value)) {
            return "";
        } else if (value.equals(true)) {
            return " " + name;
        } else if (value instanceof Owner owner) {
            return " " + name + "=" + owner.client();
        } else if (value instanceof Collection<?> many) {
            return many.isEmpty() ? "" : " " + name + "=" + shown(many);
        } else if (value instanceof Long nanos && TIMES.contains(name)) {
            return time(name, nanos);
        } else if (value instanceof Probe probe) {
            return " " + of(probe);
        } else if (value instanceof Enum<?> word) {
            return " " + word.name().toLowerCase(Locale.ROOT);
        }
        if (value instanceof Record) {
            String fields = fields(value);
            return fields.isEmpty() ? "" : " " + name + "=(" + fields.substring(1) + ")";
        } else if (value instanceof String text) {
            return " " + name + "=" + TraceLog.shown(text.replace("\0", ""));
        }
        return value instanceof Number ? " " + name + "=" + value : "";
    }

    /** A few names, or how many there are of anything else. */
    private static String shown(Collection<?> many) {
        boolean names = many.size() <= WRITTEN_OUT && many.stream().allMatch(String.class::isInstance);
        return names
                ? many.stream().map(each -> TraceLog.shown((String) each)).collect(Collectors.joining(","))
                : String.valueOf(many.size());
    }

    /** What a probe is for, and the waits that it came along, from its initiator on. */
    static String of(Probe probe) {
        StringBuilder text = new StringBuilder(probe.kind().name().toLowerCase(Locale.ROOT));
        text.append(" of ").append(Long.toHexString(probe.initiator().client())).append('-');
        text.append(probe.initiator().number());
        String link = ": ";
        for (Probe.Edge edge :
                probe.path().subList(0, Math.min(WRITTEN_OUT, probe.path().size()))) {
            text.append(link).append(TraceLog.shown(edge.owner())).append(" waits for ");
            text.append(TraceLog.shown(edge.lock().toString()));
            link = " > ";
        }
        int more = probe.path().size() - WRITTEN_OUT;
        return text.append(more > 0 ? " > and " + more + " more" : "").toString();
    }

    private static boolean saysNothing(String name, Object value) {
        return value.equals(false)
                || value.equals(0L)
                || value.equals(0)
                || value.equals("")
                || (name.equals("permits") && value.equals(1))
                || (name.equals("request") && value instanceof Long number && number > QUESTIONS);
    }

    private static String time(String name, long nanos) {
        return nanos == 0 ? "" : " " + name + "=" + Duration.ofNanos(nanos).toMillis() + "ms";
    }

    /** The names of all locks that the frame is about. */
    static String locks(Data data) {
        Set<String> names = new LinkedHashSet<>();
        for (Message each : data.messages()) {
            String name = lock(each);
            if (!name.isEmpty()) {
                names.add(name);
            }
        }
        return String.join(BETWEEN, names);
    }

    /** Which lock that message is about; empty if it is about none. */
    static String lock(Message message) {
        return found(message, "name")
                .map(String::valueOf)
                .map(FrameText::name)
                .orElseGet(() -> name(message.key().id()));
    }

    /** A lock by its address; that of a semaphore ends with a character that no name has. */
    static String name(String address) {
        return address.startsWith("\0") ? "" : TraceLog.shown(address.replace("\0", ""));
    }

    /** Who asks in that message; empty if it does not say. */
    static Optional<String> owner(Message message) {
        return found(message, "owner").map(each -> each instanceof Owner owner ? owner.client() : "");
    }

    /** In which mode that message asks; empty if it does not say. */
    static Optional<String> mode(Message message) {
        return found(message, "mode").map(each -> each.toString().toLowerCase(Locale.ROOT));
    }

    /** The logical clock of whoever said that; 0 if it has none. */
    static long stamp(Message message) {
        return found(message, "stamp")
                .map(each -> each instanceof Long stamp ? stamp : 0L)
                .orElse(0L);
    }

    private static Optional<Object> found(Message message, String name) {
        for (RecordComponent each : components(message)) {
            if (each.getName().equals(name)) {
                return Optional.of(value(each, message));
            }
        }
        return Optional.empty();
    }

    private static RecordComponent[] components(Object of) {
        return COMPONENTS.computeIfAbsent(
                of.getClass(), type -> type.isRecord() ? type.getRecordComponents() : new RecordComponent[0]);
    }

    private static Object value(RecordComponent component, Object of) {
        try {
            Method accessor = component.getAccessor();
            accessor.setAccessible(true); // a type of an algorithm's own
            Object value = accessor.invoke(of);
            return value == null ? "" : value;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("not a record that can be read: " + of.getClass(), e);
        }
    }
}
