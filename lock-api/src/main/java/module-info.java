/** One lock API for the JVM, any coordination store behind it, chosen by URL. */
module io.keyway.lock {
    requires static transitive org.jspecify;

    exports io.keyway.lock;
    exports io.keyway.lock.group;
    exports io.keyway.lock.kit.table;
    exports io.keyway.lock.spi;

    uses io.keyway.lock.spi.LockProvider;
}
