// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A setting of a client: a typed constant of a provider that describes itself. Immutable; the {@code with} methods
 * return changed copies. Settings are known by their name within one client.
 *
 * @param <T> the type of its values
 */
public final class Option<T> {
    private static final Pattern NAME = Pattern.compile("[a-zA-Z][a-zA-Z0-9.-]*");

    private final String name;
    private final Class<T> type;
    private final @Nullable Function<String, T> parser;
    private final Function<T, String> formatter;
    private final @Nullable T min;
    private final @Nullable T max;
    private final String bounds;
    private final String unit;
    private final @Nullable Supplier<T> fallback;
    private final @Nullable String fallbackText;
    private final String description;

    private Option(
            String name,
            Class<T> type,
            @Nullable Function<String, T> parser,
            Function<T, String> formatter,
            @Nullable T min,
            @Nullable T max,
            String bounds,
            String unit,
            @Nullable Supplier<T> fallback,
            @Nullable String fallbackText,
            String description) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("not a name of an option: " + NameSyntax.quoted(name));
        }
        this.name = name;
        this.type = type;
        this.parser = parser;
        this.formatter = formatter;
        this.min = min;
        this.max = max;
        this.bounds = bounds;
        this.unit = unit;
        this.fallback = fallback;
        this.fallbackText = fallbackText;
        this.description = description;
    }

    /**
     * {@return an option that is any text}
     *
     * @param name the name in URLs: letters, digits, {@code -} and {@code .}, beginning with a letter
     */
    public static Option<String> text(String name) {
        return parsed(name, String.class, text -> text, "");
    }

    /**
     * {@return an option that is true or false}
     *
     * @param name the name in URLs: letters, digits, {@code -} and {@code .}, beginning with a letter
     */
    public static Option<Boolean> flag(String name) {
        return parsed(name, Boolean.class, Option::parseFlag, "true or false");
    }

    /**
     * {@return an option that is a whole number, bounds included}
     *
     * @param name the name in URLs: letters, digits, {@code -} and {@code .}, beginning with a letter
     * @param min the least value
     * @param max the greatest value
     */
    public static Option<Integer> number(String name, int min, int max) {
        return whole(name, Integer.class, Integer::valueOf, min, max);
    }

    /**
     * {@return an option that is a whole number which may be larger than an int, bounds included}
     *
     * @param name the name in URLs: letters, digits, {@code -} and {@code .}, beginning with a letter
     * @param min the least value
     * @param max the greatest value
     */
    public static Option<Long> largeNumber(String name, long min, long max) {
        return whole(name, Long.class, Long::valueOf, min, max);
    }

    private static <N extends Number & Comparable<N>> Option<N> whole(
            String name, Class<N> type, Function<String, N> parse, N min, N max) {
        return new Option<>(
                name,
                type,
                text -> parseNumber(text, parse),
                String::valueOf,
                min,
                max,
                min + " to " + max,
                "",
                null,
                null,
                "");
    }

    /**
     * {@return an option that is a duration with a unit, bounds included}
     *
     * @param name the name in URLs: letters, digits, {@code -} and {@code .}, beginning with a letter
     * @param min the least value
     * @param max the greatest value
     */
    public static Option<Duration> duration(String name, Duration min, Duration max) {
        return new Option<>(
                name,
                Duration.class,
                Durations::parse,
                Durations::format,
                min,
                max,
                Durations.format(min) + " to " + Durations.format(max),
                Durations.UNITS,
                null,
                null,
                "");
    }

    /**
     * {@return an option that is one of the constants, written in lower case with hyphens}
     *
     * @param <E> the enum
     * @param name the name in URLs: letters, digits, {@code -} and {@code .}, beginning with a letter
     * @param type the class of the values
     */
    public static <E extends Enum<E>> Option<E> choice(String name, Class<E> type) {
        String labels =
                Arrays.stream(type.getEnumConstants()).map(Option::label).collect(Collectors.joining(", "));
        return new Option<>(
                name,
                type,
                text -> parseChoice(type, text, labels),
                Option::label,
                null,
                null,
                labels,
                "",
                null,
                null,
                "");
    }

    /**
     * {@return an option with a syntax of its own}
     *
     * @param <T> the type of the values
     * @param name the name in URLs: letters, digits, {@code -} and {@code .}, beginning with a letter
     * @param type the class of the values
     * @param parser throws IllegalArgumentException with a message that completes "... is"
     * @param bounds what values there are, in words
     */
    public static <T> Option<T> parsed(String name, Class<T> type, Function<String, T> parser, String bounds) {
        return new Option<>(name, type, parser, String::valueOf, null, null, bounds, "", null, null, "");
    }

    /**
     * {@return an option that a URL cannot say, such as a DataSource; it is set by {@link ClientOptions#with}}
     *
     * @param <T> the type of the values
     * @param name the name in URLs: letters, digits, {@code -} and {@code .}, beginning with a letter
     * @param type the class of the values
     */
    public static <T> Option<T> object(String name, Class<T> type) {
        return new Option<>(
                name, type, null, value -> type.getSimpleName(), null, null, "set in code", "", null, null, "");
    }

    /**
     * {@return a copy with a default}
     *
     * @param value what holds when neither code nor URL says anything
     */
    public Option<T> withDefault(T value) {
        check(value);
        return withDefault(() -> value, formatter.apply(value));
    }

    /**
     * {@return a copy with a default that is computed when it is needed; {@code text} describes it}
     *
     * @param value what holds when neither code nor URL says anything
     * @param text the default in words, for listings
     */
    public Option<T> withDefault(Supplier<T> value, String text) {
        return new Option<>(name, type, parser, formatter, min, max, bounds, unit, value, text, description);
    }

    /**
     * {@return a copy with a description, one sentence}
     *
     * @param text what it is for, in one sentence
     */
    public Option<T> withDescription(String text) {
        return new Option<>(name, type, parser, formatter, min, max, bounds, unit, fallback, fallbackText, text);
    }

    /** {@return the name, as in URLs} */
    public String name() {
        return name;
    }

    /** {@return the type of its values} */
    public Class<T> type() {
        return type;
    }

    /** {@return the default, if it has one} */
    public Optional<T> defaultValue() {
        return fallback == null ? Optional.empty() : Optional.of(fallback.get());
    }

    /** {@return the default as text; empty if it has none} */
    public String defaultText() {
        return fallbackText == null ? "" : fallbackText;
    }

    /** {@return what values there are, in words; empty if any} */
    public String bounds() {
        return bounds;
    }

    /** {@return the units of its values; empty if they have none} */
    public String unit() {
        return unit;
    }

    /** {@return what it is for} */
    public String description() {
        return description;
    }

    /** {@return whether its values are masked in all messages; decided by its name, so that a parser can mask too} */
    public boolean secret() {
        return Secrets.isSecret(name);
    }

    /** {@return whether a URL can say it} */
    public boolean inUrl() {
        return parser != null;
    }

    /**
     * {@return the value of that text}
     *
     * @param text the value as the URL has it, decoded
     * @throws IllegalArgumentException if it is none; the message names the option and its bounds
     */
    public T parse(String text) {
        if (parser == null) {
            throw new IllegalArgumentException(
                    "option " + name + " cannot be said in a URL; set it in code with" + " ClientOptions.with");
        }
        T value = apply(parser, text);
        check(value);
        return value;
    }

    private T apply(Function<String, T> parser, String text) {
        try {
            return parser.apply(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "option " + name + ": " + shown(text) + " is " + e.getMessage(), secret() ? null : e);
        }
    }

    /**
     * Returns normally if the value is within the bounds.
     *
     * @param value the value to look at
     * @throws IllegalArgumentException if not; the message names the option and its bounds
     */
    public void check(T value) {
        if (!type.isInstance(value)) {
            throw new IllegalArgumentException("option " + name + " takes a " + type.getName());
        }
        if (type == String.class && parser != null) {
            apply(parser, (String) value);
        }
        if ((min != null && compare(value, min) < 0) || (max != null && compare(value, max) > 0)) {
            throw new IllegalArgumentException(
                    "option " + name + ": " + shown(formatter.apply(value)) + " is outside " + bounds);
        }
    }

    /**
     * {@return the value as a URL would say it, before percent-encoding; not masked}
     *
     * @param value a value of the option
     */
    public String format(T value) {
        return formatter.apply(value);
    }

    /** Returns the name. */
    @Override
    public String toString() {
        return name;
    }

    private String shown(String text) {
        return secret() ? Secrets.MASK : NameSyntax.quoted(text);
    }

    @SuppressWarnings("unchecked")
    private int compare(T left, T right) {
        return ((Comparable<T>) left).compareTo(right);
    }

    private static Boolean parseFlag(String text) {
        return switch (text) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException("neither true nor false");
        };
    }

    private static <N extends Number> N parseNumber(String text, Function<String, N> type) {
        if (!text.matches("-?[0-9]+")) {
            throw new IllegalArgumentException("not a whole number");
        }
        try {
            return type.apply(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("too large", e);
        }
    }

    private static <E extends Enum<E>> E parseChoice(Class<E> type, String text, String labels) {
        for (E constant : type.getEnumConstants()) {
            if (label(constant).equals(text)) {
                return constant;
            }
        }
        throw new IllegalArgumentException("none of " + labels);
    }

    private static String label(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
