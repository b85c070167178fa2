// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** `keyway version`, which many type instead of `keyway --version`. */
@Command(name = "version", mixinStandardHelpOptions = true, description = "Prints the version.")
final class VersionCommand implements Callable<Integer> {
    private final Console console;

    VersionCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        console.out().println(new Version().getVersion()[0]);
        return ExitCode.OK;
    }
}
