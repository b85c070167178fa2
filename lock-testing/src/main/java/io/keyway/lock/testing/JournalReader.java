// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.history.HeldAnswer;
import io.keyway.lock.tck.history.RecordedHold;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the journal of one process, as far as it has been written; the half line of a process that was killed is left.
 */
final class JournalReader {
    private final String worker;
    private final Path file;
    private final List<RecordedHold> holds = new ArrayList<>();
    private final Map<Long, RecordedHold> byId = new HashMap<>();
    private final List<String> refusals = new ArrayList<>();
    private long position;
    private int grants;

    JournalReader(String worker, Path file) {
        this.worker = worker;
        this.file = file;
    }

    /** Whose journal it is. */
    String worker() {
        return worker;
    }

    /** All requests, in the order in which they were made. */
    List<RecordedHold> holds() {
        return holds;
    }

    /** How many leases were handed out. */
    int grants() {
        return grants;
    }

    /** What users who would have waited for long were told instead of a lease. */
    List<String> refusals() {
        return refusals;
    }

    /** Reads what is new. */
    void poll() throws IOException {
        if (!Files.exists(file)) {
            return;
        }
        try (SeekableByteChannel channel = Files.newByteChannel(file)) {
            ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(channel.size() - position));
            channel.position(position);
            int count = 0;
            while (bytes.hasRemaining() && count >= 0) {
                count = channel.read(bytes);
            }
            int whole = bytes.position();
            while (whole > 0 && bytes.get(whole - 1) != '\n') {
                whole--;
            }
            position += whole;
            new String(bytes.array(), 0, whole, StandardCharsets.UTF_8).lines().forEach(this::read);
        }
    }

    private void read(String line) {
        String[] words = line.split(" ", 8);
        long id = Long.parseLong(words[1]);
        if (words[0].equals("asked")) {
            RecordedHold hold = new RecordedHold(
                    worker,
                    words[2],
                    LockMode.valueOf(words[3]),
                    Integer.parseInt(words[5]),
                    Integer.parseInt(words[6]),
                    Long.parseLong(words[4]));
            byId.put(id, hold);
            holds.add(hold);
            return;
        }
        RecordedHold hold = byId.get(id);
        if (hold == null) {
            throw new IllegalStateException(file + ": no request " + id + " before: " + line);
        }
        switch (words[0]) {
            case "granted" -> {
                grants++;
                hold.granted(
                        Long.parseLong(words[2]), Duration.ofNanos(Long.parseLong(words[3])), Long.parseLong(words[4]));
            }
            case "held", "gone" ->
                hold.answered(new HeldAnswer(
                        words[0].equals("held"),
                        Long.parseLong(words[2]),
                        Long.parseLong(words[3]),
                        Long.parseLong(words[4])));
            case "lost" -> hold.lost(Long.parseLong(words[3]), LeaseLoss.Cause.valueOf(words[2]));
            case "untold" -> hold.untold();
            case "releasing" -> hold.releaseCalled(Long.parseLong(words[2]));
            case "released" -> hold.released(ReleaseOutcome.valueOf(words[2]));
            case "refused" -> {
                String reason = line.substring(("refused " + id).length()).trim();
                if (reason.startsWith("told: ")) {
                    refusals.add(reason);
                }
            }
            default -> throw new IllegalStateException(file + ": not a line of a journal: " + line);
        }
    }
}
