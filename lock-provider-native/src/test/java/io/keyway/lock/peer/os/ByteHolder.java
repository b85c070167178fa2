// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.os;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/** A process that does what it is told with the bytes of a file. */
public final class ByteHolder {
    private ByteHolder() {}

    public static void main(String[] args) throws IOException {
        Path path = Path.of(args[0]);
        ByteLocks locks = ByteLocks.open(path);
        say("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] word = line.split(" ", 2);
            switch (word[0]) {
                case "take" -> say("took " + locks.take());
                case "probe" -> say("life " + locks.probe(Long.parseLong(word[1])));
                case "others" -> say("others " + locks.others(Set.of()));
                case "standing" -> say("standing " + locks.status(Long.parseLong(word[1])));
                case "release" -> {
                    locks.release(Long.parseLong(word[1]));
                    say("released");
                }
                case "close-another-channel" -> {
                    FileChannel.open(path, StandardOpenOption.READ).close();
                    say("closed");
                }
                case "spawn" ->
                    say("spawned "
                            + new ProcessBuilder("sleep", "60")
                                    .inheritIO()
                                    .start()
                                    .pid());
                default -> throw new IllegalArgumentException(line);
            }
        }
    }

    @SuppressWarnings("SystemOut") // the line protocol of this process
    private static void say(String line) {
        System.out.println(line);
    }
}
