/** The native provider's state machines in virtual time, under faults that a seed decides. */
@SuppressWarnings("module") // the command line is built after this
module io.keyway.lock.simulator {
    requires static org.jspecify;
    requires io.keyway.lock;
    requires io.keyway.lock.peer;

    exports io.keyway.lock.simulator to
            io.keyway.lock.cli;
    exports io.keyway.lock.simulator.picture to
            io.keyway.lock.cli;
}
