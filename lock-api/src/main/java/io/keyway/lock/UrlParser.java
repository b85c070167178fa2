// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/** Parses lock URLs: splits first, then decodes once. */
final class UrlParser {
    private static final Pattern WORD = Pattern.compile("[a-z][a-z0-9-]*");
    private static final String SHAPE =
            " A lock URL is lock:<provider>[:<protocol>]://[user[:password]@]host[:port],.../path?option=value,"
                    + " or lock:jdbc:<driver URL>.";

    private final String text;
    private final String masked;

    private UrlParser(String text, String masked) {
        this.text = text;
        this.masked = masked;
    }

    static LockUrl.Parts parse(String text, String masked) {
        return new UrlParser(text, masked).parse();
    }

    private LockUrl.Parts parse() {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isISOControl(text.charAt(i)) || Character.isWhitespace(text.charAt(i))) {
                if (!text.startsWith("lock:jdbc:") || Character.isISOControl(text.charAt(i))) {
                    throw refuse("has white space or a control character at index " + i + "; write a space as %20");
                }
            }
        }
        if (!text.startsWith("lock:")) {
            throw refuse("does not start with lock:");
        }
        if (text.startsWith("lock:jdbc:")) {
            return OpaqueUrl.parse(text, masked);
        }
        int slashes = text.indexOf("://", 4);
        if (slashes < 0) {
            throw refuse("has no :// after the provider");
        }
        String[] words = text.substring(5, Math.max(5, slashes)).split(":", -1);
        if (slashes < 5 || words.length > 2) {
            throw refuse("must have a provider, or a provider and a protocol, between lock: and ://");
        }
        for (String word : words) {
            if (!WORD.matcher(word).matches()) {
                throw refuse("has a provider or protocol that is not a lower-case word");
            }
        }
        return rest(words, slashes + 3);
    }

    private LockUrl.Parts rest(String[] words, int start) {
        if (text.indexOf('#') >= 0) {
            throw refuse("has a raw #; write it as %23");
        }
        int question = text.indexOf('?', start);
        int end = question < 0 ? text.length() : question;
        int slash = text.indexOf('/', start);
        int authorityEnd = slash < 0 || slash > end ? end : slash;
        int at = text.indexOf('@', start);
        if (at >= authorityEnd) {
            at = -1;
        }
        if (at >= 0 && text.indexOf('@', at + 1) >= 0 && text.indexOf('@', at + 1) < authorityEnd) {
            throw refuse("has a second raw @; write an @ in the user or password as %40");
        }
        Optional<String> user = Optional.empty();
        Optional<String> password = Optional.empty();
        if (at >= 0) {
            int colon = text.indexOf(':', start);
            boolean hasPassword = colon >= 0 && colon < at;
            user = Optional.of(decode(start, hasPassword ? colon : at, "the user"));
            password = hasPassword ? Optional.of(decode(colon + 1, at, "the password")) : Optional.empty();
        }
        List<LockUrl.Host> hosts = hosts(at < 0 ? start : at + 1, authorityEnd);
        Optional<String> path =
                authorityEnd < end ? Optional.of(decode(authorityEnd, end, "the path")) : Optional.empty();
        Map<String, String> options = question < 0 ? Map.of() : options(question + 1);
        return new LockUrl.Parts(
                words[0],
                words.length > 1 ? Optional.of(words[1]) : Optional.empty(),
                user.filter(name -> !name.isEmpty()),
                password,
                hosts,
                path,
                Optional.empty(),
                options);
    }

    private List<LockUrl.Host> hosts(int start, int end) {
        if (start == end) {
            return List.of();
        }
        List<LockUrl.Host> hosts = new ArrayList<>();
        int from = start;
        while (from <= end) {
            int comma = text.indexOf(',', from);
            int to = comma < 0 || comma > end ? end : comma;
            hosts.add(host(from, to));
            from = to + 1;
        }
        return Collections.unmodifiableList(hosts);
    }

    private LockUrl.Host host(int start, int end) {
        if (start == end) {
            throw refuse("has an empty host at index " + start);
        }
        String name;
        int after;
        if (text.charAt(start) == '[') {
            int close = text.indexOf(']', start);
            if (close < 0 || close >= end) {
                throw refuse("has an IPv6 address without ] at index " + start);
            }
            name = text.substring(start + 1, close);
            after = close + 1;
            if (!name.contains(":") || !name.chars().allMatch(UrlParser::inIpv6)) {
                throw refuse("has no IPv6 address in the brackets at index " + start);
            }
        } else {
            int colon = text.indexOf(':', start);
            after = colon < 0 || colon > end ? end : colon;
            name = decode(start, after, "a host");
            if (name.isEmpty() || name.indexOf('[') >= 0 || name.indexOf(']') >= 0) {
                throw refuse("has an empty host or a stray bracket at index " + start);
            }
        }
        return new LockUrl.Host(name, port(after, end));
    }

    private OptionalInt port(int start, int end) {
        if (start == end) {
            return OptionalInt.empty();
        }
        String digits = text.substring(start + 1, end);
        int port = -1;
        if (text.charAt(start) == ':' && digits.length() <= 5 && digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            port = digits.isEmpty() ? -1 : Integer.parseInt(digits);
        }
        if (port < 1 || port > 65535) {
            throw refuse("has a port that is not 1 to 65535 at index " + start
                    + " (an IPv6 address stands in brackets; a : / ? or @ in a password is written %3A %2F %3F %40)");
        }
        return OptionalInt.of(port);
    }

    private Map<String, String> options(int start) {
        Map<String, String> options = new LinkedHashMap<>();
        int from = start;
        while (from <= text.length()) {
            int next = text.indexOf('&', from);
            int to = next < 0 ? text.length() : next;
            int equals = text.indexOf('=', from);
            if (equals < 0 || equals > to) {
                throw refuse("has an option without = at index " + from);
            }
            String name = decode(from, equals, "an option's name");
            if (name.isEmpty()) {
                throw refuse("has an option without a name at index " + from);
            }
            if (options.put(name, decode(equals + 1, to, "an option's value")) != null) {
                throw refuse("has the option " + name + " twice");
            }
            from = to + 1;
        }
        return Collections.unmodifiableMap(options);
    }

    private String decode(int start, int end, String what) {
        if (text.indexOf('%', start) < 0) {
            return text.substring(start, end);
        }
        ByteBuffer bytes = ByteBuffer.allocate((end - start) * 4);
        for (int i = start; i < end; i++) {
            char c = text.charAt(i);
            if (c != '%') {
                int point = text.codePointAt(i);
                bytes.put(Character.toString(point).getBytes(StandardCharsets.UTF_8));
                i += Character.charCount(point) - 1;
            } else if (i + 2 < end && hex(i + 1) >= 0 && hex(i + 2) >= 0) {
                bytes.put((byte) (hex(i + 1) << 4 | hex(i + 2)));
                i += 2;
            } else {
                throw refuse("has a % without two hex digits in " + what + " at index " + i
                        + "; write a plain % as %25 and a plain @ as %40");
            }
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
        } catch (CharacterCodingException e) {
            throw refuse("has percent-escapes in " + what + " that are not UTF-8");
        }
    }

    private int hex(int index) {
        return Character.digit(text.charAt(index), 16);
    }

    private static boolean inIpv6(int c) {
        return c == ':' || c == '.' || c == '%' || Character.digit(c, 16) >= 0 || (c >= 'g' && c <= 'z');
    }

    private InvalidLockUrlException refuse(String what) {
        return new InvalidLockUrlException("The URL " + LockNames.quoted(masked) + " " + what + "." + SHAPE);
    }
}
