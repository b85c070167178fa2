/** The native provider's state machines in virtual time, under faults that a seed decides. */
module io.keyway.lock.simulator {
    requires static org.jspecify;
    requires io.keyway.lock;
    requires io.keyway.lock.peer;
}
