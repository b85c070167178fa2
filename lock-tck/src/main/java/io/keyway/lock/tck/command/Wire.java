// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.command;

import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What parent and child say to each other: lines of {@code MARK message field...}, between them tabs. Both ends are of
 * one build, so that the fields of a message are those of its record, one after the other. A line without the mark is
 * something that the provider printed.
 */
final class Wire {
    static final String MARK = "keyway-tck";

    /** One line. */
    sealed interface Message {
        /**
         * Parent to child, once: what to run; {@code server} are the fields of {@link ServerCommands}. With a place for
         * tests nothing is run, but what another child has left there is removed.
         */
        record Order(String url, TckConfig config, String log, List<String> server, Optional<String> place)
                implements Message {}

        /** The URL was opened. */
        record Opened(TckResult subject) implements Message {}

        /** A check begins. */
        record Started(String id) implements Message {}

        /** A check has ended. */
        record Finished(CheckResult check) implements Message {}

        /** A check may leave something at that URL from now on; empty: nothing is left any more. */
        record Left(Optional<String> place) implements Message {}

        /** The run has ended; the results of its checks were told before. */
        record Ended(TckResult subject) implements Message {}

        /** The JVM ends before the run does: by a signal, or by the call whose stack this is, if it is known. */
        record Dying(boolean signal, String stack) implements Message {}

        /** The TCK itself failed. */
        record Broken(String stack) implements Message {}
    }

    private static final Map<String, Class<?>> MESSAGES = Arrays.stream(Message.class.getPermittedSubclasses())
            .collect(Collectors.toMap(Class::getSimpleName, type -> type));

    private static final Map<Class<?>, Function<String, Object>> VALUES = Map.of(
            String.class, text -> text,
            int.class, Integer::valueOf,
            long.class, Long::valueOf,
            double.class, Double::valueOf,
            boolean.class, Boolean::valueOf,
            Duration.class, Duration::parse);

    private Wire() {}

    static String line(Message message) {
        List<String> fields = new ArrayList<>(List.of(MARK, message.getClass().getSimpleName()));
        write(message, fields);
        return fields.stream().map(Wire::escaped).collect(Collectors.joining("\t"));
    }

    /** Empty if the line has no mark. */
    static Optional<Message> parse(String line) {
        if (!line.startsWith(MARK + "\t")) {
            return Optional.empty();
        }
        Iterator<String> fields =
                Arrays.stream(line.split("\t", -1)).skip(1).map(Wire::unescaped).iterator();
        Class<?> type = MESSAGES.get(fields.next());
        if (type == null) {
            throw new IllegalStateException("no message of the TCK: " + line);
        }
        return Optional.of((Message) read(type, fields));
    }

    private static String escaped(String field) {
        return field.replace("\\", "\\\\")
                .replace("\t", "\\t")
                .replace("\n", "\\n")
                .replace("\r", "\\r");
    }

    private static String unescaped(String field) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < field.length(); i++) {
            char c = field.charAt(i);
            if (c == '\\') {
                c = field.charAt(++i);
                c = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
            }
            text.append(c);
        }
        return text.toString();
    }

    // Values: a collection says its size first, and an optional is a collection of none or one.

    private static void write(Object value, List<String> fields) {
        if (value instanceof Record) {
            for (RecordComponent component : value.getClass().getRecordComponents()) {
                write(call(() -> component.getAccessor().invoke(value)), fields);
            }
        } else if (value instanceof Optional<?> optional) {
            write(optional.stream().toList(), fields);
        } else if (value instanceof Map<?, ?> map) {
            write(map.keySet(), fields);
            write(map.values(), fields);
        } else if (value instanceof Collection<?> elements) {
            fields.add(Integer.toString(elements.size()));
            elements.forEach(element -> write(element, fields));
        } else {
            fields.add(value instanceof Enum<?> constant ? constant.name() : value.toString());
        }
    }

    private static Object read(Type type, Iterator<String> fields) {
        if (type instanceof ParameterizedType parameterized) {
            Type[] of = parameterized.getActualTypeArguments();
            List<Object> elements = elements(of[0], fields);
            if (parameterized.getRawType() == Optional.class) {
                return elements.stream().findFirst();
            }
            if (parameterized.getRawType() == Map.class) {
                Map<Object, Object> map = new LinkedHashMap<>();
                Iterator<Object> values = elements(of[1], fields).iterator();
                elements.forEach(key -> map.put(key, values.next()));
                return map;
            }
            return parameterized.getRawType() == Set.class ? new HashSet<>(elements) : elements;
        }
        Class<?> plain = (Class<?>) type;
        return plain.isRecord() ? record(plain, fields) : value(plain, fields.next());
    }

    private static List<Object> elements(Type type, Iterator<String> fields) {
        List<Object> elements = new ArrayList<>();
        for (int i = Integer.parseInt(fields.next()); i > 0; i--) {
            elements.add(read(type, fields));
        }
        return elements;
    }

    private static Object record(Class<?> type, Iterator<String> fields) {
        RecordComponent[] components = type.getRecordComponents();
        Class<?>[] types =
                Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
        Object[] values = Arrays.stream(components)
                .map(component -> read(component.getGenericType(), fields))
                .toArray();
        return call(() -> type.getDeclaredConstructor(types).newInstance(values));
    }

    private static Object value(Class<?> type, String text) {
        if (type.isEnum()) {
            return Arrays.stream(type.getEnumConstants())
                    .filter(constant -> ((Enum<?>) constant).name().equals(text))
                    .findFirst()
                    .orElseThrow();
        }
        return Objects.requireNonNull(VALUES.get(type), type::getName).apply(text);
    }

    private interface Reflection {
        Object call() throws ReflectiveOperationException;
    }

    private static Object call(Reflection reflection) {
        try {
            return reflection.call();
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
