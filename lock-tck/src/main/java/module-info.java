/** The technology compatibility kit: rules that any provider can be tested by, and the instruments for it. */
module io.keyway.lock.tck {
    requires java.management;
    requires static info.picocli;
    requires static org.jspecify;
    requires static org.junit.jupiter.api;
    requires transitive io.keyway.lock;

    exports io.keyway.lock.tck;
    exports io.keyway.lock.tck.command;
    exports io.keyway.lock.tck.history;
    exports io.keyway.lock.tck.journal;
    exports io.keyway.lock.tck.junit;
    exports io.keyway.lock.tck.process;
    exports io.keyway.lock.tck.proxy;
    exports io.keyway.lock.tck.report;

    opens io.keyway.lock.tck.command to
            info.picocli;
}
