/** The technology compatibility kit: instruments that test a provider over real processes and broken links. */
module io.keyway.lock.tck {
    requires static org.jspecify;
    requires transitive io.keyway.lock;

    exports io.keyway.lock.tck.history;
    exports io.keyway.lock.tck.process;
    exports io.keyway.lock.tck.proxy;
    exports io.keyway.lock.tck.reference;

    provides io.keyway.lock.spi.LockProvider with
            io.keyway.lock.tck.reference.ReferenceProvider;
}
