/** The `keyway` command. */
module io.keyway.lock.cli {
    requires static org.jspecify;
    requires info.picocli;
    requires io.keyway.lock;
    requires io.keyway.lock.peer;
    requires io.keyway.lock.simulator;
    requires io.keyway.lock.tck;
    // Signals: no other way tells Ctrl-C from kill.
    requires jdk.unsupported;

    opens io.keyway.lock.cli to
            info.picocli;
}
