// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every malformed URL is refused with a message that says what is wrong and shows no secret. */
class MalformedUrlTest {
    private static final String SECRET = "s3cr3t";
    private static final List<Option<?>> KNOWN = Stream.concat(
                    CommonOptions.ALL.stream(),
                    Stream.of(
                            Option.text("password"),
                            Option.number("database", 0, 15),
                            Option.flag("secure"),
                            Option.object("dataSource", Runnable.class)))
            .toList();

    record Case(String url, String message) {}

    static Stream<Case> cases() {
        return Stream.of(
                // the frame
                c("", "does not start with lock:"),
                c("lock", "does not start with lock:"),
                c("redis://h", "does not start with lock:; did you mean lock:redis://h?"),
                c("LOCK:redis://h", "does not start with lock:"),
                c(" lock:redis://h", "white space at index 0"),
                c("jdbc:postgresql://u:s3cr3t@db/app", "did you mean lock:jdbc:postgresql://"),
                c("lock:", "no :// after the provider"),
                c("lock:redis", "no :// after the provider"),
                c("lock:redis:localhost:6379", "no :// after the provider"),
                c("lock:redis:u:s3cr3t@localhost:6379", "no :// after the provider"),
                c("lock:redis:/localhost", "no :// after the provider"),
                c("lock://h", "no provider between lock: and ://"),
                c("lock:://h", "not a lower-case word"),
                c("lock:redis:://h", "not a lower-case word"),
                c("lock:Redis://h", "not a lower-case word"),
                c("lock:redis:Sentinel://h", "not a lower-case word"),
                c("lock:1redis://h", "not a lower-case word"),
                c("lock:re_dis://h", "not a lower-case word"),
                c("lock:redis:a:b://h", "more than a provider and a protocol"),
                // characters
                c("lock:redis://h /0", "white space at index 14"),
                c("lock:redis://h/a\u00a0b", "white space at index 16"),
                c("lock:redis://h\t", "control character or unpaired surrogate at index 14"),
                c("lock:redis://u:s3cr3t\n@h", "control character or unpaired surrogate at index 21"),
                c("lock:redis://h/\ud800", "control character or unpaired surrogate at index 15"),
                c("lock:redis://h/a#s", "raw # at index 16; write it as %23"),
                c("lock:redis://u:s3cr3t#1@h", "write it as %23"),
                // user and password
                c("lock:redis://u:s3cr3t@x@h", "write an @ in a user, a password or a path as %40"),
                c("lock:redis://u@x:s3cr3t@h", "as %40"),
                c("lock:redis://u:s3cr3t@x@h/0?ttl=5s", "as %40"),
                c("lock:redis://u:s3cr3t@x?s3cr3t=s3cr3t@h", "as %40"),
                c("lock:redis://h?name=a@b&table=c@d", "as %40"),
                c("lock:redis://u:s3cr3t/x@h", "a / in a password as %2F"),
                c("lock:redis://u:s3cr3t?x@h", "port that is not 1 to 65535 at index 15"),
                c("lock:redis://u:s3cr3t%zz@h", "a % without two hex digits in the password"),
                c("lock:redis://u:s3cr3t%@h", "write a plain % as %25 and a plain @ as %40"),
                c("lock:redis://u:s3cr3t%4@h", "a % without two hex digits in the password at index 21"),
                c("lock:redis://u%:s3cr3t@h", "a % without two hex digits in the user at index 14"),
                c("lock:redis://u:s3cr3t%ff@h", "percent-escapes in the password at index 15 that are not UTF-8"),
                c("lock:redis://u:s3cr3t@", "a user but no host"),
                c("lock:redis://u:s3cr3t@/0", "a user but no host"),
                // hosts and ports
                c("lock:redis://h,", "an empty host at index 15"),
                c("lock:redis://,h", "an empty host at index 13"),
                c("lock:redis://a,,b", "an empty host at index 15"),
                c("lock:redis://:6379", "an empty host at index 13"),
                c("lock:redis://u:s3cr3t@:6379", "an empty host at index 22"),
                c("lock:redis://a:1,a:1", "one host twice, the second time at index 17"),
                c("lock:redis://h:", "port that is not 1 to 65535 at index 15"),
                c("lock:redis://h:0", "port that is not 1 to 65535"),
                c("lock:redis://h:65536", "port that is not 1 to 65535"),
                c("lock:redis://h:-1", "port that is not 1 to 65535"),
                c("lock:redis://h:6379x", "port that is not 1 to 65535"),
                c("lock:redis://h:000000001", "port that is not 1 to 65535"),
                c("lock:redis://h:\u0661", "port that is not 1 to 65535"),
                c("lock:redis://::1:6379", "an empty host at index 13"),
                c("lock:redis://fe80::1", "an IPv6 address stands in brackets"),
                c("lock:redis://[::1", "a [ without ] at index 13"),
                c("lock:redis://[h]:6379", "no IPv6 address in the brackets at index 13"),
                c("lock:redis://[fe80::1%eth0]:6379", "a % without two hex digits in an IPv6 address at index 21"),
                c("lock:redis://[::1]6379", "port that is not 1 to 65535"),
                c("lock:redis://a]b", "a host with one of []:/@ "),
                c("lock:redis://a%3A7", "a host with one of []:/@ "),
                c("lock:redis://a%00b", "an escaped control character in a host"),
                // path
                c("lock:redis://h/%", "a % without two hex digits in the path at index 15"),
                c("lock:redis://h/a@b", "as %40"),
                c("lock:redis://h/%0a", "an escaped control character in the path"),
                c("lock:redis://h/%c3", "percent-escapes in the path at index 14 that are not UTF-8"),
                // the form of options
                c("lock:redis://h?", "an option without = at index 15"),
                c("lock:redis://h?ttl", "an option without = at index 15"),
                c("lock:redis://h?ttl=5s&", "an option without = at index 22"),
                c("lock:redis://h?&ttl=5s", "an option without = at index 15"),
                c("lock:redis://h?=5s", "an option without a name at index 15"),
                c("lock:redis://h?ttl=5s&ttl=5s", "an option twice, the second time at index 22"),
                c("lock:redis://h?ttl=5s&%74tl=6s", "an option twice"),
                c("lock:redis://h?password=s3cr3t&password=s3cr3t", "an option twice"),
                c("lock:redis://h?password=s3cr3t%&ttl=5s", "a % without two hex digits in an option's value"),
                c("lock:redis://h?p%61ssword=s3cr3t&x", "an option without ="),
                // the meaning of options
                c("lock:redis://h?tll=5s", "did you mean ttl?"),
                c("lock:redis://h?TTL=5s", "did you mean ttl?"),
                c("lock:redis://h?requesttimeout=5s", "did you mean requestTimeout?"),
                c("lock:redis://h?datbase=1&password=s3cr3t", "did you mean database?"),
                c("lock:redis://u:s3cr3t@h?sceure=true", "did you mean secure?"),
                c("lock:redis://h?ttl=10", "write a whole number and a unit"),
                c("lock:redis://h?ttl=ten", "not a duration"),
                c("lock:redis://h?ttl=1.5s", "not a duration"),
                c("lock:redis://h?ttl=-5s", "not a duration"),
                c("lock:redis://h?ttl=+5s", "not a duration"),
                c("lock:redis://h?ttl=5S", "not a duration"),
                c("lock:redis://h?ttl=", "not a duration"),
                c("lock:redis://h?ttl=99999999999999999999s", "too large"),
                c("lock:redis://h?ttl=9223372036854775807h", "too large"),
                c("lock:redis://h?ttl=99ms", "\"99ms\" is outside 100ms to 24h"),
                c("lock:redis://h?ttl=25h", "\"25h\" is outside 100ms to 24h"),
                c("lock:redis://h?ttl=5m&closeTimeout=0s", "option closeTimeout: \"0s\" is outside"),
                c("lock:redis://h?connect=later", "none of lazy, eager"),
                c("lock:redis://h?connect=LAZY", "none of lazy, eager"),
                c("lock:redis://h?database=16", "\"16\" is outside 0 to 15"),
                c("lock:redis://h?database=one", "not a whole number"),
                c("lock:redis://h?database=99999999999", "too large"),
                c("lock:redis://h?secure=yes", "neither true nor false"),
                c("lock:redis://h?name=", "not a client name"),
                c("lock:redis://h?name=%0A", "not a client name"),
                c("lock:redis://h?require=fencin", "did you mean fencing?"),
                c("lock:redis://h?require=tokens:alway", "did you mean always?"),
                c("lock:redis://h?require=token:always", "did you mean tokens?"),
                c("lock:redis://h?require=", "did you mean"),
                c("lock:redis://h?dataSource=x", "cannot be said in a URL"),
                // opaque
                c("lock:jdbc:", "names no JDBC driver"),
                c("lock:jdbc:postgresql", "names no JDBC driver"),
                c("lock:jdbc://u:s3cr3t@db", "names no JDBC driver"),
                c("lock:jdbc:h2:mem:x;lock.ttl", "without = at index 19"),
                c("lock:jdbc:h2:mem:x;lock.=5s", "without an option's name at index 19"),
                c("lock:jdbc:h2:mem:x;lock.ttl=5s;lock.ttl=5s;PASSWORD=s3cr3t", "twice, the second time at index 31"),
                c("lock:jdbc:postgresql://u:s3cr3t@db/x?lock.ttl=5", "not a duration"),
                c("lock:jdbc:postgresql://db/x?password=s3cr3t&lock.tll=5s", "did you mean lock.ttl?"),
                c("lock:jdbc:postgresql://db/x?password=s3cr3t&lock.ttl=%", "a % without two hex digits"),
                c("lock:jdbc:oracle:thin:scott/s3cr3t@//db/x?lock.tll=5s", "did you mean lock.ttl?"),
                c("lock:jdbc:sqlserver://db;password={a;s3cr3t};lock.tll=5s", "did you mean lock.ttl?"));
    }

    private static Case c(String url, String message) {
        return new Case(url, message);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void isRefused(Case bad) {
        InvalidLockUrlException e = catchThrowableOfType(
                InvalidLockUrlException.class, () -> LockUrl.parse(bad.url()).check(KNOWN));

        assertThat(e).as("the exception of %s", bad.url()).isNotNull().hasMessageContaining(bad.message());
        for (Throwable t = e; t != null; t = t.getCause()) {
            assertThat(t.getMessage()).doesNotContain(SECRET);
        }
        assertThat(e.getMessage()).doesNotContain("\n");
        assertThat(e.retryable()).isFalse();
    }

    @Test
    void casesAreManyAndDistinct() {
        assertThat(cases().map(Case::url)).hasSizeGreaterThanOrEqualTo(50).doesNotHaveDuplicates();
    }
}
