// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.report;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Text that stands in documents of other kinds: XML and HTML, JSON, Markdown. */
final class Markup {
    private static final Pattern CODE = Pattern.compile("`([^`\\n]+)`");

    private Markup() {}

    /** For XML 1.0 and HTML, in text and attributes; characters that XML cannot carry become U+FFFD. */
    static String xml(String text) {
        StringBuilder out = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(point -> {
            switch (point) {
                case '&' -> out.append("&amp;");
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                case '"' -> out.append("&quot;");
                default -> out.appendCodePoint(allowed(point) ? point : 0xFFFD);
            }
        });
        return out.toString();
    }

    /** The same for a page, where what stands between backticks is code. */
    static String html(String text) {
        return CODE.matcher(xml(text)).replaceAll("<code>$1</code>");
    }

    private static boolean allowed(int point) {
        return point == '\t'
                || point == '\n'
                || point == '\r'
                || (point >= 0x20 && point < 0xD800)
                || (point >= 0xE000 && point < 0xFFFE)
                || point >= 0x10000;
    }

    /** For a cell of a Markdown table. */
    static String cell(String text) {
        return text.replace("|", "\\|").replace("<", "&lt;").replaceAll("\\s*\\R\\s*", " ");
    }

    /** A value as JSON (RFC 8259): text, number, truth value, null, list or map, which keeps its order. */
    static String json(Object value) {
        StringBuilder out = new StringBuilder();
        json(value, out, "\n");
        return out.append('\n').toString();
    }

    private static void json(Object value, StringBuilder out, String line) {
        if (value instanceof Map<?, ?> map) {
            String separator = "";
            out.append('{');
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                out.append(separator).append(line).append("  ");
                quoted(entry.getKey().toString(), out);
                out.append(": ");
                json(entry.getValue(), out, line + "  ");
                separator = ",";
            }
            out.append(map.isEmpty() ? "" : line).append('}');
        } else if (value instanceof List<?> list) {
            String separator = "";
            out.append('[');
            for (Object element : list) {
                out.append(separator).append(line).append("  ");
                json(element, out, line + "  ");
                separator = ",";
            }
            out.append(list.isEmpty() ? "" : line).append(']');
        } else if (value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else {
            quoted(value.toString(), out);
        }
    }

    private static void quoted(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
