// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.peer.ClusterMembers;
import io.keyway.lock.peer.NodeId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** `keyway member add|remove|list`: the members of a cluster whose list changes while it works. */
final class MemberListCommands {
    private MemberListCommands() {}

    /** Adds them to `keyway member`. */
    static CommandLine under(CommandLine member, Console console) {
        return member.addSubcommand(new Add(console))
                .addSubcommand(new Remove(console))
                .addSubcommand(new Show(console));
    }

    /** One question, whose answer is the list. */
    abstract static class Question implements Callable<Integer> {
        private final Console console;

        @Mixin
        private final UrlOptions target = new UrlOptions();

        @Option(
                names = "--wait",
                paramLabel = "TIME",
                converter = Durations.Wait.class,
                description = "How long to ask at the most. Default: 60s.")
        private Duration limit = Duration.ofSeconds(60);

        Question(Console console) {
            this.console = console;
        }

        abstract List<String> ask(ClusterMembers members, Duration within) throws InterruptedException;

        @Override
        public Integer call() throws InterruptedException {
            try (LockClient client = target.openToLook(console)) {
                ClusterMembers members = members(client);
                for (String member : ask(members, limit)) {
                    console.out().println(member);
                }
                return ExitCode.OK;
            } catch (LockException e) {
                throw new CommandException(ExitCode.UNAVAILABLE, Failures.message(e), e);
            }
        }

        private ClusterMembers members(LockClient client) {
            try {
                return client.unwrap(ClusterMembers.class);
            } catch (IllegalArgumentException | UnsupportedOperationException e) {
                throw new CommandException(
                        ExitCode.USAGE,
                        target.url(console) + " has no list of members that changes while they work: that is of"
                                + " lock:native:failover: and lock:native:bakery: alone. Elsewhere all members are"
                                + " restarted with another list.",
                        e);
            }
        }
    }

    /** A change of the list by one member. */
    abstract static class Change extends Question {
        @Parameters(
                index = "0",
                paramLabel = "HOST:PORT",
                converter = MemberCommand.Node.class,
                description = "The member, as the others have it.")
        private @Nullable NodeId member;

        Change(Console console) {
            super(console);
        }

        String member() {
            return String.valueOf(member);
        }
    }

    @Command(
            name = "add",
            mixinStandardHelpOptions = true,
            description =
                    "Adds a member to a cluster while it works, and prints the list. Start the member before, with"
                            + " keyway member --join.",
            footer = "%nExit code: 0 when it is a member, 125 when that is not so in time, 64 wrong usage.")
    static final class Add extends Change {
        Add(Console console) {
            super(console);
        }

        @Override
        List<String> ask(ClusterMembers members, Duration within) throws InterruptedException {
            return members.add(member(), within);
        }
    }

    @Command(
            name = "remove",
            mixinStandardHelpOptions = true,
            description = "Removes a member from a cluster while it works, and prints the list. The member ends by"
                    + " itself; if it leads, another one takes over.",
            footer = "%nExit code: 0 when it is no member, 125 when that is not so in time, 64 wrong usage.")
    static final class Remove extends Change {
        Remove(Console console) {
            super(console);
        }

        @Override
        List<String> ask(ClusterMembers members, Duration within) throws InterruptedException {
            return members.remove(member(), within);
        }
    }

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "Prints the members of a cluster, in the order in which they joined.",
            footer = "%nExit code: 0, 125 when nobody answers, 64 wrong usage.")
    static final class Show extends Question {
        Show(Console console) {
            super(console);
        }

        @Override
        List<String> ask(ClusterMembers members, Duration within) throws InterruptedException {
            return members.list(within);
        }
    }
}
