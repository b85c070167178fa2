// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.LockUrl;
import io.keyway.lock.tck.CheckResult;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Takes the secrets of a URL out of what a provider said, which may say anything. */
final class SecretMasker {
    private static final String MASK = "***";
    /** A shorter secret keeps nobody out, and its letters are everywhere. */
    private static final int SHORTEST = 4;

    private final List<String> secrets;

    private SecretMasker(List<String> secrets) {
        this.secrets = secrets;
    }

    /** The secrets are what the masked form of the URL does not show. */
    static SecretMasker of(LockUrl url) {
        List<String> shown = Arrays.asList(url.toString().split(Pattern.quote(MASK), -1));
        Matcher hidden = Pattern.compile(
                        shown.stream().map(Pattern::quote).collect(Collectors.joining("(.*?)")), Pattern.DOTALL)
                .matcher(url.reveal());
        List<String> secrets = new ArrayList<>();
        if (hidden.matches()) {
            for (int i = 1; i <= hidden.groupCount(); i++) {
                secrets.add(hidden.group(i));
            }
        }
        url.password().ifPresent(secrets::add);
        secrets.addAll(secrets.stream().map(SecretMasker::decoded).toList());
        return new SecretMasker(secrets.stream()
                .filter(secret -> secret.length() >= SHORTEST)
                .distinct()
                .sorted(Comparator.comparing(String::length).reversed())
                .toList());
    }

    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return text;
        }
    }

    String text(String said) {
        String clean = said;
        for (String secret : secrets) {
            clean = clean.replace(secret, MASK);
        }
        return clean;
    }

    CheckResult result(CheckResult check) {
        if (secrets.isEmpty()) {
            return check;
        }
        return new CheckResult(
                check.id(),
                check.rules(),
                check.level(),
                check.verdict(),
                check.took(),
                text(check.message()),
                check.hint(),
                check.evidence().map(this::text),
                check.picture().map(this::text),
                check.notes().stream().map(this::text).toList(),
                check.repeats());
    }
}
