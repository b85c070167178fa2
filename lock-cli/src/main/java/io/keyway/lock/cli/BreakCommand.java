// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockStatus;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** `keyway break`: takes a lock from the holder that it displays. */
@Command(
        name = "break",
        mixinStandardHelpOptions = true,
        description = "Takes a lock from its holder. A command that runs under it is killed by its keyway.",
        footer = "%nExit code: 0 when the lock was broken, 1 when nobody held it.")
final class BreakCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private final UrlOptions target = new UrlOptions();

    @Parameters(index = "0", paramLabel = "NAME", description = "The lock.")
    private String name = "";

    @Option(
            names = "--reason",
            required = true,
            paramLabel = "TEXT",
            description = "The holder is notified with this text.")
    private String reason = "";

    @Option(
            names = "--token",
            paramLabel = "TOKEN",
            description = "Which grant, when there are several holders; keyway show prints the tokens.")
    private @Nullable Long token;

    @Option(names = "--semaphore", description = "Take permits of the semaphore of that name instead.")
    private boolean semaphore;

    BreakCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (reason.isBlank()) {
            throw new CommandException(ExitCode.USAGE, "--reason must say why: the holder reads it.");
        }
        LockName lockName = LockName.of(name);
        LockKey key = semaphore ? LockKey.semaphore(lockName) : LockKey.lock(lockName);
        if (target.atRest(console)) {
            console.say(key + " is not held.");
            return ExitCode.NOTHING_BROKEN;
        }
        try (LockClient client = target.openToLook(console)) {
            Optional<LockStatus> status = client.admin().show(key);
            List<LockStatus.Holder> holders = status.map(LockStatus::holders).orElse(List.of()).stream()
                    .filter(holder -> token == null || holder.token().equals(OptionalLong.of(token)))
                    .toList();
            if (holders.isEmpty()) {
                console.say(key + " is not held" + (token == null ? "" : " under token " + token)
                        + (status.isEmpty() ? other(client, lockName) : "."));
                return ExitCode.NOTHING_BROKEN;
            }
            console.out().print(StatusText.of(List.of(new LockStatus(key, holders, List.of()))));
            if (holders.size() > 1) {
                throw new CommandException(
                        ExitCode.USAGE, key + " has " + holders.size() + " holders; choose one with --token.");
            }
            return breakGrant(client, key, holders.get(0));
        }
    }

    /** What to do if it was the other thing of that name that was meant. */
    private String other(LockClient client, LockName lockName) throws InterruptedException {
        LockKey other = semaphore ? LockKey.lock(lockName) : LockKey.semaphore(lockName);
        boolean held = client.admin()
                .show(other)
                .filter(found -> !found.holders().isEmpty())
                .isPresent();
        return held ? ", but " + other + " is: use " + (semaphore ? "no --semaphore." : "--semaphore.") : ".";
    }

    private int breakGrant(LockClient client, LockKey key, LockStatus.Holder holder) throws InterruptedException {
        if (holder.token().isEmpty()) {
            throw new CommandException(ExitCode.UNAVAILABLE, "the provider does not tell the token of this grant.");
        }
        if (!client.admin().breakLease(key, holder.token().getAsLong(), reason)) {
            console.say("that grant had ended by itself; nothing was broken.");
            return ExitCode.NOTHING_BROKEN;
        }
        console.out().println("Broken.");
        return ExitCode.OK;
    }
}
