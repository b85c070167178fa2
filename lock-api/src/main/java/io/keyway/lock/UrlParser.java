// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.LockUrl.Host;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/** Parses lock URLs: splits first, then decodes once; notes where the secrets stand. */
final class UrlParser {
    private static final Pattern WORD = Pattern.compile("[a-z][a-z0-9-]*");
    private static final String NOT_IN_HOSTS = "[]:/@ ";

    private final UrlText text;
    private final StringBuilder masked = new StringBuilder();
    private int shown;

    private UrlParser(UrlText text) {
        this.text = text;
    }

    static LockUrl parse(String raw) {
        UrlText text = new UrlText(raw);
        text.checkCharacters();
        if (!raw.startsWith("lock:")) {
            boolean another = raw.matches("[a-z][a-z0-9]*:(.*:)?//.*");
            throw text.refuse("does not start with lock:"
                    + (another ? "; did you mean " + UrlMask.malformed("lock:" + raw) + "?" : ""));
        }
        return raw.startsWith("lock:jdbc:") ? opaque(text) : new UrlParser(text).parse();
    }

    private static LockUrl opaque(UrlText text) {
        OpaqueUrl url = new OpaqueUrl(text);
        return new LockUrl(
                text.raw(),
                UrlMask.opaque(text.raw()),
                new LockUrl.Parts(
                        "jdbc",
                        Optional.of(url.driver()),
                        Optional.empty(),
                        Optional.empty(),
                        List.of(),
                        Optional.empty(),
                        Optional.of(url.url()),
                        url.options()));
    }

    private LockUrl parse() {
        String raw = text.raw();
        int slashes = raw.indexOf("://", 4);
        if (slashes < 0) {
            throw text.refuse("has no :// after the provider");
        }
        if (slashes == 4) {
            throw text.refuse("has no provider between lock: and ://");
        }
        String[] words = raw.substring(5, slashes).split(":", -1);
        if (words.length > 2) {
            throw text.refuse("has more than a provider and a protocol between lock: and ://");
        }
        for (String word : words) {
            if (!WORD.matcher(word).matches()) {
                throw text.refuse("has a provider or protocol that is not a lower-case word of a to z, 0 to 9 and -");
            }
        }
        int start = slashes + 3;
        int end = text.indexOf('?', start, raw.length());
        int authorityEnd = text.indexOf('/', start, end);
        int hash = raw.indexOf('#', start);
        if (hash >= 0) {
            throw text.refuse("has a raw # at index " + hash + "; write it as %23");
        }
        int at = text.indexOf('@', start, authorityEnd);
        int first = text.indexOf('@', start, raw.length());
        boolean inPath = first > authorityEnd && first < end;
        if (inPath || raw.indexOf('@', first + 1) >= 0) {
            throw text.refuse("has a raw @ too many; write an @ in a user, a password or a path as %40,"
                    + " and a / in a password as %2F");
        }
        Optional<String> user = Optional.empty();
        Optional<String> password = Optional.empty();
        boolean login = at < authorityEnd;
        if (login) {
            int colon = text.indexOf(':', start, at);
            user = Optional.of(text.decode(start, colon, "the user")).filter(name -> !name.isEmpty());
            if (colon < at) {
                password = Optional.of(text.decode(colon + 1, at, "the password"));
                mask(colon + 1, at);
            }
        }
        List<Host> hosts = hosts(login ? at + 1 : start, authorityEnd);
        if (login && hosts.isEmpty()) {
            throw text.refuse("has a user but no host");
        }
        Optional<String> path =
                authorityEnd < end ? Optional.of(text.decodeShown(authorityEnd, end, "the path")) : Optional.empty();
        Map<String, String> options = end < raw.length() ? options(end + 1) : Map.of();
        masked.append(raw, shown, raw.length());
        return new LockUrl(
                raw,
                masked.toString(),
                new LockUrl.Parts(
                        words[0],
                        words.length > 1 ? Optional.of(words[1]) : Optional.empty(),
                        user,
                        password,
                        hosts,
                        path,
                        Optional.empty(),
                        options));
    }

    private List<Host> hosts(int start, int end) {
        if (start == end) {
            return List.of();
        }
        List<Host> hosts = new ArrayList<>();
        for (int from = start; from <= end; ) {
            int to = text.indexOf(',', from, end);
            Host host = host(from, to);
            if (hosts.contains(host)) {
                throw text.refuse("has one host twice, the second time at index " + from);
            }
            hosts.add(host);
            from = to + 1;
        }
        return Collections.unmodifiableList(hosts);
    }

    private Host host(int start, int end) {
        String raw = text.raw();
        if (start < end && raw.charAt(start) == '[') {
            int close = text.indexOf(']', start, end);
            if (close == end) {
                throw text.refuse("has a [ without ] at index " + start);
            }
            String address = text.decodeShown(start + 1, close, "an IPv6 address");
            if (!address.contains(":") || !address.chars().allMatch(UrlParser::inIpv6)) {
                throw text.refuse("has no IPv6 address in the brackets at index " + start);
            }
            return new Host(address, port(close + 1, end));
        }
        int colon = text.indexOf(':', start, end);
        String name = text.decodeShown(start, colon, "a host");
        if (name.isEmpty()) {
            throw text.refuse("has an empty host at index " + start);
        }
        if (name.chars().anyMatch(c -> NOT_IN_HOSTS.indexOf(c) >= 0)) {
            throw text.refuse("has a host with one of " + NOT_IN_HOSTS + " in it at index " + start);
        }
        return new Host(name, port(colon, end));
    }

    /** Does not show what it found: it may be a password whose / or ? was not escaped. */
    private OptionalInt port(int start, int end) {
        if (start == end) {
            return OptionalInt.empty();
        }
        String digits = text.raw().substring(start + 1, end);
        int port = 0;
        if (text.raw().charAt(start) == ':' && digits.matches("[0-9]{1,5}")) {
            port = Integer.parseInt(digits);
        }
        if (port < 1 || port > 65535) {
            throw text.refuse("has a port that is not 1 to 65535 at index " + (start + 1)
                    + "; an IPv6 address stands in brackets; / ? @ in a password are written %2F %3F %40");
        }
        return OptionalInt.of(port);
    }

    private Map<String, String> options(int start) {
        int length = text.raw().length();
        Map<String, String> options = new LinkedHashMap<>();
        for (int from = start; from <= length; ) {
            int to = text.indexOf('&', from, length);
            int equals = text.indexOf('=', from, to);
            if (equals == to) {
                throw text.refuse("has an option without = at index " + from);
            }
            String name = text.decodeShown(from, equals, "an option's name");
            if (name.isEmpty()) {
                throw text.refuse("has an option without a name at index " + from);
            }
            if (options.put(name, text.decode(equals + 1, to, "an option's value")) != null) {
                throw text.refuse("has an option twice, the second time at index " + from);
            }
            if (Secrets.isSecret(name)) {
                mask(equals + 1, to);
            }
            from = to + 1;
        }
        return Collections.unmodifiableMap(options);
    }

    private void mask(int start, int end) {
        masked.append(text.raw(), shown, start).append(Secrets.MASK);
        shown = end;
    }

    private static boolean inIpv6(int c) {
        return c == ':'
                || c == '.'
                || c == '%'
                || (c >= '0' && c <= '9')
                || (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z');
    }
}
