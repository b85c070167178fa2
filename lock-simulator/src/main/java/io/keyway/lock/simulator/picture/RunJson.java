// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.picture;

import io.keyway.lock.simulator.picture.Run.Bar;
import io.keyway.lock.simulator.picture.Run.Event;
import io.keyway.lock.simulator.picture.Run.Kind;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.function.Consumer;

/** A run as JSON (RFC 8259), one event a line; docs/simulator.md has the format. */
public final class RunJson {
    /** The name of the format, which changes when a reader of this one would be misled. */
    static final String FORMAT = "keyway-run-1";

    private final StringBuilder out = new StringBuilder();

    private RunJson() {}

    /** Text that holds no {@code <}, so that it may stand in a page as it is. */
    public static String of(Run run) {
        RunJson json = new RunJson();
        json.write(run);
        return json.out.toString();
    }

    private void write(Run run) {
        field("{", "format", FORMAT);
        field(",", "title", run.title());
        field(",", "command", run.command());
        field(",", "violation", run.violation());
        number(",", "earlier", run.earlier());
        out.append(",\n\"processes\":");
        list(run.processes(), process -> {
            field("{", "name", process.name());
            field(",", "role", lower(process.role()));
            out.append('}');
        });
        out.append(",\n\"events\":");
        list(run.events(), this::event);
        out.append(",\n\"bars\":");
        list(run.bars(), this::bar);
        out.append("}\n");
    }

    private void event(Event event) {
        number("{", "at", event.at());
        field(",", "kind", lower(event.kind()));
        number(",", "process", event.process());
        if (event.kind() != Kind.LOCAL) {
            number(",", "from", event.from());
            number(",", "sent", event.sent());
        }
        if (event.clock() != 0) {
            number(",", "clock", event.clock());
        }
        field(",", "text", event.text());
        if (!event.states().isEmpty()) {
            out.append(",\"states\":");
            String comma = "{";
            for (var state : new TreeMap<>(event.states()).entrySet()) {
                field(comma, state.getKey(), state.getValue());
                comma = ",";
            }
            out.append('}');
        }
        out.append('}');
    }

    private void bar(Bar bar) {
        number("{", "process", bar.process());
        field(",", "hold", lower(bar.hold()));
        field(",", "lock", bar.lock());
        field(",", "token", Long.toString(bar.token())); // a number of JSON may have 53 bits in what reads it
        field(",", "text", bar.text());
        number(",", "from", bar.from());
        number(",", "to", bar.to());
        out.append('}');
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private <T> void list(List<T> elements, Consumer<T> each) {
        out.append('[');
        for (int i = 0; i < elements.size(); i++) {
            out.append(i == 0 ? "\n" : ",\n");
            each.accept(elements.get(i));
        }
        out.append(']');
    }

    private void number(String before, String name, long value) {
        out.append(before);
        text(name);
        out.append(':').append(value);
    }

    private void field(String before, String name, String value) {
        out.append(before);
        text(name);
        out.append(':');
        text(value);
    }

    private void text(String value) {
        out.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || c == '<' || c == '\u2028' || c == '\u2029' || Character.isSurrogate(c)) {
                out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
