// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.peer.session.SessionFrame.AskTrace;
import io.keyway.lock.peer.session.SessionFrame.TracePage;
import io.keyway.lock.peer.trace.TraceLog.Role;
import io.keyway.lock.peer.wire.FrameCodec;
import io.keyway.lock.peer.wire.FrameReader;
import io.keyway.lock.peer.wire.WireException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The last events of a process, in bounded memory, in bounded pages, and in bounded files. */
class TraceLogTest {
    private static final int CAPACITY = 1000;

    @TempDir
    Path directory;

    private long now;

    private TraceLog log() {
        return new TraceLog(Role.CLIENT, "me", CAPACITY, () -> now++, 0);
    }

    @Test
    void olderEventsAreForgotten() {
        TraceLog log = log();
        for (int i = 0; i < 3 * CAPACITY; i++) {
            log.here("n", "event " + i);
        }
        StringBuilder all = new StringBuilder();
        TracePage page = log.page(7, true, 0);
        int pages = 1;
        for (; page.more(); pages++) {
            assertThat(page.request()).isEqualTo(7);
            all.append(page.text());
            page = log.page(7, true, page.next());
        }
        all.append(page.text());
        assertThat(pages).isGreaterThan(2);
        assertThat(all.toString().lines().filter(line -> line.contains("\there\t")))
                .hasSize(CAPACITY)
                .first()
                .asString()
                .endsWith("event " + 2 * CAPACITY);
    }

    @Test
    void noPageIsLongerThanAFrame() {
        TraceLog log = log();
        String longest = "\u4e00".repeat(10_000); // three bytes each
        for (int i = 0; i < CAPACITY; i++) {
            log.begins("bar " + i, "belief\t" + longest + "\t" + i + "\texclusive");
            log.named("incarnation " + i, longest);
            log.here(longest, longest);
        }
        FrameCodec codec = new FrameCodec();
        long next = 0;
        TracePage page;
        do {
            page = log.page(1, true, next);
            assertThat(page.next()).isGreaterThan(next);
            assertThat(page.text().getBytes(StandardCharsets.UTF_8).length).isLessThan(TracePage.MAX_TEXT);
            codec.encode(page, buffer -> assertThat(buffer.remaining()).isLessThan(FrameCodec.MAX_FRAME));
            next = page.next();
        } while (page.more());
    }

    @Test
    void aBarThatBeganBeforeTheFirstEventThatIsLeftIsTold() {
        TraceLog log = log();
        log.begins("one", "authority\tn\t5\texclusive to me");
        for (int i = 0; i < 2 * CAPACITY; i++) {
            log.here("", "noise");
        }
        TracePage page = log.page(1, true, 3L * CAPACITY);
        assertThat(page.text()).contains("\t=\tauthority\tn\t5\texclusive to me\t0\n");
        log.ends("one");
        log.ends("one");
        assertThat(log.page(1, true, 0).text()).doesNotContain("\t=\t");
        TracePage last = log.page(1, true, 2L * CAPACITY + 1);
        assertThat(last.text()).containsOnlyOnce("\t-\tauthority\tn\t5\texclusive to me\t0\n");
    }

    @Test
    void oneEventIsOneLineWhateverTheNamesAre() {
        TraceLog log = log();
        log.here("a\tb\nc", "x\ty\nz\u2028\u202e");
        assertThat(log.page(1, true, 0).text().lines())
                .hasSize(2)
                .last()
                .asString()
                .endsWith("a?b?c\tx?y?z\u2028?");
    }

    @Test
    void aFileHasAllEventsAndTakesTurnsWithTheOneBefore() throws IOException {
        TraceLog log = new TraceLog(Role.CLIENT, "me");
        String text = "x".repeat(500);
        try (TraceFile file = new TraceFile(log, directory.resolve("new/traces"), "me/you")) {
            for (int written = 0; written < 40; written++) {
                for (int i = 0; i < 1000; i++) {
                    log.here("", text);
                }
                file.write(false);
            }
        }
        try (Stream<Path> files = Files.list(directory.resolve("new/traces"))) {
            List<Path> all = files.sorted().toList();
            assertThat(all).hasSize(2).allSatisfy(each -> {
                assertThat(each.getFileName().toString()).startsWith("me_you-");
                assertThat(Files.readString(each)).startsWith(TraceLog.FORMAT + "\t");
                assertThat(Files.size(each)).isLessThan(10L << 20);
            });
            assertThat(all.get(1).toString()).endsWith(TraceFile.SUFFIX + ".1");
        }
    }

    @Test
    void nobodyIsAskedBeforeTheWelcome() {
        FrameCodec codec = new FrameCodec();
        for (var frame : List.of(new AskTrace(1, AskTrace.READ, 0), new TracePage(1, true, 0, false, ""))) {
            ByteBuffer bytes = ByteBuffer.allocate(100);
            codec.encode(frame, bytes::put);
            assertThatThrownBy(() -> new FrameReader(codec).next(bytes.flip()))
                    .isInstanceOf(WireException.class)
                    .hasMessageContaining("before the welcome");
        }
    }
}
