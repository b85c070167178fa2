// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The address of a coordination store.
 *
 * <pre>
 * lock:PROVIDER[:PROTOCOL]://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...][/PATH][?OPTION=VALUE&amp;...]
 * lock:jdbc:&lt;whatever the driver takes&gt;
 * </pre>
 *
 * <p>Of the first form each part is split first and percent-decoded once; {@code +} is a plus. The second is opaque:
 * the text after {@code lock:} goes to the driver verbatim, but for parameters named {@code lock.<option>}, which are
 * ours. {@link #toString()} is masked; only providers call {@link #reveal()}. Rules LK-201 to LK-207.
 */
public final class LockUrl {
    private final String text;
    private final String masked;
    private final Parts parts;

    /** What a URL says. */
    record Parts(
            String provider,
            Optional<String> protocol,
            Optional<String> user,
            Optional<String> password,
            List<Host> hosts,
            Optional<String> path,
            Optional<String> opaque,
            Map<String, String> options) {}

    /**
     * A host of the URL.
     *
     * @param name a name or address; an IPv6 address without its brackets
     * @param port 1 to 65535, if given
     */
    public record Host(String name, OptionalInt port) {
        /**
         * Checks that nothing is null.
         *
         * @param name see the record
         * @param port see the record
         */
        public Host {
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(port, "port");
        }

        /**
         * {@return the port, or the given one if the URL has none}
         *
         * @param standard the port to take if the URL has none
         */
        public int portOr(int standard) {
            return port.orElse(standard);
        }

        /** Returns the form of the URL, an IPv6 address in brackets. */
        @Override
        public String toString() {
            String shown = name.indexOf(':') >= 0 ? "[" + name + "]" : name;
            return port.isPresent() ? shown + ":" + port.getAsInt() : shown;
        }
    }

    LockUrl(String text, String masked, Parts parts) {
        this.text = text;
        this.masked = masked;
        this.parts = parts;
    }

    /**
     * Parses a URL.
     *
     * @param text the URL, with its secrets
     * @return the URL
     * @throws InvalidLockUrlException if it is none; the message is masked
     */
    public static LockUrl parse(String text) {
        return UrlParser.parse(Objects.requireNonNull(text, "text"));
    }

    /** {@return the word after {@code lock:}, by which the provider is found} */
    public String provider() {
        return parts.provider;
    }

    /**
     * {@return the word after the provider, if the URL has one; the driver's of an opaque one, as {@code postgresql}}
     */
    public Optional<String> protocol() {
        return parts.protocol;
    }

    /** {@return the user, decoded, if the URL has one} */
    public Optional<String> user() {
        return parts.user;
    }

    /** {@return the password, decoded, if the URL has one; empty text if the URL has an empty one} */
    public Optional<String> password() {
        return parts.password;
    }

    /** {@return the hosts in order; none if the URL names none} */
    public List<Host> hosts() {
        return parts.hosts;
    }

    /** {@return the path, decoded as a whole, with its first {@code /}, if the URL has one} */
    public Optional<String> path() {
        return parts.path;
    }

    /** {@return whether all but the options is the driver's, see {@link #opaque()}} */
    public boolean isOpaque() {
        return parts.opaque.isPresent();
    }

    /**
     * {@return the text for the driver, as {@code jdbc:postgresql://db/app}, with its secrets; empty if not opaque}
     */
    public Optional<String> opaque() {
        return parts.opaque;
    }

    /** {@return the options as written, decoded, by name; with their secrets} */
    public Map<String, String> options() {
        return parts.options;
    }

    /**
     * {@return the value of an option, if the URL says it}
     *
     * @param <T> the type of the option's values
     * @param option the option
     * @throws InvalidLockUrlException if it is outside the option's bounds
     */
    public <T> Optional<T> option(Option<T> option) {
        String value = parts.options.get(option.name());
        if (value == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(option.parse(value));
        } catch (IllegalArgumentException e) {
            throw new InvalidLockUrlException("In " + masked + ": " + e.getMessage(), option.secret() ? null : e);
        }
    }

    /**
     * Returns normally if every option of the URL is one of {@code known} and within its bounds.
     *
     * @param known the options that the provider takes
     * @throws InvalidLockUrlException if not; the message names the nearest known one
     */
    public void check(Collection<Option<?>> known) {
        for (String name : parts.options.keySet()) {
            Option<?> option = known.stream()
                    .filter(candidate -> candidate.name().equals(name))
                    .findFirst()
                    .orElseThrow(() -> unknown(name, known));
            option(option);
        }
    }

    /**
     * {@return the error of an option that must be given and is not}
     *
     * @param option the option
     */
    public InvalidLockUrlException missing(Option<?> option) {
        return new InvalidLockUrlException("In " + masked + ": option " + option.name() + " is needed"
                + (option.description().isEmpty() ? "" : " (" + option.description() + ")")
                + (option.inUrl() ? "" : "; set it in code with ClientOptions.with"));
    }

    /** {@return the URL as it was given, with its secrets; for providers only} */
    public String reveal() {
        return text;
    }

    /**
     * {@return the same with that value of an option, in the place of the one that this has}
     *
     * @param option the name of the option; no parameter of a driver
     * @param value the value, decoded
     */
    public LockUrl withOption(String option, String value) {
        String name = isOpaque() ? "lock." + option : option;
        String separators = isOpaque() ? "[?&;]" : "[?&]";
        String written = name + "=" + encoded(value);
        Matcher given = Pattern.compile("(?<=" + separators + ")" + Pattern.quote(name) + "=[^&;]*")
                .matcher(text);
        if (given.find()) {
            return parse(given.replaceFirst(Matcher.quoteReplacement(written)));
        }
        // Some drivers separate their parameters by semicolons.
        boolean semicolons = isOpaque() && text.indexOf(';') >= 0;
        return parse(text + (text.indexOf('?') >= 0 ? "&" : semicolons ? ";" : "?") + written);
    }

    /**
     * {@return the same with that path, in the place of the one that this has; for a URL that is not opaque}
     *
     * @param path the path, decoded, with its first {@code /}
     */
    public LockUrl withPath(String path) {
        int start = text.indexOf("://") + 3;
        int query = text.indexOf('?', start);
        int end = query < 0 ? text.length() : query;
        int slash = text.indexOf('/', start);
        int hosts = slash < 0 ? end : Math.min(slash, end);
        return parse(text.substring(0, hosts) + encoded(path).replace("%2F", "/") + text.substring(end));
    }

    /** A plus stands for itself in a URL, and a colon is easier to read. */
    private static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace("%3A", ":");
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LockUrl url && parts.equals(url.parts);
    }

    @Override
    public int hashCode() {
        return parts.hashCode();
    }

    /** Returns the URL with its secrets masked. */
    @Override
    public String toString() {
        return masked;
    }

    private InvalidLockUrlException unknown(String name, Collection<Option<?>> known) {
        String prefix = isOpaque() ? "lock." : "";
        List<String> names = known.stream()
                .filter(Option::inUrl)
                .map(option -> prefix + option.name())
                .sorted()
                .toList();
        return new InvalidLockUrlException("In " + masked + ": option " + NameSyntax.quoted(prefix + name)
                + " is not known; did you mean " + Suggestion.of(prefix + name, names) + "? Known are "
                + String.join(", ", names) + ".");
    }
}
