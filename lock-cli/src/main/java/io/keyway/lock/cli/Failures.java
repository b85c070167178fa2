// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockException;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.ProviderNotFoundException;
import io.keyway.lock.UnsupportedFeatureException;
import java.util.regex.Pattern;

/** Turns what was thrown into one sentence and an exit code. */
final class Failures {
    private static final Pattern LONG_OPTIONS = Pattern.compile("(\\block:[^\\s?]+)\\?[^\\s]{60,}?(?=[.:;,)]?(\\s|$))");
    /** A user of the command has no class path to mend. */
    private static final Pattern FOR_BUILDS = Pattern.compile(" Add [^.]+ to the class path\\.$");

    private static final Pattern ADVICE =
            Pattern.compile("(?i)[.;,] (nothing was sent; )?(the request was withdrawn; )?try again\\b[^.]*(?=\\.|$)");

    private final Console console;

    Failures(Console console) {
        this.console = console;
    }

    int report(Throwable failure) {
        if (console.debug()) {
            failure.printStackTrace(console.err());
        }
        if (failure instanceof CommandException refusal) {
            console.say(message(refusal));
            return refusal.exitCode();
        }
        if (failure instanceof InvalidLockUrlException
                || failure instanceof UnsupportedFeatureException
                || failure instanceof ProviderNotFoundException
                || failure instanceof IllegalArgumentException
                || (failure instanceof LockUnavailableException refusal && !refusal.retryable())) {
            console.say(message(failure));
            return ExitCode.USAGE;
        }
        if (failure instanceof LockException) {
            console.say(message(failure));
            return ExitCode.UNAVAILABLE;
        }
        console.say("this should not happen: " + failure + " (KEYWAY_DEBUG=1 shows where).");
        return ExitCode.UNAVAILABLE;
    }

    /** The message on one line, with a full stop. */
    static String message(Throwable failure) {
        String message = failure.getMessage();
        String line = message == null || message.isBlank()
                ? failure.getClass().getSimpleName()
                : message.strip().replaceAll("\\s*\\R\\s*", " ");
        if (failure instanceof ProviderNotFoundException) {
            line = FOR_BUILDS.matcher(line).replaceFirst("");
        }
        String told = shortened(line) + server(failure, line);
        return told.endsWith(".") || told.endsWith("?") || told.endsWith("!") ? told : told + ".";
    }

    /**
     * URLs without their options where these are long, as with a map of addresses: what matters of them is said beside
     * it.
     */
    static String shortened(String line) {
        return LONG_OPTIONS.matcher(line).replaceAll("$1");
    }

    /**
     * As {@link #message}, for a failure after which keyway goes on trying by itself: without advice and full stop.
     */
    static String trouble(Throwable failure) {
        return ADVICE.matcher(message(failure)).replaceAll("").replaceFirst("[.;]$", "") + "; retrying";
    }

    /** Who did not answer, for instance the process that serves this machine, where the message does not say it. */
    private static String server(Throwable failure, String line) {
        String server = failure instanceof LockException known ? known.server().orElse("") : "";
        String address = server.substring(server.indexOf(':') + 1);
        return address.isEmpty() || line.endsWith(".") || line.contains(address) ? "" : " (" + server + ")";
    }
}
