// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which locks a command is about. */
final class Target {
    static final String DEFAULT_URL = "lock:native:local://";

    @Option(
            names = "--url",
            paramLabel = "URL",
            description = "Where the locks are. Default: the variable KEYWAY_URL, else " + DEFAULT_URL
                    + ", the locks of" + " this user on this machine.")
    private @Nullable String url;

    /** Opens a client that holds nothing. */
    LockClient openToLook(Console console) {
        return open(console, ClientOptions.defaults());
    }

    LockClient open(Console console, ClientOptions options) {
        String text = url != null ? url : console.variable("KEYWAY_URL").orElse(DEFAULT_URL);
        return Locks.open(LockUrl.parse(text), options, Target.class.getClassLoader());
    }
}
